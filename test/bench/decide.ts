/**
 * What a tick decides for ten thousand agents, in a fleet where everything happens a little: most work, some are silent,
 * some wait; and what it decides for a thousand. A rule that looks at every agent for every agent would cost ten times
 * as much per agent with ten times as many.
 */
import { decide } from "#domain/tick/decide.ts";
import { inPlan } from "#domain/tick/scene.ts";
import type { AgentSeen, Snapshot } from "#domain/tick/snapshot.ts";
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
import { cpuOfThis, type Measure, median, turnAbout } from "./row.ts";

/** Tasks in one goal. */
const TASKS = 50;
/** A single decision over few agents is too short to be measured. */
const AT_LEAST = 20_000;

/** One decision over so many, in CPU time. */
function decision(agents: number): () => Promise<number> {
  const fleet = fleetOf(agents);
  const rounds = Math.max(1, Math.ceil(AT_LEAST / agents));
  return async () => {
    const all = await cpuOfThis(() => {
      for (let round = 0; round < rounds; round += 1) decide(fleet);
    });
    return all / rounds;
  };
}

export const tenThousand: Measure = async ({ quick, until }) => {
  const one = decision(10_000);
  const turns: number[] = [];
  await one();
  while (turns.length < (quick ? 5 : 15) && (turns.length === 0 || performance.now() < until)) turns.push(await one());
  const value = median(turns);
  return { value, turns: turns.length, note: `${(value / 10).toFixed(2)} µs an agent` };
};

/** Ten times as many agents, against ten times the price of a tenth of them. */
export const linear: Measure = async ({ quick, until }) => {
  const [many, few] = [decision(10_000), decision(1_000)];
  return turnAbout({ turns: quick ? 5 : 15, until }, many, async () => 10 * (await few()));
};

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
