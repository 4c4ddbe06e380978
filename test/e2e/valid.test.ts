/**
 * The seeds' own acceptance lines that no other file shows from end to end: set up anywhere, put to work with everything
 * an agent needs, mail from one to another, branches that land by every tier, and all of it in
 * an odd repository. VALID-8 is in mail-hierarchy, VALID-9 in hook-telemetry, VALID-10 in runner-record, VALID-14 in
 * reconcile.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Prediction } from "#control/merge.ts";
import type { Metrics } from "#control/metrics.ts";
import type { Merge } from "#domain/model/merge.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled, OVERSEER, overseerOk } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { run } from "../support/steps.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.end();
  fleet = undefined;
});

test("VALID-1: init sets a repository up, touches nothing else, and everything can be used at once", async () => {
  const repo = tempRepo({ branch: "trunk" });
  await overseerOk(repo.path, "init");
  const made = ["config.yaml", "manifest.yaml", "roles", "agents", ".gitignore"].map((name) => `.overseer/${name}`);
  for (const path of [...made, ".git/overseer/overseer.db"]) {
    expect(`${path} ${existsSync(join(repo.path, path))}`).toBe(`${path} true`);
  }
  expect(repo.git("status", "--porcelain")).toBe("?? .overseer/");
  const { goalId } = JSON.parse(await overseerOk(repo.path, "goal", "create", "Something", "--json")) as {
    goalId: string;
  };
  expect(await overseerOk(repo.path, "status")).toContain(goalId);
  expect(await overseerOk(repo.path, "events", "--type", "overseer.initialised", "--json")).toContain('"trunk"');
});

test("VALID-2: sling makes a worktree with a branch, tells the agent its task, arms its hooks and opens its session", async () => {
  fleet = await Fleet.make({ terminal: "tmux" });
  const wait: Step = { kind: "wait" };
  const slung = await fleet.sling("worker", [{ kind: "say", text: "I am here" }, wait]);
  await fleet.said(slung.attempt, "I am here");
  expect(gitIn(slung.worktree, "branch", "--show-current")).toBe(slung.branch);
  const files = join(fleet.state, "run/attempts", String(slung.attempt));
  const texts = readdirSync(files, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(files, entry.name), "utf8"));
  expect(texts.some((text) => text.includes("PreToolUse"))).toBe(true);
  expect(texts.some((text) => text.includes("overseerUpdate"))).toBe(true);
  expect(await fleet.tmux("list-sessions", "-F", "#{session_name}")).toContain(`ov-${slung.attempt}`);
  expect(gitIn(slung.worktree, "status", "--porcelain")).toBe("");
});

test("VALID-4: mail passes from one agent to another, is seen once, and the answer comes back", async () => {
  fleet = await Fleet.make({ terminal: "detached" });
  const given = fleet;
  const reader = await given.sling("reader", [
    { kind: "say", text: "reader is ready" },
    {
      kind: "on",
      message: "how far are you",
      do: [{ kind: "run", command: `'${OVERSEER}' mail send --to writer --subject Re --body 'half way'` }],
    },
  ]);
  await given.turns(reader.attempt, 1);
  const writer = await given.sling("writer", [
    { kind: "run", command: `'${OVERSEER}' mail send --to reader --subject Q --body 'how far are you?'` },
  ]);
  await given.said(writer.attempt, "received mail");
  const seen = (attempt: number, words: string) =>
    eventually(
      () => {
        const found = given.messages(attempt).filter((one) => one.kind === "mail" && one.body.includes(words));
        return found.every((one) => one.status === "seen") && found.length > 0 && found;
      },
      () => `mail with "${words}"`,
    );
  expect(await seen(reader.attempt, "how far are you?")).toHaveLength(1);
  expect(await seen(writer.attempt, "half way")).toHaveLength(1);
});

const BASE = "# Title\n\nfirst\n\nlast\n";
const OURS = "# Title\n\nfirst\nours\n\nlast\n";
const THEIRS = "# Title\n\nfirst\ntheirs\n\nlast\n";
const BOTH = "# Title\n\nfirst\nours\ntheirs\n\nlast\n";

/** Who works on what, and by which tier its branch is to come in. */
const LANDINGS = {
  plain: "clean-merge",
  notes: "auto-resolve",
  author: "author",
  model: "ai-resolve",
} as const;
const TOLD: Readonly<Record<keyof typeof LANDINGS, string>> = {
  plain: "without a conflict",
  notes: "resolved mechanically",
  author: "resolved by its author",
  model: "resolved by a model",
};

test("VALID-5: merge integrates with tiers: a fleet's branches land cleanly, mechanically, by their author, by a model", async () => {
  const asked = join(tempDir("model-"), "model.sh");
  writeFileSync(asked, `#!/bin/sh\ncat > /dev/null\ncat <<'END'\n${JSON.stringify({ content: BOTH })}\nEND\n`);
  chmodSync(asked, 0o755);
  fleet = await Fleet.make({
    terminal: "detached",
    files: { "notes.md": BASE, "doc.md": BASE, "guide.md": BASE, "parts/a": "a\n", "all.lock": "a\n" },
    more: `
runtime: scripted
landing: {mode: auto, unionFiles: [notes.md], lockfiles: {all.lock: "cat parts/* > all.lock"}}
model: {command: ${asked}}
reconcile: {tickEvery: 1s}
`,
  });
  const given = fleet;
  const edit = (file: string, content: string): Step => ({ kind: "edit", file, content });
  const commit: Step = { kind: "commit", message: "Work" };
  const done: Step = { kind: "report", status: "done", summary: "it is there" };
  const resolving: Step = {
    kind: "on",
    message: "not done yet",
    do: [run("git merge --no-edit main || true"), edit("doc.md", BOTH), commit, done],
  };
  const slung = {
    plain: await given.sling("plain", [edit("new.txt", "new\n"), commit, done]),
    notes: await given.sling("notes", [
      edit("notes.md", THEIRS),
      edit("parts/c", "c\n"),
      edit("all.lock", "a\nc\n"),
      commit,
      done,
    ]),
    author: await given.sling("author", [resolving, edit("doc.md", THEIRS), commit, done]),
    model: await given.sling("model", [edit("guide.md", THEIRS), commit, done]),
  };
  await eventually(
    () => given.all("work.claimed").length === 4,
    () => `four reports of done:\n${tail(given)}`,
  );
  // Whoever is gone cannot be asked.
  await given.ok("stop", "model");
  given.repo.write({ "notes.md": OURS, "doc.md": OURS, "guide.md": OURS, "parts/b": "b\n", "all.lock": "a\nb\n" });
  given.repo.git("add", "parts");
  given.repo.git("commit", "--quiet", "--all", "--message", "Ours");

  const foreseen = JSON.parse(await given.ok("merge", "--dry-run", "--json")) as Prediction[];
  const names = Object.keys(LANDINGS) as (keyof typeof LANDINGS)[];
  const tiersOf = (found: readonly { readonly branch: string; readonly tier: string | null }[]) =>
    Object.fromEntries(names.map((name) => [name, found.find(({ branch }) => branch === slung[name].branch)?.tier]));
  expect(tiersOf(foreseen)).toEqual(LANDINGS);
  expect(foreseen.find(({ branch }) => branch === slung.notes.branch)?.settled).toEqual([
    { path: "all.lock", by: { kind: "lockfile", command: "cat parts/* > all.lock" } },
    { path: "notes.md", by: { kind: "union" } },
  ]);

  await given.ok("up");
  await eventually(
    () => given.all("merge.landed").length === 4,
    () => `four landings:\n${tail(given)}`,
  );
  for (const file of ["notes.md", "doc.md", "guide.md"]) {
    const text = given.repo.git("show", `main:${file}`);
    for (const line of ["ours", "theirs"]) expect(text.split("\n")).toContain(line);
  }
  expect(given.repo.git("show", "main:all.lock")).toBe("a\nb\nc");
  expect(given.repo.git("show", "main:new.txt")).toBe("new");
  expect(given.repo.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  const { queue, landed } = JSON.parse(await given.ok("merge", "--status", "--json")) as {
    queue: Merge[];
    landed: Merge[];
  };
  expect(queue).toEqual([]);
  expect(tiersOf(landed)).toEqual(LANDINGS);
  const { sessions } = JSON.parse(await given.ok("metrics", "--json")) as Metrics;
  for (const name of names) {
    const { attempt, goalId, workNodeId } = slung[name];
    expect(sessions.find((session) => session.attempt === attempt)?.mergeTier).toBe(LANDINGS[name]);
    expect(await given.ok("why", `${goalId}/${workNodeId}`, "--all")).toContain(TOLD[name]);
  }
});

test("VALID-11: all of it in any git repository: sha256, a submodule, blanks and unicode in its path, another default branch", async () => {
  const at = join(tempDir("über dir-"), "ein Projekt — 日本 'x' $HOME");
  const more = `
runtime: scripted
landing: {mode: auto}
reconcile: {tickEvery: 1s}
worktree: {setup: git -c protocol.file.allow=always submodule --quiet update --init}
`;
  fleet = await Fleet.make({ at, objects: "sha256", branch: "trunk/dev", terminal: "tmux", more });
  const given = fleet;
  const library = tempRepo({ objects: "sha256", files: { "said.txt": "from the library\n" } });
  given.repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.path, "lib ü");
  given.repo.git("commit", "--quiet", "--message", "Add a library");
  const base = given.repo.git("rev-parse", "HEAD");

  const file = "ünï cödé 日本.txt";
  const work: Step[] = [
    run("cat 'lib ü/said.txt'"),
    { kind: "edit", file, content: "done\n" },
    { kind: "commit", message: "Füge es hinzu" },
    run(`'${OVERSEER}' mail send --to lead-1 --subject Bericht --body 'fast fertig'`),
    { kind: "report", status: "done", summary: "it is there" },
  ];
  const sling = `'${OVERSEER}' sling --runtime scripted --name worker --prompt 'Work ${renderScript(work)}'`;
  const lead = await given.sling("lead-1", [run(sling), { kind: "wait" }], "--capability", "lead");
  const slung = await eventually(
    () => given.all("agent.slung").find(({ data }) => data.agent === "worker"),
    () => `the agent:\n${tail(given)}`,
  );
  const worker = given.attempt(slung.attempt ?? 0);
  expect(worker).toMatchObject({ base, parent: { agent: "lead-1" } });
  await given.said(worker.attempt, "from the library");
  await given.said(lead.attempt, "from worker: Bericht");
  await given.ok("up");
  await eventually(
    () => given.all("goal.completed").some(({ goalId }) => goalId === worker.goalId),
    () => `the landing:\n${tail(given)}`,
  );
  expect(given.repo.git("show", `trunk/dev:${file}`)).toBe("done");
  expect(given.repo.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  expect(given.repo.git("log", "-1", "--format=%H")).toHaveLength(64);
  expect(given.signals(worker.attempt).find(({ kind }) => kind === "file.changed")?.data).toMatchObject({
    path: expect.stringContaining(file),
  });
  expect(given.log(worker.attempt, "events.ndjson")).toContain('"turn.ended"');
  expect(await given.ok("status")).toContain("lead-1");
  expect(await given.ok("why", `${worker.goalId}/${worker.workNodeId}`, "--all")).toContain("without a conflict");
  expect(await given.ok("merge", "--status")).toContain(worker.branch);
  await eventually(
    () => given.all("action.done").some(({ data }) => data.actionId === `clean:${worker.attempt}`),
    () => `its worktree to be cleaned away:\n${tail(given)}`,
  );
  await given.ok("down");
  await given.ok("nuke", "--all");
  expect(given.repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
});
