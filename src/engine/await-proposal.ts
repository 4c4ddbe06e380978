/**
 * Waiting for a plan that a model was asked for. The daemon asks; where none runs, whoever waits does it, as the same action
 * under the same lease, so that of several who wait one asks.
 */
import { planGoal } from "#act/planning/plan-goal.ts";
import { livingDaemon } from "#control/daemon.ts";
import { assertNotHalted } from "#control/halted.ts";
import { readPlannedGoal } from "#control/planning.ts";
import type { World } from "#control/world.ts";
import { isDue } from "#domain/core/elapsed.ts";
import type { Action } from "#domain/model/action.ts";
import type { Planning } from "#domain/model/goal.ts";
import { planActionId } from "#domain/plans/planning.ts";
import { drain, outcomeOf, type Registry } from "./outbox.ts";

export interface AwaitOptions {
  /** What happens now, as a clause; told whenever it has changed. */
  onProgress?(text: string): void;
  /** Stops waiting. Where a daemon runs it continues; else the model is ended, and the plan stays wanted. */
  readonly signal?: AbortSignal;
}

const LOOK_EVERY_MS = 150;

/**
 * Waits until it is proposed, failed, or has to wait itself for longer; null when it has ended: it was accepted, or dropped.
 * What has waited and is due is asked again.
 */
export async function awaitProposal(
  world: World,
  goalId: string,
  number: number,
  { onProgress, signal }: AwaitOptions = {},
): Promise<Planning | null> {
  let told = "";
  for (;;) {
    const { planning } = await readPlannedGoal(world, goalId);
    if (planning?.number !== number) return null;
    const daemon = livingDaemon(world);
    const now = tellProgress(planning, daemon !== undefined);
    if (now !== told) onProgress?.(now);
    told = now;
    const isOpen =
      planning.status === "wanted" || (planning.status === "waits" && hasCome(planning, world.clock.now()));
    if (!isOpen || signal?.aborted) return planning;
    if (daemon) await world.clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
    else await planHere(world, goalId, number, signal);
  }
}

function hasCome({ until, since }: Planning, now: number): boolean {
  return until === null || isDue(until, since, now);
}

function tellProgress({ status, detail }: Planning, isDaemonUp: boolean): string {
  if (status === "waits") return `planning waits: ${detail ?? "no model can be asked"}`;
  return status === "wanted"
    ? isDaemonUp
      ? "the daemon asks the model"
      : "asking the model"
    : `the plan is ${status}`;
}

/** Carries out the asking in this process. Throws what is in the way, so that the person hears it at once. */
async function planHere(world: World, goalId: string, number: number, signal?: AbortSignal): Promise<void> {
  await assertNotHalted(world);
  let inTheWay: unknown;
  const registry: Registry<World> = {
    async plan(_action, parts) {
      try {
        return await planGoal(parts, goalId, number, signal);
      } catch (error) {
        inTheWay = error;
        return outcomeOf(error);
      }
    },
  };
  const actionId = planActionId(goalId, number);
  const isIt = (action: Action) => action.actionId === actionId;
  const { done, failed } = await drain(world, registry, { only: isIt });
  if (inTheWay !== undefined) throw inTheWay;
  // Somebody else has it, or it is not due: a daemon that is starting, or another command that waits for the same.
  if (done + failed === 0) await world.clock.sleep(LOOK_EVERY_MS);
}
