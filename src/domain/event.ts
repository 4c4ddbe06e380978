/**
 * Everything that ever happened, as one union. The log is the truth and every table of the domain is a fold of it,
 * so an event says enough to be folded (data), to be found (ids) and to be understood (actor, because).
 * Events outlive code: a type is never renamed or re-used, and a changed payload gets a new version and an upcast
 * (upcast.ts).
 */
import type { Actor } from "./actor.ts";
import type {
  AssignmentTarget,
  BlockedAssignment,
  DispatchMode,
  DispatchResult,
  RecoveryPolicy,
} from "./assignment.ts";
import type { AttemptEnd, AttemptPlan, ProcessMark, SlingStep, StepState } from "./attempt.ts";
import type { CrystallizationBody, Evidence } from "./crystallization.ts";
import type { GoalDefinition, Origin, PlanRevision, RepoSnapshot } from "./goal.ts";
import type { Letter } from "./message.ts";
import type { BlockedReason, NodeDefinition } from "./work.ts";

interface Reason {
  readonly reason: string | null;
}

/** The catalogue: what each type of event carries. docs/events.md is made from this list, by test. */
export interface EventData {
  "goal.created": GoalDefinition & { readonly origin: Origin; readonly repo: RepoSnapshot };
  "goal.updated": { readonly changes: Partial<GoalDefinition> };
  "goal.paused": Reason;
  "goal.resumed": Reason;
  "goal.completed": Reason;
  "goal.cancelled": Reason;
  "goal.archived": Reason;

  "plan.accepted": Omit<PlanRevision, "at">;

  "work.added": NodeDefinition & { readonly revision: number };
  "work.redefined": { readonly definition: NodeDefinition; readonly revision: number };
  "work.queued": Reason;
  "work.started": Reason;
  "work.requeued": Reason;
  "work.blocked": { readonly blocked: BlockedReason };
  "work.unblocked": Reason;
  "work.done": {
    readonly summary: string;
    readonly evidence: Evidence;
    readonly crystallizationId: string | null;
    /** Nothing of ours checked it; it stands on somebody's word. */
    readonly unverified: boolean;
  };
  "work.cancelled": Reason;
  "work.overridden": { readonly to: "done" | "cancelled"; readonly reason: string };

  "assignment.created": {
    readonly target: AssignmentTarget;
    readonly recoveryPolicy: RecoveryPolicy;
    readonly idleAfterMs: number;
  };
  "assignment.dispatched": {
    readonly dispatchId: string;
    readonly mode: DispatchMode;
    readonly instruction: string;
    readonly instructionHash: string;
    readonly expectedNextUpdateAt: number | null;
  };
  "assignment.delivered": {
    readonly dispatchId: string;
    readonly result: DispatchResult;
    readonly runId: string | null;
    readonly notes: string;
  };
  "assignment.active": Reason;
  "assignment.stalled": Reason;
  "assignment.blocked": { readonly blocked: BlockedAssignment };
  "assignment.done": Reason;
  "assignment.cancelled": Reason;

  "agent.slung": AttemptPlan;
  "agent.step": { readonly step: SlingStep; readonly state: StepState; readonly terminal?: unknown };
  "agent.starting": Record<string, never>;
  "agent.started": { readonly runner: ProcessMark };
  "agent.leg": { readonly process: ProcessMark; readonly session: string };
  "agent.paused": { readonly now: boolean; readonly reason: string | null };
  "agent.resumed": Reason;
  "agent.stop_requested": Reason;
  "agent.ended": AttemptEnd;
  "agent.fenced": { readonly what: string };
  /** It has nothing to do until one of these speaks; `on` is empty when anybody may. */
  "agent.waiting": { readonly on: readonly string[] };
  "agent.woken": { readonly by: string };
  /** It was told that more messages wait than were put before it. */
  "agent.announced": { readonly left: number };

  /** The user's checkout was another after an agent's turn than before it; by whose hand is not known. */
  "checkout.changed": {
    readonly what: readonly ("head" | "index" | "files")[];
    readonly before: string;
    readonly after: string;
  };

  "message.queued": Letter;
  "message.handed": { readonly messageId: string; readonly handedAs: string };
  "message.seen": { readonly messageId: string };
  "message.requeued": { readonly messageId: string; readonly reason: string };
  /** It goes to the agent and attempt that the event is about, who went on with the work. */
  "message.moved": { readonly messageId: string };
  "message.expired": { readonly messageId: string; readonly reason: string };
  "message.dead_lettered": { readonly messageId: string; readonly reason: string };

  "crystallization.recorded": CrystallizationBody & { readonly crystallizationId: string };

  "question.asked": { readonly questionId: string; readonly text: string; readonly options: readonly string[] };
  "question.answered": { readonly questionId: string; readonly answer: string };
  "question.withdrawn": { readonly questionId: string; readonly reason: string };

  "overseer.initialised": { readonly version: string; readonly targetBranch: string | null };
  "overseer.store.corrupt": { readonly movedTo: readonly string[]; readonly problem: string };
  "overseer.store.recovered": { readonly events: number; readonly lost: number; readonly from: string };
  "overseer.store.imported": { readonly events: number };
}

export type EventType = keyof EventData;

/** What an event is about; the columns by which the log is searched. */
export interface EventSubject {
  readonly goalId?: string | undefined;
  /** The node's id inside its goal, e.g. `T1.1`. */
  readonly nodeId?: string | undefined;
  readonly assignmentId?: string | undefined;
  readonly agent?: string | undefined;
  readonly attempt?: number | undefined;
}

type NewEventOf<T extends EventType> = EventSubject & {
  readonly type: T;
  readonly actor: Actor;
  /** The reason as a phrase that can be searched for in src/domain, e.g. `dependencies-met`. */
  readonly because: string;
  readonly data: EventData[T];
};

/** What a rule returns: an event that has not been given its place in the log yet. */
export type NewEvent = { [T in EventType]: NewEventOf<T> }[EventType];

/** An event in the log. */
export type EventOf<T extends EventType = EventType> = {
  [K in T]: NewEventOf<K> & {
    /** Its place in the log: no gaps, no repeats. */
    readonly seq: number;
    /** Wall clock, ms. */
    readonly at: number;
    readonly v: number;
  };
}[T];

/** Every type, in the order of the catalogue; the compiler refuses a list that misses one. */
export const EVENT_TYPES = Object.keys({
  "goal.created": 0,
  "goal.updated": 0,
  "goal.paused": 0,
  "goal.resumed": 0,
  "goal.completed": 0,
  "goal.cancelled": 0,
  "goal.archived": 0,
  "plan.accepted": 0,
  "work.added": 0,
  "work.redefined": 0,
  "work.queued": 0,
  "work.started": 0,
  "work.requeued": 0,
  "work.blocked": 0,
  "work.unblocked": 0,
  "work.done": 0,
  "work.cancelled": 0,
  "work.overridden": 0,
  "assignment.created": 0,
  "assignment.dispatched": 0,
  "assignment.delivered": 0,
  "assignment.active": 0,
  "assignment.stalled": 0,
  "assignment.blocked": 0,
  "assignment.done": 0,
  "assignment.cancelled": 0,
  "agent.slung": 0,
  "agent.step": 0,
  "agent.starting": 0,
  "agent.started": 0,
  "agent.leg": 0,
  "agent.paused": 0,
  "agent.resumed": 0,
  "agent.stop_requested": 0,
  "agent.ended": 0,
  "agent.fenced": 0,
  "agent.waiting": 0,
  "agent.woken": 0,
  "agent.announced": 0,
  "checkout.changed": 0,
  "message.queued": 0,
  "message.handed": 0,
  "message.seen": 0,
  "message.requeued": 0,
  "message.moved": 0,
  "message.expired": 0,
  "message.dead_lettered": 0,
  "crystallization.recorded": 0,
  "question.asked": 0,
  "question.answered": 0,
  "question.withdrawn": 0,
  "overseer.initialised": 0,
  "overseer.store.corrupt": 0,
  "overseer.store.recovered": 0,
  "overseer.store.imported": 0,
} satisfies Record<EventType, 0>) as readonly EventType[];
