/** `overseer status`: how things stand, problems first. */
import type { AgentStatus } from "#control/status.ts";
import { status } from "#control/status.ts";
import type { GoalRow } from "#control/views.ts";
import { isoTime } from "#domain/iso-time.ts";
import type { Call, Command } from "../command.ts";
import type { Parts } from "../parts.ts";
import { inert, table } from "../text.ts";

export const command: Command<Parts> = {
  name: "status",
  summary: "Show how things stand.",
  examples: [{ line: "overseer status --json | jq '.goals[] | select(.blocked > 0)'", why: "for scripts" }],
  async run(call, parts) {
    const now = await status(await parts.world());
    if (call.json) {
      const goals = now.goals.map((goal) => ({
        ...goal,
        createdAt: isoTime(goal.createdAt),
        updatedAt: isoTime(goal.updatedAt),
      }));
      const agents = now.agents.map((agent) => ({ ...agent, lastAt: isoTime(agent.lastAt) }));
      return call.out.json({ ...now, goals, agents });
    }
    if (now.safeMode) {
      call.out.line(`SAFE MODE since ${now.safeMode.since}: ${inert(now.safeMode.problem)}`);
      call.out.line("Everything can be read; nothing is given out until a person says go (overseer doctor).");
    }
    if (now.configProblem) {
      call.out.line(`The configuration cannot be used: ${inert(now.configProblem)}`);
    }
    call.out.line(`${inert(now.project)} (${inert(now.root)})`);
    printGoals(call, now.goals);
    printAgents(call, now.agents);
    if (now.unreadMail.length > 0) {
      const boxes = now.unreadMail.map(({ agent, unread }) => `${agent} ${unread}`).join(", ");
      call.out.line(`Unread mail: ${inert(boxes)}`);
    }
  },
};

function printAgents(call: Call, agents: readonly AgentStatus[]): void {
  if (agents.length === 0) return;
  const dead = agents.filter((agent) => agent.seen === "dead").length;
  call.out.line(`Agents: ${agents.length} at work${dead > 0 ? `, ${dead} of them dead` : ""}`);
  table(
    call.out,
    agents.map((agent) => [
      `  ${"  ".repeat(agent.depth)}${agent.agent}#${agent.attempt}`,
      agent.seen === "waiting" && agent.waitingOn ? `waiting(on ${agent.waitingOn})` : agent.seen,
      `${agent.goalId}/${agent.workNodeId}`,
      agent.capability,
      agent.runtime,
    ]),
  );
}

function printGoals(call: Call, goals: readonly GoalRow[]): void {
  if (goals.length === 0) {
    call.out.line('No goals yet. Record one: overseer goal create "…".');
    return;
  }
  const open = goals.filter((goal) => goal.status === "active" || goal.status === "paused");
  call.out.line(`Goals: ${open.length} open, ${goals.length - open.length} ended`);
  const troubled = [...open].sort((a, b) => b.blocked - a.blocked);
  table(
    call.out,
    troubled.map((goal) => [
      `  ${goal.goalId}`,
      goal.status,
      `${goal.progress.percent} %`,
      `${goal.progress.done}/${goal.progress.total} done`,
      goal.blocked > 0 ? `${goal.blocked} blocked` : "",
      goal.inProgress > 0 ? `${goal.inProgress} in progress` : "",
      goal.queued > 0 ? `${goal.queued} ready` : "",
      goal.title,
    ]),
  );
}
