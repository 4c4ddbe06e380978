/** The rules over a course of signals: when a step is judged, what last words are read as, and a window that proves wider. */
import { describe, expect, test } from "bun:test";
import { BUILT_IN_ROLES, readRole } from "#config/roles.ts";
import { schema } from "#config/schema.ts";
import { Replay } from "./reflex-replay.ts";
import { rulesFor } from "./reflex-rules.ts";
import type { Signal, SignalData, SignalKind } from "./signal.ts";

const rules = rulesFor(readRole("builder", BUILT_IN_ROLES.get("builder") ?? "", "builder"), schema.parse({}).reflex);
let clock = 1_000_000;
const signal = <K extends SignalKind>(kind: K, source: string, data: SignalData[K]): Signal => {
  clock += 1_000;
  return { kind, source, phase: kind, at: clock, data } as Signal;
};
const start = (id: string, step: string, args = "{}", does: "shell" | "ask-user" = "shell") =>
  signal("tool.started", id, { tool: "Bash", does, argsHash: args, args, sub: null, step });
const end = (id: string) =>
  signal("tool.ended", id, { tool: "Bash", does: "shell", ok: false, errorClass: "exit-2", ms: 1, result: "boom: no" });
const says = (text: string) => signal("said", `s${clock}`, { text });
const stops = (text = "") => signal("turn.ended", `t${clock}`, { ok: true, reason: "completed", text, costUsd: null });
const fills = (contextTokens: number, contextWindow: number) =>
  signal("usage", `u${clock}`, {
    ...{ inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
    contextTokens,
    contextWindow,
  });

function replayed(...signals: readonly Signal[]) {
  const one = new Replay({ name: "x" }, rules);
  for (const [index, each] of signals.entries()) one.take(each, each.kind === "tool.started" ? index + 100 : 0);
  return one.finish();
}

const failing = (count: number) =>
  Array.from({ length: count }, (_, at) => [start(`c${at}`, `m${at}`, "npm test"), end(`c${at}`)]).flat();

describe("ANOM-2: when a step is judged", () => {
  test("at its boundary, and the sentence names the last call", () => {
    const { fired, calls, steps } = replayed(...failing(3));
    expect({ calls, steps }).toEqual({ calls: 3, steps: 3 });
    expect(fired).toMatchObject([{ anomaly: "loop", step: 3, call: { id: "c2", ordinal: 104 } }]);
  });

  test("a call that never ends holds up its own step only", () => {
    const { fired } = replayed(start("lost", "m-1"), ...failing(5));
    expect(fired[0]).toMatchObject({ anomaly: "loop" });
  });
});

describe("LIVE-1: what last words are read as", () => {
  const classes = (...signals: readonly Signal[]) => replayed(...signals).readings.map((one) => one.class);

  test("a question at the end of a turn, or when a program wakes whoever stopped with it", () => {
    expect(classes(start("a", "m"), end("a"), says("Should I continue?"), stops())).toEqual(["waiting-on-human"]);
    const woken = signal("notified", "n", { type: "program", text: "" });
    expect(classes(start("a", "m"), end("a"), says("Should I continue?"), woken, stops())).toEqual([
      "waiting-on-human",
    ]);
  });

  test("words on the way are no last words", () => {
    expect(classes(says("Should I look first?"), start("a", "m"), end("a"), stops())).toEqual([]);
  });

  test("a failure of the provider, and a call that asks a person", () => {
    const failed = signal("api.failed", "f", { cause: "quota", detail: "limit", resetsAt: null });
    expect(classes(start("a", "m"), end("a"), failed, stops())).toEqual(["failed"]);
    expect(classes(start("a", "m", "{}", "ask-user"))).toEqual(["waiting-on-human"]);
  });
});

test("ANOM-3: what was said of a window that proves wider was not said", () => {
  const reads = (at: number) => [
    start(`v${at}`, `v${at}`, `ls ${at}`),
    signal("tool.ended", `v${at}`, { tool: "Bash", ok: true, errorClass: null, ms: 1, result: `files ${at}` }),
  ];
  const calm = [fills(190_000, 200_000), ...[1, 2, 3].flatMap(reads)];
  const aboutContext = (...signals: readonly Signal[]) =>
    replayed(...signals).fired.filter(({ anomaly }) => anomaly.startsWith("context")).length;
  expect(aboutContext(...calm)).toBeGreaterThan(0);
  expect(aboutContext(...calm, fills(300_000, 1_000_000))).toBe(0);
});

test("time at work leaves out nights, and a record without times has none", () => {
  const late = { ...says("x"), at: clock + 9 * 3_600_000 };
  expect(replayed(start("a", "m"), end("a"), late).workMs).toBe(301_000);
  expect(replayed(...[start("a", "m"), end("a")].map((one) => ({ ...one, at: 0 }))).workMs).toBe(0);
});
