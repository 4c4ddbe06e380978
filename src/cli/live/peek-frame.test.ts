/** One agent's screen fits any size, shows the end of what it said, and says its status. */
import { expect, test } from "bun:test";
import type { AgentView } from "#control/agents.ts";
import { readLine, type Size, toLines } from "./line.ts";
import { peekFrame } from "./peek-frame.ts";

const AGENT = {
  ...{ agent: "ada", attempt: 3, workNodeId: "T1", seen: "working", waiting: null, endedAt: null, updatedAt: 1_000 },
  pulse: { turnSince: 5_000, lastAt: 60_000, contextTokens: 40, contextWindow: 100, usage: { costUsd: 0.5 } },
} as unknown as AgentView;
const TEXT = Array.from({ length: 100 }, (_, at) => `line ${at} of 日本 \u001b[31m${"x".repeat(at)}`).join("\n");

test.each<Size>([
  { columns: 80, rows: 24 },
  { columns: 200, rows: 50 },
  { columns: 20, rows: 3 },
])("STATUS-1: at %o every line fits, every row is there and nothing of the agent's steers the screen", (size) => {
  const lines = peekFrame({ agent: AGENT, said: toLines(TEXT), now: 65_000 }, size).map(readLine);
  expect(lines).toHaveLength(size.rows);
  expect(lines.filter((text) => Bun.stringWidth(text) > size.columns || text.includes("\u001b"))).toEqual([]);
  expect(lines.at(-2)).toEndWith("x");
});

const STATES: [what: string, change: Partial<AgentView>, header: string][] = [
  ["at work", {}, "ada#3  T1  working for 1 min  context 40 %  $0.50"],
  ["idle", { seen: "idle" }, "ada#3  T1  idle for 5 s  context 40 %  $0.50"],
  ["finished", { seen: "idle", doing: "waiting for review" }, "ada#3  T1  waiting for review for 5 s  context 40 %"],
  ["waiting", { seen: "waiting", waiting: { on: ["w1"], since: 62_000 } }, "ada#3  T1  waiting on w1 for 3 s"],
  ["starting", { seen: "starting", pulse: null }, "ada#3  T1  starting for 1 min"],
  ["ended", { seen: "ended", endedAt: 35_000 }, "ada#3  T1  ended for 30 s"],
];
test.each(STATES)("STATUS-1: its header says who, at what and for how long: %s", (_what, change, header) => {
  const agent: AgentView = { ...AGENT, doing: change.seen ?? "working", ...change };
  const lines = peekFrame({ agent, said: [], now: 65_000 }, { columns: 80, rows: 4 }).map(readLine);
  expect(lines[0]).toStartWith(header);
  expect(lines.at(-1)).toBe(change.seen === "ended" ? "It has ended.  q quit" : "q quit; ada continues either way");
});
