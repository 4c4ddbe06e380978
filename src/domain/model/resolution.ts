/**
 * How a conflict was resolved once: for the very same three files the answer is the same again, without asking anybody.
 * Kept by the names of their contents, only for what has landed, and in our own store: git's own memory for this
 * would switch itself on for the user's repository.
 */
import type { EventOf } from "./event.ts";

export interface RecordedResolution {
  readonly resolutionId: string;
  readonly path: string;
  /** The content that came out, as git names it. */
  readonly result: string;
  readonly at: number;
}

export function resolutionIdOf(of: { readonly base: string; readonly ours: string; readonly theirs: string }): string {
  return [of.base, of.ours, of.theirs].join(":");
}

export function applyToResolution(
  known: RecordedResolution | undefined,
  event: EventOf,
): RecordedResolution | undefined {
  if (event.type !== "merge.resolved") return known;
  const { path, result } = event.data;
  return { resolutionId: resolutionIdOf(event.data), path, result, at: event.at };
}
