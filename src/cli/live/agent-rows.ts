/** Agents as rows of a table: who, at what, in which state since when, how full its context, what it cost, what it said last. Pure. */
import { inert } from "#cli/text.ts";
import type { AgentStatus } from "#control/status.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { Item } from "./item.ts";
import { ago, clipToColumns, cutWindow, type Line, makeLine, padToColumns, type Size } from "./line.ts";
import type { View } from "./view.ts";

/** Wider ones are cut: names are people's, and one long name may not push everything else out. */
const MOST_NAME = 24;
const MOST_STATE = 30;
const MOST_SAID = 300;

export function makeAgentRows(items: readonly Item[], at: number, view: View, size: Size, headed: boolean): Line[] {
  const agents = items.flatMap((item) => (item.kind === "agent" ? [item.agent] : []));
  if (agents.length === 0 || size.rows <= 0) return [];
  const isNamed = size.columns >= 100;
  const rows = agents.map((agent) => makeCells(agent, view, isNamed));
  const heads = ["AGENT", "TASK", "STATE", "FOR", "CONTEXT", "COST", "SAID"];
  const widths = heads.map((head, column) =>
    // The last one is as wide as it is.
    column === heads.length - 1
      ? 0
      : rows.reduce((widest, cells) => Math.max(widest, Bun.stringWidth(cells[column] ?? "")), head.length),
  );
  const pad = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === cells.length - 1 ? cell : padToColumns(cell, widths[column] ?? 0)))
      .join("  ");
  const blocks = agents.map((agent, index): Line[] => {
    const text = `${index === at ? "› " : "  "}${pad(rows[index] ?? [])}`;
    return [{ ...makeLine(text.trimEnd(), toneOf(agent)), chosen: index === at }];
  });
  const head = headed ? [makeLine(`  ${pad(heads)}`, "faint")] : [];
  return [...head, ...cutWindow(blocks, Math.max(0, at), size.rows)];
}

function toneOf({ seen, doing }: AgentStatus) {
  if (seen === "dead" || seen === "not-answering" || doing === "stalled") return "trouble";
  return /review|an answer$/.test(doing) ? "attention" : seen === "working" ? "plain" : "faint";
}

/** Only times pass while nothing is read: the rest of a row is made once a look. */
const known = new WeakMap<
  AgentStatus,
  Pick<View, "windows"> & { readonly isNamed: boolean; readonly cells: string[] }
>();

function makeCells(agent: AgentStatus, view: View, isNamed: boolean): string[] {
  const before = known.get(agent);
  const { windows } = view;
  const isSame = before?.isNamed === isNamed && before.windows === windows;
  const cells = isSame ? before.cells : makeLasting(agent, view, isNamed);
  if (!isSame) known.set(agent, { windows, isNamed, cells });
  return [...cells.slice(0, 3), ago(view.now - agent.doingAt), ...cells.slice(3)];
}

function makeLasting(agent: AgentStatus, view: View, isNamed: boolean): string[] {
  const pulse = view.pulses.get(agent.attempt);
  return [
    clipToColumns(inert(`${agent.agent}#${agent.attempt}`), MOST_NAME),
    clipToColumns(inert(isNamed && agent.task ? `${agent.workNodeId} ${agent.task}` : agent.workNodeId), MOST_NAME),
    clipToColumns(inert(agent.doing), MOST_STATE),
    tellContext(agent, view.windows[pulse?.model ?? ""]),
    agent.costUsd > 0 ? `$${agent.costUsd.toFixed(2)}` : "",
    inert(tellLast(pulse).slice(0, MOST_SAID)),
  ];
}

/** In tokens until somebody has said how much fits: `known`, of another agent with the same model. */
export function tellContext(
  { contextTokens, contextWindow }: Pick<AgentStatus, "contextTokens" | "contextWindow">,
  known?: number,
): string {
  const window = contextWindow ?? known;
  if (contextTokens === 0) return "";
  return window ? `${Math.round((contextTokens / window) * 100)} %` : `${Math.ceil(contextTokens / 1000)}k`;
}

/** The tool that runs, else its last words. */
function tellLast(pulse: Pulse | undefined): string {
  if (!pulse) return "";
  const call = pulse.calls.at(-1);
  if (pulse.inTurn && call && call.ok === null) return `runs ${call.tool}`;
  return pulse.lastText.trimStart().split("\n")[0] ?? "";
}
