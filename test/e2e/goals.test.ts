/**
 * Goals and work from the command line, as a person meets them: from an empty repository to a finished goal, every
 * mistake of issue size on the way, and from everywhere inside the repository.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { logSize } from "#store/events.ts";
import { openForReading } from "#store/open.ts";
import { bundledProgram, type Called } from "../support/program.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

const PLAN = `
planVersion: 1
phases:
  - id: P1
    name: Read dates
    objective: Every date we meet is read.
    acceptance: [all samples parse]
    tasks:
      - id: T1
        name: Grammar
        outcome: A grammar
        acceptance: [grammar tests pass]
        subtasks:
          - { id: S1, name: ISO, acceptance: [ISO parses] }
          - { id: S2, name: Thai, acceptance: [Thai parses], deps: [S1] }
      - { id: T2, name: Samples, outcome: Samples, acceptance: [they are there], deps: [T1] }
`;

const program = bundledProgram();
const run = (cwd: string, ...words: string[]) => program.ok(cwd, ...words);
const json = async (cwd: string, ...words: string[]) => JSON.parse(await run(cwd, ...words, "--json"));

async function begun(): Promise<{ readonly path: string; readonly goalId: string }> {
  const repo = tempRepo();
  await run(repo.path, "init");
  repo.write({ "plan.yaml": PLAN, ".overseer/config.yaml": "runtime: scripted\nterminal: detached\n" });
  const { goalId } = await json(repo.path, "goal", "create", "Dates in every locale");
  await run(repo.path, "goal", "plan", goalId, "--file", "plan.yaml");
  return { path: repo.path, goalId };
}

test("GOAL-1, SCOPE-1: a plan brings title, criteria and constraints, and tells which tasks wait for each other's files", async () => {
  const repo = tempRepo();
  await run(repo.path, "init");
  const goal = "planVersion: 1\ngoal: {title: Dates, successCriteria: [all parse], constraints: [no dependency]}";
  const task = (id: string, file: string) =>
    `      - { id: ${id}, name: ${id}, outcome: x, acceptance: [x], files: [${file}], runtime: scripted, model: small }\n`;
  repo.write({ "plan.yaml": PLAN.replace("planVersion: 1", goal) + task("T3", "src") + task("T4", "src/a") });
  const { stdout, stderr } = await program.call(repo.path, ["goal", "create", "--plan", "plan.yaml"]);
  expect(stdout + stderr).toContain("T3 and T4 share files (src and src/a): they are done one after the other.");
  const [{ goalId }] = await json(repo.path, "goal", "list");
  const shown = await json(repo.path, "goal", "show", goalId);
  expect(shown).toMatchObject({ title: "Dates", successCriteria: ["all parse"], constraints: ["no dependency"] });
  // The runtime of the fleet is another one, and not there.
  const slung = await json(repo.path, "sling", "T4", "--dry-run");
  expect(slung).toMatchObject({ runtime: "scripted", model: "small", scope: ["src/a"] });
  const again = await json(repo.path, "goal", "create", "Mine", "--plan", "plan.yaml", "--success", "other");
  expect(again).toMatchObject({ title: "Mine", successCriteria: ["other"], constraints: ["no dependency"] });
});

/** As a file: five phases of seven tasks with six subtasks each, one subtask and four tasks short of the limits of a model. */
function largePlan(): string {
  const node = (id: string, more: object = {}) => ({
    ...{ id, name: `The work of ${id}`, objective: "It works.", acceptance: [`${id} is seen to work`] },
    ...more,
  });
  const tasks = (phase: number) =>
    [1, 2, 3, 4, 5, 6, 7].map((task) =>
      node(`T${phase}.${task}`, {
        deps: task > 2 ? [`T${phase}.${task - 2}`] : [],
        subtasks: [1, 2, 3, 4, 5, 6]
          .slice(0, phase === 5 && task === 7 ? 1 : 6)
          .map((part) => node(`S${phase}.${task}.${part}`)),
      }),
    );
  const phases = [1, 2, 3, 4, 5].map((phase) =>
    node(`P${phase}`, { deps: phase === 1 ? [] : [`P${phase - 1}`], tasks: tasks(phase) }),
  );
  return JSON.stringify({ planVersion: 1, phases });
}

test("PLAN-1, GOAL-2: 245 nodes are shown on a few screens, all of them with --full, and the history of their plan", async () => {
  const { path, goalId } = await begun();
  writeFileSync(join(path, "large.json"), largePlan());
  const plan = ["goal", "plan", goalId, "--file", "large.json"];
  const diff = await run(path, ...plan, "--diff");
  expect(diff).toContain("Against revision 1:");
  expect(diff).toContain("- S1  ISO  (queued, would be cancelled)");
  expect(diff).toMatch(/^24\d nodes added, .*would be cancelled/m);
  const shownDiff = await json(path, ...plan, "--diff");
  expect(shownDiff).toMatchObject({ goalId, base: 1, estimate: { width: 2, path: { unit: "tasks" } } });
  expect(shownDiff.leftOut.map(({ id }: { id: string }) => id)).toEqual(["T1", "S1", "S2", "T2"]);
  // Looking stores nothing.
  expect((await json(path, "goal", "show", goalId)).plan).toHaveLength(1);
  await run(path, ...plan, "--prune", "--change", "in more detail");
  const short = (await run(path, "goal", "show", goalId)).trim().split("\n");
  expect(short.length).toBeLessThanOrEqual(100);
  expect(short.join("\n")).toContain("* T1.1  [queued] The work of T1.1");
  expect(short.join("\n")).toContain(`nodes folded; overseer goal show ${goalId} --full shows everything`);
  expect(short.join("\n")).toMatch(/^ {2}2 {2}.* from a file: in more detail$/m);
  expect(short.join("\n")).toMatch(/^\* critical path: T1\.1 → .*\(20 of 35 tasks\)$/m);
  const full = (await run(path, "goal", "show", goalId, "--full")).split("\n");
  expect(full.filter((line) => /^ +(\* )?[PTS]\d\S* {2}\[/.test(line)).length).toBeGreaterThanOrEqual(245);
  expect((await json(path, "goal", "show", goalId)).work.length).toBe(249);
});

test("GOAL-3, WORK-6, STORE-8: from init to a completed goal, its story and its export", async () => {
  const { path, goalId } = await begun();
  for (const node of ["S1", "S2", "T2"]) await run(path, "work", "done", node, "--summary", `${node} works`);
  const { goals } = await json(path, "status");
  expect(goals).toMatchObject([{ goalId, status: "completed", progress: { done: 3, total: 3, percent: 100 } }]);
  const shown = await json(path, "work", "show", "T1");
  expect(shown).toMatchObject({ status: "done", parentId: "P1", path: "P1/T1", progress: { percent: 100 } });
  expect((await json(path, "goal", "show", goalId)).crystallization.summary).toBe(
    "P1 done: T1 done: S1 done: S1 works; S2 done: S2 works; T2 done: T2 works",
  );
  expect(await run(path, "why", goalId)).toContain("Overseer marked the goal completed");
  const document = JSON.parse(await run(path, "store", "export"));
  expect(Object.keys(document)).toEqual(
    expect.arrayContaining(["version", "goals", "assignments", "crystallizations", "dispatchIndex", "events"]),
  );
  expect(document.events[0].type).toBe("overseer.initialised");

  const other = tempRepo();
  await run(other.path, "init");
  writeFileSync(join(other.path, "state.json"), await run(path, "store", "export"));
  await run(other.path, "store", "import", "state.json");
  expect(await run(other.path, "store", "export")).toBe(await run(path, "store", "export"));
  const again = await program.call(other.path, ["store", "import", "state.json"]);
  expect(again).toMatchObject({ code: 4, stdout: "" });
});

describe("bad input", () => {
  let path = "";
  let goalId = "";
  beforeAll(async () => {
    ({ path, goalId } = await begun());
    const files: Record<string, string> = {
      "cycle.yaml": PLAN.replace("name: ISO,", "name: ISO, deps: [S2],"),
      "duplicate.yaml": PLAN.replaceAll("S2", "S1"),
      "unknown.yaml": PLAN.replace("deps: [T1]", "deps: [T9]"),
      "late.yaml": PLAN.replace("name: ISO,", "name: ISO, deps: [T3],").concat(
        "      - { id: T3, name: More, outcome: More, acceptance: [x] }\n",
      ),
      "large.yaml":
        PLAN +
        Array.from({ length: 1_000 }, (_, n) => `      - { id: X${n}, name: X, outcome: X, acceptance: [x] }\n`).join(
          "",
        ),
      "names.yaml": PLAN.replace("name: Grammar", "name: Grammar\n        checks: [x]"),
      "files.yaml": PLAN.replace("name: Grammar", "name: Grammar\n        files: [../x]"),
      "malformed.yaml": "planVersion: 1\nphases: [",
      "binary.yaml": "\u0000\u0001\u0002",
      "keys.yaml": PLAN.replace("objective:", "objektive:"),
      "huge.yaml": `planVersion: 1\nnote: ${"x".repeat(10_000_000)}`,
      "empty.yaml": "",
      "list.json": "[]",
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
    writeFileSync(join(path, "huge-field.yaml"), PLAN.replace("Every date we meet is read.", "x".repeat(900_000)));
  });

  const CASES: [why: string, words: (goal: string) => string[], code: number, says: RegExp][] = [
    ["a forbidden move of a goal", (goal) => ["goal", "resume", goal], 4, /is active; it cannot become active/],
    ["archiving what still runs", (goal) => ["goal", "archive", goal], 4, /cannot become archived/],
    [
      "a forbidden move of a node",
      () => ["work", "block", "T2", "--reason", "x"],
      4,
      /is todo; it cannot become blocked/,
    ],
    ["unblocking what is not blocked", () => ["work", "unblock", "S1"], 4, /not blocked/],
    ["done before its time", () => ["work", "done", "S2", "--summary", "x"], 4, /waits for S1/],
    ["done with open parts", () => ["work", "done", "P1", "--summary", "x"], 4, /open nodes below it/],
    ["done without evidence", () => ["work", "done", "S1"], 2, /without evidence/],
    ["an override without a reason", () => ["work", "done", "S1", "--override", " "], 2, /needs a reason/],
    ["blocked without a reason", () => ["work", "block", "S1"], 2, /needs a reason/],
    ["a circle", (goal) => ["goal", "plan", goal, "--file", "cycle.yaml"], 2, /cycle: S1 → S2 → S1|S2 → S1 → S2/],
    ["a new goal with a bad plan", () => ["goal", "create", "New", "--plan", "cycle.yaml"], 2, /form a cycle/],
    [
      "a new goal with no plan in the file",
      () => ["goal", "create", "New", "--plan", "list.json"],
      2,
      /list\.json:1:1: .*not a list/,
    ],
    ["a duplicate id", (goal) => ["goal", "plan", goal, "--file", "duplicate.yaml"], 2, /S1 is used twice/],
    [
      "an unknown dependency",
      (goal) => ["goal", "plan", goal, "--file", "unknown.yaml"],
      2,
      /T9, which is not in the plan/,
    ],
    ["a dependency that comes too late", (goal) => ["goal", "plan", goal, "--file", "late.yaml"], 4, /S1 wait for T3/],
    [
      "a plan over its limits",
      (goal) => ["goal", "plan", goal, "--file", "large.yaml"],
      2,
      /1005 nodes; 1000 is the limit/,
    ],
    [
      "a plan with names that are not there",
      (goal) => ["goal", "plan", goal, "--file", "names.yaml"],
      2,
      /no check "x"/,
    ],
    [
      "a plan with files elsewhere",
      (goal) => ["goal", "plan", goal, "--file", "files.yaml"],
      2,
      /"\.\.\/x".*not a path/,
    ],
    ["a new goal without a title", () => ["goal", "create", "--plan", "plan.yaml"], 2, /title/],
    ["a malformed file", (goal) => ["goal", "plan", goal, "--file", "malformed.yaml"], 2, /malformed\.yaml:\d+:\d+: /],
    ["a binary file", (goal) => ["goal", "plan", goal, "--file", "binary.yaml"], 2, /binary\.yaml:1:\d+: /],
    [
      "an empty file",
      (goal) => ["goal", "plan", goal, "--file", "empty.yaml"],
      2,
      /empty\.yaml:1:1: planVersion is missing/,
    ],
    [
      "a file of another shape",
      (goal) => ["goal", "plan", goal, "--file", "list.json"],
      2,
      /list\.json:1:1: .*not a list/,
    ],
    ["a misspelt key", (goal) => ["goal", "plan", goal, "--file", "keys.yaml"], 2, /objektive/],
    ["a plan file of 10 MB", (goal) => ["goal", "plan", goal, "--file", "huge.yaml"], 2, /larger than 1 MB/],
    [
      "a huge field in a plan",
      (goal) => ["goal", "plan", goal, "--file", "huge-field.yaml"],
      2,
      /16,384 is the limit \(store\.caps\.payload\)/,
    ],
    [
      "a file that is not there",
      (goal) => ["goal", "plan", goal, "--file", "none.yaml"],
      3,
      /There is no file none\.yaml/,
    ],
    ["a directory as a file", (goal) => ["goal", "plan", goal, "--file", "."], 5, /cannot be read/],
    ["an unknown goal", () => ["goal", "show", "goal_NOPE"], 3, /no goal goal_NOPE/],
    ["an unknown node", () => ["work", "show", "T99"], 3, /T99/],
    ["an unknown node of a goal", (goal) => ["work", "show", "T99", "--goal", goal], 3, /has no node T99/],
    ["an unknown thing", () => ["why", "A_NOPE"], 3, /no assignment A_NOPE/],
    ["an empty id", () => ["goal", "pause", ""], 2, /./],
    ["a title of two lines", () => ["goal", "create", "a\nb"], 2, /line break/],
    ["a long title", () => ["goal", "create", "x".repeat(201)], 2, /200 is the limit/],
    [
      "a long field",
      () => ["goal", "create", "x", "--problem", "x".repeat(100_000)],
      2,
      /16,384 is the limit \(store\.caps\.payload\)/,
    ],
    [
      "evidence outside the repository",
      () => ["work", "done", "S1", "--file", "../../etc/passwd"],
      2,
      /outside the repository/,
    ],
    ["evidence on another disk", () => ["work", "done", "S1", "--file", "/etc/passwd"], 2, /outside the repository/],
    ["a root that is no repository", () => ["status", "--root", "/nonexistent"], 5, /./],
    ["an import that is none", () => ["store", "import", "plan.yaml"], 2, /not an Overseer export/],
  ];

  test.each(CASES)("%s: a sentence, the next step, its exit code, nothing written", async (_why, words, code, says) => {
    const before = await logLength(path);
    const called = await program.call(path, words(goalId));
    expectRefusal(called, code, says);
    expect(await logLength(path)).toBe(before);
    const asJson = await program.call(path, [...words(goalId), "--json"]);
    expect([asJson.code, Object.keys(JSON.parse(asJson.stderr).error)]).toEqual([
      code,
      ["kind", "code", "message", "hint"],
    ]);
  });

  test("WORK-6: a node that two goals have is refused with the candidates", async () => {
    const { path: place, goalId: first } = await begun();
    const { goalId: second } = await json(place, "goal", "create", "Another");
    await run(place, "goal", "plan", second, "--file", "plan.yaml");
    const called = await program.call(place, ["work", "done", "S1", "--summary", "x"]);
    expectRefusal(called, 4, /S1 could be goal_/);
    for (const goal of [first, second]) expect(called.stderr).toContain(`${goal}/S1`);
    await run(place, "work", "done", `${second}/S1`, "--summary", "x");
    await run(place, "work", "done", "S1", "--goal", first, "--summary", "x");
  });

  test("STORE-6: a field of 10 MB through standard input is refused", async () => {
    const plan = PLAN.replace("Every date we meet is read.", "x".repeat(10_000_000));
    const before = await logLength(path);
    expectRefusal(
      await program.call(path, ["goal", "plan", goalId, "--file", "-"], { stdin: plan }),
      2,
      /is the limit/,
    );
    expect(await logLength(path)).toBe(before);
  });

  test("STORE-7: a secret in any field is kept nowhere: not in the answer, the database or the export", async () => {
    const { path: place, goalId: goal } = await begun();
    const planted = PLANTED_SECRETS.filter(({ text }) => !text.includes("\n") && text.length < 150).slice(0, 6);
    for (const { text } of planted) {
      await run(place, "goal", "create", text, "--problem", text, "--tag", text, "--success", text);
      await run(place, "goal", "pause", goal, "--reason", text);
      await run(place, "goal", "resume", goal, "--reason", text);
    }
    const [one] = planted;
    await run(place, "work", "block", `${goal}/S1`, "--reason", one?.text ?? "", "--needs", one?.text ?? "");
    await run(place, "work", "done", `${goal}/S1`, "--override", one?.text ?? "", "--ref", one?.text ?? "");
    const stored = readdirSync(join(place, ".git/overseer"))
      .filter((name) => name.startsWith("overseer.db"))
      .map((name) => readFileSync(join(place, ".git/overseer", name), "latin1"))
      .join("");
    const exported = await run(place, "store", "export");
    const story = await run(place, "why", goal, "--all");
    for (const { kind, secret } of planted) {
      expect([kind, [stored, exported, story].some((text) => text.includes(secret))]).toEqual([kind, false]);
    }
  });

  const PLACES: [why: string, place: () => string, words: string[], code: number, says: RegExp][] = [
    ["a directory that is no repository", () => tempDir("plain-"), ["init"], 5, /not inside a git repository/],
    ["the same, asked for its status", () => tempDir("plain-"), ["status"], 5, /not inside a git repository/],
    ["a repository without commits", withoutCommits, ["init"], 4, /no commits yet/],
    ["a repository where init never ran", () => tempRepo().path, ["goal", "list"], 5, /Overseer is not set up here/],
    ["the same, asked to write", () => tempRepo().path, ["goal", "create", "x"], 5, /Overseer is not set up here/],
  ];
  test.each(PLACES)("%s: nothing is made there", async (_why, place, words, code, says) => {
    const at = place();
    expectRefusal(await program.call(at, words), code, says);
    expect(readdirSync(at)).not.toContain(".overseer");
  });
});

describe("READ-1", () => {
  test("reading commands parse as JSON and leave every byte as it was", async () => {
    const { path, goalId } = await begun();
    await run(path, "work", "done", "S1", "--summary", "works");
    const reading = [
      ["status"],
      ["goal", "list", "--all"],
      ["goal", "show", goalId],
      ["goal", "show", goalId, "--full"],
      ["goal", "plan", goalId, "--file", "plan.yaml", "--diff"],
      ["work", "list"],
      ["work", "show", "S1"],
      ["why", goalId],
      ["why", "S1"],
      ["config", "show"],
      ["doctor"],
    ];
    const before = bytesBelow(path);
    for (const words of reading) {
      expect(typeof (await json(path, ...words))).toBe("object");
      await run(path, ...words);
    }
    const lines = (await run(path, "events", "--json", "--limit", "1000")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual(lines.map((_, index) => index + 1));
    await run(path, "store", "export");
    expect(bytesBelow(path)).toEqual(before);
  });
});

describe("INIT-1", () => {
  test("running it again keeps everything, and git sees only .overseer/", async () => {
    const repo = tempRepo({ files: { ".gitignore": "node_modules\n", "README.md": "x\n" } });
    await run(repo.path, "init");
    expect(repo.git("status", "--porcelain")).toBe("?? .overseer/");
    expect(readFileSync(join(repo.path, ".gitignore"), "utf8")).toBe("node_modules\n");
    const config = join(repo.path, ".overseer/config.yaml");
    writeFileSync(config, `${readFileSync(config, "utf8")}# mine\n`);
    await run(repo.path, "goal", "create", "Something");
    const exported = await run(repo.path, "store", "export");
    const before = bytesBelow(join(repo.path, ".overseer"));
    await run(repo.path, "init");
    expect(await run(repo.path, "store", "export")).toBe(exported);
    expect(bytesBelow(join(repo.path, ".overseer"))).toEqual(before);
    repo.git("add", "--all");
    const staged = repo.git("diff", "--cached", "--name-only").split("\n");
    expect(staged.filter((name) => /\.db|run\/|logs\//.test(name))).toEqual([]);
  });

  test("a subdirectory, a linked worktree and a submodule reach the same state", async () => {
    const library = tempRepo();
    const repo = tempRepo({ files: { "src/deep/x.ts": "" } });
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", library.path, "lib");
    repo.git("commit", "--quiet", "--message", "Add lib");
    await run(repo.path, "init");
    await run(repo.path, "goal", "create", "Seen from everywhere");
    const linked = join(tempDir("linked-"), "tree");
    gitIn(repo.path, "worktree", "add", "--quiet", linked, "-b", "other");
    mkdirSync(join(linked, "below"));
    // When it is looked at again follows from when it was asked.
    const status = async (place: string) =>
      JSON.parse(await run(place, "status", "--json"), (key, value) => (key === "nextAt" ? null : value));
    const seen = await status(repo.path);
    for (const place of ["src/deep", "lib", ".overseer"]
      .map((name) => join(repo.path, name))
      .concat(linked, join(linked, "below"))) {
      expect(await status(place)).toEqual(seen);
    }
  });
});

function withoutCommits(): string {
  const path = tempDir("unborn-");
  gitIn(path, "init", "--quiet");
  return path;
}

function expectRefusal({ stdout, stderr, code }: Called, expected: number, says: RegExp): void {
  expect([stdout, code]).toEqual(["", expected]);
  expect(stderr).toMatch(says);
  expect(stderr).toStartWith("overseer: ");
  expect(stderr).toMatch(/\n {2}hint: \S/);
  expect(stderr).not.toContain("internal error");
  expect(stderr.length).toBeLessThan(2000);
}

/** Asked in this process: a start of the program for each question would double the time of this file. */
async function logLength(path: string): Promise<number> {
  const store = await openForReading({ address: join(path, ".git/overseer/overseer.db") });
  const { size } = await store.read({ size: logSize() });
  await store.close();
  return size.events;
}

/** Every file's digest; SQLite's own -wal and -shm may come and go with a reader. */
function bytesBelow(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(
    (name) => !/\.db-(wal|shm)$/.test(name) && statSync(join(directory, name)).isFile(),
  );
  return Object.fromEntries(
    names.sort().map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(directory, name)))
        .digest("hex"),
    ]),
  );
}
