/** The plan that waits to be accepted, as a screen: the plan itself, and what it changes where there is work already. */
import { previewProposalOf } from "#control/plan-preview.ts";
import type { World } from "#control/world.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { Output } from "./output.ts";
import { planDiffLines } from "./plan-diff-lines.ts";
import { planLines } from "./plan-lines.ts";
import { inert, roomOf } from "./text.ts";

export async function planLinesOf(out: Output, world: World, goal: Goal, full = false): Promise<string[]> {
  const { view, changes, base } = await previewProposalOf(world, goal);
  const fullCommand = `overseer goal plan ${goal.goalId} --show --full`;
  const look = { columns: roomOf(out), colour: out.colour, full, fullCommand };
  const lines = [`${goal.goalId}  ${inert(goal.title)}`, "", ...planLines(view, look)];
  return base === 0 ? lines : [...lines, "", `Against revision ${base}:`, ...planDiffLines(changes, look)];
}
