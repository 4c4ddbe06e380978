/** Why is it so? Gathers the events about a thing and lets the domain tell their story. */
import { answerWhy, type WhyAnswer } from "#domain/explain/answer.ts";
import { type Concerned, findConcerning, tellHeld, tellHeldGoal, tellUnheard } from "#domain/explain/held-node.ts";
import { describeObserved, type Observed } from "#domain/explain/observed.ts";
import type { Explanation } from "#domain/explain/why.ts";
import { whyAssignment, whyGoal, whyNode, whyQuestion } from "#domain/explain/why.ts";
import { afterLandKey, describeAfterLand, describeHeldLanding } from "#domain/landing/after-command.ts";
import { isOpenAction } from "#domain/model/action.ts";
import { isLiving } from "#domain/model/attempt.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Question } from "#domain/model/question.ts";
import { isOpen } from "#domain/model/work.ts";
import { OverseerError } from "#errors.ts";
import { actionByKey } from "#store/actions.ts";
import { openQuestions, questionById } from "#store/assignments.ts";
import { attemptsOfNode } from "#store/attempts.ts";
import { eventsMatching } from "#store/events.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { nodeById, nodesOfGoal } from "#store/work.ts";
import type { ResolvedName } from "./names.ts";
import { resolveAny } from "./names.ts";
import { readFleetStatus } from "./status.ts";
import { observeAssignment } from "./views.ts";
import type { World } from "./world.ts";

/** A story longer than this tells its newest part. */
const LONGEST_STORY = 2000;

export async function why(
  world: World,
  word: string,
  goalWord?: string,
): Promise<Told & { readonly named: ResolvedName; readonly answer: WhyAnswer }> {
  const store = await world.reader();
  const named = await resolveAny(store, word, goalWord);
  const told = await explain(world, named);
  const { about, otherwise } = await findStanding(world, named);
  const concerning = about === null ? [] : findConcerning(about, (await readFleetStatus(world)).standstills);
  return { named, ...told, answer: answerWhy(told, concerning, otherwise) };
}

/** Whom the standstills of an open thing concern, and what to look at where none does. */
async function findStanding(
  world: World,
  named: ResolvedName,
): Promise<{ readonly about: Concerned | null; readonly otherwise: string | null }> {
  const store = await world.reader();
  if (named.kind === "question") {
    const { one } = await store.read({ one: questionById(named.questionId) });
    const about = { goalId: null, nodeId: null, isReady: false, questionId: named.questionId };
    return { about: one?.status === "open" ? about : null, otherwise: null };
  }
  if (named.kind === "goal") {
    const { goal } = await store.read({ goal: goalById(named.goalId) });
    const isGoalOpen = goal?.status === "active" || goal?.status === "paused";
    const about = { goalId: named.goalId, nodeId: null, isReady: true };
    return { about: isGoalOpen ? about : null, otherwise: isGoalOpen ? "overseer status" : null };
  }
  const { goalId, nodeId } =
    named.kind === "node" ? named : { goalId: named.assignment.goalId, nodeId: named.assignment.workNodeId };
  const { node, all } = await store.read({ node: nodeById(goalId, nodeId), all: attemptsOfNode(goalId, nodeId) });
  if (!node || !isOpen(node)) return { about: null, otherwise: null };
  const living = all.find(isLiving);
  const otherwise = living ? `overseer peek ${living.agent}` : "overseer status";
  return { about: { goalId, nodeId, isReady: node.status === "queued" }, otherwise };
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
      if (!seen.goal) return throwVanished(goalId);
      const told = whyGoal(seen.goal, seen.nodes, seen.events);
      const isOpenGoal = seen.goal.status === "active" || seen.goal.status === "paused";
      const held = isOpenGoal ? tellHeldGoal(goalId, (await readFleetStatus(world)).standstills) : [];
      return { ...told, now: [...told.now, ...held] };
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
      if (!node) return throwVanished(nodeId);
      const told = whyNode(node, seen.nodes, seen.events, about);
      const held = isOpen(node) ? tellHeld(node, (await readFleetStatus(world)).standstills) : [];
      // What holds it says more than that it waits.
      const now = node.status === "queued" && node.leaf && held.length > 0 ? held : [...told.now, ...held];
      return { ...told, now: [...now, ...(await tellAfterLand(store, seen.events, seen.open))] };
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
      const told = whyQuestion(
        question,
        events.filter((event) => "questionId" in event.data && event.data.questionId === question.questionId),
      );
      const unheard = question.status === "open" ? tellUnheard((await readFleetStatus(world)).standstills) : [];
      return { ...told, now: [...told.now, ...unheard] };
    }
  }
}

/** The command after its landing is nobody's in particular, and so not among its events; nor is what it holds up. */
async function tellAfterLand(store: Store, events: readonly EventOf[], open: readonly Question[]): Promise<string[]> {
  const [landed] = events.flatMap((event) => (event.type === "landing.landed" ? [event.data] : [])).slice(-1);
  if (landed) {
    const key = afterLandKey({ target: landed.target, commit: landed.to });
    return describeAfterLand((await store.read({ action: actionByKey(key) })).action, open);
  }
  const last = events.flatMap((event) =>
    event.type === "action.decided" && event.data.kind === "land" ? [event.data] : [],
  );
  const { action } = await store.read({ action: actionByKey(last.at(-1)?.actionId ?? "") });
  return action && isOpenAction(action) ? describeHeldLanding([action], open) : [];
}

/** It was there a moment ago: the store does not delete, so this is a fault and says so. */
function throwVanished(id: string): never {
  throw new OverseerError("internal", "GONE", `${id} disappeared while it was read.`, "Run 'overseer doctor'.");
}
