/**
 * What an agent, its process, its terminal or its worktree can do wrong, done for real under a real daemon: each failure
 * ends in landed work or in one question to a person, and the task beside it lands meanwhile.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet, type FleetOptions } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { tail } from "../support/nine-tasks.ts";
import { isLongLane } from "../support/scale.ts";
import { hang, run, say } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

/** Every wait of the recovery, as short as it may be set; every step of it as it is by default. */
const QUICK = `
landing: {mode: auto}
reconcile: {tickEvery: 100ms}
recovery:
  silentAfter: 1s
  nextStepAfter: 100ms
  firstSignWithin: 30s
  judgedFromAge: 100ms
  sameWordsAfter: 100ms
  backoff: {base: 100ms, max: 100ms}
`;
/** One task goes wrong; this one is beside it, and nothing happens to it. */
const HEALTHY = "T9";

/** What the ladder does, and the question at its end. */
const STEPS = new Set<string>([
  ...["assignment.nudged", "assignment.resent", "assignment.restarting", "assignment.reassigning"],
  ...["assignment.parked", "assignment.escalated"],
]);

const die: Step = { kind: "die", at: "now", signal: "SIGKILL" };
const write = (name: string): Step => ({ kind: "edit", file: `${name}.txt`, content: `${name}\n` });
const finish = (name: string): Step[] => [
  write(name),
  { kind: "commit", message: `Add ${name}` },
  { kind: "report", status: "done", summary: `${name} is there` },
];

/** A session remembers how far it was: what goes wrong only once goes on past it. */
const forever = (...steps: Step[]): Step[] => [{ kind: "loop", steps }];

/** A fleet under a daemon, at work on one task that goes wrong (T1) and on one that does not. */
async function start(
  steps: readonly Step[],
  more = "",
  options: FleetOptions = {},
  besides: Readonly<Record<string, readonly Step[]>> = {},
): Promise<Fleet> {
  const fleet = await fleetOf({ ...options, more: `${QUICK}${more}` });
  await fleet.ok("up");
  const node = { acceptance: ["it is there"], dependsOn: [] };
  const tasks = Object.entries({ T1: steps, ...besides, [HEALTHY]: finish(HEALTHY) }).map(([id, script]) => ({
    ...{ ...node, id, name: id },
    objective: `Do ${id}. ${renderScript(script)}`,
  }));
  const file = join(fleet.state, "plan.json");
  const phases = [{ ...node, id: "P1", name: "P1", objective: "All", tasks }];
  writeFileSync(file, JSON.stringify({ planVersion: 1, phases }));
  await fleet.ok("goal", "create", "A goal", "--plan", file);
  return fleet;
}

const seen = <T>(fleet: Fleet, look: () => T | undefined | false, what: string) =>
  eventually(look, () => `${what}\n${tail(fleet)}`, 30_000);

const attemptsOn = (fleet: Fleet, node: string) =>
  fleet
    .all("agent.slung")
    .flatMap(({ nodeId, attempt }) => (nodeId === node && attempt !== undefined ? [attempt] : []));

const landed = (fleet: Fleet, node: string) =>
  seen(fleet, () => fleet.all("landing.landed").find(({ nodeId }) => nodeId === node), `the landing of ${node}`);

/** The healthy one has landed, and the daemon that began is the one that is there. */
async function othersWentOn(fleet: Fleet): Promise<void> {
  await landed(fleet, HEALTHY);
  expect(attemptsOn(fleet, HEALTHY)).toHaveLength(1);
  expect(fleet.all("daemon.started")).toHaveLength(1);
  expect(fleet.processes.alive(fleet.theDaemon())).toBe(true);
}

/** Everything was tried, a person is asked once, and nothing more follows however often it is looked at. */
async function askedOnce(fleet: Fleet): Promise<void> {
  const [question] = await seen(
    fleet,
    () => fleet.all("question.asked").length > 0 && fleet.all("question.asked"),
    "the question",
  );
  expect(question?.nodeId).toBe("T1");
  await othersWentOn(fleet);
  const tried = attemptsOn(fleet, "T1").length;
  await fleet.ok("tick", "--now");
  await fleet.ok("tick", "--now");
  expect(fleet.all("question.asked")).toHaveLength(1);
  expect(attemptsOn(fleet, "T1")).toHaveLength(tried);
}

/** What the default ladder does about an agent that keeps ending: two restarts, then two fresh agents. */
function expectWholeLadder(fleet: Fleet): void {
  const steps = fleet
    .happened()
    .flatMap(({ type }) =>
      type === "assignment.restarting" || type === "assignment.reassigning" ? [type.replace("assignment.", "")] : [],
    );
  expect(steps).toEqual(["restarting", "restarting", "reassigning", "reassigning"]);
  expect(attemptsOn(fleet, "T1")).toHaveLength(5);
  expect(fleet.all("fleet.mass_death")).toEqual([]);
}

/** At work until the file is there. */
const until = (go: string): Step => run(`for i in $(seq 1200); do [ -e '${go}' ] && exit 0; sleep 0.05; done`);

/** Its command runs: in the middle of a turn, with its process and its terminal there. */
const atWork = (fleet: Fleet, attempt: number) =>
  seen(fleet, () => fleet.signals(attempt).some(({ kind }) => kind === "tool.started"), `#${attempt} at work`);

const newestOn = (fleet: Fleet, node: string, count: number) =>
  seen(fleet, () => attemptsOn(fleet, node)[count - 1], `attempt ${count} on ${node}`);

/** Its runner, its agent and its terminal in the same moment: nobody is left to say that it ended. */
async function killWithTerminal(fleet: Fleet, attempt: number, terminal: "session" | "server"): Promise<void> {
  const server = terminal === "server" ? [await fleet.tmuxServer()] : [];
  const doomed = [...server, fleet.runner(attempt), await fleet.process(attempt)];
  for (const one of doomed) fleet.processes.signal(one, "SIGKILL");
  if (terminal === "session") await fleet.tmux("kill-session", "-t", `=ov-${attempt}:`);
}

if (isLongLane()) {
  test("FAIL-5: an agent that is killed in its work once is started again in its session, and its task lands", async () => {
    const fleet = await start([write("half"), { ...die, once: true }, ...finish("T1")]);
    await landed(fleet, "T1");
    await othersWentOn(fleet);
    const [first = 0, second = 0, ...more] = attemptsOn(fleet, "T1");
    expect(more).toEqual([]);
    expect(fleet.attempt(first).end).toMatchObject({ cause: "died", signal: "SIGKILL" });
    expect(fleet.attempt(second)).toMatchObject({ continues: first, worktree: fleet.attempt(first).worktree });
    expect(fleet.all("question.asked")).toEqual([]);
  });
}

test("FAIL-6: an agent that is killed again and again is restarted, then replaced, then a person is asked once; the rest goes on", async () => {
  const fleet = await start(forever(say("here"), die));
  await askedOnce(fleet);
  expectWholeLadder(fleet);
});

const fewSteps = (freshAgents: number) =>
  `  steps: {hints: 1, warnings: 0, lastWarnings: 0, interrupts: 1, splits: 0, freshAgents: ${freshAgents}, pauses: 0}\n`;

test.each(isLongLane() ? [0, 1] : [0])(
  "FAIL-7: an agent that hangs is judged stalled, asked, interrupted and replaced %d times, then a person is asked once; the rest goes on",
  async (freshAgents) => {
    const fleet = await start(forever(say("here"), hang), fewSteps(freshAgents), { stopGrace: "100ms" });
    await askedOnce(fleet);
    expect(fleet.all("assignment.stalled")[0]).toMatchObject({ nodeId: "T1", because: "no-activity" });
    const steps = fleet.happened().flatMap(({ type, nodeId }) => (nodeId === "T1" && STEPS.has(type) ? [type] : []));
    const each = ["assignment.nudged", "assignment.resent"] as const;
    const replaced = Array.from({ length: freshAgents }, () => ["assignment.reassigning", ...each] as const).flat();
    expect(steps).toEqual([...each, ...replaced, "assignment.escalated"]);
    expect(attemptsOn(fleet, "T1")).toHaveLength(freshAgents + 1);
  },
);

if (isLongLane()) {
  test("FAIL-7: an agent that hangs once is interrupted, and its task lands", async () => {
    const fleet = await start([say("here"), { ...hang, once: true }, ...finish("T1")], fewSteps(0));
    await landed(fleet, "T1");
    await othersWentOn(fleet);
    expect(attemptsOn(fleet, "T1")).toHaveLength(1);
    expect(fleet.all("question.asked")).toEqual([]);
  });

  test("FAIL-8: an agent whose CLI ends with an error each time is restarted, then replaced, then a person is asked once; the rest goes on", async () => {
    const fleet = await start(forever(say("here"), { kind: "fail", message: "no way", exitCode: 7 }));
    await askedOnce(fleet);
    expectWholeLadder(fleet);
  });

  test("FAIL-8: an agent whose CLI cannot even begin is tried again, then a person is asked once; the rest goes on", async () => {
    const fleet = await start(forever({ kind: "fail", message: "no way", exitCode: 7 }));
    await askedOnce(fleet);
  });
}

test("FAIL-9: who loses its terminal works on, who dies with it continues in a new one, and both land", async () => {
  const [go, on] = [join(tempDir("go-"), "go"), join(tempDir("go-"), "on")];
  const steps = { T2: [until(go), until(on), ...finish("T2")] };
  const fleet = await start([until(on), ...finish("T1")], "", { terminal: "tmux" }, steps);
  const [kept, killed] = [await newestOn(fleet, "T1", 1), await newestOn(fleet, "T2", 1)];
  await Promise.all([atWork(fleet, kept), atWork(fleet, killed)]);
  await landed(fleet, HEALTHY);
  await killWithTerminal(fleet, killed, "server");
  // A call that was cut off is not made again: it continues with the next one.
  const again = await newestOn(fleet, "T2", 2);
  await atWork(fleet, again);
  const open = await fleet.tmux("list-sessions", "-F", "#{session_name}");
  expect(open.split("\n")).toContain(`ov-${again}`);
  writeFileSync(on, "");
  await Promise.all([landed(fleet, "T1"), landed(fleet, "T2")]);
  await othersWentOn(fleet);
  expect(attemptsOn(fleet, "T1")).toEqual([kept]);
  expect(attemptsOn(fleet, "T2")).toEqual([killed, again]);
  expect(fleet.attempt(again)).toMatchObject({ continues: killed, worktree: fleet.attempt(killed).worktree });
  expect(fleet.all("question.asked")).toEqual([]);
});

if (isLongLane()) {
  test("FAIL-10: who dies with its terminal again and again is restarted, then replaced, then a person is asked once; the rest goes on", async () => {
    const fleet = await start(forever(run("sleep 60")), "", { terminal: "tmux" });
    for (let count = 1; count <= 5; count += 1) {
      const attempt = await newestOn(fleet, "T1", count);
      await atWork(fleet, attempt);
      await killWithTerminal(fleet, attempt, "session");
    }
    await askedOnce(fleet);
    expectWholeLadder(fleet);
    expect((await fleet.tmux("list-sessions", "-F", "#{session_name}")).trim()).toBe("");
  });

  test("FAIL-10: who only loses its terminal, as often as that is, works on as the same attempt, and its task lands", async () => {
    const go = join(tempDir("go-"), "on");
    const fleet = await start([until(go), ...finish("T1")], "", { terminal: "tmux" });
    const attempt = await newestOn(fleet, "T1", 1);
    await atWork(fleet, attempt);
    for (const regained of [1, 1]) {
      await fleet.tmux("kill-server");
      await seen(fleet, () => fleet.all("agent.terminal_regained").length >= regained, "a terminal");
    }
    writeFileSync(go, "");
    await landed(fleet, "T1");
    await othersWentOn(fleet);
    expect(attemptsOn(fleet, "T1")).toEqual([attempt]);
    expect(fleet.all("question.asked")).toEqual([]);
  });
}
