/**
 * Terminals in a tmux server of our own. It has its own socket, reads nobody's configuration and starts with an empty
 * environment, so the user's server, sessions and settings are out of reach. A server that is gone is an answer (an
 * empty list, a capture of nothing); a server that does not answer in time is an error, because nothing is known then.
 * The process in a pane may outlive its server on purpose, so ending goes by the process first and the session second.
 */
import { dirname } from "node:path";
import { OverseerError } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";
import type { Exec } from "#sys/exec.ts";
import type { Files } from "#sys/files.ts";
import { assertTmuxSocketAllowed } from "#sys/isolation.ts";
import type { Processes } from "#sys/processes.ts";
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
  TerminalKey,
} from "./terminal.ts";
import { isTerminalName, type TerminalName } from "./terminal-name.ts";
import {
  attachArguments,
  captureArguments,
  HISTORY_LINES,
  keyArguments,
  killArguments,
  listArguments,
  openArguments,
  openScript,
  type PaneIdentity,
  type PaneRow,
  parsePaneRows,
  parseVerdict,
  pasteArguments,
  SERVER_MARK,
  serverArguments,
} from "./tmux-commands.ts";

export interface TmuxOptions {
  readonly exec: Exec;
  readonly processes: Processes;
  readonly files: Files;
  readonly clock: Clock;
  /** In our own directory alone: see socket-dir.ts. */
  readonly socketPath: string;
  /** The program, by name or by path. */
  readonly tmux: string;
  /** Where to look for it; the PATH of the person who started us. */
  readonly searchPath: string;
  /** What a server that is started here carries in its own environment, and no pane of it: see SERVER_MARK. */
  readonly mark?: string;
  /** How long one tmux call may take before the server counts as hung. Default 5 s. */
  readonly timeoutMs?: number;
}

const MISSING_HINT = "Install tmux, or set `terminal: detached` in .overseer/config.yaml.";
/** `new-session -e` came with 3.2. */
const OLDEST = [3, 2] as const;

/** A living server needs a millisecond; one that hangs does not get to it. */
const SOCKET_LOOKS = 20;
const SOCKET_LOOK_MS = 50;

interface AskOptions {
  readonly stdin?: string;
  readonly cwd?: string;
  readonly path?: string;
  readonly opens?: boolean;
}

type Answer =
  | { readonly state: "ok"; readonly stdout: string }
  | { readonly state: "no-server" }
  | { readonly state: "failed"; readonly stdout: string; readonly stderr: string };

export function makeTmuxTerminal(options: TmuxOptions): Terminal {
  assertTmuxSocketAllowed(options.socketPath);
  return new TmuxTerminal(options);
}

class TmuxTerminal implements Terminal {
  readonly kind = "tmux";
  #program: string | undefined;
  #pastes = 0;

  constructor(private readonly options: TmuxOptions) {}

  async available(): Promise<Availability> {
    try {
      const result = await this.options.exec.run([this.#tmux(), "-V"], { env: {}, timeoutMs: this.#timeoutMs });
      if (result.code !== 0) {
        const reason = `\`tmux -V\` failed: ${result.stderr.trim() || "it gave no answer"}.`;
        return { ok: false, reason, hint: MISSING_HINT };
      }
      if (isTooOld(result.stdout)) {
        const reason = `${result.stdout.trim()} is too old; ${OLDEST.join(".")} is the first that will do.`;
        return { ok: false, reason, hint: "Update tmux, or set `terminal: detached` in .overseer/config.yaml." };
      }
      return { ok: true };
    } catch (error) {
      if (error instanceof OverseerError) return { ok: false, reason: error.message, hint: error.hint };
      throw error;
    }
  }

  async open(request: OpenRequest): Promise<TerminalHandle> {
    checkRequestForm(request);
    await checkRequestPlace(request, this.options.files);
    // Before tmux starts a second server beside one that only lost its socket.
    await this.#makeSocketAgain();
    const openOnce = () =>
      this.#ask(openArguments(), {
        stdin: openScript(request),
        cwd: request.cwd,
        path: request.env.PATH,
        opens: true,
      });
    let answer = await openOnce();
    let row = lastRowOf(answer);
    for (let tries = 1; row === undefined && isWithoutReason(answer) && tries < OPEN_TRIES; tries += 1) {
      await this.options.clock.sleep(OPEN_AGAIN_MS * tries);
      // It may stand all the same: the name is this request's alone.
      row = await this.#findRow(request.name);
      if (row !== undefined) break;
      answer = await openOnce();
      row = lastRowOf(answer);
    }
    if (row === undefined) throw openFailure(request.name, answer);
    const handle = this.#handle(request.name, row);
    if (handle === undefined || !this.options.processes.alive(handle.pid)) {
      throw new OverseerError(
        "environment",
        "ENDED_AT_START",
        `${request.argv[0]} ended as soon as it was started in ${request.name}.`,
        "Run the same command by hand in that worktree to see what it says.",
      );
    }
    return handle;
  }

  async list(): Promise<TerminalFacts[]> {
    const answer = await this.#ask(listArguments());
    if (answer.state === "failed") throw tmuxFailedError("list its sessions", answer.stderr);
    if (answer.state === "no-server") return [];
    const found = new Map<TerminalName, TerminalFacts>();
    for (const row of parsePaneRows(answer.stdout)) {
      // The first pane of a session is ours; one that a person split off later is theirs.
      if (!isTerminalName(row.sessionName) || found.has(row.sessionName)) continue;
      found.set(row.sessionName, this.#facts(row.sessionName, row));
    }
    return [...found.values()];
  }

  async capture(handle: TerminalHandle, { lines }: { readonly lines: number }): Promise<string | undefined> {
    const pane = this.#pane(handle);
    const wanted = Math.min(Math.max(1, Math.floor(lines)), HISTORY_LINES);
    const answer = await this.#ask(captureArguments(pane, wanted));
    if (answer.state !== "ok") return undefined;
    const [verdict, ...shown] = answer.stdout.split("\n");
    if (parseVerdict(verdict) === "gone") return undefined;
    const trimmed = shown.map((line) => line.trimEnd());
    while (trimmed.at(-1) === "") trimmed.pop();
    return trimmed.slice(-wanted).join("\n");
  }

  attachCommand(handle: TerminalHandle): string[] {
    const { name } = this.#pane(handle);
    return [this.#tmux(), ...serverArguments(this.options.socketPath), ...attachArguments(name)];
  }

  async sendText(handle: TerminalHandle, text: string): Promise<SendOutcome> {
    checkPrintable(text);
    const pane = this.#pane(handle);
    this.#pastes += 1;
    // Two of our processes may paste at the same time into one server.
    const buffer = `ov-${process.pid}-${this.#pastes}`;
    return sendOutcome(await this.#ask(pasteArguments(pane, buffer), { stdin: text }));
  }

  async sendKey(handle: TerminalHandle, key: TerminalKey): Promise<SendOutcome> {
    return sendOutcome(await this.#ask(keyArguments(this.#pane(handle), key)));
  }

  async kill(handle: TerminalHandle, { graceMs }: { readonly graceMs?: number } = {}): Promise<KillOutcome> {
    const pane = this.#pane(handle);
    const outcome = await endProcess(handle.pid, { ...this.options, graceMs });
    const holder = this.options.processes.identify(handle.pid.pid);
    // A pane whose pid has changed hands is not the one this handle was given for.
    if (holder !== undefined && holder.start !== handle.pid.start) return outcome;
    try {
      // Usually the session went with its process; this closes one that lingers.
      await this.#ask(killArguments(pane));
    } catch (error) {
      // The process is what counts; a session without one closes as soon as its server answers again.
      if (!(error instanceof OverseerError) || error.kind !== "environment") throw error;
    }
    return outcome;
  }

  async #findRow(name: TerminalName): Promise<PaneRow | undefined> {
    const answer = await this.#ask(listArguments());
    return answer.state === "ok" ? parsePaneRows(answer.stdout).find((row) => row.sessionName === name) : undefined;
  }

  #facts(name: TerminalName, row: PaneRow): TerminalFacts {
    const handle = row.dead ? undefined : this.#handle(name, row);
    return {
      name,
      kind: "tmux",
      pid: row.pid,
      createdAt: row.sessionCreated * 1000,
      attached: row.attached,
      ...(row.dead ? { exited: { status: row.deadStatus } } : {}),
      ...(handle === undefined ? {} : { handle }),
    };
  }

  #handle(name: TerminalName, row: PaneRow): TerminalHandle | undefined {
    const pid = this.options.processes.identify(row.pid);
    if (pid === undefined) return undefined;
    const { sessionId, sessionCreated, paneId } = row;
    return { kind: "tmux", name, pid, socket: this.options.socketPath, sessionId, sessionCreated, paneId };
  }

  /** Throws for a handle of another kind or another server: acting on it here could only hit the wrong session. */
  #pane(handle: TerminalHandle): PaneIdentity {
    const { name, sessionId, sessionCreated, paneId, socket } = handle;
    const whole = sessionId !== undefined && sessionCreated !== undefined && paneId !== undefined;
    const wellFormed = whole && /^\$\d+$/.test(sessionId) && /^%\d+$/.test(paneId) && isTerminalName(name);
    if (wellFormed && socket === this.options.socketPath) {
      return { name, sessionId, sessionCreated, paneId, pid: handle.pid.pid };
    }
    if (wellFormed && socket !== undefined) {
      throw new OverseerError(
        "conflict",
        "TERMINAL_ELSEWHERE",
        `Its terminal ${name} is on another tmux server (${socket}), which is left alone.`,
        `To look at it: tmux -S '${socket}' attach -t '=${name}'. It closes when its process ends.`,
      );
    }
    throw new OverseerError(
      "internal",
      "FOREIGN_HANDLE",
      `The handle of ${name || "a terminal without a name"} does not belong to this tmux server.`,
      "Report this with `overseer doctor --json`; nothing was touched.",
    );
  }

  /** A server that lives and whose socket somebody has removed (cleaning /tmp) is asked to make it again. */
  async #ask(words: readonly string[], how: AskOptions = {}): Promise<Answer> {
    const answer = await this.#askOnce(words, how);
    // One that was to open something has started a server of its own then; there must not be two.
    const again = answer.state === "no-server" && !how.opens && (await this.#makeSocketAgain());
    return again ? this.#askOnce(words, how) : answer;
  }

  /** tmux makes its socket again when it gets SIGUSR1; never where there is one, which may be another server's. */
  async #makeSocketAgain(): Promise<boolean> {
    const { files, processes, socketPath, clock, mark } = this.options;
    if (mark === undefined || (await files.facts(socketPath)) !== undefined) return false;
    const marked = new Set(processes.withEnvironment(SERVER_MARK, mark).map(({ pid }) => pid));
    if (marked.size === 0) return false;
    const server = processes.list().find(({ pid, command }) => marked.has(pid) && command.includes(socketPath));
    if (server === undefined) return false;
    await files.makeDir(dirname(socketPath), { mode: 0o700 });
    if (!processes.signal(server, "SIGUSR1")) return false;
    for (let look = 0; look < SOCKET_LOOKS; look += 1) {
      if ((await files.facts(socketPath)) !== undefined) return true;
      await clock.sleep(SOCKET_LOOK_MS);
    }
    return false;
  }

  async #askOnce(words: readonly string[], how: AskOptions): Promise<Answer> {
    const { exec, socketPath } = this.options;
    const result = await exec.run([this.#tmux(), ...serverArguments(socketPath), ...words], {
      // Whatever stands here would become part of every pane; tmux gives a new pane the client's PATH above all.
      env: {
        ...(how.path === undefined ? {} : { PATH: how.path }),
        ...(how.opens && this.options.mark !== undefined ? { [SERVER_MARK]: this.options.mark } : {}),
      },
      cwd: how.cwd,
      stdin: how.stdin,
      timeoutMs: this.#timeoutMs,
    });
    if (result.timedOut) {
      throw new OverseerError(
        "environment",
        "TMUX_HUNG",
        `The tmux server at ${socketPath} did not answer within ${this.#timeoutMs} ms.`,
        "Agents keep running without it. Wait and try again; if it stays so, end that tmux server: driven agents survive it.",
      );
    }
    if (result.code === 0) return { state: "ok", stdout: result.stdout };
    if (meansNoServer(result.stderr)) return { state: "no-server" };
    return { state: "failed", stdout: result.stdout, stderr: result.stderr };
  }

  #tmux(): string {
    this.#program ??= Bun.which(this.options.tmux, { PATH: this.options.searchPath }) ?? undefined;
    if (this.#program !== undefined) return this.#program;
    throw new OverseerError("environment", "TMUX_MISSING", `${this.options.tmux} is not on PATH.`, MISSING_HINT);
  }

  get #timeoutMs(): number {
    return this.options.timeoutMs ?? 5_000;
  }
}

/**
 * Never started, ended in peace, killed (its socket left behind), lost while it was being asked, or without sessions
 * and about to end ("no current target").
 */
const NO_SERVER = [
  /no server running/,
  /error connecting to .*\((No such file or directory|Connection refused)\)/,
  /server exited|lost server/,
  /no current target|no sessions/,
];

function meansNoServer(stderr: string): boolean {
  return NO_SERVER.some((words) => words.test(stderr));
}

/** A server that several start at once, or that is just ending, lets a call fail without a word; a moment later it does not. */
const OPEN_TRIES = 4;
const OPEN_AGAIN_MS = 50;

function isWithoutReason(answer: Answer): boolean {
  return answer.state === "no-server" || (answer.state === "failed" && answer.stderr.trim() === "");
}

/** An option that this tmux does not know fails the call as a whole, though the session stands: the row says so. */
function lastRowOf(answer: Answer): PaneRow | undefined {
  return answer.state === "no-server" ? undefined : parsePaneRows(answer.stdout).at(-1);
}

function openFailure(name: TerminalName, answer: Answer): OverseerError {
  if (answer.state === "failed" && answer.stderr.includes("duplicate session")) {
    const hint = `\`overseer agents\` shows who runs; stop that attempt before it is started again.`;
    return new OverseerError("conflict", "TERMINAL_EXISTS", `A terminal ${name} is open already.`, hint);
  }
  return tmuxFailedError(`open ${name}`, answer.state === "failed" ? answer.stderr : "the server ended meanwhile");
}

function tmuxFailedError(what: string, said: string): OverseerError {
  const message = `tmux could not ${what}: ${said.trim() || "it gave no reason"}.`;
  return new OverseerError("environment", "TMUX_FAILED", message, "Run `overseer doctor`, then try again.");
}

function sendOutcome(answer: Answer): SendOutcome {
  const verdict = answer.state === "ok" ? parseVerdict(answer.stdout.split("\n")[0]) : "gone";
  return verdict === "free" ? { sent: true } : { sent: false, because: verdict };
}

/** A version we cannot read (a development build, OpenBSD's own) is taken as new enough. */
function isTooOld(version: string): boolean {
  const [, major, minor] = /tmux (?:next-)?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
}
