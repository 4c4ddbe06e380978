/**
 * Finds the update in an agent's last message: a fenced block labelled json whose one key is `overseerUpdate`; the last
 * one counts. Only fences that stand by themselves are looked into: what lies inside another fence or behind a quote
 * mark is material the agent shows, and so is everything Overseer itself wrote, which always stands that way or still
 * holds its placeholders. Nothing is guessed from running text; what is there and cannot be read is an answer with a
 * reason, so that the agent can be asked again.
 */

import { byteLength } from "#domain/core/quote.ts";
import { UPDATE_PLACEHOLDERS } from "#domain/model/protocol.ts";
import { type AgentUpdate, parseUpdate, UPDATE_LIMITS, type UpdateLimits } from "./update.ts";

export const UPDATE_WORD = "overseerUpdate";

export type Reading =
  | { readonly kind: "none" }
  /** Our own template, given back as it was. It says nothing. */
  | { readonly kind: "template" }
  | { readonly kind: "refused"; readonly code: string; readonly reason: string }
  | { readonly kind: "update"; readonly update: AgentUpdate };

export function readUpdate(text: string, limits: UpdateLimits = UPDATE_LIMITS): Reading {
  if (!text.includes(UPDATE_WORD)) return { kind: "none" };
  const { blocks, outside } = fencesOf(text);
  const meant = blocks.filter((block) => block.body.includes(KEY));
  const last = meant.filter((block) => block.label === "json").at(-1);
  if (last) return readBlock(last, limits);
  if (meant.some((block) => block.label === "" && block.body.trimStart().startsWith("{"))) {
    return refusal("UPDATE_NOT_LABELLED", "The block is not labelled: begin its fence with ```json.");
  }
  if (outside.includes(KEY)) {
    return refusal("UPDATE_NOT_FENCED", "The update is not in a fenced block: put it between ```json and ```.");
  }
  return { kind: "none" };
}

const KEY = `"${UPDATE_WORD}"`;

function refusal(code: string, reason: string): Reading {
  return { kind: "refused", code, reason };
}

function readBlock(block: Block, limits: UpdateLimits): Reading {
  if (!block.closed) return refusal("UPDATE_CUT", "The block is not closed: end it with ``` on a line of its own.");
  const size = byteLength(block.body);
  if (size > limits.blockBytes) {
    return refusal("UPDATE_TOO_LARGE", `The block has ${size} bytes; ${limits.blockBytes} is the limit.`);
  }
  const parsed = parseJson(block.body);
  if ("problem" in parsed) return refusal("UPDATE_NOT_JSON", `The block is not JSON: ${parsed.problem}.`);
  const { value } = parsed;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, UPDATE_WORD)) return { kind: "none" };
  const [other] = Object.keys(value).filter((key) => key !== UPDATE_WORD);
  if (other !== undefined) {
    return refusal(
      "UPDATE_INVALID",
      `Beside ${UPDATE_WORD} stands ${JSON.stringify(other.slice(0, 60))}; it must be alone.`,
    );
  }
  const content: unknown = (value as Record<string, unknown>)[UPDATE_WORD];
  const untouched = placeholdersIn(content, "");
  if (untouched.includes("status") || untouched.includes("summary")) return { kind: "template" };
  if (untouched.length > 0) {
    const reason = `${untouched.join(", ")} still holds the template's text: fill it in or leave it out.`;
    return refusal("UPDATE_INVALID", reason);
  }
  const read = parseUpdate(content, limits);
  return read.ok ? { kind: "update", update: read.update } : refusal("UPDATE_INVALID", read.reason);
}

/** What a parser says may quote its input, which is somebody else's: only the kind of mistake is passed on. */
function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { problem: said.replaceAll(/[^\x20-\x7e]/g, " ").slice(0, 120) };
  }
}

/** Paths of fields that still hold what the template held. */
function placeholdersIn(value: unknown, path: string, depth = 0): string[] {
  if (typeof value === "string") return UPDATE_PLACEHOLDERS.has(value.trim()) ? [path] : [];
  if (typeof value !== "object" || value === null || depth > 4) return [];
  return Object.entries(value)
    .slice(0, 200)
    .flatMap(([key, child]) => placeholdersIn(child, path === "" ? key : `${path}.${key}`, depth + 1));
}

interface Block {
  /** The first word after the fence, in small letters. */
  readonly label: string;
  readonly body: string;
  readonly closed: boolean;
}

const OPENING = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/;

/** The fenced blocks that stand by themselves, in order, and the text around them; one pass over the lines. */
function fencesOf(text: string): { readonly blocks: readonly Block[]; readonly outside: string } {
  const blocks: Block[] = [];
  const outside: string[] = [];
  let open: { readonly fence: string; readonly label: string; readonly lines: string[] } | undefined;
  const close = (closed: boolean) => {
    if (open) blocks.push({ label: open.label, body: open.lines.join("\n"), closed });
    open = undefined;
  };
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (open) {
      if (isClosing(line, open.fence)) close(true);
      else open.lines.push(line);
      continue;
    }
    const opening = OPENING.exec(line);
    if (opening) {
      const [, fence = "", info = ""] = opening;
      open = { fence, label: info.trim().split(/\s/)[0]?.toLowerCase() ?? "", lines: [] };
    } else if (!/^\s*>/.test(line)) outside.push(line);
  }
  close(false);
  return { blocks, outside: outside.join("\n") };
}

/** At least as long as the opening, of the same sign, and nothing behind it. */
function isClosing(line: string, fence: string): boolean {
  const text = line.trimEnd();
  const mark = text.trimStart();
  return (
    text.length - mark.length <= 3 && mark.length >= fence.length && mark === (fence[0] ?? "`").repeat(mark.length)
  );
}
