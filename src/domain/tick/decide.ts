/**
 * The tick's decision: what should be happening against what is, and the steps that close the gap. Pure: the same
 * snapshot leads to the same events and actions, in whatever order it was gathered; deciding again on a world to which
 * they were applied asks for nothing new. It never throws. Every event and action says because of what. This file only
 * says in which order the rules are asked; each rule has a file of its own.
 */

import { RESUMED_TEXT } from "#domain/briefing/nudge-text.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { hasPassed, isDue } from "#domain/core/elapsed.ts";
import { mayMove } from "#domain/core/moves.ts";
import type { Action, ActionRequest } from "#domain/model/action.ts";
import { dropEvent } from "#domain/model/action.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { ASSIGNMENT_MOVES, subject } from "#domain/model/assignment.ts";
import { TICK } from "#domain/model/condition.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { isDispatch, NOT_WANTED, resetLadder } from "#domain/model/ladder-state.ts";
import type { AgentLimits } from "#domain/model/limits.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen, nodeKey } from "#domain/model/work.ts";
import type { GoalTree } from "#domain/plans/settle.ts";
import { advance, settle } from "#domain/plans/settle.ts";
import type { Closures } from "./budget.ts";
import { watchBudgets } from "./budget.ts";
import { dispatch, giveUp } from "./dispatch.ts";
import { Draft } from "./draft.ts";
import { climb, escalate, passOn, requestStatus } from "./ladder.ts";
import type { Judgement, LivenessLimits } from "./liveness.ts";
import { ASKED_IN_WORDS, hasSigns, judgeLiveness, lastActivityAt, latestProgress } from "./liveness.ts";
import { watchDeaths } from "./mass-death.ts";
import type { Closed } from "./quota.ts";
import { watchQuotas } from "./quota.ts";
import { byText, ensureSorted, inPlan, Scene } from "./scene.ts";
import type { AgentSeen, Snapshot } from "./snapshot.ts";
import { tellOutcomes } from "./tell.ts";

export interface Decided {
  /** Everything to be committed, the actions' own events included. */
  readonly events: readonly NewEvent[];
  readonly actions: readonly ActionRequest[];
  /** How each living agent was judged, by attempt number. */
  readonly judged: ReadonlyMap<number, Judgement>;
  readonly didWork: boolean;
}

export function decide(given: Snapshot): Decided {
  const held = standstill(given);
  const { snapshot, dropped } = held === undefined ? withoutStale(given) : { snapshot: given, dropped: [] };
  const draft = new Draft(snapshot.now, snapshot.actions, snapshot.lately);
  draft.events.push(...dropped);
  const scene =
    held === undefined ? withoutHopeless(new Scene(settleGoals(snapshot, draft)), draft) : new Scene(snapshot);
  const judged = new Map<number, Judgement>();
  if (held === undefined) reconcile(scene, draft, judged);
  else if (held === "time-skipped") draft.event("time.skipped", {}, "loop-was-late", { ms: snapshot.skippedMs });
  const didWork = draft.events.length > 0;
  // While nothing is delivered, nothing counts as told.
  const cursor = held === undefined ? Math.max(scene.cursor, snapshot.newsUpTo) : scene.cursor;
  const because = held ?? "reconciled";
  if (didWork || isNewStretch(scene, because, cursor)) {
    const { reason } = snapshot;
    draft.event("overseer.tick", {}, because, { reason, didWork, actions: draft.actions.length, cursor });
  }
  return { events: draft.events, actions: draft.actions, judged, didWork };
}

/** How far the log may run ahead of what has been read for outcomes; reading it again at every tick costs. */
const FAR_BEHIND = 1_000;

/**
 * Of ticks that find nothing to do, the first of a stretch is recorded: the log is kept for ever, and an idle fleet would
 * fill it. One that was the first to see outcomes is recorded too, so that they are not read again.
 */
function isNewStretch(scene: Scene, because: string, cursor: number): boolean {
  const last = scene.condition("tick", TICK);
  if (!last || last.didWork || last.because !== because) return true;
  const unread = scene.snapshot.news.some(({ seq }) => seq > scene.cursor && seq <= cursor);
  return unread || cursor - scene.cursor >= FAR_BEHIND;
}

/** Why nothing is judged nor done in this cycle. */
function standstill({ frozen, safeMode, limits, skippedMs }: Snapshot): string | undefined {
  if (frozen) return "frozen";
  if (safeMode) return "safe-mode";
  if (!limits.enabled) return "switched-off";
  return skippedMs > 0 ? "time-skipped" : undefined;
}

function reconcile(scene: Scene, draft: Draft, judged: Map<number, Judgement>): void {
  const closed = watchQuotas(scene, draft);
  const budgets = watchBudgets(scene, draft);
  const restoring = watchDeaths(scene, draft);
  const known = new Map<AgentLimits, LivenessLimits>();
  for (const seen of scene.agents) {
    const own = scene.limitsFor(seen.attempt);
    const limits = known.get(own) ?? { ...scene.limits, ...own, graceMs: own.patienceMs };
    known.set(own, limits);
    lookAt(scene, draft, { seen, closed, budgets, limits }, judged);
  }
  moveClaims(scene, draft);
  dispatch(scene, draft, { closed, budgets, restoring });
  tellOutcomes(scene, draft);
}

/** Without what waits in the outbox for somebody or something that is no more. */
function withoutStale(snapshot: Snapshot): { readonly snapshot: Snapshot; readonly dropped: readonly NewEvent[] } {
  if (snapshot.actions.length === 0) return { snapshot, dropped: [] };
  const scene = new Scene(snapshot);
  const moment = { now: snapshot.now, actor: "overseer" as const };
  const stale = new Set<string>();
  const dropped: NewEvent[] = [];
  for (const action of scene.actions) {
    const why = action.status === "taken" ? undefined : reasonToDrop(scene, action);
    if (why === undefined) continue;
    stale.add(action.actionId);
    dropped.push(dropEvent(action, NOT_WANTED, why, moment));
  }
  if (stale.size === 0) return { snapshot, dropped };
  return {
    snapshot: { ...snapshot, actions: snapshot.actions.filter(({ actionId }) => !stale.has(actionId)) },
    dropped,
  };
}

/** With the nodes that only a person can help blocked, so that nothing else counts on them. */
function withoutHopeless(scene: Scene, draft: Draft): Scene {
  const blocked = giveUp(scene, draft);
  if (blocked.size === 0) return scene;
  const nodes = scene.nodes.map((node) => blocked.get(nodeKey(node.goalId, node.workNodeId)) ?? node);
  return new Scene({ ...scene.snapshot, nodes });
}

const TO_AGENTS: ReadonlySet<string> = new Set([
  "deliver",
  "resend",
  "pause",
  "resume",
  "stop",
] satisfies Action["kind"][]);

function reasonToDrop(scene: Scene, action: Action): string | undefined {
  if (isDispatch(action.kind)) {
    const status = scene.goal(action.goalId ?? "")?.status;
    if (status !== "active") return `its goal is ${status ?? "over"}`;
    const node = scene.node({ goalId: action.goalId ?? "", workNodeId: action.workNodeId ?? "" });
    if (!node || !isOpen(node) || node.status === "blocked") return "its node is not to be worked on";
    return undefined;
  }
  const gone = action.attempt !== null && !scene.agent(action.attempt);
  return gone && TO_AGENTS.has(action.kind) ? "its agent has ended" : undefined;
}

/** What follows by itself comes first: nodes that are ready, parents that follow, goals that are reached (WORK-3, WORK-4). */
function settleGoals(snapshot: Snapshot, draft: Draft): Snapshot {
  const byGoal = new Map<string, WorkNode[]>();
  for (const node of snapshot.nodes) {
    const list = byGoal.get(node.goalId);
    if (list) list.push(node);
    else byGoal.set(node.goalId, [node]);
  }
  const moved = new Map<string, GoalTree>();
  for (const goal of ensureSorted(snapshot.goals, (a, b) => byText(a.goalId, b.goalId))) {
    if (goal.status !== "active") continue;
    const tree: GoalTree = { goal, nodes: ensureSorted(byGoal.get(goal.goalId) ?? [], inPlan) };
    const events = settle(tree, draft.moment);
    if (events.length === 0) continue;
    draft.events.push(...events);
    moved.set(
      goal.goalId,
      events.reduce((state, event) => advance(state, event, snapshot.now), tree),
    );
  }
  if (moved.size === 0) return snapshot;
  return {
    ...snapshot,
    goals: snapshot.goals.map((goal) => moved.get(goal.goalId)?.goal ?? goal),
    nodes: [
      ...snapshot.nodes.filter((node) => !moved.has(node.goalId)),
      ...[...moved.values()].flatMap((tree) => tree.nodes),
    ],
  };
}

interface Looked {
  readonly seen: AgentSeen;
  readonly closed: Closed;
  readonly budgets: Closures;
  readonly limits: LivenessLimits;
}

function lookAt(scene: Scene, draft: Draft, looked: Looked, judged: Map<number, Judgement>): void {
  const { seen, closed } = looked;
  const { attempt } = seen;
  const recovery = scene.findRecovery(attempt);
  const assignment = scene.assignment(attempt.assignmentId);
  const outOfQuota = closed.get(seen.account);
  const judgement = judgeLiveness(
    {
      seen,
      assignment,
      asking: scene.isAsked(attempt) || draft.hasForNode("ask", attempt),
      quotaUntil: outOfQuota !== undefined && (seen.pulse?.quotaAt ?? null) !== null ? outOfQuota : null,
      claimed: scene.claim(attempt) !== undefined,
      expecting: draft.expects(attempt.attempt),
      answeredAt: recovery?.answeredAt ?? null,
      doubt: recovery?.doubt ?? null,
      rebasedAt: scene.rebasedAt,
    },
    scene.now,
    looked.limits,
  );
  judged.set(attempt.attempt, judgement);
  if (judgement.state === "dead") {
    bury(draft, seen, judgement.because);
    return;
  }
  if (endUnwanted(scene, draft, seen) || followPause(scene, draft, looked, recovery)) return;
  if (assignment) follow(scene, draft, { seen, assignment, recovery }, judgement);
}

/** How often an end that did not come about is asked for again. */
const ASK_AGAIN_MS = 3_600_000;

function bury(draft: Draft, seen: AgentSeen, because: string): void {
  stop(draft, seen, because, { reason: `It is dead: ${because.replaceAll("-", " ")}.`, cause: "died" });
}

function stop(
  draft: Draft,
  { attempt }: AgentSeen,
  because: string,
  payload: { readonly reason: string; readonly cause: "asked" | "died" },
): void {
  if (draft.has("stop", attempt.attempt) || draft.has("reassign", attempt.attempt)) return;
  draft.request({
    ...aboutAttempt({ attempt }),
    actionId: `stop:${attempt.attempt}:${Math.floor(draft.now / ASK_AGAIN_MS)}`,
    kind: "stop",
    because,
    notBefore: draft.now,
    payload,
  });
}

/** GOAL-5: agents of a cancelled goal, or of a node that has ended, are stopped; their work is kept. */
function endUnwanted(scene: Scene, draft: Draft, seen: AgentSeen): boolean {
  const { attempt } = seen;
  if (attempt.stopRequested !== null) {
    // Whoever was to end it does not; then it is ended from outside.
    const late = hasPassed(attempt.stopRequested.at, scene.limitsFor(attempt).startingLimitMs, scene.now);
    if (late) stop(draft, seen, "stop-ignored", { reason: "It did not stop when it was asked to.", cause: "died" });
    return true;
  }
  const goal = scene.goal(attempt.goalId);
  const node = scene.node(attempt);
  const why =
    goal?.status === "cancelled" ? "goal-cancelled" : node && !isOpen(node) ? `node-${node.status}` : undefined;
  if (!why) return false;
  stop(draft, seen, why, { reason: `Its ${why.replace("-", " is ")}.`, cause: "asked" });
  return true;
}

/** Pauses and resumes that follow from the goal, a budget or the ladder. True: nothing else is due for it. */
function followPause(scene: Scene, draft: Draft, { seen, budgets }: Looked, recovery: Recovery | undefined): boolean {
  const { attempt } = seen;
  const paused = scene.goal(attempt.goalId)?.status === "paused";
  if (attempt.status === "running" && paused) {
    if (!draft.has("pause", attempt.attempt)) {
      draft.request({
        ...aboutAttempt(seen),
        actionId: `pause:${attempt.attempt}:goal:${attempt.updatedAt}`,
        kind: "pause",
        because: "goal-paused",
        notBefore: draft.now,
        payload: { now: false, reason: "Its goal is paused.", cause: "goal-paused" },
      });
    }
    return true;
  }
  if (attempt.status !== "paused") return false;
  if (paused || draft.has("resume", attempt.attempt)) return true;
  const over = endOfPause(scene, seen, budgets, recovery);
  if (over) resume(draft, seen, over);
  return true;
}

/** What ended the reason for its pause; undefined while it holds, or where a person paused it. */
function endOfPause(
  scene: Scene,
  { attempt }: AgentSeen,
  budgets: Closures,
  recovery: Recovery | undefined,
): string | undefined {
  const limited = [`agent:${attempt.attempt}`, `goal:${attempt.goalId}`, `day:${scene.snapshot.usage.today}`];
  if (limited.some((scope) => budgets.scopes.has(scope))) return undefined;
  const asked = scene.isAsked(attempt);
  switch (attempt.pausedBecause) {
    case "goal-paused":
      return "goal-resumed";
    case "budget":
      return "budget-cleared";
    case "recovery":
      return !asked && isPauseOver(recovery, scene.now) ? "pause-over" : undefined;
    default:
      return undefined;
  }
}

function isPauseOver(recovery: Recovery | undefined, now: number): boolean {
  return isDue(recovery?.backoffUntil ?? 0, recovery?.lastStepAt ?? 0, now);
}

function resume(draft: Draft, seen: AgentSeen, because: string): void {
  const { attempt, updatedAt } = seen.attempt;
  draft.request({
    ...aboutAttempt(seen),
    actionId: `resume:${attempt}:${updatedAt}`,
    kind: "resume",
    because,
    notBefore: draft.now,
    payload: { reason: RESUMED_TEXT, messageId: deriveId("m_", "resume", attempt, updatedAt) },
  });
}

interface AtWork {
  readonly seen: AgentSeen;
  readonly assignment: Assignment;
  readonly recovery: Recovery | undefined;
}

/** What a judgement means for the assignment: its status, and the next step where it is stuck. */
function follow(scene: Scene, draft: Draft, at: AtWork, judgement: Judgement): void {
  const { assignment } = at;
  // The same file written again and again with the same result is no progress, and must not give budgets back.
  const recovery = judgement.state === "looping" ? at.recovery : noteProgress(draft, at);
  if (recovery && recovery.doubt !== null && judgement.state !== "detecting" && !hasSigns(at.seen)) {
    draft.event("assignment.doubted", subject(assignment), "signs-are-gone", { key: "", signs: [] });
  }
  if (isNewEmergency(at.seen, recovery)) {
    // It was told to stop, keep what is sound and report; what becomes of it is for a person to say (ANOM-6).
    escalate(scene, draft, assignment, recovery ?? scene.recovery(at.seen.attempt), "pace-emergency");
    return;
  }
  switch (judgement.state) {
    case "detecting":
      if (recovery?.doubt?.key !== judgement.key) {
        const { key, signs } = judgement;
        draft.event("assignment.doubted", subject(assignment), judgement.because, { key, signs });
      }
      return;
    case "silent":
    case "looping":
      climb(scene, draft, {
        ...at,
        assignment: noteStalled(draft, assignment, judgement.because),
        recovery: recovery ?? scene.recovery(at.seen.attempt),
        cause: judgement.because,
      });
      return;
    case "waiting-human":
      if (judgement.because === ASKED_IN_WORDS && at.seen.fingerprint?.class === "waiting-on-human") {
        const { words } = at.seen.fingerprint;
        passOn(scene, draft, { assignment, recovery: recovery ?? scene.recovery(at.seen.attempt), words });
        return;
      }
      if (mayMove(ASSIGNMENT_MOVES, assignment.status, "blocked")) {
        draft.event("assignment.blocked", subject(assignment), judgement.because, {
          blocked: { on: "human", detail: judgement.because.replaceAll("-", " ") },
        });
      }
      return;
    case "working":
    case "tool-running":
    case "idle":
      noteActive(draft, at, judgement);
      if (judgement.state !== "idle" && assignment.expectedNextUpdateAt !== null) {
        requestStatus(draft, { ...at, recovery: recovery ?? scene.recovery(at.seen.attempt) });
      }
      return;
    default:
      return;
  }
}

/** Nobody was asked yet since it came to the last of its PACE levels, and nobody has answered since. */
function isNewEmergency({ attempt }: AgentSeen, recovery: Recovery | undefined): boolean {
  if (attempt.pace?.level !== "emergency" || attempt.status !== "running") return false;
  return attempt.pace.at > Math.max(recovery?.askedAt ?? 0, recovery?.answeredAt ?? 0);
}

function noteStalled(draft: Draft, assignment: Assignment, because: string): Assignment {
  if (!mayMove(ASSIGNMENT_MOVES, assignment.status, "stalled")) return assignment;
  draft.event("assignment.stalled", subject(assignment), because, { reason: because });
  return { ...assignment, status: "stalled" };
}

/** Active as soon as the agent was seen to do something after what it was last told. */
function noteActive(draft: Draft, { seen, assignment }: AtWork, judgement: Judgement): void {
  if (assignment.status === "active" || !mayMove(ASSIGNMENT_MOVES, assignment.status, "active")) return;
  if ((lastActivityAt(seen) ?? 0) <= (assignment.lastDispatchAt ?? assignment.createdAt)) return;
  draft.event("assignment.active", subject(assignment), judgement.because, { reason: judgement.because });
}

/** Budgets come back with evidence of progress after the last step, and with nothing else. */
function noteProgress(draft: Draft, { seen, assignment, recovery }: AtWork): Recovery | undefined {
  if (!recovery || (recovery.level === 0 && recovery.restarts === 0)) return recovery;
  const progress = latestProgress(seen);
  const since = Math.max(recovery.lastStepAt ?? 0, recovery.progressAt ?? 0);
  if (!progress || progress.at <= since) return recovery;
  const { source, at } = progress;
  draft.event("assignment.progressed", subject(assignment), "evidence-of-progress", { source, seenAt: at });
  return resetLadder(recovery, draft.now);
}

/** A report of done is checked; what is checked lands, where no person's word is needed. */
function moveClaims(scene: Scene, draft: Draft): void {
  for (const claim of scene.claims) {
    const node = scene.node(claim);
    if (!node || !isOpen(node) || scene.goal(node.goalId)?.status !== "active") continue;
    const kind = claim.state === "claimed" ? "check" : claim.state === "checked" && claim.mayLand ? "land" : undefined;
    if (!kind || draft.hasForNode(kind, node)) continue;
    draft.request({
      ...{ goalId: claim.goalId, nodeId: claim.workNodeId, assignmentId: claim.assignmentId },
      actionId: `${kind}:${claim.assignmentId}:${claim.commit ?? "no-commit"}:${claim.turn ?? 1}`,
      kind,
      because: kind === "check" ? "reported-done" : "checked",
      notBefore: draft.now,
      payload: { commit: claim.commit },
    });
  }
}

function aboutAttempt({ attempt }: { readonly attempt: AgentSeen["attempt"] }) {
  const { goalId, workNodeId, assignmentId, agent, attempt: number } = attempt;
  return { goalId, nodeId: workNodeId, assignmentId, agent, attempt: number };
}
