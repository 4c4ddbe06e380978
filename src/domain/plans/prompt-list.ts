/** A list of work in a file, one sentence a line. A line that cannot be meant refuses the whole, before anything starts. */
import { type Refused, refuse } from "#domain/core/refusal.ts";

export interface PromptLine {
  readonly line: number;
  readonly text: string;
}

/** More is a plan, or a mistake in the name of the file. */
const MOST_LINES = 200;
const MOST_SHOWN = 20;

export function readPromptList(
  text: string,
  file: string,
): { readonly ok: true; readonly prompts: readonly PromptLine[] } | Refused {
  const prompts = text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .map((one, at) => ({ line: at + 1, text: one.trim() }))
    .filter((one) => one.text !== "" && !one.text.startsWith("#"));
  const first = new Map<string, number>();
  const faults = prompts.flatMap(({ line, text: prompt }) => {
    const earlier = first.get(prompt);
    first.set(prompt, earlier ?? line);
    if (/\p{Cc}/u.test(prompt.replaceAll("\t", " "))) return [`${file}:${line}: it holds control characters.`];
    if (!/[\p{L}\p{N}]/u.test(prompt)) return [`${file}:${line}: it has no words.`];
    return earlier === undefined ? [] : [`${file}:${line}: it says the same as line ${earlier}.`];
  });
  if (prompts.length === 0) faults.push(`${file}: there is no work in it.`);
  if (prompts.length > MOST_LINES) faults.push(`${file}: it has ${prompts.length} lines; ${MOST_LINES} is the limit.`);
  if (faults.length === 0) return { ok: true, prompts };
  const rest = faults.length > MOST_SHOWN ? [`… and ${faults.length - MOST_SHOWN} more.`] : [];
  return refuse(
    "usage",
    "LIST_INVALID",
    [...faults.slice(0, MOST_SHOWN), ...rest].join("\n"),
    "One sentence a line; blank lines and lines that begin with # are skipped. Nothing was started.",
  );
}
