/** Reports of an agent elsewhere, as its runner would write them. */
import { BUILT_IN_ROLES, readRole } from "#config/roles.ts";
import { schema } from "#config/schema.ts";
import { beat, newPulse, type Pulse } from "#domain/signals/pulse.ts";
import { rulesFor } from "#domain/signals/reflex-rules.ts";
import { saluteOf } from "#domain/signals/salute.ts";
import type { Signal } from "#domain/signals/signal.ts";

const rules = rulesFor(readRole("builder", BUILT_IN_ROLES.get("builder") ?? "", "builder"), schema.parse({}).reflex);
let moment = 0;

/** An agent that has read the same missing file so many times. */
function lost(times: number): Pulse {
  let pulse = newPulse(1, "ada");
  for (let step = 0; step < times; step += 1) {
    const source = `t${step}`;
    const about = { tool: "Read", does: "read", argsHash: "x", args: '{"file_path":"x"}', sub: null };
    const ended = { tool: "Read", ok: false, errorClass: "error", ms: 1, result: "File does not exist." };
    pulse = beat(pulse, { kind: "tool.started", source, phase: "start", at: step, data: about } as Signal);
    pulse = beat(pulse, { kind: "tool.ended", source, phase: "end", at: step, data: ended } as Signal);
  }
  return pulse;
}

export function reportOf(times: number, ended = false): string {
  const who = { agent: "ada", attempt: 1, role: "builder", capability: "builder", goalId: "g", workNodeId: "T1" };
  const unit = { ...who, task: "Do", runtime: "r", worktree: "/w", branch: "b" };
  moment += 1;
  const iso = (at: number) => `t${at}`;
  return JSON.stringify(saluteOf({ pulse: lost(times), unit, rules, reflex: false, ended, iso, now: moment }));
}
