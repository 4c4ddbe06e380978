/**
 * Which kind of terminal agents get. `auto` prefers tmux, because a person can look inside, and takes detached where
 * there is none; a kind that was asked for by name is never silently replaced by another.
 */
import { OverseerError } from "#errors.ts";
import type { Terminal } from "./terminal.ts";

export type TerminalSetting = "auto" | "tmux" | "detached";

export interface TerminalChoice {
  readonly terminal: Terminal;
  /** Why it is not tmux, for `status` and `doctor`. */
  readonly because?: string;
}

/** Throws environment/TMUX_MISSING when tmux is demanded and cannot be used. Changes nothing; may be asked again. */
export async function chooseTerminal(
  setting: TerminalSetting,
  kinds: { readonly tmux: Terminal; readonly detached: Terminal },
): Promise<TerminalChoice> {
  if (setting === "detached") return { terminal: kinds.detached, because: "`terminal: detached` is set" };
  const found = await kinds.tmux.available();
  if (found.ok) return { terminal: kinds.tmux };
  if (setting === "auto") return { terminal: kinds.detached, because: found.reason };
  throw new OverseerError("environment", "TMUX_MISSING", found.reason, found.hint);
}
