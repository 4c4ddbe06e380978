/**
 * The reflex with the real Claude Code: what its hook says stands in the very next request to the model. A role of few
 * steps keeps the sessions short. Stall, loop, cascade and context; a driven agent each, and a loop on its own screen.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReplayResult } from "#control/replay.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { ClaudeWorld, type Slung } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import type { ContentBlock } from "../support/model-answers.ts";
import { type ModelRequest, modelPrompt, textOf } from "../support/model-server.ts";
import { run, say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let world: ClaudeWorld | undefined;
afterEach(async () => {
  await world?.end();
  world = undefined;
});

async function begin(maxStepsWithoutProgress: number): Promise<ClaudeWorld> {
  world = await ClaudeWorld.start();
  const roles = join(world.repo.path, ".overseer/roles");
  mkdirSync(roles, { recursive: true });
  const doctrine = { saluteIntervalSteps: 4, maxStepsWithoutProgress, radioCheckSteps: 1 };
  writeFileSync(join(roles, "builder.yaml"), JSON.stringify({ doctrine }));
  return world;
}

const times = (count: number, make: (at: number) => Step): Step[] => Array.from({ length: count }, (_, at) => make(at));

function steerings(fleet: ClaudeWorld, slung: Slung): { anomaly: string; step: number; text: string }[] {
  const rows = fleet.rows<{ data: string }>(
    "select data from events where attempt = ? and type = 'agent.steered' order by seq",
    slung.attempt,
  );
  return rows.map(({ data }) => JSON.parse(data));
}

const blocks = ({ content }: { content: string | readonly ContentBlock[] }): readonly ContentBlock[] =>
  typeof content === "string" ? [] : content;
const results = (request: ModelRequest): number =>
  request.body.messages.flatMap(blocks).filter(({ type }) => type === "tool_result").length;

/** How many results of tools stood in the first request that carried the sentence. */
function heardAfter(fleet: ClaudeWorld, text: string): number | undefined {
  const request = fleet.model.requests.find((one) => textOf(one).includes(text));
  return request && results(request);
}

test("ANOM-1: a stall is in the model's next request", async () => {
  const fleet = await begin(2);
  const slung = await fleet.sling(
    modelPrompt("Look around", [...times(7, (at) => run(`echo part ${"abc"[at % 3]}`)), say("Done.")]),
  );
  await fleet.turns(slung, 1);
  const [first] = steerings(fleet, slung);
  expect(first).toMatchObject({ anomaly: "stall", step: 6 });
  expect(heardAfter(fleet, first?.text ?? "?")).toBe(6);
});

test("ANOM-2: a loop is in the model's next request", async () => {
  const fleet = await begin(20);
  const slung = await fleet.sling(
    modelPrompt("Try", [...times(4, () => run("echo 'no such table' >&2; exit 3")), say("Done.")]),
  );
  await fleet.turns(slung, 1);
  const [first] = steerings(fleet, slung);
  expect(first).toMatchObject({ anomaly: "loop", step: 3 });
  expect(heardAfter(fleet, first?.text ?? "?")).toBe(3);

  // The CLI's own record of it, replayed, and the runner's: the same at the same step.
  for (const traces of [join(fleet.configDir, "projects"), ".git/overseer/logs"]) {
    const replayed = JSON.parse(await fleet.ok("replay", "--traces", traces, "--json")) as ReplayResult;
    expect(replayed.traces).toHaveLength(1);
    expect(replayed.traces[0]?.fired[0]).toMatchObject({ anomaly: "loop", step: 3 });
  }
});

test("ANOM-4: a cascade is in the model's next request, also when all of a step failed at once", async () => {
  const fleet = await begin(20);
  const calls = [
    { tool: "Read", input: { file_path: "/no/such/file" } },
    { tool: "Bash", input: { command: "no-such-program --version" } },
    { tool: "Edit", input: { file_path: "/no/such/other", old_string: "a", new_string: "b" } },
  ];
  const again = [{ tool: "Bash", input: { command: "no-such-compiler --version" } }];
  // One step of guesses side by side is no cascade yet; the next one that fails as a whole is.
  const steps = [run("echo hello"), run("echo again"), say("Done.")];
  const slung = await fleet.sling(modelPrompt("Check", steps, { 0: { calls }, 1: { calls: again } }));
  await fleet.turns(slung, 1);
  const [first] = steerings(fleet, slung);
  expect(first).toMatchObject({ anomaly: "cascade", step: 2 });
  expect(heardAfter(fleet, first?.text ?? "?")).toBe(4);
});

test("ANOM-3: a context that fills up is in the model's next request", async () => {
  const fleet = await begin(20);
  const slung = await fleet.sling(modelPrompt("Begin", [run("echo ready"), say("Ready.")]));
  await fleet.turns(slung, 1);
  const window = fleet.pulse(slung)?.contextWindow ?? 0;
  expect(window).toBeGreaterThan(0);
  const usage = { inputTokens: Math.round(0.83 * window) };
  const steps = [run("echo one > one.txt"), run("echo two > two.txt"), say("Done.")];
  await fleet.send(slung, modelPrompt("Go on", steps, { 0: { usage }, 1: { usage } }));
  await fleet.turns(slung, 2);
  const [first] = steerings(fleet, slung);
  expect(first).toMatchObject({ anomaly: "context", step: 2 });
  expect(heardAfter(fleet, first?.text ?? "?")).toBe(2);
});

test("ANOM-2: on its own screen a loop is in the model's next request, too", async () => {
  const fleet = await begin(20);
  const prompt = modelPrompt("Try", [...times(4, () => run("echo 'no such table' >&2; exit 3")), say("Done.")]);
  const slung = await fleet.sling(prompt, "--interactive");
  await fleet.turns(slung, 1);
  const [first] = steerings(fleet, slung);
  expect(first).toMatchObject({ anomaly: "loop", step: 3 });
  expect(heardAfter(fleet, first?.text ?? "?")).toBe(3);
});

test("REFLEX-1: without a role the model hears nothing of it", async () => {
  const fleet = await begin(2);
  const prompt = modelPrompt("Try", [...times(4, () => run("echo 'no such table' >&2; exit 3")), say("Done.")]);
  const slung = await fleet.sling(prompt, "--role", "none");
  await fleet.turns(slung, 1);
  expect(steerings(fleet, slung)).toEqual([]);
  expect(heardAfter(fleet, "[SUPERVISOR] You")).toBeUndefined();
});
