/**
 * What the next one on a node is told about the last one (CRYS-2): the crystallization with all its parts, the last
 * commit, and where uncommitted work is kept. Nothing is left out here; how much of it fits is the page's business.
 */
import { type Actor, nameOfActor } from "#domain/core/actor.ts";
import type { Crystallization, Evidence } from "#domain/model/crystallization.ts";
import { readSplit, SPLIT_INTO, type WorkNode } from "#domain/model/work.ts";
import type { Handoff, ReviewWord } from "./overlay.ts";

/** Who had it last; an attempt fits. */
export interface LastHolder {
  readonly agent: string;
  readonly attempt: number;
}

/** Undefined when nobody left anything behind. */
export function handoffOf(
  node: Pick<WorkNode, "summary" | "blockedReason">,
  left: Crystallization | undefined,
  wipRef: string | null,
  lastCommit: string | null,
  last?: LastHolder,
): Handoff | undefined {
  if (!left && !wipRef && !lastCommit) return undefined;
  const blocked = node.blockedReason?.detail;
  const blockers = left?.knownBlockers ?? [];
  return {
    by: last?.agent ?? left?.by ?? "an earlier attempt",
    attempt: last?.attempt ?? 0,
    summary: left?.summary || (node.summary ?? "") || "No report was left; see the evidence below.",
    ...(left?.currentState ? { currentState: left.currentState } : {}),
    decisions: left?.decisions ?? [],
    nextActions: left?.nextActions ?? [],
    openQuestions: left?.openQuestions ?? [],
    blockers: blocked === undefined || blockers.includes(blocked) ? blockers : [...blockers, blocked],
    evidence: [
      ...(lastCommit ? [`its last commit: ${lastCommit}`] : []),
      ...(wipRef ? [`what it had not committed: ${wipRef}`] : []),
      ...(left ? evidenceLines(left.evidence) : []),
      ...(left?.transcripts ?? []).map(
        (anchor) => `transcript of ${anchor.sessionKey}${anchor.sessionId ? `, session ${anchor.sessionId}` : ""}`,
      ),
    ],
  };
}

/** What the agent left whose work was split, for whoever gets a part of it: it was on the whole, on a branch of its own. */
export function splitHandoffOf(
  whole: Pick<WorkNode, "workNodeId" | "name" | "summary" | "blockedReason" | "statusReason">,
  left: Crystallization | undefined,
  last: LastHolder & { readonly branch: string; readonly wip: string | null; readonly commit: string | null },
): Handoff {
  const known = handoffOf(whole, left, last.wip, last.commit, last);
  const pieces = readSplit(whole.statusReason) ?? [];
  const told = `This task is a part of ${whole.workNodeId} (${whole.name}), which nobody got done and which was ${SPLIT_INTO} ${pieces.join(", ")}. Do this part only; the others are others' work. Nothing of what the last agent made for the whole has landed: take over what is sound of it and belongs to this part.`;
  const branch = last.commit === null ? [] : [`its branch: ${last.branch}`];
  return {
    ...{ by: last.agent, attempt: last.attempt },
    ...{ decisions: [], nextActions: [], openQuestions: [], blockers: [] },
    ...known,
    summary: left?.summary ? `${told} It reported: ${left.summary}` : told,
    evidence: [...branch, ...(known?.evidence ?? [])],
  };
}

/** What a person said when they sent the work back; undefined when nobody did. Whoever heard it may be gone. */
export function reviewWordOf({ sentBack }: Pick<WorkNode, "sentBack">): ReviewWord | undefined {
  return sentBack && { by: nameOfActor(sentBack.by as Actor), commit: sentBack.commit, words: sentBack.words };
}

/** One line for each pointer. */
export function evidenceLines(evidence: Evidence): string[] {
  return [
    ...evidence.commits.map((commit) => `commit ${commit}`),
    ...evidence.testsRun.map((test) => `test ${test.name}${test.result ? `: ${test.result}` : ""}`),
    ...evidence.filesTouched.map((file) => `file ${file}`),
    ...evidence.commandsRun.map((command) => `command ${command}`),
    ...evidence.prs.map((pr) => `pull request ${pr}`),
    ...evidence.issues.map((issue) => `issue ${issue}`),
    ...evidence.externalRefs.map((ref) => `see ${ref}`),
  ];
}
