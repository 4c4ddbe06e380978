/** What only Claude Code's transcripts have: sub-agents between the lines, compactions, the CLI's own words, notes of editors. */
import { expect, test } from "bun:test";
import { readTraces } from "../../../test/support/traces.ts";

const lines = (...values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");
const line = (type: string, content: unknown, more: object = {}) => ({
  ...{ type, sessionId: "s", timestamp: "2026-01-02T03:04:05.000Z" },
  message: {
    id: "m",
    role: type,
    content,
    usage: { input_tokens: 250_000, output_tokens: 1 },
    model: "claude-opus-4-5",
  },
  ...more,
});
const use = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: "npm test" } });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "Exit code 1", is_error: true });
const kindsIn = (text: string) => readTraces("file", text).map(({ signals }) => signals.map(({ kind }) => kind));

test("a transcript tells calls, results, prompts, and a window that holds what was in it", () => {
  const [trace] = readTraces(
    "file",
    lines(
      { type: "summary", summary: "x" },
      line("user", "Fix it"),
      line("assistant", [use("t1")]),
      line("user", [result("t1")]),
    ),
  );
  expect(trace?.signals.map(({ kind }) => kind)).toEqual([
    ...(["turn.started", "session.started", "usage", "tool.started", "tool.ended", "turn.ended"] as const),
  ]);
  expect(trace?.signals.find(({ kind }) => kind === "usage")?.data).toMatchObject({ contextWindow: 1_000_000 });
});

test.each([
  ["claude-opus-4-5", 1_000_000, 33_000],
  ["glm-4.7", 272_000, undefined],
  ["somebody-else-9-pro", null, undefined],
])("ANOM-3: what %s holds, and when the CLI empties it", (model, contextWindow, compactReserve) => {
  const begun = line("assistant", [use("t1")], { version: "2.1.100" });
  const [trace] = readTraces("file", lines({ ...begun, message: { ...begun.message, model } }));
  const dataOf = (kind: string) => trace?.signals.find((signal) => signal.kind === kind)?.data;
  expect(dataOf("usage")).toMatchObject({ contextWindow });
  expect(dataOf("session.started")).toHaveProperty("version", "2.1.100");
  expect(Object(dataOf("session.started")).compactReserve).toBe(compactReserve);
});

test("sub-agents between the lines of their parent are sessions of their own, told apart by their place in the tree", () => {
  const side = (uuid: string, parentUuid: string | null, type: string, content: unknown) =>
    line(type, content, { isSidechain: true, uuid, parentUuid });
  const traces = readTraces(
    "file",
    lines(
      line("assistant", [use("t1")]),
      side("a1", null, "user", "Look here"),
      side("b1", null, "user", "Look there"),
      side("a2", "a1", "assistant", [use("a")]),
      side("b2", "b1", "assistant", [use("b")]),
      side("a3", "a2", "user", [result("a")]),
      line("user", [result("t1")]),
    ),
  );
  expect(traces.map(({ sub, ordinals }) => ({ sub, ordinals }))).toEqual([
    { sub: false, ordinals: { t1: 1 } },
    { sub: true, ordinals: { a: 2 } },
    { sub: true, ordinals: { b: 3 } },
  ]);
});

const notPeople: readonly (readonly [who: string, value: object])[] = [
  ["the CLI's own note", line("user", "x", { isMeta: true })],
  [
    "a summary",
    line("user", "This session is being continued from a previous conversation that ran out", {
      isCompactSummary: true,
    }),
  ],
  ["a job", line("user", "<task-notification>done</task-notification>")],
  ["another agent", line("user", '<teammate-message teammate_id="lead">go on</teammate-message>')],
  ["a reminder", line("user", [{ type: "text", text: "<system-reminder>x</system-reminder>" }])],
  ["what a named source says", line("user", "x", { origin: { kind: "task-notification" } })],
];
test.each(notPeople)("a turn does not end because of %s", (_, value) => {
  const [kinds] = kindsIn(
    lines(line("assistant", [use("t1")]), line("user", [result("t1")]), value, line("assistant", "x")),
  );
  expect(kinds?.filter((kind) => kind === "turn.ended")).toHaveLength(1);
});

test("a person's words beside what an editor adds end a turn, and so does Escape", () => {
  const words = [
    { type: "text", text: "<ide_opened_file>a.ts</ide_opened_file>" },
    { type: "text", text: "Go on" },
  ];
  const [kinds] = kindsIn(lines(line("assistant", [use("t1")]), line("user", words), line("assistant", "x")));
  expect(kinds?.filter((kind) => kind === "turn.ended")).toHaveLength(2);
  const [trace] = readTraces(
    "file",
    lines(line("assistant", [use("t1")]), line("user", "[Request interrupted by user]")),
  );
  expect(trace?.signals.at(-1)).toMatchObject({ kind: "turn.ended", data: { ok: false, reason: "interrupted" } });
});

test("QUOTA-1: what the CLI says in the model's name after a failure is that failure", () => {
  const words = [{ type: "text", text: "API Error: 529 overloaded" }];
  const failed = line("assistant", words, { isApiErrorMessage: true });
  const [trace] = readTraces("file", lines(line("assistant", [use("t1")]), line("user", [result("t1")]), failed));
  expect(trace?.signals.map(({ kind }) => kind).slice(-2)).toEqual(["api.failed", "turn.ended"]);
  expect(trace?.signals.at(-1)).toMatchObject({ data: { ok: false, reason: "api_error" } });
});

test("ANOM-3: a compaction is told with what was in the context", () => {
  const boundary = {
    type: "system",
    subtype: "compact_boundary",
    compactMetadata: { trigger: "auto", preTokens: 155_000 },
  };
  const [trace] = readTraces("file", lines(line("assistant", [use("t1")]), boundary));
  expect(trace?.signals.find(({ kind }) => kind === "compacted")?.data).toMatchObject({ beforeTokens: 155_000 });
});

test("ANOM-3: of the lines of one message the fullest one says how full the context is", () => {
  const of = (id: string, tokens: number, content: unknown) =>
    line("assistant", content, { message: { id, content, model: "claude-opus-4-5", usage: { input_tokens: tokens } } });
  const [trace] = readTraces(
    "file",
    lines(
      of("m1", 40_000, "I look"),
      of("m1", 160_000, [use("t1")]),
      line("user", [result("t1")]),
      of("m2", 40_000, "I go on"),
      of("m2", 40_000, "and on"),
      of("m2", 161_000, [use("t2")]),
      of("m2", 40_000, [use("t3")]),
    ),
  );
  const told = trace?.signals.flatMap((one) => (one.kind === "usage" ? [one] : [])) ?? [];
  expect(told.map(({ data }) => data.contextTokens)).toEqual([40_000, 160_000, 40_000, 161_000]);
  expect(told.reduce((sum, { data }) => sum + data.inputTokens, 0)).toBe(321_000);
});
