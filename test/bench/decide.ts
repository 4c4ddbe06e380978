/**
 * What a tick decides for a hundred, a thousand and ten thousand agents, in a fleet where everything happens a little:
 * most work, some are silent, some are dead, some wait. The floor is a copy of the same snapshot, which has to touch
 * everything once; a rule that looks at every agent for every agent would leave it far behind.
 */
import { decide } from "#domain/decide.ts";
import { inPlan } from "#domain/scene.ts";
import type { AgentSeen, Snapshot } from "#domain/snapshot.ts";
import {
  attemptWith,
  LIMITS,
  MINUTE,
  NOW,
  pulseWith,
  recoveryWith,
  silentFor,
  snapshotOf,
} from "../support/snapshots.ts";
import { assignmentWith, goalOf, nodeWith } from "../support/tree.ts";
import { cpuOfThis, type Row, turnAbout } from "./row.ts";

/** Tasks in one goal. */
const TASKS = 50;
/** A single decision over few agents is too short to be measured. */
const AT_LEAST = 20_000;

export const decides: readonly Row[] = [100, 1_000, 10_000].map((agents) => ({
  name: `decide-${agents}`,
  work: `decide for ${agents.toLocaleString("en")} agents`,
  floor: "copying the snapshot",
  aim: 1,
  async measure({ quick }) {
    const fleet = fleetOf(agents);
    const rounds = Math.max(1, Math.ceil(AT_LEAST / agents));
    const repeat = (work: () => unknown) => () =>
      cpuOfThis(() => {
        for (let round = 0; round < rounds; round += 1) work();
      }).then((ms) => ms / rounds);
    const measured = await turnAbout(
      quick ? 5 : 15,
      repeat(() => decide(fleet)),
      repeat(() => structuredClone(fleet)),
    );
    const each = (measured.workMs / agents) * 1000;
    return { ...measured, note: `${each.toFixed(2)} µs an agent, limit 50 ms at 10,000` };
  },
}));

function fleetOf(count: number): Snapshot {
  const goals = Math.ceil(count / TASKS);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const placeOf = (number: number) => ({
    goalId: `goal_${number % goals}`,
    workNodeId: `T${Math.floor(number / goals)}`,
    assignmentId: `A_${number}`,
  });
  const phases = Array.from({ length: goals }, (_, index) =>
    nodeWith("in_progress", {
      goalId: `goal_${index}`,
      workNodeId: "P1",
      path: "P1",
      kind: "phase",
      parentId: null,
      leaf: false,
    }),
  );
  return snapshotOf({
    limits: { ...LIMITS, fleet: { ...LIMITS.fleet, maxConcurrent: count } },
    goals: Array.from({ length: goals }, (_, index) => goalOf({ goalId: `goal_${index}` })),
    nodes: [
      ...phases,
      ...numbers.map((number) => {
        const { goalId, workNodeId } = placeOf(number);
        return nodeWith("in_progress", {
          goalId,
          workNodeId,
          path: `P1/${workNodeId}`,
          parentId: "P1",
          position: number,
        });
      }),
    ].sort(inPlan),
    assignments: numbers.map((number) => assignmentWith({ ...placeOf(number), lastDispatchAt: NOW - 60 * MINUTE })),
    agents: numbers.map((number) => agentOf(number, placeOf(number))),
    recoveries: numbers
      .filter((number) => number % 10 === 0)
      .map((number) =>
        recoveryWith({ ...placeOf(number), level: 2, lastStepAt: NOW - 5 * MINUTE, backoffUntil: NOW - MINUTE }),
      ),
  });
}

/** Of twenty: one silent, one between turns, one that waits for a person; the others in the middle of a turn. */
function agentOf(number: number, place: object): AgentSeen {
  const kind = number % 20;
  const pulse = kind === 0 ? silentFor(20 * MINUTE) : pulseWith({ inTurn: kind !== 1, lastActAt: NOW - 5_000 });
  return {
    attempt: attemptWith({
      ...place,
      attempt: number,
      updatedAt: NOW - 30 * MINUTE,
      status: kind === 2 ? "paused" : "running",
    }),
    pulse,
    evidence: [
      { source: "process", says: "alive", at: NOW, reliability: "proof" },
      { source: "tree", says: "progress", at: NOW - 20 * MINUTE, reliability: "strong" },
    ],
    quietMs: null,
    waiting: { queued: 0, handed: 0, unseen: [], since: null },
    account: number % 2 === 0 ? "scripted/default" : "claude-code/default",
  };
}
