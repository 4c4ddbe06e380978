/**
 * The daemon killed at the n-th call that a tick or one of its lanes makes, wherever that is: the next `up` adopts every
 * agent that lives, with the same pids, and in the end everything is as if nothing had happened, with as many
 * dispatches. The harness counts the calls and kills its own process; a few places here, all of them in the long lane.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { spread } from "../support/scale.ts";

setDefaultTimeout(7_200_000);
beforeAll(bundled);

const HARNESS = join(import.meta.dir, "../support/daemon-harness.ts");
const CONFIG = `
runtime: scripted
landing: {mode: auto, dirtyWait: {base: 1s, max: 2s}}
reconcile: {tickEvery: 2s, minimumAge: 100ms, backoff: {base: 100ms, max: 1s}}
checks:
  there: {command: "test -e README.md || test -d .git || test -f .git", on: [done, land], timeout: 30s}
`;

const write = (name: string): Step[] => [
  { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
  { kind: "commit", message: `Add ${name}` },
  { kind: "report", status: "done", summary: `${name} is there` },
];
/** One does its work, one dies on the way and continues, one needs what the first has done. */
const TASKS: { readonly id: string; readonly dependsOn: string[]; readonly steps: readonly Step[] }[] = [
  { id: "T1", dependsOn: [], steps: write("T1") },
  { id: "T2", dependsOn: [], steps: [{ kind: "die", at: "now", signal: "SIGKILL", once: true }, ...write("T2")] },
  { id: "T3", dependsOn: ["T1"], steps: write("T3") },
];

const fleets = new Set<Fleet>();
afterEach(async () => {
  for (const fleet of fleets) await fleet.end();
  fleets.clear();
});

async function planned(): Promise<Fleet> {
  const fleet = await Fleet.make({ more: CONFIG, terminal: "tmux" });
  fleets.add(fleet);
  const { goalId } = JSON.parse(await fleet.ok("goal", "create", "Three", "--json")) as { goalId: string };
  const node = { acceptance: ["it is there"] };
  const tasks = TASKS.map(({ id, dependsOn, steps }) => ({
    ...{ ...node, id, name: id, dependsOn },
    objective: `Do ${id}. ${renderScript(steps)}`,
  }));
  const phases = [{ ...node, id: "P1", name: "P1", objective: "All", dependsOn: [], tasks }];
  const file = join(fleet.state, "plan.json");
  writeFileSync(file, JSON.stringify({ planVersion: 1, phases }));
  await fleet.ok("goal", "plan", goalId, "--file", file);
  return fleet;
}

function harness(fleet: Fleet, ...fault: string[]) {
  return Bun.spawn([process.execPath, HARNESS, fleet.repo.path, ...fault], {
    env: process.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

const isOver = (fleet: Fleet) => fleet.all("goal.completed").length > 0;

/** Everybody has gone home, too, and what they left was cleared away. */
async function over(fleet: Fleet): Promise<void> {
  await eventually(
    () => isOver(fleet) && living(fleet).length === 0 && waiting(fleet).length === 0,
    () => `the end of the story\n${tail(fleet)}`,
  );
}

const living = (fleet: Fleet) =>
  fleet
    .rows<{ doc: string }>("select doc from attempts where status <> 'ended'")
    .map(({ doc }) => JSON.parse(doc) as { attempt: number; runner: { pid: number; start: string } | null });

const waiting = (fleet: Fleet) => fleet.rows("select id from actions where status not in ('done', 'dropped')");

/** What is left of the story, without ids and times. */
function ending(fleet: Fleet) {
  const log = fleet.happened();
  const perNode = (type: string) => TASKS.map(({ id }) => log.filter((e) => e.type === type && e.nodeId === id).length);
  const dispatches = TASKS.map(({ id }) => {
    const docs = fleet.rows<{ doc: string }>("select doc from assignments where node_id = ?1", id);
    const all = docs.flatMap(({ doc }) => (JSON.parse(doc) as { dispatches: { dispatchId: string }[] }).dispatches);
    return new Set(all.map(({ dispatchId }) => dispatchId)).size;
  });
  return {
    tree: fleet.repo.git("rev-parse", "HEAD^{tree}"),
    checkout: fleet.repo.git("status", "--porcelain", "--untracked-files=no"),
    nodes: fleet.rows("select node_id, status from nodes order by node_id"),
    dispatches,
    done: perNode("work.done"),
    landed: perNode("landing.landed"),
    restarts: perNode("assignment.restarting"),
    nudged: perNode("assignment.nudged"),
    ran: TASKS.map(({ id }) => log.filter((e) => e.type === "agent.started" && e.nodeId === id).length),
    open: waiting(fleet),
    left: fleet
      .rows<{ attempt: number }>("select attempt from attempts")
      .flatMap(({ attempt }) => fleet.marked(attempt)),
  };
}

/** Runs the story with a daemon that dies at that call and another one after it. False: it made fewer calls. */
async function killedAt(at: number, mode: string, undisturbed: ReturnType<typeof ending>): Promise<boolean> {
  const fleet = await planned();
  const doomed = harness(fleet, mode, String(at));
  await Promise.race([doomed.exited, over(fleet)]);
  const reached = doomed.signalCode === "SIGKILL";
  const call = reached ? (await doomed.stderr.text()).trim() : "";
  if (!reached) doomed.kill("SIGTERM");
  await doomed.exited;
  const before = living(fleet).flatMap(({ attempt, runner }) =>
    runner && fleet.processes.alive(runner) ? [{ attempt, pid: runner.pid }] : [],
  );
  await fleet.ok("up");
  const adopted = fleet.all("daemon.adopted").flatMap(({ data }) => data.agents);
  const problem = await over(fleet).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  const name = `${at} ${mode} ${call}`;
  const cameUp = fleet.all("daemon.started").at(-1)?.seq ?? 0;
  const endedBefore = new Set(fleet.all("agent.ended").flatMap((e) => (e.seq < cameUp ? [e.attempt] : [])));
  const notAdopted = before
    .filter(({ attempt }) => !endedBefore.has(attempt))
    .filter(({ attempt, pid }) => !adopted.some((one) => one.attempt === attempt && one.pid === pid));
  const found = { name, problem, notAdopted, ...ending(fleet) };
  await fleet.end();
  fleets.delete(fleet);
  expect(found).toEqual({ name, problem: undefined, notAdopted: [], ...undisturbed });
  return reached;
}

/** Stories wait more than they work, so a few are told at the same time. */
const AT_ONCE = 3;

test("ADOPT-1 TICK-2: killed at any call of a tick, the next daemon adopts everybody and it ends the same", async () => {
  const whole = await planned();
  const first = harness(whole);
  await over(whole);
  first.kill("SIGTERM");
  const calls = JSON.parse(await first.stdout.text()) as string[];
  const undisturbed = ending(whole);
  expect(undisturbed).toMatchObject({ dispatches: [1, 2, 1], landed: [1, 1, 1], ran: [1, 2, 1], open: [], left: [] });
  // Every call in the long lane, here a few of them, before the call and in the middle of it in turn.
  const places = spread(calls.length, 5).map((at, index) => ({ at, mode: index % 2 === 0 ? "kill-during" : "kill" }));
  const failures: unknown[] = [];
  let reached = 0;
  const work = async () => {
    for (let next = places.shift(); next !== undefined; next = places.shift()) {
      await killedAt(next.at, next.mode, undisturbed).then(
        (died) => {
          reached += died ? 1 : 0;
        },
        (error: unknown) => failures.push(error instanceof Error ? error.message : error),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(failures).toEqual([]);
  expect(reached).toBeGreaterThan(0);
});

function tail(world: Fleet): string {
  return world
    .happened()
    .filter(({ type }) => type !== "overseer.tick")
    .slice(-60)
    .map((e) => `${e.seq} ${e.nodeId ?? ""} ${e.type} ${e.because} ${JSON.stringify(e.data).slice(0, 200)}`)
    .join("\n");
}
