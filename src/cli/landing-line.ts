/** What became of a landing, as a person would say it; for every command that lands something. */
import type { Landed } from "#control/landing.ts";
import { inert } from "./text.ts";

const LANDINGS: Readonly<Record<string, string>> = {
  done: "Landed",
  waiting: "Not yet landed",
  again: "Not yet landed, the target keeps moving; try again:",
  returned: "Sent back to its agent",
  requeued: "Put back into the queue",
  asked: "Not landed, a person is asked about",
  blocked: "Not landed, blocked",
  stale: "Not landed, the report no longer stands for",
  nothing: "Not landed",
};

export function landingLine({ outcome, node, detail }: Pick<Landed, "outcome" | "node" | "detail">): string {
  const why = detail && outcome !== "done" ? ` ${inert(detail)}.` : "";
  return `${LANDINGS[outcome] ?? outcome} ${node}.${why}`;
}
