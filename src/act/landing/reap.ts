/**
 * After the work has landed, or ended otherwise: the agent is stopped and its worktree goes (WT-2). Logs stay, and
 * whatever is not in the target, uncommitted files and unlanded commits alike, stays reachable from a recovery ref. A
 * worktree that holds what no ref can keep stays, and the log says so: nobody is there who could say that it may go.
 * Nothing is removed under an agent that still lives or has living children. Repeatable; it looks first what is left.
 */

import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { findBroken, recordBroken } from "#act/attempt-end/keep-work.ts";
import { attemptDir, removalLimits, wakeRunner, wipLimits } from "#act/attempt-files.ts";
import { momentNow } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { forgetSerenaProjects } from "#act/serena.ts";
import { livingDescendants } from "#domain/agents/lineage.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel, isLiving, noteWorktreeKept, requestStop } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";
import { type RemovalRequest, removeWorktree } from "#git/worktree-removal.ts";
import { attemptByNumber, livingAttempts } from "#store/attempts.ts";
import { letGoInTime } from "./kept-refs.ts";
import { landingBranch, withWriter } from "./target-branch.ts";

export type ReapOutcome =
  | { readonly kind: "reaped"; readonly recovery: readonly string[] }
  /** It is asked to stop and has not ended yet, or has children at work: to be tried again. */
  | { readonly kind: "waiting"; readonly because: string }
  | { readonly kind: "kept"; readonly because: string };

/** Throws what removeWorktree throws for a worktree that is locked or not the one it should be. */
export async function reap(parts: ActParts, number: number): Promise<ReapOutcome> {
  const store = await parts.writer();
  const { attempt, living } = await store.read({ attempt: attemptByNumber(number), living: livingAttempts() });
  if (!attempt)
    throw new OverseerError("not-found", "ATTEMPT_UNKNOWN", `There is no attempt #${number}.`, "Check the number.");
  const [child] = livingDescendants(new Set([number]), living);
  if (child) return { kind: "waiting", because: `${attemptLabel(child)} still works for it` };
  // One that was restarted continues where the one before it worked.
  const heir = living.find((one) => one.worktree === attempt.worktree && one.attempt !== number);
  if (heir) return { kind: "waiting", because: `${attemptLabel(heir)} works in its worktree` };
  if (isLiving(attempt)) {
    await askToStop(parts, number, attempt.agent);
    await settleLeftovers(parts);
    const { now } = await store.read({ now: attemptByNumber(number) });
    if (now && isLiving(now)) return { kind: "waiting", because: `${attemptLabel(now)} is being stopped` };
  }
  const config = await parts.config();
  if (attempt.keep || config.landing.keepWorktree) return { kind: "kept", because: "its worktree is kept" };
  const request: RemovalRequest = {
    path: attempt.worktree,
    branch: attempt.branch,
    expectedCommonDir: parts.root.gitCommonDir,
    target: await landingBranch(withWriter(parts)),
    base: attempt.base,
    isLeased: async () => {
      const { now } = await store.read({ now: attemptByNumber(number) });
      return now !== undefined && isLiving(now);
    },
    force: true,
    ...removalLimits(config),
  };
  try {
    const { recovery } = await removeWorktree(parts.git, request);
    await parts.files.remove(attemptDir(parts, number));
    await forgetSerenaProjects(parts);
    await letGoInTime(parts);
    return { kind: "reaped", recovery };
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    const because = error.code === "WORKTREE_HOLDS_MORE" ? error.message : await describeBroken(parts, attempt);
    if (because === undefined) throw error;
    await store.commit({
      at: parts.clock.now(),
      reads: { now: attemptByNumber(number) },
      decide: ({ now }) => noteWorktreeKept(now, because, momentNow(parts)),
    });
    return { kind: "kept", because };
  }
}

/** Nobody can prove what a broken worktree holds, so it stays for a person to look into; its files are kept beside. */
async function describeBroken(parts: ActParts, attempt: Attempt): Promise<string | undefined> {
  const place = { ...attempt, commonDir: parts.root.gitCommonDir, limits: wipLimits(await parts.config()) };
  const broken = attempt.brokenWorktree ?? (await findBroken(parts.git, place));
  if (!broken || broken.part === "directory") return undefined;
  await recordBroken(parts, attempt.attempt, broken);
  return `${attempt.worktree} is broken (${broken.detail}), so nobody can tell what it holds; remove it by hand.`;
}

async function askToStop(parts: ActParts, number: number, agent: string): Promise<void> {
  await (await parts.writer()).commit({
    at: parts.clock.now(),
    reads: { attempt: attemptByNumber(number) },
    decide: ({ attempt }) => requestStop(attempt, agent, "Its work has ended.", momentNow(parts)),
  });
  await wakeRunner(parts, number);
}
