/** `overseer metrics`: what sessions took and cost. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { plural, table } from "#cli/text.ts";
import type { ModelTotal, SteeringTotal, Total } from "#control/metrics.ts";
import { metrics } from "#control/metrics.ts";
import { presentMetrics } from "#control/present.ts";
import type { Usage } from "#domain/model/attempt.ts";

const command: Command<Parts> = {
  name: "metrics",
  summary: "Show time, cost and unproven reports of done.",
  options: [{ name: "last", value: "n", summary: "How many sessions, newest first (default 100)." }],
  async run(call, parts) {
    const all = await metrics(await parts.world(), call.number("last") ?? 100);
    if (call.json) return call.out.json(presentMetrics(all));
    if (all.sessions.length === 0) return call.out.line("No sessions yet.");
    section(call, "Agents", all.byAgent);
    section(call, "Capabilities", all.byCapability);
    section(call, "Goals", all.byGoal);
    if (all.models.length > 0) modelsSection(call, all.models);
    if (all.steerings.length > 0) steeringsSection(call, all.steerings);
  },
};

function section(call: Call, title: string, rows: readonly Total[]): void {
  call.out.line(title);
  table(
    call.out,
    rows.map((row) => [
      `  ${row.key}`,
      plural(row.sessions, "session"),
      `${Math.round(row.durationMs / 1000)} s`,
      plural(row.turns, "turn"),
      plural(row.toolCalls, "call"),
      ...spending(row),
      ...claimsOf(row),
    ]),
  );
}

/** How often a report of done was not so: a check or a person said it afterwards. */
function claimsOf({ claims, unproven }: Total): string[] {
  if (claims === 0) return [];
  return [`${unproven} of ${claims} reports of done unproven (${Math.round((100 * unproven) / claims)} %)`];
}

function modelsSection(call: Call, rows: readonly ModelTotal[]): void {
  call.out.line("Models that Overseer asked itself");
  table(
    call.out,
    rows.map((row) => [`  ${row.purpose}`, `${row.answered} of ${row.asked} answered`, ...spending(row)]),
  );
}

function steeringsSection(call: Call, rows: readonly SteeringTotal[]): void {
  call.out.line("Steerings, and what people called wrong (overseer wrong)");
  table(
    call.out,
    rows.map(({ anomaly, said, wrong }) => [
      `  ${anomaly}`,
      `${said} said`,
      `${wrong} wrong`,
      `${Math.round((100 * wrong) / said)} %`,
    ]),
  );
}

function spending(row: Usage): string[] {
  const tokens = row.inputTokens + row.outputTokens + row.cacheReadTokens + row.cacheWriteTokens;
  return [`${tokens.toLocaleString("en")} tokens`, `$${row.costUsd.toFixed(2)}`];
}

export default command;
