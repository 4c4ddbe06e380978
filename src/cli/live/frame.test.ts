/** The live view's lines fit any size, and what does not fit is counted. */
import { expect, test } from "bun:test";
import type { Status } from "#control/status.ts";
import { frame, type Size } from "./frame.ts";

const agent = (attempt: number) => ({
  ...{
    agent: `builder-${attempt}`,
    attempt,
    goalId: "goal_X",
    workNodeId: `T${attempt}`,
    status: "running",
    capability: "builder",
  },
  ...{ runtime: "scripted", parent: null, depth: 0, inTurn: true, turns: 1, waitingOn: null, lastAt: 0 },
  seen: attempt === 3 ? "dead" : "working",
});
const STATUS = {
  ...{
    project: "日本 project",
    root: "/r",
    goals: [],
    unreadMail: [],
    questions: [],
    away: null,
    safeMode: null,
    configProblem: null,
    notStarted: [],
    standstills: [],
    next: null,
  },
  ...{ frozen: null, off: [], mergeQueue: { waiting: 0, testing: 0, parked: 0, oldest: null } },
  agents: Array.from({ length: 40 }, (_, index) => agent(index + 1)),
  daemon: { state: "running", tickProblem: null, troubles: [] },
} as unknown as Status;
const VIEW = { status: STATUS, pulses: new Map(), now: 65_000 };

test.each<Size>([
  { columns: 80, rows: 24 },
  { columns: 200, rows: 50 },
  { columns: 20, rows: 5 },
])("STATUS-1: at %o every line fits and every row is there", (size) => {
  for (const mode of [{ kind: "look" }, { kind: "help" }, { kind: "answer", typed: "x".repeat(300) }] as const) {
    const lines = frame(VIEW, mode, size);
    expect(lines).toHaveLength(size.rows);
    expect(lines.filter(({ text }) => Bun.stringWidth(text) > size.columns)).toEqual([]);
  }
});

test("STATUS-1: problems stand first, the dead before those at work, and the rest is counted", () => {
  const lines = frame(VIEW, { kind: "look" }, { columns: 80, rows: 24 }).map(({ text }) => text);
  expect(lines[1]).toBe("! builder-3#3 is dead (T3)");
  expect(lines[4]).toStartWith("builder-3#3 ");
  expect(lines[22]).toBe("  … 22 more");
});

test("ISO-1: a copy says so first, and does not advise to start its daemon", () => {
  const status = {
    ...STATUS,
    root: "/r",
    away: { standing: "copied", from: "/o" },
    daemon: { state: "stopped" },
  } as Status;
  const text = frame({ ...VIEW, status }, { kind: "look" }, { columns: 200, rows: 24 }).map((line) => line.text);
  expect(text[1]).toStartWith("! COPIED: /r is a copy of /o, and shares its agents and their worktrees. Work in the");
  expect(text.join("\n")).not.toContain("overseer up");
});
