/**
 * One file of recorded work, whatever CLI wrote it: which format it is, its signals in order, and what could not be
 * read. Lines are read one at a time; a document is read whole, up to a size. Nothing is passed over in silence: a
 * file that gave no session says why, and lines that are no JSON are counted.
 */
import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { systemCode } from "#errors.ts";
import { eachLine, TOO_LONG } from "#sys/lines.ts";
import { type Json, jsonObject } from "./json.ts";
import type { OpenSession, SessionDisk, SessionFormat, ValueReader } from "./session-format.ts";
import { SESSION_FORMATS } from "./session-formats.ts";
import { type FileCounts, SessionFile } from "./session-writer.ts";

export interface FileReport extends FileCounts {
  /** Null: nobody's. */
  readonly runtime: string | null;
  readonly bytes: number;
  /** Lines or parts that could not be read. */
  readonly broken: number;
  /** Those of them that are longer than is looked at. */
  readonly tooLong: number;
  /** Why it gave no work of an agent; null where it did. */
  readonly nothing: string | null;
}

/** In megabytes; a line has to be held and taken apart at once. */
export const LONGEST_LINE_MB = 16;
const LONGEST_LINE = LONGEST_LINE_MB * 1024 * 1024;
const LARGEST_DOCUMENT = 128 * 1024 * 1024;
/** All the parts of a session that is spread over files, and one of them. */
const LARGEST_SPREAD = 1024 * 1024 * 1024;
const LARGEST_PART = LONGEST_LINE;
/** So many values at the beginning of a file may say nothing about whose it is. */
const UNDECIDED = 50;
const NO_COUNTS: FileCounts = { sessions: 0, calls: 0, lostResults: 0, openCalls: 0, refused: 0, droppedCalls: 0 };

/** Never throws because of what is in the file, or because it cannot be read: the report says so. */
export function readSession(path: string, open: OpenSession): FileReport {
  const found = new FoundSession(path, open);
  let bytes = 0;
  try {
    const facts = statSync(path);
    // A pipe would wait for ever, a device has no end.
    if (!facts.isFile()) return nothingOf("it cannot be read: it is no regular file");
    bytes = facts.size;
    if (isDocument(path)) found.document(bytes);
    else found.lines();
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    return { ...nothingOf(`it cannot be read (${code})`), bytes };
  }
  return { ...found.finish(), bytes };
}

function nothingOf(why: string): FileReport {
  return { runtime: null, bytes: 0, broken: 0, tooLong: 0, ...NO_COUNTS, nothing: why };
}

export function isSessionFile(path: string): boolean {
  return /\.(?:jsonl|ndjson|json|traj)$/.test(path);
}

/** Read with the session it belongs to, so that it is none of its own. */
export function isPartOfSession(path: string): boolean {
  return SESSION_FORMATS.some((format) => format.isPart?.(path));
}

/** Whose session begins with these values; undefined where none of them says so. */
export function findSessionFormat(values: readonly Json[], path: string): SessionFormat | undefined {
  for (const value of values.slice(0, UNDECIDED)) {
    const found = SESSION_FORMATS.find((format) => format.owns(value, path));
    if (found) return found;
  }
  return undefined;
}

function isDocument(path: string): boolean {
  return /\.(?:json|traj)$/.test(path);
}

class FoundSession {
  private format: SessionFormat | undefined;
  private file: SessionFile | undefined;
  private reader: ValueReader | undefined;
  private readonly undecided: Json[] = [];
  private values = 0;
  private broken = 0;
  private tooLong = 0;
  private refusal: string | null = null;

  constructor(
    private readonly path: string,
    private readonly open: OpenSession,
  ) {}

  lines(): void {
    eachLine(this.path, LONGEST_LINE, (line) => {
      if (line === TOO_LONG) {
        this.broken += 1;
        this.tooLong += 1;
        return true;
      }
      const value = jsonObject(line.charCodeAt(line.length - 1) === 13 ? line.trim() : line);
      if (value !== undefined) this.take(value);
      else if (line.trim() !== "") this.broken += 1;
      return this.format !== undefined || this.undecided.length < UNDECIDED;
    });
  }

  document(size: number): void {
    if (size > LARGEST_DOCUMENT) {
      this.refusal = `it is one document of ${Math.round(size / 1024 / 1024)} MB, more than is read at once`;
      return;
    }
    const value = parseDocument(readFileSync(this.path, "utf8"));
    if (value === undefined) this.broken += 1;
    else this.take(value);
    if (value === undefined || this.format?.listParts === undefined) return;
    for (const part of this.format.listParts(this.path, value, openDisk())) {
      if ("broken" in part && typeof part.broken === "string") this.broken += 1;
      else this.reader?.take(part as Json);
    }
  }

  finish(): Omit<FileReport, "bytes"> {
    this.reader?.end?.();
    const counts = this.file?.finish() ?? NO_COUNTS;
    const runtime = this.format?.runtime ?? null;
    return {
      runtime,
      broken: this.broken + counts.refused,
      tooLong: this.tooLong,
      ...counts,
      nothing: this.explainNothing(counts),
    };
  }

  private take(value: Json): void {
    this.values += 1;
    if (this.reader !== undefined) {
      this.reader.take(value);
      return;
    }
    this.format = findSessionFormat([value], this.path);
    this.undecided.push(value);
    if (this.format === undefined) return;
    this.file = new SessionFile(this.format.runtime, this.format.tools, this.open);
    this.reader = this.format.read(this.file);
    for (const earlier of this.undecided.splice(0)) this.reader.take(earlier);
  }

  private explainNothing(counts: FileCounts): string | null {
    if (counts.calls > 0) return null;
    if (this.refusal !== null) return this.refusal;
    if (this.format !== undefined) return `no tool was called in it (${this.format.runtime})`;
    if (this.values > 0) return "no session of an agent that is known";
    return this.broken > 0 ? "nothing in it is JSON" : "it is empty";
  }
}

/** A list becomes an object with `items`, so that formats see one kind of value. */
function parseDocument(text: string): Json | undefined {
  const trimmed = text.trimStart();
  return trimmed.startsWith("[") ? jsonObject(`{"items":${trimmed}}`) : jsonObject(trimmed);
}

/** Looks only at what really lies there: a link may lead anywhere, a pipe waits for ever, a device has no end. */
function openDisk(): SessionDisk {
  let left = LARGEST_SPREAD;
  return {
    list: (path) => unlessGone(() => (lstatSync(path).isDirectory() ? readdirSync(path).sort() : [])) ?? [],
    load: (path) =>
      unlessGone(() => {
        const facts = lstatSync(path);
        left -= facts.size;
        if (!facts.isFile() || facts.size > LARGEST_PART || left < 0) return undefined;
        return jsonObject(readFileSync(path, "utf8").trim());
      }),
  };
}

function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
