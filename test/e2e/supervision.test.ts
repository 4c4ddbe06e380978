/**
 * What holds the fleet back and lets it continue, under a real daemon with scripted agents: a budget that is spent, several
 * deaths at once, a freeze, a goal that is paused and cancelled, and whoever asked hearing of every end once.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { restartOn } from "#control/restart.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { worldAt } from "../support/real-world.ts";
import { say } from "../support/steps.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

let fleet: Fleet;
afterEach(() => fleet.end());

const BASE = `
runtime: scripted
landing: {mode: auto}
reconcile: {tickEvery: 1s, minimumAge: 100ms, backoff: {base: 100ms, max: 1s}}
`;
const write = (name: string): Step => ({ kind: "edit", file: `${name}.txt`, content: `${name}\n` });
const diligent = (name: string): Step[] => [
  write(name),
  { kind: "commit", message: `Add ${name}` },
  { kind: "report", status: "done", summary: `${name} is there` },
];

async function planned(tasks: Readonly<Record<string, readonly Step[]>>, ...flags: string[]): Promise<string> {
  const { goalId } = JSON.parse(await fleet.ok("goal", "create", "A goal", "--json", ...flags)) as { goalId: string };
  const node = { acceptance: ["it is there"], dependsOn: [] };
  const nodes = Object.entries(tasks).map(([id, steps]) => ({
    ...{ ...node, id, name: id },
    objective: `Do ${id}. ${renderScript(steps)}`,
  }));
  const file = join(fleet.state, "plan.json");
  const phases = [{ ...node, id: "P1", name: "P1", objective: "All", tasks: nodes }];
  writeFileSync(file, JSON.stringify({ planVersion: 1, phases }));
  await fleet.ok("goal", "plan", goalId, "--file", file);
  return goalId;
}

const seen = <T>(look: () => T | undefined | false, what: string) => eventually(look, () => `${what}\n${tail(fleet)}`);

const attemptsOn = (node: string) =>
  fleet
    .all("agent.slung")
    .flatMap(({ nodeId, attempt }) => (nodeId === node && attempt !== undefined ? [attempt] : []));

test("BUDGET-1: a budget that is spent is warned of, pauses the agent, asks, and a raised limit lets it continue", async () => {
  fleet = await Fleet.make({ more: `${BASE}budgets: {warnAt: 50, agent: {tokens: 6000}}\n` });
  // Each call is a message of a thousand tokens: five of them are past the warning and within the limit.
  const go = join(fleet.repo.path, "go");
  const spend = (from: number): Step[] =>
    Array.from({ length: 4 }, (_, at) => ({ kind: "run", command: `echo ${from + at}` }));
  const held: Step = { kind: "run", command: `for i in $(seq 600); do [ -e '${go}' ] && exit 0; sleep 0.05; done` };
  await planned({ T1: [...spend(1), held, ...spend(5), say("that was it")] });
  await fleet.ok("up");
  const warned = await seen(() => fleet.all("budget.warned")[0], "the warning");
  expect(warned.data).toMatchObject({ what: "tokens", limit: 6000 });
  expect(fleet.all("budget.exceeded")).toEqual([]);
  writeFileSync(go, "");
  const exceeded = await seen(() => fleet.all("budget.exceeded")[0], "the end of the budget");
  expect(exceeded.data).toMatchObject({ what: "tokens", limit: 6000 });
  expect(fleet.all("budget.warned")).toHaveLength(1);
  const paused = await seen(() => fleet.all("budget.paused")[0], "the pause");
  const [attempt = 0] = attemptsOn("T1");
  await seen(() => fleet.attempt(attempt).status === "paused", "the pause");
  await seen(
    () => fleet.all("question.asked").some(({ data }) => data.questionId === paused.data.questionId),
    "the question",
  );
  expect(fleet.all("assignment.nudged")).toEqual([]);
  const path = `${fleet.userDir}/config.yaml`;
  writeFileSync(path, readFileSync(path, "utf8").replace("tokens: 6000", "tokens: 6000000"));
  await seen(() => fleet.all("budget.cleared")[0], "the raised limit");
  await seen(() => fleet.attempt(attempt).status === "running", "the resume");
  expect(attemptsOn("T1")).toEqual([attempt]);
  expect(fleet.all("question.withdrawn").map(({ data }) => data.questionId)).toEqual([paused.data.questionId ?? ""]);
});

test("BUDGET-1, HOLD-1: a node's own budget names itself, is raised by an answer, a command or its plan, and is asked about each time", async () => {
  fleet = await Fleet.make({ more: `${BASE}budgets: {agent: {tokens: 3000}}\n` });
  // Each time it is told to go on it spends what it may; the turn to hand over spends too.
  const spend: Step[] = Array.from({ length: 6 }, (_, at) => ({ kind: "run", command: `echo ${at}` }));
  const script = [...spend, say("That was it."), ...spend, say("And that."), ...spend, say("More."), ...spend];
  const file = join(fleet.state, "plan.json");
  const { goalId } = JSON.parse(await fleet.ok("goal", "create", "A goal", "--json")) as { goalId: string };
  const node = { acceptance: ["it is there"], dependsOn: [] };
  const plan = async (tokens: number) => {
    const task = { ...node, id: "T1", name: "T1", objective: `Do T1. ${renderScript(script)}`, budget: { tokens } };
    const phases = [{ ...node, id: "P1", name: "P1", objective: "All", tasks: [task] }];
    writeFileSync(file, JSON.stringify({ planVersion: 1, phases }));
    await fleet.ok("goal", "plan", goalId, "--file", file);
  };
  await plan(2_000);
  await fleet.ok("up");
  const open = async (n: number) => {
    const asked = await seen(() => fleet.all("question.asked")[n - 1], `question ${n}`);
    await seen(() => fleet.attempt(attemptsOn("T1")[0] ?? 0).status === "paused", `pause ${n}`);
    return asked.data;
  };
  const first = await open(1);
  expect(first.text).toContain(`The budget of ${goalId}/T1 is spent`);
  expect(first.text).toContain("the limit is the node's own, budget.tokens in its plan");
  expect(first.options).toEqual(["continue with as much again", "stop it", "leave it paused"]);
  const status = async () => (await fleet.ok("status")).split("\n").find((line) => line.includes("BUDGET: ")) ?? "";
  expect(await status()).toContain(`${goalId}/T1 is spent`);
  expect(await status()).toMatch(new RegExp(`${first.questionId}: overseer answer \\d+ `));

  // The configuration is not what binds it, and words that say nothing about it are no answer.
  const path = `${fleet.userDir}/config.yaml`;
  writeFileSync(path, readFileSync(path, "utf8").replace("tokens: 3000", "tokens: 9000000"));
  await seen(() => fleet.all("config.changed")[0], "the changed configuration");
  const vague = await fleet.run("answer", first.questionId, "raised");
  expect([vague.code, vague.stderr]).toEqual([2, expect.stringContaining("raise by")]);
  expect(fleet.all("budget.cleared")).toEqual([]);
  await fleet.ok("answer", first.questionId, "1");

  // The second time a person raises it by a command, too little and then enough.
  const second = await open(2);
  expect(second.text).toContain("the limit is what a person has set it to");
  await fleet.ok("answer", second.questionId, "leave it paused");
  expect(await status()).toContain(`Nobody is asked about it now. (overseer work budget ${goalId}/T1 --tokens <n>)`);
  const little = await fleet.run("work", "budget", "T1", "--tokens", "5000");
  expect([little.code, little.stderr]).toEqual([2, expect.stringContaining("would change nothing")]);
  const spent = Number(/\((\d+) tokens of/.exec(second.text)?.[1]);
  await fleet.ok("work", "budget", "T1", "--tokens", String(spent + 1));
  const third = await open(3);
  await plan(50_000_000);
  await seen(
    () => fleet.all("question.withdrawn").some(({ data }) => data.questionId === third.questionId),
    "the plan",
  );
  const [attempt = 0] = attemptsOn("T1");
  await seen(() => fleet.attempt(attempt).status === "running", "the resume");
  expect(await status()).toBe("");
  expect(attemptsOn("T1")).toEqual([attempt]);
  expect(await fleet.ok("why", `${goalId}/T1`, "--all")).toMatch(/raised the budget of node:.* to 30\d+ tokens/);
});

test("LIVE-1, FAIL-7: a command that hangs is asked about, then interrupted; a long one that does something is left alone", async () => {
  const limits = "tickEvery: 300ms, toolLimit: 2s, minResendInterval: 100ms";
  fleet = await Fleet.make({ more: `${BASE.replace("tickEvery: 1s", limits)}ladder: {patience: 1s}\n` });
  await planned({
    T1: [{ kind: "run", command: "sleep infinity" }, say("It hung.")],
    T2: [{ kind: "run", command: "for i in $(seq 80); do echo $i; sleep 0.1; done" }, ...diligent("two")],
  });
  await fleet.ok("up");
  const resent = await seen(() => fleet.all("assignment.resent")[0], "the interrupt");
  expect([resent.nodeId, resent.because]).toEqual(["T1", "tool-hangs"]);
  expect(fleet.all("assignment.nudged")[0]).toMatchObject({ nodeId: "T1", because: "tool-hangs" });
  const [attempt = 0] = attemptsOn("T1");
  await seen(() => fleet.signals(attempt).some(({ kind }) => kind === "turn.ended"), "the end of the turn");
  await seen(() => fleet.all("work.done").some(({ nodeId }) => nodeId === "T2"), "the long build");
  const judged = [...fleet.all("assignment.nudged"), ...fleet.all("assignment.resent")];
  expect(judged.filter(({ nodeId }) => nodeId === "T2")).toEqual([]);
});

test("LIVE-1, FAIL-9: one sign of death is doubt; an agent that is held and whose terminal is gone is ended, and continues", async () => {
  fleet = await Fleet.make({ more: `${BASE.replace("1s,", "300ms,")}ladder: {patience: 1s}\n` });
  await planned({ T1: [{ kind: "run", command: "sleep 300" }, ...diligent("one")] });
  await fleet.ok("up");
  const attempt = await seen(() => attemptsOn("T1")[0], "the agent");
  await seen(() => fleet.signals(attempt).some(({ kind }) => kind === "tool.started"), "its command");
  const held = await fleet.process(attempt);
  fleet.processes.signal(held, "SIGSTOP");
  const doubted = await seen(() => fleet.all("assignment.doubted")[0], "the doubt");
  expect(doubted.data.signs).toEqual(["agent"]);
  const { socket, name } = fleet.attempt(attempt).terminal as { socket: string; name: string };
  Bun.spawnSync(["tmux", "-S", socket, "kill-session", "-t", name]);
  const ended = await seen(() => fleet.all("agent.ended")[0], "its end");
  expect(ended.data).toMatchObject({ cause: "died", detail: expect.stringContaining("two signs of death") });
  expect(fleet.all("assignment.doubted").at(-1)?.data.signs).toEqual(["agent", "terminal"]);
  await seen(() => attemptsOn("T1").length === 2, "the next attempt");
  expect(fleet.processes.alive(held)).toBe(false);
});

test("MASS-1: several deaths at once are one event; one is tried, then the others follow in stages, and no stage waits for the clock", async () => {
  const seldom = BASE.replace("tickEvery: 1s", "tickEvery: 10m");
  fleet = await Fleet.make({ more: `${seldom}massDeath: {count: 3, within: 3s}\n` });
  const nodes = ["T1", "T2", "T3"];
  await planned(Object.fromEntries(nodes.map((node) => [node, [say(`${node} is here`)]])));
  await fleet.ok("up");
  const first = await seen(
    () => nodes.every((node) => fleet.turnsOf(attemptsOn(node)[0]) > 0) && nodes,
    "three agents",
  );
  const processes = await Promise.all(first.map((node) => fleet.process(attemptsOn(node)[0] ?? 0)));
  for (const one of processes) fleet.processes.signal(one, "SIGKILL");
  await seen(() => fleet.all("fleet.restored")[0], "the fleet");
  expect(fleet.all("fleet.mass_death").map(({ data }) => data.attempts.length)).toEqual([3]);
  const stages = fleet.all("fleet.restoring").map(({ data }) => data.nodes.length);
  expect(stages[0]).toBe(1);
  for (const node of nodes) expect(attemptsOn(node)).toHaveLength(2);
  // Whoever died first may have been started again already; from then on nobody is, until one was tried.
  const order = fleet.happened().map(({ type }) => type);
  const pause = order.slice(order.indexOf("fleet.mass_death"), order.indexOf("fleet.restoring"));
  expect(pause).not.toContain("assignment.restarting");
  expect(fleet.all("work.blocked")).toEqual([]);
});

test("FREEZE-1 GOAL-5 TELL-1: frozen nothing is dispatched; a paused goal waits, a cancelled one ends, and its asker hears once", async () => {
  fleet = await Fleet.make({ more: BASE });
  const boss = await fleet.sling("boss", [say("I wait")]);
  await fleet.turns(boss.attempt, 1);
  await fleet.ok("up");
  await fleet.ok("freeze");
  const goalId = await planned({ N1: [write("N1"), say("half of it")], N2: diligent("N2") }, "--from-session", "boss");
  await fleet.ok("tick", "--now");
  expect([...attemptsOn("N1"), ...attemptsOn("N2")]).toEqual([]);
  await fleet.ok("thaw");
  await seen(() => fleet.all("work.done").some(({ nodeId }) => nodeId === "N2"), "N2");
  const [attempt = 0] = await seen(() => attemptsOn("N1").length > 0 && attemptsOn("N1"), "N1");
  await fleet.turns(attempt, 1);

  await fleet.ok("goal", "pause", goalId);
  await seen(() => fleet.attempt(attempt).status === "paused", "the pause");
  await fleet.ok("goal", "resume", goalId);
  await seen(() => fleet.attempt(attempt).status === "running", "the resume");

  await fleet.ok("goal", "cancel", goalId);
  const ended = await fleet.ended(attempt);
  expect(ended.end?.cause).toBe("stopped");
  expect(fleet.repo.git("rev-parse", "--verify", ended.end?.wip ?? "")).toMatch(/^[0-9a-f]{40}$/);
  expect(fleet.rows("select node_id, status from nodes where node_id like 'N%' order by 1")).toEqual([
    { node_id: "N1", status: "cancelled" },
    { node_id: "N2", status: "done" },
  ]);
  const told = () => fleet.messages(boss.attempt).filter(({ kind, from }) => kind === "mail" && from === "overseer");
  await seen(() => told().some(({ body }) => body.includes("N2 is done")), "what the asker hears");
  await fleet.ok("tick", "--now");
  await fleet.ok("tick", "--now");
  expect(told().filter(({ body }) => body.includes("N2 is done"))).toHaveLength(1);
});

test("ADOPT-1: a dead agent is started again as the agent of its node, also when another carries its name by then", async () => {
  fleet = await Fleet.make({ more: BASE });
  const died = await fleet.sling("bob", [write("A"), { kind: "die", at: "now", signal: "SIGKILL", once: true }]);
  await fleet.ended(died.attempt);
  const other = await fleet.sling("bob", [say("I am another")]);
  const world = await worldAt(fleet.repo.path);
  const again = await restartOn(world, died, { reason: "it died", dispatchId: "D_AGAIN" });
  expect(again).toMatchObject({ workNodeId: died.workNodeId, goalId: died.goalId, worktree: died.worktree });
  expect(again.agent).not.toBe("bob");
  expect(fleet.attempt(other.attempt).status).toBe("running");
});
