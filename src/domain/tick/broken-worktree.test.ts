/** FAIL-11: whose worktree is broken is neither blamed nor charged; a fresh one is given, and not for ever. */
import { expect, test } from "bun:test";
import { applyToRecovery } from "#domain/model/ladder-state.ts";
import {
  applied,
  attemptWith,
  endedWith,
  NOW,
  pulseWith,
  recoveryWith,
  silentFor,
  snapshotOf,
  working,
} from "../../../test/support/snapshots.ts";
import { nodeWith, placed } from "../../../test/support/tree.ts";
import { decide } from "./decide.ts";
import type { Snapshot } from "./snapshot.ts";

const brokenWorktree = { part: "index", detail: "index file corrupt", wip: "refs/overseer/wip/A_1/1" } as const;
const died = (parts: Partial<Snapshot> = {}, cause: "died" | "failed" = "died") =>
  snapshotOf({ nodes: [nodeWith("queued")], ended: [endedWith({ cause }, { brokenWorktree })], ...parts });
const living = (seen: Parameters<typeof working>[0] = {}, parts: Partial<Snapshot> = {}) =>
  working({ attempt: attemptWith({ brokenWorktree }), ...seen }, parts);
const times = (brokenWorktrees: number) => [recoveryWith({ brokenWorktrees })];
/** Every restart and every fresh agent is spent. */
const spent = recoveryWith({ restarts: 2, level: 4, steps: { ...recoveryWith().steps, reassign: 2 } });

const CASES: [what: string, snapshot: Snapshot, actions: string[]][] = [
  ["it died there: a fresh agent, and no restart", died(), ["reassign worktree-broken"]],
  ["it failed there: the same", died({}, "failed"), ["reassign worktree-broken"]],
  ["its restarts are spent: it costs none", died({ recoveries: [spent] }), ["reassign worktree-broken"]],
  ["the second time", died({ recoveries: times(1) }), ["reassign worktree-broken"]],
  ["the third time: a person", died({ recoveries: times(2) }), ["ask tried-too-often"]],
  ["it is at work there: a fresh agent at once", living(), ["reassign worktree-broken"]],
  ["it is silent there: no words are wasted", living({ pulse: silentFor(3_600_000) }), ["reassign worktree-broken"]],
  ["it is at work, the third time: a person", living({}, { recoveries: times(2) }), ["ask worktree-broken"]],
  ["it is paused: it is left alone", living({ attempt: attemptWith({ brokenWorktree, status: "paused" }) }), []],
  ["its process is gone: it is buried first", living({ evidence: gone() }), ["stop proven-by-process"]],
  ["its worktree is whole", working({ pulse: pulseWith() }), []],
];

function gone() {
  return [{ source: "process", says: "gone", at: NOW, reliability: "proof" }] as const;
}

test.each(CASES)("FAIL-11: %s", (_what, snapshot, actions) => {
  expect(decide(snapshot).actions.map(({ kind, because }) => `${kind} ${because}`)).toEqual(actions);
});

test.each([
  ["dead", died()],
  ["living", living()],
])("FAIL-11: what is decided once for a %s one is not decided again", (_what, snapshot) => {
  const decided = decide(snapshot);
  expect(decide(applied(snapshot, decided)).actions).toEqual([]);
  expect(decided.events.find(({ type }) => type === "assignment.reassigning")?.data).toMatchObject({ number: 1 });
});

test("FAIL-11: it costs neither restarts nor fresh agents, outlasts progress, and is forgotten at a person's word", () => {
  const about = { actor: "overseer", goalId: spent.goalId, nodeId: spent.workNodeId, because: "" } as const;
  const step = { number: 1, cause: "worktree-broken", backoffUntil: NOW };
  const broken = applyToRecovery(spent, placed({ ...about, type: "assignment.reassigning", data: step }));
  expect(broken).toMatchObject({ restarts: 2, level: 4, steps: { reassign: 2 }, brokenWorktrees: 1 });
  const data = { source: "commit", seenAt: NOW };
  const further = applyToRecovery(broken, placed({ ...about, type: "assignment.progressed", data }));
  expect(further).toMatchObject({ restarts: 0, brokenWorktrees: 1 });
  const unblocked = applyToRecovery(further, placed({ ...about, type: "work.unblocked", data: { reason: null } }));
  expect(unblocked).toMatchObject({ brokenWorktrees: 0 });
});
