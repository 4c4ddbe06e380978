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
import { type DaemonFailure, type Expected, type Health, judgeHealth } from "#domain/guard/health.ts";
import { decideAfterFailure, type FailureMemory, NO_FAILURES, noteHealthy } from "#domain/guard/spiral.ts";
import { GUARD_DOWN_REASON, isOwnDown, judgeFoundDaemon, judgeOtherGuard } from "#domain/guard/succession.ts";
import { upWords } from "#domain/guard/up-words.ts";
import { parseIntent, parseRegistration, type Registration } from "#domain/health/daemon-life.ts";
import { messageOf, OverseerError } from "#errors.ts";
import type { Lock } from "#sys/locks.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { readNow } from "#sys/read-now.ts";
import { runFiles } from "#sys/run-files.ts";
import { rotatingLog } from "#telemetry/log.ts";
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
/** A disk has room again once so much is free. */
const ROOM_BYTES = 64 * 1024 * 1024;

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
  private waitsForRoom = false;
  private standsBySaid = "";
  private lastProgress: number | null = null;
  private settings: GuardSettings;
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
    const older = parseGuardFile(readNow(files.guard));
    const free = this.ports.takeLock(files.guardLock);
    const lock = free ?? (await this.takeOver(files.guardLock, older));
    if (!lock) throw this.refuseSecond();
    try {
      await this.refuseManual();
      await this.assertConfig();
      const before = parseGuardFile(readNow(files.guard));
      this.memory = before?.gaveUp ? NO_FAILURES : (before?.memory ?? NO_FAILURES);
      this.words = [...(before?.words ?? [])];
      if (isOwnDown(before, parseIntent(readNow(files.intent)))) await this.ports.files.remove(files.intent);
      if (!free && older) {
        this.say("plain", `Took over from the guard of version ${older.version} (pid ${older.pid}), which has left.`);
      }
      this.say("plain", `Guarding ${this.ports.root.project} (pid ${this.self.pid}).`);
      return await this.live();
    } finally {
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

  /** Once: the daemon is ended in order, then the guard. `leave`: it keeps running. */
  stop(how: "stop" | "leave"): void {
    this.leaving ??= how;
    this.over.abort();
  }

  private async live(): Promise<GuardEnd> {
    for (;;) {
      if (this.leaving) return this.finish();
      this.settings = readGuardSettings(this.ports.root.state);
      const end = await this.look();
      if (end) return end;
      if (this.leaving) return this.finish();
      if (this.options.once) {
        await this.write();
        return { kind: "left" };
      }
      await this.ports.clock.sleep(this.settings.checkEveryMs, this.over.signal);
    }
  }

  /** One look, and what follows from it; set where that is the end. */
  private async look(): Promise<GuardEnd | undefined> {
    const manual = await this.findManual();
    if (manual) return this.giveUp("MANUAL_INTERVENTION", `${manual.path} says: ${manual.text}`);
    const { checkEveryMs, strict, heartbeatTimeoutMs, tickTimeoutMs, stallAfterMs } = this.settings;
    const seen = await this.watch.look(checkEveryMs, strict);
    const health = judgeHealth(seen, this.expected, { heartbeatTimeoutMs, tickTimeoutMs, stallAfterMs });
    const progressAt = seen.heartbeat?.work?.progressAt ?? null;
    const end = await this.follow(health, progressAt !== null && progressAt !== this.lastProgress);
    this.lastProgress = progressAt;
    await this.write();
    return end;
  }

  private async follow(health: Health, progressed: boolean): Promise<GuardEnd | undefined> {
    switch (health.state) {
      case "well":
        this.phase = "running";
        this.memory = noteHealthy(this.memory, { ranMs: this.ranMs(), progressed }, this.settings);
        return undefined;
      case "unwanted":
        this.expected = null;
        this.standBy(`The daemon is down because it is wanted so (${health.why}); 'overseer up' brings it back.`);
        return undefined;
      case "done":
        this.say("good", `✓ The daemon has ended: ${health.why}.`);
        this.phase = "terminated";
        await this.write();
        return { kind: "done" };
      case "adopt":
        if (judgeFoundDaemon(health.registration.version, this.ports.version) === "renew") {
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
    this.say(
      "plain",
      `The daemon is of version ${registration.version}; ${version} takes its place. Agents keep running.`,
    );
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
    this.phase = "starting";
    await this.write();
    const failure = await this.startDaemon();
    return failure ? this.recover(failure) : undefined;
  }

  /** GUARD-1: through the shell, as a person would, so that whatever is installed by now is what runs. */
  private async startDaemon(): Promise<DaemonFailure | undefined> {
    const { exec, program, root, env } = this.ports;
    this.say("plain", "Starting the daemon …");
    const told = upWords(this.options, this.asFound, root.project);
    const cwd = (await this.ports.files.facts(told.cwd))?.kind === "directory" ? told.cwd : root.project;
    const argv = ["sh", "-c", 'exec "$0" "$@"', ...program, "up", "--json", "--root", root.project, ...told.words];
    const options = { cwd, env, timeoutMs: UP_MS, signal: this.over.signal };
    const { code, stderr, timedOut } = await exec.run(argv, options);
    if (this.leaving) return undefined;
    const registration = this.readRegistration();
    if (code === 0 && registration) {
      this.take(registration, "is up");
      return undefined;
    }
    const said = parseError(stderr);
    // Somebody else was faster: theirs is as good.
    if (said?.code === "DAEMON_RUNNING" || said?.code === "LOCK_TAKEN") return undefined;
    const detail =
      said?.message ?? (timedOut ? `'up' had not ended after ${UP_MS / 1000} s` : `'up' ended with ${code}`);
    return { kind: "not-started", code: said?.code ?? null, detail: redact(detail) };
  }

  private take(registration: Registration, how: string): void {
    const intentAt = parseIntent(readNow(runFiles(this.ports.root.state).intent))?.at ?? 0;
    this.expected = { registration, intentAt };
    this.asFound = registration;
    this.takenAt = this.ports.clock.monotonic();
    this.watch.begin();
    this.phase = "running";
    this.standsBySaid = "";
    this.say("good", `✓ The daemon ${how} (pid ${registration.pid}, version ${registration.version}).`);
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
        if (manual) return this.giveUp("MANUAL_INTERVENTION", `${manual.path} says: ${manual.text}`);
        return this.begin();
      }
    }
  }

  /** GUARD-2: asks it to end, waits, ends it, and looks that it is gone. A pid that somebody else has is never signalled. */
  private async terminate(): Promise<void> {
    const { processes, clock } = this.ports;
    const registration = this.readRegistration();
    if (!registration || !processes.alive(registration)) return;
    this.phase = "stopping";
    await this.write();
    this.say("plain", `Ending the daemon (pid ${registration.pid}) …`);
    processes.signal(registration, "SIGTERM");
    const awaitEnd = async (ms: number) => {
      for (const until = clock.monotonic() + ms; processes.alive(registration) && clock.monotonic() < until; ) {
        await clock.sleep(LOOK_MS);
      }
      return !processes.alive(registration);
    };
    if (await awaitEnd(this.settings.graceMs)) return;
    this.say("warning", "⚠ It did not end when asked, and is ended.");
    processes.signal(registration, "SIGKILL");
    await awaitEnd(this.settings.graceMs);
  }

  /** GUARD-3: an agent of its own looks at what broke. It ends by itself, or at its time. */
  private async remediate(failure: DaemonFailure): Promise<GuardEnd | undefined> {
    const { root, files, exec, program, env, clock } = this.ports;
    this.phase = "remediating";
    this.remediation = { sinceAt: clock.now(), try: 1, failure: failure.detail };
    this.say("bad", "⚠ Entering remediation mode...");
    await this.write();
    await this.tell(`The daemon failed: ${failure.detail} An agent looks at it.`);
    const path = `${root.state}/run/remedy.json`;
    const registration = parseRegistration(readNow(runFiles(root.state).registration)) ?? null;
    const context = {
      ...{ v: 1, registration, guard: { pid: this.self.pid, since: this.since }, try: 1 },
      failure: { kind: failure.kind, detail: redact(failure.detail), code: failure.code, at: clock.now() },
    };
    await files.write(path, `${JSON.stringify(context)}\n`, { mode: 0o600 });
    const began = clock.monotonic();
    const timeoutMs = this.settings.remediationTimeoutMs;
    const options = { cwd: root.project, env, timeoutMs, signal: this.over.signal };
    const { code, timedOut, stderr } = await exec.run([...program, "remediate", path, "--json"], options);
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
    if (this.leaving === "stop" && !this.isDownByWish()) {
      const { exec, program, root, env } = this.ports;
      this.endsDaemonAt = this.ports.clock.now();
      await this.write();
      this.say("plain", "Ending the daemon and the guard; agents keep running. Once more: at once.");
      const argv = [...program, "down", "--json", "--reason", GUARD_DOWN_REASON];
      const { code } = await exec.run(argv, { cwd: root.project, env, timeoutMs: UP_MS });
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

  /** A file by which an agent or a person says that only a person can help. */
  private async findManual(): Promise<{ readonly path: string; readonly text: string } | undefined> {
    const { files, root } = this.ports;
    const name = ((await files.list(root.userDir)) ?? []).find(isManualFile);
    if (name === undefined) return undefined;
    const path = `${root.userDir}/${name}`;
    return { path, text: ((await files.read(path)) ?? "").trim().slice(0, 2_000) };
  }

  /** GUARD-8. */
  private async refuseManual(): Promise<void> {
    const manual = await this.findManual();
    if (!manual) return;
    throw new OverseerError(
      ...([
        "conflict",
        "MANUAL_INTERVENTION",
        `Somebody is needed first. ${manual.path} says: ${manual.text}`,
      ] as const),
      `Do what it says, then remove it: rm ${manual.path}`,
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
    const { maxSize, keep } = this.settings.logs;
    const path = `${this.ports.root.state}/logs/guard.log`;
    const line = `${JSON.stringify({ time: new Date(at).toISOString(), tone, text })}\n`;
    rotatingLog({ files: this.ports.files, path, maxBytes: maxSize, keep })
      .append(line)
      .catch((error: unknown) => this.ports.print(`The guard's log cannot be written: ${messageOf(error)}`));
  }

  private async write(gaveUp: GuardFile["gaveUp"] = null): Promise<void> {
    const { root, files, clock, version } = this.ports;
    const known = this.expected?.registration ?? null;
    const file: GuardFile = {
      ...{ ...this.self, instance: this.instance, version, since: this.since, phase: this.phase, at: clock.now() },
      daemon: known && { pid: known.pid, instance: known.instance, since: known.since },
      flags: this.options.flags,
      ...{
        memory: this.memory,
        remediation: this.remediation,
        endsDaemonAt: this.endsDaemonAt,
        gaveUp,
        words: this.words,
      },
    };
    try {
      await files.write(runFiles(root.state).guard, `${JSON.stringify(file)}\n`, { mode: 0o600 });
    } catch (error) {
      // A full disk must not take the guard with it; what it cannot write it still prints.
      this.ports.print(`The guard's file cannot be written: ${messageOf(error)}`);
    }
  }
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
