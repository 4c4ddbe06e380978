/** `overseer goal follow`: comes back to a goal, wherever it stands. */
import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { resolveGoal } from "#control/names.ts";

export const followCommand: Command<Parts> = {
  name: "follow",
  summary: "Come back to a goal: review its plan, or watch it until it has landed.",
  details:
    "A plan that waits is shown and asked about; work is told step by step until all has landed or waits for you. Ctrl-C leaves it running. The exit code is 0 when all has landed, 4 when it ended without, 7 when you left it or it waits for you.",
  args: [{ name: "goal", summary: "The goal's id, or a unique prefix of it." }],
  options: [{ name: "yes", short: "y", summary: "Accept a plan that waits, without asking." }],
  examples: [{ line: "overseer goal follow goal_add-rate", why: "an id may be shortened" }],
  async run(call, parts) {
    const world = await parts.world();
    const goalId = await resolveGoal(await world.reader(), call.arg("goal"));
    const { driveGoal } = await import("#cli/live/drive-goal.ts");
    return driveGoal(call, parts, world, goalId, { yes: call.has("yes"), dryRun: false });
  },
};
