import { describe, expect, test } from "bun:test";
import { ASSIGNMENT_MOVES } from "#domain/model/assignment.ts";
import { GOAL_MOVES } from "#domain/model/goal.ts";
import { QUESTION_MOVES } from "#domain/model/question.ts";
import { WORK_MOVES, type WorkStatus } from "#domain/model/work.ts";
import type { Moves } from "./moves.ts";
import { isFinal, mayMove, pathOfMoves } from "./moves.ts";

const TABLES: [name: string, moves: Moves<string>, final: string[]][] = [
  ["GOAL-1: a goal", GOAL_MOVES, ["archived"]],
  ["WORK-2: a node", WORK_MOVES, ["cancelled", "done"]],
  ["ASG-1: an assignment", ASSIGNMENT_MOVES, ["cancelled", "done"]],
  ["a question", QUESTION_MOVES, ["answered", "withdrawn"]],
];

describe.each(TABLES)("%s", (_name, moves, final) => {
  const states = Object.keys(moves);

  test("moves only to states that exist, never to itself, and each move stands there once", () => {
    for (const [from, targets] of Object.entries(moves)) {
      expect(targets.filter((to) => !states.includes(to) || to === from)).toEqual([]);
      expect(new Set(targets).size).toBe(targets.length);
    }
  });

  test("has exactly these ends", () => {
    expect(states.filter((state) => isFinal(moves, state)).sort()).toEqual(final);
  });

  test("reaches every state from its first one, and some end from every state", () => {
    const [first = ""] = states;
    for (const state of states.slice(1)) expect(pathOfMoves(moves, first, state)).toBeDefined();
    for (const state of states.filter((one) => !isFinal(moves, one))) {
      expect(final.some((end) => pathOfMoves(moves, state, end))).toBe(true);
    }
  });

  test("every path found is made of legal moves only, and there is none out of an end", () => {
    for (const from of states) {
      for (const to of states) {
        const path = pathOfMoves(moves, from, to);
        [from, ...(path ?? [])].reduce((before, next) => {
          expect(mayMove(moves, before, next)).toBe(true);
          return next;
        });
        if (isFinal(moves, from)) expect(path).toBeUndefined();
      }
    }
  });
});

const PATHS: [why: string, from: WorkStatus, to: WorkStatus, path: WorkStatus[] | undefined][] = [
  ["a neighbour is one step away", "queued", "in_progress", ["in_progress"]],
  ["done from todo passes through the queue and work", "todo", "done", ["queued", "in_progress", "done"]],
  ["a blocked node goes back through the queue", "blocked", "done", ["queued", "in_progress", "done"]],
  ["nothing leaves done", "done", "queued", undefined],
  ["nothing comes back to todo", "queued", "todo", undefined],
];
test.each(PATHS)("WORK-2: the shortest way: %s", (_why, from, to, path) => {
  expect(pathOfMoves(WORK_MOVES, from, to)).toEqual(path);
});
