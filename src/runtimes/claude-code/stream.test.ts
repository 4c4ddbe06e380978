/** Lines as real CLIs print them, and what each means to us. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import { anyText } from "../../../test/support/any-text.ts";
import { scaled } from "../../../test/support/scale.ts";
import { PLANTED_SECRETS } from "../../../test/support/secrets.ts";
import { interruptLine, streamReaders, userLine } from "./stream.ts";

type Line = Record<string, unknown>;

/** Reads the lines a second apart. */
function read(...lines: (Line | string)[]): Signal[] {
  const reader = streamReaders()(1);
  return lines.flatMap((line, index) =>
    reader.read(typeof line === "string" ? line : JSON.stringify(line), (index + 1) * 1000),
  );
}

function kinds(signals: readonly Signal[]): SignalKind[] {
  return signals.map((signal) => signal.kind);
}

const SESSION = "0b7c1a52-0000-4000-8000-000000000001";
const init: Line = {
  type: "system",
  subtype: "init",
  session_id: SESSION,
  model: "claude-sonnet-4-5",
  claude_code_version: "2.1.325",
  permissionMode: "acceptEdits",
};
const echo = (uuid: string): Line => ({
  type: "user",
  message: { role: "user", content: [{ type: "text", text: "work" }] },
  parent_tool_use_id: null,
  uuid,
  isReplay: true,
});
const said = (uuid: string, text: string, more: Line = {}): Line => ({
  type: "assistant",
  message: { id: `msg_${uuid}`, role: "assistant", content: [{ type: "text", text }] },
  uuid,
  ...more,
});
const call = (id: string, name: string, input: Line, parent: string | null = null): Line => ({
  type: "assistant",
  message: { id: `msg_${id}`, role: "assistant", content: [{ type: "tool_use", id, name, input }] },
  parent_tool_use_id: parent,
  uuid: `u-${id}`,
});
const answered = (id: string, content: unknown, isError = false, parent: string | null = null): Line => ({
  type: "user",
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error: isError }] },
  parent_tool_use_id: parent,
  uuid: `r-${id}`,
});
const result = (more: Line = {}): Line => ({
  type: "result",
  subtype: "success",
  is_error: false,
  result: "Done.",
  terminal_reason: "completed",
  total_cost_usd: 0.5,
  usage: { input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
  modelUsage: {
    "claude-sonnet-4-5": {
      inputTokens: 10,
      outputTokens: 4,
      cacheReadInputTokens: 3,
      cacheCreationInputTokens: 2,
      contextWindow: 200_000,
    },
  },
  uuid: crypto.randomUUID(),
  ...more,
});

test("ANOM-3: of the blocks of one message the fullest one says how full the context is", () => {
  const block = (uuid: string, id: string, tokens: number): Line => ({
    ...{ type: "assistant", uuid, parent_tool_use_id: null },
    message: { id, content: [{ type: "text", text: uuid }], usage: { input_tokens: tokens } },
  });
  const lines = [block("a", "m1", 40_000), block("b", "m1", 160_000), block("c", "m1", 40_000)];
  const usages = read(init, ...lines, block("d", "m2", 161_000)).filter(({ kind }) => kind === "usage");
  expect(usages.map(({ phase, data }) => [phase, data])).toMatchObject([
    ["usage", { inputTokens: 40_000, contextTokens: 40_000 }],
    ["usage1", { inputTokens: 120_000, contextTokens: 160_000 }],
    ["usage", { inputTokens: 161_000, contextTokens: 161_000 }],
  ]);
});

describe("a turn", () => {
  test("RUN-1: is init, echo, words, calls and one result", () => {
    const signals = read(
      init,
      echo("m1"),
      said("a1", "I begin."),
      call("t1", "Bash", { command: "ls" }),
      answered("t1", "README.md"),
      result(),
    );
    expect(kinds(signals)).toEqual([
      "session.started",
      "message.taken",
      "turn.started",
      "said",
      "tool.started",
      "tool.ended",
      "usage",
      "turn.ended",
    ]);
    expect(signals[0]?.data).toEqual({
      session: SESSION,
      model: "claude-sonnet-4-5",
      version: "2.1.325",
      compactReserve: 33_000,
    });
    expect(signals[1]).toMatchObject({ source: "m1", data: { handedAs: "m1" } });
    expect(signals[5]?.data).toMatchObject({ tool: "Bash", ok: true, errorClass: null, ms: 1000, result: "README.md" });
    expect(signals[6]?.data).toMatchObject({
      inputTokens: 10,
      outputTokens: 4,
      cacheReadTokens: 3,
      cacheWriteTokens: 2,
    });
    expect(signals[6]?.data).toMatchObject({ contextWindow: 200_000 });
  });

  test("RUN-1: init is said before every turn and counts once", () => {
    expect(kinds(read(init, echo("m1"), result(), init, echo("m2"), result()))).not.toContain("noise");
    expect(read(init, init, init)).toHaveLength(1);
  });

  test("RUN-1: parallel calls keep their own times and results, whatever the order of their ends", () => {
    const signals = read(
      call("t1", "Read", { file_path: "a" }),
      call("t2", "Read", { file_path: "b" }),
      answered("t2", [{ type: "text", text: "B" }]),
      answered("t1", "Error: Exit code 2", true),
    );
    const ends = signals.filter((signal) => signal.kind === "tool.ended");
    expect(ends.map(({ source, data }) => [source, data])).toMatchObject([
      ["t2", { tool: "Read", ok: true, errorClass: null, ms: 1000, result: "B" }],
      ["t1", { tool: "Read", ok: false, errorClass: "exit-2", ms: 3000, result: "Error: Exit code 2" }],
    ]);
    const starts = signals.filter((signal) => signal.kind === "tool.started").map((signal) => signal.data);
    expect(starts[0]).not.toEqual(starts[1]);
  });

  test("RUN-1: a sub-agent's calls name the call they belong to and leave the main context alone", () => {
    const usage = { input_tokens: 900_000 };
    const signals = read(
      call("task", "Agent", { prompt: "look" }),
      {
        ...call("sub1", "Grep", { pattern: "x" }, "task"),
        message: { content: [{ type: "tool_use", id: "sub1", name: "Grep", input: {} }], usage },
      },
      answered("sub1", "nothing", false, "task"),
      answered("task", "It is clean."),
      result(),
    );
    const starts = signals.filter((signal) => signal.kind === "tool.started");
    expect(starts.map((signal) => signal.data)).toMatchObject([{ sub: null }, { sub: "task" }]);
    expect(signals.find((signal) => signal.kind === "usage")?.data).toMatchObject({ contextTokens: 0 });
  });

  test("METRIC-1: results tell totals; each turn is what was added, and another leg counts from nothing", () => {
    const costs = (signals: readonly Signal[]) =>
      signals.flatMap((signal) => (signal.kind === "turn.ended" ? [signal.data.costUsd] : []));
    expect(costs(read(result({ total_cost_usd: 0.5 }), result({ total_cost_usd: 0.75 })))).toEqual([0.5, 0.25]);
    expect(costs(read(result({ total_cost_usd: 0.5 })))).toEqual([0.5]);
    expect(costs(read(result({ total_cost_usd: undefined })))).toEqual([0]);
  });

  const turnEnds: [why: string, more: Line, ok: boolean, reason: string][] = [
    ["completed", {}, true, "completed"],
    ["a hook stopped it", { terminal_reason: "hook_stopped" }, true, "hook_stopped"],
    ["the prompt was blocked", { terminal_reason: null, num_turns: 0 }, true, "success"],
    [
      "too many turns",
      { subtype: "error_max_turns", is_error: true, terminal_reason: "max_turns" },
      false,
      "max_turns",
    ],
    [
      "interrupted",
      { subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" },
      false,
      "aborted_tools",
    ],
    ["an API error named success", { is_error: true, terminal_reason: "api_error" }, false, "api_error"],
  ];
  test.each(turnEnds)("RUN-1: its end: %s", (_why, more, ok, reason) => {
    const ended = read(result(more)).find((signal) => signal.kind === "turn.ended");
    expect(ended?.data).toMatchObject({ ok, reason });
  });
});

describe("API failures", () => {
  test("RUN-1: each retry is told", () => {
    const retry = {
      type: "system",
      subtype: "api_retry",
      attempt: 2,
      max_retries: 10,
      retry_delay_ms: 1000,
      error_status: 529,
      error: "overloaded",
    };
    const signals = read(retry);
    expect(kinds(signals)).toEqual(["turn.started", "api.retry"]);
    expect(signals[1]?.data).toEqual({ attempt: 2, cause: "overloaded", delayMs: 1000 });
  });

  const failures: [why: string, status: number | null, text: string, reason: string, cause: string][] = [
    ["429", 429, "API Error: Request rejected (429)", "api_error", "quota"],
    ["a usage limit told as text only", null, "You've hit your usage limit.", "api_error", "quota"],
    ["529", 529, "API Error: Overloaded", "api_error", "overloaded"],
    ["500", 500, "API Error: 500 gateway http://127.0.0.1:1", "api_error", "overloaded"],
    ["401", 401, "Invalid API key · Fix external API key", "api_error", "auth"],
    ["400", 400, "API Error: 400 bad", "api_error", "unknown"],
    ["400 with no credit", 400, "Credit balance is too low", "api_error", "billing"],
    ["400 too long", 400, "prompt is too long: 210000 tokens > 200000 maximum", "prompt_too_long", "too_long"],
    ["too long without a status", null, "Prompt is too long", "prompt_too_long", "too_long"],
    ["connection refused", null, "API Error: Connection error.", "api_error", "network"],
  ];
  test.each(failures)("RUN-1: given up: %s", (_why, status, text, reason, cause) => {
    const signals = read(result({ is_error: true, api_error_status: status, result: text, terminal_reason: reason }));
    expect(kinds(signals)).toEqual(["usage", "api.failed", "turn.ended"]);
    expect(signals[1]?.data).toMatchObject({ cause, detail: text });
  });

  test("an interrupt and a full turn budget are no API failures", () => {
    for (const reason of ["aborted_tools", "max_turns", "budget_exhausted"]) {
      expect(kinds(read(result({ is_error: true, terminal_reason: reason })))).not.toContain("api.failed");
    }
  });

  const at = Date.UTC(2030, 0, 31, 12);
  const limit = { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: at / 1000 } };
  const warning = { type: "rate_limit_event", rate_limit_info: { status: "allowed_warning", resetsAt: at / 1000 } };
  const refused = (text: string) =>
    result({ is_error: true, api_error_status: 429, result: text, terminal_reason: "api_error" });
  const resets: [why: string, lines: Line[], resetsAt: number | null][] = [
    ["told beside it", [limit, refused("429")], at],
    ["as ISO time in its text", [refused("rate limit reached · resets at 2030-01-31T12:00:00Z")], at],
    ["in seconds", [refused(`usage limit reached, resets ${at / 1000}`)], at],
    ["in milliseconds", [refused(`usage limit reached|reset:${at}`)], at],
    ["only a warning", [warning, refused("429")], null],
    ["not at all", [refused("429")], null],
  ];
  test.each(resets)("when the quota comes back: %s", (_why, lines, resetsAt) => {
    expect(read(...lines).find((signal) => signal.kind === "api.failed")?.data).toMatchObject({ resetsAt });
  });
});

describe("what is not the protocol", () => {
  const nothing: [why: string, line: Line | string][] = [
    ["an empty line", ""],
    ["blanks", "  \t"],
    ["an unknown type", { type: "telemetry", x: 1 }],
    ["an unknown subtype", { type: "system", subtype: "hook_started" }],
    ["a control response", { type: "control_response", response: { subtype: "success" } }],
    ["a user line that is no echo", { type: "user", message: { role: "user", content: "hi" }, uuid: "x" }],
  ];
  test.each(nothing)("%s says nothing", (_why, line) => {
    expect(read(line)).toEqual([]);
  });

  const noise: [why: string, line: string][] = [
    ["words", "npm WARN deprecated"],
    ["half a line", '{"type":"assistant","mess'],
    ["a list", "[1,2]"],
    ["a number", "3"],
  ];
  test.each(noise)("%s is noise", (_why, line) => {
    expect(read(line)).toMatchObject([{ kind: "noise", data: { text: line } }]);
  });

  test("RUN-1: lines nested deeper than any stack are read or noise, never an error", () => {
    const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    for (const depth of [1_000, 60_000]) {
      expect(() => read(deep(depth))).not.toThrow();
      const input = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"X","input":${deep(depth)}}]}}`;
      expect(() => read(input)).not.toThrow();
    }
  });
});

test("LOG-1: no signal holds a secret, also where a text is cut in the middle of one", () => {
  for (const { kind, text, secret } of PLANTED_SECRETS) {
    for (const before of [0, 490, 990, 1_950]) {
      const long = `${"x ".repeat(before / 2)}${text} and more`;
      const signals = read(
        said("a", long),
        call("t", "Bash", { command: long }),
        answered("t", long),
        result({ result: long, is_error: true, terminal_reason: "api_error" }),
        `noise ${long}`,
      );
      const kept = JSON.stringify(signals);
      expect(kept.includes(JSON.stringify(secret).slice(1, -1)) ? kind : "").toBe("");
    }
  }
  const key = PLANTED_SECRETS[0]?.secret ?? "";
  for (let before = 900; before < 1_010; before += 1) {
    const kept = JSON.stringify(read(call("t", "Bash", { command: `${"x".repeat(before)} ${key}` })));
    expect(kept.includes(key.slice(0, 20))).toBe(false);
  }
});

test("messages and interrupts are one line each, whatever is in them", () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      for (const line of [userLine({ id: "m1", text }), interruptLine(text)]) {
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(JSON.parse(line)).toBeDefined();
      }
      expect(JSON.parse(userLine({ id: "m1", text })).message.content[0].text).toBe(text);
    }),
  );
});

describe("properties", () => {
  const anything = fc.oneof(
    fc.json().map((text) => text),
    anyText(),
    fc
      .record(
        {
          type: fc.constantFrom("system", "user", "assistant", "result", "rate_limit_event", 3, null),
          subtype: fc.constantFrom("init", "api_retry", "success", null, 7),
          message: fc.oneof(
            fc.jsonValue(),
            fc.record({
              content: fc.array(
                fc.oneof(
                  fc.jsonValue(),
                  fc.record(
                    {
                      type: fc.constantFrom("text", "tool_use", "tool_result"),
                      id: fc.jsonValue(),
                      tool_use_id: fc.jsonValue(),
                      text: fc.jsonValue(),
                      input: fc.jsonValue(),
                      content: fc.jsonValue(),
                      is_error: fc.jsonValue(),
                    },
                    { requiredKeys: [] },
                  ),
                ),
              ),
            }),
          ),
          uuid: fc.jsonValue(),
          isReplay: fc.jsonValue(),
          is_error: fc.jsonValue(),
          result: fc.jsonValue(),
          total_cost_usd: fc.jsonValue(),
          usage: fc.jsonValue(),
          modelUsage: fc.jsonValue(),
          rate_limit_info: fc.jsonValue(),
        },
        { requiredKeys: ["type"] },
      )
      .map((line) => JSON.stringify(line)),
  );

  test("RUN-1: whatever is printed, reading never throws and every signal is small and has a source", () => {
    fc.assert(
      fc.property(fc.array(anything), (lines) => {
        for (const signal of read(...lines)) {
          expect(signal.source).not.toBe("");
          expect(JSON.stringify(signal).length).toBeLessThan(110_000);
        }
      }),
      { numRuns: scaled(300) },
    );
  });

  test("RUN-1: lines with ids of their own give signals that are unique by source and phase", () => {
    const step = fc.constantFrom("init", "echo", "said", "two", "call", "anonymous", "answer", "result", "noise");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const lines = steps.map((kind, index): Line | string => {
          const id = `id${index}`;
          switch (kind) {
            case "init":
              return init;
            case "echo":
              return echo(id);
            case "said":
              return said(id, "x");
            case "two":
              return {
                ...said(id, "x"),
                message: {
                  content: [
                    { type: "text", text: "x" },
                    { type: "text", text: "y" },
                  ],
                },
              };
            case "call":
              return call(id, "Bash", {});
            case "anonymous":
              return { ...call("", "Bash", {}), uuid: undefined };
            case "answer":
              return answered(id, "ok");
            case "result":
              return result();
            default:
              return `noise ${index}`;
          }
        });
        const names = read(...lines).map((signal) => `${signal.source} ${signal.phase}`);
        expect(new Set(names).size).toBe(names.length);
      }),
    );
  });
});
