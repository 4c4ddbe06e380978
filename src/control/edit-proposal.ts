/**
 * A person changes a proposed plan in their editor. They edit a draft of their own; one that cannot be used is kept, and
 * opened again the next time, as long as what is proposed is still what it was made of: what they wrote is never thrown
 * away, nothing broken is proposed, and nobody else's change is overwritten unseen.
 */
import { OverseerError } from "#errors.ts";
import { renderPlanText } from "#planner/plan-text.ts";
import type { OpenEditor } from "./edit-settings.ts";
import { editProposal, nameSeen, PROPOSAL_CHANGED, readProposal, type SeenProposal } from "./planning.ts";
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
  const seen = nameSeen(planning);
  const open = findEditor();
  const before = renderPlanText(planning.proposal.raw);
  const draft = await openDraft(world, goalId, seen, before);
  const code = await open(draft.path);
  const edited = await world.files.read(draft.path);
  if (code !== 0 || edited === undefined) {
    if (edited === before) await world.files.remove(draft.path);
    else if (edited !== undefined) await keepDraft(world, draft);
    const message = `The editor ended with ${code}; the plan is as it was.`;
    const hint = `'overseer goal plan ${goalId} --edit' opens what it saved again. Set EDITOR to a program that works here.`;
    throw new OverseerError("environment", "EDITOR_FAILED", message, hint);
  }
  const outcome =
    edited.trim() === before.trim() ? { goalId, changed: false } : await propose(world, goalId, edited, seen, draft);
  await world.files.remove(draft.path);
  return outcome;
}

interface Draft {
  /** Of this editor alone. */
  readonly path: string;
  /** Where it waits for the next one when it could not be used. */
  readonly shelf: string;
}

/** What was kept of the same text is taken from its shelf, by whoever comes first. */
async function openDraft(world: World, goalId: string, seen: SeenProposal, text: string): Promise<Draft> {
  const { files, ids, root } = world;
  const stem = `${root.state}/run/plan-draft-${goalId}-${seen.number}-${seen.digest?.slice(0, 12)}`;
  const draft = { path: `${stem}-${ids.next("E_")}.yaml`, shelf: `${stem}.yaml` };
  await files.makeDir(`${root.state}/run`, { mode: 0o700 });
  if ((await files.facts(draft.shelf)) !== undefined && (await wasMoved(world, draft.shelf, draft.path))) return draft;
  await files.write(draft.path, text, { mode: 0o600 });
  return draft;
}

async function wasMoved({ files }: World, from: string, to: string): Promise<boolean> {
  try {
    await files.rename(from, to);
    return true;
  } catch (error) {
    // Somebody else was first.
    if ((await files.facts(from)) === undefined) return false;
    throw error;
  }
}

/** Where the text is from now on. One that waits there already is not replaced. */
async function keepDraft({ files }: World, { path, shelf }: Draft): Promise<string> {
  if ((await files.facts(shelf)) !== undefined) return path;
  await files.rename(path, shelf);
  return shelf;
}

async function propose(world: World, goalId: string, text: string, seen: SeenProposal, draft: Draft) {
  try {
    return await editProposal(world, goalId, text, seen);
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    const file = await keepDraft(world, draft);
    const again = `overseer goal plan ${goalId} --edit`;
    // What is proposed now is opened then: the text is not put over somebody else's.
    const isOther = error.code === PROPOSAL_CHANGED || file === draft.path;
    const hint = isOther
      ? `Your text is kept in ${file} ; take from it what you need: ${again}`
      : `Nothing was changed; your text is kept in ${file} , and '${again}' opens it again.`;
    throw new OverseerError(error.kind, error.code, error.message, hint, { cause: error });
  }
}
