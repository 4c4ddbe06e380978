/** HOLD-1: a node that does not move names the same standstill that `status` names, and no other. */
import { expect, test } from "bun:test";
import { nodeWith } from "../../../test/support/tree.ts";
import { findConcerning, tellHeld, tellHeldGoal, tellUnheard } from "./held-node.ts";
import { type StandstillKind, standstill } from "./standstill.ts";

const node = (status: "queued" | "in_progress" | "done") => ({
  ...nodeWith(status),
  goalId: "goal_A",
  workNodeId: "T1",
});
const told = (kind: StandstillKind, about: readonly string[] = []) =>
  standstill(kind, { text: `${kind}!`, command: "overseer status", about });

const ROWS: [kind: StandstillKind, about: string[], queued: boolean, working: boolean][] = [
  ["frozen", [], true, true],
  ["disk-full", [], true, true],
  ["settings", [], true, true],
  ["no-daemon", [], true, true],
  ["dispatch", [], true, false],
  ["quota", ["a/default"], true, false],
  ["provider", ["a/default"], true, false],
  ["mass-death", ["goal_A/T9"], true, false],
  ["mass-death", ["goal_A/T1"], true, true],
  ["budget", ["goal:goal_A"], true, true],
  ["budget", ["goal:goal_B"], false, false],
  ["budget", ["goal_B/T2"], false, false],
  ["budget", ["day:2026-01-06"], true, true],
  ["not-started", ["goal_A/T1"], true, true],
  ["not-started", ["goal_A/T2"], false, false],
  ["stalled", ["goal_A/T1"], true, true],
  ["goal-paused", ["goal_A"], true, true],
  // Those are told by what is said of the node itself.
  ["question", ["goal_A/T1"], false, false],
  ["review", ["goal_A/T1"], false, false],
  ["channel", ["webhook"], false, false],
];
test.each(ROWS)("HOLD-1: %s about %p", (kind, about, queued, working) => {
  const one = [told(kind, about)];
  expect(tellHeld(node("queued"), one)).toEqual(queued ? [`It is ready, and held back: ${kind}!`] : []);
  expect(tellHeld(node("in_progress"), one)).toEqual(working ? [`${kind}!`] : []);
  expect(tellHeld(node("done"), one)).toEqual([]);
});

const GOALS: [kind: StandstillKind, about: string[], isTold: boolean][] = [
  ["frozen", [], true],
  ["dispatch", [], true],
  ["quota", ["a/default"], true],
  ["stalled", ["goal_A/T1"], true],
  ["review", ["goal_A/T1"], true],
  ["stalled", ["goal_B/T1"], false],
  ["budget", ["goal:goal_A"], true],
  ["budget", ["day:2026-01-06"], true],
  ["budget", ["goal:goal_B"], false],
  ["goal-paused", ["goal_A"], false],
  ["channel", ["webhook"], false],
];
test.each(GOALS)("HOLD-1: of a goal, %s about %p", (kind, about, isTold) => {
  expect(tellHeldGoal("goal_A", [told(kind, about)])).toEqual(isTold ? [`${kind}!`] : []);
});

test("HOLD-1: of a question, what does not reach people", () => {
  expect(tellUnheard([told("channel", ["webhook"]), told("frozen")])).toEqual(["channel!"]);
});

test("HOLD-1: asked about one of several reviews, the command is about that one", () => {
  const both = told("review", ["goal_A/T1", "goal_A/T2"]);
  const command = (nodeId: string | null) =>
    findConcerning({ goalId: "goal_A", nodeId, isReady: false }, [both]).map((one) => one.command);
  expect([command("T2"), command("T1"), command(null)]).toEqual([
    ["overseer accept goal_A/T2"],
    ["overseer accept goal_A/T1"],
    ["overseer status"],
  ]);
});
