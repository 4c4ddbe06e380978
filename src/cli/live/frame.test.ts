/** STATUS-1: the live view's lines fit any size, what needs somebody stands first, and what does not fit is counted. */
import { expect, test } from "bun:test";
import type { Status } from "#control/status.ts";
import { liveAgent, liveQuestion, liveStill, liveView } from "../../../test/support/live-views.ts";
import { isNoticeOver } from "./footer-frame.ts";
import { makeFrame } from "./frame.ts";
import { TABS } from "./item.ts";
import { makeLine, readLine, type Size } from "./line.ts";
import { beginEdit } from "./line-edit.ts";
import { FIRST_STATE, type LivePage, type LiveState, type Prompt } from "./state.ts";
import type { View } from "./view.ts";

const draw = (view: View, size: Size, state: Partial<LiveState> = {}) =>
  makeFrame({ ...FIRST_STATE, ...state }, view, size).lines.map(readLine);

const SMALL: Size = { columns: 50, rows: 10 };
const USUAL: Size = { columns: 80, rows: 24 };
const LARGE: Size = { columns: 200, rows: 50 };
const SIZES: Size[] = [SMALL, USUAL, LARGE, { columns: 20, rows: 5 }];

const LONG = "It failed again and again. ".repeat(12);
const QUESTION = liveQuestion(`${LONG}Name another model in the role`, ["try again", "日本語 ".repeat(40)]);
const STILLS = Array.from({ length: 9 }, (_, at) =>
  liveStill(`${LONG} 日本 (${at}) \u001b[2J`, { about: [`goal_X/T${at}`] }),
);
const PAGE: LivePage = {
  ...{ id: 1, kind: "agent", title: "builder-1#1", about: {}, top: null },
  lines: Array.from({ length: 200 }, (_, at) => makeLine(`${at} ${"日".repeat(at)}`)),
};
const PROMPTS: Prompt[] = [
  { kind: "answer", question: "q_1", edit: beginEdit("日本".repeat(200)) },
  { kind: "reject", node: "goal_X/T1", commit: "c0ffee", edit: beginEdit("") },
  { kind: "write", agent: "builder-1", edit: beginEdit("x") },
  { kind: "filter", edit: beginEdit("b") },
  { kind: "stop", agent: "builder-1", attempt: 1 },
  { kind: "continue", continuation: { how: "unblock", what: "goal_X/T1" } },
];
const STATES: Partial<LiveState>[] = [
  ...TABS.map((tab) => ({ tab })),
  { pages: [PAGE] },
  { pages: [{ ...PAGE, top: 3 }] },
  { pages: [{ ...PAGE, lines: null }] },
  { notice: { text: LONG, isTrouble: true }, pending: [{ id: 1, text: "accepting goal_X/T1 …" }] },
  ...PROMPTS.map((prompt) => ({ prompt, notice: { text: "Said before.", isTrouble: false } })),
];

test.each(SIZES.flatMap((size) => [0, 3, 30, 300].map((agents) => [size.columns, size.rows, agents] as const)))(
  "STATUS-1: at %i × %i with %i agents every line fits, every row is there, and no sign of an agent's steers the screen",
  (columns, rows, agents) => {
    for (const standstills of [[], STILLS.slice(0, 1), STILLS]) {
      const view = liveView(agents, { standstills, questions: [QUESTION] });
      for (const state of STATES) {
        const frame = makeFrame({ ...FIRST_STATE, ...state }, view, { columns, rows });
        const lines = frame.lines.map(readLine);
        expect(lines).toHaveLength(rows);
        expect(lines.filter((text) => Bun.stringWidth(text) > columns || /\p{Cc}/u.test(text))).toEqual([]);
        if (frame.caret) {
          expect(frame.caret.row).toBe(rows - 1);
          expect(frame.caret.column).toBeLessThan(columns);
        }
      }
    }
  },
);

test("STATUS-1: what waits for the person stands first, then trouble, then the agents; the rest is counted", () => {
  const standstills = [
    liveStill("DEAD: builder-3#3 on goal_X/T3", { turn: "itself", about: ["builder-3#3", "goal_X/T3"] }),
    liveStill("YOUR REVIEW: goal_X/T1", { kind: "review", about: ["goal_X/T1"] }),
  ];
  const lines = draw(liveView(40, { standstills }), USUAL);
  expect(lines.slice(2, 7)).toEqual([
    "Waits for you",
    "› [r] YOUR REVIEW: T1 Task 1",
    "Trouble",
    "! DEAD: builder-3#3 on T3 Task 3",
    "",
  ]);
  expect(lines[8]).toStartWith("  AGENT ");
  expect(lines[9]).toStartWith("  builder-3#3    T3 ");
  expect(lines[22]).toBe("  … 27 more");
});

test.each([SMALL, USUAL, LARGE])("STATUS-1: however much waits, agents stay in sight at %o", (size) => {
  const lines = draw(liveView(300, { standstills: STILLS }), size);
  expect(lines.filter((text) => text.includes("builder-")).length).toBeGreaterThan(1);
  expect(lines.some((text) => /… \d more/.test(text))).toBe(true);
});

test("STATUS-1: a question is shown whole while there is room, with its choices", () => {
  const text = `ASKED about goal_X/T1: ${LONG}Name another model in the role (overseer answer q_1: 1. try again)`;
  const standstills = [liveStill(text, { kind: "question", command: "overseer answer q_1 <choice or text>" })];
  const view = liveView(3, { standstills, questions: [QUESTION] });
  for (const size of [USUAL, LARGE]) {
    const shown = draw(view, size)
      .map((one) => one.split("│")[0])
      .join(" ");
    expect(shown.replace(/\s+/g, " ")).toContain("Name another model in the role (overseer answer q_1: 1. try again)");
    expect(shown).toContain("[a] ASKED");
  }
  const tab = draw(view, USUAL, { tab: "questions" }).join(" ").replace(/\s+/g, " ");
  expect(tab).toContain("Name another model in the role 1. try again");
});

test("STATUS-1: the cursor is in sight wherever it stands, with 30 and with 300 agents", () => {
  for (const agents of [30, 300]) {
    for (const index of [0, 1, 14, agents - 2, agents - 1]) {
      const state = { places: { ...FIRST_STATE.places, fleet: { key: null, index } } };
      for (const size of [SMALL, USUAL, LARGE]) {
        const chosen = makeFrame({ ...FIRST_STATE, ...state }, liveView(agents), size).lines.filter(
          (line) => line.chosen,
        );
        expect(chosen.map(readLine).map((text) => text.slice(0, 2))).toEqual(["› "]);
      }
    }
  }
});

test("STATUS-1: a wide screen is used: goals, landings, money and the log stand beside the agents", () => {
  const view = liveView(30, {
    ...{ costUsd: 20.5, agents: Array.from({ length: 30 }, (_, at) => liveAgent(at + 1, { costUsd: 0.5 })) },
    goals: [
      {
        ...{ goalId: "goal_X", title: "Dates", status: "active", progress: { done: 1, total: 4, percent: 25 } },
        ...{ inProgress: 2, queued: 3, costUsd: 1.5 },
      },
    ] as unknown as Status["goals"],
    ready: [{ goalId: "goal_X", workNodeId: "T8", task: "Parse", priority: "normal" }] as unknown as Status["ready"],
    landings: [{ workNodeId: "T7", task: "Print", agent: "ada", at: 0, costUsd: 0.7 }] as unknown as Status["landings"],
    mergeQueue: {
      ...{ waiting: 0, testing: 1, parked: 0, oldest: null },
      entries: [{ workNodeId: "T9", task: "Sort", status: "testing", queuedAt: 5_000, detail: null }],
    } as unknown as Status["mergeQueue"],
  });
  const right = draw(view, LARGE).map((text) => text.split(" │ ")[1] ?? "");
  for (const text of [
    ...["Goals", "██", "1/4 done, 2 in progress, $1.50  Dates", "T9 Sort, testing for 1 min", "Ready (3)", "T8 Parse"],
    ...["T7 Print, ada, $0.70", "$20.50 in all, $15.00 by those at work", "$0.50 builder-1#1", "Event 40"],
  ]) {
    expect(right.join("\n")).toContain(text);
  }
});

const goal = (goalId: string, status: string, [done, total]: [number, number]) => ({
  ...{ goalId, title: `Title of ${goalId}`, status, inProgress: 0, queued: 0, costUsd: 0 },
  progress: { done, total, percent: total === 0 ? 0 : (done / total) * 100 },
});

test("STATUS-1: open goals stand before those that have ended, and of none tasks are counted that it has not", () => {
  const goals = [
    goal("goal_A", "cancelled", [0, 0]),
    goal("goal_B", "done", [2, 2]),
    goal("goal_C", "active", [0, 0]),
    goal("goal_D", "paused", [1, 2]),
  ] as unknown as Status["goals"];
  expect(draw(liveView(0, { goals }), USUAL, { tab: "goals" }).slice(2, 6)).toEqual([
    "› ░░░░░░░░░░ no tasks yet  Title of goal_C",
    "  █████░░░░░ 1/2 done, 0 in progress  paused  Title of goal_D",
    "             cancelled  Title of goal_A",
    "  ██████████ 2/2 done  done  Title of goal_B",
  ]);
});

test("STATUS-1: a line of the log takes two lines where it needs them, and no goal is named where one alone is open", () => {
  const text = "10:00  builder-1#1  landed goal_A/T1 on main as 0123456789, and what had waited for goal_A/T1 begins";
  const log = [{ seq: 1, text, about: "goal_A/T1" }];
  const right = (more: readonly object[]) => {
    const goals = [goal("goal_A", "active", [0, 1]), ...more] as unknown as Status["goals"];
    const shown = draw({ ...liveView(1, { goals }), log }, { columns: 150, rows: 30 });
    return shown.map((one) => one.split(" │ ")[1] ?? "").filter((one) => /landed|begins/.test(one));
  };
  expect(right([])).toEqual([
    "  10:00  builder-1#1  landed T1 on main as",
    "    0123456789, and what had waited for T1 begins",
  ]);
  expect(right([goal("goal_B", "active", [0, 1])])[0]).toContain("landed goal_A/T1");
});

test("STATUS-1: cost and context are shown during the first turn too", () => {
  const agent = liveAgent(1, { turns: 0, contextWindow: null, costUsd: 0.25 });
  const view = { ...liveView(1, { agents: [agent] }), windows: { m: 200_000 } };
  expect(draw(view, USUAL).join("\n")).toMatch(/1 min +20 % +\$0\.25/);
  expect(draw({ ...view, windows: {} }, USUAL).join("\n")).toMatch(/1 min +40k +\$0\.25/);
});

test("STATUS-1: what was said does not take the keys away, or for a few seconds where there is no room for both", () => {
  const notice = { text: "Answered.", isTrouble: false };
  for (const size of [{ columns: 80, rows: 12 }, LARGE]) {
    const lines = draw(liveView(3), size, { notice });
    expect([lines.at(-2), lines.at(-1)?.slice(0, 6), isNoticeOver(60_000, size)]).toEqual([
      "Answered.",
      "q quit",
      false,
    ]);
  }
  expect(draw(liveView(3), SMALL, { notice }).at(-1)).toBe("Answered.");
  expect([isNoticeOver(4_999, SMALL), isNoticeOver(5_000, SMALL)]).toEqual([false, true]);
});

test("STATUS-1: too small a window says so", () => {
  expect(draw(liveView(3), { columns: 20, rows: 5 }).join(" ")).toContain("too small");
});

test("ISO-1: a copy says so first, and does not advise to start its daemon", () => {
  const more = {
    away: { standing: "copied", from: "/o" },
    daemon: { state: "stopped", rings: [] },
  } as unknown as Partial<Status>;
  const text = draw(liveView(3, more), { columns: 130, rows: 24 });
  expect(text[3]).toStartWith("› COPIED: /r is a copy of /o, and shares its agents and their worktrees. Work in the");
  expect(text.join("\n")).not.toContain("overseer up");
  expect(text[0]).not.toContain("daemon");
});

test("DEGR-1: the first line says that agents are judged by thresholds alone, as status does", () => {
  const view = liveView(1);
  const ring = { ring: "watch", cycles: 3, failures: 1, lastAt: 1, degradedSince: 5 };
  const rings: Status["daemon"]["rings"] = [ring];
  const blind = { ...view, status: { ...view.status, daemon: { ...view.status.daemon, rings } } };
  expect(draw(blind, LARGE)[0]).toContain("DEGRADED");
  expect(draw(view, LARGE)[0]).not.toContain("DEGRADED");
});
