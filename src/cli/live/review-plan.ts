/**
 * The review of a proposed plan by whoever sits at the terminal: the plan on the screen, then accept it, edit it, ask for
 * another with a remark, or drop it. Leaving leaves the proposal waiting.
 */
import { askYes } from "#cli/ask-yes.ts";
import type { Call } from "#cli/command.ts";
import { openEditorOf } from "#cli/editor.ts";
import { breakSentences, inert, inertLines } from "#cli/text.ts";
import { editProposalIn } from "#control/edit-proposal.ts";
import {
  acceptProposal,
  dropProposal,
  nameSeen,
  PROPOSAL_CHANGED,
  type SeenProposal,
  wantPlan,
} from "#control/planning.ts";
import { takeBackGoal } from "#control/sentence-goal.ts";
import type { World } from "#control/world.ts";
import type { Goal } from "#domain/model/goal.ts";
import { LEAVES_OUT, type Pruned } from "#domain/plans/left-out.ts";
import { SENTENCE_ORIGIN } from "#domain/plans/sentence-goal.ts";
import { OverseerError } from "#errors.ts";
import { askChoice, askLine, type Choice } from "./person-choice.ts";

export type Reviewed = "accepted" | "again" | "dropped" | "left";

type Answer = "accept" | "edit" | "another" | "drop";
const CHOICES: readonly Choice<Answer>[] = [
  { name: "accept", key: "a" },
  { name: "edit", key: "e" },
  { name: "another", key: "n" },
  { name: "drop", key: "d" },
];
const PROMPT = "[a]ccept and begin, [e]dit, a[n]other with a remark, [d]rop: ";

/** Asked until something has come of it: what is refused, or changes nothing, is said and asked about again. */
export async function reviewPlan(call: Call, world: World, goal: Goal): Promise<Reviewed> {
  const { goalId, planning } = goal;
  if (!planning?.proposal) return "again";
  const { scout } = planning;
  const seen = nameSeen(planning);
  for (;;) {
    switch (await askChoice(PROMPT, CHOICES)) {
      case "left":
        return "left";
      case "accept":
        switch (await tryTo(call, () => acceptPlan(call, world, goalId, seen))) {
          case "done":
            return "accepted";
          case "changed":
            // It is shown as it is now, and asked about again.
            return "again";
        }
        break;
      case "edit":
        if ((await tryTo(call, () => editPlan(call, world, goalId))) !== "refused") return "again";
        break;
      case "another": {
        const remark = (await askLine("What should be different? "))?.trim();
        if (remark === undefined) return "left";
        const want = () => wantPlan(world, goalId, { remark, scout, accept: "person" });
        if (remark !== "" && (await tryTo(call, want)) !== "refused") return "again";
        break;
      }
      case "drop":
        await dropPlanOf(world, goal);
        call.out.line(
          goal.plan.length > 0 ? `The plan of ${goalId} stays as it is.` : `Dropped ${goalId}; nothing was begun.`,
        );
        return "dropped";
    }
  }
}

/** What was made only for this plan goes with it. */
async function dropPlanOf(world: World, { goalId, origin, plan }: Goal): Promise<void> {
  await dropProposal(world, goalId, "dropped in the review");
  if (plan.length === 0 && origin.kind === SENTENCE_ORIGIN) await takeBackGoal(world, goalId, "its plan was dropped");
}

/** What the new plan would cancel is named and asked about, by exactly these names. */
async function acceptPlan(
  call: Call,
  world: World,
  goalId: string,
  seen: SeenProposal,
  prune: Pruned = [],
): Promise<boolean> {
  try {
    await acceptProposal(world, goalId, { ...seen, prune });
    return true;
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== LEAVES_OUT) throw error;
    const yes = await askYes(call, error.message.split("\n").map(inert), "Cancel them?");
    return yes === true && acceptPlan(call, world, goalId, seen, error.details?.leftOut as readonly string[]);
  }
}

async function editPlan(call: Call, world: World, goalId: string): Promise<boolean> {
  const { changed } = await editProposalIn(world, goalId, () => openEditorOf(world, "overseer do"));
  if (!changed) call.out.remark("Nothing was changed.");
  return changed;
}

/** What is refused is said: the person is still there. `changed`: what they look at is not what is proposed any more. */
async function tryTo(call: Call, act: () => Promise<unknown>): Promise<"done" | "refused" | "changed"> {
  try {
    return (await act()) === false ? "refused" : "done";
  } catch (error) {
    if (!(error instanceof OverseerError) || error.kind === "internal") throw error;
    const isChanged = error.code === PROPOSAL_CHANGED;
    const said = isChanged || error.code === "EDITOR_MISSING" ? `${error.message} ${error.hint}` : error.message;
    for (const line of breakSentences(call.out, inertLines(said))) call.out.problem(line);
    return isChanged ? "changed" : "refused";
  }
}
