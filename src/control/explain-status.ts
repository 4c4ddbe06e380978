/**
 * Why something does not move, for `status`: gathers what explains it and lets the domain put it into sentences. On the
 * path of `status`, so what is seldom needed is read and loaded only where something is stuck.
 */
import { listRecipients } from "#channels/recipients.ts";
import type { Config } from "#config/schema.ts";
import { explainFleet } from "#domain/explain/explain-fleet.ts";
import type { ChannelFact, Explained, FleetFacts } from "#domain/explain/standstill.ts";
import { toPlanningFact } from "#domain/explain/standstill-planning.ts";
import type { Action } from "#domain/model/action.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { listFailingChannels } from "#domain/reports/question-notice.ts";
import type { Store } from "#store/store.ts";
import type { Status } from "./status.ts";
import type { World } from "./world.ts";

/** What was read of the store beside the status itself. */
export interface SeenAtRest {
  readonly nodes: readonly WorkNode[];
  readonly stalled: readonly Assignment[];
  readonly conditions: readonly Condition[];
  readonly actions: readonly Action[];
  readonly merges: readonly Merge[];
  /** Goals for which a model was asked for a plan. */
  readonly planned: readonly Goal[];
}

export async function explainStatus(
  world: World,
  store: Store,
  status: Omit<Status, keyof Explained | "auto" | "guard">,
  { nodes, conditions, actions, merges, planned, ...seen }: SeenAtRest,
  config: Config | undefined,
): Promise<Explained> {
  const { daemon, frozen, safeMode, configProblem, hold, off, goals, agents, notStarted } = status;
  const atWork = new Set(agents.map((one) => `${one.goalId}/${one.workNodeId}`));
  const stalled = seen.stalled.filter((one) => atWork.has(`${one.goalId}/${one.workNodeId}`));
  const isStuck = stalled.length > 0 || agents.some(({ pausedBecause }) => pausedBecause === "recovery");
  const ticks = daemon.state === "running" ? config?.reconcile.tickEvery : undefined;
  const lastTickAt = daemon.lastTickAt ?? daemon.startedAt;
  const facts: FleetFacts = {
    now: world.clock.now(),
    daemon: {
      state: daemon.state,
      sinceAt: daemon.lastTickAt ?? daemon.lastBeatAt ?? daemon.startedAt,
      wasAuto: daemon.auto || conditions.some((one) => one.kind === "auto" && one.open.length > 0),
      nextTickAt: ticks === undefined || lastTickAt === null ? null : lastTickAt + ticks,
      ...(ticks === undefined || config === undefined ? {} : findNextLook(status, config)),
    },
    isCopy: status.away?.standing === "copied",
    isDiskFull: daemon.isDiskFull,
    asksPool: daemon.state === "running" && daemon.pool !== null,
    ...{ frozen, safeMode, configProblem, hold, off, goals, agents, notStarted },
    ...{ nodes, conditions, actions, merges, stalled },
    plannings: planned.flatMap((goal) => (goal.planning ? [toPlanningFact(goal, goal.planning)] : [])),
    questions: status.questions.map((one) => ({
      ...one,
      unreached: one.reach.state === "unreached" ? one.reach.why : null,
    })),
    ...(isStuck && config ? await findLadder(world, store, config, conditions) : NOBODY_STUCK),
    fixRounds: config?.landing.fixRounds ?? null,
    channels: channelTroubles(conditions, status.questions, config),
  };
  return explainFleet(facts);
}

/** When the watch looks next; nothing where it is off. */
function findNextLook({ daemon, off }: Pick<Status, "daemon" | "off">, { watch }: Config): { nextLookAt?: number } {
  const lastAt = daemon.rings.find(({ ring }) => ring === "watch")?.lastAt ?? null;
  if (lastAt === null || off.includes("watch") || off.includes("supervision")) return {};
  return { nextLookAt: lastAt + (daemon.watching?.everyMs ?? watch.every) };
}

const NOBODY_STUCK = {
  recoveries: [],
  ladder: null,
  patienceMs: new Map<string, number>(),
  quietSince: new Map<string, number>(),
  waitForAccount: new Set<string>(),
  spared: new Set<string>(),
  splits: new Map<string, never>(),
};

async function findLadder(world: World, store: Store, config: Config, conditions: readonly Condition[]) {
  const { readLadder } = await import("#control/stuck-agents.ts");
  return readLadder(world, store, config, conditions);
}

/** Those that fail for news, and those that fail for a question that is open; who is named no more is not missed. */
function channelTroubles(
  conditions: readonly Condition[],
  questions: Status["questions"],
  config: Config | undefined,
): ChannelFact[] {
  const news = conditions.flatMap((one) =>
    one.kind === "news" && one.failingSince !== null
      ? [{ channel: one.channel, sinceAt: one.failingSince, problem: one.problem ?? "" }]
      : [],
  );
  const asked = listFailingChannels(questions).filter(({ channel }) => !news.some((one) => one.channel === channel));
  const named = config && new Set(["session", ...listRecipients(config.channels).map(({ name }) => name)]);
  return [...news, ...asked].filter(({ channel }) => named?.has(channel) ?? true);
}
