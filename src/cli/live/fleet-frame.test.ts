/** STATUS-1: what stands in the first tab when room is short, filtered, or nothing is at work. */
import { expect, test } from "bun:test";
import type { Status } from "#control/status.ts";
import { liveStill, liveView } from "../../../test/support/live-views.ts";
import { makeFrame } from "./frame.ts";
import { readLine, type Size } from "./line.ts";
import { FIRST_STATE, type LiveState } from "./state.ts";
import type { View } from "./view.ts";

const USUAL: Size = { columns: 80, rows: 24 };
const WIDE: Size = { columns: 200, rows: 50 };

const draw = (view: View, size: Size, state: Partial<LiveState> = {}) =>
  makeFrame({ ...FIRST_STATE, ...state }, view, size).lines.map(readLine);
const cursorOn = (index: number) => ({ places: { ...FIRST_STATE.places, fleet: { key: null, index } } });

const LONG = "It has said nothing for a long time, and the next step follows in a while. ".repeat(3);
const STILLS = [
  liveStill("YOUR REVIEW: goal_X/T1", { kind: "review", about: ["goal_X/T1"] }),
  ...[2, 3, 4, 5, 6].map((at) => liveStill(`STALLED: T${at} ${LONG}`, { turn: "itself", about: [`goal_X/T${at}`] })),
];

test.each([0, 6, 11])("STATUS-1: what waits for the person stays in sight with the cursor on line %i", (index) => {
  const lines = draw(liveView(6, { standstills: STILLS }), USUAL, cursorOn(index));
  expect(lines[2]).toBe("Waits for you");
  expect(lines[3]).toContain("YOUR REVIEW: T1 Task 1");
  const told = lines.filter((text) => /^! STALLED/.test(text)).length;
  expect(told).toBeGreaterThan(0);
  expect(lines).toContain(`  … ${5 - told} more`);
  expect(lines.join("\n")).not.toContain("more above");
});

test("STATUS-1: what comes next is told whole, on two lines where one is too short", () => {
  const text = "the next step for goal_X/T2, which is stalled: it is asked once more how it stands and what it needs";
  const next = { text, nextAt: null } as unknown as Status["next"];
  const lines = draw(liveView(3, { next }), USUAL);
  expect(lines.slice(21, 23).join(" ").trim()).toBe(`Next: ${text}`);
  const longer = { text: `${text} `.repeat(3), nextAt: null } as unknown as Status["next"];
  expect(draw(liveView(3, { next: longer }), USUAL)[22]).toEndWith("…");
});

test("STATUS-1: of what is ready, all that is not shown is counted, read or not", () => {
  const ready = Array.from({ length: 8 }, (_, at) => ({ goalId: "goal_X", workNodeId: `T${at}`, task: "Parse" }));
  const goal = { goalId: "goal_X", title: "Dates", status: "active", progress: { done: 0, total: 22, percent: 0 } };
  const goals = [{ ...goal, inProgress: 0, queued: 22, costUsd: 0 }];
  const view = liveView(2, { ready, goals } as unknown as Partial<Status>);
  const right = draw(view, WIDE).map((text) => (text.split(" │ ")[1] ?? "").trim());
  const at = right.indexOf("Ready (22)");
  expect(right.slice(at + 5, at + 7)).toEqual(["T4 Parse", "… 17 more"]);
});

test("STATUS-1: with a filter only what it finds is shown and counted", () => {
  const view = liveView(6);
  for (const size of [USUAL, WIDE]) {
    const text = draw(view, size, { filter: "builder-4" }).join("\n");
    expect(text).toContain("Agents 1 of 6: 1 working");
    expect(text).not.toContain("Event 40");
  }
  expect(draw(view, USUAL).join("\n")).toContain("Agents 6: 5 working, 1 dead");
  expect(draw(view, USUAL, { filter: "nobody" })[2]).toBe('Nothing here has "nobody" in it; Esc shows all.');
});

test("STATUS-1: where nothing is at work the next step is named", () => {
  const idle = draw(liveView(0), USUAL).join("\n");
  expect(idle).toMatch(/Nothing waits.*\n.*overseer do "…".*\n.*overseer sling --prompt/);
  expect(idle).not.toContain("overseer up");
  const daemon = { state: "stopped", tickProblem: null, troubles: [], rings: [] } as unknown as Status["daemon"];
  expect(draw(liveView(0, { daemon }), USUAL).join("\n")).toContain("overseer up");
});

test.each([
  ["died", null, "daemon died  "],
  ["running", { since: 0, by: "human:a", reason: "" }, "daemon running, frozen  "],
  ["running", null, "daemon running  "],
])("STATUS-1: the header says that the daemon is %s and the fleet frozen: %p", (state, frozen, says) => {
  const daemon = { state, tickProblem: null, troubles: [], rings: [] };
  expect(draw(liveView(1, { daemon, frozen } as unknown as Partial<Status>), USUAL)[0]).toContain(says);
});

test("STATUS-1: the header says what auto mode has done, and that a guard watches", () => {
  const more = { guard: { alive: true }, auto: { on: true, completed: 3, errors: 1 } } as unknown as Partial<Status>;
  expect(draw(liveView(1, more), USUAL)[0]).toContain("guarded  auto: 3 done, 1 error");
  const off = { guard: { alive: false }, auto: { on: false, completed: 3, errors: 1 } } as unknown as Partial<Status>;
  expect(draw(liveView(1, off), USUAL)[0]).not.toContain("auto");
});
