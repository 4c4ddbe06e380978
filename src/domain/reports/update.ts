/**
 * What an agent says about its work, as a value: the fields of an update, each with its shape and its size, and how a
 * partial one is laid over what was known. Strict on purpose: an unknown key, a wrong shape or a text that is too long
 * is refused with its place, because a report that is half understood is worse than one that is asked for again.
 * Where an update comes from (a block in an answer, flags of a command) and what it does are told elsewhere
 * (update-block.ts, report.ts).
 */

import { byteLength } from "#domain/core/quote.ts";
import type {
  CrystallizationBody,
  Evidence,
  MadeDecision,
  TestRun,
  TranscriptAnchor,
} from "#domain/model/crystallization.ts";
import { mergeByKey, mergeEvidence, NO_EVIDENCE } from "#domain/model/crystallization.ts";
import { REPORT_STATUSES, type ReportStatus } from "#domain/model/protocol.ts";
import { BLOCKED_KINDS, type BlockedReason } from "#domain/model/work.ts";

/** A field that is not there was not spoken of, and stays as it was. */
export interface AgentUpdate {
  readonly goalId?: string;
  readonly workNodeId?: string;
  readonly status?: ReportStatus;
  readonly summary?: string;
  readonly currentState?: string;
  readonly decisions?: readonly MadeDecision[];
  readonly nextActions?: readonly string[];
  readonly openQuestions?: readonly string[];
  readonly knownBlockers?: readonly string[];
  readonly evidence?: Partial<Evidence>;
  readonly transcripts?: readonly TranscriptAnchor[];
  /** What kind of thing is in the way, where it says so. */
  readonly blocked?: { readonly kind?: BlockedReason["kind"]; readonly needs?: string };
  /** A person has to decide this before it can continue. */
  readonly question?: AskedQuestion;
  /** The commit that holds the work. */
  readonly commit?: string;
  /** Done without a change, and why none was needed. */
  readonly noChanges?: string;
}

export interface AskedQuestion {
  readonly text: string;
  readonly options: readonly string[];
}

export interface UpdateLimits {
  /** The whole block, in bytes. */
  readonly blockBytes: number;
  readonly summaryBytes: number;
  readonly fieldBytes: number;
  /** Entries of one list. */
  readonly items: number;
}

export const UPDATE_LIMITS: UpdateLimits = {
  blockBytes: 64 * 1024,
  summaryBytes: 8 * 1024,
  fieldBytes: 2 * 1024,
  items: 100,
};
/** A question with more choices than this is a survey. */
export const MOST_OPTIONS = 12;

export type ReadUpdate =
  | { readonly ok: true; readonly update: AgentUpdate }
  /** One sentence for the agent. */
  | { readonly ok: false; readonly reason: string };

/** Reads a value that came from JSON. Never throws, whatever the value is. */
export function parseUpdate(value: unknown, limits: UpdateLimits = UPDATE_LIMITS): ReadUpdate {
  if (!isRecord(value)) return { ok: false, reason: `overseerUpdate holds ${describeInput(value)} instead of fields.` };
  const reader = new Reader(limits);
  const update = reader.update(value);
  const [problem] = reader.problems;
  if (problem !== undefined) return { ok: false, reason: problem };
  if (Object.keys(update).every((key) => key === "goalId" || key === "workNodeId")) {
    return { ok: false, reason: "The update says nothing: give at least a status or a summary." };
  }
  return { ok: true, update };
}

/** Fields by the names an agent may use; two names for one thing are two ways to say it, not two things. */
const FIELDS: Readonly<
  Record<string, { readonly to: keyof AgentUpdate; read(reader: Reader, value: unknown, at: string): unknown }>
> = {
  goalId: { to: "goalId", read: (reader, value, at) => reader.text(value, at, 64) },
  workNodeId: { to: "workNodeId", read: (reader, value, at) => reader.text(value, at, 160) },
  status: { to: "status", read: (reader, value, at) => reader.choice(value, at, REPORT_STATUSES) },
  summary: { to: "summary", read: (reader, value, at) => reader.text(value, at, reader.limits.summaryBytes) },
  currentState: { to: "currentState", read: (reader, value, at) => reader.text(value, at) },
  decisions: { to: "decisions", read: (reader, value, at) => reader.list(value, at, decision) },
  next: { to: "nextActions", read: (reader, value, at) => reader.texts(value, at) },
  nextActions: { to: "nextActions", read: (reader, value, at) => reader.texts(value, at) },
  openQuestions: { to: "openQuestions", read: (reader, value, at) => reader.texts(value, at) },
  blockers: { to: "knownBlockers", read: (reader, value, at) => reader.texts(value, at) },
  knownBlockers: { to: "knownBlockers", read: (reader, value, at) => reader.texts(value, at) },
  evidence: { to: "evidence", read: (reader, value, at) => reader.fields(value, at, EVIDENCE) },
  transcripts: { to: "transcripts", read: (reader, value, at) => reader.list(value, at, transcript) },
  blocked: {
    to: "blocked",
    read: (reader, value, at) =>
      reader.fields(value, at, {
        kind: (inner, place) => reader.choice(inner, place, BLOCKED_KINDS),
        needs: (inner, place) => reader.text(inner, place),
      }),
  },
  question: { to: "question", read: question },
  commit: { to: "commit", read: commit },
  noChanges: { to: "noChanges", read: (reader, value, at) => reader.text(value, at) },
};

/** The keys that an update may have; prompts and the command line are held against them by test. */
export const UPDATE_KEYS: readonly string[] = Object.keys(FIELDS);

type FieldReaders = Readonly<Record<string, (value: unknown, at: string, reader: Reader) => unknown>>;

const EVIDENCE: FieldReaders = {
  filesTouched: (value, at, reader) => reader.texts(value, at),
  commandsRun: (value, at, reader) => reader.texts(value, at),
  testsRun: (value, at, reader) => reader.list(value, at, testRun),
  commits: (value, at, reader) => reader.texts(value, at),
  prs: (value, at, reader) => reader.texts(value, at),
  issues: (value, at, reader) => reader.texts(value, at),
  externalRefs: (value, at, reader) => reader.texts(value, at),
};

function decision(reader: Reader, value: unknown, at: string): MadeDecision | undefined {
  if (typeof value === "string") return { decision: reader.text(value, at) ?? "", rationale: "" };
  const read = reader.fields(value, at, {
    decision: (inner, place) => reader.text(inner, place),
    rationale: (inner, place) => reader.text(inner, place),
  });
  if (read && typeof read.decision !== "string") reader.tell(`${at} has no decision.`);
  return read && { decision: String(read.decision ?? ""), rationale: String(read.rationale ?? "") };
}

/** `command: result`, as the template shows it, or its two parts. */
function testRun(reader: Reader, value: unknown, at: string): TestRun | undefined {
  if (typeof value === "string") {
    const text = reader.text(value, at) ?? "";
    const cut = text.lastIndexOf(": ");
    return cut > 0 ? { name: text.slice(0, cut), result: text.slice(cut + 2) } : { name: text, result: "" };
  }
  const read = reader.fields(value, at, {
    name: (inner, place) => reader.text(inner, place),
    result: (inner, place) => reader.text(inner, place),
  });
  if (read && typeof read.name !== "string") reader.tell(`${at} has no name.`);
  return read && { name: String(read.name ?? ""), result: String(read.result ?? "") };
}

function transcript(reader: Reader, value: unknown, at: string): TranscriptAnchor | undefined {
  const read = reader.fields(value, at, {
    sessionKey: (inner, place) => reader.text(inner, place, 200),
    sessionId: (inner, place) => reader.text(inner, place, 200),
    messageIds: (inner, place) => reader.texts(inner, place),
    runId: (inner, place) => reader.text(inner, place, 200),
  });
  if (read && typeof read.sessionKey !== "string") reader.tell(`${at} has no sessionKey.`);
  return read as TranscriptAnchor | undefined;
}

function question(reader: Reader, value: unknown, at: string): AskedQuestion | undefined {
  if (typeof value === "string") return { text: reader.text(value, at) ?? "", options: [] };
  const read = reader.fields(value, at, {
    text: (inner, place) => reader.text(inner, place),
    options: (inner, place) => reader.texts(inner, place),
  });
  if (!read) return undefined;
  const options = (read.options ?? []) as readonly string[];
  if (typeof read.text !== "string") reader.tell(`${at} has no text.`);
  if (options.length > MOST_OPTIONS)
    reader.tell(`${at}.options has ${options.length} entries; ${MOST_OPTIONS} is the limit.`);
  return { text: String(read.text ?? ""), options };
}

function commit(reader: Reader, value: unknown, at: string): string | undefined {
  const text = reader.text(value, at, 64);
  if (text !== undefined && !isCommitId(text)) reader.tell(`${at} is not the id of a commit; give its hash.`);
  return text;
}

export function isCommitId(text: string): boolean {
  return /^[0-9a-f]{7,64}$/i.test(text);
}

/** Reads fields and gathers what is wrong with them; the first problem is the one that is told. */
class Reader {
  readonly problems: string[] = [];

  constructor(readonly limits: UpdateLimits) {}

  tell(problem: string): undefined {
    this.problems.push(problem);
    return undefined;
  }

  update(value: Readonly<Record<string, unknown>>): AgentUpdate {
    const update: Partial<Record<keyof AgentUpdate, unknown>> = {};
    for (const [key, given] of Object.entries(value)) {
      const field = Object.hasOwn(FIELDS, key) ? FIELDS[key] : undefined;
      if (!field) {
        this.tell(`${clipKey(key)} is not a field of an update. Known: ${UPDATE_KEYS.join(", ")}.`);
        continue;
      }
      if (given === null) continue;
      if (update[field.to] !== undefined) this.tell(`${clipKey(key)} repeats another field.`);
      const read = field.read(this, given, key);
      if (read !== undefined) update[field.to] = read;
    }
    return update as AgentUpdate;
  }

  text(value: unknown, at: string, most: number = this.limits.fieldBytes): string | undefined {
    if (typeof value !== "string") return this.tell(`${at} holds ${describeInput(value)} instead of text.`);
    const text = value.trim();
    const size = byteLength(text);
    if (size > most) return this.tell(`${at} has ${size} bytes; ${most} is the limit.`);
    return text === "" ? undefined : text;
  }

  choice<T extends string>(value: unknown, at: string, choices: readonly T[]): T | undefined {
    const found = choices.find((choice) => choice === value);
    return found ?? this.tell(`${at} is ${describeInput(value)}; it can be ${choices.join(", ")}.`);
  }

  /** One text counts as a list of one. */
  texts(value: unknown, at: string): readonly string[] | undefined {
    return this.list(typeof value === "string" ? [value] : value, at, (reader, item, place) =>
      reader.text(item, place),
    );
  }

  list<T>(
    value: unknown,
    at: string,
    read: (reader: Reader, item: unknown, at: string) => T | undefined,
  ): readonly T[] | undefined {
    if (!Array.isArray(value)) return this.tell(`${at} holds ${describeInput(value)} instead of a list.`);
    if (value.length > this.limits.items) {
      return this.tell(`${at} has ${value.length} entries; ${this.limits.items} is the limit.`);
    }
    return value.map((item, index) => read(this, item, `${at}[${index}]`)).filter((item) => item !== undefined);
  }

  fields(value: unknown, at: string, readers: FieldReaders): Record<string, unknown> | undefined {
    if (!isRecord(value)) return this.tell(`${at} holds ${describeInput(value)} instead of fields.`);
    const read: Record<string, unknown> = {};
    for (const [key, given] of Object.entries(value)) {
      const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
      if (!reader) {
        this.tell(`${at}.${clipKey(key)} is unknown. Known: ${Object.keys(readers).join(", ")}.`);
        continue;
      }
      const field = given === null ? undefined : reader(given, `${at}.${key}`, this);
      if (field !== undefined) read[key] = field;
    }
    return read;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describeInput(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "fields";
  if (typeof value !== "string") return `a ${typeof value}`;
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}

/** A key of somebody else's choosing, short and on one line. */
function clipKey(key: string): string {
  return JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key).slice(1, -1);
}

/** Evidence gathers; of everything else the last word holds. */
export function mergeUpdate(known: CrystallizationBody, update: AgentUpdate): CrystallizationBody {
  return {
    level: known.level,
    summary: update.summary ?? known.summary,
    currentState: update.currentState ?? known.currentState,
    decisions: mergeByKey(known.decisions, update.decisions, ({ decision: made }) => made),
    nextActions: update.nextActions ?? known.nextActions,
    openQuestions: update.openQuestions ?? known.openQuestions,
    knownBlockers: update.knownBlockers ?? known.knownBlockers,
    evidence: mergeEvidence(known.evidence, {
      ...update.evidence,
      ...(update.commit === undefined ? {} : { commits: [...(update.evidence?.commits ?? []), update.commit] }),
    }),
    transcripts: mergeByKey(known.transcripts, update.transcripts, (anchor) => JSON.stringify(anchor)),
  };
}

/** True when both say the same, whatever the order in which their fields were written. */
export function saysTheSame(one: CrystallizationBody, other: CrystallizationBody): boolean {
  return canonical(one) === canonical(other);
}

function canonical(body: CrystallizationBody): string {
  const { level, summary, currentState, decisions, nextActions, openQuestions, knownBlockers } = body;
  const evidence = { ...NO_EVIDENCE, ...body.evidence };
  return JSON.stringify([
    level,
    summary,
    currentState,
    decisions.map(({ decision: made, rationale }) => [made, rationale]),
    nextActions,
    openQuestions,
    knownBlockers,
    Object.keys(NO_EVIDENCE).map((key) => evidence[key as keyof Evidence]),
    body.transcripts.map(({ sessionKey, sessionId, messageIds, runId }) => [sessionKey, sessionId, messageIds, runId]),
  ]);
}
