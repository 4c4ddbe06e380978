/** GUARD-3: a transcript holds everything that was said and done, whole. */
import { expect, test } from "bun:test";
import type { ToldPart } from "#runtimes/runtime.ts";
import { tellLine } from "./tell-line.ts";

const long = "x".repeat(50_000);
const said = (...content: object[]) => ({ type: "assistant", message: { content } });

test.each<[what: string, line: unknown, told: readonly ToldPart[]]>([
  ["words", said({ type: "text", text: long }), [{ kind: "words", text: long }]],
  ["thoughts", said({ type: "thinking", thinking: "hm" }), [{ kind: "thought", text: "hm" }]],
  [
    "a call",
    said({ type: "tool_use", id: "t", name: "Write", input: { content: long } }),
    [{ kind: "call", text: `Write {\n  "content": "${long}"\n}` }],
  ],
  [
    "a result",
    { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t", content: long }] } },
    [{ kind: "result", text: long }],
  ],
  [
    "a failure",
    {
      type: "user",
      message: { content: [{ type: "tool_result", is_error: true, content: [{ type: "text", text: "no" }] }] },
    },
    [{ kind: "failure", text: "no" }],
  ],
  ["our own message, which comes back", { type: "user", isReplay: true, message: { content: "prompt" } }, []],
  [
    "the end of a turn",
    { type: "result", subtype: "success", result: "Done." },
    [{ kind: "turn", text: "ended: success\nDone." }],
  ],
  [
    "the end of a turn that failed",
    { type: "result", subtype: "success", is_error: true, terminal_reason: "api_error", result: "overloaded" },
    [{ kind: "turn", text: "failed: api_error\noverloaded" }],
  ],
  ["something else", { type: "rate_limit_event" }, []],
  ["nothing", "", []],
])("GUARD-3: %s", (_what, line, told) => {
  expect(tellLine(line === "" ? "" : JSON.stringify(line))).toEqual(told);
});

test("GUARD-3: a line that is no JSON is told as it is", () => {
  expect(tellLine("Segmentation fault")).toEqual([{ kind: "noise", text: "Segmentation fault" }]);
});
