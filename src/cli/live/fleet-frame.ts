/**
 * The first tab: what waits for the person, what is in trouble, and the agents with what they do; beside them, or below
 * where there is room, goals, the queue, landings, money and the end of the log. Pure.
 */
import { tellWhen, withShortTimes } from "#cli/short-time.ts";
import { inert } from "#cli/text.ts";
import { countDoing } from "#domain/explain/doing.ts";
import { makeAgentRows } from "./agent-rows.ts";
import type { Item } from "./item.ts";
import { clipToColumns, cutWindow, EMPTY_LINE, type Line, makeLine, putBeside, type Size, wrapWords } from "./line.ts";
import { listSections, type Section } from "./sections.ts";
import type { View } from "./view.ts";

/** From here on there is room beside the agents. */
const WIDE = 140;
const SIDE = 0.36;

/** While there is a filter, what it does not look at is not shown. */
export function makeFleetBody(items: readonly Item[], at: number, view: View, size: Size, filter: string): Line[] {
  if (filter.trim() !== "") {
    if (items.length > 0) return makeMain(items, at, view, size, false);
    return wrapWords(`Nothing here has "${inert(filter)}" in it; Esc shows all.`, size.columns).map((text) =>
      makeLine(text, "faint"),
    );
  }
  if (size.columns < WIDE || size.rows < 12) return makeMain(items, at, view, size, true);
  const side = Math.floor(size.columns * SIDE);
  const main = size.columns - side - 3;
  const left = makeMain(items, at, view, { columns: main, rows: size.rows }, false);
  while (left.length < size.rows) left.push(EMPTY_LINE);
  return putBeside(left, fitSections(listSections(view, { columns: side, rows: size.rows }), size.rows), main);
}

function makeMain(items: readonly Item[], at: number, view: View, { columns, rows }: Size, below: boolean): Line[] {
  const stills = items.filter(({ kind }) => kind === "standstill");
  const agents = items.slice(stills.length);
  const blocks = makeStillBlocks(stills, at, columns, view.now);
  const tall = blocks.flat().length;
  const next = makeNext(view, columns);
  const isRoomy = rows >= 10;
  const gap = isRoomy && tall > 0 ? 1 : 0;
  const head = agents.length > 0 && isRoomy ? 2 : 0;
  const last = isRoomy ? next.length : 0;
  const left = rows - gap - head - last;
  const share = Math.max(left - agents.length, Math.ceil(left * 0.45));
  const most = Math.min(tall, share);
  const above = at < stills.length ? cutWindow(blocks, at, most) : cutEnd(blocks, most);
  const room = left - above.length;
  const shown = makeAgentRows(agents, at - stills.length, view, { columns, rows: room }, head > 0);
  const body = [
    ...above,
    ...(gap ? [EMPTY_LINE] : []),
    ...(head ? [makeLine(`Agents ${tellAgents(agents, view)}`, "title")] : []),
    ...shown,
  ];
  if (agents.length === 0 && stills.length === 0)
    body.push(...listFirstSteps(view).flatMap((text) => wrapWords(text, columns).map((one) => makeLine(one, "faint"))));
  const free = rows - body.length - last - 1;
  if (below && free > 2) body.push(EMPTY_LINE, ...fitSections(listSections(view, { columns, rows: free }), free));
  if (!last) return body;
  while (body.length < rows - last) body.push(EMPTY_LINE);
  return [...body, ...next];
}

/** From the beginning, as far as there is room: what waits for the person stands first. The rest is counted. */
function cutEnd(blocks: readonly (readonly Line[])[], room: number): Line[] {
  if (blocks.flat().length <= room) return blocks.flat();
  const shown: Line[] = [];
  let told = 0;
  for (const block of blocks) {
    if (shown.length + block.length > room - 1) break;
    shown.push(...block);
    told++;
  }
  // Where not even the first has room, its beginning is better than nothing.
  if (told === 0) return cutWindow(blocks, 0, room);
  return [...shown, makeMore(blocks.length - told)];
}

function tellAgents(shown: readonly Item[], { status }: View): string {
  const agents = shown.flatMap((item) => (item.kind === "agent" ? [item.agent] : []));
  return countDoing(agents, status.agents.length);
}

function listFirstSteps({ status }: View): string[] {
  const isStopped = status.daemon.state === "stopped" && status.away?.standing !== "copied";
  return [
    "Nothing waits, and no agent is at work.",
    '  overseer do "…"               plans that, and sees it landed',
    '  overseer sling --prompt "…"   puts one agent to work on it, without a plan',
    ...(isStopped ? ["  overseer up                   starts the daemon: work moves by itself"] : []),
  ];
}

/** One block an item; its group is named above its first. */
function makeStillBlocks(stills: readonly Item[], at: number, columns: number, now: number): Line[][] {
  let group: string | undefined;
  return stills.map((item, index) => {
    if (item.kind !== "standstill") return [];
    const isPersons = item.turn === "person";
    const heading = isPersons ? "Waits for you" : "Trouble";
    const key = item.hotkey === "" ? "" : `[${item.hotkey}] `;
    const lines = wrapWords(key + inert(withShortTimes(item.text, now)), columns - 2).map((part, row): Line => {
      const mark = row > 0 ? "  " : index === at ? "› " : "! ";
      return { ...makeLine(mark + part, isPersons ? "attention" : "trouble"), chosen: index === at };
    });
    if (heading === group) return lines;
    group = heading;
    return [makeLine(heading, "title"), ...lines];
  });
}

/** What happens next, where nothing waits for anybody. */
function makeNext({ status: { next }, now }: View, columns: number): Line[] {
  if (!next) return [];
  const when = next.nextAt === null ? "" : ` (${tellWhen(next.nextAt, now)})`;
  const [first = "", ...rest] = wrapWords(inert(`Next: ${withShortTimes(next.text, now)}${when}`), columns);
  const second = rest.length > 0 ? [clipToColumns(rest.join(" "), columns)] : [];
  return [first, ...second].map((text) => makeLine(text, "faint"));
}

/** Section by section, each with its most, until nothing more fits. */
function fitSections(sections: readonly Section[], rows: number): Line[] {
  const shown: Line[] = [];
  for (const { title, lines, most, isEndless, total = lines.length } of sections) {
    if (lines.length === 0) continue;
    const room = Math.min(most, rows - shown.length - (shown.length > 0 ? 2 : 1));
    if (room <= 0) break;
    if (shown.length > 0) shown.push(EMPTY_LINE);
    const isCut = Math.max(lines.length, total) > Math.min(lines.length, room) && !isEndless;
    const whole = lines.slice(0, isCut ? room - 1 : room);
    const cut = isCut ? [...whole, makeMore(Math.max(lines.length, total) - whole.length)] : whole;
    shown.push(makeLine(title, "title"), ...cut);
  }
  return shown;
}

function makeMore(number: number): Line {
  return makeLine(`  … ${number} more`, "faint");
}
