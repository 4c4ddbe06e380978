import { expect, test } from "bun:test";
import type { EventOf } from "#domain/model/event.ts";
import { eventText } from "./event-text.ts";
import { fitLine } from "./text.ts";

const NOW = new Date(2026, 10, 18, 14, 30).getTime();
const AT = { seq: 1, at: NOW - 60_000, v: 1, actor: "overseer", because: "x" } as const;
const LONG = "it cannot be merged: ".padEnd(300, "a long story ");

const EVENTS: readonly (readonly [string, Partial<EventOf> & { type: string }])[] = [
  ["14:29  Overseer thawed the fleet.", { type: "fleet.thawed", data: { reason: null } }],
  [
    "14:29  builder-1#4 came up.",
    { type: "agent.started", agent: "builder-1", attempt: 4, goalId: "goal_x", data: {} as never },
  ],
  [
    "14:29  goal_x/T1  Overseer put it into the queue.",
    { type: "work.queued", goalId: "goal_x", nodeId: "T1", data: { reason: null } },
  ],
  [
    "yesterday 09:05  goal_x  ada paused the goal.",
    {
      type: "goal.paused",
      goalId: "goal_x",
      at: new Date(2026, 10, 17, 9, 5).getTime(),
      actor: "human:ada",
      data: { reason: null },
    },
  ],
  [
    "14:29  The quota of main is used up; its agents wait until 15:30.",
    { type: "quota.tripped", data: { account: "main", until: NOW + 3_600_000, trips: 1 } },
  ],
];

test.each(EVENTS)("EVT-1: %s", (line, event) => {
  expect(eventText({ ...AT, ...event } as EventOf, NOW)).toBe(line);
});

test("EVT-1: a line is cut at the edge of the terminal, and nowhere else", () => {
  const data = { commit: "c".repeat(40), target: "main", detail: LONG, files: [] };
  const text = eventText({ ...AT, type: "landing.refused", goalId: "goal_x", nodeId: "T1", data } as EventOf, NOW);
  const terminal = { line: () => {}, json: () => {}, remark: () => {}, colour: false, width: 80, interactive: true };
  const cut = fitLine(terminal as never, text);
  expect(Bun.stringWidth(cut)).toBe(80);
  expect(cut.endsWith("…")).toBe(true);
  expect(fitLine({ ...terminal, interactive: false } as never, text)).toBe(text);
});
