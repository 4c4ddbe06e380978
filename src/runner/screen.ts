/**
 * A CLI on its own screen, in the terminal the runner lives in. The runner is its parent and shares the terminal with
 * it, so it prints nothing. Turns and tool calls are told by hooks, through the store; what was spent and what reached
 * the model is in its transcripts. An idle CLI is woken through a pipe that its own Stop hook waits on; the keyboard is
 * the last resort, and never while a person looks on, has begun to write, or is being asked something.
 */
import { closeSync, constants, openSync, realpathSync, writeSync } from "node:fs";
import { WAKE_PIPE } from "#domain/permit/hook-moments.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { messageOf, systemCode } from "#errors.ts";
import type { LaunchRequest, Screen, TranscriptReader } from "#runtimes/runtime.ts";
import type { Clock } from "#sys/clock.ts";
import type { Files } from "#sys/files.ts";
import type { Processes } from "#sys/processes.ts";
import type { Terminal, TerminalHandle } from "#terminals/terminal.ts";
import type { Exit, Leg, LegEars, TurnState } from "./leg.ts";
import { newTurnState } from "./leg.ts";
import { Tail } from "./tail.ts";

export interface ScreenParts {
  readonly screen: Screen;
  readonly processes: Processes;
  readonly clock: Clock;
  readonly files: Files;
  /** The pulse as hooks and runner have written it. */
  readonly pulse: () => Promise<Pulse | undefined>;
  /** Where it can be typed to; undefined while that is not known. */
  readonly keyboard: () => Promise<{ terminal: Terminal; handle: TerminalHandle } | undefined>;
  /** What reached the model as somebody's words. */
  readonly noteHeard: (text: string) => void;
  /** Its last words, once its turn has ended. */
  readonly lastWords: (text: string) => void;
}

/** What an idle CLI is told; the messages themselves come by its hooks, once, with a receipt. */
export const WAKING_WORDS = "Overseer has something for you: read what stands beside this, and continue.";

/** Reads the transcripts of one session across all its legs, so that nothing is counted again after a resume. */
export class Transcripts {
  private readonly reader: TranscriptReader;
  private readonly own: Tail;
  private readonly subs = new Map<string, Tail>();
  private words = "";

  constructor(
    private readonly files: Files,
    private readonly places: { readonly own: string; readonly subs: string },
    screen: Pick<Screen, "transcriptReader">,
    session: string,
  ) {
    this.reader = screen.transcriptReader(session);
    this.own = new Tail(files, places.own);
  }

  /** A session that is continued has a past, which another attempt has counted. */
  async skipPast(): Promise<void> {
    await this.own.skip();
    for (const name of await this.subFiles()) await this.subTail(name).skip();
  }

  async read(ears: Pick<LegEars, "signal" | "callEnded">, noteHeard: (text: string) => void): Promise<void> {
    for (const line of await this.own.lines()) this.take(line, false, ears, noteHeard);
    for (const name of await this.subFiles()) {
      for (const line of await this.subTail(name).lines()) this.take(line, true, ears, noteHeard);
    }
  }

  /** What it said last, and did not say before this was last asked. */
  takeWords(): string {
    const { words } = this;
    this.words = "";
    return words;
  }

  private take(
    line: string,
    ofSubagent: boolean,
    ears: Pick<LegEars, "signal" | "callEnded">,
    noteHeard: (text: string) => void,
  ): void {
    const read = this.reader.read(line, ofSubagent);
    for (const signal of read.signals) ears.signal(signal);
    for (const { id, ...call } of read.calls) ears.callEnded(id, call);
    if (read.heard !== "") noteHeard(read.heard);
    if (read.said.trim() !== "") this.words = read.said;
  }

  private async subFiles(): Promise<readonly string[]> {
    return ((await this.files.list(this.places.subs)) ?? []).filter((name) => name.endsWith(".jsonl"));
  }

  private subTail(name: string): Tail {
    const known = this.subs.get(name) ?? new Tail(this.files, `${this.places.subs}/${name}`);
    this.subs.set(name, known);
    return known;
  }
}

export function transcriptsOf(files: Files, screen: Screen, request: LaunchRequest): Transcripts {
  // The CLI names the place after where it really is.
  const places = screen.transcripts({ ...request, worktree: realpathSync(request.worktree) });
  return new Transcripts(files, places, screen, request.session);
}

export function startOnScreen(
  parts: ScreenParts,
  request: LaunchRequest,
  prompt: string,
  transcripts: Transcripts,
  ears: LegEars,
): Leg {
  const launch = parts.screen.launch(request, prompt);
  const child = Bun.spawn([...launch.argv], {
    cwd: launch.cwd,
    // What describes the terminal is the terminal's to say, not the environment's the agent was given.
    env: { ...launch.env, TERM: process.env.TERM ?? "xterm-256color" },
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  });
  const turn = newTurnState(parts.clock.now());
  turn.inTurn = true; // its first message is a turn
  return {
    process: parts.processes.identify(child.pid) ?? { pid: child.pid, start: "" },
    exited: child.exited.then(
      (): Exit => ({
        code: child.exitCode,
        signal: child.signalCode === null ? null : String(child.signalCode),
      }),
    ),
    turn,
    asked: false,
    exit: null,
    async give() {
      return false; // hooks give; see nextForRunner
    },
    async wake() {
      await wake(parts, request, turn, ears);
    },
    async interrupt() {
      const keyboard = await parts.keyboard();
      const outcome = await keyboard?.terminal.sendKey(keyboard.handle, "Escape");
      if (!outcome?.sent) ears.note(`Escape could not be pressed (${outcome?.because ?? "no terminal"})`);
    },
    close: () => child.kill("SIGTERM"),
    async look() {
      await transcripts.read(ears, parts.noteHeard);
      await follow(parts, turn, ears);
      const words = turn.inTurn ? "" : transcripts.takeWords();
      if (words !== "") parts.lastWords(words);
    },
  };
}

/** Turns are told by hooks, which write into the store; the pulse says where it stands. */
async function follow(parts: ScreenParts, turn: TurnState, ears: LegEars): Promise<void> {
  const pulse = await parts.pulse();
  // Before its first word nothing is known, and its first message is under way.
  if (!pulse || (pulse.turns === 0 && !pulse.inTurn)) return;
  if (pulse.inTurn === turn.inTurn) return;
  turn.inTurn = pulse.inTurn;
  if (pulse.inTurn) {
    turn.turnSince = pulse.lastAt ?? parts.clock.now();
    turn.interruptedAt = null;
    turn.wokenAt = null;
    ears.turnStarted();
  } else {
    turn.idleSince = pulse.lastAt ?? parts.clock.now();
    ears.turnEnded();
  }
}

async function wake(
  parts: ScreenParts,
  request: Pick<LaunchRequest, "directory">,
  turn: TurnState,
  ears: LegEars,
): Promise<void> {
  const tried = turn.wokenAt !== null;
  turn.wokenAt = parts.clock.now();
  if (!tried && ring(`${request.directory}/${WAKE_PIPE}`)) return;
  // Nobody waits at the pipe (the last turn was interrupted), or the bell was not heard.
  const keyboard = await parts.keyboard();
  if (!keyboard) return;
  const shown = (await keyboard.terminal.capture(keyboard.handle, { lines: 40 })) ?? "";
  if (!isPromptEmpty(shown)) {
    ears.note("it cannot be woken by the keyboard: something stands on its screen");
    return;
  }
  const typed = await keyboard.terminal.sendText(keyboard.handle, WAKING_WORDS);
  if (!typed.sent) return;
  await keyboard.terminal.sendKey(keyboard.handle, "Enter");
}

/** True when somebody waits at the pipe and was told. */
function ring(pipe: string): boolean {
  let fd: number | undefined;
  try {
    fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fd, `${WAKING_WORDS}\n`);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENXIO" || code === "ENOENT" || code === "EPIPE") return false;
    throw new Error(`the agent could not be woken: ${messageOf(error)}`, { cause: error });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** An empty line to write on, and no question before it: only then may somebody else type. */
export function isPromptEmpty(screen: string): boolean {
  if (/❯ 1\. |Do you want to .*\?/.test(screen)) return false;
  return /^\s*[│|]?\s*❯\s*[│|]?\s*$/m.test(screen);
}
