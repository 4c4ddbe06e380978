/**
 * How a finding names what it is about: the very call, as it was made, and what its error said. Both are the agent's and
 * other people's words, so they come as quotations on one line in which nothing can pass for ours (reflex-call.ts). Whether
 * there is a finding at all is not known here.
 */
import { digest } from "#domain/core/similarity.ts";
import type { CourseCall } from "./reflex-course.ts";
import { isSameCall } from "./reflex-course.ts";

/** The call as it was made; a course of an earlier version knows only the tool. */
export function nameCall({ words, tool }: CourseCall): string {
  return words ?? tool;
}

/** What the error of a call says, in brackets; empty where it says nothing. */
export function quoteError({ says }: CourseCall): string {
  return says === undefined ? "" : ` (${says})`;
}

/** The same call again and again, or other calls that end in the same way: it is said which. */
export function tellRepetition(count: number, call: CourseCall, all: readonly CourseCall[]): string {
  const same = all.filter((one) => isSameCall(one, call)).length >= Math.min(count, all.length);
  if (call.failed) {
    return same
      ? `${nameCall(call)} failed ${count} times with the same result${quoteError(call)}`
      : `${count} tries failed the same way${quoteError(call)}, the last one ${nameCall(call)}`;
  }
  return same
    ? `you made the same call ${count} times with the same result: ${nameCall(call)}`
    : `you made nearly the same call ${count} times with the same result, the last one ${nameCall(call)}`;
}

const SHORT = 6;
/** As many failures a finding stands for at most. */
const MOST = 6;

/** By what failures two findings are known to be about the same trouble. */
export function nameTroubles(failed: readonly CourseCall[]): readonly string[] {
  const names = failed.map(({ tool, kind, shape, error, result }) =>
    digest(`${tool} ${kind === "check" ? shape : (error ?? result)}`).slice(0, SHORT),
  );
  return [...new Set(names)].slice(-MOST);
}
