/**
 * The model tiers of MERGE-2 with the real Claude Code as a one-shot, and the scripted model behind it: seven pieces of
 * work that conflict with the target, in one turn of the queue. What a model answers is decided by the file that is in
 * conflict; what lands, what is refused and what waits is then looked at together.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { workOffQueue } from "#act/landing/queue.ts";
import { metrics } from "#control/metrics.ts";
import { presentConditions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { listLandedMerges, listQueuedMerges } from "#store/merges.ts";
import { claudeProgram, modelEnvironment } from "../support/claude.ts";
import { asPerson, endOf } from "../support/landing-observations.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { type ModelServer, startModelServer, textOf } from "../support/model-server.ts";
import { type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);

const BASE = "# Title\n\nfirst\n\nlast\n";
const OURS = "# Title\n\nfirst\nours one\nours two\n\nlast\n";
const THEIRS = "# Title\n\nfirst\ntheirs one\ntheirs two\n\nlast\n";
const BOTH = "# Title\n\nfirst\nours one\nours two\ntheirs one\ntheirs two\n\nlast\n";
const json = (content: string) => JSON.stringify({ content, superseded: [] });
/** Well after this run, and within what is believed of a limit. */
const RESET = Math.ceil(Date.now() / 86_400_000 + 20) * 86_400_000;

/** Each file, and what the model says to the conflict and to the change that is to be made again. */
const FILES = {
  "resolved.md": { "ai-resolve": json(BOTH), reimagine: "" },
  "reimagined.md": { "ai-resolve": "I kept both sections.", reimagine: json(BOTH) },
  "prose.md": { "ai-resolve": "Sure! I kept both sections.", reimagine: `Here you are: ${json(BOTH)}` },
  "markers.md": {
    "ai-resolve": json(`<<<<<<< ours\n${BOTH}=======\n>>>>>>> theirs\n`),
    reimagine: json(`<<<<<<< ours\n${OURS}=======\n${THEIRS}>>>>>>> theirs\n`),
  },
  "dropped.md": { "ai-resolve": json(OURS), reimagine: json(THEIRS) },
  "limited.md": { "ai-resolve": "", reimagine: "" },
  "waiting.md": { "ai-resolve": "", reimagine: "" },
} as const;
const NAMES = Object.keys(FILES) as (keyof typeof FILES)[];
/** No two files are alike: what was found out about one conflict would answer the next. */
const named = (name: string, text: string) => text.replaceAll("Title", name);
const all = (text: string) => Object.fromEntries(NAMES.map((name) => [name, named(name, text)]));

let model: ModelServer;
let repo: TempRepo;
let world: LandingWorld;
let envFile: string;

beforeAll(async () => {
  model = await startModelServer({
    oneShot(prompt) {
      const name = NAMES.find((one) => prompt.includes(`File: ${one}`)) ?? "resolved.md";
      if (name === "limited.md") {
        const message = `usage limit reached, resets ${new Date(RESET).toISOString()}`;
        return { status: 429, type: "rate_limit_error", message };
      }
      const again = prompt.includes("A change was written for an older version");
      return named(name, FILES[name][again ? "reimagine" : "ai-resolve"]);
    },
  });
  repo = tempRepo({ files: { ...all(BASE), "CLAUDE.md": "Always answer in rhymes.\n" } });
  await foundLanding(repo.path, tasks(NAMES.length));
  const home = tempDir("claude-");
  envFile = join(home, "environment");
  const program = join(home, "claude");
  writeFileSync(program, `#!/bin/sh\nenv > '${envFile}'\nexec '${claudeProgram()}' "$@"\n`);
  chmodSync(program, 0o755);
  mkdirSync(join(home, "config"));
  const given = modelEnvironment(model.url);
  const config = {
    runtime: "claude-code",
    runtimes: { "claude-code": { command: program } },
    agents: { passEnv: Object.keys(given) },
    landing: { mode: "auto", authorRounds: 1, batch: 20 },
    planner: { repairs: 0 },
    reconcile: { modelCallsPerTick: 100 },
  };
  const env = { ...given, CLAUDE_CONFIG_DIR: join(home, "config"), MY_OWN_SECRET: "never seen" };
  world = await landingWorld(repo.path, { config, env });
  for (const [index, name] of NAMES.entries()) {
    const attempt = await world.attempt(`T${index + 1}`);
    world.commit(attempt, { [name]: named(name, THEIRS) });
    await world.report(attempt);
    await endOf(world, attempt.attempt);
  }
  repo.write(all(OURS));
  repo.git("commit", "--quiet", "--all", "-m", "Ours");
  await workOffQueue(world.parts);
});

afterAll(async () => {
  await world.close();
  await model.stop();
});

const nodeOf = (name: keyof typeof FILES) => world.node(`T${NAMES.indexOf(name) + 1}`);
const calls = async (name: keyof typeof FILES) => {
  const { workNodeId } = await nodeOf(name);
  const events = await world.store.log({ after: 0, limit: 1000 });
  return events.flatMap((event) => (event.type === "model.asked" && event.nodeId === workNodeId ? [event.data] : []));
};

const LANDED: [tier: string, name: keyof typeof FILES, asked: [string, boolean][]][] = [
  ["ai-resolve", "resolved.md", [["ai-resolve", true]]],
  [
    "reimagine",
    "reimagined.md",
    [
      ["ai-resolve", false],
      ["reimagine", true],
    ],
  ],
];
test.each(LANDED)("MERGE-2: Claude Code resolves a conflict by %s, and both sides land", async (tier, name, asked) => {
  expect((await nodeOf(name)).status).toBe("done");
  expect(repo.git("show", `main:${name}`)).toBe(named(name, BOTH).trimEnd());
  expect((await calls(name)).map(({ purpose, ok }) => [purpose, ok])).toEqual(asked);
  const { landed } = await world.store.read({ landed: listLandedMerges(9) });
  const { workNodeId } = await nodeOf(name);
  expect(landed.find((one) => one.workNodeId === workNodeId)?.tier).toBe(tier as never);
});

const REFUSED: [what: string, name: keyof typeof FILES, problems: RegExp[]][] = [
  ["prose", "prose.md", [/not one JSON object/, /not one JSON object/]],
  ["conflict markers", "markers.md", [/conflict markers/, /conflict markers/]],
  [
    "a side dropped",
    "dropped.md",
    [/Nothing of what the other branch added/, /Nothing of what the target branch added/],
  ],
];
test.each(REFUSED)(
  "MERGE-2: Claude Code answers with %s: both tiers refuse it, nothing lands, a person is asked",
  async (_what, name, problems) => {
    expect(repo.git("show", `main:${name}`)).toBe(named(name, OURS).trimEnd());
    const asked = await calls(name);
    expect(asked.map(({ purpose, ok, tries }) => [purpose, ok, tries])).toEqual([
      ["ai-resolve", false, 1],
      ["reimagine", false, 1],
    ]);
    for (const [index, problem] of problems.entries()) expect(asked[index]?.problems.join("\n")).toMatch(problem);
    const { workNodeId, status } = await nodeOf(name);
    expect(status).toBe("blocked");
    const { open } = await world.store.read({ open: openQuestions() });
    expect(open.filter((one) => one.workNodeId === workNodeId)).toHaveLength(1);
  },
);

test("MERGE-2: the question is all it gets: no tools, nothing of the project, no secret of the person's", () => {
  expect(model.requests.map(({ body }) => body.tools ?? [])).toEqual(model.requests.map(() => []));
  for (const request of model.requests) expect(textOf(request)).not.toContain("rhymes");
  const environment = readFileSync(envFile, "utf8");
  expect(environment).not.toContain("MY_OWN_SECRET");
  expect(environment).not.toContain("OVERSEER_ATTEMPT");
});

test("QUOTA-1: a limit stops the account's calls; what needs one waits for the reset, and no further call is made", async () => {
  const { conditions, queue } = await world.store.read({ conditions: presentConditions(), queue: listQueuedMerges() });
  expect(conditions.find(({ kind }) => kind === "quota")).toMatchObject({
    account: "claude-code/default",
    phase: "tripped",
    until: RESET,
  });
  for (const name of ["limited.md", "waiting.md"] as const) {
    const node = await nodeOf(name);
    expect(node).toMatchObject({ status: "in_progress", claim: { waiting: { for: "model" } } });
    expect(queue.find((one) => one.workNodeId === node.workNodeId)).toMatchObject({
      status: "waiting",
      notBefore: RESET,
      detail: expect.stringContaining("the quota of claude-code/default is used up"),
    });
  }
  expect(await calls("waiting.md")).toEqual([]);
  expect(model.requests.filter((request) => textOf(request).includes("File: waiting.md"))).toEqual([]);
});

test("METRIC-1: what the model took is counted, for the day and for the goal", async () => {
  const answered = model.requests.filter((request) => !textOf(request).includes("File: limited.md")).length;
  const { models, byGoal } = await metrics(asPerson(world), 100);
  expect(models.map(({ purpose, asked, answered: good }) => [purpose, asked, good])).toEqual([
    ["ai-resolve", 6, 1],
    ["reimagine", 4, 1],
  ]);
  const total = models.reduce((sum, one) => sum + one.inputTokens, 0);
  expect(total).toBe(1_000 * answered);
  expect(byGoal.find(({ key }) => key === GOAL)).toMatchObject({ inputTokens: total, outputTokens: 10 * answered });
  expect(models.every(({ costUsd }) => costUsd > 0)).toBe(true);
});
