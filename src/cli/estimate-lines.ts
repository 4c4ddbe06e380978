/** What a plan takes, in a few sentences under its tree: how many tasks, how many at once, its critical path, time and cost. */
import type { PlanView } from "#domain/explain/plan-view.ts";
import { FEWEST_FINISHED, type KindCount, type PlanEstimate, type Spread, tellKind } from "#domain/plans/estimate.ts";
import { paragraph } from "./demo/lines.ts";
import { inert, plural } from "./text.ts";

export function estimateLines({ rows, estimate }: PlanView, { columns }: { readonly columns: number }): string[] {
  const isWork = rows.some(({ work }) => work !== null);
  if (estimate === null || estimate.pieces === 0) return [];
  const sentences = [
    ...(isWork ? [tellLeft(estimate)] : [tellSize(rows, estimate)]),
    ...tellPath(estimate, columns),
    ...tellCost(estimate),
  ];
  return sentences.flatMap((text) => paragraph("", text, columns, "  "));
}

function tellSize(rows: PlanView["rows"], estimate: PlanEstimate): string {
  const count = (kind: string) => rows.filter((row) => row.kind === kind).length;
  const subtasks = count("subtask");
  const size = [plural(count("phase"), "phase"), plural(count("task"), "task")];
  const all = [...size, ...(subtasks > 0 ? [plural(subtasks, "subtask")] : [])].join(", ");
  return `${all}; ${tellWidth(estimate)}.`;
}

function tellLeft(estimate: PlanEstimate): string {
  return `Left: ${plural(estimate.pieces, "task")} for agents; ${tellWidth(estimate)}.`;
}

/** Agents: what the plan could use, and what it gets. */
function tellWidth({ pieces, width, places, rounds }: PlanEstimate): string {
  if (pieces === 1) return "1 agent";
  const used = width <= 1 ? "1 agent at a time" : `up to ${width} agents at once`;
  if (width <= places) return used;
  return `${used}, and places for ${places} (agents.maxConcurrent): ${plural(rounds, "round")}`;
}

function tellPath({ path: { path, length, unit }, pieces }: PlanEstimate, columns: number): string[] {
  if (path.length < 2) return [];
  const took = unit === "ms" ? `, about ${tellSpan(length)}` : "";
  const end = ` (${path.length} of ${plural(pieces, "task")}${took})`;
  return [`* critical path: ${shortenPath(path.map(inert), Math.max(20, 2 * columns - end.length - 20))}${end}`];
}

/** Its beginning and its end; the middle where that is too long. */
function shortenPath(ids: readonly string[], room: number): string {
  const whole = ids.join(" → ");
  if (Bun.stringWidth(whole) <= room) return whole;
  for (let kept = ids.length - 2; kept > 1; kept -= 1) {
    const [front, back] = [Math.ceil(kept / 2), Math.floor(kept / 2)];
    const text = [...ids.slice(0, front), "…", ...ids.slice(ids.length - back)].join(" → ");
    if (Bun.stringWidth(text) <= room) return text;
  }
  return `${ids[0]} → … → ${ids.at(-1)}`;
}

function tellCost({ time, tokens, cost, kinds, estimated, pieces }: PlanEstimate): string[] {
  const figures = [
    time === null ? "" : tellSpread(time, tellSpan),
    cost === null || cost.high === 0 ? "" : tellSpread(cost, tellMoney),
    tokens === null || tokens.high === 0 ? "" : tellSpread(tokens, tellCount, " tokens"),
  ].filter((text) => text !== "");
  const [known, unknown] = [kinds.filter(({ isKnown }) => isKnown), kinds.filter(({ isKnown }) => !isKnown)];
  const missing = unknown.length === 0 ? [] : [tellUnknown(unknown)];
  if (figures.length === 0) return missing;
  const of = estimated < pieces ? ` of ${estimated} of ${plural(pieces, "task")}` : "";
  const from = known.map((kind) => `${plural(kind.finished, "finished task")} of ${inert(tellKind(kind))}`);
  const span = time?.isRange || cost?.isRange ? "least to most" : "the middle half";
  const whose = time === null ? "" : "; the agents' own time, without waiting for you";
  return [`Estimate${of}: ${figures.join(", ")}.`, `From ${from.join(" and ")}, ${span}${whose}.`, ...missing];
}

function tellUnknown(kinds: readonly KindCount[]): string {
  const named = kinds.map((kind) => `${kind.finished} of ${inert(tellKind(kind))}`).join(", ");
  return `No finished work to estimate from: it takes ${FEWEST_FINISHED} finished tasks, and there are ${named}.`;
}

function tellSpread({ low, median, high }: Spread, tell: (value: number) => string, unit = ""): string {
  const [from, to] = [tell(low), tell(high)];
  return from === to ? `${tell(median)}${unit}` : `${tell(median)}${unit} (${from}–${to})`;
}

/** `40 s`, `25 min`, `1 h 40 min`, `2 d 3 h`: an estimate is not rounded down to its largest unit. */
export function tellSpan(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 2_880) return join(Math.floor(minutes / 60), "h", minutes % 60, "min");
  return join(Math.floor(minutes / 1_440), "d", Math.round((minutes % 1_440) / 60), "h");
}

function join(large: number, unit: string, small: number, smaller: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;
}

function tellMoney(usd: number): string {
  return `$${usd.toFixed(2)}`;
}

function tellCount(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
