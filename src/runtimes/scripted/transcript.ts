/**
 * What a session leaves on disk: one JSON line for everything the model read or said, in the place and shape where
 * readers of a coding agent's transcripts look for it, plus the state of play on the lines that change it. A line is
 * written before its effect is: after a kill at any moment the file says which step was begun, so `--resume` never
 * does a step twice. A torn last line is as good as none.
 */
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { OverseerError } from "#errors.ts";
import { findSessionFile } from "#runtimes/claude-code/session-file.ts";
import { findScript, type Script } from "./language.ts";
import { NOTHING_IN_MIND, type Play } from "./play.ts";

export const LOST_CALL = "[Tool call interrupted: the session ended before this call's result was recorded]";

export interface Memory {
  readonly play: Play;
  readonly scripts: Map<string, Script>;
  /** Tool calls without a result: the ones a death cut short. */
  readonly lostCalls: readonly string[];
  readonly lastLine: string | null;
}

export class Transcript {
  private parent: string | null = null;

  constructor(
    readonly path: string,
    private readonly common: Readonly<Record<string, unknown>>,
  ) {}

  /** Adds a line, chained to the one before it as the real ones are. */
  add(line: Readonly<Record<string, unknown>> & { uuid: string }): void {
    const whole = { parentUuid: this.parent, ...this.common, timestamp: new Date().toISOString(), ...line };
    appendFileSync(this.path, `${JSON.stringify(whole)}\n`, { mode: 0o600 });
    this.parent = line.uuid;
  }

  goOnAfter(lastLine: string | null): void {
    this.parent = lastLine;
    // A death may have left half a line: whatever comes next must not be glued to it.
    if (lastLine !== null && !readFileSync(this.path).subarray(-1).equals(Buffer.from("\n")))
      appendFileSync(this.path, "\n");
  }
}

/** Where the transcript of a new session goes. Refuses an id that has one already. */
export function newTranscriptPath(home: string, cwd: string, session: string): string {
  if (findSessionFile(home, session) !== undefined) {
    throw new OverseerError(
      "conflict",
      "SESSION_EXISTS",
      `Session ID ${session} is already in use.`,
      "Resume it, or take another id.",
    );
  }
  const folder = `${home}/projects/${cwd.replace(/[^A-Za-z0-9]/g, "-")}`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return `${folder}/${session}.jsonl`;
}

/** The transcript of an old session, whichever directory it was started in. */
export function oldTranscriptPath(home: string, session: string): string {
  const path = findSessionFile(home, session);
  if (path !== undefined) return path;
  throw new OverseerError(
    "not-found",
    "SESSION_MISSING",
    `No conversation found with session ID: ${session}.`,
    "Start a new session.",
  );
}

/** Reads a session back. */
export function remember(path: string): Memory {
  const scripts = new Map<string, Script>();
  const open = new Set<string>();
  let play = NOTHING_IN_MIND;
  let lastLine: string | null = null;
  for (const line of readLines(path)) {
    if (typeof line.uuid === "string") lastLine = line.uuid;
    if (line.play !== undefined) play = line.play;
    for (const block of line.message?.content ?? []) {
      if (block.type === "tool_use" && block.id !== undefined) open.add(block.id);
      if (block.type === "tool_result" && block.tool_use_id !== undefined) open.delete(block.tool_use_id);
      const found = line.type === "user" && block.text !== undefined ? findScript(block.text) : undefined;
      if (found !== undefined && "steps" in found && typeof line.uuid === "string") scripts.set(line.uuid, found);
    }
  }
  return { play, scripts, lostCalls: [...open], lastLine };
}

/** The part of our own lines that is read back. */
interface Line {
  readonly type?: string;
  readonly uuid?: string;
  readonly play?: Play;
  readonly message?: {
    readonly content?: readonly {
      readonly type?: string;
      readonly id?: string;
      readonly tool_use_id?: string;
      readonly text?: string;
    }[];
  };
}

function* readLines(path: string): Generator<Line> {
  for (const text of readFileSync(path, "utf8").split("\n")) {
    if (text === "") continue;
    try {
      yield JSON.parse(text) as Line;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
}
