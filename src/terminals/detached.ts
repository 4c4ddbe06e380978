/**
 * Terminals where there is no tmux: a process in a session of its own, its output in a file. It can be watched and
 * ended but not typed into. Each has a small record (`<name>.json`) beside the others, so that a later one of our processes,
 * which is not its parent, still knows it by pid and start time. The program's exit status is not known here: the
 * runner, which is what usually runs in a terminal, records its own end.
 */
import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";
import type { Files } from "#sys/files.ts";
import type { Processes, ProcessIdentity } from "#sys/processes.ts";
import { endProcess } from "./end-process.ts";
import { checkRequestForm, checkRequestPlace } from "./open-request.ts";
import { checkPrintable } from "./printable-text.ts";
import type {
  Availability,
  KillOutcome,
  OpenRequest,
  SendOutcome,
  Terminal,
  TerminalFacts,
  TerminalHandle,
} from "./terminal.ts";
import { isTerminalName, type TerminalName } from "./terminal-name.ts";

export interface DetachedOptions {
  readonly processes: Processes;
  readonly files: Files;
  readonly clock: Clock;
  /** Holds the records, and the logs that are not asked for elsewhere. Made 0700 when missing. */
  readonly directory: string;
}

/** What one look may read of a log that can be gigabytes long. */
const TAIL_BYTES = 512 * 1024;

interface TerminalRecord {
  readonly pid: ProcessIdentity;
  readonly createdAt: number;
  readonly log: string;
}

export function makeDetachedTerminal(options: DetachedOptions): Terminal {
  return new DetachedTerminal(options);
}

class DetachedTerminal implements Terminal {
  readonly kind = "detached";

  constructor(private readonly options: DetachedOptions) {}

  async available(): Promise<Availability> {
    return { ok: true };
  }

  async open(request: OpenRequest): Promise<TerminalHandle> {
    const { files, processes, clock } = this.options;
    checkRequestForm(request);
    await checkRequestPlace(request, files);
    await files.makeDir(this.options.directory, { mode: 0o700 });
    await this.#forgetTheGone();
    if ((await this.#record(request.name)) !== undefined) {
      const hint = "`overseer agents` shows who runs; stop that attempt before it is started again.";
      throw new OverseerError("conflict", "TERMINAL_EXISTS", `A terminal ${request.name} is open already.`, hint);
    }
    const log = request.log ?? join(this.options.directory, `${request.name}.log`);
    const pid = processes.identify(startDetached(request, log));
    if (pid === undefined || !processes.alive(pid)) {
      const message = `${request.argv[0]} ended as soon as it was started in ${request.name}.`;
      throw new OverseerError("environment", "ENDED_AT_START", message, `Its last output is in ${log}.`);
    }
    const record: TerminalRecord = { pid, createdAt: clock.now(), log };
    try {
      await files.write(this.#recordPath(request.name), `${JSON.stringify(record)}\n`, { mode: 0o600 });
    } catch (error) {
      // Without its record nobody would ever find it again.
      await endProcess(pid, { ...this.options, graceMs: 0 });
      throw error;
    }
    return { kind: "detached", name: request.name, pid, log };
  }

  async list(): Promise<TerminalFacts[]> {
    const facts: TerminalFacts[] = [];
    for (const name of await this.#recordedNames()) {
      const record = await this.#record(name);
      if (record === undefined) continue;
      const { pid, createdAt, log } = record;
      const handle: TerminalHandle = { kind: "detached", name, pid, log };
      facts.push({ name, kind: "detached", pid: pid.pid, createdAt, attached: 0, handle });
    }
    return facts;
  }

  /** The log outlives its process, but a terminal that is gone shows nothing, here as in tmux. */
  async capture(handle: TerminalHandle, { lines }: { readonly lines: number }): Promise<string | undefined> {
    if (handle.log === undefined || !this.options.processes.alive(handle.pid)) return undefined;
    return await tailOf(handle.log, Math.max(1, Math.floor(lines)));
  }

  attachCommand(handle: TerminalHandle): string[] {
    throw new OverseerError(
      "conflict",
      "NO_TERMINAL",
      `${handle.name} runs detached, without a terminal to attach to.`,
      "Watch it with `overseer peek --follow`.",
    );
  }

  async sendText(handle: TerminalHandle, text: string): Promise<SendOutcome> {
    checkPrintable(text);
    return this.sendKey(handle);
  }

  async sendKey(handle: TerminalHandle): Promise<SendOutcome> {
    return { sent: false, because: this.options.processes.alive(handle.pid) ? "no-input" : "gone" };
  }

  async kill(handle: TerminalHandle, { graceMs }: { readonly graceMs?: number } = {}): Promise<KillOutcome> {
    return await endProcess(handle.pid, { ...this.options, graceMs });
  }

  async #forgetTheGone(): Promise<void> {
    for (const name of await this.#recordedNames()) {
      if ((await this.#record(name)) === undefined) await this.options.files.remove(this.#recordPath(name));
    }
  }

  async #recordedNames(): Promise<TerminalName[]> {
    const entries = (await this.options.files.list(this.options.directory)) ?? [];
    return entries
      .filter((entry) => entry.endsWith(".json"))
      .map((entry) => entry.slice(0, -".json".length))
      .filter(isTerminalName);
  }

  /** The record of a living process; undefined when there is none, or its process has ended. */
  async #record(name: TerminalName): Promise<TerminalRecord | undefined> {
    const text = await this.options.files.read(this.#recordPath(name));
    const record = text === undefined ? undefined : parseRecord(text);
    return record !== undefined && this.options.processes.alive(record.pid) ? record : undefined;
  }

  #recordPath(name: TerminalName): string {
    return join(this.options.directory, `${name}.json`);
  }
}

/** Its own session, so that neither our end nor our own closed terminal reaches it. */
function startDetached(request: OpenRequest, log: string): number {
  const output = openLog(log);
  try {
    const child = Bun.spawn([...request.argv], {
      cwd: request.cwd,
      env: { ...request.env },
      stdin: "ignore",
      stdout: output,
      stderr: output,
      detached: true,
    });
    child.unref();
    return child.pid;
  } catch (cause) {
    const message = `${request.argv[0]} could not be started: ${messageOf(cause)}.`;
    const hint = "Run the same command by hand in that worktree; a script may name an interpreter that is missing.";
    throw new OverseerError("environment", "SPAWN_FAILED", message, hint, { cause });
  } finally {
    closeSync(output);
  }
}

/** Never through a link: somebody could have put one there to have another of our files written to. */
function openLog(log: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  try {
    return openSync(log, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  } catch (cause) {
    const message = `The log ${log} cannot be written: ${messageOf(cause)}.`;
    const hint = "Make its directory, free some space, or remove what stands in its place; then try again.";
    throw new OverseerError("environment", "LOG_UNWRITABLE", message, hint, { cause });
  }
}

async function tailOf(path: string, lines: number): Promise<string> {
  const file = Bun.file(path);
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const bytes = await file.slice(from, size).bytes();
    // A cut in the middle of a character leaves replacement marks in front, which say nothing.
    const text = new TextDecoder().decode(bytes).replace(from > 0 ? /^\ufffd+/ : /^$/, "");
    const shown = text.split("\n").map((line) => line.trimEnd());
    while (shown.at(-1) === "") shown.pop();
    return shown.slice(-lines).join("\n");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return "";
    throw error;
  }
}

/** A record somebody damaged names nobody; better a terminal unseen than a stranger signalled. */
function parseRecord(text: string): TerminalRecord | undefined {
  try {
    const value: Partial<TerminalRecord> | null = JSON.parse(text);
    const { pid, createdAt, log } = value ?? {};
    if (typeof pid?.pid !== "number" || typeof pid.start !== "string") return undefined;
    if (typeof createdAt !== "number" || typeof log !== "string") return undefined;
    return { pid: { pid: pid.pid, start: pid.start }, createdAt, log };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
