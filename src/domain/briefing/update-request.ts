/**
 * The words by which an agent is asked for its status (NUDGE-2), and asked again when its answer could not be read
 * (UPD-2). Both carry the update block with its placeholders, which update-block.ts knows for what it is.
 */

import { inline } from "#domain/core/quote.ts";
import { updateBlock } from "#domain/model/protocol.ts";

export interface AskedAbout {
  readonly goalId: string;
  readonly workNodeId: string;
}

/** A ladder's request for a status; `because` is a sentence in Overseer's own words. */
export function statusRequest(about: AskedAbout, because: string): string {
  return [
    `${because} Please say how ${inline(about.workNodeId)} of ${inline(about.goalId, 40)} stands:`,
    [
      "- Status: what has changed since your last report",
      "- Next: the next concrete action",
      "- Blockers: what is needed to continue, and from whom",
      "- If finished: done, with a short summary and the commit that holds the work",
    ].join("\n"),
    closing(about),
  ].join("\n\n");
}

/** What an agent is told whose update was refused, or that sent none. */
export function followUpRequest(about: AskedAbout, reason: string): string {
  return [
    `Your update about ${inline(about.workNodeId)} was not recorded: ${reason}`,
    `Nothing else is wrong and no work is lost. Please send it again. ${closing(about)}`,
  ].join("\n\n");
}

function closing(about: AskedAbout): string {
  const { goalId, workNodeId } = about;
  return `Run \`overseer work report\`, or end your answer with this block, filled in; leave out what does not apply.\n\n${updateBlock({ goalId, workNodeId })}`;
}

/** After so many refusals in a row an agent is no longer asked by itself; the ladder takes it from there. */
export const MOST_FOLLOW_UPS = 3;
