/** What a person sees of an agent at work: a line per thing that happened, short, and harmless to any terminal. */

import { visible } from "#domain/core/terminal-text.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { redact } from "#telemetry/redact.ts";

/** The line for a signal; undefined for those that say nothing to a person. */
export function viewLine(signal: Signal): string | undefined {
  switch (signal.kind) {
    case "session.started":
      return `— session ${signal.data.session.slice(0, 8)}${signal.data.model ? `, ${signal.data.model}` : ""}`;
    case "turn.started":
      return "— turn";
    case "turn.ended":
      return signal.data.ok ? "— turn ended" : `— turn ended: ${signal.data.reason}`;
    case "said":
      return `● ${signal.data.text}`;
    case "tool.started":
      return `⚙ ${signal.data.tool} ${brief(signal.data.args)}`;
    case "tool.ended":
      return `  ${signal.data.ok ? "✓" : "✗"} ${brief(signal.data.result)}`;
    case "committed":
      return `✓ committed ${signal.data.count === 1 ? "" : `${signal.data.count}: `}${brief(signal.data.commits[0]?.subject ?? "")}`;
    case "api.retry":
      return `… the API is retried (${signal.data.cause})`;
    case "api.failed":
      return `✗ the API gave up: ${signal.data.cause}, ${signal.data.detail}`;
    case "compacted":
      return "— its context was compacted to make room";
    case "permission.asked":
      return `? it asks for permission: ${signal.data.tool} ${brief(signal.data.args)}`;
    case "process.exited":
      return signal.data.asked ? "— ended" : `✗ its process ended (${signal.data.signal ?? signal.data.code})`;
    case "noise":
      return `? ${brief(signal.data.text)}`;
    default:
      return undefined;
  }
}

/** One signal as it is shown and logged: redacted, without control characters, each line indented after the first. */
export function renderSignal(signal: Signal): string | undefined {
  const line = viewLine(signal);
  return line === undefined ? undefined : harmless(line);
}

/** Any text for a terminal and a log: no secret, no control character, nothing that turns the reading direction. */
export function harmless(text: string): string {
  return visible(redact(text)).replace(/\n/g, "\n  ");
}

/** Redacted before it is cut: half a secret is not recognised as one any more. */
function brief(text: string): string {
  const line = redact(text).replace(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
