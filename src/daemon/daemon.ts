/**
 * The daemon while it runs: its heart, its door, its runners, its loops and the world they act on. Whoever made it holds
 * the lock. It decides nothing about agents; it has the tick run when its time has come or something calls for it, and
 * sees to it that nothing that goes wrong in one part takes another with it.
 */

import { wakeRunner } from "#act/attempt-files.ts";
import { compactSignals } from "#act/compact-signals.ts";
import { hastenHeldLandings } from "#act/landing/after-land.ts";
import { AwaitedCheckouts } from "#act/landing/awaited-checkouts.ts";
import { letGoOfKept } from "#act/landing/kept-refs.ts";
import { LandedLately } from "#act/landing/landed-lately.ts";
import { settleHanded } from "#act/lead/hand-over.ts";
import { postLetters } from "#act/lead/post-letters.ts";
import { LostTerminals } from "#act/lost-terminals.ts";
import { forgetSerenaProjects } from "#act/serena.ts";
import { clearStaleLocks } from "#act/sling/git-locks.ts";
import { startExporter } from "#act/start-exporter.ts";
import { tellPeople } from "#act/tell-people.ts";
import { tidyLogs } from "#act/tidy-logs.ts";
import { tidyWorktrees } from "#act/tidy-worktrees.ts";
import { stopAgents } from "#control/daemon.ts";
import { readMorningReport } from "#control/morning-report.ts";
import { presentHealth } from "#control/present.ts";
import { readSafeMode } from "#control/status.ts";
import { backUpInTime, copyLog } from "#control/upkeep/doctor.ts";
import type { World } from "#control/world.ts";
import { speakingAs } from "#control/world.ts";
import { endsAgents, failForDisk, failForState } from "#domain/auto/hard-failure.ts";
import { SKEW_MS } from "#domain/core/elapsed.ts";
import { renderMorningMarkdown } from "#domain/explain/morning-text.ts";
import type { DaemonEnding, Heartbeat, Intent, Registration } from "#domain/health/daemon-life.ts";
import { parseIntent, withSeedNames } from "#domain/health/daemon-life.ts";
import { mayEndHold } from "#domain/landing/after-command.ts";
import type { HardFailure } from "#domain/model/auto.ts";
import { WATCH } from "#domain/model/condition.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import { newsOf } from "#domain/reports/news.ts";
import type { Tick } from "#engine/tick-contract.ts";
import { tickUnlessHalted } from "#engine/tick-contract.ts";
import type { WatchRounds } from "#engine/watch-rounds.ts";
import { messageOf, systemCode } from "#errors.ts";
import { conditionById } from "#store/actions.ts";
import { livingAttempts } from "#store/attempts.ts";
import { eventsMatching } from "#store/events.ts";
import { theFleet } from "#store/fleet.ts";
import { addressIn, watchStore } from "#store/open.ts";
import { readNow } from "#sys/read-now.ts";
import { makeRest } from "#sys/release-code.ts";
import { type RunFiles, runFiles } from "#sys/run-files.ts";
import { redact, redactDeep } from "#telemetry/redact.ts";
import { adoptionOf } from "./adoption.ts";
import { AutoMode } from "./auto-mode.ts";
import { Calls } from "./calls.ts";
import type { ConfigWatch } from "./config-watch.ts";
import { EventStream } from "./event-stream.ts";
import { Heart } from "./heart.ts";
import type { DaemonLog } from "./log.ts";
import { Loops } from "./loops.ts";
import { RpcServer } from "./rpc-server.ts";
import { RunnerLinks } from "./runner-links.ts";
import { assertDatabase, assertForward, careFor, databaseInode, isDamage, isWalGone } from "./store-care.ts";
import { makeSyncLoop } from "./sync-loop.ts";
import { TelemetryExport } from "./telemetry-export.ts";
import { Ticker, type TickOutcome } from "./tick-loop.ts";
import { isWorthATick, mayChangeHealth } from "./wakes.ts";
import { WatchLoop } from "./watch-loop.ts";
import { WorkWatch } from "./work-watch.ts";

export interface DaemonOptions {
  /** The real parts under that configuration; asked again when it changes. */
  worldUnder(): World;
  readonly config: ConfigWatch;
  readonly log: DaemonLog;
  readonly socket: string;
  readonly registration: Registration;
  readonly tick: Tick;
  readonly rounds: WatchRounds;
  /** Resolves when what ticks have set going has ended. */
  idle(): Promise<void>;
  /** Ends this life: its repository is not there any more, auto mode is done, or what that stands on is broken. */
  onEnd(reason: string, failure: HardFailure | null): void;
}

/** Why this life ends. */
export interface Ending {
  readonly reason: string;
  readonly failure: HardFailure | null;
  /** It has done what it was started for; nobody asked it to end. */
  readonly done: boolean;
}

/**
 * The log is looked at as soon as somebody has written, and so often where that is not told; asking the store whether
 * anybody wrote costs microseconds.
 */
const LOOK_EVERY_MS = 100;
/** However much is written. */
const LOOK_SPACING_MS = 10;
const RUNNERS_EVERY_MS = 1_000;
/** What a process may take from losing its connections to being gone; if it takes longer, the next look sees it. */
const RUNNER_DYING_MS = 50;
/** A look at a checkout that a landing waits for reads the times of some files. */
const CHECKOUTS_EVERY_MS = 1_000;
/** One call of tmux, while agents are in it. */
const TERMINALS_EVERY_MS = 4_000;
/** Or sooner, where a lock is stale before long: no lock lies there for much longer than it may. */
const LOCKS_EVERY_MS = 60_000;
const UPKEEP_EVERY_MS = 1_000;
const TIDY_EVERY_MS = 60 * 60_000;
/** Twice in the minute that the copy of the log may be behind. */
const BACKUP_EVERY_MS = 30_000;
/** Ticks begin at least this far apart, however much happens. */
const TICK_SPACING_MS = 50;
/** Ticks that fail so many times in a row are no accident. */
const FAILED_TICKS = 2;
/** The loops that supervise agents, as the heartbeat tells of them. */
const RINGS = ["tick", "watch", "sync"] as const;
/** Whoever still uses the parts of an older configuration has this long. */
const OLD_WORLD_MS = 60_000;
/** Settings are looked at this often: a stash takes them away and brings them back, an editor saves. */
const SETTINGS_EVERY_MS = 5_000;
/** With nothing to do for so long, it gives back the memory that its work took. */
const REST_AFTER_MS = 10_000;
const EXPORT_EVERY_MS = 1_000;
/** What is kept for people is looked at this often; what happens wakes it at once. */
const NEWS_EVERY_MS = 30_000;
/** Turns of the pool begin at least this far apart, however much happens. */
const POOL_SPACING_MS = 100;
/** So many heartbeats in a row without room on the disk are no passing shortage. */
const FULL_BEATS = 3;
const PAGE = 500;

/** AUTO-7: why it ended stands first, because it is what somebody has to do something about. */
function tellFailureInReport({ code, problem, hint }: HardFailure): string {
  return `# Auto mode ended by itself\n\n- ${code}: ${problem}\n- ${hint}\n`;
}

export class Daemon {
  private world: World;
  private readonly files: RunFiles;
  private readonly loops: Loops;
  private readonly ticker: Ticker;
  private readonly stream: EventStream;
  private readonly links: RunnerLinks;
  private readonly server: RpcServer;
  private readonly heart: Heart;
  /** The file that was opened; another one under its name is another database. */
  private database: number | undefined;
  private mark = -1;
  private following: Promise<void> = Promise.resolve();
  private seen = 0;
  private readonly awaited = new AwaitedCheckouts();
  private readonly landed = new LandedLately();
  private readonly terminals = new LostTerminals();
  private queueMoved = true;
  private unwatchLog: () => void = () => {};
  private readonly rest = makeRest(REST_AFTER_MS);
  private readonly auto: AutoMode;
  private readonly watch: WatchLoop;
  private readonly work = new WorkWatch();
  private readonly telemetry: TelemetryExport;
  /** Beats in a row that found no room on the disk. */
  private fullBeats = 0;
  private beganInSafeMode = false;

  constructor(private readonly options: DaemonOptions) {
    const { log, registration } = options;
    this.world = options.worldUnder();
    const { clock, processes, root } = this.world;
    this.files = runFiles(root.state);
    this.loops = new Loops({ clock, onFailure: (loop, error, failures) => this.loopFailed(loop, error, failures) });
    this.ticker = new Ticker({
      clock,
      log,
      prepare: () => {
        // After a sleep of the machine the tick may be the first to wake; it has to know before it judges anybody.
        this.heart.beat();
        return this.followConfig();
      },
      run: (reason) => this.runTick(reason),
      onTickEnd: (outcome) => this.tickEnded(outcome),
    });
    this.auto = new AutoMode({
      registration,
      log,
      world: () => this.world,
      end: (reason, failure) => options.onEnd(reason, failure),
    });
    this.telemetry = new TelemetryExport({
      log,
      start: startExporter,
      onEnd: () => this.loops.wake("telemetry", "it ended"),
    });
    this.watch = new WatchLoop({
      ...{ clock, log },
      settings: () => {
        const { enabled, every } = options.config.current.watch;
        return { enabled: enabled && registration.supervision, every: registration.watching?.everyMs ?? every };
      },
      look: () => options.rounds.look(speakingAs(this.world, "overseer")),
      lookBlindly: (only) => options.rounds.lookBlindly(speakingAs(this.world, "overseer"), only),
      tickProblem: () => {
        const trouble = this.loops.troubleOf("tick");
        return trouble && trouble.failures >= FAILED_TICKS ? trouble.problem : undefined;
      },
      retryTick: () => this.loops.retry("tick"),
      wakeTick: (cause) => this.wake(cause),
      tell: (health) => this.stream.notice("health.checked", presentHealth(health)),
      record: async (event) => {
        await this.record(event);
        this.heart.beat();
      },
    });
    this.stream = new EventStream({
      store: () => this.world.writer(),
      now: () => clock.now(),
      onFailure: (error) => log.record("warn", "stream.failed", { problem: messageOf(error) }),
    });
    this.links = new RunnerLinks({
      processes,
      wake: (attempt) => wakeRunner(this.world, attempt),
      onRunnerLost: (attempt, how) => this.runnerLost(attempt, how),
      lookSoon: () => void clock.sleep(RUNNER_DYING_MS).then(() => this.links.look()),
    });
    const calls = new Calls({
      version: registration.version,
      instance: registration.instance,
      world: () => this.world,
      stream: this.stream,
      links: this.links,
      tick: () => this.tickNow(),
      wake: (cause) => this.wake(cause),
    });
    this.server = new RpcServer(options.socket, {
      request: (peer, method, params) => calls.answer(peer, method, params),
      onDrained: (peer) => this.stream.pumpIfSubscribed(peer),
      onGone: (peer) => {
        this.stream.unsubscribe(peer);
        this.links.leave(peer);
      },
      onFailure: (what, error) => log.record("error", "rpc.failed", { what, problem: messageOf(error) }),
    });
    this.heart = new Heart({
      clock,
      path: this.files.heartbeat,
      everyMs: () => options.config.current.daemon.heartbeatEvery,
      state: () => this.state(),
      onTimeLost: (ms) => this.noteLostTime(ms),
      onFailure: (error) => {
        log.record("error", "heartbeat.failed", { problem: messageOf(error) });
        this.noticeFullDisk(error);
      },
      onRecovery: () => {
        this.fullBeats = 0;
        log.record("info", "heartbeat.works");
        this.loops.retry();
      },
    });
  }

  /** Answers, is registered and has adopted whoever is there, when this resolves. */
  async start(previous: { readonly registration: Registration; readonly lastBeatAt: number | null } | null) {
    const { registration, log } = this.options;
    const { instance, pid, version, supervision, watching } = registration;
    this.database = databaseInode(this.world);
    this.seen = await this.lastSeq();
    await this.noticeClock();
    this.server.listen();
    this.heart.start();
    await this.record({
      type: "daemon.started",
      actor: "overseer",
      because: "asked-for",
      data: {
        instance,
        pid,
        version,
        supervision,
        ...(watching ? { watching: true } : {}),
        previous: previous && {
          instance: previous.registration.instance,
          pid: previous.registration.pid,
          lastBeatAt: previous.lastBeatAt,
        },
      },
    });
    await this.resumeWatch();
    this.beganInSafeMode = (await readSafeMode(this.world)) !== null;
    await this.auto.start(previous?.registration ?? null);
    await this.adopt();
    // An answer that came while nobody ran has ended a hold, and nobody was there to hear it.
    await hastenHeldLandings(this.world);
    await this.intend();
    await this.register();
    log.record("info", "daemon.started", { pid, version, instance, supervision });
    this.startLoops();
  }

  wake(cause: string): void {
    this.loops.wake("tick", cause);
  }

  /**
   * Ends in order: no new turns, those under way may finish within the configured time. Agents keep running, unless what
   * they write into is broken.
   */
  async stop({ reason, failure, done }: Ending): Promise<void> {
    const { config, log, registration } = this.options;
    log.record("info", "daemon.stopping", { reason });
    const patience = this.world.clock.sleep(config.current.daemon.drainTimeout).then(() => "late" as const);
    const ended = await Promise.race([this.loops.stop().then(() => this.options.idle()), patience]);
    if (ended === "late") log.record("warn", "daemon.not_drained", { after: config.current.daemon.drainTimeout });
    if (failure) await this.sayFailure(failure);
    try {
      const data = { instance: registration.instance, reason };
      await this.record({ type: "daemon.stopped", actor: "overseer", because: "asked-for", data });
    } catch (error) {
      log.record("error", "daemon.stop_not_recorded", { problem: messageOf(error) });
    }
    this.unwatchLog();
    this.telemetry.stop();
    await this.leaveReport(failure);
    await this.copyLogOnce();
    await this.leaveEnding({ reason, failure, done });
    this.heart.stop();
    this.server.stop();
    await this.world.files.remove(this.files.registration);
    log.record("info", "daemon.stopped", { reason });
    await log.flush();
  }

  /** AUTO-7: in the log and to people, as far as the store still takes it. */
  private async sayFailure(failure: HardFailure): Promise<void> {
    const { log } = this.options;
    const attempt = async (what: string, work: () => Promise<unknown>) => {
      try {
        await work();
      } catch (error) {
        log.record("error", "auto.failure_not_said", { what, problem: messageOf(error) });
      }
    };
    await attempt("log", () =>
      this.record({ type: "auto.failed", actor: "overseer", because: "hard-failure", data: failure }),
    );
    if (endsAgents(failure)) {
      const world = speakingAs(this.world, "overseer");
      await attempt("agents", async () => {
        const stopped = await stopAgents(world, `auto mode ended: ${failure.code}`);
        log.record("warn", "agents.stopped", { agents: stopped });
      });
    }
    await attempt("auto.log", () =>
      this.auto.record([
        {
          type: "auto.failed",
          actor: "overseer",
          because: "hard-failure",
          data: failure,
          seq: 0,
          at: this.world.clock.now(),
          v: 1,
        },
      ]),
    );
    await attempt("people", () => this.tellNews());
  }

  /** For whoever watches: that this end was no accident, or which one it was. */
  private async leaveEnding({ reason, failure, done }: Ending): Promise<void> {
    const { clock, files } = this.world;
    const said = failure && { code: failure.code, problem: failure.problem };
    const ending: DaemonEnding = {
      ...{ instance: this.options.registration.instance, at: clock.now(), reason: redact(reason), done },
      failure: redactDeep(said),
    };
    try {
      await files.write(this.files.ending, `${JSON.stringify(ending)}\n`, { mode: 0o600 });
    } catch (error) {
      this.options.log.record("warn", "ending.not_written", { problem: messageOf(error) });
    }
  }

  /** A disk that stays full for a few beats ends auto mode: whatever its agents write would be half. */
  private noticeFullDisk(error: unknown): void {
    if (systemCode(error) !== "ENOSPC") return;
    this.fullBeats += 1;
    if (this.fullBeats >= FULL_BEATS) this.auto.fail(failForDisk(messageOf(error)));
  }

  private startLoops(): void {
    const { config } = this.options;
    this.loops.start({
      name: "tick",
      everyMs: () => Math.min(this.tickEveryMs(), this.ticker.nextDueInMs()),
      spacingMs: TICK_SPACING_MS,
      run: (turn) => this.caring(() => this.ticker.turn(turn)),
    });
    this.loops.start({
      name: "log",
      everyMs: () => LOOK_EVERY_MS,
      spacingMs: LOOK_SPACING_MS,
      run: () => this.caring(() => this.readLog()),
    });
    this.watchLog();
    this.loops.start(this.watch.asLoop((work) => this.caring(work)));
    this.loops.start({ name: "news", everyMs: () => NEWS_EVERY_MS, run: () => this.tellNews() });
    this.loops.start({ name: "settings", everyMs: () => SETTINGS_EVERY_MS, run: () => this.followConfig() });
    this.loops.start({ name: "runners", everyMs: () => RUNNERS_EVERY_MS, run: () => this.links.look() });
    this.loops.start({ name: "checkouts", everyMs: () => CHECKOUTS_EVERY_MS, run: () => this.watchCheckouts() });
    this.loops.start({ name: "landed", everyMs: () => CHECKOUTS_EVERY_MS, run: () => this.watchLanded() });
    this.loops.start({ name: "terminals", everyMs: () => TERMINALS_EVERY_MS, run: () => this.giveTerminals() });
    this.loops.start({
      name: "locks",
      everyMs: () => Math.min(LOCKS_EVERY_MS, config.current.repo.staleLockAfter / 4),
      run: () => this.clearLocks(),
    });
    this.loops.start({
      name: "pool",
      everyMs: () => this.auto.restMs(),
      spacingMs: POOL_SPACING_MS,
      run: () => this.turnPool(),
    });
    this.startSync();
    this.loops.start({
      name: "telemetry",
      everyMs: () => EXPORT_EVERY_MS,
      run: async () => this.telemetry.follow(this.world, config.current),
    });
    this.loops.start({ name: "upkeep", everyMs: () => UPKEEP_EVERY_MS, atOnce: false, run: () => this.upkeep() });
    this.loops.start({ name: "tidy", everyMs: () => TIDY_EVERY_MS, run: () => this.tidy() });
    this.loops.start({ name: "backup", everyMs: () => BACKUP_EVERY_MS, run: () => this.backUp() });
  }

  /** One that only watches was told how often to look. */
  private tickEveryMs(): number {
    const { config, registration } = this.options;
    return Math.min(config.current.reconcile.tickEvery, registration.watching?.everyMs ?? Number.POSITIVE_INFINITY);
  }

  private async runTick(reason: Parameters<Tick>[1]): Promise<TickOutcome> {
    if (!this.options.registration.supervision) return { ok: true, didWork: false, halted: ["no supervision"] };
    const outcome = await tickUnlessHalted(speakingAs(this.world, "overseer"), reason, this.options.tick);
    if (outcome.didWork) {
      this.wake("follow-up");
      this.rest();
    }
    if (outcome.halted?.includes("safe mode")) {
      this.loops.wake("news", "safe mode");
      const safeMode = this.beganInSafeMode ? null : await readSafeMode(this.world);
      if (safeMode) this.auto.fail(failForState(safeMode.problem));
    }
    return outcome;
  }

  private async turnPool(): Promise<void> {
    if (!this.options.registration.supervision) return;
    if (await this.auto.turn()) this.loops.wake("pool", "there may be more");
    if (this.options.registration.auto) this.heart.beat(); // it carries how the pool moves
  }

  /** SYNC-2: what one has found out reaches those whom it concerns. */
  private startSync(): void {
    const { config, log, registration } = this.options;
    if (!registration.supervision) return;
    const loop = makeSyncLoop({
      log,
      everyMs: () => config.current.sync.every,
      world: () => this.world,
      wakeAgain: () => this.loops.wake("sync", "there is more"),
    });
    this.loops.start({ ...loop, run: (turn) => this.caring(() => loop.run(turn)) });
  }

  private tickNow(): Promise<TickOutcome> {
    const next = this.ticker.next();
    this.wake("asked");
    return next;
  }

  private tickEnded(outcome: TickOutcome | { readonly problem: string }): void {
    if ("ok" in outcome) this.work.noteTick(outcome, this.world.clock.now());
    this.stream.notice("tick.ended", outcome);
    this.heart.beat();
  }

  private noteLostTime(ms: number): void {
    this.options.log.record("warn", "time.skipped", { ms });
    this.stream.notice("time.skipped", { ms });
    this.ticker.addLostTime(ms);
  }

  private runnerLost(attempt: number, how: string): void {
    this.options.log.record("info", "runner.gone", { attempt, how });
    this.stream.notice("runner.gone", { attempt, how });
    this.wake(`runner-gone #${attempt}`);
  }

  private loopFailed(loop: string, error: unknown, failures: number): void {
    this.options.log.record("error", "loop.failed", { loop, failures, problem: messageOf(error) });
    this.heart.beat();
  }

  /** CONF-2: what the tick decides next, it decides under this. One after another: a tick and the loop may both ask. */
  private followConfig(): Promise<void> {
    const turn = this.following.then(() => this.takeConfig());
    this.following = turn.catch(() => undefined); // whoever asked is told
    return turn;
  }

  private async takeConfig(): Promise<void> {
    const { config, log } = this.options;
    const held = config.hold !== null;
    const news = await config.look();
    if (held !== (config.hold !== null)) {
      this.heart.beat(); // status reads it there
      this.wake("settings");
    }
    if (news.kind === "same") return;
    if (news.kind === "refused") {
      log.record("warn", "config.refused", { problem: news.problem });
      await this.record({
        type: "config.refused",
        actor: "overseer",
        because: news.because,
        data: { problem: news.problem },
      });
      return;
    }
    this.reopen();
    this.loops.wake("telemetry", "settings");
    log.follow(config.current.logs);
    log.record("info", "config.changed", { changes: news.changes });
    await this.record({
      type: "config.changed",
      actor: "overseer",
      because: "file-changed",
      data: { changes: news.changes },
    });
    this.mark = -1;
  }

  private watchLog(): void {
    this.unwatchLog();
    this.unwatchLog = watchStore(addressIn(this.world.root.state), () => this.loops.wake("log", "a write"));
  }

  /** What others wrote: told to whoever listens, and worth a tick where it may change what is to be done. */
  private async readLog(): Promise<void> {
    assertDatabase(this.world, this.database);
    const reader = await this.world.reader();
    const mark = await reader.changeMark();
    if (mark === this.mark) return;
    this.mark = mark;
    const page = await reader.log({ after: this.seen, limit: PAGE });
    if (page.length === 0) return assertForward(await this.lastSeq(), this.seen);
    this.seen = page.at(-1)?.seq ?? this.seen;
    if (page.length === PAGE) this.mark = -1;
    this.stream.pumpAll();
    if (page.some(({ type }) => type.startsWith("agent."))) await this.knowTheLiving();
    if (page.some(({ type }) => type.startsWith("merge."))) this.queueMoved = true;
    if (page.some(({ type }) => type === "landing.landed")) this.landed.renew();
    if (page.some(mayEndHold)) await hastenHeldLandings(this.world);
    if (page.some(({ type }) => type === "fleet.thawed")) this.links.tellAll();
    for (const event of page) if (isWorthATick(event)) this.wake(event.type);
    if (page.some(mayChangeHealth)) this.loops.wake("watch", "log");
    const mayMovePool = this.options.registration.auto ? isWorthATick : endsGoal;
    if (page.some(mayMovePool)) this.loops.wake("pool", "log");
    await this.auto.record(page);
    this.work.noteEvents(page, this.world.clock.now());
    if (page.some((event) => newsOf(event) !== undefined)) this.loops.wake("news", "log");
  }

  /** ACC-2: who waits for a checkout lands as soon as that allows it. */
  private async watchCheckouts(): Promise<void> {
    if (!this.options.registration.supervision || (!this.queueMoved && this.awaited.areNone)) return;
    this.queueMoved = false;
    for (const branch of await this.awaited.look(this.world)) {
      this.options.log.record("info", "checkout.free", { branch });
      this.wake(`checkout free for ${branch}`);
    }
  }

  /** What has landed stays, also where a git of the user's did not see it coming. */
  private async watchLanded(): Promise<void> {
    if (!this.options.registration.supervision) return;
    for (const { type, data } of await this.landed.look(this.world)) this.options.log.record("warn", type, { ...data });
  }

  /** FAIL-9: whoever outlived a lost terminal server can be looked at again. */
  private async giveTerminals(): Promise<void> {
    if (!this.options.registration.supervision) return;
    for (const { agent, problem } of await this.terminals.look(this.world)) {
      if (problem === undefined) this.options.log.record("warn", "terminal.regained", { agent });
      else this.options.log.record("warn", "terminal.not_given", { agent, problem });
    }
  }

  private async clearLocks(): Promise<void> {
    const staleAfterMs = this.options.config.current.repo.staleLockAfter;
    for (const lock of await clearStaleLocks(this.world, staleAfterMs)) {
      this.options.log.record("warn", "git_lock.removed", { lock, because: "no git holds it", staleAfterMs });
    }
  }

  private async knowTheLiving() {
    const { living } = await (await this.world.writer()).read({ living: livingAttempts() });
    this.links.expect(living);
    return living;
  }

  /** A condition of an earlier life holds until it is seen to be over. */
  private async resumeWatch(): Promise<void> {
    const { known } = await (await this.world.writer()).read({ known: conditionById(WATCH) });
    this.watch.resume(known?.active ? known.since : null);
  }

  private async adopt(): Promise<void> {
    const living = await this.knowTheLiving();
    if (living.length === 0) return;
    const { agents, lost } = adoptionOf(living, this.world.processes);
    this.options.log.record("info", "daemon.adopted", { agents, lost });
    await this.record({
      type: "daemon.adopted",
      actor: "overseer",
      because: "found-at-work",
      data: { instance: this.options.registration.instance, agents, lost },
    });
  }

  /** A `down` has ended; a freeze has not. */
  private async intend(): Promise<void> {
    const { fleet } = await (await this.world.writer()).read({ fleet: theFleet() });
    const want = fleet?.status === "frozen" ? "frozen" : "up";
    if (parseIntent(readNow(this.files.intent))?.want === want) return;
    const intent: Intent = { want, at: this.world.clock.now(), by: "overseer", reason: null };
    await this.world.files.write(this.files.intent, `${JSON.stringify(intent)}\n`, { mode: 0o600 });
  }

  private async register(): Promise<void> {
    const text = `${JSON.stringify(withSeedNames(this.options.registration))}\n`;
    await this.world.files.write(this.files.registration, text, { mode: 0o600 });
  }

  private async upkeep(): Promise<void> {
    if (await this.isGone()) return;
    if (this.server.repair()) {
      this.options.log.record("warn", "socket.recreated", { path: this.options.socket });
      this.stream.notice("socket.recreated", {});
    }
    if (readNow(this.files.registration) !== undefined) return;
    // Somebody cleaned up around us (git clean -fdx takes the whole state directory).
    const { root, files } = this.world;
    for (const name of ["run", "logs"]) await files.makeDir(`${root.state}/${name}`, { mode: 0o700 });
    await this.register();
    this.options.log.record("warn", "registration.rewritten");
  }

  /** A repository that was moved away or deleted is not made again at its old place; the next `up` follows it. */
  private async isGone(): Promise<boolean> {
    const { root, files } = this.world;
    if ((await files.facts(root.gitCommonDir)) !== undefined) return false;
    this.options.onEnd(`the repository is no longer at ${root.project}`, null);
    return true;
  }

  /** REPORT-1: what happened in this life, for whoever comes back; the last one only. */
  private async leaveReport(failure: HardFailure | null): Promise<void> {
    try {
      const text = [...(failure ? [tellFailureInReport(failure)] : []), await this.renderReport()].join("\n");
      await this.world.files.write(`${this.world.root.state}/logs/report.md`, redact(text), { mode: 0o600 });
    } catch (error) {
      this.options.log.record("warn", "report.not_written", { problem: messageOf(error) });
    }
  }

  /** Where the store is what broke, that it is broken is still said. */
  private async renderReport(): Promise<string> {
    try {
      return renderMorningMarkdown(await readMorningReport(this.world, this.options.registration.since));
    } catch (error) {
      this.options.log.record("warn", "report.not_read", { problem: messageOf(error) });
      return "";
    }
  }

  private async copyLogOnce(): Promise<void> {
    try {
      await copyLog(this.world);
    } catch (error) {
      this.options.log.record("error", "store.not_copied", { problem: messageOf(error) });
    }
  }

  /** Beside the tick, so that people are told of what stops it too, and whatever becomes of the leading session's letters. */
  private async tellNews(): Promise<void> {
    const store = await this.world.writer();
    try {
      await postLetters(store, this.world.clock.now());
      await settleHanded(store, this.world.processes, this.world.clock.now());
    } catch (error) {
      this.options.log.record("error", "lead.not_told", { problem: messageOf(error) });
    }
    for (const { name, ok, detail, subjects } of await tellPeople(this.world)) {
      this.options.log.record(ok ? "info" : "warn", ok ? "people.told" : "people.not_told", { name, subjects, detail });
    }
  }

  /** What nobody needs any more goes; what is open refers to none of it, and nothing goes that no ref holds. */
  private async tidy(): Promise<void> {
    const { removed } = await tidyLogs(this.world);
    if (removed.length > 0) this.options.log.record("info", "logs.tidied", { removed: removed.length });
    for (const { problem, ...gone } of await tidyWorktrees(speakingAs(this.world, "overseer"))) {
      const [level, event] = problem
        ? (["warn", "worktree.not_removed"] as const)
        : (["info", "worktree.removed"] as const);
      this.options.log.record(level, event, { ...gone, ...(problem ? { problem } : {}) });
    }
    const notForgotten = await forgetSerenaProjects(this.world);
    if (notForgotten !== null) this.options.log.record("warn", "serena.not_followed", { problem: notForgotten });
    await letGoOfKept(this.world);
    const compacted = await compactSignals(this.world);
    if (compacted > 0) this.options.log.record("info", "signals.compacted", { removed: compacted });
  }

  private async backUp(): Promise<void> {
    const copied = await copyLog(this.world);
    if (copied.kind === "doubted") this.wake("the store is in doubt");
    const made = await backUpInTime(this.world);
    if (made) this.options.log.record("info", "store.backed_up", { path: made.path, bytes: made.bytes });
  }

  /** A store that was damaged or taken away is taken care of here, once, and the loop tries again. */
  private async caring(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isWalGone(error)) {
        this.options.log.record("warn", "store.reopened", { problem: error.message });
        this.reopen();
        throw error;
      }
      if (!isDamage(error) || (await this.isGone())) throw error;
      this.options.log.record("error", "store.damaged", { code: error.code, problem: error.message });
      await closeStores(this.world);
      this.world = this.options.worldUnder();
      const { done } = await careFor(this.world, error);
      this.database = databaseInode(this.world);
      this.watchLog();
      this.mark = -1;
      this.seen = Math.min(this.seen, await this.lastSeq());
      this.options.log.record("warn", "store.repaired", { done });
      throw error;
    }
  }

  /** Whoever still uses the parts as they were has a moment. */
  private reopen(): void {
    const old = this.world;
    this.world = this.options.worldUnder();
    this.mark = -1;
    setTimeout(() => void closeStores(old), OLD_WORLD_MS).unref();
  }

  private state(): Omit<Heartbeat, "at" | "bootMs"> {
    const { ticks, tickedAt, problem } = this.ticker;
    return {
      instance: this.options.registration.instance,
      ticks,
      tickedAt,
      tickProblem: problem,
      troubles: [...this.loops.troubles(), ...this.telemetry.troubles()],
      rings: this.loops.rings(RINGS).map((ring) => ({
        ...ring,
        // A tick that has just ended beats before its turn of the loop is over.
        ...(ring.ring === "tick" && ticks > 0 ? { cycles: ticks, lastAt: tickedAt } : {}),
        degradedSince: ring.ring === "watch" ? this.watch.degradedSince : null,
      })),
      configProblem: this.options.config.problem,
      hold: this.options.config.hold,
      work: this.work.state(),
      auto: this.auto.state(),
    };
  }

  private async record(event: NewEvent): Promise<void> {
    const store = await this.world.writer();
    await store.commit({ at: this.world.clock.now(), reads: {}, decide: () => accept([event], null) });
  }

  /** A clock that was set back while no daemon ran shows by the log, which is of a time to come. */
  private async noticeClock(): Promise<void> {
    const { newest } = await (await this.world.writer()).read({
      newest: eventsMatching({ limit: PAGE, newest: true }),
    });
    const ahead = Math.max(0, ...newest.map(({ at }) => at)) - this.world.clock.now();
    if (ahead > SKEW_MS) this.noteLostTime(ahead);
  }

  private async lastSeq(): Promise<number> {
    const { newest } = await (await this.world.writer()).read({ newest: eventsMatching({ limit: 1, newest: true }) });
    return newest[0]?.seq ?? 0;
  }
}

function endsGoal({ type }: Pick<EventOf, "type">): boolean {
  return type === "goal.completed" || type === "goal.cancelled";
}

/** What cannot be closed, because it could not be opened, is closed. */
async function closeStores(world: World): Promise<void> {
  for (const open of [() => world.reader(), () => world.writer()]) {
    await open().then(
      (store) => store.close(),
      () => undefined,
    );
  }
}
