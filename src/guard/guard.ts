/**
 * The guard while it runs: looks at the daemon every few seconds, starts it where none is there, ends one that fails, has an
 * agent repair what broke, and knows when to stop. It shares nothing with the daemon but files and pids, so that whatever
 * takes that down leaves this alone. What it sees is judged by domain/guard; here is only what follows from it.
 */

import {
  type GuardFile,
  type GuardPhase,
  type GuardTone,
  type GuardWord,
  isManualFile,
  parseGuardFile,
  WORDS_KEPT,
} from "#domain/guard/guard-file.ts";
import {
  type DaemonFailure,
  type DaemonSeen,
  type Expected,
  type FailureKind,
  type Health,
  judgeHealth,
} from "#domain/guard/health.ts";
import { decideAfterFailure, type FailureMemory, NO_FAILURES, noteHealthy } from "#domain/guard/spiral.ts";
import { GUARD_DOWN_REASON, isOwnDown, judgeFoundDaemon, judgeOtherGuard } from "#domain/guard/succession.ts";
import { upWords } from "#domain/guard/up-words.ts";
import { parseEnding, parseIntent, parseRegistration, type Registration } from "#domain/health/daemon-life.ts";
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import type { ExecOptions, ExecResult } from "#sys/exec.ts";
import type { Lock } from "#sys/locks.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { readNow } from "#sys/read-now.ts";
import { runFiles } from "#sys/run-files.ts";
import { type RotatingLog, rotatingLog } from "#telemetry/log.ts";
import { redact } from "#telemetry/redact.ts";
import { DaemonWatch } from "./daemon-watch.ts";
import type { GuardPorts } from "./ports.ts";
import { type GuardSettings, readGuardSettings } from "./settings.ts";
import { tellGuardNews } from "./tell.ts";

/** How long `up` may take: it may have a database to migrate. */
const UP_MS = 90_000;
const LOOK_MS = 50;
/** How long an older guard may take to leave. */
const TAKE_OVER_MS = 60_000;
/** What the kernel may take to be done with one that was killed. */
const KILL_MS = 5_000;
/** What a person or an agent would write at most, and how much of it is shown. */
const MANUAL_BYTES = 1024 * 1024;
const MANUAL_SIGNS = 2_000;
/** A disk has room again once so much is free. */
const ROOM_BYTES = 64 * 1024 * 1024;
/** A start that fails with less than this fails for want of room, whatever it says. */
const START_BYTES = 16 * 1024 * 1024;

/** How it ended: asked to, done with everything, or because only a person can help. */
export type GuardEnd =
  | { readonly kind: "stopped" | "done" | "left" }
  | { readonly kind: "gave-up"; readonly code: string; readonly why: string };

export interface GuardOptions {
  /** What `up` is started with. */
  readonly flags: readonly string[];
  /** Where whoever started it stood: what the flags name is looked for there. */
  readonly cwd: string;
  /** Look and act once, then end. */
  readonly once: boolean;
  /** Nobody typed it: a daemon that somebody took down stays down. */
  readonly respectsDown?: boolean;
}

interface Judgement {
  readonly health?: Health;
  /** What a file says by which only a person can help. */
  readonly manual?: string;
  readonly progressAt: number | null;
}

export class Guard {
  private readonly watch: DaemonWatch;
  private readonly self: ProcessIdentity;
  private readonly instance: string;
  private readonly since: number;
  private expected: Expected | null = null;
  /** The last one that was watched or found: started anew without flags of our own, it is told what that was told. */
  private asFound: Registration | null = null;
  /** When the daemon that is watched was taken up, by the machine's clock. */
  private takenAt = 0;
  private memory: FailureMemory = NO_FAILURES;
  private phase: GuardPhase = "starting";
  private words: GuardWord[] = [];
  private endsDaemonAt: number | null = null;
  private remediation: GuardFile["remediation"] = null;
  /** Since when somebody has been there who does not say who it is; by the machine's clock. */
  private takenSince: number | null = null;
  /** Whom the guard before this one watched. */
  private inherited: Registration | undefined;
  private waitsForRoom = false;
  private stoodBy = false;
  private standsBySaid = "";
  /** A wish for no daemon that is older than this guard, and that whoever started it has overruled. */
  private overruledAt = Number.NEGATIVE_INFINITY;
  private settings: GuardSettings;
  private log: { readonly of: GuardSettings["logs"]; readonly file: RotatingLog } | null = null;
  private logged: Promise<void> = Promise.resolve();
  /** What could not be written is said once, until it can. */
  private readonly unwritten = new Set<string>();
  private readonly over = new AbortController();
  private leaving: "stop" | "leave" | null = null;

  constructor(
    private readonly ports: GuardPorts,
    private readonly options: GuardOptions,
  ) {
    const { clock, files, processes, root } = ports;
    this.watch = new DaemonWatch({ state: root.state, clock, files, processes });
    this.self = processes.self();
    this.instance = ports.ids.next("g_");
    this.since = clock.now();
    this.settings = readGuardSettings(root.state);
  }

  /** Resolves when it has ended. Rejects where it could not begin. */
  async run(): Promise<GuardEnd> {
    const files = runFiles(this.ports.root.state);
    const wrong = this.options.flags.find((word) => ["--foreground", "--guarded", "--json"].includes(word));
    if (wrong !== undefined) {
      throw new OverseerError(
        "usage",
        "FLAG_UNFIT",
        `The guard cannot pass ${wrong} on to 'overseer up'.`,
        `Leave ${wrong} out.`,
      );
    }
    const older = parseGuardFile(readNow(files.guard));
    const free = this.ports.takeLock(files.guardLock);
    const lock = free ?? (await this.takeOver(files.guardLock, older));
    if (!lock) throw this.refuseSecond();
    try {
      await this.refuseManual();
      await this.assertConfig();
      const before = parseGuardFile(readNow(files.guard));
      const gaveUp = this.options.once && before ? this.findStanding(before) : undefined;
      if (gaveUp) return gaveUp;
      if (isOwnDown(before, parseIntent(readNow(files.intent)))) await this.ports.files.remove(files.intent);
      this.remember(before);
      if (!free && older) {
        this.say("plain", `Took over from the guard of version ${older.version} (pid ${older.pid}), which has left.`);
      }
      if (!this.options.once) this.say("plain", `Guarding ${this.ports.root.project} (pid ${this.self.pid}).`);
      return await this.live();
    } finally {
      await this.logged;
      lock.release();
    }
  }

  /** A guard of an older version leaves when it is asked, and its daemon runs on. Undefined where it stays. */
  private async takeOver(path: string, other: GuardFile | undefined): Promise<Lock | undefined> {
    const { clock, processes, takeLock, version } = this.ports;
    if (!other || judgeOtherGuard(other.version, version) === "refuse") return undefined;
    if (!processes.signal(other, "SIGUSR1")) return undefined;
    for (const until = clock.monotonic() + TAKE_OVER_MS; clock.monotonic() < until && !this.leaving; ) {
      await clock.sleep(LOOK_MS);
      const lock = takeLock(path);
      if (lock) return lock;
    }
    return undefined;
  }

  private remember(before: GuardFile | undefined): void {
    // Whoever starts a guard wants a daemon, unless it is the same guard again that stood by because somebody does not.
    const isWish = !this.options.once && !this.options.respectsDown && before?.stoodBy !== true;
    if (isWish) this.overruledAt = this.ports.clock.now();
    if (!before) return;
    this.memory = before.gaveUp ? NO_FAILURES : before.memory;
    this.words = [...before.words];
    const { clock } = this.ports;
    const { watched } = before;
    // Whatever was there before the machine was started has ended with it.
    const isOfThisBoot = watched !== null && watched.registration.since >= clock.now() - clock.monotonic();
    this.inherited = isOfThisBoot ? watched.registration : undefined;
    if (!this.options.once) return;
    // One that looks now and then continues where it was.
    if (!isOfThisBoot) return;
    this.expected = { registration: watched.registration, intentAt: watched.intentAt };
    this.takenAt = this.beganAt(watched.registration);
  }

  /** A timer does not try again what was given up, until a person has started the daemon. */
  private findStanding({ gaveUp, at }: GuardFile): GuardEnd | undefined {
    if (!gaveUp || gaveUp.code === "MANUAL_INTERVENTION") return undefined;
    const registration = this.readRegistration();
    if (registration && this.ports.processes.alive(registration)) return undefined;
    const intent = parseIntent(readNow(runFiles(this.ports.root.state).intent));
    if (intent && intent.want !== "down" && intent.at > at) return undefined;
    this.ports.print(
      `The guard has stopped (${gaveUp.code}): ${gaveUp.why} 'overseer guard' or 'overseer up' begins anew.`,
    );
    return { kind: "gave-up", ...gaveUp };
  }

  /** Once: the daemon is ended in order, then the guard. `leave`: it keeps running. */
  stop(how: "stop" | "leave"): void {
    this.leaving ??= how;
    this.over.abort();
  }

  private async live(): Promise<GuardEnd> {
    for (;;) {
      if (this.leaving) return this.finish();
      this.readSettings();
      const end = await this.look();
      if (end) return end;
      if (this.leaving) return this.finish();
      if (this.options.once && !this.watch.isInDoubt) {
        await this.write();
        return { kind: "left" };
      }
      // Read again: a daemon that has just come up may have brought other numbers into effect.
      this.readSettings();
      await this.ports.clock.sleep(this.settings.checkEveryMs, this.over.signal);
    }
  }

  /** What cannot be read just now holds as it was; the look says what is wrong. */
  private readSettings(): void {
    try {
      this.settings = readGuardSettings(this.ports.root.state);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
    }
  }

  /** One look, and what follows from it; set where that is the end. */
  private async look(): Promise<GuardEnd | undefined> {
    const { manual, health, progressAt } = await this.judge();
    if (manual !== undefined) return this.giveUp("MANUAL_INTERVENTION", manual);
    if (health === undefined) return undefined;
    const end = await this.follow(health, this.hasProgressed(progressAt));
    if (!end) await this.write();
    return end;
  }

  /**
   * A fresh daemon takes everybody for at work until it knows better, so what moves at first proves nothing: only a life whose
   * work moved for longer than it may stand still has ended a row of stalls.
   */
  private hasProgressed(progressAt: number | null): boolean {
    if (progressAt === null || !this.expected) return false;
    return progressAt - this.expected.registration.since > this.settings.stallAfterMs;
  }

  /** Without a judgement where it takes longer to be sure. */
  private async judge(): Promise<Judgement> {
    const { checkEveryMs: periodMs, strict, heartbeatTimeoutMs, tickTimeoutMs, stallAfterMs } = this.settings;
    try {
      const manual = await this.findManual();
      if (manual !== undefined) return { manual, progressAt: null };
      const seen = this.overrule(await this.watch.look({ periodMs, strict, expected: this.expected }));
      const health = judgeHealth(seen, this.expected, { heartbeatTimeoutMs, tickTimeoutMs, stallAfterMs });
      const progressAt = seen.heartbeat?.work?.progressAt ?? null;
      if (this.options.once && this.isDoubtful(seen, health)) return { progressAt };
      return { health, progressAt };
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      const detail = `What the daemon leaves cannot be read: ${messageOf(error)}`;
      return { health: { state: "failed", failure: { kind: "unreadable", code: null, detail } }, progressAt: null };
    }
  }

  private overrule(seen: DaemonSeen): DaemonSeen {
    const isOverruled = seen.intent?.want === "down" && seen.intent.at <= this.overruledAt;
    return isOverruled ? { ...seen, intent: undefined } : seen;
  }

  /** Of what was not looked at for a while, nobody knows whether it stands still or slept with its machine. */
  private isDoubtful(seen: DaemonSeen, health: Health): boolean {
    const stands = health.state === "failed" && STANDS_STILL.has(health.failure.kind);
    if (!this.watch.isInDoubt) {
      if (stands) this.watch.doubt(seen);
      return stands;
    }
    const isSure = this.watch.hasMoved(seen) || (stands && health.failure.kind !== "stalled");
    if (isSure || (health.state !== "well" && !stands)) this.watch.trust();
    return this.watch.isInDoubt;
  }

  private async follow(health: Health, progressed: boolean): Promise<GuardEnd | undefined> {
    switch (health.state) {
      case "well":
        this.phase = "running";
        this.memory = noteHealthy(this.memory, { ranMs: this.ranMs(), progressed }, this.settings);
        return undefined;
      case "unwanted":
        this.expected = null;
        this.stoodBy = true;
        this.standBy(
          `Not starting the daemon: it was stopped on purpose (${health.why}). 'overseer up${this.options.flags.includes("--auto") ? " --auto" : ""}' starts it.`,
        );
        return undefined;
      case "done":
        this.say("good", `✓ The daemon has ended: ${health.why}.`);
        this.phase = "terminated";
        await this.write();
        return { kind: "done" };
      case "adopt":
        if (
          judgeFoundDaemon(health.registration, { version: this.ports.version, flags: this.options.flags }) === "renew"
        ) {
          return this.renew(health.registration);
        }
        this.take(health.registration, "is watched");
        return undefined;
      case "absent":
        return this.begin();
      case "failed":
        return this.recover(health.failure);
    }
  }

  /** A daemon of an older version is ended in order, and this one's begun. */
  private async renew(registration: Registration): Promise<GuardEnd | undefined> {
    const { version } = this.ports;
    const what = registration.version === version ? "without auto mode" : `of version ${registration.version}`;
    this.say("plain", `A daemon ${what} was running; another takes its place. Agents keep running.`);
    this.asFound = registration;
    await this.terminate();
    return this.leaving ? undefined : this.begin();
  }

  /** Starts the daemon, unless there is no room for it. */
  private async begin(): Promise<GuardEnd | undefined> {
    const { root, files } = this.ports;
    if (this.waitsForRoom && (await files.freeBytes(root.state)) < ROOM_BYTES) {
      this.standBy("The disk is full; the daemon is started again when there is room.");
      return undefined;
    }
    this.waitsForRoom = false;
    // Somebody may have said down while the daemon was being ended or repaired.
    const intent = parseIntent(readNow(runFiles(root.state).intent));
    if (intent?.want === "down" && intent.at > Math.max(this.overruledAt, this.since)) return undefined;
    this.phase = "starting";
    await this.write();
    const failure = await this.startDaemon();
    if (!failure) return undefined;
    const isFull = (await files.freeBytes(root.state)) < START_BYTES;
    return this.recover(isFull ? { ...failure, code: "DISK_FULL" } : failure);
  }

  /** GUARD-1: through the shell, as a person would, so that whatever is installed by now is what runs. */
  private async startDaemon(): Promise<DaemonFailure | undefined> {
    const { program } = this.ports;
    this.say("plain", "Starting the daemon …");
    const { root } = this.ports;
    const began = this.ports.clock.now();
    const told = upWords(this.options, this.asFound, root.project);
    const cwd = (await this.ports.files.facts(told.cwd))?.kind === "directory" ? told.cwd : root.project;
    const argv = ["sh", "-c", 'exec "$0" "$@"', ...program, "up", "--json", "--root", root.project, ...told.words];
    // Waited for also where the guard is asked to end: a daemon that comes up behind its back would stay.
    const { code, stderr, timedOut } = await this.call(argv, { cwd, timeoutMs: UP_MS });
    const registration = code === 0 ? this.tryRegistration() : undefined;
    if (registration) {
      this.take(registration, "is up");
      return undefined;
    }
    const ended = code === 0 ? this.readEndSince(began) : undefined;
    if (ended) return ended;
    const said = parseError(stderr);
    // Somebody else was faster: theirs is as good, once it says who it is.
    const isTaken = said?.code === "DAEMON_RUNNING" || said?.code === "LOCK_TAKEN";
    const now = this.ports.clock.monotonic();
    this.takenSince = isTaken ? (this.takenSince ?? now) : null;
    if (this.takenSince !== null && now - this.takenSince <= this.settings.heartbeatTimeoutMs) return undefined;
    const detail =
      said?.message ?? (timedOut ? `'up' had not ended after ${UP_MS / 1000} s` : `'up' ended with ${code}`);
    // Words that were typed wrong are nothing that an agent could repair.
    return { kind: "not-started", code: code === 2 ? "USAGE" : (said?.code ?? null), detail: redact(detail) };
  }

  /** It came up and was gone again before anybody could look. */
  private readEndSince(began: number): DaemonFailure | undefined {
    const ending = parseEnding(readNow(runFiles(this.ports.root.state).ending));
    if (!ending || ending.at < began || ending.failure === null) return undefined;
    return { kind: "hard-failure", code: ending.failure.code, detail: ending.failure.problem };
  }

  private take(registration: Registration, how: string): void {
    const intentAt = parseIntent(readNow(runFiles(this.ports.root.state).intent))?.at ?? 0;
    this.expected = { registration, intentAt };
    this.asFound = registration;
    this.takenAt = this.beganAt(registration);
    this.takenSince = null;
    this.inherited = undefined;
    this.watch.begin();
    this.phase = "running";
    this.stoodBy = false;
    this.standsBySaid = "";
    this.say("good", `✓ The daemon ${how} (pid ${registration.pid}, version ${registration.version}).`);
  }

  /** When it began, by the machine's clock: it may have run for days before this guard came. */
  private beganAt({ since }: Registration): number {
    const { clock } = this.ports;
    return clock.monotonic() - Math.max(0, clock.now() - since);
  }

  private async recover(failure: DaemonFailure): Promise<GuardEnd | undefined> {
    const ranMs = this.ranMs();
    this.say("bad", `✗ ${failure.detail}`);
    await this.terminate();
    this.expected = null;
    if (this.leaving) return undefined;
    const verdict = decideAfterFailure(this.memory, failure, ranMs, this.settings);
    switch (verdict.act) {
      case "give-up":
        return this.giveUp(verdict.code, verdict.why);
      case "wait-for-room":
        this.waitsForRoom = true;
        await this.tell("The disk is full. The daemon and its agents have ended; they continue when there is room.");
        return undefined;
      case "restart":
        this.memory = verdict.memory;
        this.say("warning", "⚠ Restarting the daemon …");
        return this.begin();
      case "remediate": {
        this.memory = verdict.memory;
        const end = await this.remediate(failure);
        if (end || this.leaving) return end;
        const manual = await this.findManual();
        if (manual) return this.giveUp("MANUAL_INTERVENTION", manual);
        return this.begin();
      }
    }
  }

  /** GUARD-2: asks it to end, waits, ends it, and looks that it is gone. A pid that somebody else has is never signalled. */
  private async terminate(): Promise<void> {
    const { processes, clock } = this.ports;
    // Both: the one that is registered, and the one that is watched where its registration was taken away.
    const known = [this.tryRegistration(), this.expected?.registration, this.inherited].filter(
      (one) => one !== undefined,
    );
    const living = () => known.filter((one) => processes.alive(one));
    if (living().length === 0) return;
    this.phase = "stopping";
    await this.write();
    const pids = [...new Set(living().map(({ pid }) => pid))].join(", ");
    this.say("plain", `Ending the daemon (pid ${pids}) …`);
    const signal = (name: "SIGTERM" | "SIGKILL") => {
      for (const one of unique(living())) processes.signal(one, name);
    };
    const isGone = async (ms: number) => {
      for (const until = clock.monotonic() + ms; living().length > 0 && clock.monotonic() < until; ) {
        await clock.sleep(LOOK_MS);
      }
      return living().length === 0;
    };
    signal("SIGTERM");
    if (await isGone(this.settings.graceMs)) return;
    this.say("warning", "⚠ It did not end when asked, and is ended.");
    signal("SIGKILL");
    if (!(await isGone(Math.max(this.settings.graceMs, KILL_MS)))) this.say("warning", "⚠ It is still there.");
  }

  /** GUARD-3: an agent of its own looks at what broke. It ends by itself, or at its time. */
  private async remediate(failure: DaemonFailure): Promise<GuardEnd | undefined> {
    const { root, files, program, clock } = this.ports;
    this.phase = "remediating";
    this.remediation = { sinceAt: clock.now(), try: 1, failure: failure.detail };
    this.say("bad", "⚠ Entering remediation mode...");
    await this.write();
    await this.tell(`The daemon failed: ${failure.detail} An agent looks at it.`);
    const path = `${root.state}/run/remedy.json`;
    const registration = this.tryRegistration() ?? null;
    const context = {
      ...{ v: 1, registration, guard: { pid: this.self.pid, since: this.since }, try: 1 },
      failure: { kind: failure.kind, detail: redact(failure.detail), code: failure.code, at: clock.now() },
    };
    const began = clock.monotonic();
    const timeoutMs = this.settings.remediationTimeoutMs;
    try {
      await files.write(path, `${JSON.stringify(context)}\n`, { mode: 0o600 });
    } catch (error) {
      this.remediation = null;
      this.say("warning", `⚠ Remediation issue: ${redact(messageOf(error))} The daemon is started all the same.`);
      return undefined;
    }
    const options = { timeoutMs, signal: this.over.signal };
    const { code, timedOut, stderr } = await this.call([...program, "remediate", path, "--json"], options);
    this.remediation = null;
    const seconds = ((clock.monotonic() - began) / 1000).toFixed(1);
    if (this.leaving) {
      this.say("warning", "⚠ Remediation interrupted");
      return undefined;
    }
    if (timedOut) {
      const why = `The agent that was to repair it had not ended after ${timeoutMs / 1000} s, and was ended. ${failure.detail}`;
      this.say("warning", `⚠ Remediation issue: it took longer than ${timeoutMs / 1000} s`);
      return this.giveUp("REMEDIATION_HUNG", why);
    }
    if (code === 0) {
      this.say("good", `✓ Remediation completed in ${seconds}s`);
      this.say("good", "✓ Remediation complete. Restarting daemon...");
    } else {
      const why = parseError(stderr)?.message ?? `it ended with ${code}`;
      this.say("warning", `⚠ Remediation issue: ${redact(why)} The daemon is started all the same.`);
    }
    return undefined;
  }

  /** GUARD-6: the daemon is ended in order, as it is wanted, and then the guard. */
  private async finish(): Promise<GuardEnd> {
    // Where nobody wants a daemon, that wish stays as it was said.
    if (this.leaving === "stop" && this.phase !== "standing-by" && !this.isDownByWish()) {
      this.endsDaemonAt = this.ports.clock.now();
      await this.write();
      this.say("plain", "Stopping the daemon and the guard; agents keep running. Press Ctrl-C again to stop at once.");
      const argv = [...this.ports.program, "down", "--json", "--reason", GUARD_DOWN_REASON];
      const { code } = await this.call(argv, { timeoutMs: UP_MS });
      if (code !== 0) this.say("warning", `⚠ 'down' ended with ${code}.`);
    }
    this.phase = "terminated";
    this.say("plain", this.leaving === "stop" ? "Ended." : "The guard has ended; the daemon keeps running.");
    await this.write();
    return { kind: this.leaving === "stop" ? "stopped" : "left" };
  }

  /** A person has said down already: saying it again would make that the guard's own word (isOwnDown). */
  private isDownByWish(): boolean {
    const registration = this.readRegistration();
    if (registration && this.ports.processes.alive(registration)) return false;
    return parseIntent(readNow(runFiles(this.ports.root.state).intent))?.want === "down";
  }

  /** Runs it as a person would. What cannot be started at all has failed like everything else. */
  private async call(argv: readonly string[], options: ExecOptions): Promise<ExecResult> {
    const { exec, root, env } = this.ports;
    try {
      return await exec.run(argv, { cwd: root.project, env, ...options });
    } catch (error) {
      if (!(error instanceof OverseerError)) throw error;
      const { code, message, hint } = error;
      const stderr = JSON.stringify({ error: { code, message, hint } });
      return { code: null, signal: null, stdout: "", stderr, timedOut: false, truncated: false };
    }
  }

  private async giveUp(code: string, why: string): Promise<GuardEnd> {
    this.phase = "terminated";
    this.say("bad", `✗ The guard stops: ${redact(why)}`);
    await this.write({ code, why: redact(why) });
    await this.tell(
      `The guard has stopped (${code}): ${why} Look at 'overseer status' and ${this.ports.root.state}/logs, then run 'overseer guard' again.`,
    );
    return { kind: "gave-up", code, why: redact(why) };
  }

  private standBy(text: string): void {
    this.phase = "standing-by";
    if (this.standsBySaid === text) return;
    this.standsBySaid = text;
    this.say("plain", text);
  }

  private ranMs(): number {
    return this.expected === null ? 0 : this.ports.clock.monotonic() - this.takenAt;
  }

  private readRegistration(): Registration | undefined {
    const { registration, log } = runFiles(this.ports.root.state);
    return parseRegistration(readNow(registration), log);
  }

  /** The same for whoever has to act although it cannot be read. */
  private tryRegistration(): Registration | undefined {
    try {
      return this.readRegistration();
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return this.expected?.registration;
    }
  }

  private async findManualFile(): Promise<string | undefined> {
    const { files, root } = this.ports;
    const name = ((await files.list(root.userDir)) ?? []).find(isManualFile);
    return name && `${root.userDir}/${name}`;
  }

  /** What a file says by which an agent or a person says that only a person can help. */
  /** Only a plain file is read: a pipe would never answer, and a device never end. Its text is shown as text. */
  private async readManual(path: string): Promise<string> {
    const facts = await this.ports.files.facts(path);
    if (facts?.kind !== "file" || facts.size > MANUAL_BYTES) return "(it is no plain file of a sensible size)";
    const text = (await this.ports.files.read(path)) ?? "";
    return text
      .replace(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, MANUAL_SIGNS);
  }

  private async findManual(): Promise<string | undefined> {
    const path = await this.findManualFile();
    if (path === undefined) return undefined;
    return `${path} says: ${await this.readManual(path)}`;
  }

  /** GUARD-8. */
  private async refuseManual(): Promise<void> {
    const manual = await this.findManual();
    if (!manual) return;
    throw new OverseerError(
      ...(["conflict", "MANUAL_INTERVENTION", `Somebody is needed first. ${manual}`] as const),
      `Do what it says, then remove it: rm ${await this.findManualFile()}`,
    );
  }

  /** GUARD-7: a guard that begins over a broken configuration would begin with a remediation. */
  private async assertConfig(): Promise<void> {
    const { exec, program, root, env } = this.ports;
    const { code, stderr } = await exec.run([...program, "config", "show", "--json"], { cwd: root.project, env });
    if (code === 0) return;
    const said = parseError(stderr);
    const message = said?.message ?? `The configuration cannot be read ('config show' ended with ${code}).`;
    throw new OverseerError(
      "config",
      said?.code ?? "CONFIG_INVALID",
      message,
      said?.hint ?? "Run 'overseer config show'.",
    );
  }

  private refuseSecond(): OverseerError {
    const other = parseGuardFile(readNow(runFiles(this.ports.root.state).guard));
    const who = other && this.ports.processes.alive(other) ? ` (pid ${other.pid}, version ${other.version})` : "";
    return new OverseerError(
      ...(["conflict", "GUARD_RUNNING", `A guard already watches this repository${who}.`] as const),
      "'overseer guard status' shows it; 'overseer guard stop' ends it and leaves the daemon running.",
    );
  }

  private async tell(text: string): Promise<void> {
    for (const problem of await tellGuardNews(this.ports, this.settings, text)) this.say("warning", `⚠ ${problem}`);
  }

  private say(tone: GuardTone, text: string): void {
    const at = this.ports.clock.now();
    this.words = [...this.words, { at, tone, text }].slice(-WORDS_KEPT);
    this.ports.print(paint(`${stamp(at)} ${text}`, this.ports.colour ? tone : "plain"));
    const line = `${JSON.stringify({ time: new Date(at).toISOString(), tone, text })}\n`;
    this.logged = this.tryToWrite("log", () => this.openLog().append(line));
  }

  /** One for all lines, so that they keep their order. */
  private openLog(): RotatingLog {
    const { logs: of } = this.settings;
    if (this.log?.of.maxSize !== of.maxSize || this.log.of.keep !== of.keep) {
      const path = `${this.ports.root.state}/logs/guard.log`;
      this.log = { of, file: rotatingLog({ files: this.ports.files, path, maxBytes: of.maxSize, keep: of.keep }) };
    }
    return this.log.file;
  }

  /** A full disk must not take the guard with it; what it cannot write it still prints. */
  private async tryToWrite(what: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
      this.unwritten.delete(what);
    } catch (error) {
      if (this.unwritten.has(what)) return;
      this.unwritten.add(what);
      this.ports.print(`The guard's ${what} cannot be written: ${messageOf(error)}`);
    }
  }

  private async write(gaveUp: GuardFile["gaveUp"] = null): Promise<void> {
    const { root, files, clock, version } = this.ports;
    const known = this.expected?.registration ?? null;
    const file: GuardFile = {
      ...{ ...this.self, instance: this.instance, version, since: this.since, phase: this.phase, at: clock.now() },
      daemon: known && { pid: known.pid, instance: known.instance, since: known.since },
      flags: this.options.flags,
      watched: this.expected,
      stoodBy: this.stoodBy,
      endsDaemonAt: this.endsDaemonAt,
      ...{ memory: this.memory, remediation: this.remediation, gaveUp, words: this.words },
    };
    const text = `${JSON.stringify(file)}\n`;
    await this.tryToWrite("file", () => files.write(runFiles(root.state).guard, text, { mode: 0o600 }));
  }
}

/** What a sleeping machine looks like too. */
const STANDS_STILL: ReadonlySet<FailureKind> = new Set<FailureKind>(["not-beating", "not-ticking", "stalled"]);

function unique<T extends ProcessIdentity>(all: readonly T[]): T[] {
  return all.filter(({ pid }, index) => all.findIndex((one) => one.pid === pid) === index);
}

const COLOURS = { plain: null, good: "32", warning: "33", bad: "31" } as const;

function paint(text: string, tone: GuardTone): string {
  const colour = COLOURS[tone];
  return colour === null ? text : `\u001b[${colour}m${text}\u001b[0m`;
}

function stamp(at: number): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** What a command of ours said on standard error with --json. */
function parseError(
  stderr: string,
): { readonly code: string; readonly message: string; readonly hint: string } | undefined {
  for (const line of stderr.trim().split("\n").toReversed()) {
    try {
      const { error } = JSON.parse(line) as { error?: { code?: unknown; message?: unknown; hint?: unknown } };
      if (typeof error?.code !== "string") continue;
      return { code: error.code, message: String(error.message ?? ""), hint: String(error.hint ?? "") };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error; // a line of another program
    }
  }
  return undefined;
}
