import { expect, test } from "bun:test";
import type { Condition } from "#domain/model/condition.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { goalOf, nodeWith } from "../../../test/support/tree.ts";
import { canMove } from "./can-move.ts";
import type { Judgement } from "./liveness.ts";

const goal = goalOf({ status: "active" });
const ready: WorkNode = { ...nodeWith("queued"), goalId: goal.goalId };
const QUIET = { frozen: false, safeMode: false, held: null, watching: false, conditions: [], nodes: [], goals: [goal] };
const judged = (...states: string[]) => new Map(states.map((state, at) => [at, { state } as unknown as Judgement]));
const holds = (condition: object) => ({ conditions: [{ active: true, ...condition } as unknown as Condition] });

const rows: readonly [string, object, ReadonlyMap<number, Judgement>, boolean][] = [
  ["nothing is open", {}, judged(), false],
  ["something is ready", { nodes: [ready] }, judged(), true],
  ["of a goal that is paused", { nodes: [ready], goals: [{ ...goal, status: "paused" }] }, judged(), false],
  ["somebody is at work", {}, judged("working"), true],
  ["somebody hangs", {}, judged("silent"), true],
  ["all wait for a person or quota", {}, judged("waiting-human", "waiting-quota", "waiting"), false],
  ["the fleet is frozen", { nodes: [ready], frozen: true }, judged("working"), false],
  ["safe mode", { nodes: [ready], safeMode: true }, judged(), false],
  ["settings hold it", { nodes: [ready], held: "settings are away" }, judged(), false],
  ["the quota is used up", { nodes: [ready], ...holds({ kind: "quota" }) }, judged(), false],
  ["the provider fails", { nodes: [ready], ...holds({ kind: "provider" }) }, judged(), false],
  ["nobody can be started", { nodes: [ready], ...holds({ kind: "start" }) }, judged(), false],
  ["a budget is spent", { nodes: [ready], ...holds({ kind: "budget", phase: "paused" }) }, judged(), false],
  ["a budget is nearly spent", { nodes: [ready], ...holds({ kind: "budget", phase: "warned" }) }, judged(), true],
  ["the disk is nearly full", { nodes: [ready], ...holds({ kind: "dispatch", cap: "disk" }) }, judged(), false],
  [
    "every place is taken, and nobody moves",
    { nodes: [ready], ...holds({ kind: "dispatch", cap: "agents" }) },
    judged(),
    true,
  ],
];
test.each(rows)("GUARD-9: work that should move by itself: %s", (_name, change, agents, expected) => {
  expect(canMove({ ...QUIET, ...change }, agents)).toBe(expected);
});
