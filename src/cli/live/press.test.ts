/** CTL-1: what keys mean in the live view: where they lead, and what they ask to be done. */
import { expect, test } from "bun:test";
import { liveQuestion, liveStill, liveView } from "../../../test/support/live-views.ts";
import { listItems } from "./item.ts";
import { readKeys } from "./key.ts";
import { makeLine, readLine } from "./line.ts";
import { pressKey } from "./press.ts";
import {
  cursorAmong,
  FIRST_STATE,
  fillPage,
  holdCursor,
  type LiveIntent,
  type LiveState,
  settleIntent,
  tellClaim,
} from "./state.ts";
import type { View } from "./view.ts";

const SIZE = { columns: 80, rows: 24 };
const DEAD = liveStill("DEAD", { kind: "agent-dead", turn: "itself", about: ["builder-3#3", "goal_X/T3"] });
const REVIEW = liveStill("YOUR REVIEW", { kind: "review", about: ["goal_X/T1"] });
const ASKED = liveStill("ASKED", {
  kind: "question",
  about: ["goal_X/T1"],
  command: "overseer answer q_1 <choice or text>",
});
const VIEW = liveView(30, { standstills: [ASKED, DEAD, REVIEW], questions: [liveQuestion("Which?", ["a", "b"])] });
/** Behind the three that stand still: the dead one, then those at work. */
const [ESC, ENTER, DOWN, TO_AGENT] = ["\u001b", "\r", "\u001b[B", "jjj"];

function press(sent: string, start: LiveState = FIRST_STATE, view = VIEW): { state: LiveState; intents: LiveIntent[] } {
  const intents: LiveIntent[] = [];
  const state = readKeys(sent).reduce((before, key) => {
    const { state: after, intent } = pressKey(before, key, view, SIZE);
    if (intent) intents.push(intent);
    // A page is read at once here.
    const id = intent?.kind === "open" ? intent.page.id : -1;
    const lines = Array.from({ length: 100 }, (_, at) => makeLine(`${at}`));
    return fillPage(after, id, { lines, commit: "c0ffee" });
  }, start);
  return { state, intents };
}
const at = (state: LiveState, view = VIEW) => cursorAmong(state, listItems(view, state.tab, state.filter));
const open = (sent: string) => press(sent).state.pages.map(({ kind, title }) => `${kind} ${title}`);

const MOVES: [sent: string, at: number][] = [
  ["", 0],
  ["j", 1],
  [`${DOWN}${DOWN}k`, 1],
  ["k", 0],
  ["G", 32],
  ["\u001b[F\u001b[A", 31],
  ["Gg", 0],
  ["\u001b[4~\u001b[1~", 0],
  ["\u001b[6~", 17],
  ["\u001b[6~\u001b[5~j", 1],
];
test.each(MOVES)("CTL-1: the cursor moves: %j", (sent, expected) => {
  expect(at(press(sent).state)).toBe(expected);
});

test("CTL-1: the cursor stays on what it stands on while others come and go", () => {
  const { state } = press("G");
  const item = listItems(VIEW, "fleet", "")[32];
  const later = liveView(30, { standstills: [] });
  expect(listItems(later, "fleet", "")[at(state, later)]?.key).toBe(item?.key ?? "");
  const gone = liveView(29, { standstills: [] });
  expect(at(state, gone)).toBe(28);
  expect(at(press("j", state, gone).state, gone)).toBe(28);
});

test("CTL-1: the cursor follows its item through new orders, more reviews and restarts, and stays near where it was last", () => {
  const items = (view: View) => listItems(view, "fleet", "");
  const hold = (state: LiveState, view: View) => holdCursor(state, items(view));
  // Never moved: what stands first keeps the cursor when something comes before it.
  const first = hold(FIRST_STATE, liveView(3, { standstills: [REVIEW] }));
  const joined = liveStill("YOUR REVIEW", { kind: "review", about: ["goal_X/T0", "goal_X/T1"] });
  const more = liveView(3, { standstills: [ASKED, joined], questions: VIEW.status.questions });
  expect(at(hold(first, more), more)).toBe(1);
  // Its agent died and is the first row now; restarted it is the same agent.
  const agents = liveView(5, {}).status.agents.filter(({ attempt }) => attempt !== 3);
  const start = liveView(0, { agents });
  const last = hold(press("G", FIRST_STATE, start).state, start);
  const moved = liveView(0, { agents: agents.map((one) => (one.attempt === 5 ? { ...one, seen: "dead" } : one)) });
  const after = hold(last, moved);
  expect([at(last, start), at(after, moved)]).toEqual([3, 0]);
  const again = liveView(0, { agents: agents.map((one) => (one.attempt === 5 ? { ...one, attempt: 9 } : one)) });
  expect(at(after, again)).toBe(3);
  // Gone, it stays near the row it had at last, not the one it had when somebody moved.
  const gone = liveView(0, { agents: agents.filter(({ attempt }) => attempt !== 5) });
  expect(at(hold(after, gone), gone)).toBe(0);
  // A filter hides its item only for a while.
  const filtered = holdCursor({ ...after, filter: "builder-1" }, listItems(moved, "fleet", "builder-1"));
  expect(at({ ...filtered, filter: "" }, moved)).toBe(0);
});

const TABS_OF: [sent: string, tab: string][] = [
  ["\t", "goals"],
  ["\t\t\u001b[Z", "goals"],
  ["\u001b[Z", "log"],
  ["4", "questions"],
  ["31", "fleet"],
];
test.each(TABS_OF)("CTL-1: tabs: %j", (sent, tab) => {
  expect(press(sent).state.tab).toBe(tab as LiveState["tab"]);
});

const PAGES: [what: string, sent: string, pages: string[]][] = [
  ["Enter looks into the agent", TO_AGENT + ENTER, ["agent builder-3#3"]],
  ["Enter on a question shows it whole", ENTER, ["question question 7"]],
  ["Enter on a review opens it", `j${ENTER}`, ["review T1 Task 1"]],
  ["r reviews what waits, where nothing here is done", `${TO_AGENT}r`, ["review T1 Task 1"]],
  ["r on the page of an agent means its task", `${TO_AGENT}${ENTER}r`, ["agent builder-3#3", "review T3 Task 3"]],
  ["w says why", `${TO_AGENT}w`, ["why why T3 Task 3"]],
  ["l shows its log", `${TO_AGENT}l`, ["log log of builder-3"]],
  ["a page over a page, and back", `${TO_AGENT}${ENTER}w${ESC}`, ["agent builder-3#3"]],
  ["the same page is not opened twice", `${TO_AGENT}${ENTER}w${ENTER}w`, ["agent builder-3#3", "why why T3 Task 3"]],
  ["? shows the keys, and hides them", "??", []],
];
test.each(PAGES)("CTL-1: pages: %s", (_what, sent, pages) => {
  expect(open(sent)).toEqual(pages);
});

test("CTL-1: a page scrolls, and one that follows its end does so again at the end", () => {
  const top = (sent: string) => press(sent).state.pages[0]?.top;
  expect(top(TO_AGENT + ENTER)).toBeNull();
  expect(top(`${TO_AGENT}${ENTER}k`)).toBe(77);
  expect(top(`${TO_AGENT}${ENTER}kj`)).toBeNull();
  expect(top(`${TO_AGENT}${ENTER}g\u001b[6~`)).toBe(21);
  expect(top("jrG")).toBe(78);
});

const DEEDS: [what: string, sent: string, intent: object][] = [
  ["an answer by number", `a2${ENTER}`, { kind: "answer", question: "q_1", words: "2" }],
  ["from the page of a question", `${ENTER}amy own words${ENTER}`, { kind: "answer", words: "my own words" }],
  ["a choice on the page of a question", `${ENTER}2${ENTER}`, { kind: "answer", question: "q_1", words: "2" }],
  ["the oldest question, from anywhere", `G\u001b[A\u001b[Aa1${ENTER}`, { kind: "answer", question: "q_1" }],
  ["a review that is accepted", "jry", { kind: "accept", node: "goal_X/T1", commit: "c0ffee" }],
  [
    "one that is sent back",
    `jrxToo long${ENTER}`,
    { kind: "reject", node: "goal_X/T1", commit: "c0ffee", reason: "Too long" },
  ],
  ["a note", `${TO_AGENT}nHello there${ENTER}`, { kind: "write", agent: "builder-3", text: "Hello there" }],
  ["an agent is stopped", `${TO_AGENT}sy`, { kind: "stop", agent: "builder-3", attempt: 3 }],
  ["from its page too", `${TO_AGENT}${ENTER}sy`, { kind: "stop", agent: "builder-3" }],
  ["q leaves", "q", { kind: "leave" }],
  ["q leaves a page too", `${TO_AGENT}${ENTER}q`, { kind: "leave" }],
  ["Ctrl-C leaves, also while writing", "a\u0003", { kind: "leave" }],
];
test.each(DEEDS)("CTL-1: what is to be done: %s", (_what, sent, intent) => {
  const { state, intents } = press(sent);
  expect(intents.at(-1)).toMatchObject(intent);
  const isShown = intents.at(-1)?.kind !== "leave";
  expect(state.pending).toHaveLength(isShown ? 1 : 0);
});

const GOES_ON: [command: string, about: string[], continuation: object | null][] = [
  ["overseer work unblock goal_X/T2", ["goal_X/T2"], { how: "unblock", what: "goal_X/T2" }],
  ["overseer restart builder-2", ["goal_X/T2"], { how: "restart", what: "builder-2" }],
  ["overseer resume builder-2", ["builder-2#2", "goal_X/T2"], { how: "resume", what: "builder-2" }],
  ["overseer goal resume goal_X", ["goal_X"], { how: "resume-goal", what: "goal_X" }],
  ["overseer goal plan goal_X --file plan.yaml", ["goal_X"], null],
  ["overseer restart <agent>", ["goal_X/T2"], null],
];
test.each(GOES_ON)("CTL-1: u lets continue what waits, after a yes: %s", (command, about, continuation) => {
  const other = liveStill("YOURS", { command: "overseer restart builder-9", about: ["goal_X/T9"] });
  const mine = liveStill("YOURS", { command, about });
  const view = liveView(3, { standstills: [other, mine] });
  const item = listItems(view, "fleet", "")[1];
  const key = item?.kind === "standstill" ? `[${item.hotkey}] ${item.text}` : "";
  expect(key).toBe(continuation ? "[u] YOURS" : `[] YOURS (${command})`);
  const done = press("juy", FIRST_STATE, view);
  const wanted = continuation ?? { how: "restart", what: "builder-9" };
  expect(done.intents).toEqual([{ kind: "continue", id: 1, continuation: wanted } as LiveIntent]);
  for (const sent of ["jun", `ju${ESC}`]) expect(press(sent, FIRST_STATE, view).intents).toEqual([]);
  if (continuation) expect(press(`j${ENTER}y`, FIRST_STATE, view).intents).toEqual(done.intents);
});

const NOTHING: [what: string, sent: string][] = [
  ["Esc leaves an answer", `a2${ESC}`],
  ["an empty answer is none", `a${ENTER}`],
  ["a choice on the page of a question, and Esc", `${ENTER}2${ESC}`],
  ["q is a letter in a line", `aq${ESC}`],
  ["stop without a yes", `${TO_AGENT}sn`],
  ["stop and Esc", `${TO_AGENT}s${ESC}`],
  ["Esc leaves a reason", `${TO_AGENT}n${ESC}`],
];
test.each(NOTHING)("CTL-1: nothing is done: %s", (_what, sent) => {
  const { state, intents } = press(sent);
  expect([intents, state.prompt, state.pending]).toEqual([[], null, []]);
});

test("REV-1: work is not sent back without a reason, and not accepted twice at once", () => {
  const asked = press(`jrx${ENTER}`).state;
  expect(asked.prompt).toMatchObject({ kind: "reject" });
  expect(asked.notice).toMatchObject({ isTrouble: true });
  const twice = press("jryry");
  expect(twice.intents.filter(({ kind }) => kind === "accept")).toHaveLength(1);
  expect(twice.state.notice?.text).toBe("Already accepting T1 Task 1 …");
});

test("REV-1: nobody decides about a review that is not on the screen yet, and one that was overtaken says so", () => {
  const unread = pressKey(press("j").state, { name: "text", text: "r" }, VIEW, SIZE).state;
  for (const sent of ["y", "x"]) {
    const { state, intent } = pressKey(unread, { name: "text", text: sent }, VIEW, SIZE);
    expect([intent, state.prompt, state.notice?.isTrouble]).toEqual([null, null, true]);
  }
  const shown = press("jr").state;
  const id = shown.pages[0]?.id ?? 0;
  const told = (claimed: string | null, state = shown) => tellClaim(state, id, claimed);
  expect(told("c0ffee")).toBe(shown);
  const overtaken = told("beef");
  expect(readLine(overtaken.pages[0]?.lines?.[0] ?? makeLine(""))).toContain("beef");
  expect(overtaken.notice?.text).toContain("r shows it");
  expect(told("beef", overtaken)).toBe(overtaken);
  expect(told(null).notice?.text).toContain("waits for a review no more");
  expect(press("y", overtaken).intents).toMatchObject([{ kind: "accept", commit: "c0ffee" }]);
});

test("CTL-1: a filter shows what has its words, Enter keeps it, Esc shows all", () => {
  const found = (sent: string) => listItems(VIEW, "fleet", press(sent).state.filter).length;
  expect(found("/builder-12")).toBe(1);
  expect(found(`/builder-1${ENTER}`)).toBe(11);
  expect(found(`/builder-1${ESC}`)).toBe(33);
  expect(found(`/builder-1${ENTER}${ESC}`)).toBe(33);
  expect(open(`/builder-12${ENTER}${ENTER}`)).toEqual(["agent builder-12#12"]);
});

test("CTL-1: what fails is told, and a page that could not be read goes away", () => {
  const { state } = press("jry");
  const failed = settleIntent(state, state.pending[0]?.id ?? 0, "Not landed. Look.", true);
  expect([failed.pending, failed.notice]).toEqual([[], { text: "Not landed. Look.", isTrouble: true }]);
  const opened = pressKey(press(TO_AGENT + ENTER).state, { name: "text", text: "r" }, VIEW, SIZE).state;
  expect(settleIntent(opened, opened.pages[1]?.id ?? 0, "Nothing to review.", true).pages).toHaveLength(1);
});

const REFUSED: [what: string, sent: string, prompt: object][] = [
  ["an answer", `a9${ENTER}`, { kind: "answer", question: "q_1" }],
  ["an answer from its page", `${ENTER}9${ENTER}`, { kind: "answer", question: "q_1" }],
  ["a reason", `jrxToo long${ENTER}`, { kind: "reject", node: "goal_X/T1" }],
  ["a note", `${TO_AGENT}nHello${ENTER}`, { kind: "write", agent: "builder-3" }],
];
test.each(REFUSED)(
  "CTL-1: what is refused is asked again, with its words and what is wrong: %s",
  (_what, sent, prompt) => {
    const { state } = press(sent);
    const written = press(sent.slice(0, -1)).state;
    const failed = settleIntent(state, state.pending[0]?.id ?? 0, "There is no choice 9.", true);
    expect(failed.prompt).toMatchObject(prompt);
    expect(failed.prompt).toEqual(written.prompt);
    // What is wrong stays in sight while it is put right; Enter sends it again, Esc leaves it.
    const mended = press("\u007f1", failed);
    expect(mended.state.notice?.text).toBe("There is no choice 9.");
    expect(press(ENTER, mended.state).intents).toHaveLength(1);
    expect(press(ESC, mended.state).state).toMatchObject({ prompt: null, notice: null });
    // Whoever writes something else meanwhile goes on with that.
    const other = settleIntent(press(`${ESC}/`, state).state, state.pending[0]?.id ?? 0, "No.", true);
    expect([other.prompt?.kind, other.notice?.text]).toEqual(["filter", "No."]);
  },
);

test("CTL-1: the page of a question says who asks what, with its choices, and closes when it is answered", () => {
  const { state } = pressKey(FIRST_STATE, { name: "enter", text: "" }, VIEW, SIZE);
  const said = state.pages[0]?.lines?.map(readLine) ?? [];
  for (const text of ["builder-1#1 asks about T1 Task 1", "Which?", "1. a", "2. b"]) expect(said).toContain(text);
  const sent = press(`2${ENTER}`, state).state;
  expect(sent.pages).toHaveLength(1);
  expect(settleIntent(sent, sent.pending[0]?.id ?? 0, "Answered.", false).pages).toEqual([]);
});

test.each(["r", "n", "s", "w", "a", "u"])("CTL-1: %s says what it needs where there is nothing of the kind", (sent) => {
  const { state, intents } = press(sent, FIRST_STATE, liveView(0));
  expect([state.notice !== null, intents]).toEqual([true, []]);
});
