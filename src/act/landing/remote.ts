/**
 * REPO-1: the target branch and its other self in a remote. Nothing here runs unless `repo.remote` says so. Before a
 * landing the target follows the remote, only ever forward; where the two have diverged nothing is touched
 * and a person is asked. After a landing the target is pushed, as an action of the outbox or at once by the hand that
 * landed it; what the remote does not take stays landed here and is tried again.
 */

import { momentNow } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import type { LandingEnd } from "#domain/landing/landing-end.ts";
import { afterPush, type PushEnd } from "#domain/landing/remote.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { accept } from "#domain/model/decision.ts";
import { advanceBranch, changesBetween } from "#git/landing.ts";
import { fetchBranch, isKnownThere, pushBranch, standingTo } from "#git/remote.ts";
import { branchTip } from "#git/repository.ts";
import { findTakenBack } from "#git/taken-back.ts";
import { openQuestions } from "#store/assignments.ts";
import { inLandingTurn } from "./lock.ts";

/** Why the target cannot follow now; what the landing that wanted it comes to. */
export type NotFollowed = Extract<LandingEnd, { kind: "remote" | "dirty" | "moved" }>;

/** Brings the target up to what the remote has. Undefined when it is there, or when there is no remote to follow. */
export async function followRemote(parts: ActParts, target: string): Promise<NotFollowed | undefined> {
  const { repo } = await parts.config();
  if (repo.remote === "off") return undefined;
  const repository = parts.root.gitCommonDir;
  const { remoteName: remote } = repo;
  const fetched = await fetchBranch(parts.git, repository, { remote, branch: target });
  if (fetched.kind === "failed") {
    return { kind: "remote", target, detail: `${target} cannot be fetched from ${remote}: ${fetched.detail}` };
  }
  const from = await branchTip(parts.git, repository, target);
  if (fetched.kind === "absent" || from === undefined) return undefined;
  const to = fetched.commit;
  const standing = await standingTo(parts.git, repository, from, to);
  if (standing === "same" || standing === "ahead") return undefined;
  if (standing === "diverged") {
    const detail = `${target} here and ${target} of ${remote} have diverged`;
    return { kind: "remote", target, detail, diverged: true };
  }
  // What a person has dropped here and the remote still has would come back by following.
  const taken = await findTakenBack(parts.git, repository, {
    branch: target,
    from,
    commit: to,
    tips: [],
    copies: false,
  });
  if (taken.length > 0) {
    const named = taken.slice(0, 5).map(({ commit, subject }) => `${commit.slice(0, 10)} ${subject}`);
    const detail = `${target} of ${remote} has what was taken out of ${target} here (${named.join(", ")})`;
    return { kind: "remote", target, detail, diverged: true };
  }
  const move = { branch: target, from, to, changes: await changesBetween(parts.git, repository, from, to) };
  const moved = await inLandingTurn(parts, () => advanceBranch(parts.git, repository, move));
  if (moved.kind === "lost") return { kind: "moved", target };
  if (moved.kind === "dirty") return { ...moved, target };
  const { now, actor } = momentNow(parts);
  const followed = { type: "remote.followed", actor, because: "behind", data: { remote, target, from, to } } as const;
  await (await parts.writer()).commit({ at: now, reads: {}, decide: () => accept([followed], null) });
  return undefined;
}

/** True when the remote has something that `tip` has not: a gate may have taken an hour. */
export async function remoteHasMore(parts: ActParts, target: string, tip: string): Promise<boolean> {
  const { repo } = await parts.config();
  if (repo.remote === "off") return false;
  const where = { remote: repo.remoteName, branch: target };
  const fetched = await fetchBranch(parts.git, parts.root.gitCommonDir, where);
  if (fetched.kind !== "fetched") return false;
  const standing = await standingTo(parts.git, parts.root.gitCommonDir, tip, fetched.commit);
  return standing === "behind" || standing === "diverged";
}

/** The target is to be pushed after every landing. */
export function isPushed({ repo }: Pick<Config, "repo">): boolean {
  return repo.remote === "push";
}

const PUSH_TRIES = 3;
const PUSH_AGAIN_MS = 200;

/** Pushes what has landed, and records what came of it. Null when the remote has it; else why not. */
export async function pushLanded(parts: ActParts, target: string, commit: string): Promise<string | null> {
  const { repo } = await parts.config();
  if (repo.remote !== "push") return null;
  const wish = { remote: repo.remoteName, target, commit };
  const end = await pushWithRetry(parts, wish);
  const moment = momentNow(parts);
  await (await parts.writer()).commit({
    at: moment.now,
    reads: { open: openQuestions() },
    decide: ({ open }) => accept(afterPush(wish, end, open, moment), null),
  });
  return end.kind === "failed" ? end.detail : null;
}

/** What is refused is tried again after a look at what is there. */
async function pushWithRetry(
  parts: ActParts,
  wish: { readonly remote: string; readonly target: string; readonly commit: string },
): Promise<PushEnd> {
  const repository = parts.root.gitCommonDir;
  const where = { remote: wish.remote, branch: wish.target };
  if (await isKnownThere(parts.git, repository, where, wish.commit)) return { kind: "pushed", already: true };
  for (let tries = 1; ; tries += 1) {
    const sent = await pushBranch(parts.git, repository, where);
    if (sent.kind === "pushed") return { kind: "pushed", already: false };
    const fetched = await fetchBranch(parts.git, repository, where);
    if (fetched.kind === "fetched") {
      if (await isKnownThere(parts.git, repository, where, wish.commit)) return { kind: "pushed", already: true };
      const ours = (await branchTip(parts.git, repository, wish.target)) ?? wish.commit;
      if ((await standingTo(parts.git, repository, ours, fetched.commit)) === "diverged") {
        return { kind: "failed", detail: `${wish.remote} has commits that ${wish.target} here does not have` };
      }
    }
    if (tries >= PUSH_TRIES) return sent;
    await parts.clock.sleep(PUSH_AGAIN_MS * tries);
  }
}

/** The same for whoever has just landed something by hand: everything the target has. */
export async function pushTarget(parts: ActParts, target: string): Promise<string | null> {
  if (!isPushed(await parts.config())) return null;
  const tip = await branchTip(parts.git, parts.root.gitCommonDir, target);
  return tip === undefined ? null : pushLanded(parts, target, tip);
}

/** Tried again for as long as it takes, each time after as long as it has taken so far, within what is configured. */
export async function pushAction(action: Action<"push">, parts: ActParts): Promise<ActionOutcome> {
  const { target, commit } = action.payload;
  const problem = await pushLanded(parts, target, commit);
  if (problem === null) return { ok: true };
  const { base, max } = (await parts.config()).landing.dirtyWait;
  const afterMs = Math.min(max, Math.max(base, parts.clock.now() - action.decidedAt));
  return { ok: false, problem, retry: { afterMs } };
}
