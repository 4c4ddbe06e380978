/**
 * The reflex with real processes: scripted agents, their hooks, their runner, a real store. The eight tests at the end of
 * the supervisor's specification, each by its number, then reports and steering across machines (reflex-shared.test.ts
 * has those). A role of few steps keeps them short.
 */
import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { wakeRunner } from "#act/attempt-files.ts";
import { shellWord } from "#domain/core/shell-words.ts";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { Salute } from "#domain/signals/salute.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { findRoot } from "#sys/root.ts";
import { realWorld } from "#wiring.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet, type FleetOptions } from "../support/fleet.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";
import { run, say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleets: Fleet[] = [];
afterEach(async () => {
  for (const fleet of fleets.splice(0)) await fleet.end();
});

const SECRETS = PLANTED_SECRETS.filter(({ text }) => text.length < 60 && !text.includes("\n")).slice(0, 4);
const FILES = { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n" };
const DOCTRINE = { saluteIntervalSteps: 4, maxStepsWithoutProgress: 3, radioCheckSteps: 1 };

async function fleetOf(doctrine: Partial<typeof DOCTRINE> = {}, options: FleetOptions = {}): Promise<Fleet> {
  const fleet = await Fleet.make({ terminal: "detached", files: FILES, ...options });
  fleets.push(fleet);
  mkdirSync(`${fleet.userDir}/roles`, { recursive: true });
  writeFileSync(`${fleet.userDir}/roles/builder.yaml`, JSON.stringify({ doctrine: { ...DOCTRINE, ...doctrine } }));
  return fleet;
}

const read = (file: string): Step => ({ kind: "read", file });
const edit = (file: string): Step => ({ kind: "edit", file, content: `${file}\n` });
const times = (count: number, make: (at: number) => Step): Step[] => Array.from({ length: count }, (_, at) => make(at));
/** What it says when it hears the supervisor: proof that the words came before the model. */
const listens: Step = { kind: "on", message: "SUPERVISOR", do: [say("I heard the supervisor.")] };

/** No agent makes its steps within milliseconds; one that does is steered a step late on a busy machine. */
const paced = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step): Step[] =>
    step.kind === "on" || step.kind === "usage" ? [step] : [{ kind: "think", ms: 100 }, step],
  );

async function played(fleet: Fleet, steps: readonly Step[], ...flags: string[]): Promise<number> {
  const { attempt } = await fleet.sling("ada", [...paced(steps), say("finished")], ...flags);
  await fleet.turns(attempt, 1);
  return attempt;
}
/** A message as a person's, by the store; its runner is told to look. */
async function tell(fleet: Fleet, number: number, body: string): Promise<void> {
  const world = realWorld(await findRoot({ cwd: fleet.repo.path, env: {} }), process.env as Record<string, string>);
  const messageId = world.ids.next("m_");
  await (await world.writer()).commit({
    at: world.clock.now(),
    reads: { attempt: attemptByNumber(number) },
    decide: ({ attempt }) => {
      if (!attempt) throw new Error(`no attempt ${number}`);
      const data = { messageId, kind: "instruction", from: "human:test", body, dispatchId: null } as const;
      return accept([attemptEvent(attempt, "human:test", "message.queued", "test", data)], null);
    },
  });
  await wakeRunner(world, number);
}

const steerings = (fleet: Fleet, attempt: number) => fleet.events(attempt, "agent.steered").map(({ data }) => data);
const anomalies = (fleet: Fleet, attempt: number) =>
  steerings(fleet, attempt).map(({ anomaly, step }) => [step, anomaly]);

/** The same few files, again and again. */
const spin = (count: number) => times(count, (at) => read(`${"abcd"[at % 4]}.txt`));
/** Each failure says something else: the same error again would be repetition. */
const PARTS = ["wheel", "hinge", "valve", "lever", "crank", "shaft", "screw"];
const differently = (count: number) =>
  times(count, (at) => run(`echo 'TypeError: no ${PARTS[at % PARTS.length]}' >&2; exit ${at + 3}`));

describe("the supervisor's eight tests", () => {
  test("1, REFLEX-1, ROLE-2: without a role nothing runs and nothing is written", async () => {
    const fleet = await fleetOf();
    const attempt = await played(fleet, spin(8), "--role", "none");
    expect(fleet.environment(attempt).OVERSEER_ROLE).toBe("none");
    expect(steerings(fleet, attempt)).toEqual([]);
    expect(existsSync(`${fleet.state}/run/attempts/${attempt}/reflex.json`)).toBe(false);
    expect(existsSync(`${fleet.state}/run/attempts/${attempt}/alert`)).toBe(false);
    expect(existsSync(`${fleet.userDir}/salute`)).toBe(false);
    expect(fleet.events(attempt, "agent.pace")).toEqual([]);
  });

  test("2, STORE-7: work that goes well hears nothing, its report says so, and keeps no secret", async () => {
    const fleet = await fleetOf();
    const attempt = await played(fleet, [
      ...times(7, (at) => edit(`f${at}.txt`)),
      ...SECRETS.map(({ text }) => run(`: ${shellWord(text)}; date >> log.txt`)),
    ]);
    expect(steerings(fleet, attempt)).toEqual([]);
    const latest = await eventually(
      () => {
        const path = `${fleet.userDir}/salute/ada_latest.json`;
        const salute = existsSync(path) && (JSON.parse(readFileSync(path, "utf8")) as Salute);
        return salute && salute.status.state === "idle" && salute;
      },
      () => "the report of an idle agent",
    );
    expect(latest).toMatchObject({
      unit: { agent: "ada", attempt, role: "builder" },
      size: { steps: 7 + SECRETS.length },
      status: { health: "ok", pace: "primary", anomalies: [], reflex: true },
    });
    const files = ["ada_history.ndjson", "ada_latest.json"];
    // Each is written beside and renamed; the next may be under way.
    const there = readdirSync(`${fleet.userDir}/salute`).filter((name) => !name.startsWith("."));
    expect(there.toSorted()).toEqual(files);
    const kept = files.map((name) => readFileSync(`${fleet.userDir}/salute/${name}`, "utf8")).join();
    expect(kept).toContain("log.txt");
    for (const { secret } of SECRETS) expect(kept).not.toContain(secret);
  });

  test("3, ANOM-1, ROLE-2: a stalled agent hears that it is, with what it was doing, before its next message", async () => {
    const fleet = await fleetOf();
    const attempt = await played(fleet, [listens, ...spin(9)]);
    expect(fleet.environment(attempt).OVERSEER_ROLE).toBe("builder");
    const [first] = steerings(fleet, attempt);
    expect(first?.anomaly).toBe("stall");
    expect(first?.text).toMatch(/^\[SUPERVISOR\] You appear stalled: .*“.*[abcd]\.txt”\./);
    await fleet.said(attempt, "I heard the supervisor.");
  });

  test("4, ANOM-2: an agent that repeats what fails hears that it does", async () => {
    const fleet = await fleetOf({ maxStepsWithoutProgress: 20 });
    const attempt = await played(fleet, [listens, ...times(4, () => run("echo 'no such table' >&2; exit 3"))]);
    expect(anomalies(fleet, attempt)[0]).toEqual([3, "loop"]);
    await fleet.said(attempt, "I heard the supervisor.");
    // A person finds that it was wrong: the log keeps it, metrics counts it, and the label of it is one that replay scores.
    const labels = `${fleet.userDir}/labels.ndjson`;
    const [steered] = fleet.events(attempt, "agent.steered");
    const kept = await fleet.ok("wrong", "ada", "--reason", "It was told to.", "--labels", labels);
    expect(kept).toContain(`steering ${steered?.seq} of ada#${attempt} (loop: `);
    expect(await fleet.ok("metrics")).toMatch(/loop +1 said +1 wrong +100 %/);
    expect(await fleet.ok("replay", "--score", labels)).toMatch(/^loop +overseer +0 +1 /m);
  });

  test("5, ANOM-3: a context that fills up is said at 75 and urgently at 90 percent", async () => {
    const fleet = await fleetOf({ maxStepsWithoutProgress: 20 });
    const holds = (inputTokens: number): Step => ({ kind: "usage", inputTokens, contextWindow: 200_000 });
    // How much its context can hold, a driven agent says at the end of its first turn.
    const attempt = await played(fleet, [holds(140_000), edit("one.txt"), say("ready")]);
    expect(steerings(fleet, attempt)).toEqual([]);
    const more = [holds(165_000), edit("two.txt"), edit("three.txt"), holds(185_000), edit("four.txt"), say("done")];
    await tell(fleet, attempt, `Go on ${renderScript([listens, ...paced(more)])}`);
    await fleet.turns(attempt, 2);
    expect(steerings(fleet, attempt).map(({ anomaly }) => anomaly)).toEqual(["context", "context-urgent"]);
    expect(steerings(fleet, attempt)[0]?.text).toContain("82 % full");
    await fleet.said(attempt, "I heard the supervisor.");
    // The next agent of this model knows it from the beginning.
    const next = await fleet.sling("bob", paced([holds(185_000), edit("six.txt"), edit("seven.txt"), say("done")]));
    await fleet.turns(next.attempt, 1);
    expect(steerings(fleet, next.attempt).map(({ anomaly }) => anomaly)).toEqual(["context-urgent"]);
  });

  test("ANOM-6: what only a person can solve is written down for the tick, and the agent is not told", async () => {
    const fleet = await fleetOf({ maxStepsWithoutProgress: 50 });
    const sign = run("echo 'error: gpg failed to sign the data' >&2; exit 128");
    const attempt = await played(fleet, [listens, sign, edit("one.txt"), sign, edit("two.txt")]);
    const [met] = await eventually(
      () => {
        const all = fleet.events(attempt, "agent.blocked");
        return all.length > 0 && all;
      },
      () => "that it needs a person",
    );
    expect(met?.data).toEqual({ what: "signing", fact: "signing its commits was refused" });
    expect(steerings(fleet, attempt)).toEqual([]);
  });

  test("6, ANOM-5, PACE-1: failures take it to contingent, where it hears its role; each change is an event, with a way back", async () => {
    const fleet = await fleetOf({ maxStepsWithoutProgress: 50 });
    const attempt = await played(fleet, [listens, ...differently(7), ...times(4, (at) => edit(`f${at}.txt`))]);
    const contingent = steerings(fleet, attempt).find(({ anomaly }) => anomaly === "contingent");
    expect(contingent?.text).toContain("Try a fundamentally different way");
    const changes = await eventually(
      () => {
        const all = fleet.events(attempt, "agent.pace").map(({ data }) => data.to);
        return all.at(-1) === "primary" && all;
      },
      () => `the way back: ${JSON.stringify(fleet.events(attempt, "agent.pace").map(({ data }) => data))}`,
    );
    expect(changes).toContain("contingent");
  });

  test("7, COOL-1: after a warning two more steps pass in silence, and then it is said again", async () => {
    const fleet = await fleetOf({ maxStepsWithoutProgress: 5 }, { more: "reflex: {loopRepeats: 50}\n" });
    const attempt = await played(fleet, spin(14));
    const stalls = anomalies(fleet, attempt).filter(([, anomaly]) => anomaly === "stall");
    expect(stalls.slice(0, 2)).toEqual([
      [10, "stall"],
      [13, "stall"],
    ]);
  });

  test("8, ANOM-4: different tools that fail one after another are told as one thing", async () => {
    const fleet = await fleetOf({ maxStepsWithoutProgress: 20 });
    const attempt = await played(fleet, [
      listens,
      read("missing.txt"),
      run("no-such-program --version"),
      { kind: "edit", file: "a.txt", replace: "not there", with: "x" },
      read("a.txt"),
    ]);
    const [first] = steerings(fleet, attempt);
    expect(first?.anomaly).toBe("cascade");
    expect(first?.text).toContain("verify the ground");
    await fleet.said(attempt, "I heard the supervisor.");
  });
});
