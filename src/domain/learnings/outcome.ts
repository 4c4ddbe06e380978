/**
 * Whether a learning helped whoever was told (LEARN-1). After it was put before an agent, the agent's own calls tell: it
 * runs the remedy, then it was used; it fails in the very same way, then it was repeated and has not helped; its attempt
 * ends with neither, then it was not used. A failure is saved where it was not repeated although what fails was done, by
 * the remedy or by itself. What began before the agent had seen it says nothing: it may lie in the agent's queue for long
 * while a call runs. Only the remedy counts from when it was handed over, because the proof may come after its first use.
 */
import type { EventData } from "#domain/model/event.ts";
import type { Learning, LearningRecipient } from "#domain/model/learning.ts";
import { isMeasurable, listUnjudged } from "#domain/model/learning.ts";
import type { Message } from "#domain/model/message.ts";
import { commandOfFailure } from "./extract.ts";
import type { HeardCall } from "./hear.ts";

export interface OutcomeScene {
  message(messageId: string): Message | undefined;
  /** What an attempt did last, the oldest first. */
  calls(attempt: number): readonly HeardCall[];
  hasEnded(attempt: number): boolean;
}

export type LearningVerdict = EventData["learning.judged"]["verdicts"][number];

/** Those whose part in it can be told now. */
export function judgeRecipients(learning: Learning, scene: OutcomeScene): LearningVerdict[] {
  return listUnjudged(learning).flatMap((recipient) => judge(learning, recipient, scene) ?? []);
}

const NOTHING = { outcome: "unknown", seen: false, saved: false } as const;

function judge(learning: Learning, recipient: LearningRecipient, scene: OutcomeScene): LearningVerdict | undefined {
  const { attempt } = recipient;
  const message = recipient.messageId === null ? undefined : scene.message(recipient.messageId);
  const gone = message === undefined || message.status === "expired" || message.status === "dead_lettered";
  if (recipient.how === "relayed" && gone) return { attempt, ...NOTHING };
  if (message && message.status !== "seen") return undefined;
  // Whoever continued the work may have been the one who saw it.
  const seer = message?.attempt ?? attempt;
  const since = message ? (message.handedAt ?? message.endedAt ?? recipient.at) : recipient.at;
  const after = scene.calls(seer).filter(({ at }) => at >= since);
  const done = judgeCalls(learning, after, message?.endedAt ?? since);
  if (done.outcome !== undefined) return { attempt, outcome: done.outcome, seen: true, saved: done.saved };
  if (!scene.hasEnded(seer)) return undefined;
  return { attempt, outcome: isMeasurable(learning) ? "unused" : "unknown", seen: true, saved: done.saved };
}

function judgeCalls(
  { failing, fix, kind, paths }: Learning,
  calls: readonly HeardCall[],
  seenAt: number,
): { readonly outcome?: "used" | "repeated"; readonly saved: boolean } {
  let saved = false;
  for (const call of calls) {
    const hadSeen = call.at >= seenAt;
    if (hadSeen && failing !== null && call.failing !== null && isSameFailure(failing, call.failing)) {
      return { outcome: "repeated", saved: false };
    }
    if (!call.ok) continue;
    if (fix !== null && fix !== "" && doesRun(call.command, fix)) return { outcome: "used", saved: failing !== null };
    if (kind === "fact" && paths.some((path) => call.args.includes(path))) return { outcome: "used", saved: false };
    if (hadSeen && failing !== null && call.command === commandOfFailure(failing)) saved = true;
  }
  return { saved };
}

/** By itself, or among others on one line. Both as commandKey names them. */
function doesRun(command: string, fix: string): boolean {
  const inPieces = (line: string) => `;${line.replace(/ (?:&&|\|\||;|\n) /g, ";")};`;
  return inPieces(command).includes(inPieces(fix));
}

/** As failureKey names them; who said that a command fails, without how, means any failure of it. */
export function isSameFailure(known: string, one: string): boolean {
  return known === one || (known.endsWith(" *") && commandOfFailure(known) === commandOfFailure(one));
}
