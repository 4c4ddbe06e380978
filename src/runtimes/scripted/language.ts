/**
 * One script language for demo, tests, simulator and model server. A script is a JSON or YAML list of steps and travels
 * inside the task text between two markers, so whoever passes the text on (a prompt, a mail, a spec file) needs to know
 * nothing about it. This file finds scripts in texts and writes them into texts; it plays nothing. Texts come from
 * outside, so nothing here throws.
 */
import { parseScript } from "./grammar.ts";
import type { Script, ScriptError, Step } from "./steps.ts";

export { parseScript } from "./grammar.ts";
export { matchesPattern } from "./pattern.ts";
export * from "./steps.ts";

export const SCRIPT_START = "@@SCRIPT";
export const SCRIPT_END = "@@END";

/** Finds the last script in a text that can be read. An error tells about the last one when none can; undefined: there is none. */
export function findScript(text: string): Script | ScriptError | undefined {
  let firstError: ScriptError | undefined;
  let start = text.lastIndexOf(SCRIPT_START);
  for (let tries = 0; start >= 0 && tries < MAX_CANDIDATES; tries += 1) {
    const bodyStart = start + SCRIPT_START.length;
    const end = text.indexOf(SCRIPT_END, bodyStart);
    const found = end < 0 ? { error: `${SCRIPT_START} has no ${SCRIPT_END}.` } : readBody(text.slice(bodyStart, end));
    if ("steps" in found) return found;
    firstError ??= found;
    start = start === 0 ? -1 : text.lastIndexOf(SCRIPT_START, start - 1);
  }
  return firstError;
}

/** The text around its scripts: what a person would have written, and all that patterns are looked for in. */
export function withoutScripts(text: string): string {
  const parts = text.split(SCRIPT_START);
  const outside = parts.slice(1).map((part) => {
    const end = part.indexOf(SCRIPT_END);
    return end < 0 ? part : part.slice(end + SCRIPT_END.length);
  });
  return [parts[0] ?? "", ...outside].join("");
}

/**
 * The script as a text with its markers. It is one line of JSON in which every character that a prompt, a shell, a
 * fence or an escaping mailer could trip over is written as an escape, so it can be quoted anywhere, also inside
 * another script.
 */
export function renderScript(steps: readonly Step[]): string {
  const json = JSON.stringify(steps.map(toPlainStep));
  return `${SCRIPT_START}${json.replace(/[<>&`'$@\u007f-\uffff]/g, escapeCharacter)}${SCRIPT_END}`;
}

/** Milliseconds as they pass at this speed: 10 means ten times as fast. */
export function scaleMs(ms: number, speed: number): number {
  return Math.round(ms / speed);
}

const MAX_CANDIDATES = 64;
const MAX_YAML_CHARACTERS = 1_000_000;

function toPlainStep(step: Step): Record<string, unknown> {
  const { kind, ...fields } = step;
  if (step.kind === "loop") return { loop: { ...fields, steps: step.steps.map(toPlainStep) } };
  if (step.kind === "on") return { on: { ...fields, do: step.do.map(toPlainStep) } };
  return { [kind]: fields };
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A body as it stands, or as it looks after being quoted once: inside a JSON string, or as a quotation of a mail. */
function readBody(body: string): Script | ScriptError {
  let first: ScriptError | undefined;
  for (const form of [body, unquoteJson(body), unquoteMail(body)]) {
    if (form === undefined) continue;
    const value = readNotation(form);
    const script = "error" in value ? value : parseScript(value.value);
    if ("steps" in script) return script;
    first ??= script;
  }
  return first ?? { error: "The script is empty." };
}

function readNotation(text: string): { value: unknown } | ScriptError {
  const json = attempt(() => JSON.parse(text) as unknown);
  if ("value" in json) return json;
  if (text.length > MAX_YAML_CHARACTERS) return { error: `The script is not JSON: ${json.error}` };
  const yaml = attempt(() => Bun.YAML.parse(text));
  if ("value" in yaml) return yaml;
  return { error: `The script is neither JSON (${json.error}) nor YAML (${yaml.error}).` };
}

function attempt(read: () => unknown): { value: unknown } | ScriptError {
  try {
    return { value: read() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function unquoteJson(body: string): string | undefined {
  if (!body.includes('\\"') && !body.includes("\\n")) return undefined;
  const read = attempt(() => JSON.parse(`"${body}"`) as unknown);
  return "value" in read && typeof read.value === "string" ? read.value : undefined;
}

function unquoteMail(body: string): string | undefined {
  return /^\s*>/m.test(body) ? body.replace(/^[ \t]*> ?/gm, "") : undefined;
}
