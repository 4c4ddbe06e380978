/** The verbs that act on one agent or on all: stop, pause, resume, reset, nuke. They differ in a word and a function. */

import type { Call, Command, Option } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { stopLine } from "#cli/stop-line.ts";
import { inert, inertLines } from "#cli/text.ts";
import * as fleet from "#control/agents.ts";
import type { Presented } from "#control/present.ts";
import { presentAttempt, presentEach, presentMoved, presentRemoved } from "#control/present.ts";
import type { World } from "#control/world.ts";
import { describeLosses } from "#domain/landing/rebuildable.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";

const AGENT_ARG = {
  name: "agent",
  summary: "Its name, label (builder-1#4) or task; leave it out with --all.",
  optional: true,
};
const ALL: Option = { name: "all", summary: "Every running agent." };
const DISCARD: Option = { name: "discard", summary: "Also delete what no ref can keep; it is listed first." };
const REASON: Option = { name: "reason", value: "text", summary: "The reason; kept in the log." };

/** Does it to each, continues when one fails, and fails in the end if any did. */
async function each(
  call: Call,
  parts: Parts,
  act: (
    world: World,
    one: Pick<Attempt, "agent" | "attempt">,
  ) => Promise<{ readonly say: string; readonly json: Presented }>,
): Promise<void> {
  const world = await parts.world();
  const name = call.optionalArg("agent");
  if ((name === undefined) !== call.has("all")) {
    throw new OverseerError("usage", "AGENT_MISSING", "Name one agent, or say --all.", "'overseer agents' lists them.");
  }
  const meant = name === undefined ? await fleet.listLivingAgents(world) : [await fleet.findAgent(world, name)];
  const results: Presented[] = [];
  let failure: unknown;
  for (const one of meant) {
    try {
      const { say, json } = await act(world, one);
      results.push(json);
      if (!call.json) call.out.line(say);
    } catch (error) {
      if (meant.length > 1 && error instanceof OverseerError)
        call.out.remark(`${inert(one.agent)}: ${inertLines(error.message)}`);
      // Of those at work, one that has ended meanwhile is none any more.
      if (name === undefined && error instanceof OverseerError && error.code === "AGENT_ENDED") continue;
      failure ??= error;
    }
  }
  const [first] = results;
  if (call.json && failure === undefined) call.out.json(name === undefined || !first ? presentEach(results) : first);
  if (meant.length === 0 && !call.json) call.out.line("No agent is at work.");
  if (failure !== undefined) throw failure;
}

export const stopCommand: Command<Parts> = {
  name: "stop",
  summary: "Stop an agent; uncommitted work is kept.",
  args: [AGENT_ARG],
  options: [ALL, REASON],
  details:
    "Its task is dispatched to nobody until you say so: 'overseer restart <agent>' lets the same agent continue where it was, 'overseer work unblock <task>' dispatches the task again.",
  examples: [{ line: "overseer stop builder-1", why: "its task waits for you" }],
  run: (call, parts) =>
    each(call, parts, async (world, { attempt: number }) => {
      const after = world.actor.startsWith("human:") ? "reserve" : "queue";
      const attempt = await fleet.stopAgent(world, number, call.text("reason") ?? null, after);
      return { say: stopLine(attempt, await fleet.findReservation(world, attempt)), json: presentAttempt(attempt) };
    }),
};

export const pauseCommand: Command<Parts> = {
  name: "pause",
  summary: "Pause an agent after its current turn.",
  args: [AGENT_ARG],
  options: [ALL, REASON, { name: "now", summary: "Interrupt the current turn." }],
  run: (call, parts) =>
    each(call, parts, async (world, { agent, attempt }) => {
      await fleet.pauseAgent(world, attempt, {
        now: call.has("now"),
        reason: call.text("reason") ?? null,
      });
      return { say: `Paused ${agent}#${attempt}.`, json: presentMoved({ agent, attempt, status: "paused" }) };
    }),
};

export const resumeCommand: Command<Parts> = {
  name: "resume",
  summary: "Resume a paused agent.",
  args: [AGENT_ARG],
  options: [ALL, REASON],
  run: (call, parts) =>
    each(call, parts, async (world, { agent, attempt }) => {
      await fleet.resumeAgent(world, attempt, call.text("reason") ?? null);
      return { say: `Resumed ${agent}#${attempt}.`, json: presentMoved({ agent, attempt, status: "running" }) };
    }),
};

/** Both do the same today (docs/agent-life.md). */
function remover(name: "reset" | "nuke", summary: string): Command<Parts> {
  return {
    name,
    summary,
    details:
      "Uncommitted and unmerged work, also in submodules and nested repositories, is kept under refs/overseer/, and 'overseer worktree restore' brings it back. If the worktree holds what no ref can keep (ignored files that cannot be rebuilt, files over wip.maxFile), nothing is done and they are listed; --discard deletes them.",
    args: [AGENT_ARG],
    options: [ALL, REASON, DISCARD],
    run: (call, parts) =>
      each(call, parts, async (world, { agent, attempt: number }) => {
        const order = { reason: call.text("reason") ?? null, discard: call.has("discard") };
        const outcome = await fleet.nukeAgent(world, number, order);
        const gone = outcome.lost.length > 0 ? `; gone for good: ${inert(describeLosses(outcome.lost))}` : "";
        const kept = outcome.recovery.length > 0 ? `; its work is kept in ${outcome.recovery.join(", ")}` : "";
        return {
          say: `${name === "reset" ? "Reset" : "Nuked"} ${agent}#${number}${kept}${gone}.`,
          json: presentRemoved(outcome),
        };
      }),
  };
}

export const resetCommand = remover("reset", "Stop an agent and let its task start fresh; same as nuke.");
export const nukeCommand = remover("nuke", "Stop an agent and remove its worktree and branch.");
