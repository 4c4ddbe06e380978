/** An attempt as rule tests begin from: at work on T1 of goal_A, as the support tree has it. */
import type { Attempt } from "#domain/attempt.ts";
import { T0 } from "./samples.ts";

export function attemptWith(parts: Partial<Attempt> = {}): Attempt {
  return {
    attempt: 4,
    agent: "builder-1",
    goalId: "goal_A",
    workNodeId: "T1",
    assignmentId: "A_1",
    capability: "builder",
    role: "builder",
    runtime: "scripted",
    model: null,
    permissionMode: "acceptEdits",
    parent: null,
    depth: 0,
    tags: [],
    scope: null,
    branch: "overseer/builder-1/T1",
    base: "0".repeat(40),
    worktree: "/repo/.overseer/worktrees/builder-1-4",
    logDir: "/repo/.overseer/logs/builder-1/4",
    interactive: false,
    keep: false,
    slinger: { pid: 1, start: "1" },
    status: "running",
    steps: {},
    terminal: null,
    runner: { pid: 2, start: "2" },
    process: null,
    session: "session-4",
    legs: 1,
    stopRequested: null,
    pausedNow: false,
    end: null,
    createdAt: T0,
    startedAt: T0,
    updatedAt: T0,
    endedAt: null,
    ...parts,
  };
}
