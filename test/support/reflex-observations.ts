/**
 * What an agent hears, and what is kept of how it stands, under a configuration: real agents' reflex files as `sling`
 * writes them, with the pulse of an agent in a certain trouble beside them.
 */

import { readFileSync } from "node:fs";
import type { Config } from "#config/schema.ts";
import { watchElsewhere } from "#control/watch-elsewhere.ts";
import { useOf } from "#domain/core/tools.ts";
import { beat, newPulse, type Pulse } from "#domain/signals/pulse.ts";
import { afterSteering, decideSteering } from "#domain/signals/reflex.ts";
import { REFLEX_FILE, type ReflexFile } from "#domain/signals/reflex-file.ts";
import { saluteOf, withSalute } from "#domain/signals/salute.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { CLAUDE_TOOLS } from "#runtimes/claude-code/tools.ts";
import { slung } from "./config-observations.ts";
import { repoUnder } from "./staged-world.ts";

const fileOf = (directory: string) => JSON.parse(readFileSync(`${directory}/${REFLEX_FILE}`, "utf8")) as ReflexFile;

/** Something of the reflex file that an agent is given. */
export const reflexGiven = (show: (file: ReflexFile) => unknown) =>
  slung(({ launch }) => show(fileOf(launch.directory)));

interface Trouble {
  /** The tool of each step, in turn; all of them fail. */
  readonly tools: readonly string[];
  readonly steps: number;
  readonly contextTokens?: number;
}

/** At which steps an agent in this trouble is told what. */
export const heardIn = (trouble: Trouble) =>
  reflexGiven(({ rules }) => {
    const heard: string[] = [];
    let pulse = newPulse(1, "a");
    for (let step = 0; step < trouble.steps; step += 1) {
      pulse = stepped(pulse, trouble, step);
      const steering = decideSteering(pulse, rules);
      if (!steering) continue;
      heard.push(`${steering.step} ${steering.anomaly}`);
      pulse = afterSteering(pulse, steering, step);
    }
    return heard;
  });

function stepped(pulse: Pulse, { tools, contextTokens = 0 }: Trouble, step: number): Pulse {
  const tool = tools[step % tools.length] ?? "Bash";
  const about = { tool, does: useOf(CLAUDE_TOOLS, tool), argsHash: `${tool}`, args: `{"path":"${tool}"}`, sub: null };
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const signals = [
    {
      kind: "usage",
      source: `u${step}`,
      phase: "usage",
      at: step,
      data: { ...usage, contextTokens, contextWindow: 100 },
    },
    { kind: "tool.started", source: `t${step}`, phase: "start", at: step, data: about },
    {
      kind: "tool.ended",
      source: `t${step}`,
      phase: "end",
      at: step,
      data: { tool, ok: false, errorClass: "error", ms: 1, result: `${tool} is gone` },
    },
  ] as Signal[];
  return signals.reduce(beat, pulse);
}

/** Whether `watch --salute` in a repository under this steers an agent elsewhere that is called ada. */
export async function steeredElsewhere(config: Config): Promise<unknown> {
  const { real } = await repoUnder(config);
  const { maySteer } = await watchElsewhere(async () => real, []);
  return maySteer?.("one", "ada");
}

/** How many of sixty reports are kept. */
export async function salutesKept(config: Config): Promise<unknown> {
  return reflexGiven(({ rules, unit, salute }) => {
    const iso = (at: number) => new Date(at).toISOString();
    const report = saluteOf({ pulse: newPulse(1, "a"), unit, rules, reflex: true, ended: false, iso, now: 0 });
    let history = "";
    for (let nth = 0; nth < 60; nth += 1) history = withSalute(history, report, salute.keep);
    return history.trim().split("\n").length;
  })(config);
}
