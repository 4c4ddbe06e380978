/** STATUS-1: what `status` prints: what needs somebody first, the rest in columns, and one sentence a line for a reader. */
import { expect, test } from "bun:test";
import type { Status } from "#control/status.ts";
import { standstill } from "#domain/explain/standstill.ts";
import { renderStatus } from "./status-page.ts";

const NOW = new Date(2026, 10, 18, 15, 0).getTime();
const MINUTE = 60_000;
const WIDE = { plain: false, colour: false, width: Number.POSITIVE_INFINITY };
const ESC = "\u001b";

const goal = (goalId: string, change: object) => ({
  ...{ goalId, title: "Parse dates", status: "active", priority: "normal", nodes: 4, unchanged: 0, costUsd: 1.5 },
  ...{ progress: { done: 1, total: 4, percent: 25 }, queued: 2, inProgress: 1, blocked: 0, createdAt: 0, updatedAt: 0 },
  ...change,
});
const agent = (change: object) => ({
  ...{ agent: "builder-1", attempt: 4, goalId: "goal_A", workNodeId: "T1", task: "Read ISO dates", depth: 0 },
  ...{ seen: "working", doing: "working", doingAt: NOW - 3 * MINUTE, costUsd: 0.2 },
  ...{ contextTokens: 50_000, contextWindow: 200_000, ...change },
});
const landing = {
  ...{ goalId: "goal_A", workNodeId: "T0", task: "Set up", agent: "builder-2", attempt: 3, branch: "b" },
  ...{ target: "main", commit: "c0ffee", tier: "clean-merge", costUsd: 0.004, at: NOW - 55 * MINUTE },
};
const entry = {
  ...{ branch: "overseer/x", target: "main", goalId: "goal_A", workNodeId: "T2", task: "Write", agent: "ada" },
  ...{ status: "testing", detail: null, queuedAt: NOW - 5 * MINUTE },
};
const QUIET = {
  ...{ project: "dates", root: "/home/ada/dates", target: "main", costUsd: 1.5, ready: [], landings: [] },
  ...{ goals: [], agents: [], questions: [], unreadMail: [], away: null, safeMode: null, configProblem: null },
  ...{
    notStarted: [],
    hold: null,
    frozen: null,
    off: [],
    unchecked: null,
    expertise: null,
    standstills: [],
    next: null,
    auto: null,
    guard: null,
  },
  mergeQueue: { waiting: 0, testing: 0, parked: 0, oldest: null, entries: [] },
  daemon: {
    state: "running",
    pid: 7,
    version: "0.1.0",
    lastTickAt: NOW - MINUTE,
    tickProblem: null,
    troubles: [],
    rings: [],
  },
} as unknown as Status;
const iso = (ms: number) => new Date(ms).toISOString();
const BUSY = {
  ...QUIET,
  goals: [goal("goal_A", {}), goal("goal_B", { status: "completed" })],
  agents: [agent({}), agent({ agent: "ada", attempt: 5, contextWindow: null, costUsd: 0, task: null, doing: "idle" })],
  landings: [landing],
  ready: [
    { goalId: "goal_A", workNodeId: "T3", task: "Print" },
    { goalId: "goal_A", workNodeId: "T4", task: "Test" },
  ],
  mergeQueue: { waiting: 0, testing: 1, parked: 0, oldest: null, entries: [entry] },
  standstills: [
    standstill("quota", {
      ...{ text: `QUOTA: x is used up until ${iso(NOW + MINUTE)} (overseer agents)`, command: "overseer agents" },
      turn: "itself",
    }),
    standstill("question", {
      text: `ASKED since ${iso(NOW - MINUTE)}: Which\u001b[2J? (overseer answer q_1)`,
      command: "overseer answer q_1",
    }),
  ],
  next: { text: "all are looked at again", nextAt: NOW + 3 * MINUTE },
} as unknown as Status;

test("STATUS-1: what waits for a person stands first, then trouble, then the rest in columns with short times", () => {
  expect(renderStatus(BUSY, NOW, WIDE)).toEqual([
    "Waits for you: 1",
    "  ASKED since 14:59: Which\ufffd[2J? (overseer answer q_1)",
    "",
    "Trouble: 1",
    "  QUOTA: x is used up until 15:01 (overseer agents)",
    "",
    "dates (/home/ada/dates), work lands on main",
    "Daemon: running (pid 7, version 0.1.0), last tick 14:59",
    "",
    "Goals: 1 open, 1 ended; $1.50 spent so far",
    "  goal_A  active  25 %  1/4 done  1 in progress  2 ready  $1.50  Parse dates",
    "",
    "Agents: 2: 1 working, 1 idle",
    "  builder-1#4  working  3 min  25 %  $0.20  goal_A/T1 Read ISO dates",
    "  ada#5        idle     3 min               goal_A/T1",
    "",
    "Merge queue: 0 waiting, 1 being tested, 0 parked",
    "  testing  since 14:55  goal_A/T2 Write",
    "",
    "Ready next: goal_A/T3 Print, goal_A/T4 Test",
    "",
    "Landed last",
    "  14:05  builder-2#3  <$0.01  goal_A/T0 Set up",
    "",
    "Next: all are looked at again (in 3 min)",
  ]);
});

test("STATUS-1: --plain is one sentence a line, without columns, colour or empty lines", () => {
  const lines = renderStatus(BUSY, NOW, { ...WIDE, plain: true, colour: true });
  expect(lines).toContain(
    "Agent builder-1#4 on goal_A/T1 Read ISO dates: working for 3 min, context 25 % full, $0.20 spent.",
  );
  expect(lines).toContain(
    "Goal goal_A, Parse dates, is active: 1 of 4 tasks done, 1 in progress, 2 ready, $1.50 spent.",
  );
  expect(lines).toContain("goal_A/T0 Set up landed on main at 14:05, by builder-2#3 for <$0.01.");
  expect(lines).toContain("goal_A/T2 Write is testing since 14:55.");
  expect(lines.filter((line) => line === "" || line.includes(ESC) || / {2}/.test(line))).toEqual([]);
});

test("STATUS-1: colour marks the words that need somebody, and nothing without a terminal is cut or coloured", () => {
  const coloured = renderStatus(BUSY, NOW, { plain: false, colour: true, width: 40 });
  expect(coloured).toContain(`${ESC}[33mWaits for you: 1${ESC}[0m`);
  expect(coloured.some((line) => line.startsWith(`  ${ESC}[31mQUOTA${ESC}[0m: x is`))).toBe(true);
  const widths = coloured.map((line) => Bun.stringWidth(Bun.stripANSI(line)));
  // Only the head and the last line are left to the terminal.
  expect(widths.filter((width) => width > 40).length).toBeLessThanOrEqual(5);
  expect(renderStatus(BUSY, NOW, WIDE).join("")).not.toContain(ESC);
});

test("STATUS-1, REV-1: a landing that was taken back is told as such, and does not count as landed", () => {
  const revert = { ...landing, agent: null, attempt: null, costUsd: 0, at: NOW - 5 * MINUTE, back: "reverts" };
  const landings = [revert, { ...landing, back: "reverted" }];
  const over = { ...QUIET, goals: [goal("goal_A", { status: "completed" })], landings } as unknown as Status;
  const lines = renderStatus(over, NOW, WIDE).map((line) => line.replace(/ +/g, " ").trim());
  expect(lines.slice(lines.indexOf("Landed on main: 0 tasks") + 1, -1)).toEqual([
    "14:55 a person took back goal_A/T0 Set up",
    "14:05 builder-2#3 <$0.01 goal_A/T0 Set up (taken back since)",
  ]);
});

test("STATUS-1: after the last task it tells what landed, by whom, for how much, and what stays open", () => {
  const over = { ...QUIET, goals: [goal("goal_A", { status: "completed", unchanged: 1 })], landings: [landing] };
  expect(renderStatus(over as unknown as Status, NOW, WIDE)).toEqual([
    "dates (/home/ada/dates), work lands on main",
    "Daemon: running (pid 7, version 0.1.0), last tick 14:59",
    "",
    "All work is over: 1 goal ended, for $1.50 in all",
    "Landed on main: 1 task, by builder-2",
    "  14:05  builder-2#3  <$0.01  goal_A/T0 Set up",
    "Without a change to land: 1 task",
    "Stays open: nothing",
  ]);
  const left = { ...over, questions: [{}], mergeQueue: { ...QUIET.mergeQueue, parked: 1, entries: [entry] } };
  const lines = renderStatus(left as unknown as Status, NOW, WIDE);
  expect(lines).toContain("Stays open: 1 question, 1 branch that has not landed");
  expect(lines).toContain("Not all is over, 1 landing in the queue: 1 goal ended, for $1.50 in all");
});

test("STATUS-1: a goal of which something was cancelled or taken back is not told as reached", () => {
  const progress = { done: 33, total: 33, percent: 88, cancelled: 3, takenBack: 1 };
  const goals = [goal("goal_A", { status: "completed", progress }), goal("goal_B", { status: "completed" })];
  const over = renderStatus({ ...QUIET, goals } as unknown as Status, NOW, WIDE);
  expect(over).toContain("1 of them reached, 1 in part, 0 given up.");
  expect(over).toContain("  goal_A  33 of 36 done; 3 cancelled; 1 taken back  Parse dates");
  const open = { ...QUIET, goals: [goal("goal_A", { progress })] } as unknown as Status;
  expect(renderStatus(open, NOW, WIDE).join("\n")).toContain("88 %  33/36 done  3 cancelled, 1 taken back");
  expect(renderStatus(open, NOW, { ...WIDE, plain: true }).join("\n")).toContain(
    "33 of 36 tasks done, 3 cancelled, 1 taken back",
  );
});

test("STATUS-1, AUTO-3: workers of auto mode stand apart, below the line that sums it up; their agents and goals are not told twice", () => {
  const worker = (name: string, change: object = {}) => ({
    ...{ name, standing: false, excluded: false, doing: "idle", sinceAt: null, attempt: null, node: null, task: null },
    ...change,
  });
  const busy = { doing: "working", sinceAt: NOW - 2 * MINUTE, attempt: 9, node: "goal_P/T1", task: "Fix it" };
  const auto = {
    ...{
      on: true,
      completed: 3,
      errors: 1,
      unchanged: 0,
      taken: 5,
      emptySinceAt: null,
      pausedAt: null,
      pausedReason: null,
    },
    workers: [worker("auto-1", busy), worker("auto-2"), worker("ben", { standing: true, excluded: true })],
    open: [{ goalId: "goal_P", source: "command", key: "k", takenAt: NOW }],
    ...{ failed: [], why: "the pool has no task now", failure: null },
    repeated: { goalId: "goal_P", at: NOW, times: 2 },
    refused: [{ file: "big.md", problem: "it has 99999 bytes" }],
  };
  const agents = [agent({ agent: "auto-1", attempt: 9, goalId: "goal_P" }), agent({})];
  const status = { ...BUSY, agents, auto, goals: [goal("goal_P", {}), goal("goal_A", {})] } as unknown as Status;
  const lines = renderStatus(status, NOW, WIDE).map((line) => line.replace(/ +/g, " ").trim());
  const at = lines.indexOf("Auto mode: 3 workers, 3 tasks completed, 1 error");
  expect(lines.slice(at + 1, at + 7)).toEqual([
    "auto-1#9 working 2 min goal_P/T1 Fix it",
    "auto-2 idle",
    "ben idle, by hand only",
    "No task is taken now: the pool has no task now.",
    "The pool gave goal_P again (2 times) while it is open; it is not done twice.",
    "Not taken: big.md (it has 99999 bytes).",
  ]);
  expect(lines.filter((line) => line.includes("auto-1#9"))).toHaveLength(1);
  expect(lines.some((line) => line.startsWith("goal_P"))).toBe(false);
  expect(lines).toContain("Goals: 1 open, 1 ended; $1.50 spent so far");
});
