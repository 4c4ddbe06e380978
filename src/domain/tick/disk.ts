/**
 * A disk that is nearly full. Nothing is started meanwhile (dispatch.ts says so), and only a person can make room: one is
 * asked, once, however many tasks wait and however the figure changes. When there is room again the question is withdrawn
 * and everything continues by itself, whether or not anybody has answered.
 */
import { describeFullDisk } from "#domain/agents/admission.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { dropEvent } from "#domain/model/action.ts";
import { DISK, type DiskCondition } from "#domain/model/condition.ts";
import { NOT_WANTED } from "#domain/model/ladder-state.ts";
import { isOpen } from "#domain/model/work.ts";
import { NO_STEPS, type Ruled, recordEvent, type TickStep } from "./draft.ts";
import type { Scene } from "./scene.ts";

/** Nobody tells when there is room. */
const LOOK_AGAIN_MS = 5_000;

/** So much more than must stay free: at its very limit a disk has room and none in turn, and would be asked about each time. */
const ENOUGH = 1.1;

/** Finds when to look again while it is nearly full; null where nothing is to be looked for. */
export function watchDisk(scene: Scene): Ruled<number | null> {
  const { diskBytes, minDiskBytes } = scene.snapshot.room;
  const condition = scene.condition("disk", DISK);
  const known = condition?.active ? condition : undefined;
  const lookAt = scene.now + LOOK_AGAIN_MS;
  if (known) {
    const isOver = diskBytes >= minDiskBytes * ENOUGH || !isNeeded(scene);
    const steps = isOver ? clear(scene, known) : NO_STEPS;
    return { value: steps.length > 0 ? null : lookAt, steps };
  }
  const problem = describeFullDisk(scene.snapshot.room);
  if (problem === undefined || !isNeeded(scene)) return { value: null, steps: NO_STEPS };
  const questionId = deriveId("q_", DISK, scene.now);
  const short = { freeBytes: diskBytes, neededBytes: minDiskBytes, questionId };
  const steps = [recordEvent("disk.short", {}, "less-than-must-stay-free", short), ask(scene, questionId, problem)];
  return { value: lookAt, steps };
}

/** Where nobody works and nothing is to be worked on, a full disk is in nobody's way. */
function isNeeded(scene: Scene): boolean {
  return (
    scene.agents.length > 0 || scene.nodes.some((node) => isOpen(node) && scene.goal(node.goalId)?.status === "active")
  );
}

function ask(scene: Scene, questionId: string, problem: string): TickStep {
  return {
    actionId: `ask:${questionId}`,
    kind: "ask",
    because: "disk-nearly-full",
    notBefore: scene.now,
    payload: {
      questionId,
      text: `No agent is started: ${problem}. Free some ('overseer worktree clean' removes what has landed), or lower capacity.minDisk: everything continues by itself as soon as there is room.`,
      options: ["look again"],
    },
  };
}

/** Not said while its question is being asked just now, which nobody could withdraw then. */
function clear(scene: Scene, { questionId }: DiskCondition): readonly TickStep[] {
  const { now, snapshot, actions } = scene;
  const asking = actions.find(({ actionId }) => actionId === `ask:${questionId}`);
  if (asking?.status === "taken") return NO_STEPS;
  const reason = "the disk has room again";
  const isAsked = snapshot.questions.some((question) => question.questionId === questionId);
  return [
    recordEvent("disk.enough", {}, "room-again", { freeBytes: snapshot.room.diskBytes }),
    ...(asking ? [dropEvent(asking, NOT_WANTED, reason, { now, actor: "overseer" })] : []),
    ...(isAsked ? [recordEvent("question.withdrawn", {}, "room-again", { questionId, reason })] : []),
  ];
}
