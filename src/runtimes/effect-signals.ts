/** What a tool call changed, as signals; the same from a stream and from a hook, so that told twice it is one fact. */
import type { Signal } from "#domain/signals/signal.ts";
import type { ToolEffect } from "#domain/signals/tool-effects.ts";
import { redact } from "#telemetry/redact.ts";

const LONGEST_PATH = 1000;

export function effectSignals(
  effects: readonly ToolEffect[],
  call: { readonly id: string; readonly tool: string; readonly sub: string | null; readonly at: number },
): Signal[] {
  const { id: source, tool, sub, at } = call;
  const signals: Signal[] = [];
  for (const effect of effects) {
    if (effect.kind === "git.ran") {
      const phase = `git-${signals.length}`;
      signals.push({ kind: "git.ran", source, phase, at, data: { verb: effect.verb, sub } });
    } else {
      const path = redact(effect.path.slice(0, LONGEST_PATH));
      signals.push({ kind: "file.changed", source, phase: "file", at, data: { path, tool, sub } });
    }
  }
  return signals;
}
