import { expect, test } from "bun:test";
import type { EventOf } from "#domain/model/event.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { failureKey } from "./extract.ts";
import type { Hearing } from "./hear.ts";
import { hearReport, hearSignal, NEW_HEARING } from "./hear.ts";

let clock = 0;

function run(command: string, ok: boolean, result = ""): Signal[] {
  clock += 10;
  const source = `toolu_${clock}`;
  const args = JSON.stringify({ command });
  return [
    {
      kind: "tool.started",
      source,
      phase: "start",
      at: clock,
      data: { tool: "Bash", does: "shell", argsHash: "", args, sub: null },
    },
    {
      kind: "tool.ended",
      source,
      phase: "end",
      at: clock + 5,
      data: { tool: "Bash", ok, errorClass: null, ms: 5, result },
    },
  ];
}

function hearAll(signals: readonly Signal[], from = NEW_HEARING): { hearing: Hearing; texts: string[] } {
  let hearing = from;
  const texts = signals.flatMap((signal) => {
    const after = hearSignal(hearing, signal);
    hearing = after.hearing;
    return after.found.map(({ text }) => text);
  });
  return { hearing, texts };
}

const FAILS = "Error: no test database";

test("SYNC-1: a call is heard with the words it began with, and a cancelled or unknown one is not", () => {
  const signals = [...run("npm test", false, FAILS), ...run("npm test -- --db=memory", true)];
  expect(hearAll(signals).texts).toHaveLength(1);
  const cancelled = signals.map((signal) =>
    signal.kind === "tool.ended" ? { ...signal, data: { ...signal.data, errorClass: "cancelled" } } : signal,
  );
  expect(hearAll(cancelled as Signal[]).texts).toEqual([]);
  expect(hearAll(signals.filter(({ kind }) => kind === "tool.ended")).texts).toEqual([]);
});

test("SYNC-2: what fails just now is remembered until it works", () => {
  const failing = failureKey("npm test", FAILS);
  const { hearing } = hearAll([...run("npm test 2>&1 | tail", false, FAILS), ...run("ls", true)]);
  expect(hearing.failing).toEqual([failing]);
  expect(hearAll(run("npm test -- other", true), hearing).hearing.failing).toEqual([failing]);
  expect(hearAll(run("npm test", true), hearing).hearing.failing).toEqual([]);
  expect(hearing.calls.map(({ ok }) => ok)).toEqual([false, true]);
});

test("SYNC-1: what a report says is heard too", () => {
  const data = { crystallizationId: "C_1", summary: "", currentState: "", decisions: [], knownBlockers: [] };
  const event = {
    type: "crystallization.recorded",
    at: 1,
    attempt: 1,
    data,
  } as unknown as EventOf<"crystallization.recorded">;
  expect(hearReport(NEW_HEARING, event).found).toEqual([]);
});

test("EDGE-4: whatever one attempt does, it finds no more than ten things in an hour, and remembers a bounded part", () => {
  const signals = Array.from({ length: 200 }, (_, at) => [
    ...run(`npm run task-${at}`, false, `Error: task ${"abcdefghij"[at % 10]}${at} is missing`),
    ...run(`npm run task-${at} --if-present`, true),
    {
      kind: "file.changed",
      source: `f${at}`,
      phase: "x",
      at: clock,
      data: { path: `src/d${at}/a.ts`, tool: "Edit", sub: null },
    } as Signal,
  ]).flat();
  const { hearing, texts } = hearAll(signals);
  expect(texts.length).toBeLessThanOrEqual(10);
  expect(texts.length).toBeGreaterThan(0);
  expect(JSON.stringify(hearing).length).toBeLessThan(40_000);
});
