/** SALUTE reports: what they say, when they are due, and what an overseer elsewhere makes of them. */
import { describe, expect, test } from "bun:test";
import { useOf } from "#domain/core/tools.ts";
import { CLAUDE_TOOLS } from "#runtimes/claude-code/tools.ts";
import { beat, newPulse, type Pulse } from "./pulse.ts";
import { rulesFor } from "./reflex-rules.ts";
import { isSaluteDue, type Salute, saluteOf, sentenceIn, withSalute } from "./salute.ts";
import { type Overlooked, overlook, saluteIn } from "./salute-watch.ts";
import type { Signal } from "./signal.ts";

const settings = {
  radioCheckSteps: 3,
  cooldownSteps: 3,
  contextWarn: 80,
  contextUrgent: 90,
  loopRepeats: 3,
  cascadeTools: 3,
  cascadeWindow: 5,
};
const pace = { primary: "P.", alternate: "A.", contingent: "C.", emergency: "E." };
const doctrine = { saluteIntervalSteps: 4, maxStepsWithoutProgress: 12, radioCheckSteps: 3 };
const rules = rulesFor({ capability: "builder", readOnly: false, doctrine, pace }, settings);
const unit = {
  agent: "ada",
  attempt: 7,
  role: "builder",
  capability: "builder",
  goalId: "goal_A",
  workNodeId: "T1",
  task: "Do",
  runtime: "scripted",
  worktree: "/w",
  branch: "b",
};

let counter = 0;
function call(pulse: Pulse, file: string, tool = "Edit", ok = true): Pulse {
  const source = `t${++counter}`;
  const args = JSON.stringify({ file_path: file });
  const started = {
    kind: "tool.started",
    source,
    phase: "start",
    at: counter,
    data: { tool, does: useOf(CLAUDE_TOOLS, tool), argsHash: args, args, sub: null },
  } as Signal;
  const data = { tool, ok, errorClass: ok ? null : "error", ms: 1, result: ok ? "done" : "gone" };
  return beat(beat(pulse, started), { kind: "tool.ended", source, phase: "end", at: counter, data } as Signal);
}
const work = (count: number) =>
  Array.from({ length: count }, (_, at) => `f${at}`).reduce((pulse, file) => call(pulse, file), newPulse(7, "ada"));
const loop = (count: number, from = newPulse(7, "ada")) =>
  Array.from({ length: count }).reduce<Pulse>((pulse) => call(pulse, "x", "Read", false), from);
const iso = (at: number) => `t${at}`;
const salute = (pulse: Pulse, more: { now?: number; reflex?: boolean; ended?: boolean } = {}): Salute =>
  saluteOf({ pulse, unit, rules, reflex: more.reflex ?? false, ended: more.ended ?? false, iso, now: more.now ?? 1 });

test("SALUTE-1: a report has size, activity, location, unit, time, equipment and status", () => {
  const report = salute(work(2), { now: 9 });
  expect(report).toMatchObject({
    size: { steps: 2, toolCalls: 2 },
    activity: { doing: "Edit “f1”", inTurn: true },
    location: { worktree: "/w", branch: "b" },
    unit: { agent: "ada", attempt: 7, role: "builder", workNodeId: "T1" },
    time: { at: "t9" },
    equipment: { runtime: "scripted" },
    status: { state: "working", health: "ok", pace: "primary", anomalies: [], reflex: false },
  });
  expect(salute(loop(4)).status).toMatchObject({ health: "degraded", anomalies: ["loop"] });
  expect(salute(loop(9)).status).toMatchObject({ health: "critical", pace: "emergency" });
});

test("SALUTE-1: it is due at first, on the role's interval and on change, and the history is bounded", () => {
  const first = salute(work(1));
  expect(isSaluteDue(undefined, first)).toBe(true);
  expect(isSaluteDue(first, salute(work(4)))).toBe(false);
  expect(isSaluteDue(first, salute(work(5)))).toBe(true);
  expect(isSaluteDue(first, salute(loop(3)))).toBe(true);
  expect(isSaluteDue(first, salute(work(1), { ended: true }))).toBe(true);
  const history = Array.from({ length: 60 }).reduce<string>((text) => withSalute(text, first, 50), "");
  expect(history.trim().split("\n")).toHaveLength(50);
});

describe("SALUTE-2: an overseer with only the reports", () => {
  const look = (report: Salute, before?: Overlooked, now = 1_000) =>
    overlook(before, report, now, { goneAfterMs: 60_000 });

  test("steers one that does not steer itself, once per cooldown, and only on news", () => {
    const first = look(salute(loop(3)));
    expect(first.steering).toMatchObject({ anomaly: "loop", step: 3 });
    expect(look(salute(loop(3)), first.memory).steering).toBeUndefined();
    expect(look(salute(loop(4), { now: 2 }), first.memory).steering).toBeUndefined();
    expect(look(salute(loop(6), { now: 3 }), first.memory).steering?.anomaly).toBe("loop");
  });

  test("keeps its hands off one that does", () => {
    expect(look(salute(loop(3), { reflex: true }))).toMatchObject({ steering: undefined, over: false });
  });

  test("tells of an emergency, of the end, and once of silence", () => {
    expect(look(salute(loop(9))).emergency).toBe(true);
    expect(look(salute(work(1), { ended: true }))).toMatchObject({ over: true, notes: ["ada#7 has ended."] });
    const seen = look(salute(work(1)));
    const later = look(salute(work(1)), seen.memory, 61_000);
    expect(later).toMatchObject({ over: true, steering: undefined });
    expect(later.notes[0]).toContain("may be gone");
    expect(look(salute(work(1)), later.memory, 62_000).notes).toEqual([]);
    expect(look(salute(work(2), { now: 5 }), later.memory, 63_000).over).toBe(false);
  });

  test("passes over what is no report, and an agent over what is no word for it", () => {
    const report = JSON.parse(JSON.stringify(salute(work(1))));
    expect(saluteIn(report)).toBeDefined();
    for (const odd of [
      undefined,
      null,
      3,
      {},
      { ...report, v: 2 },
      { ...report, unit: { agent: "../x" } },
      { ...report, rules: {} },
    ]) {
      expect(saluteIn(odd)).toBeUndefined();
    }
    const note = { v: 1, agent: "ada", attempt: 7, anomaly: "loop", step: 1, text: "[SUPERVISOR] Stop.\n</x>", at: "" };
    expect(sentenceIn(note, 7)).toBe("[SUPERVISOR] Stop. /x ");
    for (const odd of [undefined, null, { ...note, attempt: 6 }, { ...note, text: "Do as I say" }, { ...note, v: 2 }]) {
      expect(sentenceIn(odd, 7)).toBeUndefined();
    }
  });
});
