/** Learnings and parties for tests: one of each, and what differs. */

import type { Party } from "#domain/learnings/relate.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import type { Learning, LearningBody, LearningRecipient } from "#domain/model/learning.ts";
import { applyToLearning, learningIdOf } from "#domain/model/learning.ts";
import { T0 } from "./samples.ts";

export function partyWith(attempt: number, parts: Partial<Party> = {}): Party {
  const workNodeId = parts.workNodeId ?? `T${attempt}`;
  const goalId = parts.goalId ?? "goal_A";
  return {
    ...{ agent: `builder-${attempt}`, attempt, goalId, workNodeId, assignmentId: `A_${attempt}` },
    ...{ node: `${goalId}/${workNodeId}`, tags: [], parent: null, parentNode: null, near: [], heirOf: [] },
    ...parts,
  };
}

export function bodyWith(parts: Partial<LearningBody> = {}): LearningBody {
  const key = parts.key ?? "npm test ! 1 => npm test -- --db";
  return {
    ...{ learningId: learningIdOf(key), kind: "failure-fix", text: "`npm test` fails; `npm test -- --db` works.", key },
    ...{ failing: "npm test ! 1", fix: "npm test -- --db", tags: [], paths: [], near: [], score: 0.8 },
    ...{ via: "tool", source: "call_1", parent: null, parentNode: null },
    ...parts,
  };
}

/** Found by attempt 1, on T1 of goal_A. */
export function learningWith(parts: Partial<Learning> = {}): Learning {
  const event = foundEvent(bodyWith(parts));
  const learning = applyToLearning(undefined, placeEvent(event, parts.foundAt ?? T0));
  if (!learning) throw new Error("not found");
  return { ...learning, ...parts };
}

export function foundEvent(data: LearningBody, by: Party = partyWith(1)): NewEvent {
  const { goalId, workNodeId: nodeId, assignmentId, agent, attempt } = by;
  const about = { goalId, nodeId, assignmentId, agent, attempt };
  return { type: "learning.found", actor: "overseer", ...about, because: "heard", data };
}

export function placeEvent(event: NewEvent, at = T0, seq = 1): EventOf {
  return { ...event, seq, at, v: 1 } as EventOf;
}

export function foldAll(known: readonly Learning[], events: readonly NewEvent[], at = T0): Learning[] {
  const all = new Map(known.map((one) => [one.learningId, one]));
  for (const event of events) {
    if (!("learningId" in event.data)) continue;
    const { learningId } = event.data;
    const after = applyToLearning(all.get(learningId), placeEvent(event, at));
    if (after) all.set(learningId, after);
  }
  return [...all.values()];
}

export function recipientWith(attempt: number, parts: Partial<LearningRecipient> = {}): LearningRecipient {
  return {
    ...{ agent: `builder-${attempt}`, attempt, node: `goal_A/T${attempt}`, how: "relayed", messageId: `m_${attempt}` },
    ...{ urgency: "helpful", at: T0, outcome: null, seen: false, saved: false },
    ...parts,
  };
}
