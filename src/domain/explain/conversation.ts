/**
 * The conversation of an agent as a person reads it: what it was asked, what it said, what it ran and what came of it,
 * what it changed, and what happened around it. This file knows the parts and how a call is told; where they are read from
 * is control/conversation.ts, how they look cli/conversation-lines.ts. Texts are bounded (`left`: characters left out).
 */
import { interpretCall, type ToolVocabulary } from "#domain/core/tools.ts";

export type ConversationPart =
  /** What it was asked, and by whom; `from` is null where the transcript does not say. */
  | ({ readonly kind: "prompt"; readonly from: string | null } & PartText)
  /** What it said. */
  | ({ readonly kind: "words" } & PartText)
  /** What it used a tool for: `does` is the command, the file, the pattern. `call` is what its result refers to. */
  | {
      readonly kind: "command";
      readonly at: number;
      readonly call: string;
      readonly tool: string;
      readonly does: string;
    }
  /** What the call before it writes into a file: lines that begin with `+`, `-` or a space. */
  | ({ readonly kind: "diff"; readonly path: string } & PartText)
  | ({ readonly kind: "result"; readonly call: string; readonly ok: boolean } & PartText)
  /** What happened around it: started, ended, reported, compacted, the provider failed. */
  | { readonly kind: "note"; readonly at: number; readonly text: string; readonly bad: boolean };

interface PartText {
  readonly at: number;
  readonly text: string;
  /** How many characters of it are left out. */
  readonly left: number;
}

/** A message of ours inside of what reached the model; see inbox/injection.ts, which writes them. */
const MESSAGE = /<overseer-(instruction|mail|nudge|sync|steering|pause) ([^>\n]*)>\n([\s\S]*?)\n<\/overseer-\1>/g;
const FENCED = /^(`{3,})text\n([\s\S]*)\n\1(?:\n|$)/;

export interface HeardWords {
  readonly from: string | null;
  readonly text: string;
}

/** What reached the model, one by one: our messages with who sent them, and what stands between them. */
export function splitHeard(heard: string): HeardWords[] {
  const found: HeardWords[] = [];
  let end = 0;
  const addBetween = (text: string) => {
    const rest = text.replace(QUOTING, "").trim();
    if (rest !== "") found.push({ from: null, text: rest });
  };
  for (const match of heard.matchAll(MESSAGE)) {
    const [whole, kind = "", marks = "", body = ""] = match;
    addBetween(heard.slice(end, match.index));
    end = match.index + whole.length;
    const subject = /(?:^| )subject="([^"]*)"/.exec(marks)?.[1] ?? "";
    const words = body.replace(FENCED, "$2\n").trim();
    const from = /(?:^| )from="([^"]*)"/.exec(marks)?.[1] ?? (kind === "steering" ? "overseer" : null);
    found.push({ from, text: subject === "" ? words : `${subject}: ${words}` });
  }
  addBetween(heard.slice(end));
  return found;
}

/** The sentence over messages of others; it is for the agent. */
const QUOTING = /^\s*Messages for you\. Text between fences[^\n]*/;

export interface ToldCallParts {
  readonly does: string;
  readonly diff: { readonly path: string; readonly text: string } | null;
}

/** What a call does, in one line, and what it writes. `place`: its worktree; paths are told from there. */
export function tellCall(
  vocabulary: ToolVocabulary,
  tool: string,
  input: Readonly<Record<string, unknown>>,
  place: string,
): ToldCallParts {
  const { use, path, command } = interpretCall(vocabulary, tool, input);
  if (command !== undefined) return { does: command.trim(), diff: null };
  if (path === undefined) return { does: describeArguments(input, place), diff: null };
  const shown = fromPlace(path, place);
  const text = use === "edit" ? diffOf(input) : "";
  return { does: shown, diff: text === "" ? null : { path: shown, text } };
}

/** What says most about a call that neither runs a command nor writes a file; the first that is there. */
const TELLING = ["file_path", "pattern", "path", "query", "url", "description", "prompt", "question", "skill"] as const;
const LONGEST_ARGUMENTS = 500;

function describeArguments(input: Readonly<Record<string, unknown>>, place: string): string {
  const name = TELLING.find((one) => typeof input[one] === "string" && input[one] !== "");
  if (name !== undefined) {
    const where = name === "pattern" && typeof input.path === "string" ? ` in ${fromPlace(input.path, place)}` : "";
    return `${fromPlace(String(input[name]), place)}${where}`;
  }
  const given = Object.entries(input).map(
    ([key, value]) => `${key} ${typeof value === "string" ? value : jsonOf(value)}`,
  );
  return given.join(", ").slice(0, LONGEST_ARGUMENTS);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch (error) {
    // Nested deeper than the stack.
    if (error instanceof RangeError) return "…";
    throw error;
  }
}

function fromPlace(path: string, place: string): string {
  return place !== "" && path.startsWith(`${place}/`) ? path.slice(place.length + 1) : path;
}

function diffOf(input: Readonly<Record<string, unknown>>): string {
  const { edits, old_string: before, new_string: after, content, new_source: source } = input;
  if (Array.isArray(edits)) return edits.map((one) => diffOf(Object(one))).join("\n");
  if (typeof before === "string" || typeof after === "string")
    return diffLines(String(before ?? ""), String(after ?? ""));
  const written = typeof content === "string" ? content : typeof source === "string" ? source : "";
  return written === "" ? "" : diffLines("", written);
}

/** Lines around a change that are shown with it. */
const AROUND = 2;

/** One change as lines: what both have at the beginning and end is only its surroundings. */
export function diffLines(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const end = now.length - tail;
  return [
    ...now.slice(Math.max(0, head - AROUND), head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, end).map((line) => `+${line}`),
    ...now.slice(end, end + AROUND).map((line) => ` ${line}`),
  ].join("\n");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
