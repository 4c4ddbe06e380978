/**
 * The real Guard over a daemon that is only files and a row in a virtual process table: time passes only while the guard
 * sleeps or waits for a program, so a weekend takes a moment and every run is the same. What the daemon would leave in run/
 * is left there for real, because the guard reads it without a port.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GuardFile, parseGuardFile } from "#domain/guard/guard-file.ts";
import { type DaemonEnding, type Intent, parseIntent, type Registration } from "#domain/health/daemon-life.ts";
import { Guard, type GuardEnd } from "#guard/guard.ts";
import type { GuardPorts } from "#guard/ports.ts";
import { VirtualLocks } from "#sim/virtual-locks.ts";
import { type VirtualProcesses, virtualProcesses } from "#sim/virtual-processes.ts";
import type { ExecOptions, ExecResult } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import type { ProcessIdentity, SignalName } from "#sys/processes.ts";
import { runFiles } from "#sys/run-files.ts";
import { makeSeededIds } from "#sys/virtual-ids.ts";

export const LIMITS = {
  checkEvery: 5_000,
  heartbeatTimeout: 30_000,
  grace: 10_000,
  stallAfter: 600_000,
  stallRestarts: 3,
  cooldown: 60_000,
  remediationTimeout: 300_000,
  strict: false,
};
const TICK_EVERY = 20_000;
const UP_TAKES_MS = 1_000;

export interface VirtualDaemon extends ProcessIdentity {
  readonly instance: string;
  readonly upAt: number;
  beats: boolean;
  ticks: boolean;
  /** There is work that could move. */
  open: boolean;
  moves: boolean;
}

/** What `up` and `remediate` answer; asked each time. */
export interface Answers {
  /** An error code where the start is refused. */
  refuseStart?(): string | undefined;
  remediate?(): "fixed" | "failed" | "hangs" | "manual";
}

export class VirtualGuard {
  readonly processes: VirtualProcesses = virtualProcesses();
  readonly calls: { readonly word: string; readonly at: number }[] = [];
  readonly printed: string[] = [];
  daemon: VirtualDaemon | undefined;
  /** Every daemon that ever was. */
  readonly daemons: VirtualDaemon[] = [];
  free = 1e12;
  time = 1_000_000;
  readonly state: string;
  readonly userDir: string;
  private readonly locks = new VirtualLocks();
  private readonly due: { readonly at: number; readonly run: () => void }[] = [];
  private ticks = 0;
  private progressAt = 0;
  private lastTickAt = 0;
  private steps = 0;

  constructor(
    readonly directory: string,
    private readonly answers: Answers = {},
    limits: Partial<typeof LIMITS> = {},
    /** More is a loop without an end. */
    private readonly mostSteps = 200_000,
  ) {
    this.state = join(directory, "state");
    this.userDir = join(directory, "user");
    for (const path of [`${this.state}/run`, `${this.state}/logs`, this.userDir]) mkdirSync(path, { recursive: true });
    const config = { guard: { ...LIMITS, ...limits }, reconcile: { tickEvery: TICK_EVERY, deadmanFactor: 3 } };
    writeFileSync(`${this.state}/run/config.json`, JSON.stringify({ hash: "h", config }));
  }

  /** A guard as `overseer guard` starts one; another one after it shares nothing with it but the files. */
  guard(options: { readonly once?: boolean } = {}): Guard {
    return new Guard(this.ports(), { flags: [], cwd: "/", once: options.once ?? false });
  }

  async watch(forMs: number): Promise<GuardEnd> {
    const guard = this.guard();
    this.after(forMs, () => guard.stop("leave"));
    return guard.run();
  }

  after(ms: number, run: () => void): void {
    this.due.push({ at: this.time + ms, run });
  }

  file(): GuardFile {
    const file = parseGuardFile(this.read(runFiles(this.state).guard));
    if (!file) throw new Error("The guard has left no file.");
    return file;
  }

  count(word: string): number {
    return this.calls.filter((one) => one.word === word).length;
  }

  /** As kill -9, or as an end by itself that says how. */
  endDaemon(ending?: Partial<DaemonEnding>): void {
    const { daemon } = this;
    if (!daemon) return;
    if (ending) {
      const said = { instance: daemon.instance, at: this.time, reason: "x", done: false, failure: null, ...ending };
      writeFileSync(runFiles(this.state).ending, JSON.stringify(said));
      rmSync(runFiles(this.state).registration, { force: true });
    }
    this.processes.exit(daemon.pid);
    this.daemon = undefined;
  }

  /** As a daemon comes up that nobody told the guard of. */
  startDaemon(ignores: readonly SignalName[] = []): VirtualDaemon {
    const { pid, start } = this.processes.spawn({
      parent: 1,
      group: "own",
      session: "own",
      command: "daemon",
      ignores,
    });
    const instance = `d_${this.daemons.length + 1}`;
    this.daemon = { pid, start, instance, upAt: this.time, beats: true, ticks: true, open: false, moves: true };
    this.daemons.push(this.daemon);
    this.register(this.daemon);
    // As a daemon does that comes up after a `down`.
    if (parseIntent(this.read(runFiles(this.state).intent))?.want === "down") this.intend("up");
    this.progressAt = this.lastTickAt = this.time;
    this.beat();
    return this.daemon;
  }

  intend(want: Intent["want"]): void {
    const intent: Intent = { want, at: this.time, by: "human:ada", reason: null };
    writeFileSync(runFiles(this.state).intent, JSON.stringify(intent));
  }

  logFault(event: string, data: Record<string, unknown> = {}): void {
    appendFileSync(runFiles(this.state).log, `${JSON.stringify({ level: "error", event, data })}\n`);
  }

  private register({ pid, start, instance, upAt: since }: VirtualDaemon): void {
    const { registration, log } = runFiles(this.state);
    const said: Registration = {
      ...{ pid, start, instance, version: "1", socket: "/s", log, since, supervision: true },
      ...{ auto: false, flags: {} },
    };
    writeFileSync(registration, JSON.stringify(said));
  }

  private ports(): GuardPorts {
    const { directory: project, state, userDir } = this;
    const real = systemFiles();
    return {
      root: { project, userDir, state, gitCommonDir: project },
      ...{ env: {}, version: "1", colour: false, program: ["overseer"], processes: this.processes },
      ids: makeSeededIds(this.time),
      clock: {
        now: () => this.time,
        monotonic: () => this.time,
        boot: () => "virtual",
        sleep: async (ms, signal) => {
          if (!signal?.aborted) this.pass(ms);
        },
      },
      files: {
        ...real,
        write: async (path, text) => writeFileSync(path, text),
        append: async (path, text) => appendFileSync(path, text),
        freeBytes: async () => this.free,
      },
      exec: { run: async (argv, options) => this.run(argv, options ?? {}) },
      takeLock: (path) => this.locks.viewFrom(() => false).take(path),
      print: (text) => void this.printed.push(text),
    };
  }

  private run(argv: readonly string[], { timeoutMs = 60_000 }: ExecOptions): ExecResult {
    const words = argv.slice(argv.lastIndexOf("overseer") + 1);
    const [word = ""] = words;
    this.calls.push({ word, at: this.time });
    const result: ExecResult = { code: 0, signal: null, stdout: "", stderr: "", timedOut: false, truncated: false };
    if (word === "up") return { ...result, ...this.up() };
    if (word === "down") {
      this.intend("down");
      this.endDaemon({ reason: "down" });
    }
    if (word !== "remediate") return result;
    const answer = this.answers.remediate?.() ?? "failed";
    this.pass(answer === "hangs" ? timeoutMs : 20_000);
    if (answer === "hangs") return { ...result, code: null, timedOut: true };
    if (answer === "manual") writeFileSync(join(this.userDir, "manual_intervention_needed_1.txt"), "Call Ada.\n");
    return { ...result, code: answer === "failed" ? 3 : 0 };
  }

  private up(): Partial<ExecResult> {
    this.pass(UP_TAKES_MS);
    const refuse = (code: string) => ({
      code: 5,
      stderr: JSON.stringify({ error: { code, message: `It says ${code}.`, hint: "" } }),
    });
    if (this.daemon && this.processes.alive(this.daemon)) return refuse("DAEMON_RUNNING");
    const refused = this.answers.refuseStart?.();
    if (refused !== undefined) return refuse(refused);
    this.startDaemon();
    this.intend("up");
    return {};
  }

  /** Time passes in small steps, with what the daemon does in them. */
  private pass(ms: number): void {
    for (const until = this.time + ms; ; ) {
      this.steps += 1;
      if (this.steps > this.mostSteps) throw new Error("The guard goes on for ever.");
      const next = Math.min(until, this.time + 5_000, ...this.due.map(({ at }) => Math.max(at, this.time)));
      this.time = next;
      for (const one of this.due.filter(({ at }) => at <= this.time)) {
        this.due.splice(this.due.indexOf(one), 1);
        one.run();
      }
      this.beat();
      if (this.time >= until) return;
    }
  }

  private beat(): void {
    const { daemon } = this;
    if (!daemon?.beats || !this.processes.alive(daemon)) return;
    if (daemon.ticks && this.time - this.lastTickAt >= TICK_EVERY) {
      this.lastTickAt = this.time;
      this.ticks += 1;
      if (daemon.moves || !daemon.open) this.progressAt = this.time;
    }
    if (!existsSync(runFiles(this.state).registration)) this.register(daemon); // as its upkeep does
    const beat = {
      ...{ instance: daemon.instance, at: this.time, bootMs: this.time, ticks: this.ticks, tickedAt: this.lastTickAt },
      work: { open: daemon.open, progressAt: this.progressAt },
    };
    writeFileSync(runFiles(this.state).heartbeat, JSON.stringify(beat));
  }

  private read(path: string): string | undefined {
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }
}
