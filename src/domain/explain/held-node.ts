/** Which of the standstills that `status` tells is in the way of a node, a goal or a question, in the words of `status`. */
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Standstill, StandstillKind } from "./standstill.ts";

/** These hold whoever it is. */
const HOLDS_ALL: ReadonlySet<StandstillKind> = new Set([
  "safe-mode",
  "frozen",
  "disk-full",
  "configuration",
  "settings",
  "no-daemon",
  "switched-off",
]);
/** These hold what is ready. */
const HOLDS_READY: ReadonlySet<StandstillKind> = new Set(["provider", "quota", "mass-death", "dispatch"]);
/** What is said of the node itself tells these, with their commands. */
const TOLD_BY_NODE: ReadonlySet<StandstillKind> = new Set(["question", "review", "blocked", "never-ready"]);

/** And what is said of a goal these. */
const TOLD_BY_GOAL: ReadonlySet<StandstillKind> = new Set(["goal-paused", "no-plan"]);

/** Nothing where the node is over, or where nothing is in its way. */
export function tellHeld(node: WorkNode, standstills: readonly Standstill[]): string[] {
  const isReady = node.status === "queued";
  if (!isReady && node.status !== "in_progress") return [];
  return standstills
    .filter((one) => HOLDS_ALL.has(one.kind) || (isReady && HOLDS_READY.has(one.kind)) || isAbout(node, one))
    .map(({ text }) => (isReady ? `It is ready, and held back: ${text}` : text));
}

/** Of a goal that is open: what holds everything, it, or any of its tasks. */
export function tellHeldGoal(goalId: string, standstills: readonly Standstill[]): string[] {
  const isOwn = (one: string) =>
    one === goalId || one === `goal:${goalId}` || one.startsWith(`${goalId}/`) || one.startsWith("day:");
  return standstills
    .filter(({ kind }) => !TOLD_BY_GOAL.has(kind))
    .filter(({ kind, about }) => HOLDS_ALL.has(kind) || HOLDS_READY.has(kind) || about.some(isOwn))
    .map(({ text }) => text);
}

/** Of a question that is open: the ways to people that do not get through. */
export function tellUnheard(standstills: readonly Standstill[]): string[] {
  return standstills.filter(({ kind }) => kind === "channel").map(({ text }) => text);
}

/** What `status` says of something, also what it says of itself; what is its own and a person's turn first. */
export interface Concerned {
  readonly goalId: string | null;
  /** Null where it is the goal itself. */
  readonly nodeId: string | null;
  readonly isReady: boolean;
  /** The question, where it is one. */
  readonly questionId?: string;
}

export function findConcerning(
  { goalId, nodeId, isReady, questionId }: Concerned,
  standstills: readonly Standstill[],
): Standstill[] {
  const isOwn = ({ kind, about, command }: Standstill) =>
    questionId === undefined
      ? about.some((one) => (nodeId === null ? isOfGoal(one, goalId ?? "") : one === nodeKey(goalId ?? "", nodeId))) ||
        (kind === "goal-paused" && about.includes(goalId ?? "")) ||
        (kind === "budget" && about.some((one) => one === `goal:${goalId}` || one.startsWith("day:")))
      : kind === "channel" || (kind === "question" && command?.includes(questionId) === true);
  const holds = ({ kind }: Standstill) =>
    questionId === undefined && (HOLDS_ALL.has(kind) || (isReady && HOLDS_READY.has(kind)));
  const rankOf = (one: Standstill) => (one.turn === "person" ? 0 : 2) + (isOwn(one) ? 0 : 1);
  return standstills
    .filter((one) => isOwn(one) || holds(one))
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .map((one) =>
      one.kind === "review" && goalId !== null && nodeId !== null ? narrowReview(one, goalId, nodeId) : one,
    );
}

/** Several reviews are one line, with the command of the first; whoever asks about one of them gets that one's. */
function narrowReview(review: Standstill, goalId: string, nodeId: string): Standstill {
  const key = nodeKey(goalId, nodeId);
  return review.about.includes(key) ? { ...review, command: `overseer accept ${key}` } : review;
}

function isOfGoal(about: string, goalId: string): boolean {
  return about === goalId || about.startsWith(`${goalId}/`);
}

function isAbout({ goalId, workNodeId }: WorkNode, { kind, about }: Standstill): boolean {
  if (TOLD_BY_NODE.has(kind)) return false;
  return about.some(
    (one) =>
      one === nodeKey(goalId, workNodeId) ||
      (kind === "goal-paused" && one === goalId) ||
      (kind === "budget" && (one === `goal:${goalId}` || one.startsWith("day:"))),
  );
}
