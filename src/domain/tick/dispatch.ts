/**
 * What is dispatched now: nodes that are ready, the most important and then the oldest first, as far as there is room.
 * Tasks are what is dispatched, one agent each; a subtask gets its own agent only by hint. A node whose agent ended by
 * itself is started again, then given to a fresh agent, then to a person; which of these follows from what was tried.
 * Nothing of a goal that is not active is dispatched. When a cap is reached, the rest waits and an event says for what.
 */

import { describeShortage } from "#domain/agents/admission.ts";
import { HeldFiles } from "#domain/agents/held-files.ts";
import { takesPlace } from "#domain/agents/places.ts";
import { isPutAside, isToContinue } from "#domain/agents/promised-names.ts";
import { backoffMs } from "#domain/core/backoff.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { hasPassed, isDue } from "#domain/core/elapsed.ts";
import type { Action, ActionRequest } from "#domain/model/action.ts";
import { isActionDue } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { DispatchCap } from "#domain/model/condition.ts";
import { DISPATCH, isPartOfMassDeath, MASS_DEATH } from "#domain/model/condition.ts";
import type { Priority } from "#domain/model/goal.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { backoffUntil, isDispatch, mostBrokenWorktrees, WORKTREE_BROKEN } from "#domain/model/ladder-state.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { GO_ON_WITHOUT, isOpen, nodeKey } from "#domain/model/work.ts";
import { accountOf, type Closed } from "./account.ts";
import type { Closures } from "./budget.ts";
import { consultAboutFailure, findTriage } from "./diagnosis.ts";
import { NO_STEPS, type Outbox, type Ruled, recordEvent, type TickStep } from "./draft.ts";
import type { Restoring } from "./mass-death.ts";
import { FreeSessions } from "./next-piece.ts";
import type { Scene } from "./scene.ts";
import { byText } from "./scene.ts";
import type { Limits, Snapshot } from "./snapshot.ts";
import { isForWorkers, isWorker, type Starting, type WorkerPlace, WorkerPlaces } from "./worker-places.ts";

/** How words or work reach somebody (DISP-3). */
export type DispatchRoute = "spawn" | "send" | "escalate";

/**
 * Spawn for a self-contained chunk that nobody works on; send for whoever works on it already; escalate for what only a
 * person has: decisions, credentials, an environment, and what was tried too often.
 */
export function modeFor(node: WorkNode, held: boolean, exhausted: boolean): DispatchRoute | undefined {
  if (exhausted) return "escalate";
  if (node.status === "blocked") {
    const kind = node.blockedReason?.kind;
    return kind === "human" || kind === "credential" || kind === "environment" ? "escalate" : undefined;
  }
  if (held) return isOpen(node) ? "send" : undefined;
  return node.status === "queued" ? "spawn" : undefined;
}

export interface Limitations {
  /** Accounts without quota, or whose provider fails. */
  readonly closed: Closed;
  /** The latter of them. */
  readonly providers: Closed;
  readonly budgets: Closures;
  readonly restoring: Restoring | undefined;
}

/** Finds when the next look is due for what had to wait; null where an event will call for one. */
export function dispatch(scene: Scene, outbox: Outbox, limitations: Limitations): Ruled<number | null> {
  const slots = new Slots(scene, outbox, limitations);
  const sessions = new FreeSessions(scene, outbox);
  const steps: TickStep[] = [];
  for (const node of byRank(scene, candidates(scene))) steps.push(...consider(scene, outbox, node, slots, sessions));
  for (const node of scene.nodes) {
    if (node.status === "blocked") steps.push(...escalateBlocked(scene, outbox, node));
    else if (node.status === "todo" && node.dependsOn.length > 0) steps.push(...askAboutCancelled(scene, outbox, node));
  }
  return { value: slots.lookAgainAt, steps: [...steps, ...recordDeferral(scene, slots)] };
}

/** Ready, of an active goal, with nobody on it and nothing under way. */
function candidates(scene: Scene): WorkNode[] {
  let kinds: OwnAgents | undefined;
  return scene.nodes.filter((node) => {
    if (node.status !== "queued" || node.kind === "phase") return false;
    if (scene.goal(node.goalId)?.status !== "active") return false;
    if (scene.isHeld(node) || scene.claim(node) !== undefined) return false;
    if (isSourceAtWork(scene, node)) return false;
    if (node.kind === "task" && node.leaf) return true;
    kinds ??= new OwnAgents(scene.nodes);
    return kinds.isDispatched(node);
  });
}

/** Parts of what was split wait until its agent has ended: only then is all that it leaves behind known. */
function isSourceAtWork(scene: Scene, { goalId, splitFrom }: WorkNode): boolean {
  const source = splitFrom?.at(-1);
  return source !== undefined && scene.agentOn({ goalId, workNodeId: source }) !== undefined;
}

/** WORK-7: which nodes get an agent of their own. */
class OwnAgents {
  private readonly children = new Map<string, { open: number; own: number }>();
  private readonly byKey = new Map<string, WorkNode>();

  constructor(nodes: readonly WorkNode[]) {
    for (const node of nodes) {
      this.byKey.set(nodeKey(node.goalId, node.workNodeId), node);
      if (node.parentId === null || !isOpen(node)) continue;
      const key = nodeKey(node.goalId, node.parentId);
      const known = this.children.get(key) ?? { open: 0, own: 0 };
      known.open += 1;
      if (node.hints.ownAgent) known.own += 1;
      this.children.set(key, known);
    }
  }

  isDispatched(node: WorkNode): boolean {
    if (node.kind === "task") return !this.allOwn(nodeKey(node.goalId, node.workNodeId));
    if (node.kind !== "subtask" || !node.hints.ownAgent || node.parentId === null) return false;
    const parent = nodeKey(node.goalId, node.parentId);
    // Were the subtask first, its task would count as begun and nobody would be put on the rest of it.
    return this.byKey.get(parent)?.status === "in_progress" || this.allOwn(parent);
  }

  private allOwn(key: string): boolean {
    const known = this.children.get(key);
    return known !== undefined && known.own === known.open;
  }
}

const RANK: Readonly<Record<Priority, number>> = { urgent: 0, high: 1, normal: 2, low: 3 };

function byRank(scene: Scene, nodes: readonly WorkNode[]): WorkNode[] {
  const rank = (node: WorkNode) => RANK[scene.goal(node.goalId)?.priority ?? "low"];
  return nodes.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      a.createdAt - b.createdAt ||
      byText(a.goalId, b.goalId) ||
      a.position - b.position ||
      byText(a.workNodeId, b.workNodeId),
  );
}

/** Blocks what only a person can help with, and asks. Finds those nodes as they are then. */
export function giveUp(scene: Scene, outbox: Outbox): Ruled<ReadonlyMap<string, WorkNode>> {
  const blocked = new Map<string, WorkNode>();
  const steps: TickStep[] = [];
  for (const node of candidates(scene)) {
    const key = nodeKey(node.goalId, node.workNodeId);
    const why = outbox.givesOut(node) ? undefined : hopeless(scene, node, key);
    if (why === undefined) continue;
    const given = giveToPerson(scene, outbox, node, why);
    blocked.set(key, given.value);
    steps.push(...given.steps);
  }
  return { value: blocked, steps };
}

/** Everything that could be tried by itself was tried. */
function hopeless(scene: Scene, node: WorkNode, key: string): string | undefined {
  const recovery = scene.recovery(node);
  if (recovery.givenUp !== null) return recovery.givenUp;
  const fallen = findFallen(scene, node, key, recovery);
  const { ladder } = scene.limits;
  if (fallen?.broken) {
    if ((recovery.brokenWorktrees ?? 0) < mostBrokenWorktrees(ladder)) return undefined;
    return `the worktrees of its agents keep breaking (${fallen.broken})`;
  }
  const triage = fallen && !fallen.innocent ? findTriage(recovery, fallen.last) : undefined;
  if (triage?.recommend === "person") {
    return `its agents keep ending, and a model that was shown the last one says: "${recovery.diagnosis?.said ?? ""}"`;
  }
  const exhausted = recovery.restarts >= ladder.restarts && recovery.steps.reassign >= ladder.reassign;
  return fallen && !fallen.innocent && exhausted ? `its agents keep ending (${fallen.cause})` : undefined;
}

function consider(
  scene: Scene,
  outbox: Outbox,
  node: WorkNode,
  slots: Slots,
  sessions: FreeSessions,
): readonly TickStep[] {
  const key = nodeKey(node.goalId, node.workNodeId);
  if (outbox.givesOut(node)) return NO_STEPS;
  const recovery = scene.recovery(node);
  const fallen = findFallen(scene, node, key, recovery);
  if (fallen) return again(scene, outbox, fallen, slots);
  const notBefore = slots.take(node);
  if (notBefore === undefined) return NO_STEPS;
  const worker = isForWorkers(scene.limits, node) ? slots.workers.take() : undefined;
  // What somebody has worked on before is continued from what that one left, not by a session that knows other work.
  const isNew = recovery.dispatches === 0 && scene.lastEnded(node) === undefined;
  return [
    spawn(scene, node, recovery, {
      notBefore,
      follows: isNew ? sessions.take(node, describeWanted(scene, node)) : undefined,
      worker,
    }),
  ];
}

function describeWanted({ limits }: Scene, node: WorkNode) {
  return { capability: capabilityFor(node, limits), account: accountFor(node, limits) };
}

/** Set when the last agent on it ended without anybody having asked for it, or was put aside for a while. */
function findFallen(scene: Scene, node: WorkNode, key: string, recovery: Recovery): Fallen | undefined {
  const last = scene.lastEnded(node);
  const cause = last?.end?.cause;
  if (!last || cause === undefined || !isToContinue(last)) return undefined;
  // Whatever it ended of, nobody can continue where it was.
  const broken = last.brokenWorktree?.detail;
  if (broken !== undefined) return { node, key, recovery, last, cause: WORKTREE_BROKEN, innocent: true, broken };
  const together = isPartOfMassDeath(scene.condition("mass-death", MASS_DEATH), last.attempt);
  const innocent = together ? "mass-death" : isPutAside(last) ? PUT_ASIDE : undefined;
  return { node, key, recovery, last, cause: innocent ?? cause, innocent: innocent !== undefined };
}

interface Fallen {
  readonly node: WorkNode;
  readonly key: string;
  readonly recovery: Recovery;
  readonly last: Attempt;
  readonly cause: string;
  /** Its end was none of its doing, and costs nothing. */
  readonly innocent: boolean;
  /** What is wrong with its worktree, so that only a fresh one helps. */
  readonly broken?: string;
}

/** Why an agent continues that was ended for a while, by `down --agents` or to make room. */
const PUT_ASIDE = "put-aside";

/** Its agent ended by itself: the same again, at once the first time; then a fresh one. */
function again(scene: Scene, outbox: Outbox, fallen: Fallen, slots: Slots): readonly TickStep[] {
  const { recovery, last, innocent } = fallen;
  const { ladder } = scene.limits;
  if (fallen.broken) {
    const notBefore = slots.take(fallen.node);
    return notBefore === undefined ? NO_STEPS : startFresh(scene, fallen, notBefore);
  }
  const consulted = innocent ? undefined : consultAboutFailure(scene, outbox, fallen);
  if (consulted?.kind === "asked") return consulted.steps;
  if (consulted?.kind === "awaited") {
    slots.lookAgain((recovery.diagnosis?.askedAt ?? scene.now) + (scene.limits.triage?.withinMs ?? 0));
    return NO_STEPS;
  }
  const wantsFresh = findTriage(recovery, last)?.recommend === "fresh" && recovery.steps.reassign < ladder.reassign;
  const restarts = innocent || (recovery.restarts < ladder.restarts && !wantsFresh);
  const wait = innocent ? 0 : backoffMs(recovery.restarts, ladder.backoff);
  const endedAt = last.endedAt ?? last.createdAt;
  const isItsTime = restarts
    ? hasPassed(endedAt, wait, scene.now)
    : isDue(recovery.backoffUntil ?? 0, recovery.lastStepAt ?? 0, scene.now);
  if (!isItsTime) slots.lookAgain(restarts ? endedAt + wait : (recovery.backoffUntil ?? 0));
  const notBefore = isItsTime
    ? slots.take(fallen.node, restarts ? accountOf(fallen.last.runtime) : undefined)
    : undefined;
  if (notBefore === undefined) return NO_STEPS;
  return restarts ? restart(scene, fallen, notBefore) : startFresh(scene, fallen, notBefore);
}

function capabilityFor({ hints }: WorkNode, { defaultCapability }: Limits): string {
  return hints.capability ?? hints.suggestedAgentType ?? defaultCapability;
}

/** Whose quota a fresh agent on it will use: its node names the runtime, or its role, or the configuration. */
function accountFor(node: WorkNode, limits: Limits): string {
  if (node.hints.runtime !== undefined) return accountOf(node.hints.runtime);
  return limits.roleAccounts[capabilityFor(node, limits)] ?? limits.defaultAccount;
}

interface SpawnWish {
  readonly notBefore: number;
  /** The attempt in whose session it begins. */
  readonly follows: number | undefined;
  /** The worker that does it. */
  readonly worker: WorkerPlace | undefined;
}

function spawn(scene: Scene, node: WorkNode, recovery: Recovery, { notBefore, follows, worker }: SpawnWish): TickStep {
  const key = nodeKey(node.goalId, node.workNodeId);
  const number = recovery.dispatches + 1;
  const because = number === 1 ? "ready" : "ready-again";
  return {
    goalId: node.goalId,
    nodeId: node.workNodeId,
    actionId: `spawn:${key}:${number}`,
    kind: "spawn",
    because,
    notBefore,
    payload: {
      dispatchId: deriveId("D_", key, number),
      capability: worker?.capability ?? capabilityFor(node, scene.limits),
      name: worker?.name ?? node.hints.suggestedAgentId ?? null,
      ...(follows === undefined ? {} : { follows }),
    },
  };
}

function restart(scene: Scene, fallen: Fallen, notBefore: number): readonly TickStep[] {
  const { key, recovery, last, cause, innocent } = fallen;
  const number = innocent ? recovery.restarts : recovery.restarts + 1;
  const until = innocent ? scene.now : backoffUntil(recovery, scene.limits.ladder, scene.now);
  const step = { after: last.attempt, number, cause, backoffUntil: until };
  return [
    // Whoever was put aside has not failed: it is no step of recovery.
    ...(cause === PUT_ASIDE ? [] : [recordEvent("assignment.restarting", aboutLast(fallen), cause, step)]),
    {
      ...aboutLast(fallen),
      actionId: `restart:${key}:${recovery.dispatches + 1}`,
      kind: "restart",
      because: cause,
      notBefore,
      payload: {
        dispatchId: deriveId("D_", key, recovery.dispatches + 1),
        after: last.attempt,
        reason: last.end?.detail ?? cause,
      },
    },
  ];
}

function startFresh(scene: Scene, fallen: Fallen, notBefore: number): readonly TickStep[] {
  const { key, recovery, last, cause } = fallen;
  return [
    recordEvent("assignment.reassigning", aboutLast(fallen), cause, {
      number: fallen.broken ? (recovery.brokenWorktrees ?? 0) + 1 : recovery.steps.reassign + 1,
      cause,
      backoffUntil: backoffUntil(recovery, scene.limits.ladder, scene.now),
    }),
    {
      ...aboutLast(fallen),
      actionId: `reassign:${key}:${recovery.dispatches + 1}`,
      kind: "reassign",
      because: cause,
      notBefore,
      payload: {
        dispatchId: deriveId("D_", key, recovery.dispatches + 1),
        from: last.attempt,
        reason: fallen.broken ? `its worktree is broken: ${fallen.broken}` : (last.end?.detail ?? cause),
      },
    },
  ];
}

function aboutLast({ node, last }: Fallen) {
  return { goalId: node.goalId, nodeId: node.workNodeId, assignmentId: last.assignmentId, agent: last.agent };
}

/** Nothing that we can do is left: the node waits, visibly, for a person. */
function giveToPerson(scene: Scene, outbox: Outbox, node: WorkNode, why: string): Ruled<WorkNode> {
  const about = { goalId: node.goalId, nodeId: node.workNodeId };
  const detail = `It could not be done automatically: ${why}`;
  const blockedReason = { kind: "human", detail, needs: "A person's decision." } as const;
  return {
    value: { ...node, status: "blocked", blockedReason, updatedAt: scene.now },
    steps: [
      recordEvent("work.blocked", about, "tried-too-often", { blocked: blockedReason }),
      ...ask(scene, outbox, node, { because: "tried-too-often", detail: why }),
    ],
  };
}

/** What only a person has is asked for, once per block (DISP-3). */
function escalateBlocked(scene: Scene, outbox: Outbox, node: WorkNode): readonly TickStep[] {
  if (scene.goal(node.goalId)?.status !== "active" || modeFor(node, false, false) !== "escalate") return NO_STEPS;
  const { askedAt } = scene.recovery(node);
  if (askedAt !== null && askedAt >= node.updatedAt) return NO_STEPS;
  return ask(scene, outbox, node, { because: "blocked", detail: node.blockedReason?.detail ?? "" });
}

/** What waits for something that was cancelled would wait for ever, and nobody would hear of it. Asked once. */
function askAboutCancelled(scene: Scene, outbox: Outbox, node: WorkNode): readonly TickStep[] {
  const { goalId } = node;
  if (scene.goal(goalId)?.status !== "active") return NO_STEPS;
  const cancelled = node.dependsOn.filter((id) => scene.node({ goalId, workNodeId: id })?.status === "cancelled");
  if (cancelled.length === 0 || scene.recovery(node).askedAt !== null) return NO_STEPS;
  const detail = `it depends on ${cancelled.join(", ")}, which ${cancelled.length === 1 ? "was" : "were"} cancelled`;
  const options = [GO_ON_WITHOUT, "cancel it", "leave it to me"];
  return ask(scene, outbox, node, { because: "dependency-cancelled", detail, options });
}

function ask(
  scene: Scene,
  outbox: Outbox,
  node: WorkNode,
  { because, detail, options = ["try again", "cancel it", "leave it to me"] }: Wanting,
): readonly TickStep[] {
  const key = nodeKey(node.goalId, node.workNodeId);
  if (scene.isAsked(node) || outbox.hasForNode("ask", node)) return NO_STEPS;
  const about = { goalId: node.goalId, nodeId: node.workNodeId };
  const recovery = scene.recovery(node);
  const questionId = deriveId("q_", key, because, recovery.total);
  return [
    recordEvent("assignment.escalated", about, because, {
      questionId,
      number: recovery.steps.ask + 1,
      cause: because,
      backoffUntil: backoffUntil(recovery, scene.limits.ladder, scene.now),
    }),
    {
      ...about,
      actionId: `ask:${questionId}`,
      kind: "ask",
      because,
      notBefore: scene.now,
      payload: { questionId, text: `${key} "${node.name}" waits for you: ${detail}`, options },
    },
  ];
}

/** What a person is asked about a node. */
interface Wanting {
  readonly because: string;
  readonly detail: string;
  readonly options?: readonly string[];
}

/** What is in the way of a dispatch. */
interface Obstacle {
  readonly cap: DispatchCap;
  readonly reason: string;
  /** Until when it lasts, where that is known. */
  readonly until?: number;
}

/** How soon a machine that had no room is looked at again. */
const LOOK_FOR_ROOM_MS = 5_000;
/** A clock that was set back makes a time to come of one that has passed; nobody looks for it again and again. */
const SOONEST_LOOK_MS = 1_000;
const MACHINE_CAPS: ReadonlySet<DispatchCap> = new Set(["load", "memory", "disk"]);

/** Room for more agents: how many may start now, when each, and what the rest waits for. */
class Slots {
  private free: number;
  private starts: number;
  private next: number;
  deferred: Obstacle | undefined;
  waiting = 0;
  lookAgainAt: number | null = null;
  private readonly closedBy: Obstacle | undefined;
  private readonly recent: readonly number[];
  private readonly files: HeldFiles;
  readonly workers: WorkerPlaces;

  constructor(
    private readonly scene: Scene,
    outbox: Outbox,
    private readonly limitations: Limitations,
  ) {
    const { fleet } = scene.limits;
    const { snapshot } = scene;
    const living = scene.agents.map(({ attempt }) => attempt);
    this.files = new HeldFiles(scene.nodes, living, (node) => outbox.givesOut(node));
    // Who takes over from a living agent takes its slot too, in this tick as in the next.
    const open = scene.actions.flatMap((action) => listStarting(scene, action, action.workNodeId));
    const comingUp = open.length;
    const asked = outbox.actions.flatMap((action) => listStarting(scene, action, action.nodeId ?? null));
    const coming = comingUp + asked.length;
    this.workers = new WorkerPlaces(scene, [...open, ...asked]);
    this.free = fleet.maxConcurrent - countAtWork(scene, limitations.closed) - (coming - this.workers.coming);
    const recent = snapshot.recentStarts.filter((at) => !hasPassed(at, MINUTE_MS, scene.now));
    this.recent = recent.toSorted((a, b) => a - b);
    this.starts = fleet.startsPerMinute - recent.length - coming;
    const lastStart = recent.reduce((last, at) => Math.max(last, at), 0);
    const later = scene.actions.filter((one) => isDispatch(one.kind) && !isActionDue(one, scene.now));
    const lastDue = later.reduce((last, one) => Math.max(last, one.dueAt), 0);
    const earliest = Math.max(lastStart, comingUp > 0 ? lastDue : 0) + fleet.staggerMs;
    this.next = Math.max(scene.now, Math.min(earliest, scene.now + MINUTE_MS));
    this.closedBy =
      (snapshot.watching ? { cap: "watching", reason: "the daemon only watches" } : undefined) ??
      (snapshot.held === null ? undefined : { cap: "settings", reason: snapshot.held }) ??
      findShortage(snapshot) ??
      (limitations.budgets.scopes.has(`day:${snapshot.usage.today}`)
        ? { cap: "budget", reason: "today's budget is spent" }
        : undefined);
  }

  /** Not before when it may start; undefined while it has to wait. */
  take(node: WorkNode, account = accountFor(node, this.scene.limits)): number | undefined {
    const obstacle = this.obstacleTo(node, account);
    if (obstacle !== undefined) {
      this.deferred ??= obstacle;
      this.waiting += 1;
      // Nothing tells us when a machine has room again; what else holds back ends with an event, or at a known time.
      if (MACHINE_CAPS.has(obstacle.cap)) this.lookAgain(this.scene.now + LOOK_FOR_ROOM_MS);
      else if (obstacle.until !== undefined) this.lookAgain(obstacle.until);
      return undefined;
    }
    if (isForWorkers(this.scene.limits, node)) this.workers.free -= 1;
    else this.free -= 1;
    this.starts -= 1;
    this.files.take(node);
    const notBefore = this.next;
    this.next += this.scene.limits.fleet.staggerMs;
    return notBefore;
  }

  lookAgain(at: number): void {
    const soonest = Math.max(at, this.scene.now + SOONEST_LOOK_MS);
    this.lookAgainAt = Math.min(this.lookAgainAt ?? soonest, soonest);
  }

  private obstacleTo(node: WorkNode, account: string): Obstacle | undefined {
    const { goalId } = node;
    const key = nodeKey(goalId, node.workNodeId);
    const { restoring, budgets } = this.limitations;
    if (restoring && !restoring.released.has(key)) return { cap: "mass-death", reason: "several agents died at once" };
    if (this.closedBy !== undefined) return this.closedBy;
    const { closed, providers } = this.limitations;
    const closing = closed.get(account);
    if (closing)
      return { cap: providers.has(account) ? "provider" : "quota", reason: closing.why, until: closing.until };
    if (budgets.scopes.has(`goal:${goalId}`)) return { cap: "budget", reason: `the budget of ${goalId} is spent` };
    const { maxConcurrent, startsPerMinute } = this.scene.limits.fleet;
    if (isForWorkers(this.scene.limits, node)) {
      if (this.workers.free <= 0) return { cap: "workers", reason: `all ${this.workers.all} workers have a task` };
    } else if (this.free <= 0) return { cap: "agents", reason: `${maxConcurrent} agents is the limit` };
    if (this.starts > 0) {
      const shared = this.files.reasonAgainst(node);
      return shared === undefined ? undefined : { cap: "files", reason: shared };
    }
    const oldest = this.recent[0];
    const reason = `${startsPerMinute} starts in a minute is the limit`;
    return { cap: "starts", reason, ...(oldest === undefined ? {} : { until: oldest + MINUTE_MS }) };
  }
}

const MINUTE_MS = 60_000;

/** Those that take a place which is not a worker's. */
function countAtWork(scene: Scene, closed: Closed): number {
  return scene.agents.filter(({ attempt, pulse, account }) => {
    if (isWorker(scene, attempt)) return false;
    const wasCutOff = (pulse?.quotaAt ?? null) !== null || (pulse?.providerFailure ?? null) !== null;
    return takesPlace({ attempt, node: scene.node(attempt), cutOff: wasCutOff && closed.has(account) });
  }).length;
}

/** Whom that action starts on a node that nobody works on. */
function listStarting(scene: Scene, action: Action | ActionRequest, workNodeId: string | null): Starting[] {
  const { goalId = null } = action;
  if (!isDispatch(action.kind) || hasAgent(scene, { goalId, workNodeId })) return [];
  return [{ goalId, workNodeId, name: action.kind === "spawn" ? action.payload.name : (action.agent ?? null) }];
}

function hasAgent(
  scene: Scene,
  action: { readonly goalId: string | null; readonly workNodeId: string | null },
): boolean {
  return scene.agentOn({ goalId: action.goalId ?? "", workNodeId: action.workNodeId ?? "" }) !== undefined;
}

function findShortage({ room }: Snapshot): Obstacle | undefined {
  const short = describeShortage(room);
  return short && { cap: short.cap, reason: short.text };
}

/** Said once when it begins and once when it has ended, not at every tick; a machine's figures are those of the beginning. */
function recordDeferral(scene: Scene, { deferred, waiting }: Slots): readonly TickStep[] {
  const known = scene.condition("dispatch", DISPATCH);
  const before = known?.active ? known.reason : undefined;
  if (deferred?.reason === before) return NO_STEPS;
  if (before !== undefined && deferred && MACHINE_CAPS.has(deferred.cap) && deferred.cap === known?.cap)
    return NO_STEPS;
  if (deferred === undefined) return [recordEvent("dispatch.resumed", {}, "room-again", { after: before ?? "" })];
  return [recordEvent("dispatch.deferred", {}, "cap-reached", { ...deferred, waiting })];
}
