/** What the reader makes of lines that Claude Code 2.1.325 really printed (test/samples), and of nonsense. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beat, newPulse, type Pulse } from "#domain/signals/pulse.ts";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import { streamReaders } from "./claude-code/stream.ts";

const SAMPLES = join(import.meta.dir, "../../test/samples/claude-2.1.325");

function sample(name: string): string[] {
  return readFileSync(join(SAMPLES, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
}

function read(lines: readonly string[], reader = streamReaders()(1)): Signal[] {
  return lines.flatMap((line, index) => reader.read(line, 1_000 + index));
}

function of<K extends SignalKind>(signals: readonly Signal[], kind: K): Signal<K>[] {
  return signals.filter((signal) => signal.kind === kind) as unknown as Signal<K>[];
}

/** As the store does it: what has the same source and phase is one. */
function pulseOf(signals: readonly Signal[]): Pulse {
  const once = new Map<string, Signal>();
  for (const signal of signals) {
    const key = `${signal.source} ${signal.phase}`;
    if (!once.has(key)) once.set(key, signal);
  }
  return [...once.values()].reduce(beat, newPulse(1, "ada"));
}

test("RUN-1: parallel calls each have one start and one end, whatever their order", () => {
  const signals = read(sample("parallel-and-subagent"));
  const started = of(signals, "tool.started");
  const ended = of(signals, "tool.ended");
  expect(started.map(({ data }) => data.tool)).toEqual(["Bash", "Bash", "Agent", "Bash", "Bash"]);
  expect(ended.map(({ source }) => source).toSorted()).toEqual(started.map(({ source }) => source).toSorted());
  expect(ended.filter(({ data }) => !data.ok)).toMatchObject([{ data: { tool: "Bash", errorClass: "exit-3" } }]);
  expect(ended.every(({ data }) => data.ms !== null)).toBe(true);
});

test("RUN-1: a sub-agent's calls are told apart, its words are not the agent's, and its tokens count once", () => {
  const signals = read(sample("parallel-and-subagent"));
  const [agentCall] = of(signals, "tool.started").filter(({ data }) => data.tool === "Agent");
  const subs = of(signals, "tool.started").filter(({ data }) => data.sub !== null);
  expect(subs.map(({ data }) => data.sub)).toEqual([agentCall?.source ?? ""]);
  expect(of(signals, "said").map(({ data }) => data.text)).not.toContain("sub done");
  // Six requests reached the model: four of the agent's, two of its sub-agent's; 1000 tokens in and 10 out each.
  expect(pulseOf(signals).usage).toMatchObject({ inputTokens: 6_000, outputTokens: 60 });
  expect(pulseOf(signals).contextTokens).toBe(1_001);
  expect(pulseOf(signals).contextWindow).toBe(1_000_000);
});

test("RUN-1: a turn that waits for its own agents has not ended", () => {
  const lines = sample("parallel-and-subagent");
  const result = lines.findIndex((line) => line.includes('"type":"result"'));
  const until = read(lines.slice(0, result + 1));
  expect(of(until, "turn.started")).toHaveLength(1);
  expect(of(until, "turn.ended")).toEqual([]);
  const all = read(lines);
  expect(of(all, "turn.ended").map(({ data }) => data.ok)).toEqual([true, true]);
  expect(pulseOf(all).inTurn).toBe(false);
});

test("RUN-1: an interrupted turn ends by its result, and the broken call is known as such", () => {
  const signals = read(sample("interrupted"));
  expect(of(signals, "turn.ended")).toMatchObject([{ data: { ok: false, reason: "aborted_tools" } }]);
  expect(of(signals, "tool.ended")).toMatchObject([{ data: { ok: false, errorClass: "interrupted" } }]);
  expect(of(signals, "api.failed")).toEqual([]);
});

test("QUOTA-1: a refused request is seen while it is retried and when it is given up", () => {
  const signals = read(sample("failed-and-compacted"));
  expect(of(signals, "api.retry")).toMatchObject([{ data: { attempt: 1, cause: "rate_limit" } }]);
  expect(of(signals, "api.failed")).toMatchObject([{ data: { cause: "quota", resetsAt: null } }]);
  expect(of(signals, "said").map(({ data }) => data.text)).toEqual(["One.", "Two."]);
  const turns = of(signals, "turn.ended").map(({ data }) => data.ok);
  expect(turns).toEqual([true, false, true, true]);
  expect(of(signals, "turn.started")).toHaveLength(4);
});

test("RUN-1: a compaction is known, with its tokens, which count too", () => {
  const signals = read(sample("failed-and-compacted"));
  expect(of(signals, "compacted")).toMatchObject([
    { data: { trigger: "manual", beforeTokens: expect.any(Number), afterTokens: expect.any(Number) } },
  ]);
  expect(pulseOf(signals).usage).toMatchObject({ inputTokens: 4_000, outputTokens: 40, turns: 4 });
});

test("RUN-1: a call that was not permitted is a denied one", () => {
  const signals = read(sample("denied"));
  expect(of(signals, "tool.ended")).toMatchObject([{ data: { tool: "Write", ok: false, errorClass: "denied" } }]);
});

test("RUN-1: the session starts once in a leg, though every turn says so", () => {
  const lines = sample("failed-and-compacted");
  expect(lines.filter((line) => line.includes('"subtype":"init"')).length).toBeGreaterThan(1);
  expect(of(read(lines), "session.started")).toMatchObject([{ data: { version: "2.1.325" } }]);
});

test.each(["parallel-and-subagent", "interrupted", "failed-and-compacted", "denied"])(
  "RUN-1: %s, read twice, is counted once",
  (name) => {
    const lines = sample(name);
    const once = pulseOf(read(lines));
    expect(pulseOf([...read(lines), ...read(lines)])).toEqual(once);
  },
);

const usage = (input: number, output: number) => ({ input_tokens: input, output_tokens: output });
const message = (id: string, input: number) =>
  JSON.stringify({ type: "assistant", message: { id, model: "m", content: [], usage: usage(input, 1) } });
const result = (turn: [number, number], total: [number, number], cost: number) =>
  JSON.stringify({
    type: "result",
    subtype: "success",
    uuid: crypto.randomUUID(),
    usage: usage(...turn),
    modelUsage: { m: { inputTokens: total[0], outputTokens: total[1], contextWindow: 200_000 } },
    total_cost_usd: cost,
  });

const legs: [why: string, legs: string[][], tokens: [number, number], cost: number][] = [
  [
    "totals that continue after an orderly end",
    [
      [message("a", 100), result([100, 10], [100, 10], 1)],
      [message("b", 50), result([50, 5], [150, 15], 1.5)],
    ],
    [150, 15],
    1.5,
  ],
  [
    "totals that begin again",
    [
      [message("a", 100), result([100, 10], [100, 10], 1)],
      [message("b", 50), result([50, 5], [50, 5], 0.5)],
    ],
    [150, 15],
    1.5,
  ],
  [
    "a turn that was killed",
    [
      [message("a", 100), result([100, 10], [100, 10], 1), message("k", 70)],
      [message("b", 50), result([50, 5], [50, 5], 0.5)],
    ],
    [220, 16],
    1.5,
  ],
  ["a killed first turn", [[message("k", 70)], [message("b", 50), result([50, 5], [50, 5], 0.5)]], [120, 6], 0.5],
  ["blocks of one message", [[message("a", 100), message("a", 100), result([100, 10], [100, 10], 1)]], [100, 10], 1],
  ["a sub-agent in the totals only", [[message("a", 100), result([100, 10], [300, 30], 3)]], [300, 30], 3],
];

test.each(legs)("RUN-1: spending is counted once across legs: %s", (_why, lines, tokens, cost) => {
  const readers = streamReaders();
  const pulse = pulseOf(lines.flatMap((leg, index) => read(leg, readers(index + 1))));
  expect([pulse.usage.inputTokens, pulse.usage.outputTokens]).toEqual(tokens);
  expect(pulse.usage.costUsd).toBeCloseTo(cost, 9);
});

const causes: [cause: string, line: object][] = [
  ["quota", { api_error_status: 429, result: "API Error: Request rejected (429)" }],
  ["auth", { api_error_status: 401, result: "Invalid API key" }],
  ["auth", { api_error_status: 403, result: "Failed to authenticate." }],
  ["billing", { api_error_status: 400, result: "Credit balance is too low" }],
  ["too_long", { api_error_status: 400, result: "Prompt is too long", terminal_reason: "prompt_too_long" }],
  ["overloaded", { api_error_status: 529, result: "API Error: 529 Overloaded" }],
  ["overloaded", { api_error_status: 500, result: "API Error: 500 boom" }],
  ["network", { api_error_status: null, result: "API Error: Unable to connect to API (ConnectionRefused)" }],
  ["unknown", { api_error_status: 400, result: "API Error: 400 something odd" }],
];

test.each(causes)("QUOTA-1: a given-up turn has its cause: %s", (cause, line) => {
  // 2.1.197 calls it completed, 2.1.325 api_error; both call it a success.
  for (const terminal_reason of ["completed", "api_error"]) {
    const text = JSON.stringify({ type: "result", subtype: "success", is_error: true, terminal_reason, ...line });
    expect(of(read([text]), "api.failed")).toMatchObject([{ data: { cause } }]);
  }
});

test("QUOTA-1: the time of the reset is kept when the provider told it", () => {
  const told = JSON.stringify({
    type: "rate_limit_event",
    rate_limit_info: { status: "rejected", resetsAt: 1_800_000_000 },
  });
  const failed = JSON.stringify({
    type: "result",
    subtype: "success",
    is_error: true,
    api_error_status: 429,
    result: "no",
  });
  expect(of(read([told, failed]), "api.failed")).toMatchObject([{ data: { resetsAt: 1_800_000_000_000 } }]);
});

test("RUN-1: no line makes the reader throw", () => {
  const reader = streamReaders()(1);
  const type = fc.constantFrom("system", "user", "assistant", "result", "rate_limit_event", "x");
  const subtype = fc.constantFrom("init", "api_retry", "compact_boundary", "background_tasks_changed", "success", "x");
  const line = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .tuple(
        type,
        subtype,
        fc.dictionary(fc.constantFrom("message", "usage", "tasks", "uuid", "is_error"), fc.jsonValue()),
      )
      .map(([kind, sub, rest]) => JSON.stringify({ ...rest, type: kind, subtype: sub })),
  );
  fc.assert(fc.property(line, (text) => Array.isArray(reader.read(text, 0))));
});
