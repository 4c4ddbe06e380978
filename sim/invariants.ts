/**
 * What must hold, whatever happens to whom. Each invariant is a sentence that names itself; it is looked at after every
 * step, on what was written in it and on what is, and compared with the truth that agents keep about themselves. The
 * last ones hold only at the end, when the faults have stopped and time enough has passed.
 */
import type { Config } from "#config/schema.ts";
import { overlap } from "#domain/core/scope.ts";
import type { Action } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { findSession, isLiving } from "#domain/model/attempt.ts";
import type { EventOf } from "#domain/model/event.ts";
import { isDispatch, mostBrokenWorktrees, NOT_WANTED, WORKTREE_BROKEN } from "#domain/model/ladder-state.ts";
import type { Question } from "#domain/model/question.ts";
import type { OwnSupervision } from "#domain/model/supervision.ts";
import { isOpen, nodeKey, readSplit, type WorkNode } from "#domain/model/work.ts";
import { findCycle } from "#domain/plans/plan.ts";
import { openActions, presentConditions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import type { Query } from "#store/query.ts";
import { docs } from "#store/query.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import { goalsForTick, nodesForTick } from "#store/tick.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import type { VirtualAgent } from "./agents.ts";
import { AUTO_INVARIANTS, AutoInvariants } from "./auto-invariants.ts";
import type { Machine } from "./machine.ts";
import type { PoolPlan } from "./pool.ts";
import { SYNC_INVARIANTS, SyncInvariants } from "./sync-invariants.ts";
import { WATCH_INVARIANTS, WatchInvariants } from "./watch-invariants.ts";

/** Their names, each a sentence. */
export const INVARIANTS = [
  "no two agents live on one node",
  "no two agents have files that overlap",
  "a session is never in two living attempts",
  "nothing is dispatched twice under one id",
  "nothing is dispatched for a goal that is not active",
  "nothing is done that was not asked for, and nothing twice",
  "nobody is told the same message twice",
  "what was decided to be said is on its way",
  "nothing is killed without proof or a word",
  "a healthy agent is not nudged",
  "nothing is said to one that is exempt from nudges, and nothing done to one that is not supervised",
  "one that waits for a person, a quota or its provider is not stalled",
  "a failing provider is one condition, and a person is asked about it once",
  "what only a person can solve is asked of one, once",
  "what is in the way of every start is one condition, asked about once, and no task is given up for it",
  "a disk that is nearly full starts nobody, and a person is asked about it once, until there is room",
  "nudges, restarts and questions are bounded",
  "what we write is no sign of life",
  "an attempt that has ended changes nothing",
  "a parent is done when its children are, and not before",
  "no id of a node is used twice",
  "what has ended stays as it is",
  "no plan goes in a circle",
  "work is split no oftener than it may be",
  "what waited for work that was split waits for all of its parts",
  "every event is of its own time",
  "every open node has a next actor, and a person who is one has been told",
  "nobody is to be started where somebody is at work",
  "those that died together are one loss, and come back in stages",
  "an agent that is started again keeps its name",
  "nobody is started in a worktree that is broken",
  "whoever is asked can answer",
  "committed work is never lost",
  "whoever asked hears every outcome once",
  "nothing is left behind",
  "the log alone makes the tables",
  "nothing is started, checked or landed while the settings are missing",
  ...AUTO_INVARIANTS,
  ...SYNC_INVARIANTS,
  ...WATCH_INVARIANTS,
  "everything comes to its end",
] as const;
const NEEDS_SETTINGS: ReadonlySet<string> = new Set(["agent.slung", "check.started", "merge.landed"]);
/** What is said to an agent because of how it is judged, and what is done to it or its work. */
const SPEAKS: ReadonlySet<string> = new Set([
  "assignment.nudged",
  "assignment.resent",
  "assignment.status_requested",
] satisfies EventOf["type"][]);
const TOUCHES: ReadonlySet<string> = new Set([
  "assignment.stalled",
  "assignment.replanning",
  "assignment.reassigning",
  "assignment.parked",
] satisfies EventOf["type"][]);
export type Invariant = (typeof INVARIANTS)[number];

export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
  readonly step: number;
}

/** A node may be without anybody for so many steps: a lease has to lapse, a backoff to pass. */
const LONELY_STEPS = 40;
const MOST_QUESTIONS = 12;
/** So often a start may fail before a person is told. */
const FAILURES_ENOUGH = 3;

/** A disk may be short for so many steps before a person is asked: ticks are lost, and held back while time was skipped. */
const UNASKED_STEPS = 25;

interface Counted {
  nudges: number;
  restarts: number;
  reassigned: number;
}

/** Of the memory store alone, at every step; nobody else wants them all. */
const EVERY_NODE: Query<WorkNode[]> = {
  sql: "select doc from nodes",
  args: [],
  read: (rows) => docs<WorkNode>(rows),
  memory: ({ entities }) => [...entities.node.values()],
};

export class Invariants {
  readonly violations: Violation[] = [];
  /** What was written in the step that was looked at last. */
  taken: readonly EventOf[] = [];
  events = 0;
  private step = 0;
  private earliest: number;
  private signalsSeen = 0;
  private deferred = false;
  private frozen = false;
  private jumpedAt = 0;
  private watcherSince = 0;
  private readonly goalStatus = new Map<string, string>();
  private readonly dispatched = new Set<string>();
  /** Dispatches that the outbox has, or had. */
  private readonly wanted = new Set<string>();
  private readonly dispatchOf = new Map<string, string>();
  private readonly ended = new Set<string>();
  private readonly decided = new Map<string, EventOf<"action.decided">>();
  private readonly messages = new Set<string>();
  private readonly counted = new Map<string, Counted>();
  /** How often each got a fresh worktree in place of a broken one, since a person last spoke. */
  private readonly brokenPlaces = new Map<string, number>();
  private readonly questions = new Map<string, number>();
  private readonly lonely = new Map<string, number>();
  private readonly runners = new Map<number, number>();
  private readonly outcomes: EventOf[] = [];
  private readonly stopAsked = new Set<number>();
  private readonly overAttempts = new Set<number>();
  private readonly started = new Set<number>();
  /** Every node there ever was, and what those that have ended were like then. */
  private readonly known = new Set<string>();
  private readonly over = new Map<string, string>();
  /** From what whoever works on a node is exempt, as its plan says. */
  private readonly exempt = new Map<string, OwnSupervision>();
  /** Goals whose plan has changed in this step. */
  private readonly revised = new Set<string>();
  /** What was split of each piece of work, its parts included. */
  private readonly splits = new Map<string, Set<string>>();
  /** Attempts that died together with others, each counted once. */
  private readonly diedTogether = new Set<number>();
  /** The nodes that may have an agent again while a fleet is being restored; undefined when none is. */
  private comingBack: Set<string> | undefined;
  /** How often the first of them was tried. */
  private probes = 0;
  /** What a person is asked about a failing provider, by account, until it is answered or works again. */
  private readonly askedOfProvider = new Map<string, string>();
  private readonly failingProviders = new Set<string>();
  /** What stands in the way of an agent on a node that only a person can solve, and whether one was asked about it. */
  private readonly blocks = new Map<string, { readonly since: number; asked: boolean }>();
  /** What is in the way of every start, by cause, with what a person is asked about it until it is answered. */
  private readonly failingStarts = new Map<string, string | null>();
  /** Which cause a question is about, also when it has ended. */
  private readonly askedOfStart = new Map<string, string>();
  /** What was written last when the disk became short; null while it has room. */
  private diskShortAfter: number | null = null;
  /** The question about it until there is room again, and whether a person was asked it. */
  private askedOfDisk: { readonly questionId: string; asked: boolean } | null = null;
  /** For how many steps it is short, or has room again, without what has to follow. */
  private diskSteps = 0;
  private lastSeq = 0;
  /** Starts that last failed for a reason that is none of their tasks'. */
  private readonly notOfTask = new Set<string>();
  /** Of attempts that never came up: whatever was made for them was taken back. */
  private readonly worktrees = new Map<number, string>();
  private readonly names = new Map<number, string>();
  readonly auto: AutoInvariants;
  private readonly sync: SyncInvariants;
  readonly watch: WatchInvariants;

  constructor(
    private readonly machine: Machine,
    private readonly agents: ReadonlyMap<number, VirtualAgent>,
    private readonly config: Config,
    pool: PoolPlan | null = null,
  ) {
    this.earliest = machine.clock.now();
    this.auto = new AutoInvariants(machine, pool, (invariant, detail) => this.reportViolation(invariant, detail));
    this.sync = new SyncInvariants(config.sync, (invariant, detail) => this.reportViolation(invariant, detail));
    this.watch = new WatchInvariants(machine, agents, config, (invariant, detail) =>
      this.reportViolation(invariant, detail),
    );
  }

  /** A runner came to be. */
  noteRunner(attempt: number, process: ProcessIdentity): void {
    this.runners.set(process.pid, attempt);
  }

  /** The wall clock was set: whatever is written from here on is of the new time. */
  noteClockJump(): void {
    this.jumpedAt = this.machine.clock.monotonic();
    this.earliest = Math.min(this.earliest, this.machine.clock.now());
  }

  /** The disk is short from here on, or has room again. */
  noteDisk(): void {
    const { isDiskShort, fresh } = this.machine;
    if (isDiskShort === (this.diskShortAfter !== null)) return;
    this.diskShortAfter = isDiskShort ? (fresh.at(-1)?.seq ?? this.lastSeq) : null;
    this.diskSteps = 0;
  }

  /** A process of Overseer's began: it knows nothing of what it has not seen. */
  noteWatcherStart(): void {
    this.watcherSince = this.machine.clock.monotonic();
  }

  /** The clock was set while nobody watched: whoever begins then has only that clock to go by. */
  private isMisled(lastActAt: number): boolean {
    return this.jumpedAt >= lastActAt && this.watcherSince >= this.jumpedAt;
  }

  /** Somebody whose attempt had ended has spoken, and was believed. */
  reportBelievedTooLate(attempt: number): void {
    this.reportViolation(
      "an attempt that has ended changes nothing",
      `a report of #${attempt} was taken after its end`,
    );
  }

  reportUnanswerable(questionId: string, why: string): void {
    this.reportViolation("whoever is asked can answer", `${questionId}: ${why}`);
  }

  /** Nobody here chooses a name by hand, so nobody may have taken it meanwhile. */
  private lookAtName(before: number, name: string, attempt: number): void {
    const known = this.names.get(before);
    // A worker's name is its place: whoever has that place has the name.
    if (known === name || (known !== undefined && this.auto.isWorker(known) && this.auto.isWorker(name))) return;
    this.reportViolation(
      "an agent that is started again keeps its name",
      `${known}#${before} continues as ${name}#${attempt}`,
    );
  }

  isAttemptOver(attempt: number): boolean {
    return this.overAttempts.has(attempt);
  }

  async look(step: number): Promise<void> {
    this.step = step;
    this.taken = this.machine.fresh;
    this.machine.fresh = [];
    this.events += this.taken.length;
    this.lastSeq = this.taken.at(-1)?.seq ?? this.lastSeq;
    this.lookAtSignals();
    for (const event of this.taken) this.lookAtEvent(event);
    this.watch.look(this.taken);
    this.lookAtPairs();
    await this.lookAtState();
    this.earliest = this.machine.clock.now();
  }

  private reportViolation(invariant: Invariant, detail: string): void {
    this.violations.push({ invariant, detail, step: this.step });
  }

  private lookAtEvent(event: EventOf): void {
    const now = this.machine.clock.now();
    if (event.at > now || event.at < this.earliest) {
      this.reportViolation(
        "every event is of its own time",
        `#${event.seq} ${event.type} is of ${event.at}, and it is ${now}`,
      );
    }
    const node = nodeKey(event.goalId ?? "", event.nodeId ?? "");
    if (this.machine.hold !== null && NEEDS_SETTINGS.has(event.type)) {
      this.reportViolation(
        "nothing is started, checked or landed while the settings are missing",
        `#${event.seq} ${event.type}`,
      );
    }
    this.auto.lookAtEvent(event);
    this.sync.lookAtEvent(event);
    this.watch.lookAtEvent(event);
    this.lookAtExempt(event, node);
    switch (event.type) {
      case "goal.created":
        this.goalStatus.set(event.goalId ?? "", "active");
        return;
      case "goal.paused":
      case "goal.cancelled":
      case "goal.completed":
      case "goal.archived":
        this.goalStatus.set(event.goalId ?? "", event.type.slice("goal.".length));
        if (event.type === "goal.completed" || event.type === "goal.cancelled") this.outcomes.push(event);
        return;
      case "plan.accepted":
        this.revised.add(event.goalId ?? "");
        return;
      case "work.added":
        if (event.data.hints.supervision) this.exempt.set(node, event.data.hints.supervision);
        this.lookAtAdded(event, node);
        return;
      case "work.done":
        if (event.nodeId?.startsWith("T") && !this.auto.isOfPool(event.goalId)) this.outcomes.push(event);
        return;
      case "goal.resumed":
        this.goalStatus.set(event.goalId ?? "", "active");
        return;
      case "dispatch.deferred":
      case "dispatch.resumed":
        // While a quota, a cap or a mass death holds everything back, that is what is next.
        this.deferred = event.type === "dispatch.deferred";
        return;
      case "agent.slung":
        if (this.goalStatus.get(event.goalId ?? "") !== "active") {
          this.reportViolation(
            "nothing is dispatched for a goal that is not active",
            `${node} to ${event.agent}#${event.attempt}`,
          );
        }
        if (this.diskShortAfter !== null && event.seq > this.diskShortAfter)
          this.reportDisk(`#${event.seq} ${event.agent}#${event.attempt} is started on a full disk`);
        if (this.machine.git.isBroken(event.data.worktree)) {
          const detail = `${event.agent}#${event.attempt} in ${event.data.worktree}`;
          this.reportViolation("nobody is started in a worktree that is broken", detail);
        }
        if (event.data.continues === undefined) this.worktrees.set(event.attempt ?? 0, event.data.worktree);
        else this.lookAtName(event.data.continues, event.agent ?? "", event.attempt ?? 0);
        this.names.set(event.attempt ?? 0, event.agent ?? "");
        return;
      case "agent.started":
        this.started.add(event.attempt ?? 0);
        this.lookAtStart(this.dispatchOf.get(event.assignmentId ?? ""), node);
        return;
      case "agent.stop_requested":
        this.stopAsked.add(event.attempt ?? 0);
        return;
      case "agent.ended":
        this.overAttempts.add(event.attempt ?? 0);
        // What ended as it was meant to is told by the end of its work.
        if (event.data.cause !== "finished" && event.data.cause !== "stopped" && !this.auto.isOfPool(event.goalId))
          this.outcomes.push(event);
        if (event.data.cause !== "failed_to_start") this.worktrees.delete(event.attempt ?? 0);
        return;
      case "assignment.dispatched":
        if (!this.wanted.has(event.data.dispatchId)) {
          this.reportViolation(
            "nothing is done that was not asked for, and nothing twice",
            `${event.data.dispatchId}: ${node}`,
          );
        }
        this.dispatchOf.set(event.assignmentId ?? "", event.data.dispatchId);
        return;
      case "action.decided":
        this.decided.set(event.data.actionId, event);
        if ("dispatchId" in event.data.payload) this.wanted.add(event.data.payload.dispatchId ?? "");
        if (event.data.kind === "spawn" || event.data.kind === "restart") this.lookAtComeback(event.data.kind, node);
        return;
      case "fleet.frozen":
      case "fleet.thawed":
        // In a frozen fleet the person who froze it is next.
        this.frozen = event.type === "fleet.frozen";
        return;
      case "fleet.mass_death":
        this.lookAtMassDeath(event.data.attempts);
        return;
      case "fleet.restoring":
        if (event.data.stage === 1) this.probes += 1;
        for (const released of event.data.nodes) this.comingBack?.add(released);
        return;
      case "fleet.restored":
        this.comingBack = undefined;
        return;
      case "action.failed":
        if (event.data.cause === undefined) this.notOfTask.delete(event.data.actionId);
        else this.notOfTask.add(event.data.actionId);
        return;
      case "action.done":
      case "action.dropped":
        this.lookAtActionsEnd(event.data.actionId);
        if (event.type === "action.dropped") this.lookAtGivenUp(event, node);
        return;
      case "dispatch.failing":
      case "dispatch.works":
        this.lookAtFailingStarts(event);
        return;
      case "disk.short":
        if (this.askedOfDisk) this.reportDisk(`${this.askedOfDisk.questionId}, and ${event.data.questionId}`);
        this.askedOfDisk = { questionId: event.data.questionId, asked: false };
        return;
      case "disk.enough":
        this.askedOfDisk = null;
        return;
      case "agent.blocked":
        if (event.data.what === null) this.blocks.delete(node);
        else this.blocks.set(node, { since: event.seq, asked: false });
        return;
      case "assignment.escalated":
        if (event.because === "needs-a-person") this.lookAtBlock(node);
        return;
      case "message.queued":
        this.lookAtMessage(event);
        return;
      case "assignment.nudged":
        this.lookAtNudge(event, node);
        return;
      case "assignment.stalled":
        this.lookAtStall(event.attempt, event.agent, node, event.type);
        return;
      case "assignment.restarting":
        // Those that died together are counted by their deaths, each once.
        if (event.data.cause !== "mass-death") this.count(node, "restarts", this.config.recovery.restarts + 1);
        return;
      case "assignment.reassigning":
        if (event.data.cause === WORKTREE_BROKEN) {
          this.lookAtBroken(node);
          return;
        }
        this.lookAtStall(event.attempt, event.agent, node, event.type);
        this.count(node, "reassigned", this.config.recovery.steps.freshAgents);
        return;
      case "assignment.resent":
      case "assignment.parked":
        this.lookAtStall(event.attempt, event.agent, node, event.type);
        return;
      case "work.unblocked":
        this.brokenPlaces.delete(node);
        return;
      case "assignment.progressed":
      case "question.answered":
        if (event.type === "question.answered") this.brokenPlaces.delete(node);
        for (const key of this.counted.keys()) if (key.startsWith(node)) this.counted.delete(key);
        return;
      case "provider.failed":
      case "provider.probing":
      case "provider.restored":
        this.lookAtProvider(event);
        return;
      case "question.asked": {
        if (event.nodeId === undefined) return; // about a provider: looked at there
        const asked = (this.questions.get(node) ?? 0) + 1;
        this.questions.set(node, asked);
        if (asked > MOST_QUESTIONS)
          this.reportViolation("nudges, restarts and questions are bounded", `${asked} questions about ${node}`);
        return;
      }
      default:
        return;
    }
  }

  /** One that never came up did not get it: the same dispatch may be tried again, but it reaches one agent. */
  private lookAtStart(dispatchId: string | undefined, node: string): void {
    if (dispatchId === undefined) return;
    if (this.dispatched.has(dispatchId))
      this.reportViolation("nothing is dispatched twice under one id", `${dispatchId} for ${node}`);
    this.dispatched.add(dispatchId);
  }

  private lookAtMassDeath(attempts: readonly number[]): void {
    if (this.comingBack === undefined) this.probes = 0;
    this.comingBack = new Set();
    for (const attempt of attempts) {
      if (this.diedTogether.has(attempt)) {
        this.reportViolation(
          "those that died together are one loss, and come back in stages",
          `the death of #${attempt} counts twice`,
        );
      }
      this.diedTogether.add(attempt);
    }
  }

  private lookAtComeback(kind: string, node: string): void {
    if (this.comingBack === undefined || this.comingBack.has(node)) return;
    this.reportViolation(
      "those that died together are one loss, and come back in stages",
      `${kind} for ${node} before its turn`,
    );
  }

  private lookAtActionsEnd(actionId: string): void {
    const known = this.decided.has(actionId);
    if (!known || this.ended.has(actionId)) {
      this.reportViolation("nothing is done that was not asked for, and nothing twice", actionId);
    }
    this.ended.add(actionId);
  }

  /** Each action that speaks says so once: the same words to the same agent twice in one step of the ladder are two. */
  private lookAtMessage(event: EventOf<"message.queued">): void {
    const { messageId, dispatchId, kind } = event.data;
    const key =
      dispatchId !== null && dispatchId !== undefined && kind === "nudge"
        ? `${dispatchId} ${event.attempt}`
        : messageId;
    if (this.messages.has(key))
      this.reportViolation("nobody is told the same message twice", `${key} to #${event.attempt}`);
    this.messages.add(key);
  }

  private lookAtExempt({ type, data, agent, attempt }: EventOf, node: string): void {
    const exempt = this.exempt.get(node);
    if (!exempt) return;
    const isNudge = type === "message.queued" && data.kind === "nudge";
    // What becomes of the work of one that has died is about nobody who lives.
    const isTouched = exempt.enabled === false && attempt !== undefined && TOUCHES.has(type);
    if (!isNudge && !SPEAKS.has(type) && !isTouched) return;
    this.reportViolation(
      "nothing is said to one that is exempt from nudges, and nothing done to one that is not supervised",
      `${type} for ${agent}#${attempt} on ${node}`,
    );
  }

  private lookAtNudge(event: EventOf<"assignment.nudged">, node: string): void {
    const { hints, warnings, lastWarnings } = this.config.recovery.steps;
    this.count(`${node} ${event.assignmentId}`, "nudges", hints + warnings + lastWarnings);
    this.lookAtStall(event.attempt, event.agent, node, event.type);
    const truth = this.agents.get(event.attempt ?? 0)?.truth;
    const quiet = this.machine.clock.monotonic() - (truth?.lastActAt ?? 0);
    if (
      truth &&
      !truth.stuck &&
      truth.lastActAt > 0 &&
      !this.isMisled(truth.lastActAt) &&
      quiet < this.config.recovery.silentAfter / 2 &&
      event.data.cause !== "looping"
    ) {
      this.reportViolation("a healthy agent is not nudged", `${event.agent}#${event.attempt} acted ${quiet} ms ago`);
    }
  }

  private lookAtStall(attempt: number | undefined, agent: string | undefined, node: string, type: string): void {
    const seen = this.agents.get(attempt ?? 0);
    if (!seen?.alive) return;
    const { asking, blocked, parkedUntil, failedByProvider } = seen.truth;
    const parked = parkedUntil !== null && this.machine.clock.monotonic() < parkedUntil;
    if (asking || blocked || parked || failedByProvider) {
      this.reportViolation(
        "one that waits for a person, a quota or its provider is not stalled",
        `${type} for ${agent} on ${node}`,
      );
    }
  }

  private lookAtProvider(event: EventOf<"provider.failed" | "provider.probing" | "provider.restored">): void {
    const { account } = event.data;
    const report = (detail: string) =>
      this.reportViolation("a failing provider is one condition, and a person is asked about it once", detail);
    const before = this.askedOfProvider.get(account);
    switch (event.type) {
      case "provider.failed": {
        const { questionId, failures, cause } = event.data;
        if (this.failingProviders.has(account) && failures === 1) report(`#${event.seq} begins again`);
        this.failingProviders.add(account);
        if (questionId === null) {
          if (cause === "auth" || cause === "billing") report(`#${event.seq} ${cause}, and nobody is asked`);
        } else if (before !== undefined && before !== questionId) report(`${before}, and ${questionId}`);
        else this.askedOfProvider.set(account, questionId);
        return;
      }
      case "provider.probing":
        // Without it, the person has answered.
        if (event.data.questionId === null) this.askedOfProvider.delete(account);
        return;
      default:
        this.failingProviders.delete(account);
        this.askedOfProvider.delete(account);
    }
  }

  private lookAtBlock(node: string): void {
    const block = this.blocks.get(node);
    if (block?.asked === false) {
      block.asked = true;
      return;
    }
    this.reportViolation(
      "what only a person can solve is asked of one, once",
      block ? `asked again about #${block.since}, on ${node}` : `nothing is known to be in the way on ${node}`,
    );
  }

  private reportStart(detail: string): void {
    this.reportViolation(
      "what is in the way of every start is one condition, asked about once, and no task is given up for it",
      detail,
    );
  }

  private lookAtFailingStarts({ type, data }: EventOf<"dispatch.failing" | "dispatch.works">): void {
    const { cause } = data;
    if (type === "dispatch.works") {
      this.failingStarts.delete(cause);
      return;
    }
    const { questionId } = data as EventOf<"dispatch.failing">["data"];
    const before = this.failingStarts.get(cause) ?? null;
    if (before !== null && questionId !== null && before !== questionId)
      this.reportStart(`${cause}: ${before}, and ${questionId}`);
    this.failingStarts.set(cause, questionId);
    if (questionId !== null) this.askedOfStart.set(questionId, cause);
  }

  private lookAtGivenUp({ because, data }: EventOf<"action.dropped">, node: string): void {
    if (because !== NOT_WANTED && this.notOfTask.has(data.actionId))
      this.reportStart(`${data.actionId} for ${node} was given up: ${data.reason}`);
  }

  /** One open question for each cause, and none for a cause that is past. Returns the causes a person was told of. */
  private lookAtStartQuestions(open: readonly Question[]): Set<string> {
    const told = new Set<string>();
    for (const { questionId } of open) {
      const cause = this.askedOfStart.get(questionId);
      if (cause === undefined) continue;
      if (told.has(cause)) this.reportStart(`two open questions about ${cause}`);
      if (!this.failingStarts.has(cause)) this.reportStart(`${questionId} is open, and ${cause} is past`);
      told.add(cause);
    }
    return told;
  }

  private reportDisk(detail: string): void {
    this.reportViolation(
      "a disk that is nearly full starts nobody, and a person is asked about it once, until there is room",
      detail,
    );
  }

  /** Asked soon where anything is to be done, and soon withdrawn once there is room. */
  private lookAtDisk(nodes: readonly WorkNode[], open: readonly Question[]): void {
    const about = this.askedOfDisk;
    if (about && open.some(({ questionId }) => questionId === about.questionId)) about.asked = true;
    const isNeeded = nodes.some((node) => isOpen(node) && this.goalStatus.get(node.goalId) === "active");
    const isRight = this.diskShortAfter === null ? about === null : about?.asked === true || !isNeeded;
    this.diskSteps = isRight || this.frozen ? 0 : this.diskSteps + 1;
    if (this.diskSteps <= UNASKED_STEPS) return;
    this.reportDisk(
      this.diskShortAfter === null
        ? `there is room for ${this.diskSteps} steps, and ${about?.questionId} stands`
        : `nobody was asked for ${this.diskSteps} steps`,
    );
  }

  /** However much gets done in between: what breaks every worktree would go on for ever. */
  private lookAtBroken(node: string): void {
    const times = (this.brokenPlaces.get(node) ?? 0) + 1;
    this.brokenPlaces.set(node, times);
    const most = mostBrokenWorktrees({ reassign: this.config.recovery.steps.freshAgents });
    if (times <= most) return;
    const detail = `${times} fresh worktrees for ${node}, ${most} are allowed`;
    this.reportViolation("nudges, restarts and questions are bounded", detail);
  }

  private count(key: string, what: keyof Counted, most: number): void {
    const counted = this.counted.get(key) ?? { nudges: 0, restarts: 0, reassigned: 0 };
    this.counted.set(key, counted);
    counted[what] += 1;
    if (counted[what] > most) {
      this.reportViolation(
        "nudges, restarts and questions are bounded",
        `${counted[what]} ${what} of ${key}, ${most} are allowed`,
      );
    }
  }

  /** A step of recovery and the words that go with it are one commit. */
  private lookAtPairs(): void {
    for (const event of this.taken) {
      const action =
        event.type === "assignment.nudged" || event.type === "assignment.status_requested"
          ? `deliver:${event.data.dispatchId}`
          : event.type === "assignment.escalated"
            ? `ask:${event.data.questionId}`
            : undefined;
      if (action !== undefined && !this.decided.has(action)) {
        this.reportViolation("what was decided to be said is on its way", `${event.type} without ${action}`);
      }
    }
  }

  /** Whoever was sent a signal that ends it had been asked to stop, was never let in, or has ended. */
  private lookAtSignals(): void {
    const { signals } = this.machine.processes;
    for (; this.signalsSeen < signals.length; this.signalsSeen += 1) {
      const one = signals[this.signalsSeen];
      const attempt = one && this.runners.get(one.pid.pid);
      if (!one || attempt === undefined || (one.signal !== "SIGTERM" && one.signal !== "SIGKILL")) continue;
      const asked =
        this.stopAsked.has(attempt) ||
        this.taken.some((event) => event.type === "agent.stop_requested" && event.attempt === attempt);
      const startedUp = this.started.has(attempt);
      // One that will never do anything again by itself may be taken for dead on two signs.
      const stuck = this.agents.get(attempt)?.truth.stuck === true;
      if (startedUp && !asked && !stuck && !this.overAttempts.has(attempt)) {
        this.reportViolation("nothing is killed without proof or a word", `${one.signal} to the runner of #${attempt}`);
      }
    }
  }

  private async lookAtState(): Promise<void> {
    const { living, pulses, nodes, open, questions, conditions } = await this.machine.store.read({
      living: livingAttempts(),
      pulses: pulsesOfLiving(),
      nodes: EVERY_NODE,
      open: openActions(),
      questions: openQuestions(),
      conditions: presentConditions(),
    });
    this.lookAtLiving(living);
    this.auto.lookAtLiving(living);
    for (const one of conditions) {
      if (one.kind !== "mass-death" || !one.active || one.failedProbes <= this.probes) continue;
      this.reportViolation(
        "those that died together are one loss, and come back in stages",
        `${one.failedProbes} are said to have been tried and died, and ${this.probes} were tried`,
      );
    }
    this.lookAtFiles(nodes, living);
    for (const pulse of pulses) {
      const truth = this.agents.get(pulse.attempt)?.truth;
      if (truth && (pulse.lastActAt ?? 0) > truth.lastActWall) {
        this.reportViolation(
          "what we write is no sign of life",
          `#${pulse.attempt} seems to have acted at ${pulse.lastActAt}`,
        );
      }
    }
    this.lookAtParents(nodes);
    this.lookAtPlans(nodes);
    this.lookAtDisk(nodes, questions);
    const told = this.lookAtStartQuestions(questions);
    this.lookForTheLonely(
      nodes,
      living,
      // A start that goes on failing for a reason that is none of its task's is that of a person, who has been told.
      open.filter(
        ({ kind, cause, tries }) =>
          !isDispatch(kind) || cause === undefined || tries < FAILURES_ENOUGH || told.has(cause),
      ),
      new Set(questions.map((one) => budgetAsked(one.text) ?? nodeKey(one.goalId ?? "", one.workNodeId ?? ""))),
    );
  }

  private lookAtLiving(living: readonly Attempt[]): void {
    const held = new Map<string, Attempt>();
    const inSession = new Map<string, number>();
    for (const attempt of living) {
      // What its CLI was started with counts, whatever the log says of it.
      const session = this.agents.get(attempt.attempt)?.session ?? findSession(attempt);
      const sharer = session === null ? undefined : inSession.get(session);
      if (sharer !== undefined)
        this.reportViolation("a session is never in two living attempts", `#${sharer} and #${attempt.attempt}`);
      if (session !== null) inSession.set(session, attempt.attempt);
      const key = nodeKey(attempt.goalId, attempt.workNodeId);
      const other = held.get(key);
      if (other)
        this.reportViolation("no two agents live on one node", `#${other.attempt} and #${attempt.attempt} on ${key}`);
      held.set(key, attempt);
    }
  }

  /** What the plan gives to one alone is that node's while somebody works on it, and until its work has landed. */
  private lookAtFiles(nodes: readonly WorkNode[], living: readonly Attempt[]): void {
    const atWork = new Set(living.map((one) => nodeKey(one.goalId, one.workNodeId)));
    const holders = nodes.filter(
      (node) =>
        node.hints.files !== undefined &&
        (node.status === "in_progress" || atWork.has(nodeKey(node.goalId, node.workNodeId))),
    );
    for (const [index, one] of holders.entries()) {
      for (const other of holders.slice(index + 1)) {
        const shared = overlap(one.hints.files ?? [], other.hints.files ?? []);
        if (!shared) continue;
        const [first, second] = [one, other].map((node) => nodeKey(node.goalId, node.workNodeId));
        this.reportViolation(
          "no two agents have files that overlap",
          `${shared.join(" and ")}, of ${first} and ${second}`,
        );
      }
    }
  }

  private lookAtAdded({ goalId, data: { splitFrom = [] } }: EventOf<"work.added">, node: string): void {
    if (this.known.has(node)) this.reportViolation("no id of a node is used twice", node);
    this.known.add(node);
    const [root, from] = [splitFrom[0], splitFrom.at(-1)];
    if (root === undefined || from === undefined) return;
    const key = nodeKey(goalId ?? "", root);
    const split = this.splits.get(key) ?? new Set();
    this.splits.set(key, split.add(from));
    if (split.size > this.config.planner.replansPerNode)
      this.reportViolation("work is split no oftener than it may be", `${key}, by ${[...split].join(", ")}`);
  }

  /** Plans as they are after the step in which they were changed, and what has ended as it was when it did. */
  private lookAtPlans(nodes: readonly WorkNode[]): void {
    const byKey = new Map(nodes.map((node) => [nodeKey(node.goalId, node.workNodeId), node]));
    for (const goalId of this.revised) {
      const own = nodes.filter((node) => node.goalId === goalId && node.status !== "cancelled");
      const circle = findCycle(new Map(own.map((node) => [node.workNodeId, node])));
      if (circle) this.reportViolation("no plan goes in a circle", `${goalId}: ${circle.join(", ")}`);
    }
    this.revised.clear();
    for (const [key, node] of byKey) {
      const { status, name, objective, dependsOn, parentId, revision, goalId } = node;
      if (!isOpen(node)) {
        const now = JSON.stringify([status, name, objective, dependsOn, parentId, revision]);
        const before = this.over.get(key) ?? now;
        if (before !== now) this.reportViolation("what has ended stays as it is", `${key}: ${before}, ${now}`);
        this.over.set(key, now);
      }
      if (status !== "todo" || this.goalStatus.get(goalId) !== "active") continue;
      const gone = dependsOn.find((id) => readSplit(byKey.get(nodeKey(goalId, id))?.statusReason ?? null));
      if (gone !== undefined)
        this.reportViolation(
          "what waited for work that was split waits for all of its parts",
          `${key} waits for ${gone}`,
        );
    }
  }

  private lookAtParents(nodes: readonly WorkNode[]): void {
    const openBelow = new Set<string>();
    for (const node of nodes) {
      if (isOpen(node) && node.parentId !== null) openBelow.add(nodeKey(node.goalId, node.parentId));
    }
    for (const node of nodes) {
      if (!isOpen(node) && openBelow.has(nodeKey(node.goalId, node.workNodeId))) {
        this.reportViolation(
          "a parent is done when its children are, and not before",
          nodeKey(node.goalId, node.workNodeId),
        );
      }
    }
  }

  /**
   * A task that is open is somebody's: an agent's, an action's, or that of a person who was told. One that waits for
   * others is theirs, unless none of them can ever come. What is reported done is no longer its agent's, who waits too;
   * nor is it that of an agent whose budget is spent, until a person grants more, or of one that met what only a person
   * can solve.
   */
  private lookForTheLonely(
    nodes: readonly WorkNode[],
    living: readonly Attempt[],
    open: readonly Action[],
    asked: ReadonlySet<string>,
  ): void {
    const held = new Set(living.map((one) => nodeKey(one.goalId, one.workNodeId)));
    const outOfBudget = new Set(
      living
        .filter((one) => one.status === "paused" && one.pausedBecause === "budget")
        .map((one) => nodeKey(one.goalId, one.workNodeId)),
    );
    const blocked = new Set(
      living
        .filter((one) => this.agents.get(one.attempt)?.truth.blocked)
        .map((one) => nodeKey(one.goalId, one.workNodeId)),
    );
    const acted = new Set(open.map((one) => nodeKey(one.goalId ?? "", one.workNodeId ?? "")));
    const byKey = new Map(nodes.map((node) => [nodeKey(node.goalId, node.workNodeId), node]));
    for (const { kind, status, actionId, goalId, workNodeId } of open) {
      const key = nodeKey(goalId ?? "", workNodeId ?? "");
      // One that was taken is what brought the living one.
      if (kind === "spawn" && status !== "taken" && held.has(key))
        this.reportViolation(
          "nobody is to be started where somebody is at work",
          `${actionId} waits, and ${key} has its agent`,
        );
    }
    for (const node of nodes) {
      const key = nodeKey(node.goalId, node.workNodeId);
      const needs =
        (node.status !== "queued" || !this.deferred) &&
        !this.frozen &&
        this.machine.hold === null &&
        // Where nobody can be judged, it is the person to whom `status` says so.
        this.machine.spoiledPulse === null &&
        this.goalStatus.get(node.goalId) === "active" &&
        isOpen(node) &&
        (node.status === "todo" ? waitsForNothing(node, byKey) : node.kind === "task");
      const agentIsNext = held.has(key) && !node.claim && !outOfBudget.has(key) && !blocked.has(key);
      if (!needs || agentIsNext || acted.has(key) || asked.has(key) || node.claim?.waiting?.for === "review") {
        this.lonely.delete(key);
        continue;
      }
      const since = this.lonely.get(key) ?? this.step;
      this.lonely.set(key, since);
      if (this.step - since > LONELY_STEPS) {
        this.reportViolation(
          "every open node has a next actor, and a person who is one has been told",
          `${key} is ${node.status}${node.claim ? ", reported done" : ""}, and nobody is next since step ${since}`,
        );
        this.lonely.delete(key);
      }
    }
  }

  /** When the faults have stopped and everything has had its time. */
  async lookAtEnd(step: number, isOver: boolean): Promise<void> {
    this.step = step;
    if (!isOver) this.reportViolation("everything comes to its end", await this.whatIsLeft());
    const reachable = this.machine.git.reachable();
    for (const [number, { truth }] of this.agents) {
      const lost = truth.commits.find((commit) => !reachable.has(commit));
      if (lost !== undefined) this.reportViolation("committed work is never lost", `${lost} of #${number}`);
    }
    if (!isOver) return;
    for (const { seq, type } of this.outcomes) {
      if (!this.ended.has(`notify:${seq}`))
        this.reportViolation("whoever asked hears every outcome once", `${type} #${seq}`);
    }
    for (const cause of this.failingStarts.keys()) this.reportStart(`${cause} is still said to be in the way`);
    const running = [...this.agents.values()].find((agent) => agent.alive);
    if (running) this.reportViolation("nothing is left behind", `the runner of #${running.attempt} still runs`);
    const linked = new Set(this.machine.git.listLinkedWorktrees());
    for (const [attempt, worktree] of this.worktrees) {
      if (linked.has(worktree))
        this.reportViolation("nothing is left behind", `the worktree of #${attempt}, which never came up`);
    }
    this.auto.lookAtEnd();
    this.watch.lookAtEnd();
    await this.lookAtRebuild();
  }

  /** Dear, and the same rules every time: one simulation in eight. */
  private async lookAtRebuild(): Promise<void> {
    if (this.events % 8 !== 0) return;
    const before = JSON.stringify(await this.machine.store.dump());
    await this.machine.store.rebuild();
    if (JSON.stringify(await this.machine.store.dump()) !== before)
      this.reportViolation("the log alone makes the tables", "they differ");
  }

  private async whatIsLeft(): Promise<string> {
    const { goals, nodes, living, open, questions } = await this.machine.store.read({
      goals: goalsForTick(Number.MAX_SAFE_INTEGER),
      nodes: nodesForTick(Number.MAX_SAFE_INTEGER),
      living: livingAttempts(),
      open: openActions(),
      questions: openQuestions(),
    });
    const left = [
      ...goals.map(({ goalId, status }) => `${goalId} ${status}`),
      ...nodes
        .filter((node) => isOpen(node) && node.kind !== "phase")
        .map((node) => `${nodeKey(node.goalId, node.workNodeId)} ${node.status}${node.claim ? " claimed" : ""}`),
      ...living.filter(isLiving).map((one) => `#${one.attempt} ${one.status} (${this.agents.get(one.attempt)?.kind})`),
      ...open.map(({ actionId, status, problem }) => `${actionId} ${status} ${problem ?? ""}`),
      ...questions.map(({ questionId, text }) => `${questionId} ${text}`),
    ];
    return left.join("; ");
  }
}

/** What it depends on has ended, and not all of it well: nobody's work will ever make it ready. */
function waitsForNothing(node: WorkNode, byKey: ReadonlyMap<string, WorkNode>): boolean {
  const before = node.dependsOn.map((id) => byKey.get(nodeKey(node.goalId, id))?.status);
  return (
    before.length > 0 && before.includes("cancelled") && before.every((one) => one === "done" || one === "cancelled")
  );
}

/** The node whose budget a question is about; those are asked of its goal, since its agent asked nothing. */
function budgetAsked(text: string): string | undefined {
  return /^The budget of (\S+\/\S+) is spent/.exec(text)?.[1];
}
