/** What we take from Claude Code's transcript, line by line, in the shapes it really writes. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { beat, newPulse } from "#domain/signals/pulse.ts";
import { transcriptReader } from "./transcript.ts";

const AT = "2026-11-16T03:11:06.685Z";

function assistant(id: string, usage: Record<string, number>, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    type: "assistant",
    version: "2.1.325",
    timestamp: AT,
    message: { id, model: "claude-opus-5-5", usage },
    ...more,
  });
}

describe("RUN-1: what a session on its own screen spends", () => {
  test("is counted once per message, however many blocks it has", () => {
    const reader = transcriptReader("s1");
    const first = reader.read(assistant("msg_1", { input_tokens: 100, output_tokens: 1 }), false).signals;
    expect(first.map(({ kind }) => kind)).toEqual(["session.started", "usage"]);
    expect(first[1]?.data).toMatchObject({ inputTokens: 100, outputTokens: 1, contextTokens: 101 });
    expect(reader.read(assistant("msg_1", { input_tokens: 100, output_tokens: 1 }), false).signals).toEqual([]);
    const rest = reader.read(assistant("msg_1", { input_tokens: 100, output_tokens: 42 }), false).signals;
    expect(rest).toMatchObject([{ kind: "usage", data: { inputTokens: 0, outputTokens: 41, contextTokens: 142 } }]);
  });

  test("ANOM-3: of the lines of one message the fullest one says how full the context is", () => {
    const reader = transcriptReader("s1");
    const read = (tokens: number) =>
      reader.read(assistant("msg_1", { input_tokens: tokens, output_tokens: 1 }), false).signals.at(-1);
    read(40_000);
    expect(read(160_000)?.data).toMatchObject({ inputTokens: 120_000, contextTokens: 160_001 });
    expect(read(40_000)).toBeUndefined();
    expect(read(160_002)?.data).toMatchObject({ inputTokens: 2, contextTokens: 160_003 });
  });

  test("a sub-agent's messages count, and fill a context of their own", () => {
    const reader = transcriptReader("s1");
    reader.read(assistant("msg_1", { input_tokens: 100, output_tokens: 1 }), false);
    const { signals } = reader.read(assistant("msg_2", { input_tokens: 7000, output_tokens: 5 }), true);
    expect(signals).toMatchObject([{ kind: "usage", data: { inputTokens: 7000, contextTokens: 101 } }]);
  });

  test("what the CLI says in the model's name costs nothing", () => {
    const line = JSON.stringify({ type: "assistant", timestamp: AT, message: { id: "x", model: "<synthetic>" } });
    expect(transcriptReader("s1").read(line, false).signals).toEqual([]);
  });
});

describe("QUOTA-1: what the CLI says in the model's name on an agent's own screen", () => {
  const notice = (text: string, more: Record<string, unknown> = {}) =>
    JSON.stringify({
      ...{ type: "assistant", timestamp: AT, uuid: "n1", ...more },
      message: { id: "x", model: "<synthetic>", content: [{ type: "text", text }] },
    });

  test("is a failure with its cause, and the end of the turn as its hooks name it", () => {
    const reader = transcriptReader("s1");
    const prompt = { type: "user", timestamp: AT, promptId: "p7", message: { content: "Go on" } };
    reader.read(JSON.stringify(prompt), false);
    const { signals } = reader.read(notice("You've hit your session limit · resets 7:20pm (UTC)"), false);
    const resetsAt = Date.UTC(2026, 10, 16, 19, 20);
    expect(signals).toMatchObject([
      { kind: "api.failed", source: "p7", data: { cause: "quota", resetsAt } },
      { kind: "turn.ended", source: "p7", phase: "turn.ended", data: { ok: false, reason: "api_error" } },
    ]);
    expect(signals.reduce(beat, newPulse(1, "a"))).toMatchObject({ quotaUntil: resetsAt, inTurn: false });
  });

  test.each([
    ["Please run /login · API Error: 401", "auth"],
    ["API Error: 529 overloaded", "overloaded"],
    ["API Error: Connection error.", "network"],
  ])("%p", (text, cause) => {
    expect(transcriptReader("s1").read(notice(text), false).signals[0]).toMatchObject({ data: { cause } });
  });

  test("what it says besides is no failure, and a sub-agent's is not the agent's", () => {
    expect(transcriptReader("s1").read(notice("No response requested."), false).signals).toEqual([]);
    expect(transcriptReader("s1").read(notice("API Error: 500"), true).signals).toEqual([]);
  });
});

test("what was typed and what a hook added is heard; tool results are not", () => {
  const reader = transcriptReader("s1");
  const user = (content: unknown) => JSON.stringify({ type: "user", timestamp: AT, uuid: "u", message: { content } });
  expect(reader.read(user("m_1 hello"), false).heard).toBe("m_1 hello");
  expect(reader.read(user([{ type: "text", text: "m_2" }]), false).heard).toBe("m_2");
  expect(reader.read(user([{ type: "tool_result", content: "m_3" }]), false).heard).toBe("");
  const hook = { type: "attachment", attachment: { type: "hook_additional_context", content: ["m_4"] } };
  expect(reader.read(JSON.stringify(hook), false).heard).toBe("m_4");
  expect(
    reader.read(JSON.stringify({ type: "attachment", attachment: { type: "date", content: "m_5" } }), false).heard,
  ).toBe("");
});

test("what it said itself is told apart from what it heard, and a sub-agent's words are its own", () => {
  const line = (text: string) =>
    JSON.stringify({
      type: "assistant",
      timestamp: AT,
      message: { id: "m", model: "x", content: [{ type: "text", text }] },
    });
  const reader = transcriptReader("s1");
  expect(reader.read(line("All done."), false)).toMatchObject({ said: "All done.", heard: "" });
  expect(reader.read(line("Looked."), true).said).toBe("");
});

test("a turn that a person interrupted has ended, though no hook says so", () => {
  const line = {
    type: "user",
    timestamp: AT,
    uuid: "u9",
    message: { content: [{ type: "text", text: "[Request interrupted by user for tool use]" }] },
  };
  expect(transcriptReader("s1").read(JSON.stringify(line), false).signals).toMatchObject([
    { kind: "turn.ended", source: "u9", data: { ok: false, reason: "interrupted" } },
  ]);
});

test("no line, whatever it holds, makes it fail", () => {
  const reader = transcriptReader("s1");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.jsonValue().map((value) => JSON.stringify({ type: "assistant", message: value })),
      ),
      fc.boolean(),
      (line, sub) => {
        reader.read(line, sub);
      },
    ),
  );
});
