/**
 * CTL-1: what people get wrong most often (test/mistakes/table.ts), typed at the real program: one clear sentence, the next
 * step, the documented exit code, and nothing left behind, neither in the repository nor in the log.
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { askQuestion } from "#domain/model/question.ts";
import { questionById } from "#store/assignments.ts";
import { findRoot } from "#sys/root.ts";
import { realWorld } from "#wiring.ts";
import { MISTAKES, type Mistake, type Situation } from "../mistakes/table.ts";
import { bundled, overseerOk, type Said, startOverseer } from "../support/cli.ts";
import { Fleet } from "../support/fleet.ts";
import { wait } from "../support/steps.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);

const TASKS = `planVersion: 1
phases:
  - id: P1
    name: Parse
    objective: Parse everything
    acceptanceCriteria: [it parses]
    tasks:
      - {id: T1, name: Dates, objective: Parse dates, acceptanceCriteria: [it parses]}
      - {id: T2, name: Times, objective: Parse times, acceptanceCriteria: [it parses], dependsOn: [T1]}
`;

const FILES: Readonly<Record<string, string>> = {
  "binary.yaml": "\u0000\u0001\u0002PNG\u0000",
  "empty.yaml": "",
  "tabs.yaml": "phases:\n\t- id: P1\n",
  "list.yaml": "- a\n- b\n",
  "twice.yaml": TASKS.replace("id: T2", "id: T1").replace(", dependsOn: [T1]", ""),
  "cycle.yaml": TASKS.replace("objective: Parse dates", "objective: Parse dates, dependsOn: [T2]"),
  "unknown.yaml": TASKS.replace("objective: Parse dates", "objektive: Parse dates"),
  "huge.yaml": `${TASKS}# ${"x".repeat(3_000_000)}\n`,
};

/** Where the lines are typed, and what stands for the signs in them. */
const places = new Map<Situation, string>();
const signs = new Map<string, string>();
let fleet: Fleet;

async function ask(path: string, ids: readonly string[]): Promise<void> {
  const store = await realWorld(await findRoot({ cwd: path, env: {} }), process.env).writer();
  for (const questionId of ids) {
    const wanted = { questionId, text: `Which calendar for ${questionId}?`, options: [] };
    const moment = { now: Date.now(), actor: "agent:builder-1#1" as const };
    const asked = await store.commit({
      at: moment.now,
      reads: { taken: questionById(questionId) },
      decide: ({ taken }) => askQuestion(taken, wanted, moment),
    });
    expect(asked.ok).toBe(true);
  }
  await store.close();
}

function wordsOf(line: string): string[] {
  const meant = [...signs].reduce((text, [sign, value]) => text.replaceAll(sign, value), line);
  return [...meant.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

/** Everything of a place that a mistake could have left something in. */
function traceOf(where: Situation): unknown {
  const path = places.get(where) ?? "";
  const database = join(path, ".git/overseer/overseer.db");
  const hidden = (name: string) =>
    /^\.git\/overseer\/(run|logs|scratch|overseer\.db|backups\/log\.db-)|^\.overseer\/worktrees/.test(name);
  const files = existsSync(path)
    ? (readdirSync(path, { recursive: true }) as string[]).filter((name) => !hidden(name))
    : [];
  const ownFile = join(path, ".overseer/config.yaml");
  const text = existsSync(ownFile) ? readFileSync(ownFile, "utf8") : "";
  if (!existsSync(database)) return { files: files.sort(), text };
  const db = new Database(database, { readonly: true });
  const types = db.query("select type from events where type not like 'agent.%' and type not like 'tick.%'").all();
  db.close();
  return { files: files.sort(), text, events: types.length };
}

function faultsOf({ says, next, code }: Mistake, said: Said): string[] {
  if (code === 0) return said.code === 0 && says.test(said.stdout) ? [] : [`exit code ${said.code}: ${said.stdout}`];
  const { stderr } = said;
  const lines = stderr.trimEnd().split("\n");
  const json = stderr.startsWith("{");
  return [
    ...(said.code === code ? [] : [`exit code ${said.code}, not ${code}`]),
    ...(stderr.trim() === "" ? ["nothing on stderr"] : []),
    ...(lines.length > 3 ? [`${lines.length} lines`] : []),
    ...(says.test(stderr) ? [] : [`does not say ${says}`]),
    ...(next.test(json ? stderr : (stderr.split("hint: ")[1] ?? "")) ? [] : [`does not name ${next}`]),
    ...(/\n\s+at |TypeError|undefined|\[object|internal error|ENOENT|EISDIR/.test(stderr) ? ["shows our insides"] : []),
  ];
}

const AT_ONCE = 6;

/** One that does not end is ended, so that the table says which one it was. */
async function endedWithin(ms: number, cwd: string, words: readonly string[]): Promise<Said> {
  const child = startOverseer(cwd, words);
  const timer = setTimeout(() => child.kill("SIGKILL"), ms);
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  clearTimeout(timer);
  return { stdout, stderr, code };
}

test("there are 130 and more, all different", () => {
  const lines = MISTAKES.map(({ where, line }) => `${where}: ${line}`);
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines.length).toBeGreaterThanOrEqual(130);
});

// In a group of its own, so that the fleet has ended before its directory is removed.
describe("CTL-1", () => {
  beforeAll(async () => {
    bundled();
    const plans = tempDir("plans-");
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(plans, name), text);
    signs.set("$P", plans).set("$Z", join(plans, "not-there.yaml"));
    places.set("none", tempDir("none-"));
    const bare = tempDir("bare-");
    gitIn(bare, "clone", "--quiet", "--bare", tempRepo().path, "here.git");
    places.set("bare", join(bare, "here.git"));
    const unborn = tempDir("unborn-");
    gitIn(unborn, "init", "--quiet");
    places.set("unborn", unborn).set("fresh", tempRepo().path);
    const ready = tempRepo();
    const config = tempRepo();
    const [unplanned, modelless] = [tempRepo(), tempRepo()];
    places.set("ready", ready.path).set("config", config.path);
    places.set("unplanned", unplanned.path).set("modelless", modelless.path);
    await Promise.all([ready, config, unplanned, modelless].map(({ path }) => overseerOk(path, "init")));
    writeFileSync(join(unplanned.path, ".overseer/config.yaml"), "runtime: scripted\nplanner: {enabled: false}\n");
    writeFileSync(
      join(modelless.path, ".overseer/config.yaml"),
      `runtime: claude-code\nruntimes: {claude-code: {command: ${join(plans, "no-claude")}}}\n`,
    );
    writeFileSync(join(ready.path, ".overseer/config.yaml"), "runtime: scripted\n");
    writeFileSync(join(config.path, ".overseer/config.yaml"), "agnets: {maxConcurrent: 3}\n");
    writeFileSync(join(plans, "plan.yaml"), TASKS);
    const made = await overseerOk(ready.path, "goal", "create", "Dates", "--plan", join(plans, "plan.yaml"), "--json");
    signs.set("$G", (JSON.parse(made) as { goalId: string }).goalId);
    await ask(ready.path, ["q_0PENQUEST1", "q_ANSWERED01"]);
    signs.set("$Q", "q_0PENQUEST1").set("$A", "q_ANSWERED01");
    await overseerOk(ready.path, "answer", "q_ANSWERED01", "ISO");
    fleet = await Fleet.make({ terminal: "detached" });
    places.set("fleet", fleet.repo.path);
    const slung = await fleet.sling("builder-1", [wait]);
    await fleet.turns(slung.attempt, 0);
  });

  afterAll(() => fleet?.end());

  describe.each([...Map.groupBy(MISTAKES, ({ where }) => where)])("CTL-1: mistakes, %s", (where, rows) => {
    test("each gives one sentence and the next step, and leaves nothing behind", async () => {
      const before = traceOf(where);
      const found: Record<string, string[]> = {};
      const waiting = [...rows];
      const worker = async () => {
        for (let row = waiting.shift(); row; row = waiting.shift()) {
          const said = await endedWithin(60_000, places.get(where) ?? "", wordsOf(row.line));
          const faults = faultsOf(row, said);
          if (faults.length > 0) found[row.line] = [...faults, said.stderr.trimEnd()];
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      expect(found).toEqual({});
      expect(traceOf(where)).toEqual(before);
    });
  });
});
