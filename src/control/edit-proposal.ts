/**
 * A person changes a proposed plan in their editor. They edit a draft; one that cannot be used is kept, and opened again
 * the next time, as long as it is about the same proposal: what they wrote is never thrown away, nothing broken is proposed.
 */
import { OverseerError } from "#errors.ts";
import { renderPlanText } from "#planner/plan-text.ts";
import type { OpenEditor } from "./edit-settings.ts";
import { editProposal, readProposal } from "./planning.ts";
import type { World } from "./world.ts";

export async function editProposalIn(
  world: World,
  word: string,
  findEditor: () => OpenEditor,
): Promise<{ readonly goalId: string; readonly changed: boolean }> {
  const { goal, planning } = await readProposal(world, word);
  const { goalId } = goal;
  // Says what is missing, with the next step.
  if (!planning?.proposal) return editProposal(world, goalId, "");
  const { number, proposal } = planning;
  const open = findEditor();
  const before = renderPlanText(proposal.raw);
  const draft = `${world.root.state}/run/plan-draft-${goalId}-${number}.yaml`;
  await world.files.makeDir(`${world.root.state}/run`, { mode: 0o700 });
  const kept = await world.files.read(draft);
  await world.files.write(draft, kept ?? before, { mode: 0o600 });
  const code = await open(draft);
  const edited = await world.files.read(draft);
  if (code !== 0 || edited === undefined) {
    if (edited === before) await world.files.remove(draft);
    const message = `The editor ended with ${code}; the plan is as it was.`;
    const hint = `'overseer goal plan ${goalId} --edit' opens what it saved again. Set EDITOR to a program that works here.`;
    throw new OverseerError("environment", "EDITOR_FAILED", message, hint);
  }
  const outcome =
    edited.trim() === before.trim() ? { goalId, changed: false } : await propose(world, goalId, edited, number);
  await world.files.remove(draft);
  return outcome;
}

async function propose(world: World, goalId: string, text: string, number: number) {
  try {
    return await editProposal(world, goalId, text, { number });
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    const hint = `Nothing was changed; your text is kept, and 'overseer goal plan ${goalId} --edit' opens it again.`;
    throw new OverseerError(error.kind, error.code, error.message, hint, { cause: error });
  }
}
