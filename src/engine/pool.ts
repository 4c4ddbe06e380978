/**
 * One turn of the pool: records which of its tasks are over, sees to its workers, and takes the next task where one may be
 * taken. What it takes is work like any other from then on, dispatched, watched, checked and landed by the tick. It asks
 * outside the log, because an empty pool asked every half minute would fill it; what a command has said lies on the disk
 * until it is in the log (act/auto/task-command.ts). docs/decisions/0016 says why.
 */
import { recordAuto } from "#act/auto/auto-logs.ts";
import { type AutoSettings, autoNow, listSources } from "#act/auto/auto-settings.ts";
import { askPool, finishAsking, forgetAsking, type PoolAsking } from "#act/auto/task-command.ts";
import { type KnownFiles, readTaskDirectory } from "#act/auto/task-directory.ts";
import { measureRoom } from "#act/room.ts";
import { chooseGoalId } from "#control/goal-id.ts";
import { listHalts } from "#control/halted.ts";
import { titleOfTask } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { describeShortage } from "#domain/agents/admission.ts";
import { judgePull, type PullVerdict } from "#domain/auto/may-pull.ts";
import { type PoolAnswer, readPoolAnswer } from "#domain/auto/pool-answer.ts";
import { countPool } from "#domain/auto/pool-state.ts";
import {
  endTask,
  judgeEnd,
  listForgotten,
  type PulledTask,
  type TakenTask,
  takeTask,
  taskKey,
} from "#domain/auto/take-task.ts";
import { judgeVanished, matchWorkers } from "#domain/auto/workers.ts";
import { describeHold } from "#domain/health/settings.ts";
import type { AutoCondition, HardFailure, PoolSource, PoolTask, Worker } from "#domain/model/auto.ts";
import type { Condition } from "#domain/model/condition.ts";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { presentConditions } from "#store/actions.ts";
import { agentsAtWork } from "#store/agent-rows.ts";
import { openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { costsOfGoals } from "#store/fleet-sight.ts";
import { goalById } from "#store/goals.ts";
import { goalsForTick, nodesForTick } from "#store/tick.ts";
import { nodesOfGoal } from "#store/work.ts";

/** What one daemon remembers of the pool from turn to turn. */
export class PoolMemory {
  /** Workers that were there at the last look; null before the first. */
  expected: readonly string[] | null = null;
  readonly files: KnownFiles = new Map();
  /** Why no task was taken in the last turn, as a clause. */
  why: string | null = null;
  lastTakenAt: number | null = null;
  lastEndedAt: number | null = null;
}

export interface PoolTurn {
  /** A task was taken: there may be another. */
  readonly took: boolean;
  /** What auto mode stands on is broken: it is to end. */
  readonly failure: HardFailure | null;
  /** This run has done what it was started for. */
  readonly finished: string | null;
}

const NOTHING: PoolTurn = { took: false, failure: null, finished: null };

export async function turnPool(world: World, memory: PoolMemory): Promise<PoolTurn> {
  await recordEnds(world, memory);
  const auto = await autoNow(world);
  if (!auto) return NOTHING;
  if (await isInDoubt(world, memory)) return NOTHING;
  const vanished = await keepWorkers(world, auto, memory);
  if (vanished) {
    // A damaged store is rebuilt a moment before safe mode says so, and that is what has happened then.
    await world.clock.sleep(DOUBT_MS);
    return (await isInDoubt(world, memory)) ? NOTHING : { ...NOTHING, failure: vanished };
  }
  // Also where this life asks no command: what the last one began has given a task away.
  const { taskPoolTimeout } = (await world.config()).auto;
  const left = await finishAsking(world, taskPoolTimeout, await maxTaskBytes(world));
  if (left) return takeAnswer(world, auto, memory, left);
  const verdict = await judgeNow(world, auto);
  memory.why = verdict.pull ? null : verdict.why;
  if (!verdict.pull) return { ...NOTHING, finished: await judgeFinish(world, auto, verdict) };
  try {
    return await takeNext(world, auto, memory);
  } catch (error) {
    // A pool that cannot even be asked is as broken as one that fails.
    if (!(error instanceof OverseerError) || !POOL_MISSING.has(error.code)) throw error;
    const { code, message, hint } = error;
    return { ...NOTHING, failure: { code, problem: message, hint: `${hint} Then 'overseer up --auto'.` } };
  }
}

/** The directory of tasks is gone, or that in which the command is run, or the shell. */
const POOL_MISSING: ReadonlySet<string> = new Set(["TASK_DIRECTORY_MISSING", "CWD_MISSING", "PROGRAM_MISSING"]);

async function takeNext(world: World, auto: AutoSettings, memory: PoolMemory): Promise<PoolTurn> {
  const fromFile = auto.directory === null ? false : await takeFile(world, auto.directory, memory);
  if (fromFile) return { ...NOTHING, took: true };
  if (auto.command)
    return takeAnswer(world, auto, memory, await askPool(world, auto.command, await maxTaskBytes(world)));
  if (auto.directory !== null) await recordEmpty(world, auto, memory);
  return NOTHING;
}

/** What the daemon takes from a damaged store to safe mode. */
const DOUBT_MS = 1_000;

/** In safe mode nothing is taken, and who is missing there says nothing. */
async function isInDoubt(world: World, memory: PoolMemory): Promise<boolean> {
  if (!(await listHalts(world)).includes("safe mode")) return false;
  memory.expected = null;
  memory.why = "safe mode";
  return true;
}

/** The longest task: what somebody may hand in as a prompt. */
async function maxTaskBytes(world: World): Promise<number> {
  return (await world.config()).store.caps.payload;
}

interface Known {
  readonly auto: AutoCondition | undefined;
  readonly workers: readonly Worker[];
}

function findPoolState(conditions: readonly Condition[]): Known {
  return {
    auto: conditions.find((one) => one.kind === "auto"),
    workers: conditions.find((one) => one.kind === "workers")?.workers ?? [],
  };
}

async function readKnown(world: World): Promise<Known> {
  const { conditions } = await (await world.writer()).read({ conditions: presentConditions() });
  return findPoolState(conditions);
}

/** Which tasks of the pool are over, each once, by whatever way. */
async function recordEnds(world: World, memory: PoolMemory): Promise<void> {
  const store = await world.writer();
  const { auto } = await readKnown(world);
  memory.lastTakenAt = auto?.lastTakenAt ?? null;
  memory.lastEndedAt = auto?.lastEndedAt ?? null;
  if (!auto || auto.open.length === 0) return;
  const { goals, nodes } = await store.read({
    goals: goalsForTick(Number.MAX_SAFE_INTEGER),
    nodes: nodesForTick(Number.MAX_SAFE_INTEGER),
  });
  const isEnded = ({ goalId }: PoolTask) => {
    const goal = goals.find((one) => one.goalId === goalId);
    return (
      judgeEnd(
        goal,
        nodes.filter((one) => one.goalId === goalId),
      ) !== undefined
    );
  };
  const moment = { now: world.clock.now(), actor: "overseer" as const };
  for (const { goalId } of auto.open.filter(isEnded)) {
    await store.commit({
      at: moment.now,
      reads: {
        conditions: presentConditions(),
        goal: goalById(goalId),
        nodes: nodesOfGoal(goalId),
        costs: costsOfGoals(),
        agents: agentsAtWork(),
      },
      decide: ({ conditions, goal, nodes, costs, agents }) => {
        const seen = { auto: findPoolState(conditions).auto, goal, nodes };
        const costUsd = sumCosts(new Set([goalId]), costs, agents);
        return accept(endTask(goalId, seen, costUsd, moment), null);
      },
    });
    memory.lastEndedAt = moment.now;
  }
}

/** What goals have cost, their agents that are still there included: an agent ends a moment after its work. */
function sumCosts(
  goals: ReadonlySet<string>,
  costs: ReadonlyMap<string, number>,
  agents: readonly { readonly goalId: string; readonly costUsd: number }[],
): number {
  const ended = [...goals].reduce((sum, goalId) => sum + (costs.get(goalId) ?? 0), 0);
  return agents.filter(({ goalId }) => goals.has(goalId)).reduce((sum, { costUsd }) => sum + costUsd, ended);
}

/**
 * Auto mode's own workers are there, as many as are wanted; set where they were taken away behind our back. Judged in the
 * commit that makes them, because workers that vanish after a look would be made again without a word.
 */
async function keepWorkers(world: World, auto: AutoSettings, memory: PoolMemory): Promise<HardFailure | undefined> {
  const moment = { now: world.clock.now(), actor: "overseer" as const };
  const outcome = await (await world.writer()).commit({
    at: moment.now,
    reads: { conditions: presentConditions(), living: livingAttempts() },
    decide: ({ conditions, living }) => {
      const { workers } = findPoolState(conditions);
      const vanished = judgeVanished(memory.expected ?? [], workers);
      const events = vanished.kind === "all" ? [] : matchWorkers(workers, auto.concurrency, living, moment);
      return accept(events, vanished);
    },
  });
  const vanished = orThrow(outcome);
  if (vanished.kind === "all") return vanished.failure;
  if (vanished.kind === "some") await recordAuto(world, "auto", { event: "workers.missing", names: vanished.names });
  memory.expected = (await readKnown(world)).workers.filter(({ made }) => made).map(({ name }) => name);
  return undefined;
}

async function judgeNow(world: World, auto: AutoSettings): Promise<PullVerdict> {
  const store = await world.writer();
  const seen = await store.read({
    conditions: presentConditions(),
    goals: goalsForTick(Number.MAX_SAFE_INTEGER),
    nodes: nodesForTick(Number.MAX_SAFE_INTEGER),
    living: livingAttempts(),
    questions: openQuestions(),
  });
  const known = findPoolState(seen.conditions);
  const { concurrency, maxWaiting, tasks, budgetUsd } = auto;
  return judgePull({
    ...{ auto: known.auto, conditions: seen.conditions, questions: seen.questions },
    ...countPool({ ...known, ...seen, concurrency }),
    openCostUsd: budgetUsd === null ? 0 : await costOfOpen(world, known.auto),
    halted: await describeHalt(world),
    limits: { maxWaiting, tasks, budgetUsd },
  });
}

/** What open tasks have cost so far. */
async function costOfOpen(world: World, auto: AutoCondition | undefined): Promise<number> {
  const { costs, agents } = await (await world.writer()).read({ costs: costsOfGoals(), agents: agentsAtWork() });
  return sumCosts(new Set(auto?.open.map(({ goalId }) => goalId)), costs, agents);
}

/** Why nothing may be started at all. */
async function describeHalt(world: World): Promise<string | null> {
  const [halt] = await listHalts(world);
  if (halt !== undefined) return halt === "frozen" ? "the fleet is frozen" : halt;
  const hold = describeHold((await world.settings()).hold);
  if (hold !== null) return hold;
  return describeShortage(measureRoom(await world.room(), await world.config()))?.text ?? null;
}

/** Set where this run takes no more tasks and nothing of it moves without a person. */
async function judgeFinish(world: World, { concurrency }: AutoSettings, verdict: PullVerdict): Promise<string | null> {
  if (verdict.pull || !verdict.finished) return null;
  const { conditions, ...seen } = await (await world.writer()).read({
    conditions: presentConditions(),
    goals: goalsForTick(Number.MAX_SAFE_INTEGER),
    nodes: nodesForTick(Number.MAX_SAFE_INTEGER),
    living: livingAttempts(),
  });
  const known = findPoolState(conditions);
  const { busy, ready, waiting } = countPool({ ...known, ...seen, conditions, concurrency });
  const moving = (known.auto?.open.length ?? 0) - waiting;
  return busy === 0 && ready === 0 && moving === 0 ? verdict.why : null;
}

/** The first file that was not taken becomes a goal; those that cannot are said, each once. */
async function takeFile(world: World, path: string, memory: PoolMemory): Promise<boolean> {
  const { auto } = await readKnown(world);
  const maxBytes = await maxTaskBytes(world);
  const found = await readTaskDirectory(world, path, {
    taken: auto?.files ?? {},
    read: memory.files,
    maxBytes,
    now: world.clock.now(),
  });
  const forgotten = listForgotten(auto, found.gone);
  const about: NewEvent[] = [
    ...found.refused.map((data) => ({ type: "pool.refused", actor: "overseer", because: "no-task", data }) as const),
    ...(forgotten.length === 0
      ? []
      : [{ type: "pool.forgotten", actor: "overseer", because: "files-gone", data: { keys: forgotten } } as const]),
  ];
  if (about.length > 0) {
    await (await world.writer()).commit({ at: world.clock.now(), reads: {}, decide: () => accept(about, null) });
  }
  if (!found.next) return false;
  const { key, text } = found.next;
  await storeTask(world, { source: "directory", key, pull: null, text: text.trim() });
  return true;
}

/** What came of asking the command, in the log; only then is what lies on the disk forgotten. */
async function takeAnswer(world: World, auto: AutoSettings, memory: PoolMemory, asked: PoolAsking): Promise<PoolTurn> {
  const { pull, run } = asked;
  await recordAsking(world, auto, asked);
  const limits = { maxBytes: await maxTaskBytes(world), timeoutMs: (await world.config()).auto.taskPoolTimeout };
  const answer: PoolAnswer = run === null ? { kind: "none" } : readPoolAnswer(run, limits);
  if (run === null) await recordLost(world, pull);
  if (answer.kind === "none") await recordEmpty(world, auto, memory);
  const taken = answer.kind === "task" ? await storeAnswer(world, pull, answer.text) : undefined;
  await forgetAsking(world, pull);
  return { ...NOTHING, took: taken?.kind === "taken", failure: answer.kind === "failed" ? answer.failure : null };
}

function storeAnswer(world: World, pull: string, text: string): Promise<TakenTask> {
  return storeTask(world, { source: "command", key: taskKey(text), pull, text });
}

/** LOG-3: every run of the command, with everything it printed. */
async function recordAsking(world: World, auto: AutoSettings, asked: PoolAsking): Promise<void> {
  const { pull, run, beganAt, endedAt, adopted } = asked;
  await recordAuto(world, "task_pool", {
    ...{ event: "task_pool", worker: null, pull, command: adopted ? null : (auto.command?.line ?? null), adopted },
    ...{ exit: run?.code ?? null, hung: run?.hung ?? false, durationMs: endedAt - beganAt },
    ...{ stdout: (run ?? asked.printed)?.stdout ?? "", stderr: (run ?? asked.printed)?.stderr ?? "" },
  });
}

/** The machine went down while the command ran: whether it gave a task away, only the pool knows. */
async function recordLost(world: World, pull: string): Promise<void> {
  const problem = "the machine went down while the command ran; logs/task_pool.log has what it had printed";
  await (await world.writer()).commit({
    at: world.clock.now(),
    reads: { conditions: presentConditions() },
    decide: ({ conditions }) => {
      // Whoever died after saying it says it once.
      if (findPoolState(conditions).auto?.refused[pull] !== undefined) return accept([], null);
      const data = { key: pull, problem };
      return accept([{ type: "pool.refused", actor: "overseer", because: "cut-off", data }], null);
    },
  });
}

async function recordEmpty(world: World, auto: AutoSettings, memory: PoolMemory): Promise<void> {
  memory.why = "the pool has no task now";
  await (await world.writer()).commit({
    at: world.clock.now(),
    reads: { conditions: presentConditions() },
    decide: ({ conditions }) => {
      if ((findPoolState(conditions).auto?.emptySince ?? null) !== null) return accept([], null);
      const data = { sources: listSources(auto) satisfies PoolSource[] };
      return accept([{ type: "pool.empty", actor: "overseer", because: "nothing-there", data }], null);
    },
  });
}

/** The name of a goal is made of its words; when somebody takes it in between, the next one is free. */
const MOST_NAMES_TRIED = 20;

async function storeTask(world: World, task: Omit<PulledTask, "words">): Promise<TakenTask> {
  const words = await titleOfTask(world, task.text);
  const store = await world.writer();
  for (let tried = 1; ; tried += 1) {
    const goalId = await chooseGoalId(world, words);
    const moment = { now: world.clock.now(), actor: "overseer" as const };
    const outcome = await store.commit({
      at: moment.now,
      reads: { conditions: presentConditions(), named: goalById(goalId) },
      decide: ({ conditions, named }) =>
        takeTask({ auto: findPoolState(conditions).auto, named }, goalId, { ...task, words }, moment),
    });
    const isTaken = !outcome.ok && outcome.refusal.code === "GOAL_EXISTS" && tried < MOST_NAMES_TRIED;
    if (!isTaken) return orThrow(outcome);
  }
}

/** AUTO-1: without any source of work there is nothing to do. */
export function refuseWithoutSource(
  auto: Pick<AutoSettings, "command" | "directory">,
  openNodes: readonly WorkNode[],
): void {
  if (listSources(auto).length > 0 || openNodes.length > 0) return;
  throw new OverseerError(
    ...([
      "usage",
      "NO_SOURCE_OF_WORK",
      "Auto mode has nothing to work on: no pool is set, and no goal is open.",
    ] as const),
    "Name a pool (--task-pool-command '<command>' or --task-directory <dir>, or auto.* in .overseer/config.yaml), or make a goal first: overseer do \"…\"",
  );
}
