/** The state of the fleet, in one answer: what a person looks at first. It reads and never writes. */
import { tellExpertiseTrouble } from "#act/expertise-notes.ts";
import { problemNow, type SafeMode, safeModeIn } from "#act/safe-mode.ts";
import { areSettingsAtRest } from "#act/settings/settings-at-rest.ts";
import type { Config } from "#config/schema.ts";
import type { SeenStatus } from "#domain/agents/seen.ts";
import { judgeSeenStatus } from "#domain/agents/seen.ts";
import { type AutoView, viewAuto } from "#domain/auto/auto-view.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { tellDoing } from "#domain/explain/doing.ts";
import type { Explained } from "#domain/explain/standstill.ts";
import { sentenceOf } from "#domain/health/high-water.ts";
import type { Away } from "#domain/health/place.ts";
import type { Hold } from "#domain/health/settings.ts";
import { tellUnchecked } from "#domain/health/unchecked.ts";
import type { Action } from "#domain/model/action.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { Fleet } from "#domain/model/fleet.ts";
import type { GoalStatus, Priority } from "#domain/model/goal.ts";
import { isDispatch } from "#domain/model/ladder-state.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { Question } from "#domain/model/question.ts";
import { nodeKey, type WorkNode } from "#domain/model/work.ts";
import type { Progress } from "#domain/plans/rollup.ts";
import { measureProgress } from "#domain/plans/rollup.ts";
import { OverseerError } from "#errors.ts";
import { openActions, presentConditions } from "#store/actions.ts";
import type { AgentRow } from "#store/agent-rows.ts";
import { agentsAtWork } from "#store/agent-rows.ts";
import { listStalledAssignments, openQuestions } from "#store/assignments.ts";
import { theFleet } from "#store/fleet.ts";
import {
  branchAtInit,
  costsOfGoals,
  type LandedRow,
  lastLandings,
  type NamedTask,
  readyTasks,
} from "#store/fleet-sight.ts";
import type { GoalOverview } from "#store/goals.ts";
import { goalOverviews } from "#store/goals.ts";
import { listQueuedMerges } from "#store/merges.ts";
import type { BoxCount } from "#store/messages.ts";
import { unreadMail as unreadCounts } from "#store/messages.ts";
import { listPlannedGoals } from "#store/plannings.ts";
import type { Store } from "#store/store.ts";
import { nodesAtStandstill } from "#store/work.ts";
import { nameOf } from "#sys/paths.ts";
import { runFiles } from "#sys/run-files.ts";
import type { DaemonStatus } from "./daemon-status.ts";
import { daemonStatus, listSwitchedOff } from "./daemon-status.ts";
import { explainStatus } from "./explain-status.ts";
import { type GuardStatus, readGuard } from "./guard.ts";
import { type LifeWords, readLifeWords } from "./life-words.ts";
import type { QuestionView } from "./question-view.ts";
import type { World } from "./world.ts";

export interface Status extends Explained {
  /** What the project is called. */
  readonly project: string;
  readonly root: string;
  /** The branch that work lands on, as files and the log tell it; null where only git knows, or nobody. */
  readonly target: string | null;
  readonly goals: readonly StatusGoal[];
  /** In dollars: every session there ever was, and what was asked of models beside them. */
  readonly costUsd: number;
  /** The first tasks that are ready and that nobody works on, the next one first. */
  readonly ready: readonly NamedTask[];
  /** The last, the newest first; once no goal is open, more of them. */
  readonly landings: readonly LandingView[];
  /** Those at work, oldest first. */
  readonly agents: readonly AgentStatus[];
  /** How much mail nobody has seen yet, box by box. */
  readonly unreadMail: readonly BoxCount[];
  /** Branches on their way into a target. */
  readonly mergeQueue: QueueStatus;
  /** What waits for a person, oldest first. */
  readonly questions: readonly QuestionView[];
  /** Set where the repository was copied, or moved and not followed yet. */
  readonly away: Away | null;
  /** Set while the store is under suspicion: everything can be read, nothing is dispatched. */
  readonly safeMode: SafeMode | null;
  /** Why the configuration cannot be used; null when it can. */
  readonly configProblem: string | null;
  /** Work that could not be dispatched, by why; it is tried again and again. */
  readonly notStarted: readonly NotStarted[];
  /** Why nothing is started, checked or landed under the settings as they are; null when nothing is in the way. */
  readonly hold: Hold | null;
  readonly daemon: DaemonStatus;
  /** The process that watches the daemon; null where none ever did. */
  readonly guard: GuardStatus | null;
  /** Auto mode with its workers; null where it was never used. */
  readonly auto: AutoView | null;
  /** Set while the fleet is frozen: since when, by whom and why. */
  readonly frozen: Pick<Fleet, "since" | "by" | "reason"> | null;
  /** Rings that are switched off. */
  readonly off: readonly string[];
  /** That nothing proves what agents report, while a daemon puts them to work; null where there is a check. */
  readonly unchecked: string | null;
  /** Which source of expertise did not answer when agents began, and why; null where all did. */
  readonly expertise: string | null;
}

/** A goal in one line, as lists and `status` show it. */
export interface GoalRow {
  readonly goalId: string;
  readonly title: string;
  readonly status: GoalStatus;
  readonly priority: Priority;
  readonly progress: Progress;
  readonly nodes: number;
  readonly queued: number;
  readonly inProgress: number;
  readonly blocked: number;
  /** Tasks that ended because nothing was changed; not among those of `progress`. */
  readonly unchanged: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The same with what it has cost so far, in dollars. */
export interface StatusGoal extends GoalRow {
  readonly costUsd: number;
}

/** Work that is in the target, and whose it was. */
export interface LandingView {
  readonly goalId: string | null;
  readonly workNodeId: string | null;
  /** What its task is called; null for a branch that a person brought. */
  readonly task: string | null;
  readonly agent: string | null;
  readonly attempt: number | null;
  readonly branch: string;
  readonly target: string;
  /** What the target was moved to. */
  readonly commit: string;
  readonly tier: Merge["tier"];
  /** Everything that was spent on its task, in dollars. */
  readonly costUsd: number;
  readonly at: number;
  /** `reverts`: it took an earlier landing of that task back. `reverted`: it was taken back since. */
  readonly back: "reverts" | "reverted" | null;
}

export function goalRow(row: GoalOverview): GoalRow {
  const { leaves, leavesDone, cancelled, takenBack, ...rest } = row;
  const counts = { done: leavesDone, total: leaves, cancelled, takenBack };
  return { ...rest, progress: measureProgress(counts, row.status === "completed") };
}

/** How the queue stands, in one line of `status`. */
export interface QueueStatus {
  readonly waiting: number;
  readonly testing: number;
  readonly parked: number;
  /** The one that has waited longest; null when nothing waits. */
  readonly oldest: { readonly branch: string; readonly since: number; readonly detail: string | null } | null;
  /** All of them, the oldest first. */
  readonly entries: readonly QueueEntry[];
}

/** One branch on its way into a target. */
export interface QueueEntry extends Pick<Merge, "branch" | "target" | "goalId" | "workNodeId" | "agent" | "detail"> {
  readonly status: Merge["status"];
  /** What its task is called; null where that is not at hand. */
  readonly task: string | null;
  readonly queuedAt: number;
}

export function queueStatus(merges: readonly Merge[], nodes: readonly WorkNode[] = []): QueueStatus {
  const count = (status: Merge["status"]) => merges.filter((one) => one.status === status).length;
  const sorted = [...merges].sort((one, other) => one.queuedAt - other.queuedAt);
  const [first] = sorted;
  const oldest = first ? { branch: first.branch, since: first.queuedAt, detail: first.detail } : null;
  return {
    waiting: count("waiting"),
    testing: count("testing"),
    parked: count("parked"),
    oldest,
    entries: sorted.map((one) => toEntry(one, nodes)),
  };
}

function toEntry(merge: Merge, nodes: readonly WorkNode[]): QueueEntry {
  const { branch, target, goalId, workNodeId, agent, detail, status, queuedAt } = merge;
  const task = findNode(nodes, { goalId, workNodeId })?.name ?? null;
  return { branch, target, goalId, workNodeId, task, agent, status, detail, queuedAt };
}

function findNode(
  nodes: readonly WorkNode[],
  { goalId, workNodeId }: { readonly goalId: string | null; readonly workNodeId: string | null },
): WorkNode | undefined {
  return nodes.find((one) => one.goalId === goalId && one.workNodeId === workNodeId);
}

export interface NotStarted {
  readonly problem: string;
  /** `goal/node` of each. */
  readonly nodes: readonly string[];
}

/** One agent in a line: what it does, and on what. */
export interface AgentStatus extends Omit<AgentRow, "owner">, LifeWords {
  readonly seen: SeenStatus;
  /** The same with what it waits for, in words. */
  readonly doing: string;
  /** Since when. */
  readonly doingAt: number;
  /** What its task is called; null once that is over. */
  readonly task: string | null;
}

function agentStatus(
  { processes }: World,
  { owner, ...row }: AgentRow,
  nodes: readonly WorkNode[],
  words: LifeWords,
): AgentStatus {
  const seen = judgeSeenStatus(
    { ...row, waits: row.waitingOn !== null },
    { lives: () => processes.alive(owner), isStopped: () => processes.isStopped(owner) },
  );
  const node = findNode(nodes, row);
  const doingAt = seen === "working" ? (row.turnAt ?? row.lastAt) : row.lastAt;
  return { ...row, ...words, seen, doing: tellDoing({ ...row, seen }, node), doingAt, task: node?.name ?? null };
}

/**
 * An agent says that it has ended before its process goes. Whoever was read as living and has no process may have done so
 * in between, so those are read once more.
 */
async function leaveOutEnded(store: Store, agents: readonly AgentStatus[]): Promise<readonly AgentStatus[]> {
  if (!agents.some(({ seen }) => seen === "dead")) return agents;
  const { living } = await store.read({ living: agentsAtWork() });
  const numbers = new Set(living.map(({ attempt }) => attempt));
  return agents.filter(({ seen, attempt }) => seen !== "dead" || numbers.has(attempt));
}

export async function readFleetStatus(world: World): Promise<Status> {
  const store = await world.reader();
  const { rows, agents, fleet, open, unreadMail, costs, ready, landed, atInit, ...seen } = await store.read({
    rows: goalOverviews({ archived: false }),
    agents: agentsAtWork(),
    fleet: theFleet(),
    open: openQuestions(),
    unreadMail: unreadCounts(),
    merges: listQueuedMerges(),
    actions: openActions(),
    nodes: nodesAtStandstill(),
    stalled: listStalledAssignments(),
    conditions: presentConditions(),
    costs: costsOfGoals(),
    ready: readyTasks(READY_SHOWN),
    landed: lastLandings(LANDINGS_SHOWN),
    atInit: branchAtInit(),
    planned: listPlannedGoals(),
  });
  const { config, problem } = await configOrProblem(world);
  const daemon = await daemonStatus(world, config);
  const words = await readLifeWords(world);
  const status = {
    project: config?.project.name ?? nameOf(world.root.project),
    root: world.root.project,
    target: nameTarget(world, config, atInit),
    ...addCosts(rows, agents, costs, seen.conditions),
    ready,
    landings: (await moreLandings(store, rows, landed)).map((one, _at, all) => toLanding(one, agents, all)),
    agents: await leaveOutEnded(
      store,
      agents.map((row) => agentStatus(world, row, seen.nodes, words(row))),
    ),
    unreadMail,
    mergeQueue: queueStatus(seen.merges, seen.nodes),
    questions: await questionViews(store, config ?? NO_CHANNELS, open),
    away: await awayFromHome(world),
    safeMode: await safeModeNow(world, store),
    configProblem: problem ?? null,
    notStarted: notStarted(seen.actions),
    hold: await holdNow(world, daemon),
    daemon,
    frozen: fleet?.status === "frozen" ? { since: fleet.since, by: fleet.by, reason: fleet.reason } : null,
    off: listSwitchedOff(config, daemon),
    unchecked: tellUncheckedFleet(config, daemon),
    expertise: await tellExpertiseTrouble(world),
  };
  const explained = await explainStatus(world, store, status, seen, config);
  const stalled = status.agents.map((one) => addStall(one, explained, seen.nodes));
  return { ...status, ...explained, agents: stalled, auto: viewPool(stalled, daemon, seen), guard: readGuard(world) };
}

function viewPool(
  agents: readonly AgentStatus[],
  { state, pool }: DaemonStatus,
  { conditions, nodes }: { readonly conditions: readonly Condition[]; readonly nodes: readonly WorkNode[] },
): AutoView | null {
  const auto = conditions.find((one) => one.kind === "auto");
  const workers = conditions.find((one) => one.kind === "workers")?.workers ?? [];
  const blocked = new Set(nodes.flatMap(({ status, goalId }) => (status === "blocked" ? [goalId] : [])));
  return viewAuto({ auto, workers, running: state === "died" ? null : pool, agents, blocked });
}

/** Without a daemon somebody is there for every agent, and sees for themselves. */
function tellUncheckedFleet(config: Config | undefined, daemon: DaemonStatus): string | null {
  if (config === undefined || daemon.state === "stopped" || !daemon.supervision) return null;
  const landsByItself = (config.landing.mode ?? (daemon.auto ? "auto" : "review")) === "auto";
  return tellUnchecked({ checks: Object.keys(config.checks), landsByItself });
}

/** Where its standstill says that nothing moves, its row does too, since then. */
function addStall(agent: AgentStatus, { standstills }: Explained, nodes: readonly WorkNode[]): AgentStatus {
  const key = nodeKey(agent.goalId, agent.workNodeId);
  const stall = standstills.find(({ kind, about }) => kind === "stalled" && about.includes(key));
  if (!stall) return agent;
  const doing = tellDoing({ ...agent, isStalled: true }, findNode(nodes, agent));
  return { ...agent, doing, doingAt: doing === "stalled" ? (stall.sinceAt ?? agent.doingAt) : agent.doingAt };
}

const READY_SHOWN = 8;
const LANDINGS_SHOWN = 5;
/** Once everything is over they are what one wants to see. */
const LANDINGS_AT_END = 50;

async function moreLandings(
  store: Store,
  goals: readonly GoalOverview[],
  landed: readonly LandedRow[],
): Promise<readonly LandedRow[]> {
  const isOver = goals.every(({ status }) => status !== "active" && status !== "paused");
  if (!isOver || landed.length < LANDINGS_SHOWN) return landed;
  return (await store.read({ landed: lastLandings(LANDINGS_AT_END) })).landed;
}

/** What has landed of one goal, the newest first. */
export async function readLandingsOfGoal(store: Store, goalId: string): Promise<readonly LandingView[]> {
  const { landed, agents } = await store.read({
    landed: lastLandings(LANDINGS_AT_END, goalId),
    agents: agentsAtWork(),
  });
  return landed.map((one) => toLanding(one, agents, landed));
}

function toLanding(
  { merge, task, costUsd }: LandedRow,
  agents: readonly AgentRow[],
  all: readonly LandedRow[],
): LandingView {
  const { goalId, workNodeId, agent, attempt, branch, target, tier } = merge;
  const own = agents.filter((one) => one.goalId === goalId && one.workNodeId === workNodeId);
  return {
    ...{ goalId, workNodeId, task, agent, attempt, branch, target, tier },
    commit: merge.to ?? merge.commit,
    costUsd: merge.takesBack ? 0 : own.reduce((sum, one) => sum + one.costUsd, costUsd),
    at: merge.endedAt ?? merge.updatedAt,
    back: merge.takesBack
      ? "reverts"
      : all.some((one) => one.merge.takesBack?.mergeId === merge.mergeId)
        ? "reverted"
        : null,
  };
}

/** What ended sessions cost, what living ones cost so far, and what was asked of models. */
function addCosts(
  rows: readonly GoalOverview[],
  agents: readonly AgentRow[],
  ended: ReadonlyMap<string, number>,
  conditions: readonly Condition[],
): Pick<Status, "goals" | "costUsd"> {
  const costs = new Map(ended);
  const add = (goalId: string, cost: number) => costs.set(goalId, (costs.get(goalId) ?? 0) + cost);
  for (const { goalId, costUsd } of agents) add(goalId, costUsd);
  const models = conditions.find((one) => one.kind === "models");
  for (const [goalId, { costUsd }] of Object.entries(models?.goals ?? {})) add(goalId, costUsd);
  return {
    goals: rows.map((row) => ({ ...goalRow(row), costUsd: costs.get(row.goalId) ?? 0 })),
    costUsd: [...costs.values()].reduce((sum, cost) => sum + cost, 0),
  };
}

const ORIGIN = "ref: refs/remotes/origin/";

/** As act/landing/target-branch.ts has it, without a look at git: `status` runs again and again. */
function nameTarget(
  { root: { gitCommonDir: git }, readNow }: World,
  config: Config | undefined,
  atInit: string | null,
): string | null {
  if (config?.repo.targetBranch) return config.repo.targetBranch;
  const remote = readNow(`${git}/refs/remotes/origin/HEAD`)?.trim();
  const theirs = remote?.startsWith(ORIGIN) ? remote.slice(ORIGIN.length) : undefined;
  const isHere = (branch: string) =>
    readNow(`${git}/refs/heads/${branch}`) !== undefined ||
    readNow(`${git}/packed-refs`)?.includes(` refs/heads/${branch}\n`) === true;
  if (theirs !== undefined && isHere(theirs)) return theirs;
  return atInit;
}

function notStarted(actions: readonly Action[]): NotStarted[] {
  const found = new Map<string, NotStarted>();
  for (const { kind, problem, cause, goalId, workNodeId } of actions) {
    if (problem === null || goalId === null || workNodeId === null || !isDispatch(kind)) continue;
    // The same cause may name another path for each of them.
    const known = found.get(cause ?? problem) ?? { problem, nodes: [] };
    found.set(cause ?? problem, { ...known, nodes: [...known.nodes, nodeKey(goalId, workNodeId)] });
  }
  return [...found.values()];
}

/** Loaded when there is one: mostly there is none, and looking costs nothing then. */
async function questionViews(
  store: Store,
  config: Pick<Config, "channels">,
  open: readonly Question[],
): Promise<QuestionView[]> {
  if (open.length === 0) return [];
  const { questionView } = await import("./question-view.ts");
  return Promise.all(open.map((one) => questionView(store, config, one)));
}

/** While nobody knows what is configured, a question is on the terminal at least: here it is. */
const NO_CHANNELS: Pick<Config, "channels"> = {
  channels: { terminal: true, command: null, webhook: null, timeout: 0, bundle: 0, quietHours: null, people: {} },
};

/** A broken configuration must not hide the state of the fleet; it is part of it. */
async function configOrProblem(world: World): Promise<{ readonly config?: Config; readonly problem?: string }> {
  try {
    return { config: await world.config() };
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") return { problem: error.message };
    throw error;
  }
}

/** As the settings are now; where nobody can tell, as the daemon found them. */
async function holdNow(world: World, daemon: DaemonStatus): Promise<Hold | null> {
  if (areSettingsAtRest(world)) return daemon.hold;
  try {
    return (await world.settings()).hold;
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") return daemon.hold;
    throw error;
  }
}

export async function readSafeMode(world: World): Promise<SafeMode | null> {
  return safeModeIn(world.root.state, world.readNow);
}

/** Also where nobody has entered it yet: a store that went back is not used, whoever looks first. */
async function safeModeNow(world: World, store: Store): Promise<SafeMode | null> {
  const entered = await readSafeMode(world);
  const standing = await store.standing();
  if (entered) return { ...entered, problem: problemNow(entered, standing) };
  if (standing.kind === "follows") return null;
  return { since: isoTime(standing.mark.at), problem: sentenceOf(standing), movedTo: [] };
}

/** Whether the repository is where its store is at home. Null where it is at home, or nobody was put to work yet. Mostly so: then one small file is read, and nothing loaded. */
export async function awayFromHome({ root, files, readNow }: World): Promise<Away | null> {
  const text = readNow(runFiles(root.state).place);
  if (text === undefined || text.includes(`"state":${JSON.stringify(root.state)}`)) return null;
  const { judgeStanding } = await import("#act/place.ts");
  const { standing, recorded } = await judgeStanding(files, root);
  if (recorded === undefined || (standing !== "moved" && standing !== "copied")) return null;
  return { standing, from: recorded.project };
}
