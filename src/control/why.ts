/** Why is it so? Gathers the events about a thing and lets the domain tell their story. */
import { describeObserved, type Observed } from "#domain/explain/observed.ts";
import type { Explanation } from "#domain/explain/why.ts";
import { whyAssignment, whyGoal, whyNode, whyQuestion } from "#domain/explain/why.ts";
import { OverseerError } from "#errors.ts";
import { openQuestions, questionById } from "#store/assignments.ts";
import { eventsMatching } from "#store/events.ts";
import { goalById } from "#store/goals.ts";
import { nodesOfGoal } from "#store/work.ts";
import type { ResolvedName } from "./names.ts";
import { resolveAny } from "./names.ts";
import { observeAssignment } from "./views.ts";
import type { World } from "./world.ts";

/** A story longer than this tells its newest part. */
const LONGEST_STORY = 2000;

export async function why(
  world: World,
  word: string,
  goalWord?: string,
): Promise<Told & { readonly named: ResolvedName }> {
  const store = await world.reader();
  const named = await resolveAny(store, word, goalWord);
  return { named, ...(await explain(world, named)) };
}

/** Of an assignment also how its agent does, field by field. */
export type Told = Explanation & { readonly observed?: Observed };

async function explain(world: World, named: ResolvedName): Promise<Told> {
  const store = await world.reader();
  const newest = { limit: LONGEST_STORY, newest: true };
  switch (named.kind) {
    case "goal": {
      const { goalId } = named;
      const seen = await store.read({
        goal: goalById(goalId),
        nodes: nodesOfGoal(goalId),
        events: eventsMatching({ goalId, ...newest }),
      });
      return seen.goal ? whyGoal(seen.goal, seen.nodes, seen.events) : throwVanished(goalId);
    }
    case "node": {
      const { goalId, nodeId } = named;
      const seen = await store.read({
        nodes: nodesOfGoal(goalId),
        events: eventsMatching({ goalId, nodeId, ...newest }),
        open: openQuestions(),
      });
      const node = seen.nodes.find((one) => one.workNodeId === nodeId);
      const about = seen.open.filter((one) => one.goalId === goalId && one.workNodeId === nodeId);
      return node ? whyNode(node, seen.nodes, seen.events, about) : throwVanished(nodeId);
    }
    case "assignment": {
      const { assignmentId } = named.assignment;
      const { events } = await store.read({ events: eventsMatching({ assignmentId, ...newest }) });
      const { observed, attempt } = await observeAssignment(world, named.assignment);
      return { ...whyAssignment(named.assignment, events, describeObserved(observed, attempt)), observed };
    }
    case "question": {
      const { question } = await store.read({ question: questionById(named.questionId) });
      if (!question) return throwVanished(named.questionId);
      const { events } = await store.read({
        events: eventsMatching({ type: "question", goalId: question.goalId ?? undefined, ...newest }),
      });
      return whyQuestion(
        question,
        events.filter((event) => "questionId" in event.data && event.data.questionId === question.questionId),
      );
    }
  }
}

/** It was there a moment ago: the store does not delete, so this is a fault and says so. */
function throwVanished(id: string): never {
  throw new OverseerError("internal", "GONE", `${id} disappeared while it was read.`, "Run 'overseer doctor'.");
}
