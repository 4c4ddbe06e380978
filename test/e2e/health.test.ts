/**
 * How agents do, under a real daemon with scripted agents: one that is quiet, one in a tool, one that waits for a person; and
 * the watch when it cannot see, because an assignment in the store is spoiled; or not one of them, because its pulse is.
 */
import { Database } from "bun:sqlite";
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { callDaemon } from "#control/daemon-client.ts";
import type { EventType } from "#domain/model/event.ts";
import { version } from "../../package.json" with { type: "json" };
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet;
afterEach(() => fleet.end());

const seen = <T>(look: () => T | undefined | false, what: string) => eventually(look, () => `${what}\n${tail(fleet)}`);
const soon = async <T>(look: () => Promise<T | undefined | false>, what: string): Promise<T> => {
  for (const until = Date.now() + 60_000; Date.now() < until; await Bun.sleep(50)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`${what}\n${tail(fleet)}`);
};

const QUICK = `
reconcile: {tickEvery: 500ms}
watch: {every: 100ms, staleAfter: 1s, veryStaleAfter: 5s}
recovery:
  silentAfter: 2s
  nextStepAfter: 100ms
  judgedFromAge: 100ms
  sameWordsAfter: 100ms
  backoff: {base: 100ms, max: 200ms}
`;

/** As a disk or a bug may leave it: the row is there, and what judging needs of it is not. Returns what was there. */
function spoil(table: "pulses" | "assignments" | "health", attempt: number, doc: string): string {
  const db = new Database(`${fleet.state}/overseer.db`);
  db.run("pragma busy_timeout = 15000");
  const [key, id] = table === "assignments" ? ["id", fleet.attempt(attempt).assignmentId] : ["attempt", attempt];
  const was = db.query<{ doc: string }, [string | number]>(`select doc from ${table} where ${key} = ?1`).get(id);
  db.run(`update ${table} set doc = ?2 where ${key} = ?1`, [id, doc]);
  db.close();
  return was?.doc ?? "";
}

interface Told {
  readonly agent: string;
  readonly status: string;
  readonly phase: string;
  readonly freshness: string;
}

test("DEGR-1, LOOP-1, WATCH-1, HEALTH-1, STAT-1, RPC-1: one spoiled row blinds nobody: thresholds hint and pause, status says so, and it ends by itself", async () => {
  fleet = await Fleet.make({ more: QUICK });
  const quiet = await fleet.sling("quiet", [say("I think about it.")]);
  const busy = await fleet.sling("busy", [{ kind: "hang", in: "tool" }]);
  const asking = await fleet.sling("asking", [{ kind: "ask", question: "Which?", options: ["a", "b"] }]);
  await fleet.turns(quiet.attempt, 1);
  await seen(() => fleet.pulse(busy.attempt)?.calls.some(({ ok }) => ok === null), "the call that hangs");
  await seen(() => fleet.all("question.asked").length > 0, "the question");
  const whole = spoil("assignments", busy.attempt, "null");

  await fleet.ok("up");
  const degraded = await seen(() => fleet.all("watch.degraded")[0], "that nobody can be judged");
  expect(["judging-failed", "ticks-fail"]).toContain(degraded.because);
  const ofQuiet = (type: EventType) => fleet.events(quiet.attempt, type)[0];
  const nudged = await seen(() => ofQuiet("assignment.nudged"), "the hint");
  expect(nudged.data).toMatchObject({ severity: "hint", cause: "quiet-by-threshold", number: 1 });
  await seen(() => ofQuiet("assignment.parked"), "the pause");
  await seen(() => fleet.attempt(quiet.attempt).status === "paused", "that it is paused");
  expect(await fleet.ok("status")).toContain("held to thresholds alone");
  const rings = async () =>
    (JSON.parse(await fleet.ok("stats", "--json")) as { rings: { ring: string; degradedSince: string | null }[] })
      .rings;
  expect((await rings()).find(({ ring }) => ring === "watch")?.degradedSince).toEqual(expect.any(String));

  spoil("assignments", busy.attempt, whole);
  const restored = await seen(() => fleet.all("watch.restored")[0], "that everybody is judged again");
  expect(restored.data.steps).toBeGreaterThanOrEqual(2);
  // Whoever runs a tool or waits for a person was left alone all the while.
  for (const { attempt } of [busy, asking]) {
    const steps = fleet.happened().filter((event) => event.attempt === attempt && event.at <= restored.at);
    expect(steps.map(({ type }) => type).filter((type) => /nudged|parked|stalled|resent/.test(type))).toEqual([]);
  }
  expect(fleet.all("watch.degraded")).toHaveLength(1);
  // With the next beat of the daemon's heart.
  await soon(async () => !(await fleet.ok("status")).includes("thresholds"), "that status says it is over");

  const all = await soon(async () => {
    const told = JSON.parse(await fleet.ok("health", "--json")) as Told[];
    return told.length === 3 && told;
  }, "the health of all three");
  const of = (name: string) => all.find(({ agent }) => agent === name);
  expect(of("busy")).toMatchObject({ status: "tool-running", phase: "working" });
  expect(of("asking")).toMatchObject({ status: "waiting-human", recommendation: "continue" });
  const one = await fleet.ok("health", "busy");
  expect(one).toContain("A tool call of it is running.");
  expect(one).toContain("running");
  expect(await fleet.ok("diagnoses", "--agent", "busy")).toContain("tool-running");
  const stats = JSON.parse(await fleet.ok("stats", "--json")) as Record<string, number>;
  expect(stats).toMatchObject({ degraded: 1, nudges: expect.any(Number), pauses: expect.any(Number) });
  const ask = (method: string, params: Readonly<Record<string, unknown>>) =>
    callDaemon(fleet.theDaemon(), version, method, params, 10_000);
  expect(await ask("health.get", { agent: "busy" })).toMatchObject({
    agent: "busy",
    snapshot: { iteration: 0, calls: [{ ok: null, ms: null }] },
  });
  expect(await ask("health.list", {})).toHaveLength(3);
  expect(await ask("diagnoses.list", { agent: "quiet", limit: 1 })).toHaveLength(1);
  expect(await ask("supervision.stats", {})).toMatchObject({ degraded: 1 });
  expect(await ask("agent.nudge", { agent: "busy", text: "Look at the clock." })).toMatchObject({ to: "busy" });
  expect(fleet.messages(busy.attempt).map(({ kind }) => kind)).toContain("nudge");
});

test("DEGR-1: one spoiled pulse is named, everybody else is judged in full, and no command crashes; doctor --fix begins it again", async () => {
  fleet = await Fleet.make({ more: QUICK });
  const busy = await fleet.sling("busy", [{ kind: "hang", in: "tool" }]);
  const quiet = await fleet.sling("quiet", [say("I think about it.")]);
  await fleet.turns(quiet.attempt, 1);
  await seen(() => fleet.pulse(busy.attempt)?.calls.some(({ ok }) => ok === null), "the call that hangs");
  const calls = fleet.pulse(busy.attempt)?.calls;
  spoil("pulses", busy.attempt, "null");
  await fleet.ok("up");
  const degraded = await seen(() => fleet.all("watch.degraded")[0], "that one cannot be judged");
  expect([degraded.because, degraded.data.problem]).toEqual([
    "pulse-unusable",
    `What is kept of busy#${busy.attempt} is spoiled; everybody else is judged in full.`,
  ]);
  expect(await fleet.ok("status")).toContain("DEGRADED");
  expect(await fleet.ok("agents")).toContain("busy");
  await fleet.ok("mail", "send", "--to", "busy", "--subject", "Hello", "--body", "Are you there?");
  expect(await fleet.ok("health", "busy")).toContain("What was kept of it is spoiled");
  // The other one climbs the ladder as ever, by the tick's own judgement.
  const nudged = await seen(() => fleet.events(quiet.attempt, "assignment.nudged")[0], "the hint");
  expect(nudged.data.cause).not.toBe("quiet-by-threshold");

  await fleet.ok("down");
  expect((await fleet.run("doctor")).stdout).toContain(`busy#${busy.attempt}`);
  expect(await fleet.ok("doctor", "--fix")).toContain(`busy#${busy.attempt}`);
  expect(fleet.pulse(busy.attempt)?.calls).toEqual(calls ?? []);
  await fleet.ok("up");
  await seen(() => fleet.all("watch.restored")[0], "that everybody is judged again");
  const steps = fleet.happened().filter(({ attempt }) => attempt === busy.attempt);
  expect(steps.map(({ type }) => type).filter((type) => /nudged|parked|stalled/.test(type))).toEqual([]);
});
