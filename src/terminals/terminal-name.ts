/**
 * The name of a terminal, as a type of its own. tmux reads `.` and `:` in a target as window and pane, matches by
 * prefix, and takes an empty target for "whatever is current": a wrong name once meant the wrong session killed. So a
 * name is made from an attempt here, or checked here, and nothing else reaches a tmux target. People's names for
 * agents are no part of it: attempts are never reused.
 */
import { OverseerError } from "#errors.ts";

declare const checked: unique symbol;
export type TerminalName = string & { readonly [checked]: true };

const NAME = /^ov-[a-z0-9](?:[a-z0-9-]{0,39})$/;

/** `ov-47` for attempt 47. Throws usage/TERMINAL_NAME for an attempt with characters a tmux target could misread. */
export function sessionName(attempt: number | string): TerminalName {
  return terminalName(`ov-${attempt}`);
}

/** The same check for a whole name that comes from a record or a listing. */
export function terminalName(text: string): TerminalName {
  if (isTerminalName(text)) return text;
  throw new OverseerError(
    "usage",
    "TERMINAL_NAME",
    `${JSON.stringify(text)} cannot name a terminal.`,
    "Terminals are named ov-<attempt>, with lower-case letters, digits and dashes only.",
  );
}

export function isTerminalName(text: string): text is TerminalName {
  return NAME.test(text);
}
