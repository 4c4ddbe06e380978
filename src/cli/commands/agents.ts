/** `overseer agents`: who is at work, and what one of them has done. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, moment, plural, table } from "#cli/text.ts";
import type { AgentView } from "#control/agents.ts";
import { agent, agents } from "#control/agents.ts";
import { sayLifeWords } from "#control/life-words.ts";
import { presentAgent, presentAgents } from "#control/present.ts";
import { describeExemption } from "#domain/model/supervision.ts";

export function printAgents(call: Call, rows: readonly AgentView[], now: number): void {
  table(
    call.out,
    rows.map((row) => [
      `${"  ".repeat(row.depth)}${row.agent}#${row.attempt}`,
      row.doing,
      sayLifeWords(row),
      `${row.goalId}/${row.workNodeId}`,
      row.capability,
      row.runtime,
      row.permissionMode,
      row.scope ? row.scope.join(",") : "not exclusive",
      ago(now - (row.pulse?.lastAt ?? row.updatedAt)),
      row.pulse ? plural(row.pulse.turns, "turn") : "",
      describeExemption(row) ?? "",
    ]),
  );
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}

const list: Command<Parts> = {
  name: "list",
  summary: "List running agents.",
  options: [{ name: "all", summary: "Include ended ones, the newest 50." }],
  async run(call, parts) {
    const world = await parts.world();
    const rows = await agents(world, { all: call.has("all") });
    if (call.json) return call.out.json(presentAgents(rows));
    if (rows.length === 0) return call.out.line("No agent is at work. Start one: overseer sling <task>");
    printAgents(call, rows, world.clock.now());
  },
};

const show: Command<Parts> = {
  name: "show",
  summary: "Show one agent: what it is doing and what it has done.",
  args: [{ name: "name", summary: "Its name, label (builder-1#4) or task." }],
  async run(call, parts) {
    const world = await parts.world();
    const detail = await agent(world, call.arg("name"));
    if (call.json) return call.out.json(presentAgent(detail));
    const { out } = call;
    const { current, identity } = detail;
    if (current) {
      printAgents(call, [current], world.clock.now());
      out.line(`branch ${current.branch}, worktree ${current.worktree}`);
      out.line(`permission mode ${current.permissionMode}, model ${current.model ?? "the runtime's own"}`);
      if (current.follows)
        out.line(`in the session of ${current.follows.agent}#${current.follows.attempt}, as its next piece`);
      if (current.parent) out.line(`started by ${current.parent.agent}#${current.parent.attempt}`);
      if (current.pulse?.lastText) out.line(`last said: ${inert(current.pulse.lastText)}`);
      out.line(`logs: ${current.logDir}`);
    } else out.line(`${detail.name} is not at work.`);
    if (!identity) return;
    out.line(`sessions completed: ${identity.sessionsCompleted}`);
    if (identity.domains.length > 0) out.line(`knows: ${identity.domains.join(", ")}`);
    for (const entry of identity.workHistory.slice(0, 10)) {
      out.line(
        `  #${entry.attempt}  ${entry.outcome}  ${entry.goalId}/${entry.nodeId}  ${moment(entry.endedAt)} UTC  ${inert(entry.summary)}`,
      );
    }
  },
};

const command: Command<Parts> = {
  name: "agents",
  summary: "Show agents and what they have done.",
  subcommands: [list, show],
  otherwise: "list",
};

export default command;
