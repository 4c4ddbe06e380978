/** What became of a landing, as a person would say it; for every command that lands something. */
import type { Landed } from "#control/landing.ts";
import type { Presented } from "#control/present.ts";
import { OverseerError } from "#errors.ts";
import type { Call } from "./command.ts";
import { inert } from "./text.ts";

const LANDINGS: Readonly<Record<Landed["outcome"], string>> = {
  done: "Landed",
  waiting: "Accepted and not landed yet:",
  again: "Accepted and not landed yet, because the target keeps moving:",
  returned: "Not landed, sent back to its agent:",
  requeued: "Not landed, put back into the queue:",
  asked: "Not landed, a person is asked about",
  blocked: "Not landed, blocked:",
  stale: "Not landed, the report no longer stands for",
  nothing: "Not landed:",
};

/** It lands by itself once nothing is in the way; a script that goes on has to know that it has not. */
const LATER: ReadonlySet<Landed["outcome"]> = new Set(["waiting", "again"]);

/** It has landed, or lands by itself once nothing is in the way. */
export function isFineLanding({ outcome }: Pick<Landed, "outcome">): boolean {
  return outcome === "done" || LATER.has(outcome);
}

/** The next step, with the node in its place. */
const NEXT: Readonly<Record<Exclude<Landed["outcome"], "done">, string>> = {
  waiting: "The daemon lands it once that is out of the way; without one, run 'overseer accept <node>' again then.",
  again: "The daemon tries again; without one, run 'overseer accept <node>' again.",
  returned: "Its agent has been told and continues; 'overseer review <node>' shows the next report.",
  requeued: "Another agent continues with it; 'overseer why <node>' says what was wrong.",
  asked: "'overseer questions' shows what is asked; 'overseer why <node>' says what came before.",
  blocked: "'overseer why <node>' says what would help; then 'overseer accept <node>' again.",
  stale: "Somebody decided about it meanwhile: 'overseer why <node>' says who.",
  nothing: "'overseer why <node>' says what comes next.",
};

/** Tells each landing; throws NOT_LANDED or NOT_LANDED_YET, so that no script takes for landed what is not. */
export function tellLandings(call: Call, landed: readonly Landed[], json: Presented, next?: string): void {
  if (call.json) call.out.json(json);
  const open = landed.filter(({ outcome }) => outcome !== "done");
  const failed = open.filter(({ outcome }) => !LATER.has(outcome));
  const first = failed[0] ?? open[0];
  const alone = landed.length === 1 && first !== undefined;
  if (!call.json && !alone) for (const one of landed) call.out.line(landingLine(one));
  if (!first || first.outcome === "done") return;
  const hint = next ?? NEXT[first.outcome].replaceAll("<node>", first.node);
  const many = (some: readonly Landed[], what: string) => `${some.length} of ${landed.length} ${what}.`;
  if (failed.length === 0) {
    const message = alone ? landingLine(first) : many(open, "wait and have not landed yet");
    throw new OverseerError("unconfirmed", "NOT_LANDED_YET", message, hint);
  }
  const message = alone ? landingLine(first) : many(failed, "did not land");
  throw new OverseerError("conflict", "NOT_LANDED", message, hint);
}

type Told = Pick<Landed, "outcome" | "node" | "detail" | "commit" | "target" | "claimed">;

export function landingLine({ outcome, node, detail, commit, target, claimed }: Told): string {
  const whose = claimed ? ` (the agent's commit ${claimed.commit.slice(0, 10)}, by ${inert(claimed.agent)})` : "";
  const as = commit && target ? ` on ${inert(target)} as ${commit.slice(0, 10)}` : "";
  const why = detail ? ` ${sentence(inert(detail))}` : "";
  return `${LANDINGS[outcome]} ${node}${whose}${as}.${why}`;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
