/**
 * A crystallization: what was done, what exists now, what was decided and why, what comes next. It is the handoff
 * that lets another agent, or a person, continue without the one who did the work. It keeps anchors to transcripts and
 * artefacts, never their text.
 */
import type { EventOf } from "./event.ts";

export interface TestRun {
  readonly name: string;
  readonly result: string;
}

/** Pointers to proof. All lists may be empty; a node is done only when at least one is not, or a summary is there. */
export interface Evidence {
  readonly filesTouched: readonly string[];
  readonly commandsRun: readonly string[];
  readonly testsRun: readonly TestRun[];
  readonly commits: readonly string[];
  readonly prs: readonly string[];
  readonly issues: readonly string[];
  readonly externalRefs: readonly string[];
}

export const NO_EVIDENCE: Evidence = {
  filesTouched: [],
  commandsRun: [],
  testsRun: [],
  commits: [],
  prs: [],
  issues: [],
  externalRefs: [],
};

export interface TranscriptAnchor {
  readonly sessionKey: string;
  readonly sessionId?: string;
  readonly messageIds?: readonly string[];
  readonly runId?: string;
}

export interface MadeDecision {
  readonly decision: string;
  readonly rationale: string;
}

export interface CrystallizationBody {
  readonly level: "subtask" | "task" | "phase" | "goal";
  readonly summary: string;
  readonly currentState: string;
  readonly decisions: readonly MadeDecision[];
  readonly nextActions: readonly string[];
  readonly openQuestions: readonly string[];
  readonly knownBlockers: readonly string[];
  readonly evidence: Evidence;
  readonly transcripts: readonly TranscriptAnchor[];
}

export interface Crystallization extends CrystallizationBody {
  readonly crystallizationId: string;
  readonly goalId: string;
  /** Absent for a crystallization of the goal itself. */
  readonly workNodeId: string | null;
  readonly createdAt: number;
  readonly by: string;
}

export function hasEvidence(evidence: Evidence): boolean {
  return Object.values(evidence).some((list) => list.length > 0);
}

export function crystallization(
  level: CrystallizationBody["level"],
  parts: Partial<Omit<CrystallizationBody, "level">>,
): CrystallizationBody {
  return {
    level,
    summary: "",
    currentState: "",
    decisions: [],
    nextActions: [],
    openQuestions: [],
    knownBlockers: [],
    transcripts: [],
    ...parts,
    evidence: { ...NO_EVIDENCE, ...parts.evidence },
  };
}

export function applyToCrystallization(
  known: Crystallization | undefined,
  event: EventOf,
): Crystallization | undefined {
  if (event.type !== "crystallization.recorded") return known;
  const { crystallizationId, ...body } = event.data;
  return {
    crystallizationId,
    goalId: event.goalId ?? "",
    workNodeId: event.nodeId ?? null,
    createdAt: event.at,
    by: event.actor,
    ...body,
  };
}

/** Lists of evidence and decisions keep at most so many, the newest. */
export const MOST_GATHERED = 200;

export function mergeEvidence(known: Evidence, more: Partial<Evidence>): Evidence {
  const same = (text: string) => text;
  return {
    filesTouched: mergeByKey(known.filesTouched, more.filesTouched, same),
    commandsRun: mergeByKey(known.commandsRun, more.commandsRun, same),
    testsRun: mergeByKey(known.testsRun, more.testsRun, ({ name }) => name),
    commits: mergeByKey(known.commits, more.commits, same),
    prs: mergeByKey(known.prs, more.prs, same),
    issues: mergeByKey(known.issues, more.issues, same),
    externalRefs: mergeByKey(known.externalRefs, more.externalRefs, same),
  };
}

/** Each once by its key; who comes again takes the earlier one's place, so that a test has its latest result. */
export function mergeByKey<T>(
  known: readonly T[],
  more: readonly T[] | undefined,
  key: (item: T) => string,
): readonly T[] {
  if (more === undefined || more.length === 0) return known;
  const all = new Map(known.map((item) => [key(item), item]));
  for (const item of more) all.set(key(item), item);
  return [...all.values()].slice(-MOST_GATHERED);
}
