/**
 * What a command is. One file in commands/ per noun exports one of these; parsing, help, completions, "did you mean"
 * and the reference page are all derived from it, so a flag that is not described here does not exist.
 * A command's `run` parses nothing itself: it asks the call for its values, calls control, and prints.
 */
import type { Output } from "./output.ts";

export interface Argument {
  /** As it stands in the usage line, e.g. `goal`. */
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** Takes all that is left; only the last argument may. */
  readonly rest?: boolean;
  readonly choices?: readonly string[];
}

export interface Option {
  /** Long name without dashes, e.g. `title`. */
  readonly name: string;
  readonly short?: string;
  /** What stands for the value in help, e.g. `text`; a switch has none. Shells complete `file` and `dir` as such. */
  readonly value?: string;
  readonly summary: string;
  /** May be given several times; `call.list(name)` has them all. */
  readonly repeat?: boolean;
  readonly choices?: readonly string[];
}

export interface Example {
  readonly line: string;
  readonly why: string;
}

export interface Command<Parts = unknown> {
  readonly name: string;
  readonly summary: string;
  /** Paragraphs below the usage line. */
  readonly details?: string;
  readonly args?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly examples?: readonly Example[];
  /** A command with subcommands has no `run` of its own. */
  readonly subcommands?: readonly Command<Parts>[];
  /** The subcommand that is meant when none is named; without it the group shows its help. */
  readonly otherwise?: string;
  run?(call: Call, parts: Parts): Promise<void>;
}

/** The words of one call, already checked against the command's description. */
export interface Call {
  /** A positional argument; throws when the command's description has none of that name or it is required. */
  arg(name: string): string;
  optionalArg(name: string): string | undefined;
  /** All words of a `rest` argument. */
  restArgs(): readonly string[];
  text(option: string): string | undefined;
  list(option: string): readonly string[];
  /** A whole number; anything else that was typed is refused. */
  number(option: string): number | undefined;
  /** True when the switch was given. */
  has(option: string): boolean;
  /** `--json` was given: print one JSON value and nothing else on stdout. */
  readonly json: boolean;
  readonly out: Output;
}
