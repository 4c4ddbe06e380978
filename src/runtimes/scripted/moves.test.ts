import { expect, test } from "bun:test";
import { type PlainStep, parseScript } from "./language.ts";
import { type Move, toToolCall } from "./moves.ts";
import { walk } from "./walk.ts";

function first(written: unknown): PlainStep {
  const script = parseScript([written]);
  if ("error" in script) throw new Error(script.error);
  const step = walk(script).at(0);
  if (step === undefined) throw new Error("no step");
  return step;
}

const tool = (name: string, input: Record<string, string>) => ({ kind: "tool", tool: name, input }) as Move;

const cases: [why: string, written: unknown, move: Partial<Move>][] = [
  ["words", { say: "x" }, { kind: "text", text: "x" }],
  ["a file written", { edit: { file: "a", content: "x" } }, tool("Write", { file_path: "a", content: "x" })],
  ["a file read", { read: "a" }, tool("Read", { file_path: "a" })],
  [
    "a file changed, which a real CLI wants read first",
    { edit: { file: "a", replace: "x", with: "y" } },
    { ...tool("Edit", { file_path: "a", old_string: "x", new_string: "y" }), readFirst: "a" } as Move,
  ],
  ["a command as it stands", { run: "echo $HOME" }, tool("Bash", { command: "echo $HOME" })],
  ["a commit", { commit: "It's in" }, tool("Bash", { command: "git add -A && git commit -m 'It'\\''s in'" })],
  ["silence, scaled by speed", { think: 1000 }, { kind: "pause", ms: 100 }],
  ["a hang is silence without end", "hang", { kind: "pause", ms: Number.POSITIVE_INFINITY }],
  ["the end of a turn", "wait", { kind: "end-turn" }],
  ["a refusal that clears", "quota", { kind: "refusal", status: 429, attempts: 2, retryAfterMs: 50, givesUp: false }],
  [
    "a failure is not retried",
    { fail: "no" },
    { kind: "refusal", status: 400, attempts: 0, givesUp: true, message: "no" },
  ],
  ["a change of mind is not seen", "ignore", { kind: "none" }],
];

test.each(cases)("RUN-1: a step as a move of an agent: %s", (_why, written, move) => {
  expect(toToolCall(first(written), 10)).toMatchObject(move as Record<string, unknown>);
});

test("RUN-1: a lie claims to be done, with evidence", () => {
  const move = toToolCall(first({ lie: "All green." }));
  const [, json = ""] = /```json\n([\s\S]*)\n```/.exec(move.kind === "text" ? move.text : "") ?? [];
  expect(JSON.parse(json).overseerUpdate).toMatchObject({
    status: "done",
    summary: "All green.",
    evidence: { testsRun: ["all of them"] },
  });
});

test("RUN-1: a move says the same however often it is asked for", () => {
  const step = first({ die: "mid-commit" });
  expect(toToolCall(step)).toEqual(toToolCall(step));
});
