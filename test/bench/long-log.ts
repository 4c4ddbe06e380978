/**
 * A long log as a busy repository would have it: goals with a plan of 50 nodes, each of them queued, started, now and
 * then blocked and unblocked, done with a handoff, until the goal completes. One goal's story is made by the real rules;
 * it is told again under other ids until the log is as long as asked for.
 */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type { EventOf } from "#domain/model/event.ts";
import { blockNode, finishByHand, unblockNode, type WorkNode } from "#domain/model/work.ts";
import type { PlannedNode } from "#domain/plans/plan.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { goalById } from "#store/goals.ts";
import { memoryStore } from "#store/memory.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import type { Store } from "#store/store.ts";
import { nodesOfGoal } from "#store/work.ts";
import { ADA, addGoal, addPlan, planned, T0 } from "../support/samples.ts";

/** 5 phases of 3 tasks of 2 subtasks: 5 + 15 + 30 nodes. */
export const FIFTY_NODES: readonly PlannedNode[] = [1, 2, 3, 4, 5].map((phase) =>
  planned(`P${phase}`, {
    children: [1, 2, 3].map((task) =>
      planned(`T${phase}.${task}`, {
        children: [1, 2].map((part) =>
          planned(`S${phase}.${task}.${part}`, { deps: part === 2 ? [`S${phase}.${task}.1`] : [] }),
        ),
      }),
    ),
  }),
);

/** A database with exactly so many events; one that is there already is used again. */
export async function longLog(path: string, events: number): Promise<string> {
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.making`;
  await prepareStore({ address: fresh, backupDir: `${path}.backups`, now: T0 });
  const store = await openForWriting({ address: fresh });
  const story = await oneGoal();
  for (let written = 0; written < events; ) {
    const batch: EventOf[] = [];
    while (batch.length < 20_000 && written < events) {
      const round = Math.floor(written / story.length);
      const event = story[written % story.length];
      written += 1;
      if (event) batch.push(retold(event, written, `goal_${round.toString(36).toUpperCase().padStart(10, "0")}`));
    }
    await store.append(batch);
  }
  await store.close();
  renameSync(fresh, path);
  return path;
}

function retold(event: EventOf, seq: number, goalId: string): EventOf {
  const at = T0 + seq * 1000;
  if (event.type === "crystallization.recorded" || event.type === "work.done") {
    const { crystallizationId } = event.data;
    const data = { ...event.data, crystallizationId: `${crystallizationId}_${goalId}` };
    return { ...event, seq, at, goalId, data } as EventOf;
  }
  return { ...event, seq, at, goalId } as EventOf;
}

async function oneGoal(): Promise<readonly EventOf[]> {
  const store = memoryStore();
  await addGoal(store, "goal_A");
  await addPlan(store, "goal_A", FIFTY_NODES);
  for (let step = 0; ; step += 1) {
    const { nodes } = await store.read({ nodes: nodesOfGoal("goal_A") });
    const ready = nodes.find((node) => node.leaf && node.status === "queued");
    if (!ready) break;
    if (step % 4 === 0) {
      const blocked = { kind: "external" as const, detail: "The staging server is down until noon" };
      await move(store, ready, (node) => blockNode(node, blocked, ADA));
      await move(store, ready, (node) => unblockNode(node, "it is back", ADA));
    }
    const done = {
      summary: `${ready.name} works; see the tests beside it`,
      crystallizationId: `C_${ready.workNodeId}`,
    };
    await move(store, ready, (node, all) => finishByHand(node, all, done, ADA));
  }
  return store.log({ after: 0, limit: 100_000 });
}

type Rule = (node: WorkNode, nodes: readonly WorkNode[]) => ReturnType<typeof blockNode>;

async function move(store: Store, { goalId, workNodeId }: WorkNode, rule: Rule): Promise<void> {
  const outcome = await store.commit({
    at: T0,
    reads: { goal: goalById(goalId), nodes: nodesOfGoal(goalId) },
    decide: ({ goal, nodes }) => {
      const node = nodes.find((one) => one.workNodeId === workNodeId);
      if (!goal || !node) throw new Error("not there");
      return settleDecision({ goal, nodes }, rule(node, nodes), ADA);
    },
  });
  if (!outcome.ok) throw new Error(outcome.refusal.message);
}
