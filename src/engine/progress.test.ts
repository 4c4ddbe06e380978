/** HEALTH-3: what counts as progress: signals folded into a pulse, seen by the watcher, judged by the tick. */
import { expect, test } from "bun:test";
import { beat, newPulse, type Pulse } from "#domain/signals/pulse.ts";
import type { Signal, SignalData, SignalKind } from "#domain/signals/signal.ts";
import { decide } from "#domain/tick/decide.ts";
import { listRecordedProgress } from "#domain/tick/progress.ts";
import { virtualProcesses } from "#sim/virtual-processes.ts";
import { memoryStore } from "#store/memory.ts";
import { claimWith } from "../../test/support/claims.ts";
import { attemptWith, LIMITS, MINUTE, NOW, recoveryWith, working } from "../../test/support/snapshots.ts";
import { nodeWith } from "../../test/support/tree.ts";
import { worldOn } from "../../test/support/world.ts";
import { machineObserver } from "./observe.ts";

const BEFORE = NOW - 5 * MINUTE;
const AFTER = NOW - MINUTE;

function signal<K extends SignalKind>(kind: K, at: number, data: SignalData[K], source: string): Signal {
  return { kind, source, phase: kind, at, data } as Signal;
}

/** A call that worked, or failed. */
function call(at: number, does: "read" | "edit" | "shell" | "report", args: string, ok = true): Signal[] {
  const [tool, id] = [does, `${does}-${args}-${at}`];
  const said = { tool, ok, does, errorClass: ok ? null : "exit-1", ms: 1, result: `of ${args}`, resultHash: args };
  return [
    signal("tool.started", at, { tool, does, argsHash: args, args: JSON.stringify({ path: args }), sub: null }, id),
    signal("tool.ended", at, said, id),
  ];
}

const committed = signal("committed", AFTER, { from: "a", to: "b", count: 1, commits: [], madeAt: AFTER }, "c");
const turnEnded = signal("turn.ended", AFTER, { ok: true, reason: "completed", text: "Done.", costUsd: null }, "t");
const nodes = new Map([["goal_A/T1", nodeWith("in_progress")]]);

/** Whether what an agent of that role did after the last step gave its budgets back. */
async function countsAsProgress(
  signals: readonly Signal[],
  { capability = "builder", reports = new Map<number, number>(), known = nodes } = {},
): Promise<boolean> {
  const processes = virtualProcesses();
  const runner = processes.spawn();
  const base = worldOn(memoryStore());
  const world = { ...base, processes, clock: { ...base.clock, now: () => NOW } };
  const attempt = attemptWith({ runner, process: runner, capability });
  const pulse = [...call(BEFORE, "read", "a.txt"), ...signals].reduce<Pulse>(beat, newPulse(1, "builder-1"));
  const seen = await machineObserver(world, { periodMs: null }).evidence([attempt], new Map([[1, pulse]]));
  const evidence = [...(seen.get(1) ?? []), ...listRecordedProgress({ attempt, pulse }, LIMITS, reports, known)];
  const lastStep = { level: 2, lastStepAt: NOW - 2 * MINUTE, backoffUntil: NOW + MINUTE, cause: "no-activity" };
  const snapshot = working({ attempt, pulse, evidence }, { recoveries: [recoveryWith(lastStep)] });
  return decide(snapshot).events.some(({ type }) => type === "assignment.progressed");
}

const READER = { capability: "scout" };
const checkedNode = { ...nodeWith("in_progress"), claim: claimWith({ attempt: 1, checkedAt: AFTER }) };

test.each<[string, readonly Signal[], Parameters<typeof countsAsProgress>[1], boolean]>([
  ["nothing at all", [], {}, false],
  ["a changed file", call(AFTER, "edit", "b.txt"), {}, true],
  ["a change that failed", call(AFTER, "edit", "b.txt", false), {}, false],
  ["a commit", [committed], {}, true],
  ["a new result of its checks", [], { known: new Map([["goal_A/T1", checkedNode]]) }, true],
  ["an accepted report", [], { reports: new Map([[1, AFTER]]) }, true],
  ["a report from before the step", [], { reports: new Map([[1, BEFORE]]) }, false],
  ["a step that was completed", call(AFTER, "shell", "ls"), {}, false],
  ["a turn that was completed", [turnEnded], {}, false],
  ["a first look, by one that writes", call(AFTER, "read", "b.txt"), {}, false],
  ["a first look, by one that only reads", call(AFTER, "read", "b.txt"), READER, true],
  ["a look at what it has seen, by one that only reads", call(AFTER, "read", "a.txt"), READER, false],
  ["a look that failed, by one that only reads", call(AFTER, "read", "b.txt", false), READER, false],
  ["something told, by one that only reads", call(AFTER, "report", "found it"), READER, true],
  ["the same told again", [...call(BEFORE, "report", "found it"), ...call(AFTER, "report", "found it")], READER, false],
  ["a step that was completed, by one that only reads", call(AFTER, "shell", "ls"), READER, false],
])("HEALTH-3: whether it gives budgets back: %s", async (_what, signals, options, expected) => {
  expect(await countsAsProgress(signals, options)).toBe(expected);
});
