/** What one may ask of auto mode: how it stands, pause and resume, a failed task once more, and its standing workers. */
import { roleSources } from "#config/places.ts";
import { findRole, loadRoles } from "#config/roles.ts";
import type { AutoView } from "#domain/auto/auto-view.ts";
import { type AutoChange, judgeRetry, pauseAuto, resumeAuto } from "#domain/auto/steer-auto.ts";
import { taskKey } from "#domain/auto/take-task.ts";
import { addWorker, removeWorker, type WorkerWish } from "#domain/auto/workers.ts";
import type { Moment } from "#domain/core/actor.ts";
import type { AutoCondition, Worker } from "#domain/model/auto.ts";
import type { Condition } from "#domain/model/condition.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { goalFromPrompt } from "#domain/plans/prompt-goal.ts";
import { orThrow } from "#errors.ts";
import { presentConditions } from "#store/actions.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { nodesOfGoal } from "#store/work.ts";
import { chooseGoalId } from "./goal-id.ts";
import { type NodeName, resolveWork } from "./names.ts";
import { titleOfTask } from "./sling.ts";
import { readFleetStatus } from "./status.ts";
import { unblockWork } from "./work.ts";
import { assertFits, type World } from "./world.ts";

/** Null where auto mode was never used. */
export async function readAuto(world: World): Promise<AutoView | null> {
  return (await readFleetStatus(world)).auto;
}

export async function pause(world: World, reason: string | null): Promise<AutoChange> {
  return steer(world, reason, pauseAuto);
}

export async function resume(world: World, reason: string | null): Promise<AutoChange> {
  return steer(world, reason, resumeAuto);
}

async function steer(
  world: World,
  reason: string | null,
  rule: (auto: AutoCondition | undefined, reason: string | null, moment: Moment) => Decision<AutoChange>,
): Promise<AutoChange> {
  await assertFits(world, { reason });
  return change(world, (conditions, moment) => rule(findAuto(conditions), reason, moment));
}

async function change<T>(
  world: World,
  rule: (conditions: readonly Condition[], moment: Moment) => Decision<T>,
): Promise<T> {
  const moment = { now: world.clock.now(), actor: world.actor };
  const outcome = await (await world.writer()).commit({
    at: moment.now,
    reads: { conditions: presentConditions() },
    decide: ({ conditions }) => rule(conditions, moment),
  });
  return orThrow(outcome);
}

async function readPool(store: Store): Promise<{ readonly auto: AutoCondition | undefined }> {
  const { conditions } = await store.read({ conditions: presentConditions() });
  return { auto: findAuto(conditions) };
}

function findAuto(conditions: readonly Condition[]): AutoCondition | undefined {
  return conditions.find((one) => one.kind === "auto");
}

function listKnown(conditions: readonly Condition[]): readonly Worker[] {
  return conditions.find((one) => one.kind === "workers")?.workers ?? [];
}

export interface Retried {
  /** `goal/node` that is worked on now. */
  readonly node: string;
  /** It is a new goal; the old one stays as it ended. */
  readonly anew: boolean;
}

/** A failed task of the pool once more: its own node where that is blocked, else the same words as a new goal. */
export async function retry(world: World, word: string, reason: string | null): Promise<Retried> {
  const store = await world.writer();
  const { goalId, nodeId } = (await findTaskOfGoal(store, word)) ?? (await resolveWork(store, word));
  const { goal, nodes } = await store.read({ goal: goalById(goalId), nodes: nodesOfGoal(goalId) });
  const node = nodes.find((one) => one.workNodeId === nodeId);
  const { auto } = await readPool(store);
  const key = taskKey(node?.objective ?? "");
  const sibling = auto?.open.find((one) => one.key === key && one.goalId !== goalId)?.goalId;
  if (orThrow(judgeRetry(node, goal, sibling)) === "unblock") {
    await unblockWork(world, { node: nodeId, goal: goalId }, reason ?? "tried again");
    return { node: `${goalId}/${nodeId}`, anew: false };
  }
  const text = node?.objective ?? "";
  const words = await titleOfTask(world, text);
  const again = await chooseGoalId(world, words);
  const { origin } = goal ?? { origin: { kind: "source:command" } };
  const source = origin.kind === "source:directory" ? "directory" : "command";
  const moment = { now: world.clock.now(), actor: world.actor };
  orThrow(
    await store.commit({
      at: moment.now,
      reads: { named: goalById(again) },
      decide: ({ named }) => {
        const made = goalFromPrompt(named, { goalId: again, prompt: text, words, tags: [], origin }, moment);
        if (!made.ok) return made;
        const data = { source, key: taskKey(text), pull: null } as const;
        const taken = { type: "pool.taken", actor: moment.actor, goalId: again, because: "tried-again", data } as const;
        return accept([...made.events, taken], null);
      },
    }),
  );
  return { node: `${again}/T1`, anew: true };
}

/** The task of a goal that is named by itself: the one that failed, where it has several. */
async function findTaskOfGoal(store: Store, goalId: string): Promise<NodeName | undefined> {
  const { nodes } = await store.read({ nodes: nodesOfGoal(goalId) });
  const leaves = nodes.filter(({ leaf }) => leaf);
  const failed = ["blocked", "cancelled"].flatMap((status) => leaves.filter((one) => one.status === status));
  const node = failed[0] ?? leaves[0];
  return node && { goalId, nodeId: node.workNodeId };
}

export async function listWorkers(world: World): Promise<readonly Worker[]> {
  const { conditions } = await (await world.reader()).read({ conditions: presentConditions() });
  return listKnown(conditions);
}

export async function add(world: World, wish: WorkerWish): Promise<string> {
  if (wish.capability !== null) {
    const { config, files } = await world.settings();
    findRole(await loadRoles(files, roleSources(world.root, config)), wish.capability); // refuses one that does not exist
  }
  if (wish.runtime !== null) await world.runtime(wish.runtime); // refuses one that does not exist
  return change(world, (conditions, moment) => addWorker(listKnown(conditions), wish, moment));
}

export async function remove(world: World, name: string): Promise<string> {
  return change(world, (conditions, moment) => removeWorker(listKnown(conditions), name, moment));
}
