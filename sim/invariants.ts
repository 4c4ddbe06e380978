/**
 * What must hold, whatever happens to whom. Each invariant is a sentence that names itself; it is looked at after every
 * step, on what was written in it and on what is, and compared with the truth that agents keep about themselves. The
 * last ones hold only at the end, when the faults have stopped and time enough has passed.
 */
import type { Config } from "#config/schema.ts";
import type { Action } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { isLiving } from "#domain/model/attempt.ts";
import type { EventOf } from "#domain/model/event.ts";
import { isOpen, nodeKey, type WorkNode } from "#domain/model/work.ts";
import { openActions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import type { Query } from "#store/query.ts";
import { docs } from "#store/query.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import { goalsForTick, nodesForTick } from "#store/tick.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import type { VirtualAgent } from "./agents.ts";
import type { Machine } from "./machine.ts";

/** Their names, each a sentence. */
export const INVARIANTS = [
  "no two agents live on one node",
  "nothing is dispatched twice under one id",
  "nothing is dispatched for a goal that is not active",
  "nothing is done that was not asked for, and nothing twice",
  "nobody is told the same message twice",
  "what was decided to be said is on its way",
  "nothing is killed without proof or a word",
  "a healthy agent is not nudged",
  "one that waits for a person, a quota or its provider is not stalled",
  "a failing provider is one condition, and a person is asked about it once",
  "nudges, restarts and questions are bounded",
  "what we write is no sign of life",
  "an attempt that has ended changes nothing",
  "a parent is done when its children are, and not before",
  "every event is of its own time",
  "every open node has a next actor, and a person who is one has been told",
  "nobody is to be started where somebody is at work",
  "those that died together are one loss, and come back in stages",
  "an agent that is started again keeps its name",
  "whoever is asked can answer",
  "committed work is never lost",
  "whoever asked hears every outcome once",
  "nothing is left behind",
  "the log alone makes the tables",
  "nothing is started, checked or landed while the settings are missing",
  "everything comes to its end",
] as const;
const NEEDS_SETTINGS: ReadonlySet<string> = new Set(["agent.slung", "check.started", "merge.landed"]);
export type Invariant = (typeof INVARIANTS)[number];

export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
  readonly step: number;
}

/** A node may be without anybody for so many steps: a lease has to lapse, a backoff to pass. */
const LONELY_STEPS = 40;
const MOST_QUESTIONS = 12;

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
  private readonly questions = new Map<string, number>();
  private readonly lonely = new Map<string, number>();
  private readonly runners = new Map<number, number>();
  private readonly outcomes: EventOf[] = [];
  private readonly stopAsked = new Set<number>();
  private readonly overAttempts = new Set<number>();
  private readonly started = new Set<number>();
  /** Attempts that died together with others, each counted once. */
  private readonly diedTogether = new Set<number>();
  /** The nodes that may have an agent again while a fleet is being restored; undefined when none is. */
  private comingBack: Set<string> | undefined;
  /** What a person is asked about a failing provider, by account, until it is answered or works again. */
  private readonly askedOfProvider = new Map<string, string>();
  private readonly failingProviders = new Set<string>();
  /** Of attempts that never came up: whatever was made for them was taken back. */
  private readonly worktrees = new Map<number, string>();
  private readonly names = new Map<number, string>();

  constructor(
    private readonly machine: Machine,
    private readonly agents: ReadonlyMap<number, VirtualAgent>,
    private readonly config: Config,
  ) {
    this.earliest = machine.clock.now();
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
    if (this.names.get(before) === name) return;
    this.reportViolation(
      "an agent that is started again keeps its name",
      `${this.names.get(before)}#${before} continues as ${name}#${attempt}`,
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
    this.lookAtSignals();
    for (const event of this.taken) this.lookAtEvent(event);
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
      case "work.done":
        if (event.nodeId?.startsWith("T")) this.outcomes.push(event);
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
        if (event.data.cause !== "finished" && event.data.cause !== "stopped") this.outcomes.push(event);
        if (event.data.cause !== "failed_to_start") this.worktrees.delete(event.attempt ?? 0);
        return;
      case "assignment.dispatched":
        if (event.data.mode === "spawn" && !this.wanted.has(event.data.dispatchId)) {
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
        for (const released of event.data.nodes) this.comingBack?.add(released);
        return;
      case "fleet.restored":
        this.comingBack = undefined;
        return;
      case "action.done":
      case "action.dropped":
        this.lookAtActionsEnd(event.data.actionId);
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
        if (event.data.cause !== "mass-death") this.count(node, "restarts", this.config.ladder.restarts + 1);
        return;
      case "assignment.reassigning":
        this.lookAtStall(event.attempt, event.agent, node, event.type);
        this.count(node, "reassigned", this.config.ladder.reassign);
        return;
      case "assignment.resent":
      case "assignment.parked":
        this.lookAtStall(event.attempt, event.agent, node, event.type);
        return;
      case "assignment.progressed":
      case "question.answered":
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

  private lookAtNudge(event: EventOf<"assignment.nudged">, node: string): void {
    const { hint, warning, critical } = this.config.ladder.nudges;
    this.count(`${node} ${event.assignmentId}`, "nudges", hint + warning + critical);
    this.lookAtStall(event.attempt, event.agent, node, event.type);
    const truth = this.agents.get(event.attempt ?? 0)?.truth;
    const quiet = this.machine.clock.monotonic() - (truth?.lastActAt ?? 0);
    if (
      truth &&
      !truth.stuck &&
      truth.lastActAt > 0 &&
      !this.isMisled(truth.lastActAt) &&
      quiet < this.config.reconcile.idleAfter / 2 &&
      event.data.cause !== "looping"
    ) {
      this.reportViolation("a healthy agent is not nudged", `${event.agent}#${event.attempt} acted ${quiet} ms ago`);
    }
  }

  private lookAtStall(attempt: number | undefined, agent: string | undefined, node: string, type: string): void {
    const seen = this.agents.get(attempt ?? 0);
    if (!seen?.alive) return;
    const { asking, parkedUntil, failedByProvider } = seen.truth;
    const parked = parkedUntil !== null && this.machine.clock.monotonic() < parkedUntil;
    if (asking || parked || failedByProvider) {
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
    const { living, pulses, nodes, open, questions } = await this.machine.store.read({
      living: livingAttempts(),
      pulses: pulsesOfLiving(),
      nodes: EVERY_NODE,
      open: openActions(),
      questions: openQuestions(),
    });
    this.lookAtLiving(living);
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
    this.lookForTheLonely(
      nodes,
      living,
      open,
      new Set(questions.map((one) => nodeKey(one.goalId ?? "", one.workNodeId ?? ""))),
    );
  }

  private lookAtLiving(living: readonly Attempt[]): void {
    const held = new Map<string, Attempt>();
    for (const attempt of living) {
      const key = nodeKey(attempt.goalId, attempt.workNodeId);
      const other = held.get(key);
      if (other)
        this.reportViolation("no two agents live on one node", `#${other.attempt} and #${attempt.attempt} on ${key}`);
      held.set(key, attempt);
    }
  }

  private lookAtParents(nodes: readonly WorkNode[]): void {
    const openBelow = new Set<string>();
    for (const node of nodes) {
      if (isOpen(node) && node.parentId !== null) openBelow.add(nodeKey(node.goalId, node.parentId));
    }
    for (const node of nodes) {
      if (!isOpen(node) && node.status === "done" && openBelow.has(nodeKey(node.goalId, node.workNodeId))) {
        this.reportViolation(
          "a parent is done when its children are, and not before",
          nodeKey(node.goalId, node.workNodeId),
        );
      }
    }
  }

  /**
   * A task that is open is somebody's: an agent's, an action's, or that of a person who was told. One that waits for
   * others is theirs, unless none of them can ever come. What is reported done is no longer its agent's, who waits too.
   */
  private lookForTheLonely(
    nodes: readonly WorkNode[],
    living: readonly Attempt[],
    open: readonly Action[],
    asked: ReadonlySet<string>,
  ): void {
    const held = new Set(living.map((one) => nodeKey(one.goalId, one.workNodeId)));
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
        this.goalStatus.get(node.goalId) === "active" &&
        isOpen(node) &&
        (node.status === "todo" ? waitsForNothing(node, byKey) : node.kind === "task");
      const agentIsNext = held.has(key) && !node.claim;
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
    const running = [...this.agents.values()].find((agent) => agent.alive);
    if (running) this.reportViolation("nothing is left behind", `the runner of #${running.attempt} still runs`);
    const linked = new Set(this.machine.git.listLinkedWorktrees());
    for (const [attempt, worktree] of this.worktrees) {
      if (linked.has(worktree))
        this.reportViolation("nothing is left behind", `the worktree of #${attempt}, which never came up`);
    }
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
