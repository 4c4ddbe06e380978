/**
 * The crystallization of a parent, composed of those of its parts when it is done (CRYS-3): what each of them achieved,
 * everything that was decided on the way, what is still open, and all evidence, each once. Its id follows from the node,
 * since a node is done once; so the same roll-up always makes the same record.
 */

import { cutTo } from "#domain/core/quote.ts";
import type { Crystallization, CrystallizationBody } from "#domain/model/crystallization.ts";
import { crystallization, mergeByKey, mergeEvidence, NO_EVIDENCE } from "#domain/model/crystallization.ts";
import type { WorkNode } from "#domain/model/work.ts";

/** What one part adds to the summary, and what the whole may take. */
const PART_BYTES = 600;
const SUMMARY_BYTES = 6 * 1024;

/** The id under which the handoff of a finished parent is kept; of the goal itself without a node. */
export function composeHandoffId(goalId: string, nodeId?: string): string {
  return `C_${goalId.replace(/^goal_/, "")}${nodeId === undefined ? "" : `.${nodeId}`}`;
}

export function composeHandoff(
  level: CrystallizationBody["level"],
  parts: readonly WorkNode[],
  known: readonly Crystallization[],
): CrystallizationBody {
  const byId = new Map(known.map((one) => [one.crystallizationId, one]));
  const done = parts.filter((part) => part.status === "done");
  const left = done.flatMap((part) => {
    const one = part.crystallizationId === null ? undefined : byId.get(part.crystallizationId);
    return one ? [one] : [];
  });
  const lines = parts
    .filter((part) => part.status === "done" || part.status === "cancelled")
    .map((part) => `${part.workNodeId} ${part.status}: ${cutTo(oneLine(wordsOf(part, byId)), PART_BYTES)}`);
  const collect = (pick: (one: Crystallization) => readonly string[]) =>
    left.reduce<readonly string[]>((all, one) => mergeByKey(all, pick(one), (text) => text), []);
  return crystallization(level, {
    summary: cutTo(lines.join("\n"), SUMMARY_BYTES),
    decisions: left.reduce<CrystallizationBody["decisions"]>(
      (all, one) => mergeByKey(all, one.decisions, ({ decision }) => decision),
      [],
    ),
    nextActions: collect((one) => one.nextActions),
    openQuestions: collect((one) => one.openQuestions),
    evidence: done.reduce((all, part) => mergeEvidence(all, part.evidence ?? {}), NO_EVIDENCE),
    transcripts: left.reduce<CrystallizationBody["transcripts"]>(
      (all, one) => mergeByKey(all, one.transcripts, (anchor) => JSON.stringify(anchor)),
      [],
    ),
  });
}

/** A parent's own words only say which of its parts are done; its handoff says what they achieved. */
function wordsOf(part: WorkNode, known: ReadonlyMap<string, Crystallization>): string {
  if (part.status === "cancelled") return part.statusReason ?? "no reason kept";
  const composed = part.leaf || part.crystallizationId === null ? undefined : known.get(part.crystallizationId);
  return composed?.summary || part.summary || part.name;
}

function oneLine(text: string): string {
  return text.trim().replaceAll("\n", "; ");
}
