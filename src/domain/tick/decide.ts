/**
 * The tick's decision: what should be happening against what is, and the steps that close the gap. Pure: the same
 * snapshot leads to the same events and actions, in whatever order it was gathered; deciding again on a world to which
 * they were applied asks for nothing new. It never throws. Every event and action says because of what. This file only
 * says in which order the rules are asked; each rule has a file of its own.
 */

import { RESUMED_TEXT } from "#domain/briefing/nudge-text.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { hasPassed, isDue, SKEW_MS } from "#domain/core/elapsed.ts";
import { mayMove } from "#domain/core/moves.ts";
import type { Action, ActionRequest } from "#domain/model/action.ts";
import { dropEvent } from "#domain/model/action.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { ASSIGNMENT_MOVES, subject } from "#domain/model/assignment.ts";
import type { OpenClaim } from "#domain/model/claim.ts";
import { TICK } from "#domain/model/condition.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { isDispatch, NOT_WANTED, resetLadder } from "#domain/model/ladder-state.ts";
import { isSpared, isSupervised } from "#domain/model/supervision.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen, nodeKey } from "#domain/model/work.ts";
import type { GoalTree } from "#domain/plans/settle.ts";
import { advance, settle } from "#domain/plans/settle.ts";
import type { Closures } from "./budget.ts";
import { watchBudgets } from "./budget.ts";
import { watchDisk } from "./disk.ts";
import { dispatch, giveUp } from "./dispatch.ts";
import { Draft, NO_STEPS, type Outbox, type Ruled, recordEvent, type TickStep } from "./draft.ts";
import { judgeAgent, Measures } from "./judge.ts";
import {
  askAboutBlocker,
  climb,
  escalate,
  leaveBroken,
  PACE_EMERGENCY,
  parkWhileAsked,
  passOn,
  requestStatus,
} from "./ladder.ts";
import type { Judgement } from "./liveness.ts";
import { ASKED_IN_WORDS, hasSigns, isLooping, lastActivityAt, latestProgress } from "./liveness.ts";
import { watchDeaths } from "./mass-death.ts";
import { dateEndOfPatience, findSharedSilence, isMootForProvider, watchProviders } from "./provider.ts";
import { watchQuotas } from "./quota.ts";
import { byText, ensureSorted, inPlan, Scene } from "./scene.ts";
import type { AgentSeen, Snapshot } from "./snapshot.ts";
import { watchStarts } from "./start-failure.ts";
import { tellOutcomes } from "./tell.ts";
import { isWorker } from "./worker-places.ts";

export interface Decided {
  /** Everything to be committed, the actions' own events included. */
  readonly events: readonly NewEvent[];
  readonly actions: readonly ActionRequest[];
  /** How each living agent was judged, by attempt number. */
  readonly judged: ReadonlyMap<number, Judgement>;
  readonly didWork: boolean;
  /** When something follows by itself that nobody will tell of: an account is tried again, a machine has room. */
  readonly nextDueAt: number | null;
}

export function decide(given: Snapshot): Decided {
  const held = standstill(given);
  if (held !== undefined) return hold(given, held);
  const current = dropStale(given);
  const draft = new Draft(given.now, current.value.actions, given.lately);
  const settled = new Scene(draft.take(settleGoals(draft.take(current))));
  const scene = withBlocked(settled, draft.take(giveUp(settled, draft)));
  const { judged, nextDueAt } = reconcile(scene, draft);
  return { ...close(scene, draft, "reconciled", Math.max(scene.cursor, given.newsUpTo), judged), nextDueAt };
}

/** Nothing is judged nor done in this cycle. While nothing is delivered, nothing counts as told. */
function hold(snapshot: Snapshot, because: string): Decided {
  const scene = new Scene(snapshot);
  const draft = new Draft(snapshot.now, snapshot.actions, snapshot.lately);
  if (because === "time-skipped") {
    draft.add([recordEvent("time.skipped", {}, "loop-was-late", { ms: snapshot.skippedMs })]);
  }
  return { ...close(scene, draft, because, scene.cursor, new Map()), nextDueAt: null };
}

/** The tick's own row, where it is worth one. */
function close(
  scene: Scene,
  draft: Draft,
  because: string,
  cursor: number,
  judged: ReadonlyMap<number, Judgement>,
): Omit<Decided, "nextDueAt"> {
  const { events, actions } = draft;
  const didWork = events.length > 0;
  if (didWork || isNewStretch(scene, because, cursor)) {
    const { reason } = scene.snapshot;
    draft.add([recordEvent("overseer.tick", {}, because, { reason, didWork, actions: actions.length, cursor })]);
  }
  return { events, actions, judged, didWork };
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

/** What holds this cycle back. */
function standstill({ frozen, safeMode, limits, skippedMs }: Snapshot): string | undefined {
  if (frozen) return "frozen";
  if (safeMode) return "safe-mode";
  if (!limits.enabled) return "switched-off";
  return skippedMs > 0 ? "time-skipped" : undefined;
}

/** The rules, each asked once, in this order; each sees what those before it have asked for. */
function reconcile(scene: Scene, draft: Draft): Pick<Decided, "judged" | "nextDueAt"> {
  const quotas = draft.take(watchQuotas(scene));
  const providers = draft.take(watchProviders(scene));
  const budgets = draft.take(watchBudgets(scene));
  const restoring = draft.take(watchDeaths(scene));
  draft.add(watchStarts(scene));
  const diskAt = draft.take(watchDisk(scene));
  const judged = new Map<number, Judgement>();
  const grounds = { quotas, providers, shared: findSharedSilence(scene) };
  const measures = new Measures(scene);
  for (const seen of scene.agents) {
    const judgement = judgeAgent(scene, draft, seen, grounds, measures.of(seen));
    judged.set(seen.attempt.attempt, judgement);
    draft.add(answerJudgement(scene, draft, { seen, budgets }, judgement));
  }
  const { watching } = scene.snapshot;
  for (const claim of scene.claims) if (!watching) draft.add(moveClaim(scene, draft, claim));
  const closed = new Map([...quotas, ...providers]);
  if (!watching) draft.add(putAside(scene, draft));
  const lookAgainAt = draft.take(dispatch(scene, draft, { closed, providers, budgets, restoring }));
  draft.add(tellOutcomes(scene));
  const untils = [...quotas.values(), ...providers.values()].map(({ until }) => until);
  const dues = [...untils, lookAgainAt ?? 0, restoring?.lookAt ?? 0, dateEndOfPatience(scene) ?? 0, diskAt ?? 0].filter(
    (at) => at > scene.now,
  );
  return { judged, nextDueAt: dues.length === 0 ? null : Math.min(...dues) };
}

/** Without what waits in the outbox for somebody or something that is no more. */
function dropStale(snapshot: Snapshot): Ruled<Snapshot> {
  if (snapshot.actions.length === 0) return { value: snapshot, steps: NO_STEPS };
  const scene = new Scene(snapshot);
  const moment = { now: snapshot.now, actor: "overseer" as const };
  const stale = new Set<string>();
  const steps: NewEvent[] = [];
  for (const action of scene.actions) {
    const why = action.status === "taken" ? undefined : reasonToDrop(scene, action);
    if (why === undefined) continue;
    stale.add(action.actionId);
    steps.push(dropEvent(action, NOT_WANTED, why, moment));
  }
  if (stale.size === 0) return { value: snapshot, steps };
  const actions = snapshot.actions.filter(({ actionId }) => !stale.has(actionId));
  return { value: { ...snapshot, actions }, steps };
}

/** With the nodes that only a person can help blocked, so that nothing else counts on them. */
function withBlocked(scene: Scene, blocked: ReadonlyMap<string, WorkNode>): Scene {
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
    if (!node || !isOpen(node) || node.status === "blocked") return "its node is not open for work";
    return undefined;
  }
  if (action.kind === "ask" && isMootForProvider(scene, action.payload.questionId)) return "its provider works again";
  if (action.kind === "diagnose" && action.payload.failure) {
    const place = { goalId: action.goalId ?? "", workNodeId: action.workNodeId ?? "" };
    return scene.isHeld(place) || scene.node(place)?.status !== "queued" ? "its work goes on without it" : undefined;
  }
  if (action.kind === "replan" || action.kind === "diagnose") {
    const from = scene.agent(action.payload.from);
    return from && from.attempt.assignmentId === action.assignmentId ? undefined : "its agent has ended";
  }
  const gone = action.attempt !== null && !scene.agent(action.attempt);
  return gone && TO_AGENTS.has(action.kind) ? "its agent has ended" : undefined;
}

/** What follows by itself comes first: nodes that are ready, parents that follow, goals that are reached (WORK-3, WORK-4). */
function settleGoals(snapshot: Snapshot): Ruled<Snapshot> {
  const byGoal = new Map<string, WorkNode[]>();
  for (const node of snapshot.nodes) {
    const list = byGoal.get(node.goalId);
    if (list) list.push(node);
    else byGoal.set(node.goalId, [node]);
  }
  const steps: NewEvent[] = [];
  const moved = new Map<string, GoalTree>();
  for (const goal of ensureSorted(snapshot.goals, (a, b) => byText(a.goalId, b.goalId))) {
    if (goal.status !== "active") continue;
    const tree: GoalTree = { goal, nodes: ensureSorted(byGoal.get(goal.goalId) ?? [], inPlan) };
    const events = settle(tree, { now: snapshot.now, actor: "overseer" });
    if (events.length === 0) continue;
    steps.push(...events);
    moved.set(
      goal.goalId,
      events.reduce((state, event) => advance(state, event, snapshot.now), tree),
    );
  }
  if (moved.size === 0) return { value: snapshot, steps };
  const value = {
    ...snapshot,
    goals: snapshot.goals.map((goal) => moved.get(goal.goalId)?.goal ?? goal),
    nodes: [
      ...snapshot.nodes.filter((node) => !moved.has(node.goalId)),
      ...[...moved.values()].flatMap((tree) => tree.nodes),
    ],
  };
  return { value, steps };
}

interface Looked {
  readonly seen: AgentSeen;
  readonly budgets: Closures;
}

/** What follows from how one agent is doing. */
function answerJudgement(scene: Scene, outbox: Outbox, looked: Looked, judgement: Judgement): readonly TickStep[] {
  const { seen } = looked;
  const { attempt } = seen;
  if (judgement.state === "dead") return bury(scene, outbox, seen, judgement.because);
  const recovery = scene.findRecovery(attempt);
  const assignment = scene.assignment(attempt.assignmentId);
  return (
    endUnwanted(scene, outbox, seen) ??
    followPause(scene, outbox, looked, recovery) ??
    (assignment ? follow(scene, outbox, { seen, assignment, recovery }, judgement) : NO_STEPS)
  );
}

/** How often an end that did not come about is asked for again. */
const ASK_AGAIN_MS = 3_600_000;

function bury(scene: Scene, outbox: Outbox, seen: AgentSeen, because: string): readonly TickStep[] {
  const reason = `It is dead: ${because.replaceAll("-", " ")}.`;
  return stop(scene, outbox, seen, because, { reason, cause: "died" });
}

function stop(
  scene: Scene,
  outbox: Outbox,
  { attempt }: AgentSeen,
  because: string,
  payload: { readonly reason: string; readonly cause: "asked" | "died"; readonly resume?: boolean },
): readonly TickStep[] {
  if (outbox.has("stop", attempt.attempt) || outbox.has("reassign", attempt.attempt)) return NO_STEPS;
  return [
    {
      ...aboutAttempt({ attempt }),
      actionId: `stop:${attempt.attempt}:${Math.floor(scene.now / ASK_AGAIN_MS)}`,
      kind: "stop",
      because,
      notBefore: scene.now,
      payload,
    },
  ];
}

/**
 * Agents whose work waits for a person take no place, but their processes do: beyond as many as may be at work, those
 * that wait longest are ended. Each continues where it was, by its session, when it is needed again. A worker of auto mode
 * is ended at once: its name is a place, and the next task gets it.
 */
function putAside(scene: Scene, outbox: Outbox): readonly TickStep[] {
  const waiting = scene.agents.filter((seen) => waitsForPerson(scene, outbox, seen));
  const most = scene.limits.fleet.maxConcurrent;
  const reason = "Its work waits for a person; it continues where it was when it is needed.";
  const workers = waiting.filter(({ attempt }) => isWorker(scene, attempt));
  const others = waiting.filter((seen) => !workers.includes(seen));
  return [...workers, ...others.slice(0, Math.max(0, others.length - most))].flatMap((seen) =>
    stop(scene, outbox, seen, "waits-for-a-person", { reason, cause: "asked", resume: true }),
  );
}

/** In nobody's way when it ends now: it is not in a turn, nothing is on its way to it, and nobody is at its screen. */
function waitsForPerson(scene: Scene, outbox: Outbox, { attempt, pulse, waiting }: AgentSeen): boolean {
  if (attempt.status !== "running" || attempt.stopRequested !== null || attempt.interactive || attempt.keep)
    return false;
  if (pulse?.inTurn !== false || waiting.queued > 0 || waiting.handed > 0) return false;
  if (outbox.expects(attempt.attempt)) return false;
  const node = scene.node(attempt);
  if (!node || !isOpen(node) || scene.goal(node.goalId)?.status !== "active") return false;
  return node.status === "blocked" || scene.claim(attempt)?.state === "landing";
}

/** GOAL-5: agents of a cancelled goal, or of a node that has ended, are stopped; their work is kept. */
function endUnwanted(scene: Scene, outbox: Outbox, seen: AgentSeen): readonly TickStep[] | undefined {
  const { attempt } = seen;
  if (attempt.stopRequested !== null) {
    // Whoever was to end it does not; then it is ended from outside.
    const late = hasPassed(attempt.stopRequested.at, scene.limitsFor(attempt).startingLimitMs, scene.now);
    if (!late) return NO_STEPS;
    const payload = { reason: "It did not stop when asked.", cause: "died" } as const;
    return stop(scene, outbox, seen, "stop-ignored", payload);
  }
  const goal = scene.goal(attempt.goalId);
  const node = scene.node(attempt);
  const why =
    goal?.status === "cancelled" ? "goal-cancelled" : node && !isOpen(node) ? `node-${node.status}` : undefined;
  if (!why) return undefined;
  return stop(scene, outbox, seen, why, { reason: `Its ${why.replace("-", " is ")}.`, cause: "asked" });
}

/** Pauses and resumes that follow from the goal, a budget or the ladder; undefined where other things may be due. */
function followPause(
  scene: Scene,
  outbox: Outbox,
  { seen, budgets }: Looked,
  recovery: Recovery | undefined,
): readonly TickStep[] | undefined {
  const { attempt } = seen;
  const paused = scene.goal(attempt.goalId)?.status === "paused";
  if (attempt.status === "running" && paused) {
    if (outbox.has("pause", attempt.attempt)) return NO_STEPS;
    return [
      {
        ...aboutAttempt(seen),
        actionId: `pause:${attempt.attempt}:goal:${attempt.updatedAt}`,
        kind: "pause",
        because: "goal-paused",
        notBefore: scene.now,
        payload: { now: false, reason: "Its goal is paused.", cause: "goal-paused" },
      },
    ];
  }
  if (attempt.status !== "paused") return undefined;
  if (paused || outbox.has("resume", attempt.attempt)) return NO_STEPS;
  const over = endOfPause(scene, seen, budgets, recovery);
  return over ? [resume(scene, seen, over)] : NO_STEPS;
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

function resume(scene: Scene, seen: AgentSeen, because: string): TickStep {
  const { attempt, updatedAt } = seen.attempt;
  return {
    ...aboutAttempt(seen),
    actionId: `resume:${attempt}:${updatedAt}`,
    kind: "resume",
    because,
    notBefore: scene.now,
    payload: { reason: RESUMED_TEXT, messageId: deriveId("m_", "resume", attempt, updatedAt) },
  };
}

interface AtWork {
  readonly seen: AgentSeen;
  readonly assignment: Assignment;
  readonly recovery: Recovery | undefined;
}

/** What a judgement means for the assignment: its status, and the next step where it is stuck. */
function follow(scene: Scene, outbox: Outbox, at: AtWork, judgement: Judgement): readonly TickStep[] {
  const { assignment } = at;
  // The same file written again and again with the same result is no progress, and must not give budgets back.
  const progress = judgement.state === "looping" ? undefined : noteProgress(scene, at);
  const recovery = progress?.value ?? at.recovery;
  const doubtless = recovery && recovery.doubt !== null && judgement.state !== "detecting" && !hasSigns(at.seen);
  const steps = [
    ...(progress?.steps ?? NO_STEPS),
    ...(doubtless
      ? [recordEvent("assignment.doubted", subject(assignment), "signs-are-gone", { key: "", signs: [] })]
      : NO_STEPS),
  ];
  const next = followJudgement(scene, outbox, { ...at, recovery }, judgement);
  return steps.length === 0 ? next : [...steps, ...next];
}

function followJudgement(scene: Scene, outbox: Outbox, at: AtWork, judgement: Judgement): readonly TickStep[] {
  const { seen, assignment } = at;
  const recovery = () => at.recovery ?? scene.recovery(seen.attempt);
  if (isNewEmergency(scene, seen, at.recovery)) {
    // It was told to stop, keep what is sound and report; what becomes of it is for a person to say (ANOM-6).
    return escalate(scene, outbox, assignment, recovery(), PACE_EMERGENCY);
  }
  const { blocker } = seen.attempt;
  if (blocker && isUnasked(scene, seen, blocker, at.recovery)) {
    return askAboutBlocker(scene, outbox, { assignment, recovery: recovery(), fact: blocker.fact });
  }
  // One that waits for a person, a pause or a provider is left alone; a claim stands on its commit.
  const isBroken = seen.attempt.brokenWorktree !== undefined && isSupervised(seen.attempt);
  if (isBroken && !judgement.state.startsWith("waiting") && !scene.claim(seen.attempt)) {
    return leaveBroken(scene, outbox, { seen, assignment, recovery: recovery() });
  }
  switch (judgement.state) {
    case "detecting": {
      const { key, signs, because } = judgement;
      if (at.recovery?.doubt?.key === key) return NO_STEPS;
      return [recordEvent("assignment.doubted", subject(assignment), because, { key, signs })];
    }
    case "silent":
    case "looping": {
      const { because: cause } = judgement;
      if (!mayMove(ASSIGNMENT_MOVES, assignment.status, "stalled")) {
        return climb(scene, outbox, { seen, assignment, recovery: recovery(), cause });
      }
      const stalled: Assignment = { ...assignment, status: "stalled" };
      return [
        recordEvent("assignment.stalled", subject(assignment), cause, { reason: cause }),
        ...climb(scene, outbox, { seen, assignment: stalled, recovery: recovery(), cause }),
      ];
    }
    case "waiting-human": {
      if (judgement.because === ASKED_IN_WORDS && seen.fingerprint?.class === "waiting-on-human") {
        return passOn(scene, outbox, { assignment, recovery: recovery(), words: seen.fingerprint.words });
      }
      const pulse = seen.pulse;
      if (pulse?.inTurn && isSupervised(seen.attempt) && isLooping(pulse, scene.limits.loopRepeats)) {
        return parkWhileAsked(scene, outbox, { seen, assignment, recovery: recovery() });
      }
      if (!mayMove(ASSIGNMENT_MOVES, assignment.status, "blocked")) return NO_STEPS;
      const blocked = { on: "human", detail: judgement.because.replaceAll("-", " ") } as const;
      return [recordEvent("assignment.blocked", subject(assignment), judgement.because, { blocked })];
    }
    case "working":
    case "tool-running":
    case "idle": {
      const active = noteActive(scene.now, at, judgement);
      if (judgement.state === "idle" || assignment.expectedNextUpdateAt === null) return active;
      if (isSpared(seen.attempt)) return active;
      return [...active, ...requestStatus(scene, { ...at, recovery: recovery() })];
    }
    default:
      return NO_STEPS;
  }
}

/** Nobody was asked yet since it came to the last of its PACE levels, and nobody has answered since. */
function isNewEmergency(scene: Scene, seen: AgentSeen, recovery: Recovery | undefined): boolean {
  const { attempt } = seen;
  return attempt.pace?.level === "emergency" && isUnasked(scene, seen, attempt.pace, recovery);
}

/**
 * Nobody was asked about it since then, and nobody has answered: by the order of the log. Where an older program wrote it, by
 * its time; what lies ahead was written before the clock was set back, and so before what does not.
 */
function isUnasked(
  { now }: Scene,
  { attempt }: AgentSeen,
  { at: since, seq }: { readonly at: number; readonly seq?: number },
  recovery: Recovery | undefined,
): boolean {
  if (attempt.status !== "running") return false;
  if (seq !== undefined && recovery?.askedSeq !== undefined) return recovery.askedSeq < seq;
  const isAhead = (at: number) => at > now + SKEW_MS;
  const isEarlier = (at: number | null | undefined) =>
    typeof at !== "number" || (isAhead(at) === isAhead(since) ? at < since : isAhead(at));
  return isEarlier(recovery?.askedAt) && isEarlier(recovery?.answeredAt);
}

/**
 * Active as soon as the agent was seen to do something after what it was last told; where it stalled, after that: a thaw
 * or a new daemon makes a silence young again, and is nothing that the agent did.
 */
function noteActive(now: number, { seen, assignment }: AtWork, { state, because }: Judgement): readonly TickStep[] {
  if (assignment.status === "active" || !mayMove(ASSIGNMENT_MOVES, assignment.status, "active")) return NO_STEPS;
  const { status, updatedAt, lastDispatchAt, createdAt } = assignment;
  // What lies ahead was written before the clock was set back. A tool that computes again is seen by its processes.
  const hasStalled = status === "stalled" && updatedAt <= now && state !== "tool-running";
  const since = hasStalled ? updatedAt : (lastDispatchAt ?? createdAt);
  if ((lastActivityAt(seen) ?? 0) <= since) return NO_STEPS;
  return [recordEvent("assignment.active", subject(assignment), because, { reason: because })];
}

/** Budgets come back with evidence of progress after the last step, and with nothing else. */
function noteProgress(scene: Scene, { seen, assignment, recovery }: AtWork): Ruled<Recovery> | undefined {
  if (!recovery || (recovery.level === 0 && recovery.restarts === 0)) return undefined;
  const progress = latestProgress(seen);
  const since = Math.max(recovery.lastStepAt ?? 0, recovery.progressAt ?? 0);
  if (!progress || progress.at <= since) return undefined;
  const { source, at } = progress;
  const because = "evidence-of-progress";
  return {
    value: resetLadder(recovery, scene.now),
    steps: [recordEvent("assignment.progressed", subject(assignment), because, { source, seenAt: at })],
  };
}

/**
 * A report of done is checked; what is checked lands, where no person's word is needed; that one is needed is said once.
 * What was carried out or given up and has left the claim as it was leads nowhere by itself: a person hears of it.
 */
function moveClaim(scene: Scene, outbox: Outbox, claim: OpenClaim): readonly TickStep[] {
  const node = scene.node(claim);
  if (!node || !isOpen(node) || scene.goal(node.goalId)?.status !== "active") return NO_STEPS;
  if (claim.reviewDue) return [sayReviewDue(node, claim)];
  const kind = claim.state === "claimed" ? "check" : claim.state === "checked" && claim.mayLand ? "land" : undefined;
  if (!kind || outbox.hasForNode(kind, node)) return NO_STEPS;
  const request: ActionRequest = {
    ...{ goalId: claim.goalId, nodeId: claim.workNodeId, assignmentId: claim.assignmentId },
    actionId: nameClaimAction(kind, claim),
    kind,
    because: kind === "check" ? "reported-done" : "checked",
    notBefore: scene.now,
    payload: { commit: claim.commit },
  };
  if (!scene.wasCarriedOut(request.actionId)) return [request];
  return [blockOnNothing(node, claim, kind, scene.whyGivenUp(request.actionId))];
}

/** What was done about it while a person was to review it was no try to land it. */
function nameClaimAction(kind: "check" | "land", claim: OpenClaim): string {
  const name = `${kind}:${claim.assignmentId}:${claim.commit ?? "no-commit"}:${claim.turn ?? 1}:${claim.claimedAt}`;
  return kind === "land" && claim.reviewedSince !== undefined ? `${name}:${claim.reviewedSince}` : name;
}

/** Said once, and not again while it lasts: whoever reviews is told from here on. */
function sayReviewDue(node: WorkNode, claim: OpenClaim): TickStep {
  const data = {
    commit: claim.commit ?? "",
    for: "review",
    detail: claim.reviewDetail ?? "waiting for review",
    files: [],
  } as const;
  return recordEvent("landing.waiting", aboutClaim(claim, node), "review-due", data);
}

/** The claim stays: with the block gone, it has another turn, and the same is tried again. */
function blockOnNothing(
  node: WorkNode,
  claim: OpenClaim,
  kind: "check" | "land",
  problem: string | undefined,
): TickStep {
  const label = nodeKey(node.goalId, node.workNodeId);
  const outcome =
    kind === "check"
      ? "its checks were tried and have come to no verdict"
      : "its landing was tried and it neither landed nor was sent back";
  const detail = problem === undefined ? outcome : `${outcome}: ${problem.trim().replace(/\.+$/, "")}`;
  const needs = `see 'overseer why ${label}', then 'overseer work unblock ${label}' to try it again`;
  const blocked = { kind: "environment", detail, needs } as const;
  return recordEvent("work.blocked", aboutClaim(claim, node), `${kind}-led-nowhere`, { blocked });
}

function aboutClaim({ goalId, workNodeId: nodeId, assignmentId }: OpenClaim, { claim }: WorkNode) {
  return { goalId, nodeId, assignmentId, agent: claim?.agent, attempt: claim?.attempt };
}

function aboutAttempt({ attempt }: { readonly attempt: AgentSeen["attempt"] }) {
  const { goalId, workNodeId, assignmentId, agent, attempt: number } = attempt;
  return { goalId, nodeId: workNodeId, assignmentId, agent, attempt: number };
}
