/** Attempts, claims and receipts without a store: what the rules about done and landing begin from. */

import type { ClaimSeen, DoneReport } from "#domain/landing/report-done.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Receipt } from "#domain/model/check.ts";
import type { Claim } from "#domain/model/claim.ts";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { T0 } from "./samples.ts";
import { attemptWith as aliveAttempt } from "./snapshots.ts";
import { assignmentWith, nodeWith } from "./tree.ts";

export const BASE = "b".repeat(40);
export const COMMIT = "c".repeat(40);

export function attemptWith(parts: Partial<Attempt> = {}): Attempt {
  return aliveAttempt({
    attempt: 7,
    agent: "builder-1",
    branch: "overseer/builder-1/T1",
    base: BASE,
    worktree: "/w/builder-1-7",
    process: null,
    session: null,
    ...parts,
  });
}

export function claimWith(parts: Partial<Claim> = {}): Claim {
  return {
    attempt: 7,
    agent: "builder-1",
    assignmentId: "A_1",
    commit: COMMIT,
    base: BASE,
    branch: "overseer/builder-1/T1",
    noChangeReason: null,
    summary: "It parses",
    evidence: NO_EVIDENCE,
    crystallizationId: null,
    claimedAt: T0,
    verdict: null,
    checkedAt: null,
    receipts: [],
    turn: 1,
    approvedBy: null,
    prepared: null,
    waiting: null,
    ...parts,
  };
}

export function receiptWith(parts: Partial<Receipt> = {}): Receipt {
  return {
    checkId: "K_1",
    name: "tests",
    on: "done",
    commit: COMMIT,
    tree: "t".repeat(40),
    command: "npm test",
    verdict: "pass",
    why: null,
    exit: 0,
    logPath: "/l/tests.log",
    durationMs: 5,
    excerpt: "",
    ...parts,
  };
}

export const FAILED = receiptWith({ verdict: "fail", why: "exit 1", exit: 1, excerpt: "1 test failed" });
export const SILENT = receiptWith({ verdict: "did_not_run", why: "the command was not found (exit 127)", exit: 127 });

export function reportWith(parts: Partial<DoneReport> = {}): DoneReport {
  return {
    attempt: 7,
    work: { kind: "commit", commit: COMMIT, base: BASE, branch: "overseer/builder-1/T1" },
    summary: "It parses",
    evidence: NO_EVIDENCE,
    crystallizationId: null,
    noChangeReason: null,
    checks: ["tests"],
    ...parts,
  };
}

/** One task in progress, with the agent that has it. */
export function seenWith(node: Partial<WorkNode> = {}, more: Partial<ClaimSeen> = {}): ClaimSeen {
  const one = nodeWith("in_progress", node);
  return { node: one, nodes: [one], attempt: attemptWith(), assignment: assignmentWith(), ...more };
}

export const RETURNS = { rounds: 3, messageId: "m_1", questionId: "q_1" };
