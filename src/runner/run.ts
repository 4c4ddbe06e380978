/**
 * The process beside one agent, from hello to goodbye. It owns the agent's process and pipes; the store is how others
 * talk to it, its socket only tells it to look. It outlives the daemon, the terminal and the view, and when it ends,
 * nothing of its attempt is left running and nothing uncommitted is lost.
 *
 * What to do next is decided in domain/driving.ts; this file does it, one thing at a time.
 */
import { AGENT_MARK, markOf } from "#act/attempt-files.ts";
import { foldSpool } from "#act/fold-spool.ts";
import type { Moment } from "#domain/actor.ts";
import type { Attempt, AttemptEnd, EndCause } from "#domain/attempt.ts";
import { attemptEvent, confirmStart, NO_USAGE, recordLeg } from "#domain/attempt.ts";
import { endAttempt } from "#domain/attempt-end.ts";
import type { Driving, LegState } from "#domain/driving.ts";
import { nextForRunner, quietFor } from "#domain/driving.ts";
import type { NewEvent } from "#domain/event.ts";
import type { Message } from "#domain/message.ts";
import type { Pulse } from "#domain/pulse.ts";
import type { Decision } from "#domain/refusal.ts";
import { accept } from "#domain/refusal.ts";
import type { Signal } from "#domain/signal.ts";
import { messageOf } from "#errors.ts";
import type { GitTools } from "#git/git.ts";
import { snapshotWip } from "#git/wip.ts";
import type { Reader, Runtime } from "#runtimes/runtime.ts";
import { assignmentById } from "#store/assignments.ts";
import { attemptByNumber, parentOf } from "#store/attempts.ts";
import { waitingMessages } from "#store/messages.ts";
import type { Store } from "#store/store.ts";
import type { SignalLog } from "#store/telemetry.ts";
import { nodeById } from "#store/work.ts";
import type { Clock } from "#sys/clock.ts";
import type { Ids } from "#sys/ids.ts";
import { endTree } from "#sys/process-tree.ts";
import type { Processes, ProcessIdentity } from "#sys/processes.ts";
import type { CheckoutWatch } from "./checkout-watch.ts";
import type { Child, Exit } from "./child.ts";
import { startChild } from "./child.ts";
import { FloodGate } from "./flood-gate.ts";
import type { LaunchFile } from "./launch-file.ts";
import type { SessionLogs } from "./logs.ts";
import { harmless, shown } from "./view.ts";

export interface RunnerParts {
  readonly store: Store;
  readonly signals: SignalLog;
  readonly runtime: Runtime;
  readonly logs: SessionLogs;
  readonly tools: GitTools;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly processes: Processes;
  readonly checkout: CheckoutWatch;
  /** Turns and tool calls of this agent are told by its hooks, not by its stream. */
  readonly interactive: boolean;
  /** Shows a line to whoever looks; a lost terminal makes it do nothing. */
  readonly show: (line: string) => void;
}

/** How often the store is looked at when nobody pokes. */
const LOOK_EVERY_MS = 5_000;
/** Signals are written together, this long after the first of them. */
const GATHER_MS = 50;
/** Lines that are no protocol are counted beyond this many and no longer kept one by one. */
const NOISE_KEPT = 200;

interface Leg {
  readonly child: Child;
  readonly reader: Reader;
  inTurn: boolean;
  turnSince: number;
  idleSince: number;
  interruptedAt: number | null;
  /** We told it to end. */
  asked: boolean;
  exit: Exit | null;
}

export class AttemptRun {
  private leg: Leg | null = null;
  private legs = 0;
  private started = false;
  private gathered: Signal[] = [];
  private gathering: Timer | undefined;
  private pulse: Pulse | undefined;
  private noise = 0;
  private readonly gate = new FloodGate();
  private fenced = false;
  /** Signals that the store refused because this attempt is over. */
  private refused = 0;
  private asked: { cause: EndCause; detail: string } | null = null;
  private wake: () => void = () => {};
  private woken = false;
  private readonly taken: string[] = [];
  /** A turn has ended and the user's checkout was not compared yet. */
  private turnOver = false;

  constructor(
    private readonly parts: RunnerParts,
    private readonly launch: LaunchFile,
  ) {}

  /** Somebody says that there may be news. */
  poke(): void {
    this.woken = true;
    this.wake();
  }

  /** The runner itself is told to end (SIGTERM): its agent is stopped and everything kept. */
  end(detail: string): void {
    this.asked ??= { cause: "stopped", detail };
    this.poke();
  }

  /** A line a person typed into the view. */
  async typed(text: string): Promise<void> {
    const messageId = this.parts.ids.next("m_");
    try {
      const taken = await this.commit("human:terminal", (attempt) => {
        const data = { messageId, kind: "instruction", from: "human:terminal", body: text, dispatchId: null } as const;
        return accept([attemptEvent(attempt, "human:terminal", "message.queued", "typed", data)], null);
      });
      if (!taken) this.note("that line was not taken: this attempt is over");
    } catch (error) {
      this.note(`that line was not taken: ${messageOf(error)}`);
    }
    this.poke();
  }

  async run(): Promise<void> {
    await this.parts.logs.open();
    if (!(await this.hello())) return;
    try {
      await this.drive();
    } catch (error) {
      this.parts.logs.error(`the runner failed: ${messageOf(error)}`, this.parts.clock.now());
      await this.finish("failed", `Its runner failed: ${messageOf(error)}.`);
    }
  }

  private async hello(): Promise<boolean> {
    const runner = this.parts.processes.self();
    const outcome = await this.parts.store.commit({
      at: this.parts.clock.now(),
      reads: { attempt: attemptByNumber(this.launch.attempt) },
      decide: ({ attempt }) => confirmStart(attempt, this.launch.attempt, { runner }, this.moment()),
    });
    if (!outcome.ok) {
      this.note(outcome.refusal.message);
      await this.recordFenced("its runner came up too late");
    }
    return outcome.ok;
  }

  private async drive(): Promise<void> {
    for (let lastWip = this.parts.clock.monotonic(); ; ) {
      const { attempt, waiting } = await this.parts.store.read({
        attempt: attemptByNumber(this.launch.attempt),
        waiting: waitingMessages(this.launch.attempt),
      });
      if (this.asked) return this.finish(this.asked.cause, this.asked.detail);
      if (this.leg?.exit) {
        const over = await this.legEnded(this.leg, this.leg.exit);
        if (over) return;
        continue;
      }
      if (this.leg?.asked) {
        // Told to end and still there: another leg beside it would be two agents in one session.
        await this.awaitLegEnd(this.leg);
        continue;
      }
      const next = this.fenced
        ? ({ do: "leave", because: "fenced" } as const)
        : nextForRunner(attempt, waiting, this.legState(), this.launch, this.parts.clock.now());
      if (next.do === "leave" || next.do === "stop") return this.leaveOrStop(next, attempt);
      if (await this.perform(next)) continue;
      if (this.parts.clock.monotonic() - lastWip >= this.launch.wipEveryMs) {
        lastWip = this.parts.clock.monotonic();
        await this.snapshot();
      }
      await this.nap();
    }
  }

  private async leaveOrStop(next: Driving, attempt: Attempt | undefined): Promise<void> {
    if (next.do === "stop") {
      const by = attempt?.stopRequested?.by ?? "somebody";
      return this.finish("stopped", `Stopped by ${by}${next.reason ? `: ${next.reason}` : ""}.`);
    }
    // Another has taken over, or the attempt was ended behind our back: leave quietly, with everything of ours.
    this.note("this attempt is over; leaving");
    await this.endProcesses();
    await this.flush();
    await this.recordFenced(
      this.refused > 0 ? `${this.refused} signals came after its end` : "its runner was still there after its end",
    );
    await this.parts.logs.flush();
  }

  /** FENCE-1: that somebody spoke for an attempt that was over stays in the log, once; it changes nothing else. */
  private async recordFenced(what: string): Promise<void> {
    await this.parts.store.commit({
      at: this.parts.clock.now(),
      reads: { attempt: attemptByNumber(this.launch.attempt) },
      decide: ({ attempt }): Decision<null> =>
        accept(attempt ? [attemptEvent(attempt, "overseer", "agent.fenced", "attempt-over", { what })] : [], null),
    });
  }

  private async awaitLegEnd(leg: Leg): Promise<void> {
    await Promise.race([leg.child.exited, this.parts.clock.sleep(this.launch.stopGraceMs)]);
    if (leg.exit) return;
    await this.endProcesses();
    await leg.child.exited;
  }

  /** True when something was done and the world should be looked at again at once. */
  private async perform(next: Driving): Promise<boolean> {
    switch (next.do) {
      case "start-leg":
        await this.startLeg();
        return true;
      case "hand":
        return this.hand(next.messages);
      case "interrupt":
        return this.interrupt(next.because);
      case "end-leg":
        if (this.leg) {
          this.leg.asked = true;
          this.leg.child.closeInput();
        }
        return false;
      default:
        return false;
    }
  }

  private async startLeg(): Promise<void> {
    const { runtime, processes, clock } = this.parts;
    const resume = this.started;
    this.legs += 1;
    const launch = runtime.launch({ ...this.launch, resume });
    const leg: Leg = {
      child: startChild(launch, processes, {
        line: (text) => this.heard(leg, text),
        error: (text) => {
          if (this.gate.passes("stderr", clock.now())) this.parts.logs.error(text, clock.now());
        },
      }),
      reader: runtime.reader(this.legs),
      inTurn: false,
      turnSince: clock.now(),
      idleSince: clock.now(),
      interruptedAt: null,
      asked: false,
      exit: null,
    };
    this.leg = leg;
    this.started = true;
    void leg.child.exited.then((exit) => {
      leg.exit = exit;
      this.poke();
    });
    const mark = { process: leg.child.identity, session: this.launch.session };
    await this.parts.store.commit({
      at: clock.now(),
      reads: { attempt: attemptByNumber(this.launch.attempt) },
      decide: ({ attempt }) => recordLeg(attempt, this.launch.attempt, mark, this.moment()),
    });
  }

  private heard(leg: Leg, text: string): void {
    for (const signal of leg.reader.read(text, this.parts.clock.now())) {
      if (signal.kind === "turn.started") {
        leg.inTurn = true;
        leg.turnSince = signal.at;
        leg.interruptedAt = null;
      }
      if (signal.kind === "turn.ended") {
        leg.inTurn = false;
        leg.idleSince = signal.at;
        this.turnOver = true;
        this.poke();
      }
      if (signal.kind === "message.taken") this.taken.push(signal.data.handedAs);
      this.gather(signal);
    }
  }

  private gather(signal: Signal): void {
    if (signal.kind === "noise" && ++this.noise > NOISE_KEPT) return;
    if (signal.kind === "said" && !this.gate.passes("said", signal.at)) return;
    this.gathered.push(signal);
    const line = shown(signal);
    if (line !== undefined) this.parts.show(line);
    this.parts.logs.signal(signal);
    this.gathering ??= setTimeout(() => {
      this.gathering = undefined;
      this.keep();
      this.poke();
    }, GATHER_MS);
  }

  /** Writes what was gathered. A store that is busy for long keeps it in memory until the next try. */
  private keep(): void {
    if (this.gathered.length === 0) return;
    try {
      const pulse = this.parts.signals.record(this.launch.attempt, this.launch.agent, this.gathered);
      if (pulse) this.pulse = pulse;
      else {
        this.fenced = true;
        this.refused += this.gathered.length;
      }
      this.gathered = [];
    } catch (error) {
      this.parts.logs.error(`signals could not be written: ${messageOf(error)}`, this.parts.clock.now());
      if (this.gathered.length > 10_000) this.gathered = this.gathered.slice(-10_000);
    }
  }

  /** Handed first in the store, then on the pipe: what was on the pipe and not in the store could be given twice. */
  private async hand(messages: readonly Message[]): Promise<boolean> {
    const { runtime } = this.parts;
    await this.compareCheckout();
    await this.watching(() => this.parts.checkout.turnBegins());
    for (const message of messages) {
      const id = crypto.randomUUID();
      const done = await this.commit("overseer", (attempt) =>
        accept(
          [
            attemptEvent(attempt, "overseer", "message.handed", "at-a-boundary", {
              messageId: message.messageId,
              handedAs: id,
            }),
          ],
          null,
        ),
      );
      if (!done) return false;
      if (this.leg && !this.leg.inTurn) {
        // Given in the middle of a turn, a message does not make that turn any younger.
        this.leg.inTurn = true;
        this.leg.turnSince = this.parts.clock.now();
      }
      const line = runtime.render({ id, text: message.body });
      if (!(await this.leg?.child.write(line))) {
        this.note("a message could not be written; the agent's input is closed");
        return false;
      }
    }
    return true;
  }

  /** The user's checkout as it was before the turn: a change meanwhile is an event. */
  private async compareCheckout(): Promise<void> {
    if (!this.turnOver) return;
    this.turnOver = false;
    await this.watching(async () => {
      const changed = await this.parts.checkout.turnEnded();
      if (!changed) return;
      this.note(`the main checkout changed during this turn (${changed.what.join(", ")})`);
      await this.commit("overseer", (attempt) =>
        accept([attemptEvent(attempt, "overseer", "checkout.changed", "during-a-turn", changed)], null),
      );
    });
  }

  /** Looking at the checkout may fail (a bare repository has none, git may be busy); the agent's work goes on. */
  private async watching(look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (error) {
      this.parts.logs.error(`the main checkout could not be compared: ${messageOf(error)}`, this.parts.clock.now());
    }
  }

  /** What hooks could not record at once is recorded now. */
  private async foldSpool(): Promise<void> {
    const { attempt, agent, root } = this.launch;
    const spool = { state: root.state, attempt, agent, interactive: this.parts.interactive };
    const { problems } = await foldSpool({ files: this.parts.tools.files, signals: this.parts.signals }, spool);
    for (const problem of problems) this.parts.logs.error(problem, this.parts.clock.now());
  }

  private async interrupt(because: string): Promise<boolean> {
    if (!this.leg) return false;
    this.leg.interruptedAt = this.parts.clock.now();
    this.note(`interrupting the turn (${because})`);
    await this.leg.child.write(this.parts.runtime.interrupt(`i-${this.leg.interruptedAt}`));
    return false;
  }

  /** Messages whose echo came back have been seen; the first of them proves that the assignment is under way. */
  private async settleTaken(): Promise<void> {
    const echoes = this.taken.splice(0);
    if (echoes.length === 0) return;
    const { waiting } = await this.parts.store.read({ waiting: waitingMessages(this.launch.attempt) });
    const seen = waiting.filter((message) => message.handedAs !== null && echoes.includes(message.handedAs));
    if (seen.length === 0) return;
    await this.commit("overseer", (attempt, { assignment }) => {
      const events: NewEvent[] = seen.flatMap((message) => {
        const about = (type: "message.seen") =>
          attemptEvent(attempt, "overseer", type, "echoed", { messageId: message.messageId });
        const delivered = message.dispatchId
          ? [
              attemptEvent(attempt, "overseer", "assignment.delivered", "echoed", {
                dispatchId: message.dispatchId,
                result: "ok",
                runId: this.launch.session,
                notes: "",
              }),
            ]
          : [];
        return [about("message.seen"), ...delivered];
      });
      if (assignment?.status === "dispatched") {
        events.push(attemptEvent(attempt, "overseer", "assignment.active", "agent-answered", { reason: null }));
      }
      return accept(events, null);
    });
  }

  /** A leg is over. Ended by us when idle: the attempt sleeps. Ended by itself: the attempt is over. */
  private async legEnded(leg: Leg, exit: Exit): Promise<boolean> {
    this.gather({
      kind: "process.exited",
      source: `leg${this.legs}`,
      phase: "exit",
      at: this.parts.clock.now(),
      data: { code: exit.code, signal: exit.signal, asked: leg.asked },
    });
    this.leg = null;
    if (leg.asked) {
      await this.endProcesses([leg.child.identity]);
      return false;
    }
    this.keep();
    const spoke = (this.pulse?.beats ?? 0) > 1;
    const how = exit.signal ? `was killed by ${exit.signal}` : `ended by itself with exit code ${exit.code}`;
    const cause: EndCause = exit.signal ? "died" : !spoke ? "failed_to_start" : exit.code === 0 ? "finished" : "failed";
    await this.finish(cause, `Its process ${how}.`, exit, [leg.child.identity]);
    return true;
  }

  /** Ends everything and says so. The order matters: processes first, then the snapshot, then the record. */
  private async finish(cause: EndCause, detail: string, exit?: Exit, roots: ProcessIdentity[] = []): Promise<void> {
    const leg = this.leg;
    if (leg && !leg.exit) {
      leg.asked = true;
      if (leg.inTurn) await this.interrupt("stopping");
      leg.child.closeInput();
      await Promise.race([leg.child.exited, this.parts.clock.sleep(this.launch.stopGraceMs)]);
    }
    await this.endProcesses(leg ? [...roots, leg.child.identity] : roots);
    const wip = await this.snapshot();
    await this.flush();
    const end: AttemptEnd = {
      cause,
      detail,
      exitCode: exit?.code ?? null,
      signal: exit?.signal ?? null,
      usage: this.pulse?.usage ?? NO_USAGE,
      wip,
    };
    await this.parts.store.commit({
      at: this.parts.clock.now(),
      reads: {
        attempt: attemptByNumber(this.launch.attempt),
        node: nodeById(this.launch.goalId, this.launch.nodeId),
        assignment: assignmentById(this.launch.assignmentId),
        waiting: waitingMessages(this.launch.attempt),
        parent: parentOf(this.launch.attempt),
      },
      decide: ({ attempt, ...around }) => endAttempt(attempt, around, end, this.moment()),
    });
    this.note(`over: ${detail}`);
    await this.parts.logs.flush();
  }

  private async endProcesses(roots: ProcessIdentity[] = this.leg ? [this.leg.child.identity] : []): Promise<void> {
    const self = this.parts.processes.self();
    const { left } = await endTree(
      this.parts,
      {
        // What lost its own parents has become a child of ours, with or without the mark.
        roots: [...roots, self],
        mark: { name: AGENT_MARK, value: markOf(this.launch.root, this.launch.attempt) },
        spare: [self.pid],
      },
      Math.min(this.launch.stopGraceMs, 2_000),
    );
    if (left.length > 0) this.note(`still running: ${left.map(({ pid }) => pid).join(", ")}`);
  }

  private async snapshot(): Promise<string | null> {
    try {
      const outcome = await snapshotWip(this.parts.tools, {
        worktree: this.launch.worktree,
        assignment: this.launch.assignmentId,
        expectedCommonDir: this.launch.root.gitCommonDir,
        limits: this.launch.wipLimits,
      });
      return outcome.kind === "clean" ? null : outcome.ref;
    } catch (error) {
      this.parts.logs.error(`uncommitted work could not be saved: ${messageOf(error)}`, this.parts.clock.now());
      return null;
    }
  }

  private legState(): LegState {
    const { leg } = this;
    const { midTurn } = this.parts.runtime.capabilities;
    return leg
      ? { ...leg, alive: !leg.exit && !leg.asked, midTurn }
      : { alive: false, inTurn: false, turnSince: 0, interruptedAt: null, idleSince: 0, midTurn };
  }

  private async commit(
    actor: Moment["actor"],
    decide: (
      attempt: Attempt,
      seen: { readonly assignment: { readonly status: string } | undefined },
    ) => Decision<null>,
  ): Promise<boolean> {
    const outcome = await this.parts.store.commit({
      at: this.parts.clock.now(),
      reads: {
        attempt: attemptByNumber(this.launch.attempt),
        assignment: assignmentById(this.launch.assignmentId),
      },
      decide: ({ attempt, assignment }): Decision<null> =>
        attempt && attempt.status !== "ended" ? decide(attempt, { assignment }) : accept([], null),
    });
    return outcome.ok && (outcome.events.length > 0 || actor === "overseer");
  }

  private moment(): Moment {
    return { now: this.parts.clock.now(), actor: "overseer" };
  }

  private note(text: string): void {
    this.parts.show(harmless(`— ${text}`));
    this.parts.logs.note(`— ${text}`, this.parts.clock.now());
  }

  private async flush(): Promise<void> {
    clearTimeout(this.gathering);
    this.gathering = undefined;
    this.keep();
    await this.foldSpool();
    await this.settleTaken();
    this.turnOver = true; // a turn that was cut off is over too
    await this.compareCheckout();
    await this.parts.logs.flush();
  }

  /** Waits until somebody pokes or it is time to look; what was gathered meanwhile is settled first. */
  private async nap(): Promise<void> {
    await this.settleTaken();
    const dropped = this.gate.takeDropped();
    if (dropped > 0) this.note(`${dropped} lines were left out: more than a person could read`);
    await this.compareCheckout();
    await this.foldSpool();
    await this.parts.logs.flush();
    if (this.woken) {
      this.woken = false;
      return;
    }
    const aborted = new AbortController();
    this.wake = () => aborted.abort();
    const quiet = quietFor(this.legState(), this.launch, this.parts.clock.now());
    await this.parts.clock.sleep(Math.min(LOOK_EVERY_MS, quiet), aborted.signal);
    this.wake = () => {};
    this.woken = false;
  }
}
