/**
 * The answer to "why?" at first sight: what is so, since when and because of what, what comes next, and the command for that.
 * What `status` says of a standstill is said here in its very words; everything else stands below.
 */
import { findCommand, type Standstill } from "./standstill.ts";
import type { Explanation } from "./why.ts";

export interface WhyAnswer {
  /** What comes next, or what it waits for; null where nothing does. */
  readonly next: string | null;
  /** What a person may do about it. */
  readonly command: string | null;
  /** What else holds now. */
  readonly more: readonly string[];
}

/** `otherwise`: the command where neither a standstill nor what holds now names one. */
export function answerWhy(
  { now }: Pick<Explanation, "now">,
  concerning: readonly Standstill[],
  otherwise: string | null,
): WhyAnswer {
  const [first, ...others] = concerning;
  const quote = (text: string) => now.find((line) => line.includes(text)) ?? text;
  const next = first ? quote(first.text) : (now[0] ?? null);
  const also = others.map(({ text }) => quote(text));
  const more = [...new Set([...also, ...now])].filter((line) => line !== next);
  const named = now.map(findCommand).find((command) => command !== undefined);
  return { next, command: first ? first.command : (named ?? otherwise), more };
}
