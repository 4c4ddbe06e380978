/** `overseer replay --traces`: what the reflex would have said, and how right it is where somebody knows. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, plural, table } from "#cli/text.ts";
import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import { schema } from "#config/schema.ts";
import { presentPlain } from "#control/present.ts";
import type { ReplayInput, ReplayResult } from "#control/replay.ts";
import { readBuiltInRoles, replayTraces } from "#control/replay.ts";
import { OverseerError } from "#errors.ts";
import { systemFiles } from "#sys/files.ts";

const command: Command<Parts> = {
  name: "replay",
  summary: "Run the reflex over recorded work and show what it would have said.",
  details: `Reads session logs (.git/overseer/logs), traces and Claude Code transcripts from disk; unknown lines are
skipped. For labelled traces it also shows how accurate the rules are.`,
  options: [
    { name: "traces", value: "dir", summary: "A directory, or one .ndjson or .jsonl file." },
    { name: "role", value: "role", summary: "Assume this role for traces that name none (default builder)." },
  ],
  examples: [
    { line: "overseer replay --traces .git/overseer/logs", why: "run the reflex over this repository's agents" },
  ],
  async run(call, parts) {
    const traces = call.text("traces");
    if (traces === undefined) {
      const hint = "Say `overseer replay --traces <dir>`.";
      throw new OverseerError("usage", "TRACES_MISSING", "What is to be replayed?", hint);
    }
    const result = await replayTraces({
      files: systemFiles(),
      traces: traces.replace(/(?<=.)\/+$/, ""),
      ...(await strictnessHere(parts)),
      role: call.text("role") ?? "builder",
    });
    if (call.json) return call.out.json(presentPlain(result));
    printReplay(call, result);
  },
};

/** How strict the repository one stands in is; elsewhere as strict as one without any settings. */
async function strictnessHere(parts: Parts): Promise<Pick<ReplayInput, "reflex" | "roles">> {
  try {
    const world = await parts.world();
    const config = await world.config();
    const roles = await loadRoles(world.files, roleSources(world.root, config));
    return { reflex: config.reflex, roles: roles.byCapability };
  } catch (error) {
    if (!(error instanceof OverseerError) || error.kind === "config") throw error;
    return { reflex: schema.parse({}).reflex, roles: readBuiltInRoles() };
  }
}

function printReplay(call: Call, { files, traces, tally }: ReplayResult): void {
  for (const { name, fired } of traces) {
    for (const { anomaly, step, at, text } of fired) {
      call.out.line(`${inert(name)}  step ${step}  ${new Date(at).toISOString()}  ${anomaly}`);
      call.out.line(`  ${inert(text)}`);
    }
  }
  const said = traces.reduce((sum, { fired }) => sum + fired.length, 0);
  const hours = traces.reduce((sum, { workMs }) => sum + workMs, 0) / 3_600_000;
  call.out.line(
    `${plural(traces.length, "trace")} in ${plural(files, "file")}, ${hours.toFixed(1)} h of work: ${plural(said, "steering")}.`,
  );
  if (!tally) return;
  const rows = tally.scores.map((score) => [
    score.anomaly,
    `${score.episodes} episodes`,
    `${score.noticed} noticed`,
    `${score.missed} missed`,
    `${score.falseAlarms} false`,
    `precision ${score.precision.toFixed(2)}`,
    `recall ${score.recall.toFixed(2)}`,
  ]);
  table(call.out, rows);
  call.out.line(
    `${plural(tally.healthy, "healthy trace")}, ${tally.healthyHours.toFixed(1)} h: ${tally.healthyAlarms} false alarms, ${tally.falseAlarmsPerHour.toFixed(2)} an hour.`,
  );
}

export default command;
