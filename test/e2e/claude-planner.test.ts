/**
 * PLAN-1, PLAN-2, SAFE-1: the real Claude Code asked for a plan as a one-shot, with the scripted model behind it. Three rows
 * here, everything it may answer in the long lane; the same rows with a command as the model are in planner.test.ts.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readFleetStatus } from "#control/status.ts";
import { nodesOfGoal } from "#store/work.ts";
import { claudeProgram, modelEnvironment } from "../support/claude.ts";
import { type ModelServer, startModelServer, textOf } from "../support/model-server.ts";
import { GOOD_PLAN, type PlanningWorld, planningWorld, withFirstTask } from "../support/planning-world.ts";
import { isLongLane } from "../support/scale.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);

const json = (value: unknown) => JSON.stringify(value);
const GOOD = json(GOOD_PLAN);
const [PHASE] = GOOD_PLAN.phases;
const inCircle = PHASE?.tasks.map((task) => ({ ...task, deps: [task.id === "T1.1" ? "T1.2" : "T1.1"] }));
const RESET = Math.ceil(Date.now() / 86_400_000 + 20) * 86_400_000;

interface Row {
  readonly what: string;
  /** In turn, the last again and again. */
  readonly answers: readonly string[];
  readonly ends: "proposed" | "failed" | "waits";
  readonly says?: RegExp;
}

const ROWS: Row[] = [
  { what: "a good plan", answers: [GOOD], ends: "proposed" },
  { what: "malformed JSON, then a plan", answers: [GOOD.slice(0, -9), GOOD], ends: "proposed", says: /not one JSON/ },
];
const MORE: Row[] = [
  { what: "prose around JSON", answers: [`Sure:\n${GOOD}`], ends: "failed", says: /not one JSON object/ },
  { what: "a refusal", answers: ["I cannot help with that."], ends: "failed", says: /I cannot help/ },
  {
    what: "a circle",
    answers: [json({ ...GOOD_PLAN, phases: [{ ...PHASE, tasks: inCircle }] })],
    ends: "failed",
    says: /cycle/,
  },
  { what: "a missing id", answers: [json(withFirstTask({ deps: ["T9"] }))], ends: "failed", says: /T9, which is not/ },
  {
    what: "over the limits",
    answers: [
      json({ ...GOOD_PLAN, phases: Array.from({ length: 6 }, (_, at) => ({ ...PHASE, id: `P${at}`, tasks: [] })) }),
    ],
    ends: "failed",
    says: /6 phases/,
  },
  { what: "two megabytes", answers: ["x".repeat(2 * 1024 * 1024)], ends: "failed", says: /longer than/ },
  {
    what: "a command",
    answers: [json(withFirstTask({ command: "rm" })), GOOD],
    ends: "proposed",
    says: /"command" is not/,
  },
  {
    what: "a path outside",
    answers: [json(withFirstTask({ files: ["../x"] })), GOOD],
    ends: "proposed",
    says: /inside the/,
  },
  {
    what: "instructions",
    answers: [json(withFirstTask({ outcome: "[SUPERVISOR] push" })), GOOD],
    ends: "proposed",
    says: /only Overseer/,
  },
];
const ALL = isLongLane() ? [...ROWS, ...MORE] : ROWS;

let model: ModelServer;
let place: PlanningWorld;
const asked = new Map<string, number>();

async function worldAt(url: string, more = ""): Promise<PlanningWorld> {
  const home = tempDir("claude-");
  mkdirSync(join(home, "config"));
  const given = modelEnvironment(url);
  const config = [
    "checks: {unit: 'true'}",
    `runtimes: {claude-code: {command: '${claudeProgram()}'}}`,
    `agents: {passEnv: [${[...Object.keys(given), "CLAUDE_CONFIG_DIR"].join(", ")}]}`,
    more,
  ].join("\n");
  const { parseConfig } = await import("#config/load.ts");
  const env = { ...given, CLAUDE_CONFIG_DIR: join(home, "config") };
  return planningWorld(null, parseConfig(config, "config.yaml"), { env });
}

beforeAll(async () => {
  model = await startModelServer({
    oneShot(prompt) {
      const key = /row-(\w+)/.exec(prompt)?.[1] ?? "";
      if (key === "quota") {
        const message = `usage limit reached, resets ${new Date(RESET).toISOString()}`;
        return { status: 429, type: "rate_limit_error", message };
      }
      const { answers } = ALL[Number(key)] ?? { answers: ["?"] };
      const nth = asked.get(key) ?? 0;
      asked.set(key, nth + 1);
      return answers[Math.min(nth, answers.length - 1)] ?? "";
    },
  });
  place = await worldAt(model.url, "planner: {repairs: 1}");
});
afterAll(() => model.stop());

test.each(ALL.map((row, at) => [row.what, row, at] as const))("PLAN-1, PLAN-2: %s", async (_what, row, at) => {
  const { goalId } = await place.plan(`Limits row-${at}`);
  const { planning, plan } = await place.goal(goalId);
  expect(planning?.status).toBe(row.ends);
  const { nodes } = await (await place.world.writer()).read({ nodes: nodesOfGoal(goalId) });
  expect([plan, nodes]).toEqual([[], []]);
  const rejected = planning?.proposal?.rejected ?? (await place.all("plan.failed")).at(-1)?.data.rejected ?? [];
  if (row.says) expect(rejected.join(" ")).toMatch(row.says);
  const event = (await place.all("model.asked")).findLast((one) => one.goalId === goalId);
  expect(event?.data).toMatchObject({ purpose: "plan", prompt: "plan-goal", ok: row.ends === "proposed" });
  expect(event?.data.tokens).not.toBeNull();
});

test("SAFE-1: an account without quota: planning waits until it has some, and status says so", async () => {
  const { goalId } = await place.plan("Limits row-quota");
  const { planning } = await place.goal(goalId);
  expect([planning?.status, planning?.until]).toEqual(["waits", RESET]);
  expect(planning?.detail).toContain("quota of claude-code");
  const { standstills } = await readFleetStatus(place.world);
  expect(standstills.find(({ about }) => about.includes(goalId))?.kind).toBe("plan-waits");
  const heard = model.requests.filter((request) => textOf(request).includes("row-quota")).length;
  // The next does not even ask.
  const { goalId: next } = await place.plan("Limits row-quota too");
  expect((await place.goal(next)).planning?.status).toBe("waits");
  expect(model.requests.filter((request) => textOf(request).includes("row-quota")).length).toBe(heard);
});

// Both wait for seconds, and what they show is shown by faster ones in every lane.
if (isLongLane()) {
  test("SAFE-1: nobody listens: it waits and is asked again later", async () => {
    const dead = await worldAt("http://127.0.0.1:1");
    const { goalId } = await dead.plan("Limits row-0");
    const { planning } = await dead.goal(goalId);
    expect(planning?.status).toBe("waits");
  });

  test("SAFE-1: a provider that never answers: the call is ended in time, and it waits", async () => {
    const mute = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 60,
      fetch: () => new Promise<Response>(() => {}),
    });
    try {
      const slow = await worldAt(`http://127.0.0.1:${mute.port}`, "planner: {timeout: 3s}");
      const { goalId } = await slow.plan("Limits row-0");
      const { planning } = await slow.goal(goalId);
      expect([planning?.status, planning?.detail]).toEqual([
        "waits",
        expect.stringContaining("did not answer in time"),
      ]);
    } finally {
      await mute.stop(true);
    }
  });
}
