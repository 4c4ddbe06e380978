/**
 * Landing a branch that a person brought and that no claim stands behind. The person's word is the review; the gate and
 * the care for everybody's files are the same as for every other landing. What is in the way is waited for, in the open;
 * a conflict or a failed gate ends it with the reason, for the person to put right.
 */

import { checksOf, judgeCommit } from "#act/checks/check.ts";
import { momentNow } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import { describeTakenBack } from "#domain/landing/landing-end.ts";
import { branchMessage } from "#domain/landing/landing-message.ts";
import { pushDecided } from "#domain/landing/remote.ts";
import { type Receipt, verdictOf } from "#domain/model/check.ts";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { isQueued, type Merge, mergeEvent } from "#domain/model/merge.ts";
import { advanceBranch, obstacleTo, sameAttributes, writeCommit } from "#git/landing.ts";
import { branchTip } from "#git/repository.ts";
import { type DroppedCommit, findTakenBack } from "#git/taken-back.ts";
import { mergeById } from "#store/merges.ts";
import { dirtyWaitMs, MOST_MERGE_ROUNDS, merge as mergeTrees, messageRules, targetGone } from "./land.ts";
import { inLandingTurn, settleUnfinishedMove } from "./lock.ts";
import { followRemote, isPushed, remoteHasMore } from "./remote.ts";
import { rulesNow } from "./rules.ts";
import { dropStaged, keepStaged } from "./staged-refs.ts";

export type BranchEnd =
  | { readonly kind: "landed"; readonly from: string; readonly to: string; readonly already: boolean }
  | { readonly kind: "conflict"; readonly files: readonly string[] }
  | { readonly kind: "missing" }
  | { readonly kind: "taken-back"; readonly detail: string }
  | { readonly kind: "gate"; readonly receipts: readonly Receipt[] }
  | { readonly kind: "dirty"; readonly detail: string; readonly files: readonly string[] }
  | { readonly kind: "remote"; readonly detail: string; readonly diverged?: true }
  | { readonly kind: "moved" };

/**
 * Lands one entry of the queue and records what became of it. Repeatable: what somebody else has landed meanwhile has
 * landed, whatever was in our way; undefined when it has ended without that.
 */
export async function landBranch(parts: ActParts, mergeId: string): Promise<BranchEnd | undefined> {
  await standOnSettings(parts);
  const { merge } = await (await parts.writer()).read({ merge: mergeById(mergeId) });
  if (!merge || !isQueued(merge)) return toBranchEnd(merge);
  let end: BranchEnd = { kind: "moved" };
  for (let round = 1; round <= MOST_MERGE_ROUNDS && end.kind === "moved"; round += 1)
    end = await landOnce(parts, merge);
  await dropStaged(parts, mergeId);
  const config = await parts.config();
  const moment = momentNow(parts);
  const store = await parts.writer();
  await store.commit({
    at: moment.now,
    reads: { now: mergeById(mergeId) },
    decide: ({ now }) => accept(now && isQueued(now) ? eventsOf(now) : [], null),
  });
  return toBranchEnd((await store.read({ now: mergeById(mergeId) })).now) ?? end;

  function eventsOf(now: Merge): NewEvent[] {
    if (end.kind !== "landed" || !isPushed(config)) return [eventOf(now)];
    return [eventOf(now), pushDecided({ target: now.target, commit: end.to }, moment)];
  }

  function eventOf(now: Merge): NewEvent {
    if (end.kind === "remote" && end.diverged === true) {
      return mergeEvent(now, "merge.ended", "diverged", { to: "refused", detail: end.detail }, moment);
    }
    switch (end.kind) {
      case "landed":
        return mergeEvent(now, "merge.landed", "landed", { from: end.from, to: end.to, tier: "clean-merge" }, moment);
      case "dirty":
      case "remote":
      case "moved": {
        const detail = reasonOf(end);
        if (now.looks + 1 >= config.landing.dirtyWait.tries) {
          return mergeEvent(now, "merge.parked", "never-clean", { detail }, moment);
        }
        const notBefore = moment.now + dirtyWaitMs(config, now.looks + 1);
        return mergeEvent(now, "merge.waiting", "not-yet", { detail, notBefore }, moment);
      }
      default:
        return mergeEvent(now, "merge.ended", end.kind, { to: "refused", detail: reasonOf(end) }, moment);
    }
  }
}

function toBranchEnd(merge: Merge | undefined): BranchEnd | undefined {
  if (merge?.status !== "landed" || merge.from === null || merge.to === null) return undefined;
  return { kind: "landed", from: merge.from, to: merge.to, already: merge.from === merge.to };
}

/** Why it did not land, as a clause. */
export function reasonOf(end: BranchEnd): string {
  switch (end.kind) {
    case "conflict":
      return end.files.length === 0
        ? "it has no history in common with the target"
        : `it conflicts with the target in ${end.files.slice(0, 5).join(", ")}`;
    case "gate":
      return end.receipts
        .filter(({ verdict }) => verdict !== "pass")
        .map(({ name, why }) => `the check ${name} on the merged tree: ${why ?? "unknown"}`)
        .join("; ");
    case "missing":
      return "its commit is not in the repository any more";
    case "taken-back":
    case "dirty":
    case "remote":
      return end.detail;
    case "moved":
      return "the target kept moving";
    case "landed":
      return "";
  }
}

/** A person's word for a branch is no word for what was taken out of its target; that takes a hand of their own. */
function bringsBack(target: string, branch: string, taken: readonly DroppedCommit[]): string {
  const [last] = taken;
  const named = taken.slice(0, 5).map(({ commit, subject }) => `${commit.slice(0, 10)} ${subject}`);
  const own = `'git rebase --onto ${target} ${last?.commit.slice(0, 10)} ${branch}' leaves them out`;
  return `${describeTakenBack(target, taken)} (${named.join(", ")}); ${own}, 'git merge ${branch}' brings them in again`;
}

async function landOnce(parts: ActParts, { mergeId, target, branch, commit, queuedAt }: Merge): Promise<BranchEnd> {
  const repository = parts.root.gitCommonDir;
  const config = await parts.config();
  await settleUnfinishedMove(parts);
  const behind = await followRemote(parts, target);
  if (behind) return behind;
  const from = await branchTip(parts.git, repository, target);
  if (from === undefined) throw targetGone(target);
  const taken = await findTakenBack(parts.git, repository, { branch: target, from, commit, tips: [] });
  if (taken.length > 0) return { kind: "taken-back", detail: bringsBack(target, branch, taken) };
  const { strategy } = await rulesNow(parts);
  const merged = await mergeTrees(parts, from, commit, strategy);
  if (merged.kind !== "clean") return merged;
  const { tree, changes } = merged;
  if (changes.length === 0) return { kind: "landed", from, to: from, already: true };
  const to = await writeCommit(parts.git, repository, {
    tree,
    parents: strategy === "merge" ? [from, commit] : [from],
    message: branchMessage(branch, await messageRules(parts, config, strategy, { target: from, commit })),
    at: queuedAt,
  });
  await keepStaged(parts, mergeId, to);
  const move = { branch: target, from, to, changes };
  const obstacle = await obstacleTo(parts.git, repository, move);
  if (obstacle) return obstacle;
  const receipts = (await judgeCommit(parts, null, checksOf(config, "land"), "land", to)) ?? [];
  if (receipts.length > 0 && verdictOf(receipts) !== "pass") return { kind: "gate", receipts };
  if (receipts.length > 0 && (await remoteHasMore(parts, target, from))) return { kind: "moved" };
  const moved = await inLandingTurn(parts, () => advanceBranch(parts.git, repository, move));
  if (moved.kind === "lost") return { kind: "moved" };
  if (moved.kind === "dirty") return moved;
  sameAttributes(parts.git, from, to, changes);
  return { kind: "landed", from, to, already: false };
}
