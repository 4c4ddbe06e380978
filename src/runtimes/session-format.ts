/**
 * How the recorded sessions of an agent CLI are read, as they lie on disk: the contract every reader keeps
 * (test/contract/session-format.suite.ts). A format recognises its files by the first object in them, is given their
 * values in order, one line or one document at a time, and tells a writer what happened: calls, results, words, a
 * person's prompts, tokens. What follows from that (pairs, turns, steps, windows) is the writer's business and the same
 * for all. A format keeps nothing of a file but what it needs to understand the next line.
 */
import type { ToolVocabulary } from "#domain/core/tools.ts";
import type { Signal } from "#domain/signals/signal.ts";
import type { Json } from "./json.ts";
import type { SessionFile, SessionWriter } from "./session-writer.ts";

export interface SessionFormat {
  /** The runtime whose sessions these are. */
  readonly runtime: string;
  readonly tools: ToolVocabulary;
  /** Where the CLI keeps them for this user, whether or not the directories exist. */
  listHomes(env: Readonly<Record<string, string | undefined>>): readonly string[];
  /** Asked about the first values of a file until some format says yes. */
  owns(value: Json, path: string): boolean;
  /** A reader for one file, told every value from the first on, and when there are no more. */
  read(file: FileEars): ValueReader;
  /** Sessions that are spread over many files: what else belongs to the one that begins with this value. */
  listParts?(path: string, value: Json, disk: SessionDisk): Iterable<Json | BrokenPart>;
  /** A path that is read as a part of another file, where that is there. */
  isPart?(path: string): boolean;
}

/** Who is told what one session says: what rules are to follow it (session-writer.ts), or a person (conversation-ears.ts). */
export interface SessionEars
  extends Pick<
    SessionWriter,
    "begin" | "say" | "call" | "finishCall" | "use" | "compact" | "retry" | "fail" | "interrupt" | "pass"
  > {
  /** A person speaks; `text`: what they said, where the format hands it on. */
  hearPerson(at: number, text?: string): void;
  /** A program speaks in a person's place. */
  hearProgram(at: number, text?: string): void;
  /** A hook put this before the model; nothing about the work follows from it. */
  hearHook?(at: number, text: string): void;
}

/** The sessions of one file. */
export interface FileEars extends Pick<SessionFile, "refuse"> {
  session(key?: string, about?: Partial<SessionAbout>): SessionEars;
}

export interface ValueReader {
  take(value: Json): void;
  end?(): void;
}

/** A file of a session that could not be read. */
export interface BrokenPart {
  readonly broken: string;
}

/** What of the disk a spread-out session may ask for. */
export interface SessionDisk {
  /** Names in a directory, sorted; none where there is no such directory. */
  list(path: string): readonly string[];
  /** One JSON object; undefined where it cannot be read as one. */
  load(path: string): Json | undefined;
}

/** What is known of a session when its first signal comes. */
export interface SessionAbout {
  /** Within its file; empty for the file's own session. */
  readonly key: string;
  readonly runtime: string;
  /** A sub-agent's: nobody but its parent speaks to it. */
  readonly sub: boolean;
  /** The rest is known of our own traces only. */
  readonly name?: string;
  readonly role?: string | null;
  readonly labels?: readonly string[] | null;
  readonly may?: readonly string[];
}

/** Who is told the signals of a session, in order. `ordinal`: the how-many-eth call of the file a call is, from 1. */
export type TakeSignal = (signal: Signal, ordinal: number) => void;
export type OpenSession = (about: SessionAbout) => TakeSignal;
