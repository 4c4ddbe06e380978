/**
 * Where our own process runs and can be looked at: one contract, spoken by tmux, by a plain detached process where
 * there is no tmux, and by a fake in memory. A terminal reports what is there and does what it is told; whether a
 * missing session means death is for others to judge.
 *
 * A handle names one terminal for ever: it carries the pid with its start time, and for tmux the session's id and
 * birth, so an old handle can never reach a newer terminal that happens to have the same name or pid. Handles are plain
 * data and may be stored.
 */
import type { ProcessIdentity } from "#sys/processes.ts";
import type { TerminalName } from "./terminal-name.ts";

export type TerminalKind = "tmux" | "detached";

export interface TerminalHandle {
  readonly kind: TerminalKind;
  readonly name: TerminalName;
  /** The process that was started, by pid and start time. */
  readonly pid: ProcessIdentity;
  /** tmux only: which server, and the session and pane by the ids tmux never reuses while that server lives. */
  readonly socket?: string;
  readonly sessionId?: string;
  readonly paneId?: string;
  /** tmux only: when the session was made, in whole seconds as tmux says it; tells two servers' `$0` apart. */
  readonly sessionCreated?: number;
  /** detached only: the file that holds everything the process printed. */
  readonly log?: string;
}

export interface TerminalFacts {
  readonly name: TerminalName;
  readonly kind: TerminalKind;
  readonly pid: number;
  readonly createdAt: number;
  /** How many people look at it right now. */
  readonly attached: number;
  /**
   * Present when the process has ended and the terminal still shows its last screen. The status is a bonus: it is null
   * after a signal, and tmux 3.3a often never learns it. Whoever needs the exit of a program is its parent.
   */
  readonly exited?: { readonly status: number | null };
  /** What the other methods take; missing when the process was gone before it could be identified. */
  readonly handle?: TerminalHandle;
}

export interface OpenRequest {
  readonly name: TerminalName;
  /** An existing directory. */
  readonly cwd: string;
  /** Run as it stands, no shell between. The program is an absolute path. */
  readonly argv: readonly string[];
  /**
   * The whole environment: nothing is inherited beside it. A real terminal adds what describes itself
   * (TERM, TERM_PROGRAM…, TMUX…, PWD, and SHELL where none is given or it is no shell). It never shows up in an argument list.
   */
  readonly env: Readonly<Record<string, string>>;
  readonly size?: { readonly columns: number; readonly rows: number };
  /** detached only: where the output goes (made 0600). Default: beside the terminal's own record. */
  readonly log?: string;
}

/** Keys that may be pressed for an agent; text goes by `sendText`. */
export type TerminalKey = "Enter" | "Escape" | "Tab" | "Up" | "Down" | "C-c" | "C-d";

export type Availability =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly hint: string };

/**
 * Sent means handed to the terminal, not that the program in it has read it. `attached`: a person is looking, and
 * nobody types into a person's screen. `exited` and `gone`: nobody is there to read. `no-input`: this kind has none.
 */
export type SendOutcome =
  | { readonly sent: true }
  | { readonly sent: false; readonly because: "attached" | "exited" | "gone" | "no-input" };

/** `still-running`: even SIGKILL did not end it in time (uninterruptible sleep); ask again later. */
export type KillOutcome = "ended" | "already-gone" | "still-running";

export interface Terminal {
  readonly kind: TerminalKind;

  /** Can terminals be opened on this machine? Never throws; may be asked as often as one likes; changes nothing. */
  available(): Promise<Availability>;

  /**
   * Starts `argv` and answers once it runs. Throws usage/* for a request that can never work, environment/CWD_MISSING,
   * PROGRAM_MISSING or LAUNCH_TOO_LARGE for one that cannot work here, environment/TMUX_* when tmux is missing, hung or
   * refuses, LOG_UNWRITABLE or SPAWN_FAILED where detached, ENDED_AT_START when the program was gone before it could be identified; after each of these no
   * terminal of that name is left, except TMUX_HUNG, where the listing must be asked again.
   * Called twice with a living name: conflict/TERMINAL_EXISTS, and the first one is untouched.
   */
  open(request: OpenRequest): Promise<TerminalHandle>;

  /**
   * Every living terminal we started, in one look. No server is an empty list. Throws only environment/TMUX_HUNG or
   * TMUX_MISSING, because "could not look" must never be read as "nobody is there". Changes nothing.
   */
  list(): Promise<TerminalFacts[]>;

  /**
   * The last `lines` lines shown, without the empty ones at the end; undefined when that terminal is gone. May be
   * called at any time by any number of onlookers. Throws only environment/TMUX_HUNG or TMUX_MISSING.
   */
  capture(handle: TerminalHandle, options: { readonly lines: number }): Promise<string | undefined>;

  /**
   * The command a person's own terminal runs to look inside. Starts nothing and does not check that it still lives.
   * Throws conflict/NO_TERMINAL for a kind that cannot be looked into.
   */
  attachCommand(handle: TerminalHandle): string[];

  /**
   * Puts text in front of the program as one paste, byte for byte, without pressing Enter. Throws usage/TEXT_EMPTY, and
   * usage/TEXT_CONTROL_CHARACTERS for anything but printable text, tab and newline. Called twice it pastes twice. A
   * terminal that is gone, or watched, is an outcome.
   */
  sendText(handle: TerminalHandle, text: string): Promise<SendOutcome>;

  /** Presses one key, under the same conditions as `sendText`. Called twice it presses twice. */
  sendKey(handle: TerminalHandle, key: TerminalKey): Promise<SendOutcome>;

  /**
   * Ends that very process (SIGTERM, then SIGKILL after `graceMs`, default 2 s) and closes its terminal. Whatever
   * the process started itself is not looked for. May be called again: `already-gone`. A pid or name that belongs to
   * another by now is left alone: `already-gone`. Never throws because something is gone, nor because tmux hangs.
   */
  kill(handle: TerminalHandle, options?: { readonly graceMs?: number }): Promise<KillOutcome>;
}
