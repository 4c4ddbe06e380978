/**
 * What is given to a simulated life: how many agents and steps, which faults fall when, the plans they work on and the
 * configuration they work under. What becomes of it is in run.ts.
 */
import type { Config } from "#config/schema.ts";
import { defaultConfig } from "#config/schema.ts";
import type { PlannedNode } from "#domain/plans/plan.ts";
import type { Chance } from "#sys/chance.ts";
import type { Fault } from "./faults.ts";
import { drawBroken, drawFaults, drawLowDisks, drawNoStarts, drawPoolFaults, drawSpoiled } from "./faults.ts";
import { type PoolPlan, TASK_DIRECTORY } from "./pool.ts";

export interface Scenario {
  readonly seed: number;
  readonly agents: number;
  /** Steps with faults; each is a minute. */
  readonly stormy: number;
  /** Steps without, in which everything has to come to its end. */
  readonly calm: number;
  readonly faults: readonly Fault[];
  /** Work lands with a person's word only, and people are late. */
  readonly review?: boolean;
  /** What every second task may cost by its plan, in dollars; a turn costs a cent. */
  readonly budget?: number;
  /** Some agents meet what only a person can solve. */
  readonly blocking?: boolean;
  /** Every second task is exempt by its plan: from nudges, or from supervision altogether. */
  readonly exempting?: boolean;
  /** Agents find things out while they work, and what they find is passed on. */
  readonly learning?: boolean;
  /** The watch runs beside the tick. */
  readonly watching?: boolean;
  /** A model is asked to split work that is stuck, and sometimes what is the matter; it answers as models do. */
  readonly replanning?: boolean;
  /** The session of landed work is given the next piece. */
  readonly continuing?: boolean;
  /** Overseer runs in auto mode, and this is its pool. */
  readonly auto?: PoolPlan;
  /** Overseer dies at this very call, counted over the whole course; for going through all of them. */
  readonly death?: { readonly call: number; readonly when: "before" | "after" };
}

export const STEP_MS = 60_000;

export function scenarioOf(
  seed: number,
  options: { readonly agents?: number; readonly auto?: boolean } = {},
): Scenario {
  const stormy = 120;
  const review = seed % 3 === 0;
  const budget = seed % 4 === 1 ? { budget: 0.01 } : {};
  const faults = [
    ...drawFaults(seed, stormy),
    ...(seed % 5 === 2 ? drawNoStarts(seed, stormy) : []),
    ...(seed % 5 === 1 ? drawLowDisks(seed, stormy) : []),
    ...(seed % 5 === 3 ? drawBroken(seed, stormy) : []),
  ];
  const replanning: Pick<Scenario, "replanning"> = seed % 7 === 5 ? { replanning: true } : {};
  const auto = (options.auto ?? runsAuto(seed)) ? { auto: planPool(seed, options.agents ?? 12) } : {};
  if (auto.auto) faults.push(...drawPoolFaults(seed, stormy));
  const watching = runsWatch(seed);
  if (watching) faults.push(...drawSpoiled(seed, stormy));
  const drawn = {
    ...{ faults, review, blocking: seed % 5 === 4, continuing: seed % 2 === 0, exempting: seed % 4 === 3 },
    ...{ learning: seed % 3 === 1, watching },
    ...{ ...budget, ...replanning, ...auto },
  };
  // Parts of what was split late in the storm may wait for each other, tasks of the pool for a worker, who lost a worktree begins again, and no tick helped while nobody could be judged.
  const calm = replanning.replanning ? 400 : auto.auto ? 300 : seed % 5 === 3 || watching ? 260 : 180;
  return { seed, agents: options.agents ?? 12, stormy, calm, ...drawn };
}

/** Two courses of eleven, so that each of the other kinds of course is met with it. */
function runsAuto(seed: number): boolean {
  return seed % 11 === 2 || seed % 11 === 10;
}

/** Two courses of thirteen, for the same reason. */
function runsWatch(seed: number): boolean {
  return seed % 13 === 3 || seed % 13 === 7;
}

/** Two thirds of the tasks come from the pool, by its command, from its directory or both. */
function planPool(seed: number, tasks: number): PoolPlan {
  const [pooled, kind] = [Math.floor((tasks * 2) / 3), seed % 3];
  return {
    workers: 2 + (seed % 2),
    command: kind === 0 ? pooled : kind === 1 ? Math.ceil(pooled / 2) : seed % 2 === 0 ? pooled : null,
    directory: kind === 0 ? null : kind === 1 ? Math.floor(pooled / 2) : seed % 2 === 0 ? null : pooled,
    standing: seed % 4 < 2 ? "ben" : null,
    postAccept: seed % 5 < 2,
  };
}

/** How many tasks are those of goals that people have planned. */
export function countPlanned({ agents, auto }: Pick<Scenario, "agents" | "auto">): number {
  return agents - (auto?.command ?? 0) - (auto?.directory ?? 0);
}

/** Directories that tasks have to themselves in turn. */
const AREAS = ["area/north", "area/south"] as const;

/**
 * Two phases: the second waits for the first, and inside each some tasks wait for the one before. Some name their files,
 * which they have to themselves (SCOPE-1): those that they write, which tasks of other goals name too, and a directory.
 */
export function planOf(
  count: number,
  chance: Chance,
  {
    budget,
    helper,
    exempting = false,
  }: {
    readonly budget?: number | undefined;
    readonly helper?: string | undefined;
    readonly exempting?: boolean | undefined;
  } = {},
): PlannedNode[] {
  const half = Math.ceil(count / 2);
  const limits = budget === undefined ? undefined : { budget: { cost: budget } };
  const task = (number: number, before: number | undefined): PlannedNode => ({
    ...makePlannedNode(`T${number}`),
    deps: before !== undefined && chance.next() < 0.3 ? [`T${before}`] : [],
    hints: {
      ...(chance.next() < 0.4 ? { files: [`src/*-T${number}.txt`, AREAS[chance.next() < 0.5 ? 0 : 1]] } : {}),
      ...(limits && number % 2 === 0 ? { limits } : {}),
      ...(exempting && number % 2 === 1
        ? { supervision: number % 4 === 1 ? { nudge: false } : { enabled: false } }
        : {}),
      // Some name their agent, which is then no worker of auto mode.
      ...(helper !== undefined && number % 3 === 0 ? { suggestedAgentId: `${helper}-${number}` } : {}),
    },
  });
  const phase = (id: string, from: number, to: number, deps: readonly string[]): PlannedNode => {
    const children: PlannedNode[] = [];
    for (let number = from; number <= to; number += 1)
      children.push(task(number, number > from ? number - 1 : undefined));
    return { ...makePlannedNode(id), children, deps: [...deps] };
  };
  const first = phase("P1", 1, half, []);
  return count > half ? [first, phase("P2", half + 1, count, chance.next() < 0.5 ? ["P1"] : [])] : [first];
}

function makePlannedNode(id: string): PlannedNode {
  return {
    id,
    name: `Node ${id}`,
    objective: `Reach ${id}`,
    expectedOutcome: "",
    acceptance: [`${id} is seen to work`],
    definitionOfDone: "",
    deps: [],
    blocks: [],
    hints: {},
    tags: [],
    children: [],
  };
}

/** The role of all agents, over the built-in one. */
export const CONTINUING_ROLE = "capability: builder\ncontinueSession: true\n";

const DEFAULTS = defaultConfig();

/** The numbers of the real configuration, with less patience, so that a day of trouble fits into a few hours. */
export function makeSimulatedConfig({
  seed = 0,
  agents,
  review = false,
  replanning = false,
  auto,
}: Pick<Scenario, "agents" | "review" | "replanning" | "auto"> & { readonly seed?: number }): Config {
  const given = DEFAULTS;
  const check = { command: "make test", timeout: 600_000, on: ["done"], expect: null, protected: [] };
  return {
    ...given,
    runtime: "scripted",
    checks: { tests: check } as unknown as Config["checks"],
    agents: { ...given.agents, maxConcurrent: review ? 3 : Math.max(5, agents), startsPerMinute: 10_000, stagger: 0 },
    // Squashing, which auto mode would do, is not played.
    landing: { ...given.landing, mode: review ? "review" : "auto", ...(auto ? { strategy: "merge" } : {}) },
    reconcile: { ...given.reconcile, tickEvery: STEP_MS },
    recovery: {
      ...given.recovery,
      // Where a model splits work, it comes to that soon.
      ...(replanning ? { steps: { ...given.recovery.steps, warnings: 0, lastWarnings: 0, interrupts: 1 } } : {}),
      silentAfter: 5 * STEP_MS,
      nextStepAfter: STEP_MS,
      hungCallAfter: 25 * STEP_MS,
      sameWordsAfter: 2 * STEP_MS,
      backoff: { base: STEP_MS, max: 4 * STEP_MS },
    },
    watch: {
      ...given.watch,
      ...{ every: STEP_MS, staleAfter: 3 * STEP_MS, veryStaleAfter: 4 * STEP_MS },
      triage: { ...given.watch.triage, enabled: replanning, timeout: 2 * STEP_MS },
    },
    planner: {
      ...given.planner,
      ...{ enabled: replanning, timeout: 2 * STEP_MS, diagnoseStalls: seed % 2 === 0, diagnosesPerHour: 20 },
    },
    ...(auto ? { auto: configureAuto(auto) } : {}),
    provider: { patience: 2 * STEP_MS, backoff: { base: STEP_MS, max: 8 * STEP_MS } },
    quota: { backoff: { base: 2 * STEP_MS, max: 10 * STEP_MS } },
  };
}

function configureAuto({ workers, command, directory, postAccept }: PoolPlan): Config["auto"] {
  return {
    ...DEFAULTS.auto,
    ...{ concurrency: workers, maxWaiting: 4, taskPoolTimeout: STEP_MS },
    taskPoolCommand: command === null ? null : "next-task",
    taskDirectory: directory === null ? null : TASK_DIRECTORY,
    postAcceptCommand: postAccept ? "make installed" : null,
  };
}
