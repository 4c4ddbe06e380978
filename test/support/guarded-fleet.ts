/**
 * A real fleet under a real guard: the bundled program as it is installed, except that `remediate` is answered by a script of
 * the test, because what an agent finds out about a failure is not what these tests ask. Everything else is handed to the
 * real program. The guard is ended after the test, by its own pid.
 */
import { afterEach } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type GuardFile, parseGuardFile } from "#domain/guard/guard-file.ts";
import { parseHeartbeat } from "#domain/health/daemon-life.ts";
import { runFiles } from "#sys/run-files.ts";
import { eventually, Fleet, type FleetOptions } from "./fleet.ts";
import { tempDir } from "./temp.ts";

const project = join(import.meta.dir, "../..");

/** Short for a test, long for a busy machine. */
const LIMITS = {
  ...{ checkEvery: "50ms", heartbeatTimeout: "2s", grace: "1s", cooldown: "1m", stallAfter: "1h", stallRestarts: 2 },
  remediationTimeout: "20s",
};
export type GuardLimits = Partial<{ readonly [key in keyof typeof LIMITS]: string | number }>;

export interface GuardedOptions extends FleetOptions {
  readonly guard?: GuardLimits;
  /** Shell lines for `remediate`, in the repository; `$1` is the context file. */
  readonly remedy?: string;
  readonly tick?: string;
}

export class GuardedFleet {
  /** Everything any guard of it has printed. */
  private readonly output: string;
  private readonly install: string;
  private child: Bun.Subprocess | undefined;

  private constructor(
    readonly fleet: Fleet,
    remedy: string,
  ) {
    const place = tempDir("install-");
    this.output = join(place, "guard.out");
    this.install = installWith(place, remedy);
  }

  static async make({ guard = {}, remedy = "exit 0", tick = "1s", more = "", ...rest }: GuardedOptions = {}) {
    const limits = JSON.stringify({ ...LIMITS, ...guard });
    const quick = `guard: ${limits}\nreconcile: {tickEvery: ${tick}}\ndaemon: {heartbeatEvery: 100ms, drainTimeout: 2s}\n`;
    const fleet = await Fleet.make({ ...rest, more: `${quick}${more}` });
    await fleet.ok("trust", "--yes"); // so that these numbers hold from the first look on
    return new GuardedFleet(fleet, remedy);
  }

  /** `overseer guard …`, as a person starts it. */
  start(...words: string[]): Bun.Subprocess {
    const out = openSync(this.output, "a");
    const { path: cwd } = this.fleet.repo;
    this.child = Bun.spawn([this.program, "guard", ...words], {
      ...{ cwd, stdin: "ignore", stdout: out, stderr: out },
    });
    return this.child;
  }

  /** The same, and waits until it watches a daemon that lives. */
  async watching(...words: string[]): Promise<Bun.Subprocess> {
    const child = this.start(...words);
    await this.until(() => this.file()?.pid === child.pid, "the guard's own file");
    await this.running();
    return child;
  }

  /** The daemon that the guard watches, once it has ticked: from then on the settings are those of the test. */
  running(not?: number) {
    return this.until(() => {
      const daemon = this.fleet.daemon();
      const isThere = daemon && daemon.pid !== not && this.fleet.processes.alive(daemon) && this.beat().ticks > 0;
      const isWatched = this.file()?.daemon?.pid === daemon?.pid && this.file()?.phase === "running";
      return isThere && this.beat().instance === daemon.instance && isWatched && daemon;
    }, "a daemon that is watched");
  }

  /** The last heartbeat. */
  beat(): { readonly instance: string; readonly ticks: number; readonly at: number } {
    const path = runFiles(this.fleet.state).heartbeat;
    const beat = existsSync(path) ? parseHeartbeat(readFileSync(path, "utf8")) : undefined;
    return beat ?? { instance: "", ticks: 0, at: 0 };
  }

  /** Waits for more ticks. */
  async ticks(count: number): Promise<void> {
    const from = this.beat().ticks;
    await this.until(() => this.beat().ticks >= from + count, `${count} ticks`);
  }

  /** The installed program. */
  get program(): string {
    return join(this.install, "bin/overseer");
  }

  said(): string {
    return existsSync(this.output) ? readFileSync(this.output, "utf8") : "";
  }

  count(text: string): number {
    return this.said().split(text).length - 1;
  }

  file(): GuardFile | undefined {
    const path = runFiles(this.fleet.state).guard;
    return existsSync(path) ? parseGuardFile(readFileSync(path, "utf8")) : undefined;
  }

  says(text: string, times = 1): Promise<true> {
    return this.until(() => this.count(text) >= times && true, `"${text}"`);
  }

  until<T>(look: () => T | undefined | false, what: string): Promise<T> {
    return eventually(
      look,
      () => `${what}; the guard said:\n${this.said()}\n${JSON.stringify(this.fleet.daemonLog().slice(-4))}`,
      15_000,
    );
  }

  /** How the guard ended. */
  async ended(): Promise<number | null> {
    const { child } = this;
    if (!child) throw new Error("No guard was started.");
    await this.until(() => child.exitCode !== null || child.signalCode !== null, "the end of the guard");
    return child.exitCode;
  }

  /** Asks it to end by that signal; its exit code. */
  async stopBy(signal: "SIGINT" | "SIGTERM"): Promise<number | null> {
    this.child?.kill(signal);
    return this.ended();
  }

  /** How often a remediation was asked for. */
  remedied(): number {
    return readdirSync(this.install).filter((name) => name.startsWith("remedied.")).length;
  }

  async end(): Promise<void> {
    const { child } = this;
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await child.exited;
    }
    await this.fleet.end();
  }
}

/** Made when a test asks, ended after it. */
export function endedGuards(always: GuardedOptions = {}): (options?: GuardedOptions) => Promise<GuardedFleet> {
  const made: GuardedFleet[] = [];
  afterEach(async () => {
    for (const one of made.splice(0)) await one.end();
  });
  return async (options = {}) => {
    const one = await GuardedFleet.make({ ...always, ...options });
    made.push(one);
    return one;
  };
}

/** An installation whose main program answers `remediate` by that script. */
function installWith(place: string, remedy: string): string {
  const install = join(place, "overseer");
  for (const name of ["bin", "dist"]) mkdirSync(join(install, name), { recursive: true });
  symlinkSync(join(project, "node_modules"), join(install, "node_modules"));
  copyFileSync(join(project, "bin/overseer"), join(install, "bin/overseer"));
  // A copy, because a program finds its other parts where it really lies.
  for (const name of ["daemon-guard.js", "daemon-guard.js.jsc"])
    copyFileSync(join(project, "dist", name), join(install, "dist", name));
  const script = join(install, "remedy.sh");
  writeFileSync(script, `touch ${install}/remedied.$$\n${remedy}\n`);
  const real = [process.execPath, "--config=/dev/null", "--no-env-file", join(project, "dist/overseer.js")];
  writeFileSync(
    join(install, "dist/overseer.js"),
    `const words = process.argv.slice(2);
const argv = words[0] === "remediate" ? ["sh", ${JSON.stringify(script)}, ...words.slice(1)] : [...${JSON.stringify(real)}, ...words];
const child = Bun.spawn(argv, { stdio: ["inherit", "inherit", "inherit"] });
void child.exited.then((code) => process.exit(code));
`,
  );
  return install;
}
