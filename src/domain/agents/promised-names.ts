/**
 * A name belongs to a node while the agent that carried it there is to be started again: people write to it, and its
 * restart asks for it. Names that are merely chosen keep clear of all of them; nobody at all gets one whose restart is
 * decided and not carried out. Pure.
 */
import type { Action } from "#domain/model/action.ts";
import { isOpenAction } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { isAutoName, type Worker } from "#domain/model/auto.ts";

export type PromisedName = Pick<Attempt, "agent" | "goalId" | "workNodeId">;

/** It ended, and nobody had asked for it: it is started again as long as that was not tried too often. */
export function hasEndedByItself(last: Pick<Attempt, "end" | "stopRequested">): boolean {
  return last.end !== null && last.end.cause !== "stopped" && last.stopRequested === null;
}

/** The same agent is to continue: it ended by itself, or its work was put aside. */
export function isToContinue(last: Pick<Attempt, "end" | "stopRequested">): boolean {
  return hasEndedByItself(last) || isPutAside(last);
}

export function isPutAside({ end, stopRequested }: Pick<Attempt, "end" | "stopRequested">): boolean {
  return end !== null && stopRequested?.resume === true;
}

/** Names whose restart is decided. */
export function namesOfRestarts(actions: readonly Action[]): PromisedName[] {
  return actions.flatMap(({ kind, status, agent, goalId, workNodeId }) =>
    kind === "restart" && isOpenAction({ status }) && agent !== null && goalId !== null && workNodeId !== null
      ? [{ agent, goalId, workNodeId }]
      : [],
  );
}

/** A person stopped it and may let it continue at any moment. */
function mayContinue(last: Attempt): boolean {
  return isToContinue(last) || last.stopRequested?.by.startsWith("human:") === true;
}

/**
 * The same, and names of agents that may continue with a node that is not over. The name of a worker of auto mode is a
 * place, which the next task gets; whoever comes back to it finds another.
 */
export function listPromisedNames(
  actions: readonly Action[],
  lastOfOpen: readonly Attempt[],
  workers: readonly Pick<Worker, "name">[],
): PromisedName[] {
  const isPlace = (name: string) => isAutoName(name) || workers.some((one) => one.name === name);
  return [...namesOfRestarts(actions), ...lastOfOpen.filter((last) => mayContinue(last) && !isPlace(last.agent))];
}

/** True when the name is promised to another node than this one. */
export function isPromised(
  name: string,
  promised: readonly PromisedName[],
  node: Pick<Attempt, "goalId" | "workNodeId">,
): boolean {
  return promised.some(
    (one) => one.agent === name && (one.goalId !== node.goalId || one.workNodeId !== node.workNodeId),
  );
}
