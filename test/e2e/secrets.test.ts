/**
 * STORE-7 from outside: every planted secret is typed into every option and plan field that takes text, and then looked
 * for in the bytes of everything that was written: database, -wal, backups, exports, run/, logs/. What only looks like
 * a secret is typed into the same places and must come out again, letter for letter.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundled, overseer, overseerOk } from "../support/cli.ts";
import { endedFleets } from "../support/fleets.ts";
import { LOOK_ALIKES, PLANTED_SECRETS } from "../support/secrets.ts";
import { hang, run, say } from "../support/steps.ts";
import { type TempRepo, tempRepo } from "../support/temp.ts";

beforeAll(bundled);

const TEXTS = PLANTED_SECRETS.map(({ text }) => text);
const repeated = (option: string, texts: readonly string[]) => texts.map((text) => `--${option}=${text}`);

/** One-line texts of at most 200 characters, as a title takes them; together they hold every text that fits in one. */
function titles(texts: readonly string[]): string[] {
  const packs: string[] = [];
  let pack = "";
  for (const text of texts) {
    if (text.includes("\n") || text.length > 200) continue;
    if (pack !== "" && pack.length + text.length + 3 > 200) {
      packs.push(pack);
      pack = "";
    }
    pack = pack === "" ? text : `${pack} ; ${text}`;
  }
  return pack === "" ? packs : [...packs, pack];
}

const LISTS = ["tag", "success", "non-goal", "constraint", "assumption", "risk", "stakeholder"];
const EVIDENCE = ["commit", "test", "command", "pr", "issue", "ref"];

/** A plan with the texts in every field; ids are words of their own rule and hold none. */
function planWith(texts: readonly string[]): string {
  const all = texts.join("\n");
  const node = (id: string) => ({
    id,
    name: all,
    objective: all,
    outcome: all,
    acceptance: texts,
    definitionOfDone: all,
    tags: texts,
    hints: { suggestedAgentId: all, suggestedAgentType: all, requiredTools: texts, estimatedEffort: all },
  });
  const subtasks = ["S1.1.1", "S1.1.2", "S1.1.3"].map(node);
  const tasks = [{ ...node("T1.1"), subtasks }];
  return JSON.stringify({ planVersion: 1, goal: { title: all }, phases: [{ ...node("P1"), tasks }] });
}

async function created(repo: TempRepo, ...words: string[]): Promise<string> {
  return JSON.parse(await overseerOk(repo.path, "goal", "create", ...words, "--json")).goalId;
}

/** Types the texts into everything; the goal that has them in its fields. */
async function typeEverywhere(repo: TempRepo, texts: readonly string[]): Promise<string> {
  const all = texts.join("\n");
  const goal = await created(
    repo,
    "One goal",
    `--problem=${all}`,
    `--owner=${all}`,
    `--from-session=${all}`,
    ...LISTS.flatMap((option) => repeated(option, texts)),
  );
  repo.write({ "plan.json": planWith(texts) });
  await overseerOk(repo.path, "goal", "plan", goal, "--file", "plan.json", `--change=${all}`);
  const say = (...words: string[]) => overseerOk(repo.path, ...words);
  await say("goal", "update", goal, `--problem=${all}`, ...LISTS.flatMap((option) => repeated(option, texts)));
  await say("goal", "pause", goal, `--reason=${all}`);
  await say("goal", "resume", goal, `--reason=${all}`);
  await say("work", "block", "S1.1.1", `--reason=${all}`, `--needs=${all}`);
  await say("work", "unblock", "S1.1.1", `--reason=${all}`);
  // A file lies inside the repository.
  const files = texts.map((text) => `--file=${text.startsWith("/") ? "notes" : ""}${text}`);
  const evidence = [...files, ...EVIDENCE.flatMap((option) => repeated(option, texts))];
  await say("work", "done", "S1.1.1", `--summary=${all}`, ...evidence);
  await say("work", "cancel", "S1.1.2", `--reason=${all}`);
  await say("work", "done", "S1.1.3", `--override=${all}`);
  await say("goal", "archive", goal, `--reason=${all}`);
  let last = "";
  for (const title of titles(texts)) last = await created(repo, `--title=${title}`);
  await say("goal", "cancel", last, `--reason=${all}`);
  return goal;
}

/** Everything that was written below these directories, one name and its bytes each. */
function written(...directories: string[]): [name: string, bytes: Buffer][] {
  return directories.flatMap((directory) =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((name): [string, Buffer] => [name, readFileSync(name)]),
  );
}

/** As it stands, and as it stands inside JSON. */
function holds(bytes: Buffer, text: string): boolean {
  return bytes.includes(text) || bytes.includes(JSON.stringify(text).slice(1, -1));
}

describe("STORE-7: typed into every option and plan field", () => {
  test("no planted secret is in the bytes of anything we keep, export or show", async () => {
    expect(PLANTED_SECRETS.length).toBeGreaterThanOrEqual(40);
    const repo = tempRepo();
    await overseerOk(repo.path, "init");
    const goal = await typeEverywhere(repo, TEXTS);
    await overseerOk(repo.path, "store", "backup");
    await overseerOk(repo.path, "store", "export", "--to", join(repo.path, ".git/overseer/export.json"));
    await overseerOk(repo.path, "doctor", "--rebuild");
    const shown = [
      await overseerOk(repo.path, "store", "export"),
      await overseerOk(repo.path, "goal", "show", goal),
      await overseerOk(repo.path, "goal", "show", goal, "--json"),
      await overseerOk(repo.path, "events", "--json", "--limit", "1000"),
      await overseerOk(repo.path, "why", goal, "--all"),
      await overseerOk(repo.path, "work", "show", "S1.1.1", "--json"),
    ].map((text, index): [string, Buffer] => [`answer ${index}`, Buffer.from(text)]);
    const kept = written(`${repo.path}/.overseer`, `${repo.path}/.git/overseer`);
    expect(kept.some(([name]) => name.endsWith("overseer.db"))).toBe(true);
    expect(kept.some(([name]) => name.includes("backups/overseer-"))).toBe(true);
    const leaks = PLANTED_SECRETS.flatMap(({ kind, secret }) =>
      [...kept, ...shown].filter(([, bytes]) => holds(bytes, secret)).map(([name]) => `${kind} in ${name}`),
    );
    expect(leaks).toEqual([]);
  }, 120_000);

  test("every look-alike comes out again, letter for letter", async () => {
    expect(LOOK_ALIKES.length).toBeGreaterThanOrEqual(40);
    const repo = tempRepo();
    await overseerOk(repo.path, "init");
    const goal = await created(
      repo,
      "One goal",
      `--problem=${LOOK_ALIKES.join("\n\n")}`,
      ...["tag", "success", "non-goal", "constraint", "assumption", "stakeholder"].flatMap((option) =>
        repeated(option, LOOK_ALIKES),
      ),
    );
    const plan = { id: "P1", name: "Look", objective: "Look", acceptance: LOOK_ALIKES, tags: LOOK_ALIKES };
    repo.write({
      "plan.json": JSON.stringify({ planVersion: 1, phases: [{ ...plan, tasks: [{ ...plan, id: "T1" }] }] }),
    });
    await overseerOk(repo.path, "goal", "plan", goal, "--file", "plan.json");
    const evidence = ["command", "ref"].flatMap((option) => repeated(option, LOOK_ALIKES));
    await overseerOk(repo.path, "work", "done", "T1", "--summary=seen", ...evidence);
    const shown = JSON.parse(await overseerOk(repo.path, "goal", "show", goal, "--json"));
    for (const field of ["tags", "successCriteria", "nonGoals", "constraints", "assumptions", "stakeholders"]) {
      expect([field, shown[field]]).toEqual([field, [...LOOK_ALIKES]]);
    }
    expect(shown.problemStatement).toBe(LOOK_ALIKES.join("\n\n"));
    const task = shown.work.find((node: { workNodeId: string }) => node.workNodeId === "T1");
    expect(task.acceptanceCriteria).toEqual([...LOOK_ALIKES]);
    for (const field of ["commandsRun", "externalRefs"]) {
      expect([field, task.evidence[field]]).toEqual([field, [...LOOK_ALIKES]]);
    }
    const exported = Buffer.from(await overseerOk(repo.path, "store", "export"));
    expect(LOOK_ALIKES.filter((text) => !holds(exported, text))).toEqual([]);
  }, 60_000);

  test("a refused command keeps nothing of what was typed", async () => {
    const repo = tempRepo();
    await overseerOk(repo.path, "init");
    const secret = PLANTED_SECRETS[0]?.secret ?? "";
    const { code } = await overseer(repo.path, "goal", "pause", "goal_none", `--reason=${secret}`);
    expect(code).toBe(3);
    expect(
      written(`${repo.path}/.overseer`, `${repo.path}/.git/overseer`).filter(([, bytes]) => holds(bytes, secret)),
    ).toEqual([]);
  }, 60_000);
});

describe("STORE-7: an agent's start and end", () => {
  const fleetOf = endedFleets({ terminal: "detached" });
  const PASSED = "a-Passed-1-on-value";
  const more = 'worktree: {setup: "cat planted.txt; cat planted.txt >&2; env"}\n';

  const holders = (state: string, text: string) =>
    written(state)
      .filter(([name, bytes]) => !name.includes("/scripted/") && holds(bytes, text))
      .map(([name]) => name.slice(state.length + 1));

  test("set-up log, prompts and spec hold no planted secret; what is passed on goes with the end, also a killed one's", async () => {
    const all = `${TEXTS.join("\n\n")}\n`;
    const fleet = await fleetOf({ files: { "planted.txt": all }, more, env: { PASSED_TOKEN: PASSED } });
    const config = readFileSync(`${fleet.userDir}/config.yaml`, "utf8");
    writeFileSync(`${fleet.userDir}/config.yaml`, config.replace("agents:\n", "agents:\n  passEnv: [PASSED_TOKEN]\n"));
    writeFileSync(`${fleet.repo.path}/spec.md`, `# Do it\n\n${all}\n`);
    const flags = ["--spec", `${fleet.repo.path}/spec.md`];
    const first = await fleet.sling("a", [run("cat planted.txt; cat planted.txt >&2"), say("ready"), hang], ...flags);
    await fleet.said(first.attempt, "ready");
    const leaks = PLANTED_SECRETS.flatMap(({ kind, secret }) =>
      holders(fleet.state, secret).map((name) => `${kind} in ${name}`),
    );
    expect(leaks).toEqual([]);
    const kept = (attempt: number) => `run/attempts/${attempt}/launch.json`;
    expect(fleet.environment(first.attempt).PASSED_TOKEN).toBe(PASSED);
    expect(holders(fleet.state, PASSED)).toEqual([kept(first.attempt)]);
    expect(statSync(`${fleet.state}/${kept(first.attempt)}`).mode & 0o777).toBe(0o600);
    await fleet.kill(fleet.runner(first.attempt));
    const second = await fleet.sling("b", [say("ready"), hang]);
    expect(holders(fleet.state, PASSED)).toEqual([kept(second.attempt)]);
    await fleet.ok("stop", "b");
    expect(holders(fleet.state, PASSED)).toEqual([]);
  }, 120_000);
});
