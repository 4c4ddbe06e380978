/**
 * What each key does in the live view: the state it leads to, and what the person wants done by it. Pure: nothing is read,
 * written or drawn here.
 */
import { nodeKey } from "#domain/model/work.ts";
import { findContinuation } from "./continuation.ts";
import { type About, type Item, listItems, TABS, type Tab } from "./item.ts";
import type { LiveKey } from "./key.ts";
import { listKeyLines } from "./key-lines.ts";
import { EMPTY_LINE, makeLine, type Size } from "./line.ts";
import { beginEdit, EMPTY_EDIT } from "./line-edit.ts";
import { followsEnd, roomOfPage, scrollPage } from "./page.ts";
import { type Pressed, pressInPrompt } from "./press-prompt.ts";
import { listQuestionLines } from "./question-lines.ts";
import { cursorAmong, findPage, type LivePage, type LiveState, putCursor, tellNotice } from "./state.ts";
import { nameTask } from "./task-name.ts";
import type { View } from "./view.ts";

export function pressKey(before: LiveState, key: LiveKey, view: View, size: Size): Pressed {
  if (key.name === "ctrl-c") return { state: before, intent: { kind: "leave" } };
  if (before.prompt) return pressInPrompt(before, before.prompt, key);
  const state = { ...before, notice: null };
  if (key.text === "q") return { state, intent: { kind: "leave" } };
  const page = findPage(state);
  return page ? pressInPage(state, page, key, view, size) : pressInList(state, key, view, size);
}

const stay = (state: LiveState): Pressed => ({ state, intent: null });

function pressInPage(state: LiveState, page: LivePage, key: LiveKey, view: View, size: Size): Pressed {
  const scroll = (by: number) => stay({ ...state, pages: [...state.pages.slice(0, -1), scrollPage(page, by, size)] });
  if (key.name === "esc" || key.name === "backspace") return stay({ ...state, pages: state.pages.slice(0, -1) });
  if (page.kind === "keys" && key.text === "?") return stay({ ...state, pages: state.pages.slice(0, -1) });
  const by = scrollBy(key, roomOfPage(size));
  if (by !== null) return scroll(by);
  const { node } = page.about;
  if (page.kind === "review" && node !== undefined && (key.text === "y" || key.text === "x")) {
    const { commit } = page;
    if (commit === undefined) return stay(tellNotice(state, "It is not on the screen yet; look at it first.", true));
    if (key.text === "y") return accept(state, node, commit, view);
    return stay({ ...state, prompt: { kind: "reject", node, commit, edit: EMPTY_EDIT } });
  }
  if (page.kind === "question" && /^\d$/.test(key.text)) {
    const { state: asked } = pressAbout(state, page.about, { name: "text", text: "a" }, view);
    return asked.prompt ? pressInPrompt(asked, asked.prompt, key) : stay(asked);
  }
  return pressAbout(state, page.about, key, view);
}

/** How many lines a key moves; null where it moves none. */
function scrollBy(key: LiveKey, room: number): number | null {
  const named: Partial<Record<LiveKey["name"], number>> = {
    ...{ up: -1, down: 1, pgup: 1 - room, pgdn: room - 1 },
    ...{ home: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY },
  };
  const typed: Readonly<Record<string, number>> = {
    ...{ k: -1, j: 1, " ": room - 1 },
    ...{ g: Number.NEGATIVE_INFINITY, G: Number.POSITIVE_INFINITY },
  };
  return named[key.name] ?? typed[key.text] ?? null;
}

function pressInList(state: LiveState, key: LiveKey, view: View, size: Size): Pressed {
  const tab = tabOf(state.tab, key);
  if (tab) return stay({ ...state, tab, filter: tab === state.tab ? state.filter : "" });
  const items = listItems(view, state.tab, state.filter);
  const at = cursorAmong(state, items);
  const by = scrollBy(key, Math.max(2, size.rows - 6));
  if (by !== null) return stay(putCursor(state, items, at + by));
  if (key.name === "esc") return stay({ ...state, filter: "" });
  if (key.text === "/") return stay({ ...state, prompt: { kind: "filter", edit: beginEdit(state.filter) } });
  const item = items[at];
  if (key.name === "enter") return item ? enter(state, item, view) : stay(state);
  if (key.text === "r") return reviewFrom(state, item?.about ?? {}, view);
  return pressAbout(state, item?.about ?? {}, key, view);
}

/** What is finished at the cursor, else the oldest that waits for a review. */
function reviewFrom(state: LiveState, about: About, view: View): Pressed {
  const { node } = about;
  const waiting = view.status.standstills.find(({ kind }) => kind === "review")?.about ?? [];
  const [oldest] = waiting;
  const isHere = node !== undefined && (waiting.includes(node) || hasWork(node, view));
  if (isHere || oldest === undefined) return pressAbout(state, about, { name: "text", text: "r" }, view);
  const opened = open(state, { kind: "review", title: nameTask(oldest, view), about: { node: oldest } });
  return node === undefined
    ? opened
    : {
        ...opened,
        state: tellNotice(
          opened.state,
          `${nameTask(node, view)} has nothing to review yet; ${nameTask(oldest, view)} waits for you.`,
        ),
      };
}

/** Is there anything finished of it to look at? */
function hasWork(node: string, { work, merges }: View): boolean {
  return (
    work.some((one) => one.claim !== undefined && nodeKey(one.goalId, one.workNodeId) === node) ||
    merges.some((one) => nodeKey(one.goalId ?? "", one.workNodeId ?? "") === node)
  );
}

function tabOf(now: Tab, key: LiveKey): Tab | undefined {
  const at = TABS.indexOf(now);
  if (key.name === "tab" || key.name === "right") return TABS[(at + 1) % TABS.length];
  if (key.name === "backtab" || key.name === "left") return TABS[(at + TABS.length - 1) % TABS.length];
  return key.name === "text" && key.text.length === 1 ? TABS[Number(key.text) - 1] : undefined;
}

function enter(state: LiveState, item: Item, view: View): Pressed {
  const { about } = item;
  if (item.kind === "event") {
    const { seq, text } = item.event;
    const lines = [makeLine(item.event.about, "faint"), EMPTY_LINE, makeLine(text)];
    return show(state, { kind: "event", title: `event ${seq}`, about }, lines);
  }
  if (item.kind === "goal") return open(state, { kind: "goal", title: item.goal.title, about });
  const asked = view.status.questions.find(({ questionId }) => questionId === about.question);
  if (asked) {
    return show(state, { kind: "question", title: `question ${asked.number}`, about }, listQuestionLines(asked, view));
  }
  if (item.kind === "standstill" && item.hotkey !== "") {
    return pressAbout(state, about, { name: "text", text: item.hotkey }, view);
  }
  if (about.agent !== undefined) return lookInto(state, about, about.agent);
  return pressAbout(state, about, { name: "text", text: item.kind === "merge" ? "r" : "w" }, view);
}

function lookInto(state: LiveState, about: About, agent: string): Pressed {
  return open(state, { kind: "agent", title: `${agent}#${about.attempt}`, about });
}

/** Keys that mean what the cursor stands on, or what the page is about. */
function pressAbout(state: LiveState, about: About, key: LiveKey, view: View): Pressed {
  const { agent, attempt, node, goal } = about;
  switch (key.text) {
    case "?":
      return show(state, { kind: "keys", title: "Keys", about: {} }, listKeyLines());
    case "a": {
      const question = questionAbout(about, view);
      if (question === undefined) return stay(tellNotice(state, "No question is open."));
      return stay({ ...state, prompt: { kind: "answer", question, edit: EMPTY_EDIT } });
    }
    case "r":
      if (node === undefined) return stay(tellNotice(state, "Nothing waits for a review."));
      return open(state, { kind: "review", title: nameTask(node, view), about: { ...about, node } });
    case "n":
      if (agent === undefined) return stay(tellNotice(state, "Here is no agent to write to; move to one first."));
      return stay({ ...state, prompt: { kind: "write", agent, edit: EMPTY_EDIT } });
    case "s":
      if (agent === undefined || attempt === undefined) {
        return stay(tellNotice(state, "Here is no agent to stop; move to one first."));
      }
      return stay({ ...state, prompt: { kind: "stop", agent, attempt } });
    case "u": {
      const continuation = findContinuation(listItems(view, "fleet", ""), about);
      if (!continuation) return stay(tellNotice(state, "Nothing waits for you to let it continue."));
      return stay({ ...state, prompt: { kind: "continue", continuation } });
    }
    case "w": {
      const what = node ?? goal ?? about.question;
      if (what === undefined) return stay(tellNotice(state, "This is about the whole fleet; it says why itself."));
      return open(state, { kind: "why", title: `why ${nameTask(what, view)}`, about });
    }
    case "l": {
      const what = agent ?? node ?? goal;
      if (what === undefined) return stay({ ...state, tab: "log", pages: [] });
      return open(state, { kind: "log", title: `log of ${nameTask(what, view)}`, about });
    }
    default:
      return stay(state);
  }
}

/** The one that is meant here, else the oldest. */
function questionAbout(about: About, { status: { questions } }: View): string | undefined {
  const here = questions.find(
    ({ goalId, workNodeId }) => about.node !== undefined && nodeKey(goalId ?? "", workNodeId ?? "") === about.node,
  );
  return about.question ?? (here ?? questions[0])?.questionId;
}

type Wanted = Pick<LivePage, "kind" | "title" | "about">;

/** Opens a page that is read; the same page again takes its own place. */
function open(state: LiveState, wanted: Wanted): Pressed {
  const shown = show(state, wanted, null);
  const page = findPage(shown.state);
  return page ? { ...shown, intent: { kind: "open", page } } : shown;
}

function show(state: LiveState, wanted: Wanted, lines: LivePage["lines"]): Pressed {
  const page: LivePage = { ...wanted, id: state.nextId, lines, top: followsEnd(wanted) ? null : 0 };
  const others = state.pages.filter((one) => one.title !== page.title || one.kind !== page.kind);
  return stay({ ...state, pages: [...others, page], nextId: state.nextId + 1 });
}

function accept(state: LiveState, node: string, commit: string, view: View): Pressed {
  const text = `accepting ${nameTask(node, view)} …`;
  if (state.pending.some((one) => one.text === text)) return stay(tellNotice(state, `Already ${text}`));
  const { nextId: id } = state;
  const pages = state.pages.slice(0, -1);
  return {
    state: { ...state, pages, nextId: id + 1, pending: [...state.pending, { id, text }] },
    intent: { kind: "accept", id, node, commit },
  };
}
