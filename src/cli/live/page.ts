/** How far a page scrolls: its lines at a width, and which of them are in sight. Pure. */
import { type Line, type Size, wrapLine } from "./line.ts";
import type { LivePage } from "./state.ts";

/** The title above and the keys below. */
const AROUND = 2;

let last: { readonly lines: readonly Line[]; readonly columns: number; readonly shown: readonly Line[] } | undefined;

/** Nothing is cut: the end of a line may be what one looks for. The last answer is kept: a page is drawn every second. */
export function wrapPage({ lines }: LivePage, columns: number): readonly Line[] {
  if (lines === null) return [];
  if (last?.lines !== lines || last.columns !== columns) {
    last = { lines, columns, shown: lines.flatMap((line) => wrapLine(line, columns)) };
  }
  return last.shown;
}

export function roomOfPage({ rows }: Size): number {
  return Math.max(1, rows - AROUND);
}

/** The first line in sight. */
export function topOf(page: LivePage, size: Size): number {
  const most = Math.max(0, wrapPage(page, size.columns).length - roomOfPage(size));
  return page.top === null ? most : Math.min(page.top, most);
}

/** Does it stay at the end while more is written there? */
export function followsEnd({ kind }: Pick<LivePage, "kind">): boolean {
  return kind === "agent" || kind === "log";
}

export function scrollPage(page: LivePage, by: number, size: Size): LivePage {
  const total = wrapPage(page, size.columns).length;
  const most = Math.max(0, total - roomOfPage(size));
  const top = Math.max(0, Math.min(topOf(page, size) + by, most));
  return { ...page, top: top === most && followsEnd(page) ? null : top };
}
