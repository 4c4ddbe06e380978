/**
 * What a signal has to hold so that rules can look at it: the fields of each kind. Signals that were read from a file are
 * checked against this, because anybody may have written them; what is missing where it may be is filled in, what is of
 * another kind than it should be makes the whole no signal.
 */
import type { Signal, SignalData, SignalKind } from "#domain/signals/signal.ts";
import { type Json, numberOf, objectOf, textOf, withinTime } from "./json.ts";

type Field = "text" | "text or null" | "number" | "number or null" | "flag" | "maybe text" | "maybe number" | "any";

const TOKENS = {
  inputTokens: "number",
  outputTokens: "number",
  cacheReadTokens: "number",
  cacheWriteTokens: "number",
} as const;

const SHAPES: { readonly [K in SignalKind]: Readonly<Record<keyof Required<SignalData[K]> & string, Field>> } = {
  "session.started": {
    session: "text",
    model: "text or null",
    version: "text or null",
    compactReserve: "maybe number",
  },
  "turn.started": { by: "text" },
  "turn.ended": { ok: "flag", reason: "text", text: "text", costUsd: "number or null" },
  "tool.started": {
    tool: "text",
    does: "maybe text",
    argsHash: "text",
    args: "text",
    sub: "text or null",
    shape: "maybe text",
    step: "maybe text",
  },
  "tool.ended": {
    tool: "text",
    does: "maybe text",
    ok: "flag",
    errorClass: "text or null",
    ms: "number or null",
    result: "text",
    resultHash: "maybe text",
    failure: "any",
  },
  "file.changed": { path: "text", tool: "text", sub: "text or null" },
  "git.ran": { verb: "text", sub: "text or null" },
  committed: { from: "text", to: "text", count: "number", commits: "any", madeAt: "maybe number" },
  said: { text: "text" },
  usage: { ...TOKENS, contextTokens: "number", contextWindow: "number or null" },
  meter: { costUsd: "number", contextWindow: "number or null", before: "maybe number" },
  "api.retry": { attempt: "number", cause: "text", delayMs: "number" },
  "api.failed": { cause: "text", detail: "text", resetsAt: "number or null" },
  compacted: { trigger: "text", beforeTokens: "number", afterTokens: "number or null" },
  "message.taken": { handedAs: "text" },
  "session.opened": { session: "text", source: "text" },
  "session.closed": { reason: "text" },
  "compaction.started": { trigger: "text" },
  "compaction.ended": { trigger: "text", summary: "text" },
  "sub.started": { sub: "text", type: "text" },
  "sub.ended": { sub: "text", type: "text", text: "text" },
  "permission.asked": { tool: "text", args: "text" },
  notified: { type: "text", text: "text" },
  "process.exited": { code: "number or null", signal: "text or null", asked: "flag" },
  noise: { text: "text" },
};

/** Undefined: it is no signal. */
export function readSignal(value: Json): Signal | undefined {
  const { kind, source, phase, at } = value;
  if (typeof kind !== "string" || !isSignalKind(kind)) return undefined;
  if (typeof source !== "string" || typeof phase !== "string" || typeof at !== "number") return undefined;
  const data = readData(kind, value.data);
  return data === undefined ? undefined : ({ kind, source, phase, at: withinTime(at), data } as Signal);
}

export function isSignalKind(kind: string): kind is SignalKind {
  return Object.hasOwn(SHAPES, kind);
}

function readData(kind: SignalKind, data: unknown): Json | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const read: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(SHAPES[kind])) {
    const value = readField(kind, name, field, (data as Json)[name]);
    if (value === WRONG) return undefined;
    if (value !== undefined) read[name] = value;
  }
  return read;
}

const WRONG = Symbol("wrong");

function readField(kind: SignalKind, name: string, field: Field, value: unknown): unknown {
  if (field === "any") return kind === "committed" ? readCommits(value) : readFailure(value);
  if (value === undefined || value === null) {
    if (field.endsWith("or null")) return null;
    return field.startsWith("maybe") ? undefined : WRONG;
  }
  const type = field.includes("text") ? "string" : field === "flag" ? "boolean" : "number";
  if (typeof value !== type || (type === "number" && !Number.isFinite(value))) return WRONG;
  return name === "resetsAt" || name === "madeAt" ? withinTime(value as number) : value;
}

function readCommits(value: unknown): unknown {
  if (!Array.isArray(value)) return WRONG;
  return value.map((one) => ({ commit: textOf(objectOf(one).commit), subject: textOf(objectOf(one).subject) }));
}

function readFailure(value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  const { head, count } = objectOf(value);
  return {
    ...(typeof head === "string" ? { head } : {}),
    ...(count === undefined ? {} : { count: numberOf(count) }),
  };
}
