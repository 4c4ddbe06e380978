/**
 * Terminals and their processes in memory, for the simulator and for tests of whatever uses a terminal. It keeps the
 * promises of the contract (exact names, identity by pid and start time, nobody types while a person looks) without
 * starting anything: what a "program" does is a function handed in, which may print, read and exit.
 */
import { OverseerError } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";
import type { ProcessEffort, Processes, ProcessFacts, ProcessIdentity, SignalName } from "#sys/processes.ts";
import { checkRequestForm } from "./open-request.ts";
import { checkPrintable } from "./printable-text.ts";
import type {
  Availability,
  KillOutcome,
  OpenRequest,
  SendOutcome,
  Terminal,
  TerminalFacts,
  TerminalHandle,
  TerminalKey,
} from "./terminal.ts";
import { exactTarget } from "./tmux-commands.ts";

/** The side of a terminal that its program sees. */
export interface FakeProgramSide {
  readonly request: OpenRequest;
  print(text: string): void;
  exit(): void;
  /** Called with what is pasted or pressed. */
  onInput(read: (text: string) => void): void;
  /** Without one SIGTERM and SIGHUP end the program; with one it decides itself. SIGKILL asks nobody. */
  onSignal(handle: (signal: SignalName) => void): void;
}

export type FakeProgram = (side: FakeProgramSide) => void;

interface FakeSession {
  readonly handle: TerminalHandle;
  readonly createdAt: number;
  output: string;
  attached: number;
  read: (text: string) => void;
}

const KEY_TEXT: Readonly<Record<TerminalKey, string>> = {
  Enter: "\r",
  Escape: "\u001b",
  Tab: "\t",
  Up: "\u001b[A",
  Down: "\u001b[B",
  "C-c": "\u0003",
  "C-d": "\u0004",
};

export class FakeTerminal implements Terminal {
  readonly kind = "tmux";
  readonly processes: FakeProcesses;
  readonly #sessions = new Map<string, FakeSession>();
  readonly #clock: Clock;
  readonly #program: FakeProgram;
  #opened = 0;
  #server = 1;

  constructor(options: { readonly clock: Clock; readonly program: FakeProgram; readonly processes?: FakeProcesses }) {
    this.#clock = options.clock;
    this.#program = options.program;
    this.processes = options.processes ?? new FakeProcesses();
  }

  async available(): Promise<Availability> {
    return { ok: true };
  }

  async open(request: OpenRequest): Promise<TerminalHandle> {
    checkRequestForm(request);
    if (this.#sessions.has(request.name)) {
      const hint = "`overseer agents` shows who runs; stop that attempt before it is started again.";
      throw new OverseerError("conflict", "TERMINAL_EXISTS", `A terminal ${request.name} is open already.`, hint);
    }
    const pid = this.processes.start({ command: request.argv[0] ?? "", env: request.env });
    const handle: TerminalHandle = {
      ...{ kind: "tmux", name: request.name, pid, socket: "memory" },
      ...{ sessionId: `$${this.#opened}`, paneId: `%${this.#opened}`, sessionCreated: this.#server },
    };
    this.#opened += 1;
    const session: FakeSession = {
      handle,
      createdAt: this.#clock.now(),
      output: "",
      attached: 0,
      read: () => undefined,
    };
    this.#sessions.set(request.name, session);
    this.processes.onEnd(pid, () => this.#close(handle));
    this.#program(this.#sideOf(session, request));
    return handle;
  }

  async list(): Promise<TerminalFacts[]> {
    return [...this.#sessions.values()].map(({ handle, createdAt, attached }) => ({
      ...{ name: handle.name, kind: "tmux", pid: handle.pid.pid, createdAt, attached, handle },
    }));
  }

  async capture(handle: TerminalHandle, { lines }: { readonly lines: number }): Promise<string | undefined> {
    const shown = this.#find(handle)?.output.trimEnd();
    return shown?.split("\n").slice(-lines).join("\n");
  }

  attachCommand(handle: TerminalHandle): string[] {
    return ["attach-in-memory", exactTarget(handle.name)];
  }

  async sendText(handle: TerminalHandle, text: string): Promise<SendOutcome> {
    checkPrintable(text);
    return this.#send(handle, text);
  }

  async sendKey(handle: TerminalHandle, key: TerminalKey): Promise<SendOutcome> {
    return this.#send(handle, KEY_TEXT[key]);
  }

  /** No time passes here: a program that does not end at SIGTERM gets its SIGKILL at once. */
  async kill(handle: TerminalHandle): Promise<KillOutcome> {
    if (!this.processes.signal(handle.pid, "SIGTERM")) return "already-gone";
    this.processes.signal(handle.pid, "SIGKILL");
    this.#close(handle);
    return "ended";
  }

  /** A person looks (or, with 0, stops looking). */
  watch(handle: TerminalHandle, people: number): void {
    const session = this.#find(handle);
    if (session !== undefined) session.attached = people;
  }

  /** The server is killed: every session is lost and every program hears SIGHUP. */
  loseServer(): void {
    const lost = [...this.#sessions.values()];
    this.#sessions.clear();
    this.#server += 1;
    this.#opened = 0;
    for (const { handle } of lost) this.processes.signal(handle.pid, "SIGHUP");
  }

  #sideOf(session: FakeSession, request: OpenRequest): FakeProgramSide {
    const { pid } = session.handle;
    return {
      request,
      print: (text) => {
        session.output += text;
      },
      exit: () => this.processes.end(pid),
      onInput: (read) => {
        session.read = read;
      },
      onSignal: (handle) => this.processes.onSignal(pid, handle),
    };
  }

  #send(handle: TerminalHandle, text: string): SendOutcome {
    const session = this.#find(handle);
    if (session === undefined) return { sent: false, because: "gone" };
    if (session.attached > 0) return { sent: false, because: "attached" };
    session.read(text);
    return { sent: true };
  }

  #close(handle: TerminalHandle): void {
    if (this.#find(handle) !== undefined) this.#sessions.delete(handle.name);
  }

  #find(handle: TerminalHandle): FakeSession | undefined {
    const session = this.#sessions.get(handle.name);
    if (session === undefined) return undefined;
    const { pid, sessionId, sessionCreated } = session.handle;
    const same = pid.pid === handle.pid.pid && pid.start === handle.pid.start && sessionId === handle.sessionId;
    return same && sessionCreated === handle.sessionCreated ? session : undefined;
  }
}

interface FakeProcess extends ProcessIdentity {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  handleSignal?: (signal: SignalName) => void;
  onEnd?: () => void;
  bytes?: number;
}

/** A process table in memory. Pids are reused only when asked to. Remembers every signal that reached somebody. */
export class FakeProcesses implements Processes {
  readonly signals: { readonly pid: ProcessIdentity; readonly signal: SignalName }[] = [];
  readonly #table = new Map<number, FakeProcess>();
  #started = 0;
  #nextPid = 1000;

  start(what: {
    readonly command: string;
    readonly env: Readonly<Record<string, string>>;
    /** Gives the new process this pid, as a kernel does after it has gone round once. */
    readonly pid?: number;
  }): ProcessIdentity {
    const pid = what.pid ?? this.#nextPid++;
    this.#started += 1;
    const identity = { pid, start: String(this.#started) };
    this.#table.set(pid, { ...identity, command: what.command, env: what.env });
    return identity;
  }

  /** Nobody is held by a signal here: that is shown with real processes. */
  isStopped(_identity: ProcessIdentity): boolean {
    return false;
  }

  end(identity: ProcessIdentity): void {
    const found = this.#find(identity);
    if (found === undefined) return;
    this.#table.delete(identity.pid);
    found.onEnd?.();
  }

  onEnd(identity: ProcessIdentity, tell: () => void): void {
    const found = this.#find(identity);
    if (found !== undefined) found.onEnd = tell;
  }

  onSignal(identity: ProcessIdentity, handle: (signal: SignalName) => void): void {
    const found = this.#find(identity);
    if (found !== undefined) found.handleSignal = handle;
  }

  self(): ProcessIdentity {
    return { pid: 1, start: "0" };
  }

  identify(pid: number): ProcessIdentity | undefined {
    const found = this.#table.get(pid);
    return found === undefined ? undefined : { pid, start: found.start };
  }

  alive(identity: ProcessIdentity): boolean {
    return this.#find(identity) !== undefined;
  }

  /** Nobody here stands anywhere. */
  place(_pid: number): undefined {
    return undefined;
  }

  /** It did something that the kernel would have counted. */
  work(identity: ProcessIdentity): void {
    const found = this.#find(identity);
    if (found !== undefined) found.bytes = (found.bytes ?? 0) + 1;
  }

  effort(pid: number): ProcessEffort | undefined {
    const found = this.#table.get(pid);
    return found && { processorTicks: 0, bytes: found.bytes ?? 0 };
  }

  signal(identity: ProcessIdentity, signal: SignalName): boolean {
    const found = this.#find(identity);
    if (found === undefined) return false;
    this.signals.push({ pid: { pid: found.pid, start: found.start }, signal });
    if (signal === "SIGKILL") this.end(identity);
    else if (found.handleSignal !== undefined) found.handleSignal(signal);
    else if (signal !== "SIGSTOP" && signal !== "SIGCONT") this.end(identity);
    return true;
  }

  list(): ProcessFacts[] {
    return [...this.#table.values()].map(({ pid, start, command }) => ({
      ...{ pid, start, command, parent: 1, group: pid, session: pid, zombie: false },
    }));
  }

  withEnvironment(name: string, value: string): ProcessIdentity[] {
    return [...this.#table.values()]
      .filter((each) => each.env[name] === value)
      .map(({ pid, start }) => ({ pid, start }));
  }

  variable(pid: number, name: string): string | undefined {
    return this.#table.get(pid)?.env[name];
  }

  #find(identity: ProcessIdentity): FakeProcess | undefined {
    const found = this.#table.get(identity.pid);
    return found?.start === identity.start ? found : undefined;
  }
}
