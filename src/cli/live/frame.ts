/**
 * What the live view shows, as lines that fit a size: problems first, then questions, goals with their progress, landings,
 * and agents with what they do. Pure: the state of the fleet and the time go in, lines come out. What does not fit is counted,
 * never silently left out.
 */

import { inert } from "#cli/text.ts";
import type { Status } from "#control/status.ts";
import { sayAway } from "#domain/health/place.ts";
import type { Pulse } from "#domain/signals/pulse.ts";

export type Tone = "plain" | "title" | "trouble" | "attention" | "good" | "faint";

export interface Line {
  readonly text: string;
  readonly tone: Tone;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What the person is doing: looking, reading the help, or writing an answer. */
export type ScreenMode =
  | { readonly kind: "look"; readonly said?: string }
  | { readonly kind: "help" }
  | { readonly kind: "answer"; readonly typed: string };

export interface View {
  readonly status: Status;
  /** The pulses of those at work, by attempt. */
  readonly pulses: ReadonlyMap<number, Pulse>;
  readonly now: number;
}

const HELP: readonly string[] = [
  "q, Ctrl-C   leave; nothing stops",
  "a           answer the oldest question: a number chooses, words are your own answer; Enter sends, Esc does not",
  "?           this help",
  "",
  "The view follows by itself. Everything in it can also be asked: overseer status, questions, agents, why <id>.",
];

export function frame(view: View, mode: ScreenMode, size: Size): Line[] {
  const { status } = view;
  const body =
    mode.kind === "help"
      ? HELP.map((text) => line(text))
      : fitSections(
          [
            section(problems(status, size.columns), 10),
            section(questions(view, mode), 8),
            section(goals(status), 6),
            section(landings(view), 2),
            section(nextStep(status), 1),
            section(agents(view), Number.POSITIVE_INFINITY),
          ],
          size.rows - 2,
        );
  const lines = [header(view), ...body.slice(0, Math.max(0, size.rows - 2))];
  while (lines.length < size.rows - 1) lines.push(line(""));
  return [...lines, footer(mode, status)].map(({ text, tone }) => ({ tone, text: clipToColumns(text, size.columns) }));
}

export const line = (text: string, tone: Tone = "plain"): Line => ({ text, tone });

interface Section {
  readonly lines: readonly Line[];
  readonly most: number;
}

const section = (lines: readonly Line[], most: number): Section => ({ lines, most });

/** Sections in order with an empty line between; each cut to its most, the last to what is left. */
function fitSections(sections: readonly Section[], rows: number): Line[] {
  const shown: Line[] = [];
  for (const { lines, most } of sections) {
    if (lines.length === 0) continue;
    const gap = shown.length > 0 ? [line("")] : [];
    const room = Math.min(most, rows - shown.length - gap.length);
    if (room <= 0) break;
    const cut =
      lines.length > room ? [...lines.slice(0, room - 1), line(`  … ${lines.length - room + 1} more`, "faint")] : lines;
    shown.push(...gap, ...cut);
  }
  return shown;
}

function header({ status, now }: View): Line {
  const clock = new Date(now).toISOString().slice(11, 19);
  const open = status.goals.filter((goal) => goal.status === "active" || goal.status === "paused").length;
  return line(
    `${inert(status.project)}  daemon ${status.daemon.state}  ${count(open, "open goal")}  ${count(status.agents.length, "agent")}  ${clock} UTC`,
    "title",
  );
}

/** What stands still, whole: the command that ends it is at its end. Questions have a section of their own. */
function problems(status: Status, columns: number): Line[] {
  const away = status.away && sayAway(status.away, status.root);
  const found = [
    ...(away ? [`${status.away?.standing.toUpperCase()}: ${away.message} ${away.hint}`] : []),
    ...status.standstills.filter(({ kind }) => kind !== "question").map(({ text }) => text),
    ...(status.daemon.tickProblem ? [`The last tick failed: ${status.daemon.tickProblem}`] : []),
    ...status.agents
      .filter(({ seen }) => seen === "dead")
      .map((agent) => `${agent.agent}#${agent.attempt} is dead (${agent.workNodeId})`),
  ];
  return found.flatMap((text) =>
    wrapWords(inert(text), columns - 2).map((part, index) => line(`${index === 0 ? "! " : "  "}${part}`, "trouble")),
  );
}

/** What happens next, where nothing waits for anybody. */
function nextStep({ next }: Status): Line[] {
  if (!next) return [];
  const when = next.nextAt === null ? "" : ` (${new Date(next.nextAt).toISOString().slice(11, 19)} UTC)`;
  return [line(`Next: ${inert(next.text)}${when}`, "faint")];
}

/** In lines of at most so many columns, broken between words; a longer word is cut by whoever draws. */
function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && Bun.stringWidth(`${last} ${word}`) <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function questions({ status, now }: View, mode: ScreenMode): Line[] {
  return status.questions.flatMap((question, index) => {
    const about = question.workNodeId ?? question.goalId ?? "";
    const key = index === 0 ? "[a] " : "    ";
    const asked = line(`${key}${about}  ${inert(question.text)}  (${ago(now - question.askedAt)})`, "attention");
    const options =
      index === 0 ? question.options.map((option, place) => line(`      ${place + 1}. ${inert(option)}`)) : [];
    const typed = index === 0 && mode.kind === "answer" ? [line(`    > ${mode.typed}_`, "title")] : [];
    return [asked, ...options, ...typed];
  });
}

const BAR = 16;

function goals({ goals: all }: Status): Line[] {
  const open = all.filter((goal) => goal.status === "active" || goal.status === "paused");
  return open.map(({ title, status, progress, inProgress }) => {
    const full = Math.round((progress.percent / 100) * BAR);
    const bar = "█".repeat(full) + "░".repeat(BAR - full);
    const state = status === "paused" ? "  paused" : "";
    return line(
      `${bar} ${progress.done}/${progress.total} done, ${inProgress} in progress${state}  ${inert(title)}`,
      "good",
    );
  });
}

function landings({ status: { mergeQueue: queue }, now }: View): Line[] {
  if (queue.oldest === null) return [];
  const since = ago(now - queue.oldest.since);
  return [
    line(
      `Landing: ${queue.waiting} waiting, ${queue.testing} tested; the oldest, ${inert(queue.oldest.branch)}, for ${since}`,
    ),
  ];
}

/** Those that need somebody first. */
const ORDER = ["dead", "waiting", "idle", "paused", "preparing", "starting", "working", "ended"];

function agents({ status, pulses, now }: View): Line[] {
  if (status.agents.length === 0) return [];
  const sorted = status.agents.toSorted((one, other) => ORDER.indexOf(one.seen) - ORDER.indexOf(other.seen));
  const rows = sorted.map((agent) => {
    const pulse = pulses.get(agent.attempt);
    const since = agent.seen === "working" ? (pulse?.turnSince ?? agent.lastAt) : agent.lastAt;
    return {
      tone: agent.seen === "dead" ? ("trouble" as const) : ("plain" as const),
      cells: [
        `${agent.agent}#${agent.attempt}`,
        agent.workNodeId,
        agent.seen === "waiting" && agent.waitingOn ? `waiting on ${agent.waitingOn}` : agent.seen,
        ago(now - since),
        contextOf(pulse),
        pulse ? `$${pulse.usage.costUsd.toFixed(2)}` : "",
        (pulse?.lastText ?? "").split("\n")[0] ?? "",
      ].map(inert),
    };
  });
  const heads = ["AGENT", "TASK", "STATE", "FOR", "CONTEXT", "COST", "SAID"];
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map(({ cells }) => Bun.stringWidth(cells[column] ?? ""))),
  );
  const padCells = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell))))
      .join("  ")
      .trimEnd();
  return [line(padCells(heads), "faint"), ...rows.map(({ cells, tone }) => line(padCells(cells), tone))];
}

export function contextOf(pulse: Pulse | undefined): string {
  if (!pulse?.contextWindow) return "";
  return `${Math.round((pulse.contextTokens / pulse.contextWindow) * 100)} %`;
}

function footer(mode: ScreenMode, status: Status): Line {
  if (mode.kind === "answer") return line("a number or words, Enter sends, Esc leaves", "faint");
  if (mode.kind === "help") return line("any key goes back", "faint");
  const answer = status.questions.length > 0 ? "  a answer" : "";
  return line(mode.said ?? `q quit${answer}  ? help`, "faint");
}

/** `7 s`, `12 min`, `3 h`, `2 d`: one unit, so that columns stay narrow. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

export function clipToColumns(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  let cut = "";
  for (const sign of text) {
    if (Bun.stringWidth(cut + sign) > columns - 1) break;
    cut += sign;
  }
  return `${cut}…`;
}
