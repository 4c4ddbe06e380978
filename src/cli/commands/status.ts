/** `overseer status`: the state of the fleet, problems first. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, table } from "#cli/text.ts";
import type { DaemonStatus } from "#control/daemon-status.ts";
import { presentStatus } from "#control/present.ts";
import type { AgentStatus, GoalRow, Status } from "#control/status.ts";
import { readFleetStatus } from "#control/status.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { sayAway } from "#domain/health/place.ts";

const command: Command<Parts> = {
  name: "status",
  summary: "Show the state of the fleet.",
  options: [{ name: "watch", short: "w", summary: "Follow on a full screen; q quits." }],
  examples: [
    { line: "overseer status --watch", why: "keep it open beside your work" },
    { line: "overseer status --json | jq '.goals[] | select(.blocked > 0)'", why: "for scripts" },
  ],
  async run(call, parts) {
    if (call.has("watch")) {
      const { watchStatus } = await import("#cli/live/watch.ts");
      return watchStatus(await parts.world(), call.out);
    }
    const now = await readFleetStatus(await parts.world());
    if (call.json) return call.out.json(presentStatus(now));
    if (now.away) {
      const { message, hint } = sayAway(now.away, now.root);
      call.out.line(`${now.away.standing.toUpperCase()}: ${inert(message)} ${hint}`);
    }
    // How the daemon is has a line of its own below.
    for (const { kind, text } of now.standstills) if (kind !== "no-daemon") call.out.line(inert(text));
    call.out.line(`${inert(now.project)} (${inert(now.root)})`);
    const isCopy = now.away?.standing === "copied";
    if (!isCopy) printDaemon(call, now); // whose daemon that is, the registration that came along does not tell
    printGoals(call, now.goals);
    printAgents(call, now.agents, isCopy ? "at work for the original" : "at work");
    printQueue(call, now.mergeQueue);
    if (now.unreadMail.length > 0) {
      const boxes = now.unreadMail.map(({ agent, unread }) => `${agent} ${unread}`).join(", ");
      call.out.line(`Unread mail: ${inert(boxes)}`);
    }
    if (now.next)
      call.out.line(`Next: ${inert(now.next.text)}${now.next.nextAt === null ? "" : ` (${iso(now.next.nextAt)})`}`);
  },
};

function printQueue(call: Call, { waiting, testing, parked, oldest }: Status["mergeQueue"]): void {
  if (!oldest) return;
  const detail = oldest.detail ? `: ${inert(oldest.detail)}` : "";
  call.out.line(
    `Merge queue: ${waiting} waiting, ${testing} being tested, ${parked} parked; the oldest is ${inert(oldest.branch)}, since ${isoTime(oldest.since)}${detail}`,
  );
}

const iso = (ms: number | null) => (ms === null ? null : isoTime(ms));

function printDaemon(call: Call, { daemon, off }: Status): void {
  call.out.line(inert(daemonLine(daemon)));
  if (daemon.state === "running" || daemon.state === "not-ticking") {
    if (daemon.tickProblem) call.out.line(`  The last tick failed: ${inert(daemon.tickProblem)}`);
    for (const { loop, failures, problem } of daemon.troubles) {
      call.out.line(`  Its loop '${inert(loop)}' failed ${failures} times in a row: ${inert(problem)}`);
    }
    if (daemon.configProblem) {
      call.out.line("  The configuration on disk cannot be used; the one before it is in effect.");
    }
  }
  if (off.length > 0) call.out.line(`Switched off: ${off.join(", ")}`);
}

function daemonLine(daemon: DaemonStatus): string {
  const who = `pid ${daemon.pid}, version ${daemon.version}`;
  const beat = iso(daemon.lastBeatAt ?? daemon.startedAt);
  switch (daemon.state) {
    case "stopped":
      return "Daemon: not running; nothing is dispatched by itself (overseer up)";
    case "died":
      return `Daemon: DIED (${who}), last heard of at ${beat}; agents keep running (overseer up adopts them)`;
    case "not-beating":
      return `Daemon: NOT BEATING since ${beat} (${who}): stopped, hung or starved (overseer down, then up)`;
    case "not-ticking":
      return `Daemon: NOT TICKING since ${iso(daemon.lastTickAt ?? daemon.startedAt)} (${who}); see its log (overseer down, then up)`;
    case "running":
      return `Daemon: running (${who}), last tick ${iso(daemon.lastTickAt) ?? "not yet"}`;
  }
}

function printAgents(call: Call, agents: readonly AgentStatus[], doing: string): void {
  if (agents.length === 0) return;
  const dead = agents.filter((agent) => agent.seen === "dead").length;
  call.out.line(`Agents: ${agents.length} ${doing}${dead > 0 ? `, ${dead} of them dead` : ""}`);
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

export default command;
