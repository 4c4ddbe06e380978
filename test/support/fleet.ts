/**
 * A real fleet in a disposable repository: bin/overseer, real tmux, scripted agents. Tests say what an agent does and
 * look at the log, the tables, the files and the processes; every wait is for evidence, with a deadline. `end` stops
 * whatever is left, by the identity it was recorded under, and proves that nothing is.
 */
import { Database, SQLiteError } from "bun:sqlite";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT_MARK, markOf, RUNNER_MARK } from "#act/attempt-files.ts";
import type { Heartbeat, Registration } from "#domain/health/daemon-life.ts";
import { parseHeartbeat, parseRegistration } from "#domain/health/daemon-life.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { EventOf, EventType } from "#domain/model/event.ts";
import type { Message } from "#domain/model/message.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { type Processes, type ProcessIdentity, systemProcesses } from "#sys/processes.ts";
import { findRoot } from "#sys/root.ts";
import { runFiles } from "#sys/run-files.ts";
import { realWorld } from "#wiring.ts";
import { overseer, overseerOk, type Said } from "./cli.ts";
import { type TempRepo, type TempRepoOptions, tempRepo } from "./temp.ts";

const DEADLINE_MS = 60_000;

/** Quick to end, never held up by a busy machine. */
const CONFIG = `
terminal: TERMINAL
agents:
  stagger: 0s
  startsPerMinute: 1000
  maxConcurrent: MAXCONCURRENT
  stopGrace: STOPGRACE
  turnDeadline: TURNDEADLINE
capacity: {loadFactor: 1000, minMemory: 1B, minMemoryPercent: 0, minDisk: 1B, minDiskPercent: 0}
runtimes:
  scripted: {idleEnd: IDLEEND}
`;

export interface FleetOptions extends TempRepoOptions {
  readonly terminal?: "auto" | "tmux" | "detached";
  readonly maxConcurrent?: number;
  readonly stopGrace?: string;
  readonly turnDeadline?: string;
  readonly idleEnd?: string;
  /** More lines of config.yaml. */
  readonly more?: string;
  /** Variables for every command. */
  readonly env?: Readonly<Record<string, string>>;
}

export class Fleet {
  readonly processes: Processes = systemProcesses();
  readonly userDir: string;
  readonly state: string;

  private constructor(
    readonly repo: TempRepo,
    private readonly env: Readonly<Record<string, string>>,
  ) {
    this.userDir = `${repo.path}/.overseer`;
    this.state = `${repo.path}/.git/overseer`;
  }

  static async make(options: FleetOptions = {}): Promise<Fleet> {
    const repo = tempRepo(options);
    const fleet = new Fleet(repo, options.env ?? {});
    await fleet.ok("init");
    const config = CONFIG.replace("TERMINAL", options.terminal ?? "auto")
      .replace("MAXCONCURRENT", String(options.maxConcurrent ?? 20))
      .replace("STOPGRACE", options.stopGrace ?? "1s")
      .replace("TURNDEADLINE", options.turnDeadline ?? "2h")
      .replace("IDLEEND", options.idleEnd ?? "30m");
    const { more = "" } = options;
    // What is installed on the machine besides is no concern of a test that does not ask for it.
    const runtime = /^runtime:/m.test(more) ? "" : "runtime: scripted\n";
    writeFileSync(`${fleet.userDir}/config.yaml`, `${runtime}${config}${more}`);
    return fleet;
  }

  /** The same fleet as seen at another path, or from another login. */
  at(path: string, env: Readonly<Record<string, string>> = this.env): Fleet {
    return new Fleet({ ...this.repo, path }, env);
  }

  run(...words: string[]): Promise<Said> {
    return withEnvironment(this.env, () => overseer(this.repo.path, ...words));
  }

  ok(...words: string[]): Promise<string> {
    return withEnvironment(this.env, () => overseerOk(this.repo.path, ...words));
  }

  /** Starts a scripted agent on a task of its own, or on the node that is given. */
  async sling(name: string, steps: readonly Step[], ...flags: string[]): Promise<Attempt> {
    const task = flags[0]?.startsWith("goal_") ? [] : ["--prompt", `Work ${renderScript(steps)}`];
    const words = ["sling", "--json", "--runtime", "scripted", "--name", name, ...task, ...flags];
    const { attempt } = JSON.parse(await this.ok(...words)) as { attempt: number };
    return this.attempt(attempt);
  }

  attempt(number: number): Attempt {
    const [row] = this.rows<{ doc: string }>("select doc from attempts where attempt = ?1", number);
    if (!row) throw new Error(`There is no attempt ${number}.`);
    return JSON.parse(row.doc) as Attempt;
  }

  /** The environment of a living agent, as its runner was given it. */
  environment(number: number): Record<string, string> {
    const launch = readFileSync(`${this.state}/run/attempts/${number}/launch.json`, "utf8");
    return (JSON.parse(launch) as { env: Record<string, string> }).env;
  }

  pulse(number: number): Pulse | undefined {
    const [row] = this.rows<{ doc: string }>("select doc from pulses where attempt = ?1", number);
    return row && (JSON.parse(row.doc) as Pulse);
  }

  messages(number: number): Message[] {
    return this.rows<{ doc: string }>(
      "select doc from messages where attempt = ?1 order by created_at, id",
      number,
    ).map((row) => JSON.parse(row.doc) as Message);
  }

  signals(number: number): Signal[] {
    return this.rows<Record<string, unknown>>(
      "select source, phase, at, kind, data from signals where attempt = ?1 order by id",
      number,
    ).map((row) => ({ ...row, data: JSON.parse(String(row.data)) }) as unknown as Signal);
  }

  /** All events of that type, whoever they are about. */
  all<T extends EventType>(type: T): EventOf<T>[] {
    return this.happened(`where type = '${type}'`) as EventOf<T>[];
  }

  /** Everything that is in the log. */
  happened(where = ""): EventOf[] {
    const rows = this.rows<Record<string, string | number | null>>(`select * from events ${where} order by seq`);
    return rows.map((row) => {
      const { goal_id: goalId, node_id: nodeId, assignment_id: assignmentId, data, ...rest } = row;
      return { ...rest, goalId, nodeId, assignmentId, data: JSON.parse(String(data)) } as unknown as EventOf;
    });
  }

  events<T extends EventType>(number: number, type: T): EventOf<T>[] {
    return this.rows<{ type: string; data: string; because: string }>(
      "select * from events where attempt = ?1 and type = ?2 order by seq",
      number,
      type,
    ).map((row) => ({ ...row, data: JSON.parse(row.data) }) as unknown as EventOf<T>);
  }

  rows<T>(sql: string, ...args: (number | string)[]): T[] {
    return readRows(`${this.state}/overseer.db`, sql, ...args);
  }

  log(number: number, name: "session.log" | "events.ndjson" | "tools.ndjson" | "errors.log" | "runner.log"): string {
    const path = join(this.attempt(number).logDir, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** Waits until it has said this. */
  said(number: number, text: string): Promise<string> {
    return eventually(
      () => this.log(number, "session.log").includes(text) && this.log(number, "session.log"),
      () => `"${text}" in the log of #${number}:\n${this.log(number, "session.log").slice(-2_000)}`,
    );
  }

  ended(number: number): Promise<Attempt> {
    return eventually(
      () => this.attempt(number).status === "ended" && this.attempt(number),
      () => `the end of #${number}, which is ${this.attempt(number).status}`,
    );
  }

  turns(number: number, count: number): Promise<Pulse> {
    return eventually(
      () => {
        const pulse = this.pulse(number);
        return pulse !== undefined && pulse.turns >= count && pulse;
      },
      () => `${count} turns of #${number}; ${JSON.stringify(this.pulse(number)?.turns)}`,
    );
  }

  /** How many turns it has made; none while it is not there. */
  turnsOf(number: number | undefined): number {
    return number === undefined ? 0 : (this.pulse(number)?.turns ?? 0);
  }

  /** The agent's own process, once it has one. */
  process(number: number): Promise<ProcessIdentity> {
    return eventually(
      () => this.attempt(number).process ?? undefined,
      () => `the process of #${number}`,
    );
  }

  /** Who is registered as the daemon, dead or alive. */
  daemon(): Registration | undefined {
    const path = runFiles(this.state).registration;
    return existsSync(path) ? parseRegistration(readFileSync(path, "utf8")) : undefined;
  }

  /** What it last said of itself. */
  heartbeat(): Heartbeat | undefined {
    const path = runFiles(this.state).heartbeat;
    return existsSync(path) ? parseHeartbeat(readFileSync(path, "utf8")) : undefined;
  }

  /** The daemon that has to be there. */
  theDaemon(): Registration {
    const daemon = this.daemon();
    if (!daemon) throw new Error("No daemon is registered.");
    return daemon;
  }

  /** The records of the daemon's log. */
  daemonLog(): { event: string; level: string; data: Record<string, unknown> }[] {
    const path = runFiles(this.state).log;
    const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
    return lines.filter(Boolean).map((line) => JSON.parse(line));
  }

  runner(number: number): ProcessIdentity {
    const { runner } = this.attempt(number);
    if (!runner) throw new Error(`#${number} has no runner.`);
    return runner;
  }

  /** Kills by recorded identity and waits until it is gone. */
  async kill(who: ProcessIdentity): Promise<void> {
    this.processes.signal(who, "SIGKILL");
    await eventually(
      () => !this.processes.alive(who),
      () => `the end of pid ${who.pid}`,
    );
  }

  /**
   * Holds it by a signal, between two of its writes: whoever is held in the middle of one holds the database too, and
   * that is another test.
   */
  async hang(who: ProcessIdentity): Promise<void> {
    await eventually(
      () => {
        this.processes.signal(who, "SIGSTOP");
        if (this.processes.isStopped(who) && this.mayWrite()) return true;
        this.processes.signal(who, "SIGCONT");
        return false;
      },
      () => `pid ${who.pid} to write nothing for a moment`,
    );
  }

  private mayWrite(): boolean {
    const db = new Database(`${this.state}/overseer.db`, { readwrite: true });
    try {
      db.run("begin immediate");
      db.run("rollback");
      return true;
    } catch (error) {
      if (error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY")) return false;
      throw error;
    } finally {
      db.close();
    }
  }

  /** Everything that carries the mark of this attempt: runner, agent, tools, what they left behind. */
  marked(number: number): ProcessIdentity[] {
    const value = markOf({ state: this.state }, number);
    return [RUNNER_MARK, AGENT_MARK].flatMap((name) => this.processes.withEnvironment(name, value));
  }

  async socketDir(): Promise<string> {
    const env = { ...process.env, ...this.env };
    const root = await findRoot({ cwd: this.repo.path, env: {} });
    return realWorld(root, env).socketDir();
  }

  /** A command to the tmux server of this repository, as a person would give it. */
  async tmux(...words: string[]): Promise<string> {
    const done = Bun.spawnSync(["tmux", "-S", `${await this.socketDir()}/tmux`, ...words], { stderr: "pipe" });
    return done.exitCode === 0 ? done.stdout.toString() : "";
  }

  async tmuxServer(): Promise<ProcessIdentity> {
    const server = this.processes.identify(Number(await this.tmux("display-message", "-p", "#{pid}")));
    if (!server) throw new Error("No tmux server runs.");
    return server;
  }

  /** Ends everything, and tells what would not end. */
  async end(): Promise<void> {
    const daemon = this.daemon();
    if (daemon) this.processes.signal(daemon, "SIGCONT");
    if (daemon) await this.run("down");
    await this.run("nuke", "--all", "--discard");
    const numbers = this.rows<{ attempt: number }>("select attempt from attempts").map((row) => row.attempt);
    const left = numbers.flatMap((number) => this.marked(number));
    for (const one of left) this.processes.signal(one, "SIGKILL");
    await this.tmux("kill-server");
    if (left.length > 0) throw new Error(`Left behind after nuke --all: ${left.map(({ pid }) => pid).join(", ")}`);
  }
}

async function withEnvironment<T>(env: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  const started = work(); // the process is started before the first await
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  return started;
}

/** What a database of the product answers, while it is in use. */
export function readRows<T>(path: string, sql: string, ...args: (number | string)[]): T[] {
  const db = new Database(path, { readonly: true });
  try {
    // The last of the product's connections holds the file alone while it closes.
    db.run("pragma busy_timeout = 5000");
    return db.query<T, (number | string)[]>(sql).all(...args);
  } finally {
    db.close();
  }
}

/** Polls, ever more gently: real processes tell nobody when they are ready. */
export async function eventually<T>(
  look: () => T | undefined | false,
  what: () => string,
  deadlineMs = DEADLINE_MS,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (let pause = 5; ; pause = Math.min(40, pause * 1.3)) {
    const seen = unlessBusy(look);
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline) throw new Error(`Waited in vain for ${what()}`);
    await Bun.sleep(pause);
  }
}

/** A database that is held for longer than anybody waits is looked at again; every other error is the test's. */
function unlessBusy<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}
