/** A question to a person; asked once, however often its action is carried out: the question has its id. */
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { askLater } from "#domain/reports/answer.ts";
import { orThrow } from "#errors.ts";
import { openQuestions, questionById } from "#store/assignments.ts";
import { nodeById } from "#store/work.ts";

export default async function askOnce(action: Action<"ask">, world: World): Promise<ActionOutcome> {
  const { questionId, text, options } = action.payload;
  const moment = { now: world.clock.now(), actor: "overseer" } as const;
  const asked = orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: {
        known: questionById(questionId),
        open: openQuestions(),
        node: nodeById(action.goalId ?? "", action.workNodeId ?? ""),
      },
      decide: ({ known, open, node }) => {
        const about = {
          ...(action.goalId === null ? {} : { goalId: action.goalId }),
          ...(action.workNodeId === null ? {} : { nodeId: action.workNodeId }),
          ...(action.assignmentId === null ? {} : { assignmentId: action.assignmentId }),
        };
        return askLater({ known, open, node }, { questionId, text, options, ...about }, moment);
      },
    }),
  );
  return { ok: true, result: asked };
}
