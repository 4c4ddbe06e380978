/**
 * OTEL-1 with a real receiver and a real daemon: what a goal done by scripted agents looks like to a collector, and what
 * a collector that is away, hangs or talks nonsense does to the fleet.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseExportStanding } from "#domain/health/export-standing.ts";
import { attemptSpanId, goalSpanId, traceIdOf } from "#domain/trace/span.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { takeLockAt } from "#store/open.ts";
import { runFiles } from "#sys/run-files.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { modelPrompt } from "../support/model-server.ts";
import { OtlpReceiver, type ReceivedSpan } from "../support/otlp-receiver.ts";
import { isLongLane } from "../support/scale.ts";
import { run, say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });
const receivers: OtlpReceiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.end();
});

function receiverThat(manner: OtlpReceiver["manner"] = "takes", port = 0): OtlpReceiver {
  const receiver = new OtlpReceiver(port);
  receiver.manner = manner;
  receivers.push(receiver);
  return receiver;
}

const SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
const configFor = (endpoint: string, enabled = true) => `
landing: {mode: auto}
checks: {unit: {command: "test -f README.md", on: [done, land]}}
daemon: {heartbeatEvery: 100ms}
telemetry: {otel: {enabled: ${enabled}, endpoint: "${endpoint}"}}
`;

const work = (name: string): Step[] => [
  { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
  { kind: "commit", message: `Add ${name}` },
  { kind: "say", text: `So much for ${name}, ${SECRET}.` },
  { kind: "report", status: "done", summary: `${name} is there` },
];

async function begin(fleet: Fleet, ...names: string[]): Promise<string> {
  const node = { acceptance: ["it is there"] };
  const tasks = names.map((id) => ({ ...node, id, name: id, objective: `Do ${id}. ${renderScript(work(id))}` }));
  const plan = { planVersion: 1, phases: [{ ...node, id: "P", name: "P", objective: "All of it", tasks }] };
  const path = join(fleet.repo.path, "..", `plan-${Math.floor(performance.now())}.json`);
  writeFileSync(path, JSON.stringify(plan));
  const made = await fleet.ok("goal", "create", "--title", `Both ${SECRET}`, "--plan", path, "--json");
  return (JSON.parse(made) as { goalId: string }).goalId;
}

const completed = (fleet: Fleet, count = 1) =>
  eventually(
    () => fleet.all("goal.completed").length === count,
    () =>
      `the end of the goal:\n${fleet
        .happened()
        .map(({ type }) => type)
        .join(" ")}`,
  );

const standingOf = (fleet: Fleet) => {
  const path = runFiles(fleet.state).exporter;
  return existsSync(path) ? parseExportStanding(readFileSync(path, "utf8")) : undefined;
};

const living = (fleet: Fleet) => {
  const standing = standingOf(fleet);
  return standing !== undefined && fleet.processes.alive(standing);
};

test("OTEL-1: off, it has no process and no file; on, a collector gets the whole trace of a goal and what was measured", async () => {
  const receiver = receiverThat();
  const fleet = await fleetOf({ more: configFor(receiver.url, false), env: { OTEL_RESOURCE_ATTRIBUTES: "team=core" } });
  await fleet.ok("up");
  await fleet.ok("tick", "--now");
  expect(existsSync(runFiles(fleet.state).exporter)).toBe(false);
  const path = `${fleet.userDir}/config.yaml`;
  const off = readFileSync(path, "utf8");
  const turn = (text: string) => {
    writeFileSync(path, text);
    return fleet.ok("tick", "--now");
  };
  await turn(off.replace("enabled: false", "enabled: true "));
  await eventually(
    () => living(fleet),
    () => "the exporter",
  );
  const goalId = await begin(fleet, "T1", "T2");
  await completed(fleet);
  const { spans: all } = receiver;
  const root = await eventually(
    () => all.find(({ spanId }) => spanId === goalSpanId(goalId)),
    () => `the goal among ${all.map(({ name }) => name).join(", ")}`,
  );
  // Attempts end after their work has landed.
  const attempts = fleet.all("agent.slung").map(({ attempt }) => attempt ?? 0);
  for (const attempt of attempts) await fleet.ended(attempt);
  await eventually(
    () => all.filter(({ name }) => name.startsWith("invoke_agent")).length === attempts.length,
    () => `the attempts among ${all.map(({ name }) => name).join(", ")}`,
  );
  // A gate of several landings at once belongs to none of them.
  const spans = all.filter(({ attributes }) => attributes["overseer.goal.id"] !== undefined);
  expect(all.filter((one) => !spans.includes(one)).map((one) => one.attributes["overseer.check.moment"])).not.toContain(
    "done",
  );
  const byId = new Map(spans.map((span) => [span.spanId, span]));

  // Well-formed: one trace, ids of their shape, each once, every parent there and around its children.
  expect(byId.size).toBe(spans.length);
  expect(root.parentSpanId).toBeUndefined();
  for (const span of spans) {
    expect(span.traceId).toBe(traceIdOf(goalId));
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(span.endAt).toBeGreaterThanOrEqual(span.startAt);
    if (span === root) continue;
    const parent = byId.get(span.parentSpanId ?? "");
    if (parent === undefined) throw new Error(`${span.name} has no parent`);
    expect(parent.startAt).toBeLessThanOrEqual(span.startAt);
  }

  const above = (span: ReceivedSpan): string[] => {
    const parent = byId.get(span.parentSpanId ?? "");
    return parent === undefined ? [kindOf(span)] : [...above(parent), kindOf(span)];
  };
  const paths = new Set(spans.map((span) => above(span).join(" > ")));
  const agent = "invoke_workflow > invoke_agent > turn";
  expect([...paths].toSorted()).toEqual(
    [
      "invoke_workflow",
      "invoke_workflow > check",
      "invoke_workflow > invoke_agent",
      "invoke_workflow > landing",
      agent,
      `${agent} > chat`,
      `${agent} > execute_tool`,
    ].toSorted(),
  );
  const first = spans.find(({ spanId }) => spanId === attemptSpanId(goalId, attempts[0] ?? 0));
  expect(first?.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": fleet.attempt(attempts[0] ?? 0).agent,
    "gen_ai.provider.name": "scripted",
    "overseer.goal.id": goalId,
  });
  expect(first?.attributes["gen_ai.usage.output_tokens"]).toBeGreaterThan(0);
  expect(receiver.resources[0]).toMatchObject({ "service.name": "overseer", team: "core" });
  expect(fleet.all("agent.ended").length).toBe(attempts.length);
  // What is exported comes from the sealed log.
  expect(receiver.bodies.join("\n")).not.toContain(SECRET);
  expect(root.attributes["gen_ai.workflow.name"]).toContain("Both");

  // Switched off, it sends what it has measured, and ends.
  await turn(off);
  const tokens = await eventually(
    () => receiver.metrics.get("gen_ai.client.token.usage"),
    () => `metrics among ${[...receiver.metrics.keys()].join(", ")}`,
  );
  expect(tokens.unit).toBe("{token}");
  expect(new Set(tokens.points.map(({ attributes }) => attributes["gen_ai.token.type"]))).toEqual(
    new Set(["input", "output"]),
  );
  const sumOf = (name: string) => receiver.metrics.get(name)?.points.reduce((sum, { value }) => sum + value, 0);
  expect(sumOf("overseer.landings")).toBe(2);
  expect(sumOf("overseer.goals")).toBe(1);
  expect(sumOf("overseer.attempts")).toBe(attempts.length);
  expect(sumOf("overseer.agents")).toBe(0);
  await eventually(
    () => !living(fleet),
    () => "the end of the exporter",
  );
});

test("OTEL-1: an exporter that is killed continues the same trace; what it told, it never tells otherwise", async () => {
  const receiver = receiverThat();
  const fleet = await fleetOf({ more: configFor(receiver.url) });
  await fleet.ok("up");
  const before = await eventually(
    () => living(fleet) && standingOf(fleet),
    () => "the exporter",
  );
  // The goal begins in one life and ends in another.
  const goalId = await begin(fleet, "T1");
  await eventually(
    () => receiver.spans.length > 0,
    () => "the first span",
  );
  await fleet.kill(before);
  await completed(fleet);
  const ofGoal = () => receiver.spans.filter(({ traceId }) => traceId === traceIdOf(goalId));
  await eventually(
    () => ofGoal().some(({ spanId }) => spanId === goalSpanId(goalId)),
    () => `the goal; ${fleet.daemonLog().map(({ event }) => event)}`,
  );
  expect(standingOf(fleet)?.pid).not.toBe(before.pid);
  // Killed between the collector's answer and its own note, it sends that page again: under the same ids, the same.
  const ids = new Set(ofGoal().map(({ spanId }) => spanId));
  expect(new Set(ofGoal().map((span) => JSON.stringify(span))).size).toBe(ids.size);
  await eventually(
    () => standingOf(fleet)?.sent === ids.size,
    () => `${ids.size} that were taken: ${JSON.stringify(standingOf(fleet))}`,
  );
});

test("OTEL-1: of an exporter that cannot run, status and doctor say why; it is tried ever more rarely, and works once it can", async () => {
  const receiver = receiverThat();
  const fleet = await fleetOf({ more: configFor(receiver.url), env: { OTEL_METRIC_EXPORT_INTERVAL: "2000" } });
  const lock = takeLockAt(runFiles(fleet.state).exporterLock);
  await fleet.ok("up");
  const trouble = () => fleet.heartbeat()?.troubles.find(({ loop }) => loop === "telemetry");
  await eventually(
    () => (trouble()?.failures ?? 0) >= 2,
    () => `a second failure: ${JSON.stringify(trouble())}`,
  );
  expect(await fleet.ok("status")).toContain("Another exporter runs here");
  expect((await fleet.run("doctor")).stdout).toContain("the process that sends traces does not run: Another exporter");
  lock?.release();
  await eventually(
    () => living(fleet),
    () => `the exporter: ${JSON.stringify(trouble())}`,
  );
});

test("OTEL-1: with a collector that refuses, talks nonsense, is away or hangs the fleet works as without one", async () => {
  const receiver = receiverThat("refuses");
  const { url } = receiver;
  const fleet = await fleetOf({ more: configFor(url), env: { OTEL_EXPORTER_OTLP_TIMEOUT: "300" } });
  await fleet.ok("up");
  // A goal that is dropped at once is a span, too.
  const makeSpan = async () => {
    const made = JSON.parse(await fleet.ok("goal", "create", "--title", "Short", "--json")) as { goalId: string };
    await fleet.ok("goal", "cancel", made.goalId);
  };
  await eventually(
    () => living(fleet),
    () => "the exporter",
  );
  await makeSpan();
  const { dropped } = await eventually(
    () => (standingOf(fleet)?.dropped ?? 0) > 0 && standingOf(fleet),
    () => `what was given up: ${JSON.stringify(standingOf(fleet))}`,
  );
  receiver.manner = "garbage";
  await makeSpan();
  const { sent } = await eventually(
    () => (standingOf(fleet)?.sent ?? 0) > 0 && standingOf(fleet),
    () => "what was sent",
  );

  await receiver.end();
  await begin(fleet, "T1");
  await completed(fleet);
  await eventually(
    () => (fleet.heartbeat()?.troubles ?? []).some(({ loop }) => loop === "telemetry"),
    () => "the trouble in the heartbeat",
  );
  expect(await fleet.ok("status")).toContain(`traces do not reach ${url}`);

  const hanging = receiverThat("hangs", Number(new URL(url).port));
  await eventually(
    () => hanging.requests > 0,
    () => "that the hanging one is asked",
  );
  await begin(fleet, "T2");
  await completed(fleet, 2);
  const after = standingOf(fleet);
  if (after === undefined) throw new Error("no exporter");
  expect(after.dropped).toBeGreaterThanOrEqual(dropped);
  expect(after.sent).toBeGreaterThanOrEqual(sent);
  expect(after.failing).not.toBeNull();
  // What nobody takes lies in the log and nowhere else: the exporter holds one page, and its file what is open.
  expect(statSync(runFiles(fleet.state).exporter).size).toBeLessThan(10_000);
  // It ends by itself, also in the middle of a request that nobody answers.
  await fleet.ok("down");
  await eventually(
    () => !fleet.processes.alive(after),
    () => "the end of the exporter",
  );
});

if (isLongLane()) {
  test("OTEL-1: the spans of Claude Code itself belong below its attempt", async () => {
    const receiver = receiverThat();
    const world = await ClaudeWorld.start({
      config: { telemetry: { otel: { enabled: true } } },
      env: {
        ...{
          CLAUDE_CODE_ENABLE_TELEMETRY: "1",
          CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: "1",
          OTEL_TRACES_EXPORTER: "otlp",
        },
        ...{ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
        OTEL_BSP_SCHEDULE_DELAY: "200",
      },
    });
    try {
      const slung = await world.sling(modelPrompt("Do it", [run("echo here"), say("Done.")]));
      const [row] = world.rows<{ goal_id: string }>("select goal_id from attempts where attempt = ?1", slung.attempt);
      const goalId = row?.goal_id ?? "";
      const interaction = await eventually(
        () => receiver.spans.find(({ name }) => name === "claude_code.interaction"),
        () => `it among ${receiver.spans.map(({ name }) => name).join(", ")}`,
      );
      expect(interaction).toMatchObject({
        traceId: traceIdOf(goalId),
        parentSpanId: attemptSpanId(goalId, slung.attempt),
      });
    } finally {
      await world.end();
    }
  });
}

/** The operation, or the first word of a name. */
function kindOf({ name }: ReceivedSpan): string {
  return name.split(" ")[0] ?? "";
}
