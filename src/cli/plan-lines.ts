/**
 * A plan as lines for a terminal or a pipe: `planLines(view, { columns, colour, full })`. Pure. Its tree, what marks the
 * critical path, and a footer with what it takes. What does not fit on a few screens is folded, first what matters least;
 * `full` folds and cuts nothing. Names, criteria and paths are whatever somebody wrote: they go through `inert`.
 */
import type { PlanRow, PlanView } from "#domain/explain/plan-view.ts";
import { countAll, listLost } from "#domain/plans/rollup.ts";
import { wrapText } from "./conversation-lines.ts";
import { estimateLines } from "./estimate-lines.ts";
import { fit, inert, plural } from "./text.ts";

export interface PlanLook {
  readonly columns: number;
  readonly colour?: boolean;
  readonly full?: boolean;
  /** What shows everything; told where something is folded. */
  readonly fullCommand?: string;
}

/** About three screens; more is not read. */
const MOST_LINES = 80;
const MARK = "* ";
const NO_MARK = "  ";

/** How much of each node is told, and which of them are folded. */
interface Coarseness {
  /** So many lines of what its agent is told. */
  readonly told: 0 | 1 | 2;
  readonly criteria: "all" | "tasks" | "none";
  /** From 0, nothing, to 5, everything but what is under way. */
  readonly fold: 0 | 1 | 2 | 3 | 4 | 5;
}

/** The finest that fits is taken. */
const OF_PLANS: readonly Coarseness[] = [
  { told: 2, criteria: "all", fold: 0 },
  { told: 1, criteria: "all", fold: 0 },
  { told: 0, criteria: "all", fold: 0 },
  { told: 0, criteria: "tasks", fold: 0 },
  { told: 0, criteria: "tasks", fold: 3 },
  { told: 0, criteria: "none", fold: 3 },
  { told: 0, criteria: "none", fold: 5 },
];
const OF_WORK: readonly Coarseness[] = ([0, 1, 2, 3, 4, 5] as const).map((fold) => ({
  told: 0,
  criteria: "none",
  fold,
}));

export function planLines(view: PlanView, look: PlanLook): string[] {
  return [...treeLines(view, look), "", ...estimateLines(view, look)];
}

/** Without the footer. */
export function treeLines({ rows }: PlanView, look: PlanLook): string[] {
  if (look.full) return rows.flatMap((row) => fullLines(row, look));
  const choices = rows.some(({ work }) => work !== null) ? OF_WORK : OF_PLANS;
  let lines: string[] = [];
  for (const choice of choices) {
    const shown = foldRows(rows, choice.fold);
    lines = shown.flatMap(({ row, below }) => shortLines(row, below, choice, look));
    const whole = look.fullCommand ?? "--full";
    const hidden = rows.length - shown.length;
    if (hidden > 0) lines.push(tellHidden(`${plural(hidden, "node")} folded; ${whole} shows everything`, look));
    const isPlan = rows.some((row) => row.work === null && listTold(row).length > 0);
    if (isPlan && choice.told === 0) lines.push(tellHidden(`objectives are hidden: ${whole}`, look));
    const isCut = shown.some(({ row }) => wrapTold(row, look).length > choice.told);
    if (isPlan && choice.told > 0 && isCut) lines.push(tellHidden(`what is cut: ${whole}`, look));
    if (lines.length <= MOST_LINES) return lines;
  }
  return lines;
}

function tellHidden(what: string, { columns, colour }: PlanLook): string {
  return paint(fit(`… ${what}`, columns), "faint", colour);
}

interface ShownRow {
  readonly row: PlanRow;
  /** What is folded into it. */
  readonly below: readonly PlanRow[];
}

function foldRows(rows: readonly PlanRow[], fold: Coarseness["fold"]): ShownRow[] {
  const shown: { row: PlanRow; below: PlanRow[] }[] = [];
  /** For each node that is folded, or is in one: the row that counts what is below. */
  const into = new Map<string, PlanRow[]>();
  for (const row of rows) {
    const above = row.parentId === null ? undefined : into.get(row.parentId);
    if (above && !(fold >= 4 && isUnderWay(row))) {
      above.push(row);
      into.set(row.id, above);
      continue;
    }
    const one = { row, below: [] };
    shown.push(one);
    if (above || isFolded(row, fold)) into.set(row.id, one.below);
  }
  return shown;
}

function isFolded({ kind, work }: PlanRow, fold: Coarseness["fold"]): boolean {
  const status = work?.status;
  if (fold >= 1 && (status === "done" || status === "cancelled")) return true;
  if (fold >= 2 && kind === "task" && (status === "todo" || status === "queued")) return true;
  if (fold >= 3 && kind === "task") return true;
  return kind === "phase" && (fold >= 5 || (fold >= 4 && status === "todo"));
}

/** What one looks for in a plan that runs; its parts are told by its own row. */
function isUnderWay({ kind, work }: PlanRow): boolean {
  return kind !== "subtask" && (work?.status === "in_progress" || work?.status === "blocked");
}

function shortLines(row: PlanRow, below: readonly PlanRow[], { told, criteria }: Coarseness, look: PlanLook): string[] {
  const { columns, colour } = look;
  const head = headOf(row);
  const state = tellState(row);
  const name = inert(row.name);
  const room = columns - width(head) - width(state);
  const aside = tellAside(row, below);
  const left = room - width(name) - 2;
  // Beside a name that needs the line there is nothing worth reading in what is left of it.
  const beside = aside === "" || left < Math.min(width(aside), 12) ? "" : `  ${fit(aside, left)}`;
  const line = [
    paint(head, row.kind === "phase" ? "bold" : row.isCritical ? "critical" : "plain", colour),
    paint(state, toneOf(row), colour),
    paint(fit(name, Math.max(1, room)), row.kind === "phase" ? "bold" : "plain", colour),
    paint(beside, "faint", colour),
  ].join("");
  const isTold = criteria === "all" || (criteria === "tasks" && row.kind === "task");
  const indent = " ".repeat(indentOf(row));
  const faint = cutTold(row, look, told).map((text) => `${indent}${text}`);
  if (isTold && row.kind !== "phase" && row.acceptance.length > 0) {
    faint.push(fit(`${indent}done when ${row.acceptance.map(inert).join("; ")}`, columns));
  }
  return [line, ...faint.map((text) => paint(text, "faint", colour))];
}

/** What its agent is told beside its name and criteria: whoever accepts the plan accepts that as well. */
function listTold({ name, objective, outcome, definitionOfDone }: PlanRow): string[] {
  const texts = [objective, outcome, definitionOfDone].map((text) => text.trim());
  return [...new Set(texts)].filter((text) => text !== "" && text !== name.trim());
}

function wrapTold(row: PlanRow, { columns }: PlanLook): string[] {
  const text = listTold(row).map(inert).join(" ");
  return text === "" ? [] : wrapText(text, columns - indentOf(row));
}

/** At most so many lines of it, and how much is missing. */
function cutTold(row: PlanRow, look: PlanLook, most: number): string[] {
  const lines = wrapTold(row, look);
  if (most === 0 || lines.length <= most) return lines.slice(0, most);
  const text = listTold(row).map(inert).join(" ");
  const tell = (characters: number) => `… (${characters} more characters: --full)`;
  const room = look.columns - indentOf(row) - width(tell(text.length));
  let last = "";
  for (const sign of lines[most - 1] ?? "") {
    if (width(last) + width(sign) > room) break;
    last += sign;
  }
  const shown = [...lines.slice(0, most - 1), last];
  const end = shown.reduce((at, one) => text.indexOf(one, at) + one.length, 0);
  return [...shown.slice(0, -1), `${last}${tell([...text.slice(end)].length)}`];
}

function fullLines(row: PlanRow, look: PlanLook): string[] {
  const { columns, colour } = look;
  const head = headOf(row);
  const state = tellState(row);
  const indent = " ".repeat(indentOf(row));
  const block = (text: string, hang = "") =>
    wrapText(text, columns - indent.length - hang.length).map((line, at) => `${indent}${at === 0 ? "" : hang}${line}`);
  const [first = "", ...rest] = wrapText(inert(row.name), columns - width(head) - width(state));
  const aside = tellAside(row, [], Number.POSITIVE_INFINITY);
  const faint = [
    ...(aside === "" ? [] : block(aside)),
    ...listTold(row).flatMap((text) => block(inert(text))),
    ...row.acceptance.flatMap((text) => block(`- ${inert(text)}`, "  ")),
    ...(row.work?.reason ? block(inert(row.work.reason)) : []),
  ];
  const style = row.kind === "phase" ? "bold" : row.isCritical ? "critical" : "plain";
  return [
    `${paint(head, style, colour)}${paint(state, toneOf(row), colour)}${paint(first, row.kind === "phase" ? "bold" : "plain", colour)}`,
    ...rest.map((line) => `${indent}${line}`),
    ...faint.map((line) => paint(line, "faint", colour)),
  ];
}

function indentOf({ depth }: PlanRow): number {
  return 2 * depth + MARK.length + 2;
}

function headOf({ depth, id, isCritical }: PlanRow): string {
  return `${"  ".repeat(depth)}${isCritical ? MARK : NO_MARK}${inert(id)}  `;
}

/** `[in progress, 3 of 7 done] `; nothing for a plan that is no work yet. */
function tellState({ work, kind, after }: PlanRow): string {
  if (work === null) return "";
  const status = work.status.replace("_", " ");
  const { progress } = work;
  const isWhole = kind !== "phase" && countAll(progress) <= 1;
  const isOver = work.status === "done" && progress.done === countAll(progress);
  const isBegun = kind === "phase" || progress.done > 0 || (work.status !== "todo" && work.status !== "queued");
  const counts = isWhole || isOver || !isBegun ? [] : [`${progress.done} of ${countAll(progress)} done`];
  const lost = isWhole ? [] : listLost(progress);
  const waits = after.length === 0 ? [] : [`waits for ${shorten(after, 3)}`];
  return `[${[status, ...counts, ...lost, ...waits].join(", ")}] `;
}

/** What stands beside the name: who gets it, its files, what it waits for, what is folded into it. */
function tellAside(row: PlanRow, below: readonly PlanRow[], most = 2): string {
  const count = (kind: PlanRow["kind"]) => below.filter((one) => one.kind === kind).length;
  const [tasks, subtasks] = [count("task"), count("subtask")];
  // Nobody gets it any more.
  const isOver = row.work?.status === "done" || row.work?.status === "cancelled";
  return [
    row.goesTo === null || isOver ? "" : inert(row.goesTo),
    row.files.length === 0 || isOver ? "" : shorten(row.files, most),
    row.work !== null || row.after.length === 0 ? "" : `after ${shorten(row.after, most + 1)}`,
    row.work?.reason && most < Number.POSITIVE_INFINITY ? inert(row.work.reason) : "",
    [tasks > 0 ? plural(tasks, "task") : "", subtasks > 0 ? plural(subtasks, "subtask") : ""]
      .filter(Boolean)
      .join(", "),
  ]
    .filter((text) => text !== "")
    .join("; ");
}

function shorten(items: readonly string[], most: number): string {
  const shown = items.slice(0, most).map(inert).join(", ");
  return items.length > most ? `${shown} +${items.length - most}` : shown;
}

const width = (text: string) => Bun.stringWidth(text);

const STYLES = { plain: "", bold: "1", faint: "2", critical: "33", done: "32", trouble: "31", busy: "36" } as const;
type PlanTone = keyof typeof STYLES;

function toneOf({ work }: PlanRow): PlanTone {
  switch (work?.status) {
    case "done":
      return "done";
    case "in_progress":
      return "busy";
    case "blocked":
      return "trouble";
    default:
      return "faint";
  }
}

export function paint(text: string, tone: PlanTone, colour = false): string {
  return colour && text !== "" && STYLES[tone] !== "" ? `\u001b[${STYLES[tone]}m${text}\u001b[0m` : text;
}
