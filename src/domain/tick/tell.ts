/**
 * Whoever asked for work hears every outcome exactly once, from Overseer and not from the agent (TELL-1). Outcomes are
 * read from the log past the last tick's cursor, so that none is missed while nobody was looking, and each is told under
 * the number of its event, so that none is told twice.
 */

import type { EventOf } from "#domain/model/event.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { TickStep } from "./draft.ts";
import type { Scene, WorkNodeRef } from "./scene.ts";

/** Types of event that somebody may have waited for. */
export const OUTCOMES = [
  "work.done",
  "work.cancelled",
  "agent.ended",
  "goal.completed",
  "goal.cancelled",
] as const satisfies readonly EventOf["type"][];

export function tellOutcomes(scene: Scene): readonly TickStep[] {
  const news = scene.snapshot.news.filter((event) => event.seq > scene.cursor).toSorted((a, b) => a.seq - b.seq);
  return news.flatMap((event): TickStep[] => {
    const said = outcomeOf(scene, event);
    const to = said && askerOf(scene, event);
    if (!said || !to) return [];
    return [
      {
        ...{ goalId: event.goalId, nodeId: event.nodeId, agent: event.agent },
        actionId: `notify:${event.seq}`,
        kind: "notify",
        because: event.type,
        notBefore: scene.now,
        payload: { to, ...said },
      },
    ];
  });
}

function outcomeOf(scene: Scene, event: EventOf): { readonly outcome: string; readonly text: string } | undefined {
  const key = nodeKey(event.goalId ?? "", event.nodeId ?? "");
  switch (event.type) {
    case "work.done":
      return isTask(scene, event) ? { outcome: "done", text: `${key} is done: ${event.data.summary}` } : undefined;
    case "work.cancelled":
      // With its goal: whoever asked hears of the goal.
      if (event.because === "goal-cancelled") return undefined;
      return isTask(scene, event) ? { outcome: "cancelled", text: `${key} was cancelled.` } : undefined;
    case "agent.ended": {
      const { cause, detail } = event.data;
      // The agent that asked for it was told by the commit that ended it (outcome.ts).
      if (scene.agent(event.attempt ?? 0)?.attempt.parent ?? scene.lastEnded(placeOf(event))?.parent) return undefined;
      // An agent that ends because its work ended is told of by the work.
      if (cause === "finished" || cause === "stopped") return undefined;
      return { outcome: cause === "died" ? "died" : "failed", text: `${event.agent} on ${key}: ${detail}` };
    }
    case "goal.completed":
      return { outcome: "done", text: `Goal ${event.goalId} is reached.` };
    case "goal.cancelled":
      return { outcome: "cancelled", text: `Goal ${event.goalId} was cancelled.` };
    default:
      return undefined;
  }
}

function placeOf(event: EventOf): WorkNodeRef {
  return { goalId: event.goalId ?? "", workNodeId: event.nodeId ?? "" };
}

function isTask(scene: Scene, event: EventOf): boolean {
  return scene.node(placeOf(event))?.kind === "task";
}

/** The agent that had it started, else the session the goal came from; a goal's own end concerns its people too. */
function askerOf(scene: Scene, event: EventOf): string | undefined {
  const place = placeOf(event);
  const attempt =
    (event.attempt === undefined ? undefined : scene.agent(event.attempt)?.attempt) ??
    scene.agentOn(place)?.attempt ??
    scene.lastEnded(place);
  if (event.nodeId !== undefined && attempt?.parent) return `agent:${attempt.parent.agent}`;
  const origin = event.goalId === undefined ? undefined : scene.goal(event.goalId)?.origin;
  if (origin?.session !== undefined) return `origin:${origin.session}`;
  return event.nodeId === undefined ? "human" : undefined;
}
