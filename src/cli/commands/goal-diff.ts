/** `overseer goal plan <goal> --diff`: what a plan would change, before it is given or accepted. */
import type { Call } from "#cli/command.ts";
import { estimateLines } from "#cli/estimate-lines.ts";
import type { Parts } from "#cli/parts.ts";
import { planDiffLines } from "#cli/plan-diff-lines.ts";
import { roomOf } from "#cli/text.ts";
import { previewPlanFile, previewProposal } from "#control/plan-preview.ts";
import { presentPreview } from "#control/present.ts";

export async function showPlanDiff(call: Call, parts: Parts): Promise<void> {
  const file = call.text("file");
  const text = file === undefined ? undefined : await parts.readText(file);
  const world = await parts.world();
  const word = call.arg("goal");
  const found =
    file === undefined || text === undefined
      ? await previewProposal(world, word)
      : await previewPlanFile(world, word, { name: file, text });
  if (call.json) return call.out.json(presentPreview(found));
  const look = { columns: roomOf(call.out), colour: call.out.colour, full: call.has("full") };
  call.out.line(found.base === 0 ? `${found.goalId} has no plan yet.` : `Against revision ${found.base}:`);
  for (const line of [...planDiffLines(found.changes, look), "", ...estimateLines(found.view, look)]) {
    call.out.line(line);
  }
}
