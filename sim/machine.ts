/**
 * The machine under a simulated Overseer: time, chance, ids, files, processes, terminals, git and the store, all in
 * memory, all from one seed. What Overseer is given of it passes through a strike: there a call may fail, or the process
 * that makes it may die, before or after it is done. A dead process never hears of anything again; what it had in memory
 * is gone, and the next one begins over the same store, files and processes. Agents live here too and survive it.
 */
import type { MachineRoom } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import type { Hold } from "#domain/health/settings.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { ProviderCause } from "#domain/model/provider-cause.ts";
import { PERMISSION_MODES } from "#domain/model/role.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { Runtime } from "#runtimes/runtime.ts";
import type { HealthLog } from "#store/health-log.ts";
import type { MemoryStore } from "#store/memory.ts";
import { memoryStore } from "#store/memory.ts";
import type { Query } from "#store/query.ts";
import type { Reads, Store } from "#store/store.ts";
import type { Exec, ExecResult } from "#sys/exec.ts";
import type { Ids } from "#sys/ids.ts";
import type { Processes, ProcessIdentity } from "#sys/processes.ts";
import type { VirtualClock } from "#sys/virtual-clock.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { makeSeededIds } from "#sys/virtual-ids.ts";
import type { FakeProgramSide } from "#terminals/fake.ts";
import { FakeProcesses, FakeTerminal } from "#terminals/fake.ts";
import { readPrinted } from "./planner.ts";
import type { VirtualPool } from "./pool.ts";
import type { MemoryFiles } from "./virtual-files.ts";
import { memoryFiles } from "./virtual-files.ts";
import { CHECKOUT, REPOSITORY, VirtualGit } from "./virtual-git.ts";
import { VirtualLocks } from "./virtual-locks.ts";

/** Monday morning; every simulation begins then. */
export const BEGINNING_OF_TIME = Date.UTC(2026, 0, 5, 9, 0, 0);

/** What happens to one call: nothing, a failure in its place, or the end of the process that makes it. */
export type Strike =
  | { readonly kind: "fail"; readonly error: Error }
  | { readonly kind: "die"; readonly when: "before" | "after" };

/** Asked at every call of a port, as `files.write`. */
export type Striker = (call: string) => Strike | undefined;

/** One process of Overseer's. */
export interface Life {
  readonly identity: ProcessIdentity;
  readonly world: World;
  /** Where it keeps how agents do. */
  readonly health: HealthLog;
  /** Resolves when it dies. */
  readonly over: Promise<"died">;
  isOver(): boolean;
  /** It ends by itself. */
  end(): void;
}

const GB = 1024 ** 3;
const ROOMY: MachineRoom = {
  load: 0,
  cores: 8,
  freeMemoryBytes: 50 * GB,
  totalMemoryBytes: 100 * GB,
  freeDiskBytes: 500 * GB,
  totalDiskBytes: 1000 * GB,
};

/** How the provider of everybody's model fails: what it says, and whether it says anything at all. */
export interface ProviderDown {
  readonly cause: ProviderCause;
  readonly answers: boolean;
}

/** Far less free than any limit. */
const NEARLY_FULL: MachineRoom = { ...ROOMY, freeDiskBytes: GB / 10 };

export class Machine {
  readonly clock: VirtualClock = virtualClock({ now: BEGINNING_OF_TIME });
  readonly files: MemoryFiles;
  readonly store: MemoryStore;
  /** What was written since somebody last took it from here. */
  fresh: EventOf[] = [];
  readonly git: VirtualGit;
  readonly processes = new FakeProcesses();
  readonly terminal: FakeTerminal;
  readonly ids: Ids;
  /** Whether checks fail on what is whole. */
  flakes: () => boolean = () => false;
  /** What happens beside whoever waits. */
  meanwhile: () => Promise<void> = async () => {};
  /** Set while the settings are missing or wait for a person. */
  hold: Hold | null = null;
  /** Set while the provider fails. */
  provider: ProviderDown | null = null;
  /** What the CLI's model says when it is asked for one answer; undefined: it does not answer in time. */
  answersModel: (prompt: string) => Promise<string | undefined> = async () => undefined;
  /** What the CLI says is in the way of using it, while something is. */
  notReady: string | null = null;
  /** Whether the disk has less free than must stay so. */
  isDiskShort = false;
  /** The user's task pool, where auto mode runs. */
  pool: VirtualPool | null = null;
  /** The attempt whose pulse is spoiled in the store: whoever judges by it fails. */
  spoiledPulse: number | null = null;
  private readonly locks = new VirtualLocks();
  private readonly runtime: Runtime;

  constructor(
    seed: number,
    readonly config: Config,
    program: (side: FakeProgramSide) => void,
  ) {
    this.files = memoryFiles({ now: () => this.clock.now() });
    this.git = new VirtualGit(this.files);
    this.runtime = {
      ...RUNTIME,
      // Not an async one: whoever waits a little longer is overtaken, which would be another course.
      probe: (wish) =>
        this.notReady === null
          ? RUNTIME.probe(wish)
          : Promise.resolve({ ready: false, reason: this.notReady, hint: "It is simulated." }),
      sessionFile: (session) => {
        const path = sessionPath(session);
        return this.files.readNow(path) === undefined ? undefined : path;
      },
    };
    const store = memoryStore({ identity: "s_simulated" });
    this.store = {
      ...store,
      commit: async (request) => {
        const outcome = await store.commit(request);
        if (outcome.ok) this.fresh.push(...outcome.events);
        return outcome;
      },
    };
    this.ids = makeSeededIds(seed);
    const { clock, processes } = this;
    this.terminal = new FakeTerminal({ clock, processes, program });
  }

  /** Time passes, and everybody else continues. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.meanwhile();
  }

  /** A process of Overseer's, whose calls are struck as `strike` says. */
  begin(strike: Striker, shape: (store: Store) => Store = (store) => store): Life {
    const identity = this.processes.start({ command: "overseer", env: {} });
    // Its own: whatever waits for an answer that never comes is forgotten together with it.
    const never = new Promise<never>(() => {});
    let dead = false;
    let tell: (how: "died") => void = () => {};
    const over = new Promise<"died">((resolve) => {
      tell = resolve;
    });
    const die = () => {
      dead = true;
      this.processes.end(identity);
      tell("died");
    };
    const through = (call: string, work: () => unknown): unknown => {
      if (dead) return never;
      const struck = strike(call);
      if (struck === undefined) return work();
      if (struck.kind === "fail") return Promise.reject(struck.error);
      if (struck.when === "after") void Promise.resolve(work()).catch(() => undefined);
      die();
      return never;
    };
    const world = this.worldOf(
      identity,
      () => dead,
      through,
      (store) => shape(this.spoil(store)),
    );
    const health: HealthLog = {
      note: (now, changes) => through("health.note", () => this.store.health.note(now, changes)) as Promise<void>,
      close: () => {},
    };
    return { identity, over, isOver: () => dead, end: die, world, health };
  }

  /** What Overseer reads of a pulse that is spoiled has no calls; its columns are as they were. */
  private spoil(real: Store): Store {
    const read = <R extends Reads>(reads: R): R => {
      const { spoiledPulse } = this;
      if (spoiledPulse === null) return reads;
      const spoiled = Object.entries(reads).map(([name, query]) => [name, readSpoiled(query, spoiledPulse)]);
      return Object.fromEntries(spoiled) as R;
    };
    return {
      ...real,
      read: (reads) => real.read(read(reads)),
      commit: (request) => real.commit({ ...request, reads: read(request.reads) }),
    };
  }

  /** The same for people and agents, to whom nothing happens here. */
  outside(actor: World["actor"]): World {
    const identity = { pid: 2, start: "people" };
    const world = this.worldOf(
      identity,
      () => false,
      (_call, work) => work(),
      (store) => store,
    );
    return { ...world, actor };
  }

  private worldOf(
    identity: ProcessIdentity,
    isDead: () => boolean,
    through: (call: string, work: () => unknown) => unknown,
    shape: (store: Store) => Store,
  ): World {
    const part = <T extends object>(port: string, real: T, methods: readonly (keyof T & string)[]): T => {
      const made: Record<string, unknown> = {};
      for (const method of methods) {
        const call = `${port}.${method}`;
        const own = real[method] as unknown as (...args: unknown[]) => unknown;
        made[method] = (...args: unknown[]) => through(call, () => own.apply(real, args));
      }
      return { ...real, ...made } as T;
    };
    const clock = {
      now: () => this.clock.now(),
      monotonic: () => this.clock.monotonic(),
      boot: () => this.clock.boot(),
      sleep: (ms: number) => this.pass(ms),
    };
    const files = part("files", this.files, [
      "read",
      "write",
      "append",
      "facts",
      "list",
      "makeDir",
      "remove",
      "rename",
      "realPath",
    ]);
    const exec = part("exec", this.programs(isDead), ["run"]);
    const git = part("git", this.git as Pick<VirtualGit, "run" | "attempt" | "probe">, ["run", "attempt", "probe"]);
    const store = part("store", shape(this.store), ["commit", "read"]);
    const terminal = part("terminal", this.terminalPort(), ["open", "list", "kill"]);
    return {
      root: {
        project: CHECKOUT,
        userDir: `${CHECKOUT}/.overseer`,
        state: `${REPOSITORY}/overseer`,
        gitCommonDir: REPOSITORY,
      },
      actor: "overseer",
      env: {},
      clock,
      ids: this.ids,
      files,
      exec,
      processes: this.viewProcessesAs(identity),
      git: { git, exec, files, clock, ids: this.ids },
      reader: async () => store,
      writer: async () => store,
      config: async () => this.config,
      settings: async () => ({ config: this.config, files, hold: this.hold, keep: async () => undefined }),
      terminal: async () => terminal,
      runtime: async () => this.runtime,
      socketDir: async () => `${CHECKOUT}/sockets`,
      // A hint may get lost; agents look by themselves at every step.
      wakeSocket: async () => false,
      readNow: (path) => this.files.readNow(path),
      runnerCommand: ["/overseer-simulation/runner"],
      hookCommand: ["/overseer-simulation/hook"],
      permitCommand: ["/overseer-simulation/permit"],
      takeLock: this.locks.viewFrom(isDead).take,
      room: async () => (this.isDiskShort ? NEARLY_FULL : ROOMY),
    };
  }

  private terminalPort(): FakeTerminal {
    const { terminal } = this;
    return {
      kind: terminal.kind,
      open: (request: Parameters<FakeTerminal["open"]>[0]) => terminal.open(request),
      list: () => terminal.list(),
      kill: (handle: Parameters<FakeTerminal["kill"]>[0]) => terminal.kill(handle),
    } as unknown as FakeTerminal;
  }

  private viewProcessesAs(identity: ProcessIdentity): Processes {
    const table = this.processes;
    return {
      self: () => identity,
      identify: (pid) => table.identify(pid),
      alive: (one) => table.alive(one),
      isStopped: (one) => table.isStopped(one),
      signal: (one, signal) => table.signal(one, signal),
      list: () => table.list(),
      withEnvironment: (name, value) => table.withEnvironment(name, value),
      variable: (pid, name) => table.variable(pid, name),
      place: (pid) => table.place(pid),
      effort: (pid) => table.effort(pid),
    };
  }

  /** The user's checks are run, which pass on what is whole, and the command of their pool. */
  private programs(isDead: () => boolean): Exec {
    return {
      run: async (argv, options): Promise<ExecResult> => {
        if (argv[0] === MODEL_PROGRAM) return this.runModel(String(options?.stdin ?? ""));
        if (argv[0] === "tail") return { ...RAN_WELL, stdout: "the end of a log\n" };
        // No worktree here has a repository or an ignored file in it.
        if (argv[0] === "find") return RAN_WELL;
        if (this.pool && argv[3] === "task-pool") return this.pool.run(argv, options, isDead);
        const whole = ![...this.git.contentAt(options?.cwd ?? "").values()].some((text) => text.startsWith("broken"));
        const code = whole && !this.flakes() ? 0 : 1;
        return { ...RAN_WELL, code, stdout: code === 0 ? "ok\n" : "1 failed\n" };
      },
    };
  }

  private async runModel(prompt: string): Promise<ExecResult> {
    const stdout = await this.answersModel(prompt);
    return stdout === undefined ? { ...RAN_WELL, code: null, timedOut: true } : { ...RAN_WELL, stdout };
  }
}

function readSpoiled(query: Query<unknown>, attempt: number): Query<unknown> {
  return {
    ...query,
    memory: (tables) => {
      const pulse = tables.pulses.get(attempt);
      if (!pulse) return query.memory(tables);
      const { calls: _lost, ...spoiled } = pulse;
      return query.memory({ ...tables, pulses: new Map([...tables.pulses, [attempt, spoiled as Pulse]]) });
    },
  };
}

const RAN_WELL: ExecResult = { code: 0, signal: null, stdout: "", stderr: "", timedOut: false, truncated: false };
const MODEL_PROGRAM = "/overseer-simulation/model";

/** Where the played CLI keeps a session. */
export function sessionPath(session: string): string {
  return `${HOME_OF_CLI}/${session}.jsonl`;
}

const HOME_OF_CLI = "/overseer-simulation/sessions";

/** An agent CLI that is always there and needs no files; what it would do is played by agents.ts. */
const RUNTIME: Runtime = {
  name: "scripted",
  capabilities: {
    ...{ driven: true, interactive: false, resume: true, interrupt: true, midTurn: true, oneShot: false },
    tools: {
      names: { read: [], search: [], edit: [], shell: [], web: [], subagent: [], "ask-user": [] },
      canDeny: true,
      permissionModes: PERMISSION_MODES,
    },
  },
  probe: async () => ({ ready: true, program: "/overseer-simulation/agent", version: "1" }),
  prepare: () => [],
  launch: () => notPlayed("launch"),
  render: () => notPlayed("render"),
  interrupt: () => notPlayed("interrupt"),
  reader: () => notPlayed("reader"),
  tell: () => notPlayed("tell"),
  sessionFile: () => undefined,
  oneShot: ({ prompt, cwd, env }) => ({ launch: { argv: [MODEL_PROGRAM], cwd, env }, stdin: prompt }),
  answer: readPrinted,
};

function notPlayed(what: string): never {
  throw new Error(`The simulated runtime does not play ${what}.`);
}
