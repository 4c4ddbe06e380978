/** Traces as they lie on disk: our own forms, a session's log, Claude Code's transcripts, and whatever else is there. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { readTraces } from "./trace.ts";

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

const claude = (type: string, content: unknown, more: object = {}) => ({
  type,
  timestamp: "2026-01-02T03:04:05.000Z",
  message: { id: "m", role: type, content, usage: { input_tokens: 250_000, output_tokens: 1 } },
  ...more,
});
test("a transcript of Claude Code tells calls, results, prompts and how full the context was", () => {
  const use = { type: "tool_use", id: "t1", name: "Bash", input: { command: "npm test" } };
  const result = { type: "tool_result", tool_use_id: "t1", content: "Exit code 1", is_error: true };
  const text = lines(
    { type: "summary", summary: "x" },
    { type: "file-history-snapshot" },
    claude("user", "Please fix it"),
    claude("assistant", [use]),
    claude("user", [result]),
    claude("assistant", [{ ...use, id: "s1" }], { isSidechain: true }),
    claude("user", "Thanks"),
  );
  const [trace] = readTraces("file", text);
  expect(trace?.signals.map(({ kind }) => kind)).toEqual([
    "turn.ended",
    "turn.started",
    "usage",
    "tool.started",
    "tool.ended",
    "turn.ended",
  ]);
  expect(trace?.signals.find(({ kind }) => kind === "usage")?.data).toMatchObject({ contextWindow: 1_000_000 });
  expect(trace?.signals.find(({ kind }) => kind === "tool.ended")?.data).toMatchObject({ errorClass: "exit-1" });
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
