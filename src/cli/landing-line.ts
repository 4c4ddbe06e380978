/** What became of a landing, as a person would say it; for every command that lands something. */
import type { Landed } from "#control/landing.ts";
import type { Presented } from "#control/present.ts";
import { OverseerError } from "#errors.ts";
import type { Call } from "./command.ts";
import { inert } from "./text.ts";

const LANDINGS: Readonly<Record<Landed["outcome"], string>> = {
  done: "Landed",
  waiting: "Not yet landed",
  again: "Not yet landed, the target keeps moving; it is tried again:",
  returned: "Not landed, sent back to its agent:",
  requeued: "Not landed, put back into the queue:",
  asked: "Not landed, a person is asked about",
  blocked: "Not landed, blocked:",
  stale: "Not landed, the report no longer stands for",
  nothing: "Not landed:",
};

/** It has landed, or lands by itself once nothing is in the way. */
const FINE: ReadonlySet<Landed["outcome"]> = new Set(["done", "waiting", "again"]);

/** Tells each landing; throws NOT_LANDED, so that no script takes for landed what is not. */
export function tellLandings(call: Call, landed: readonly Landed[], json: Presented, next?: string): void {
  if (call.json) call.out.json(json);
  const failed = landed.filter(({ outcome }) => !FINE.has(outcome));
  const [first] = failed;
  const alone = landed.length === 1 && first !== undefined;
  if (!call.json && !alone) for (const one of landed) call.out.line(landingLine(one));
  if (!first) return;
  const message = alone ? landingLine(first) : `${failed.length} of ${landed.length} did not land.`;
  throw new OverseerError(
    "conflict",
    "NOT_LANDED",
    message,
    next ?? `'overseer why ${first.node}' says what comes next.`,
  );
}

type Told = Pick<Landed, "outcome" | "node" | "detail" | "commit" | "target">;

export function landingLine({ outcome, node, detail, commit, target }: Told): string {
  const as = commit && target ? ` on ${inert(target)} as ${commit.slice(0, 10)}` : "";
  const why = detail && outcome !== "done" ? ` ${inert(detail)}.` : "";
  return `${LANDINGS[outcome]} ${node}${as}.${why}`;
}
