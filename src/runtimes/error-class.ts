/** In which way a tool call failed, in one word, from what its result says; so that failures can be counted by kind. */
import { REFUSED } from "#domain/permit/hook-moments.ts";
import { CANCELLED } from "#domain/signals/signal.ts";

/** A short name for a kind of failure, so that the same error is recognised when it comes again. */
export function errorClass(text: string): string {
  // One of several calls failed, and the CLI did not make the others.
  if (/^\s*(?:<tool_use_error>)?\s*(?:Error: )?(?:Sibling tool call errored|Cancelled: parallel tool call)/i.test(text))
    return CANCELLED;
  if (
    text.startsWith(REFUSED) ||
    /^(?:PreToolUse:\S+ hook error|Permission to use|Claude requested permissions)/i.test(text)
  )
    return "denied";
  if (/^The user doesn't want to proceed|^\[Request interrupted|^\[Tool call interrupted/i.test(text))
    return "interrupted";
  if (/^(?:Error: )?(?:Command )?timed out\b/i.test(text)) return "timeout";
  const exit = /^(?:Error: )?(?:Exit code:?|Process exited with code) (\d+)/i.exec(text)?.[1];
  if (exit) return `exit-${exit}`;
  const named = /\b([A-Z][A-Za-z]*(?:Error|Exception)|E[A-Z]{3,}|command not found|permission denied)\b/i.exec(
    text,
  )?.[1];
  return named ? named.toLowerCase().replace(/\s+/g, "-") : "error";
}
