/**
 * The process beside one agent, from hello to goodbye. It owns the agent's process; the store is how others talk to it,
 * its socket only tells it to look. It outlives the daemon, the terminal and the view, and when it ends, nothing of its
 * attempt is left running and nothing uncommitted is lost.
 *
 * What to do next is decided in domain/agents/driving.ts; this file does it, one thing at a time.
 */

import { foldSpool } from "#act/attempt-end/fold-spool.ts";
import type { BrokenWorktree } from "#act/attempt-end/keep-work.ts";
import type { Driving, LegState } from "#domain/agents/driving.ts";
import { nextForRunner, quietFor } from "#domain/agents/driving.ts";
import type { Attempt, AttemptEnd, EndCause } from "#domain/model/attempt.ts";
import { LAUNCH_CHANGED, NO_USAGE } from "#domain/model/attempt.ts";
import { describeUnpermitted } from "#domain/reports/unpermitted.ts";
import { UPDATE_WORD } from "#domain/reports/update-block.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { messageOf } from "#errors.ts";
import type { LaunchRequest } from "#runtimes/runtime.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import type { TerminalHandle } from "#terminals/terminal.ts";
import { AttemptRecord } from "./attempt-record.ts";
import { CourseWatch } from "./course-watch.ts";
import { Delivery } from "./delivery.ts";
import { startDriven } from "./driven.ts";
import type { LaunchFile } from "./launch-file.ts";
import { Leftovers } from "./leftovers.ts";
import type { Exit, Leg, LegEars } from "./leg.ts";
import { newTurnState } from "./leg.ts";
import { Recorder } from "./recorder.ts";
import type { RunnerParts } from "./runner-parts.ts";
import type { ScreenParts, Transcripts } from "./screen.ts";
import { startOnScreen, transcriptsOf } from "./screen.ts";
import { TurnWatch } from "./turn-watch.ts";

/** How often the store is looked at when nobody pokes. */
const LOOK_EVERY_MS = 5_000;
/** How long a look may wait after a step of the agent like many others: it costs more than writing the step down. */
const SOON_MS = 2_000;
/** So many retries in a row wake the tick: whether they mean anything shows by then. */
const RETRIES_TOLD = 3;
/** Nothing that happens on a screen pokes us. */
const SCREEN_LOOK_EVERY_MS = 1_000;

export class AttemptRun {
  private readonly record: AttemptRecord;
  private readonly recorder: Recorder;
  private readonly delivery: Delivery;
  private readonly turn: TurnWatch;
  private readonly leftovers: Leftovers;
  private readonly transcripts: Transcripts | null;
  private readonly course: CourseWatch | null;
  private leg: Leg | null = null;
  private legs = 0;
  private asked: { cause: EndCause; detail: string } | null = null;
  private wake: () => void = () => {};
  private woken = false;
  private soon: Timer | undefined;
  /** The first call that was made without the permit. */
  private unpermitted: { readonly id: string; readonly tool: string } | null = null;
  /** Its last turn was given up, or its CLI tries again, and no turn has worked since. */
  private failed = false;
  /** Last words that hold an update which was not taken yet. */
  private readonly reports: string[] = [];

  constructor(
    private readonly parts: RunnerParts,
    private readonly launch: LaunchFile,
  ) {
    this.record = new AttemptRecord(parts.store, parts.clock, launch);
    this.recorder = new Recorder(parts, launch, (atOnce) => {
      this.course?.saw(this.recorder.pulse);
      if (atOnce || this.course?.isNear) return this.wakeUp();
      void parts.logs
        .flush()
        .catch((error: unknown) => this.recorder.problem(`a log cannot be written: ${messageOf(error)}`));
      this.wakeSoon();
    });
    this.course =
      parts.reflex && new CourseWatch({ ...parts, files: parts.tools.files }, this.record, parts.reflex, launch);
    this.delivery = new Delivery(
      {
        ...{ ...parts, record: this.record },
        note: (text) => this.recorder.note(text),
        keepSignals: () => this.recorder.keepNow(),
      },
      { ...launch, transcript: () => parts.runtime.sessionFile(launch.session) },
    );
    this.turn = new TurnWatch(parts, this.record, this.recorder, launch);
    this.leftovers = new Leftovers(parts, this.recorder, launch);
    const screen = parts.onScreen?.screen;
    this.transcripts = screen ? transcriptsOf(parts.tools.files, screen, { ...launch, resume: false }) : null;
  }

  /** Somebody says that there may be news. */
  wakeUp(): void {
    this.woken = true;
    this.wake();
  }

  /** Something happened that need not be looked at by itself: what else happens in a while is looked at with it. */
  private wakeSoon(): void {
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      this.wakeUp();
    }, SOON_MS);
  }

  /** A step is about to be judged, perhaps before the stream has told its end: what was told so far counts for it. */
  async catchUp(): Promise<void> {
    const { course, recorder } = this;
    if (!course || this.parts.onScreen) return;
    course.foresee(() => recorder.pulseAhead);
    if (!course.isNear) return;
    await recorder.keepNow();
    course.saw(recorder.pulse);
    this.wakeSoon();
  }

  /** The runner itself is told to end (SIGTERM): its agent is stopped and everything kept. */
  end(detail: string): void {
    this.asked ??= { cause: "stopped", detail };
    this.wakeUp();
  }

  /** A line a person typed into the view. */
  async takeTypedLine(text: string): Promise<void> {
    try {
      const taken = await this.delivery.queueTyped(this.parts.ids.next("m_"), text, "human:terminal");
      if (!taken) this.recorder.note("that line was not taken: this attempt has ended");
    } catch (error) {
      this.recorder.note(`that line was not taken: ${messageOf(error)}`);
    }
    this.wakeUp();
  }

  async run(): Promise<void> {
    await this.parts.logs.open();
    const { launchHash, verbs } = this.parts;
    const hello = { runner: this.parts.processes.self(), launchHash, ...(verbs ? { seals: verbs.seals } : {}) };
    const refusal = await this.record.confirm(hello);
    if (refusal) {
      this.recorder.note(refusal.message);
      if (refusal.code === LAUNCH_CHANGED)
        await this.record.recordFence("somebody who changed its launch file", "not-the-agent");
      else await this.record.recordFence("its runner came up too late", "attempt-over");
      return;
    }
    try {
      await this.drive();
    } catch (error) {
      this.recorder.problem(`the runner failed: ${messageOf(error)}`);
      await this.finish("failed", `Its runner failed: ${messageOf(error)}.`);
    }
  }

  private async drive(): Promise<void> {
    for (let lastWip = this.parts.clock.monotonic(); ; ) {
      await this.leg?.look();
      const { attempt, waiting, frozen } = await this.record.now();
      if (this.unpermitted) return this.stopUnpermitted(this.unpermitted);
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
      if (attempt === undefined && this.parts.isSafeMode()) {
        // An older store came back that does not know it: whether it continues is for the person who is asked.
        await this.nap();
        continue;
      }
      const next =
        this.recorder.refused > 0
          ? ({ do: "leave", because: "fenced" } as const)
          : nextForRunner(
              attempt,
              frozen || this.parts.isSafeMode() ? [] : waiting,
              this.legState(),
              this.launch,
              this.parts.clock.now(),
            );
      if (next.do === "leave" || next.do === "stop") return this.leaveOrStop(next, attempt);
      if (await this.perform(next)) continue;
      await this.delivery.checkLeases(waiting);
      if (this.parts.clock.monotonic() - lastWip >= this.launch.wipEveryMs) {
        lastWip = this.parts.clock.monotonic();
        const { broken } = await this.leftovers.keepWork(attempt);
        if (broken) await this.tellBroken(broken);
      }
      await this.nap();
    }
  }

  /** HOOK-3: nobody judges what it does. Said before it is ended, so that nobody is put in its place meanwhile. */
  private async stopUnpermitted(call: { readonly id: string; readonly tool: string }): Promise<void> {
    const detail = describeUnpermitted(this.launch, call.tool);
    this.recorder.note(`${detail} It is stopped.`);
    await this.interrupt("its permit hook was not heard");
    await this.record.recordUnpermitted(call, this.parts.ids.next("q_"));
    return this.finish("stopped", detail);
  }

  private async leaveOrStop(next: Driving, attempt: Attempt | undefined): Promise<void> {
    if (next.do === "stop") {
      const by = attempt?.stopRequested?.by ?? "somebody";
      return this.finish("stopped", `Stopped by ${by}${next.reason ? `: ${next.reason.replace(/\.$/, "")}` : ""}.`);
    }
    // Another has taken over, or the attempt was ended behind our back: leave quietly, with everything of ours.
    this.recorder.note("this attempt has ended; leaving");
    await this.leftovers.endProcesses(this.leg ? [this.leg.process] : []);
    await this.flush();
    const { refused } = this.recorder;
    const what = refused > 0 ? `${refused} signals came after its end` : "its runner was still there after its end";
    await this.record.recordFence(what, "attempt-over");
    await this.parts.logs.flush();
  }

  private async awaitLegEnd(leg: Leg): Promise<void> {
    await Promise.race([leg.exited, this.parts.clock.sleep(this.launch.stopGraceMs)]);
    if (leg.exit) return;
    await this.leftovers.endProcesses([leg.process]);
    await leg.exited;
  }

  /** True when something was done and the world should be looked at again at once. */
  private async perform(next: Driving): Promise<boolean> {
    switch (next.do) {
      case "start-leg":
        await this.startLeg();
        return true;
      case "wake":
        await this.turn.turnBegins();
        await this.leg?.wake();
        return false;
      case "hand":
        return this.hand();
      case "expire":
        await this.delivery.expire();
        return true;
      case "interrupt":
        await this.interrupt(next.because);
        return false;
      case "end-leg":
        if (this.leg) {
          this.leg.asked = true;
          this.leg.close();
        }
        return false;
      default:
        return false;
    }
  }

  private async startLeg(): Promise<void> {
    const { runtime } = this.parts;
    await this.turn.legBegins();
    const request = { ...this.launch, resume: this.legs > 0 || this.launch.resume };
    this.legs += 1;
    const reader = () => runtime.reader(this.legs, this.launch.spentBefore);
    const leg = this.transcripts
      ? await this.openScreen(request, this.transcripts)
      : startDriven(this.parts, runtime.launch(request), reader(), this.ears());
    if (!leg) return;
    this.leg = leg;
    void leg.exited.then((exit) => {
      leg.exit = exit;
      this.wakeUp();
    });
    await this.record.legStarted(leg.process, this.launch.session);
  }

  /** On a screen the first message is part of the launch, never typed. */
  private async openScreen(request: LaunchRequest, transcripts: Transcripts): Promise<Leg | undefined> {
    const { onScreen, clock, processes, tools } = this.parts;
    if (!onScreen) return undefined;
    if (request.resume) await transcripts.skipPast();
    await this.turn.turnBegins();
    const opening = await this.delivery.take(false);
    if (!opening) return undefined;
    const parts: ScreenParts = {
      screen: onScreen.screen,
      clock,
      processes,
      files: tools.files,
      pulse: () => this.record.pulse(),
      keyboard: async () => {
        const { attempt } = await this.record.now();
        const handle = attempt?.terminal as TerminalHandle | null | undefined;
        return handle ? { terminal: onScreen.terminal, handle } : undefined;
      },
      noteHeard: (text) => this.delivery.noteHeardText(text),
      lastWords: (text) => this.takeLastWords(text),
    };
    return startOnScreen(parts, request, opening.text, transcripts, this.ears());
  }

  private ears(): LegEars {
    return {
      signal: (signal) => {
        if (signal.kind === "message.taken") this.delivery.noteEcho(signal.data.handedAs);
        if (signal.kind === "turn.ended") this.takeLastWords(signal.data.text);
        this.turn.noteReach(signal);
        this.recorder.take(signal);
        this.noteFailure(signal);
        if (signal.kind === "tool.ended") this.course?.foresee(() => this.recorder.pulseAhead);
        // The hook at the end of this step is about to look; it should find what has just happened.
        if (signal.kind === "tool.ended" && this.course?.isNear) {
          void this.recorder.keepNow().then(() => {
            this.course?.saw(this.recorder.pulse);
            this.wakeUp();
          });
        }
      },
      callEnded: (id, call) => {
        if (this.unpermitted || !this.parts.permit.wasMissed(id, call)) return;
        this.unpermitted = { id, tool: call.tool };
        this.wakeUp();
      },
      errorLine: (text) => this.recorder.errorLine(text),
      note: (text) => this.recorder.note(text),
      turnStarted: () => void this.turn.turnBegins(),
      turnEnded: () => {
        this.turn.turnEnded();
        this.wakeUp();
      },
    };
  }

  /** What follows from a turn that was given up is for the tick to say, and not only at its next regular time. */
  private noteFailure(signal: Signal): void {
    if (signal.kind === "api.failed") {
      this.failed = true;
      this.wakeDaemon("a turn failed");
    } else if (signal.kind === "api.retry" && signal.data.attempt <= RETRIES_TOLD) {
      this.failed = true;
      this.wakeDaemon("its CLI tries again");
    } else if (this.failed && (signal.kind === "said" || signal.kind === "tool.started")) {
      this.wakeDaemon("its model answers again");
    } else if (this.failed && signal.kind === "turn.ended" && signal.data.ok) {
      this.failed = false;
      this.wakeDaemon("a turn works again");
    }
  }

  /** After what it is about is in the store. */
  private wakeDaemon(reason: string): void {
    void this.recorder.keepNow().then(() => this.parts.wakeDaemon(reason));
  }

  /** Its last words of a turn; a report among them is taken before anything else is given to it. */
  private takeLastWords(text: string): void {
    if (text.includes(UPDATE_WORD)) this.reports.push(text);
  }

  /** One text for all that waits: what is on the pipe together is taken together. */
  private async hand(): Promise<boolean> {
    if (!this.leg) return false;
    await this.compareCheckout();
    await this.turn.turnBegins();
    const handed = await this.delivery.take(this.leg.turn.inTurn);
    if (!handed) return false;
    if (await this.leg.give(handed)) return true;
    this.recorder.note("a message could not be written; the agent's input is closed");
    return false;
  }

  /** UPD-1: what the agent reported in its last words. A report that could not be written is tried again. */
  private async takeReports(): Promise<void> {
    for (let text = this.reports[0]; text !== undefined; text = this.reports[0]) {
      try {
        const taken = await this.parts.takeUpdate(this.launch.attempt, text);
        if (taken.kind === "taken") {
          this.recorder.note(`report taken: ${taken.reported.status ?? "no status"}`);
          this.wakeUp(); // it may have ended the work, and with that this attempt
        }
        if (taken.kind === "refused") this.recorder.note(`report not taken: ${taken.refusal.message}`);
      } catch (error) {
        this.recorder.problem(`a report could not be taken: ${messageOf(error)}`);
        return;
      }
      this.reports.shift();
    }
  }

  private async compareCheckout(): Promise<void> {
    await this.turn.compare(async () => {
      if (this.transcripts) await this.followHooks();
    });
  }

  /** After a turn, before it is given another: nobody gets anything done where git does not work. */
  private async compareWorktree(): Promise<void> {
    if (!this.turn.isOver) return;
    const { attempt } = await this.record.now();
    if (!attempt || attempt.brokenWorktree) return;
    const broken = await this.leftovers.findBroken(attempt, false);
    if (broken) await this.tellBroken(broken);
  }

  /** What hooks recorded themselves belongs into the session's logs too. */
  private async followHooks(): Promise<void> {
    const signals = await this.record.signalsAfter(this.recorder.place);
    for (const { signal } of signals) {
      this.turn.noteReach(signal);
      if (this.parts.onScreen) this.noteFailure(signal);
    }
    this.recorder.logOthers(signals);
  }

  /** What hooks could not record at once is recorded now. */
  private async foldSpool(): Promise<void> {
    const { attempt, agent, root } = this.launch;
    const spool = { state: root.state, attempt, agent, interactive: this.parts.onScreen !== null };
    const { problems } = await foldSpool({ files: this.parts.tools.files, signals: this.parts.signals }, spool);
    for (const problem of problems) this.recorder.problem(problem);
    for (const note of await this.parts.foldKept()) this.recorder.note(note);
  }

  /** Its report and its PACE level, after what was recorded; on a screen it is hooks that record. */
  private async followCourse(ended: boolean): Promise<void> {
    if (!this.course) return;
    try {
      if (this.transcripts || ended) this.course.saw(await this.record.pulse());
      for (const note of await this.course.settle(ended)) this.recorder.note(note);
    } catch (error) {
      this.recorder.problem(`its report could not be written: ${messageOf(error)}`);
    }
  }

  private async interrupt(because: string): Promise<void> {
    if (!this.leg) return;
    this.leg.turn.interruptedAt = this.parts.clock.now();
    this.recorder.note(`interrupting the turn (${because})`);
    await this.leg.interrupt();
  }

  /** A leg has ended. Ended by us when idle: the attempt sleeps. Ended by itself: the attempt has ended. */
  private async legEnded(leg: Leg, exit: Exit): Promise<boolean> {
    this.recorder.take({
      kind: "process.exited",
      source: `leg${this.legs}`,
      phase: "exit",
      at: this.parts.clock.now(),
      data: { code: exit.code, signal: exit.signal, asked: leg.asked },
    });
    this.leg = null;
    if (leg.asked) {
      await this.leftovers.endProcesses([leg.process]);
      await this.delivery.legEnded();
      return false;
    }
    await this.recorder.keep();
    const spoke = ((await this.record.pulse())?.beats ?? 0) > 1;
    const how = exit.signal ? `was killed by ${exit.signal}` : `ended by itself with exit code ${exit.code}`;
    const cause: EndCause = exit.signal ? "died" : !spoke ? "failed_to_start" : exit.code === 0 ? "finished" : "failed";
    await this.finish(cause, `Its process ${how}.`, exit, [leg.process]);
    return true;
  }

  /** Ends everything and says so. The order matters: processes first, then the snapshot, then the record. */
  private async finish(cause: EndCause, detail: string, exit?: Exit, roots: ProcessIdentity[] = []): Promise<void> {
    const leg = this.leg;
    if (leg && !leg.exit) {
      leg.asked = true;
      if (leg.turn.inTurn) await this.interrupt("stopping");
      leg.close();
      await Promise.race([leg.exited, this.parts.clock.sleep(this.launch.stopGraceMs)]);
    }
    await this.parts.verbs?.close();
    await this.leftovers.endProcesses(leg ? [...roots, leg.process] : roots);
    const wip = await this.keepAtEnd(cause);
    await this.flush();
    await this.followCourse(true);
    const end: AttemptEnd = {
      cause,
      detail,
      exitCode: exit?.code ?? null,
      signal: exit?.signal ?? null,
      usage: (await this.record.pulse())?.usage ?? NO_USAGE,
      wip,
    };
    await this.delivery.legEnded();
    const { attempt } = await this.record.now();
    await this.leftovers.dropLaunchFile();
    await this.record.end(end);
    await this.leftovers.wakeAsker(attempt);
    this.recorder.note(`over: ${detail}`);
    await this.parts.logs.flush();
  }

  /** Where it ended by itself, somebody is to continue: whether that can be done where it was is looked at with it. */
  private async keepAtEnd(cause: EndCause): Promise<string | null> {
    const { attempt } = await this.record.now();
    const kept = await this.leftovers.keepWork(attempt);
    const byItself = attempt !== undefined && cause !== "stopped" && !attempt.brokenWorktree;
    const broken = kept.broken ?? (byItself ? await this.leftovers.findBroken(attempt, true) : undefined);
    if (broken) await this.tellBroken(broken);
    return kept.wip ?? broken?.wip ?? null;
  }

  private async tellBroken(broken: BrokenWorktree): Promise<void> {
    this.recorder.note(`its worktree is broken: ${broken.detail}`);
    await this.record.recordBroken(broken);
  }

  private legState(): LegState {
    const { leg } = this;
    const kind = { midTurn: this.parts.runtime.capabilities.midTurn, byHooks: this.transcripts !== null };
    return leg
      ? { ...leg.turn, ...kind, alive: !leg.exit && !leg.asked }
      : { ...newTurnState(0), ...kind, alive: false };
  }

  private async flush(): Promise<void> {
    await this.record.writable();
    await this.transcripts?.read(this.ears(), (text) => this.delivery.noteHeardText(text));
    await this.recorder.keepNow();
    await this.foldSpool();
    await this.delivery.settle();
    await this.takeReports();
    this.turn.turnEnded(); // a turn that was cut off has ended too
    await this.compareCheckout();
    await this.recorder.keepNow();
    await this.followHooks();
    await this.parts.logs.flush();
  }

  /** Waits until somebody pokes or it is time to look; what was gathered meanwhile is settled first. */
  private async nap(): Promise<void> {
    // First, because whoever reads along is not to wait for the rest.
    await this.parts.logs.flush();
    await this.delivery.settle();
    await this.takeReports();
    this.recorder.noteDropped();
    await this.compareWorktree();
    await this.compareCheckout();
    await this.foldSpool();
    await this.followCourse(false);
    await this.followHooks();
    await this.parts.logs.flush();
    if (this.woken) {
      this.woken = false;
      return;
    }
    const aborted = new AbortController();
    this.wake = () => aborted.abort();
    const quiet = quietFor(this.legState(), this.launch, this.parts.clock.now());
    const often = this.leg && this.transcripts ? SCREEN_LOOK_EVERY_MS : LOOK_EVERY_MS;
    await this.parts.clock.sleep(Math.min(often, quiet), aborted.signal);
    this.wake = () => {};
    this.woken = false;
  }
}
