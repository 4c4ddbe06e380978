/** `overseer metrics`: what sessions took and cost. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { table } from "#cli/text.ts";
import type { ModelTotal, Total } from "#control/metrics.ts";
import { metrics } from "#control/metrics.ts";
import { presentMetrics } from "#control/present.ts";
import type { Usage } from "#domain/model/attempt.ts";

const command: Command<Parts> = {
  name: "metrics",
  summary: "Show time and cost of sessions, by agent, capability and goal.",
  options: [{ name: "last", value: "n", summary: "How many sessions, newest first (default 100)." }],
  async run(call, parts) {
    const all = await metrics(await parts.world(), call.number("last") ?? 100);
    if (call.json) return call.out.json(presentMetrics(all));
    if (all.sessions.length === 0) return call.out.line("No sessions yet.");
    section(call, "Agents", all.byAgent);
    section(call, "Capabilities", all.byCapability);
    section(call, "Goals", all.byGoal);
    if (all.models.length > 0) modelsSection(call, all.models);
  },
};

function section(call: Call, title: string, rows: readonly Total[]): void {
  call.out.line(title);
  table(
    call.out,
    rows.map((row) => [
      `  ${row.key}`,
      `${row.sessions} sessions`,
      `${Math.round(row.durationMs / 1000)} s`,
      `${row.turns} turns`,
      `${row.toolCalls} calls`,
      ...spending(row),
    ]),
  );
}

function modelsSection(call: Call, rows: readonly ModelTotal[]): void {
  call.out.line("Models that Overseer asked itself");
  table(
    call.out,
    rows.map((row) => [`  ${row.purpose}`, `${row.answered} of ${row.asked} answered`, ...spending(row)]),
  );
}

function spending(row: Usage): string[] {
  const tokens = row.inputTokens + row.outputTokens + row.cacheReadTokens + row.cacheWriteTokens;
  return [`${tokens.toLocaleString("en")} tokens`, `$${row.costUsd.toFixed(2)}`];
}

export default command;
