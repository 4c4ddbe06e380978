/** The state of the fleet, in one answer: what a person looks at first. It reads and never writes. */
import { problemNow, type SafeMode, safeModeIn } from "#act/safe-mode.ts";
import { areSettingsAtRest } from "#act/settings/settings-at-rest.ts";
import type { Config } from "#config/schema.ts";
import type { SeenStatus } from "#domain/agents/seen.ts";
import { judgeSeenStatus } from "#domain/agents/seen.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import type { Explained } from "#domain/explain/standstill.ts";
import { sentenceOf } from "#domain/health/high-water.ts";
import type { Away } from "#domain/health/place.ts";
import type { Hold } from "#domain/health/settings.ts";
import type { Action } from "#domain/model/action.ts";
import type { Fleet } from "#domain/model/fleet.ts";
import type { GoalStatus, Priority } from "#domain/model/goal.ts";
import { isDispatch } from "#domain/model/ladder-state.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { Question } from "#domain/model/question.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Progress } from "#domain/plans/rollup.ts";
import { percentOf } from "#domain/plans/rollup.ts";
import { OverseerError } from "#errors.ts";
import { openActions, presentConditions } from "#store/actions.ts";
import type { AgentRow } from "#store/agent-rows.ts";
import { agentsAtWork } from "#store/agent-rows.ts";
import { listStalledAssignments, openQuestions } from "#store/assignments.ts";
import { theFleet } from "#store/fleet.ts";
import type { GoalOverview } from "#store/goals.ts";
import { goalOverviews } from "#store/goals.ts";
import { listQueuedMerges } from "#store/merges.ts";
import type { BoxCount } from "#store/messages.ts";
import { unreadMail as unreadCounts } from "#store/messages.ts";
import type { Store } from "#store/store.ts";
import { nodesAtStandstill } from "#store/work.ts";
import { nameOf } from "#sys/paths.ts";
import { runFiles } from "#sys/run-files.ts";
import type { DaemonStatus } from "./daemon-status.ts";
import { daemonStatus, listSwitchedOff } from "./daemon-status.ts";
import { explainStatus } from "./explain-status.ts";
import type { QuestionView } from "./question-view.ts";
import type { World } from "./world.ts";

export interface Status extends Explained {
  /** What the project is called. */
  readonly project: string;
  readonly root: string;
  readonly goals: readonly GoalRow[];
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
  /** Set while the fleet is frozen: since when, by whom and why. */
  readonly frozen: Pick<Fleet, "since" | "by" | "reason"> | null;
  /** Rings that are switched off. */
  readonly off: readonly string[];
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
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function goalRow(row: GoalOverview): GoalRow {
  const { leaves, leavesDone, ...rest } = row;
  const percent = percentOf(leavesDone, leaves, row.status === "completed");
  return { ...rest, progress: { done: leavesDone, total: leaves, percent } };
}

/** How the queue stands, in one line of `status`. */
export interface QueueStatus {
  readonly waiting: number;
  readonly testing: number;
  readonly parked: number;
  /** The one that has waited longest; null when nothing waits. */
  readonly oldest: { readonly branch: string; readonly since: number; readonly detail: string | null } | null;
}

export function queueStatus(merges: readonly Merge[]): QueueStatus {
  const count = (status: Merge["status"]) => merges.filter((one) => one.status === status).length;
  const [first] = [...merges].sort((one, other) => one.queuedAt - other.queuedAt);
  const oldest = first ? { branch: first.branch, since: first.queuedAt, detail: first.detail } : null;
  return { waiting: count("waiting"), testing: count("testing"), parked: count("parked"), oldest };
}

export interface NotStarted {
  readonly problem: string;
  /** `goal/node` of each. */
  readonly nodes: readonly string[];
}

/** One agent in a line: what it does, and on what. */
export interface AgentStatus extends Omit<AgentRow, "owner"> {
  readonly seen: SeenStatus;
}

function agentStatus(world: World, { owner, ...row }: AgentRow): AgentStatus {
  const seen = judgeSeenStatus({ ...row, waits: row.waitingOn !== null }, () => world.processes.alive(owner));
  return { ...row, seen };
}

export async function readFleetStatus(world: World): Promise<Status> {
  const store = await world.reader();
  const { rows, agents, fleet, open, unreadMail, ...seen } = await store.read({
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
  });
  const { config, problem } = await configOrProblem(world);
  const daemon = daemonStatus(world, config);
  const status = {
    project: config?.project.name ?? nameOf(world.root.project),
    root: world.root.project,
    goals: rows.map(goalRow),
    agents: agents.map((row) => agentStatus(world, row)),
    unreadMail,
    mergeQueue: queueStatus(seen.merges),
    questions: await questionViews(store, config ?? NO_CHANNELS, open),
    away: await awayFromHome(world),
    safeMode: await safeModeNow(world, store),
    configProblem: problem ?? null,
    notStarted: notStarted(seen.actions),
    hold: await holdNow(world, daemon),
    daemon,
    frozen: fleet?.status === "frozen" ? { since: fleet.since, by: fleet.by, reason: fleet.reason } : null,
    off: listSwitchedOff(config, daemon),
  };
  return { ...status, ...(await explainStatus(world, store, status, seen, config)) };
}

function notStarted(actions: readonly Action[]): NotStarted[] {
  const nodes = new Map<string, string[]>();
  for (const { kind, problem, goalId, workNodeId } of actions) {
    if (problem === null || goalId === null || workNodeId === null || !isDispatch(kind)) continue;
    nodes.set(problem, [...(nodes.get(problem) ?? []), nodeKey(goalId, workNodeId)]);
  }
  return [...nodes].map(([why, waiting]) => ({ problem: why, nodes: waiting }));
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
