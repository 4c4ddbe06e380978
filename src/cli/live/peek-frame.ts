/**
 * What `peek --follow` shows, as lines that fit a size: who it is, at what and for how long on top, then the end of what
 * it has said and done, as much as fits. Pure, as frame.ts is.
 */

import { inert } from "#cli/text.ts";
import type { AgentView } from "#control/agents.ts";
import { ago, clipToColumns, contextOf, type Line, line, type Size } from "./frame.ts";

export interface PeekView {
  readonly agent: AgentView;
  /** The end of its log. */
  readonly text: string;
  readonly now: number;
}

export function peekFrame({ agent, text, now }: PeekView, size: Size): Line[] {
  const room = Math.max(0, size.rows - 2);
  const shown = room === 0 ? [] : wrapLines(text, size.columns).slice(-room);
  const lines = [line(header(agent, now), "title"), ...shown.map((one) => line(one))];
  while (lines.length < size.rows - 1) lines.push(line(""));
  const footer =
    agent.seen === "ended" ? "It has ended.  q quit" : `q quit; ${inert(agent.agent)} continues either way`;
  return [...lines, line(footer, "faint")]
    .slice(0, size.rows)
    .map((one) => ({ ...one, text: clipToColumns(one.text, size.columns) }));
}

function header(agent: AgentView, now: number): string {
  const { pulse } = agent;
  const state = agent.seen === "waiting" && agent.waiting ? `waiting on ${agent.waiting.on.join(", ")}` : agent.seen;
  const parts = [
    `${agent.agent}#${agent.attempt}`,
    agent.workNodeId,
    `${state} for ${ago(now - stateSince(agent))}`,
    contextOf(pulse ?? undefined) && `context ${contextOf(pulse ?? undefined)}`,
    pulse ? `$${pulse.usage.costUsd.toFixed(2)}` : "",
  ];
  return parts.filter(Boolean).map(inert).join("  ");
}

/** Since when it is in the state that is shown; the last that was heard of it where nothing better is known. */
function stateSince({ seen, pulse, waiting, endedAt, updatedAt }: AgentView): number {
  switch (seen) {
    case "working":
      return pulse?.turnSince ?? pulse?.lastAt ?? updatedAt;
    case "idle":
      return pulse?.lastAt ?? updatedAt;
    case "waiting":
      return waiting?.since ?? updatedAt;
    default:
      return endedAt ?? updatedAt;
  }
}

/** Long lines continue below; a line is never cut, because its end may be what one looks for. */
function wrapLines(text: string, columns: number): string[] {
  if (text === "") return [];
  return text.split("\n").flatMap((one) => {
    const rows: string[] = [];
    let row = "";
    for (const sign of inert(one)) {
      if (row !== "" && Bun.stringWidth(row + sign) > columns) {
        rows.push(row);
        row = "";
      }
      row += sign;
    }
    return [...rows, row];
  });
}
