/**
 * What `peek --follow` shows, as lines that fit a size: who it is, at what and for how long on top, then the end of what
 * it has said and done, as much as fits. Pure, as frame.ts is.
 */

import { inert } from "#cli/text.ts";
import type { AgentView } from "#control/agents.ts";
import { tellContext } from "./agent-rows.ts";
import { ago, clipLine, EMPTY_LINE, type Line, makeLine, type Size, wrapLine } from "./line.ts";

export interface PeekView {
  readonly agent: AgentView;
  /** What was said and done. */
  readonly said: readonly Line[];
  readonly now: number;
}

export function peekFrame({ agent, said, now }: PeekView, size: Size): Line[] {
  const room = Math.max(0, size.rows - 2);
  const shown = room === 0 ? [] : said.flatMap((one) => wrapLine(one, size.columns)).slice(-room);
  const lines = [makeLine(header(agent, now), "title"), ...shown];
  while (lines.length < size.rows - 1) lines.push(EMPTY_LINE);
  const footer =
    agent.seen === "ended" ? "It has ended.  q quit" : `q quit; ${inert(agent.agent)} continues either way`;
  return [...lines, makeLine(footer, "faint")].slice(0, size.rows).map((one) => clipLine(one, size.columns));
}

function header(agent: AgentView, now: number): string {
  const { pulse } = agent;
  const context = pulse ? tellContext(pulse) : "";
  const state = agent.seen === "waiting" && agent.waiting ? `waiting on ${agent.waiting.on.join(", ")}` : agent.doing;
  const parts = [
    `${agent.agent}#${agent.attempt}`,
    agent.workNodeId,
    `${state} for ${ago(now - stateSince(agent))}`,
    context && `context ${context}`,
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
