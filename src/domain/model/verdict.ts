/**
 * What our checks have found out about trees, whoever it was found out for. A verdict belongs to the exact tree and the
 * exact command: two branches that come to the same tree, or a batch and its last member, are checked once. What did not
 * run says nothing and is not kept.
 */

import { textHash } from "#domain/core/derived-id.ts";
import type { Receipt } from "./check.ts";
import type { EventOf } from "./event.ts";

export interface Verdict {
  readonly verdictId: string;
  readonly tree: string;
  readonly receipt: Receipt;
  readonly at: number;
}

export function verdictIdOf(receipt: Pick<Receipt, "tree" | "name" | "command">): string {
  return `${receipt.tree}:${receipt.name}:${textHash(receipt.command)}`;
}

export function applyToVerdict(verdict: Verdict | undefined, event: EventOf): Verdict | undefined {
  if (event.type !== "check.finished" || event.data.verdict === "did_not_run") return verdict;
  return { verdictId: verdictIdOf(event.data), tree: event.data.tree, receipt: event.data, at: event.at };
}
