/**
 * The user's checkout was another after an agent's turn than before it (SERENA-2, CLEAN-1). By whose hand cannot be
 * known: people work in their own checkout while agents work in theirs. So it is always written down, and a person is
 * asked only where the agent ran a command in that turn that can lead out of its worktree, once for each such change.
 * What Overseer itself has landed is nobody's trespass, and where nothing else has changed it is not even news.
 */
import type { Moment } from "#domain/core/actor.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent, attemptLabel } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventData } from "#domain/model/event.ts";
import type { Question } from "#domain/model/question.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { askPerson } from "./answer.ts";

interface Places {
  readonly project: string;
  readonly worktree: string;
}

/** Words of a command that lead from a worktree to the checkout it belongs to. */
const WAYS_OUT =
  /(?:^|[\s"'=:(/])\.\.(?:[/\s"')]|$)|OVERSEER_ROOT|GIT_(?:DIR|WORK_TREE|COMMON_DIR)|git-common-dir|--git-dir|--work-tree|worktree list/;

/** The command, if the signal is the start of one that can lead out of the worktree. */
export function reachesOut(signal: Signal, { project, worktree }: Places): string | undefined {
  if (signal.kind !== "tool.started" || signal.data.does !== "shell") return undefined;
  // A worktree lies below its project as a rule, so its own name is no way out.
  const elsewhere = signal.data.args.replaceAll(worktree, "");
  return WAYS_OUT.test(elsewhere) || elsewhere.includes(project) ? signal.data.args : undefined;
}

export interface CheckoutSeen {
  readonly attempt: Attempt;
  readonly questions: readonly Question[];
  /** Commits that were landed lately, or are about to be. */
  readonly landed: readonly string[];
}

export function noteCheckoutChange(
  { attempt, questions, landed }: CheckoutSeen,
  changed: EventData["checkout.changed"],
  found: { readonly command: string | undefined; readonly checkout: string; readonly questionId: string },
  moment: Moment,
): Decision<"noted" | "ours"> {
  const noted = attemptEvent(attempt, moment.actor, "checkout.changed", "during-a-turn", changed);
  const ours = changed.what.includes("head") && landed.some((commit) => changed.after.endsWith(` ${commit}`));
  if (ours && !changed.what.includes("files")) return accept([], "ours");
  if (found.command === undefined || ours) return accept([noted], "noted");
  const where = `${attemptLabel(attempt)} (${nodeKey(attempt.goalId, attempt.workNodeId)})`;
  const text = `${found.checkout} changed during a turn of ${where}: ${changed.what.join(", ")}. In that turn it ran a command that leads out of its worktree: ${brief(found.command)}. Nothing was put back; look with 'git status' and 'git reflog'.`;
  const wanted = { questionId: found.questionId, text, options: ["it was me", "I have taken care of it"] };
  const asked = askPerson(questions, wanted, moment);
  return asked.ok ? accept([noted, ...asked.events], "noted") : asked;
}

function brief(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
