/** Traces of our own as they lie on disk: signals, calls for people to read, a session's log, and whatever else is there. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { scaled } from "../../test/support/scale.ts";
import { tempDir } from "../../test/support/temp.ts";
import { readTraces } from "../../test/support/traces.ts";
import { readSession } from "./read-session.ts";

const lines = (...values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");
const kinds = (text: string) => readTraces("file", text).map(({ signals }) => signals.map(({ kind }) => kind));

test("calls of one message begin together, and a file may hold several traces", () => {
  const call = (id: string, step: string, ok = true) => ({
    call: id,
    step,
    at: 9,
    tool: "Bash",
    args: { command: id },
    ok,
    ms: 3,
    result: "Exit code 2",
  });
  const text = lines(
    { trace: "one", role: "scout", labels: ["loop"], may: ["stall"] },
    call("a", "m1"),
    call("b", "m1"),
    call("c", "m2", false),
    { trace: "two", labels: [] },
    call("d", "m1"),
  );
  const [one, two] = readTraces("file", text);
  expect(one).toMatchObject({ name: "one", role: "scout", labels: ["loop"], may: ["stall"] });
  expect(one?.signals.map(({ kind, source }) => `${kind} ${source}`)).toEqual([
    "tool.started a",
    "tool.started b",
    "tool.ended a",
    "tool.ended b",
    "tool.started c",
    "tool.ended c",
  ]);
  expect(one?.signals.at(-1)?.data).toMatchObject({ ok: false, errorClass: "exit-2" });
  expect(two).toMatchObject({ name: "two", role: null, labels: [] });
});

test("REFLEX-1: a trace may say whose it is: then its tools are that agent's", () => {
  const call = {
    call: "a",
    step: "m",
    at: 9,
    tool: "str_replace_editor",
    args: { command: "view" },
    ms: 1,
    result: "",
  };
  const uses = (runtime: string) =>
    readTraces("file", lines({ trace: "one", runtime }, call)).flatMap(({ signals }) =>
      signals.flatMap((one) => (one.kind === "tool.started" ? [one.data.does] : [])),
    );
  expect(uses("swe-agent")).toEqual(["read"]);
  expect(uses("constructor")).toEqual(["other"]);
});

test("a session's log names no calls: they end in the order they began", () => {
  const record = (event: string, data: object) => ({
    time: "2026-01-02T03:04:05.000Z",
    level: "info",
    event,
    agent: "a",
    data,
  });
  const started = (args: string) => record("tool.started", { tool: "Read", args, argsHash: args, sub: null });
  const ended = record("tool.ended", { tool: "Read", ok: true, errorClass: null, ms: 1, result: "" });
  const [trace] = readTraces("file", lines(started("a"), started("b"), ended, ended));
  expect(trace?.signals.map(({ source }) => source)).toEqual(["l0", "l1", "l0", "l1"]);
  expect(trace).toMatchObject({ role: null, labels: null });
});

test("what is no trace is passed over, whatever it is", () => {
  expect(kinds("")).toEqual([]);
  expect(kinds('{"half\nnonsense\n[1]\n{"type":7}\n{"kind":"x"}')).toEqual([]);
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.object().map((value) => JSON.stringify({ type: "assistant", message: value })),
        ),
      ),
      (texts) => {
        readTraces("file", texts.join("\n"));
      },
    ),
    { numRuns: scaled(200) },
  );
});

const STARTED = { tool: "Bash", args: "{}", argsHash: "a", sub: null };
const SIGNAL = { kind: "tool.started", phase: "a", source: "x", at: 1 };

test.each([
  { ...SIGNAL, data: null },
  { ...SIGNAL, data: {} },
  { ...SIGNAL, source: undefined, data: STARTED },
  { ...SIGNAL, at: "1", data: STARTED },
  { ...SIGNAL, kind: "constructor", data: STARTED },
  { ...SIGNAL, kind: "tool.ended", data: { tool: "Bash", ok: false } },
  { ...SIGNAL, kind: "committed", data: { from: "a", to: "b", count: 1, commits: 7 } },
  { event: "tool.started", time: 1, data: [] },
  { event: "said", time: 1, data: { text: 5 } },
])("READ-1: %j is counted as a line that cannot be read, and the rest is read", (bad) => {
  const path = join(tempDir(), "a.ndjson");
  writeFileSync(path, lines({ ...SIGNAL, data: STARTED }, bad, { ...SIGNAL, source: "y", data: STARTED }));
  expect(readSession(path, () => () => undefined)).toMatchObject({ calls: 2, broken: 1, nothing: null });
});

test("READ-1: arguments nested deeper than the stack are read as that, and a time no calendar has as none", () => {
  const deep = `${'{"a":'.repeat(30_000)}1${"}".repeat(30_000)}`;
  const path = join(tempDir(), "a.ndjson");
  const late = JSON.stringify({ ...SIGNAL, at: 1e300, data: STARTED });
  writeFileSync(path, `{"call":"c","tool":"Bash","at":1e300,"args":${deep}}\n${late}\n`);
  const times: number[] = [];
  const report = readSession(path, () => (signal) => times.push(signal.at));
  expect(report).toMatchObject({ calls: 2, nothing: null });
  expect(times.every((at) => at === 0)).toBe(true);
});
