/**
 * The whole screen of the live view as lines that fit a size: what it is called and how it stands on top, the tabs, what
 * the tab or the page shows, and at the bottom what is asked, what was said, and the keys. Pure: where the person is, what
 * is known of the fleet and a size go in, lines come out. What does not fit is counted, never silently left out.
 */

import { inert } from "#cli/text.ts";
import type { Status } from "#control/status.ts";
import { makeFleetBody } from "./fleet-frame.ts";
import { makeFooter } from "./footer-frame.ts";
import { listItems, TABS } from "./item.ts";
import {
  clipLine,
  clockTime,
  EMPTY_LINE,
  joinSpans,
  type Line,
  makeLine,
  type Size,
  type Tone,
  wrapWords,
} from "./line.ts";
import { roomOfPage, topOf, wrapPage } from "./page.ts";
import { cursorAmong, findPage, type LivePage, type LiveState } from "./state.ts";
import { makeGoalsBody, makeListBody } from "./tab-frames.ts";
import type { View } from "./view.ts";

export interface LiveFrame {
  readonly lines: readonly Line[];
  /** Where the caret stands while a line is written. */
  readonly caret: { readonly row: number; readonly column: number } | null;
}

const LEAST: Size = { columns: 30, rows: 6 };

export function makeFrame(state: LiveState, view: View, size: Size): LiveFrame {
  const { columns, rows } = size;
  if (columns < LEAST.columns || rows < LEAST.rows) return makeTooSmall(size);
  const footer = makeFooter(state, view, size);
  const page = findPage(state);
  const top = page ? [makePageTitle(page, size)] : [makeHeader(view), makeTabs(state, view)];
  const room = rows - top.length - footer.lines.length;
  const body = page ? makePageBody(page, size, room) : makeBody(state, view, { columns, rows: room });
  const lines = [...top, ...body.slice(0, room)];
  while (lines.length < rows - footer.lines.length) lines.push(EMPTY_LINE);
  const caret = footer.caret && { row: lines.length + footer.caret.row, column: footer.caret.column };
  return { lines: [...lines, ...footer.lines].map((line) => clipLine(line, columns)), caret };
}

function makeTooSmall({ columns, rows }: Size): LiveFrame {
  const why = `This window is too small: the live view needs ${LEAST.columns} by ${LEAST.rows}. q quits.`;
  const lines = wrapWords(why, Math.max(1, columns)).map((text) => makeLine(text));
  while (lines.length < rows) lines.push(EMPTY_LINE);
  return { lines: lines.slice(0, rows), caret: null };
}

function makeHeader({ status, now }: View): Line {
  const open = status.goals.filter((goal) => goal.status === "active" || goal.status === "paused").length;
  const { state } = status.daemon;
  const daemon: Tone = state === "running" && !status.frozen ? "plain" : "trouble";
  return joinSpans(
    [inert(status.project), "title"],
    ...(status.away?.standing === "copied"
      ? []
      : [[`  daemon ${state}${status.frozen ? ", frozen" : ""}`, daemon] as const]),
    ...(status.daemon.rings.some(({ degradedSince }) => degradedSince !== null)
      ? [["  DEGRADED", "trouble"] as const]
      : []),
    ...(status.guard?.alive ? [["  guarded", "plain"] as const] : []),
    ...(status.auto?.on ? [[tellAuto(status.auto), status.auto.errors > 0 ? "attention" : "plain"] as const] : []),
    ...(status.unchecked === null ? [] : [["  NO CHECKS", "trouble"] as const]),
    [`  ${tellCount(open, "open goal")}  ${tellCount(status.agents.length, "agent")}  $${status.costUsd.toFixed(2)}`],
    [`  ${clockTime(now, true)}`, "faint"],
  );
}

function tellAuto({ completed, errors }: NonNullable<Status["auto"]>): string {
  return `  auto: ${completed} done${errors > 0 ? `, ${tellCount(errors, "error")}` : ""}`;
}

function makeTabs(state: LiveState, { status }: View): Line {
  const asked = status.questions.length;
  const spans = TABS.map((tab, index) => {
    const name = `${index + 1} ${tab}${tab === "questions" && asked > 0 ? ` (${asked})` : ""}`;
    const tone: Tone = tab === "questions" && asked > 0 ? "attention" : "faint";
    return tab === state.tab ? ([`[${name}]`, "title"] as const) : ([` ${name} `, tone] as const);
  });
  return joinSpans(...spans, ...(state.filter ? [[`  /${inert(state.filter)}`, "attention"] as const] : []));
}

function makeBody(state: LiveState, view: View, size: Size): Line[] {
  const items = listItems(view, state.tab, state.filter);
  const at = cursorAmong(state, items);
  if (state.tab === "fleet") return makeFleetBody(items, at, view, size, state.filter);
  return state.tab === "goals" ? makeGoalsBody(items, at, view, size) : makeListBody(state, items, at, view, size);
}

function makePageTitle(page: LivePage, size: Size): Line {
  const total = wrapPage(page, size.columns).length;
  const end = Math.min(total, topOf(page, size) + roomOfPage(size));
  const place = page.lines === null ? "reading …" : `${end}/${total}`;
  return joinSpans([inert(page.title), "title"], [`  ${place}`, "faint"]);
}

function makePageBody(page: LivePage, size: Size, room: number): Line[] {
  const top = topOf(page, size);
  // What is asked below takes its lines from the end of a page that is read, and from the beginning of one that follows.
  const from = page.top === null ? top + roomOfPage(size) - room : top;
  return wrapPage(page, size.columns).slice(Math.max(0, from), Math.max(0, from) + room);
}

export function tellCount(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
