import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseScript, type Step } from "./language.ts";
import { quoteForShell, walk } from "./walk.ts";

function steps(written: unknown): { steps: readonly Step[] } {
  const script = parseScript(written);
  if ("error" in script) throw new Error(script.error);
  return script;
}

function played(written: unknown, from = 0, count = 20): string[] {
  const journey = walk(steps(written));
  const out: string[] = [];
  for (let at = from; at < from + count; at += 1) {
    const step = journey.at(at);
    if (step === undefined) break;
    out.push(step.kind === "say" ? step.text : step.kind === "edit" && "content" in step ? step.content : step.kind);
  }
  return out;
}

const say = (text: string) => ({ say: text });
const cases: [why: string, script: unknown, played: string[]][] = [
  ["steps in order", [say("a"), say("b")], ["a", "b"]],
  [
    "a loop, so many times",
    [say("a"), { loop: { times: 2, steps: [say("b"), say("c")] } }, say("d")],
    ["a", "b", "c", "b", "c", "d"],
  ],
  [
    "a loop in a loop",
    [{ loop: { times: 2, steps: [say("a"), { loop: { times: 2, steps: [say("b")] } }] } }],
    ["a", "b", "b", "a", "b", "b"],
  ],
  ["back and forth", [{ oscillate: { file: "f", between: ["x", "y"], times: 2 } }], ["x", "y", "x", "y"]],
  ["a lie is a report", [{ lie: "all done" }], ["report"]],
  ["a question is asked, and waits for its answer", [{ ask: "which?" }], ["Question: which?", "run", "wait"]],
  [
    "a question put by a command",
    [{ ask: { question: "which?", options: ["a"], cli: ["x"] } }],
    ["Question: which?\n1. a", "run", "wait"],
  ],
  ["a report told by a command", [{ report: { status: "done", cli: ["x", "y z"] } }], ["report", "run"]],
  ["rules are not steps", [{ on: { message: "x", do: ["hang"] } }, say("a")], ["a"]],
];

test.each(cases)("RUN-1: a script is walked: %s", (_why, script, expected) => {
  expect(played(script)).toEqual(expected);
});

test("RUN-1: a loop without end can be entered anywhere, at once", () => {
  const endless = [say("a"), { loop: { steps: [say("b"), { loop: { times: 3, steps: [say("c")] } }] } }, say("never")];
  expect(walk(steps(endless)).length).toBe(Number.POSITIVE_INFINITY);
  expect(played(endless, 1_000_000_001, 4)).toEqual(["b", "c", "c", "c"]);
});

test("RUN-1: a loop without end inside another never lets the outer one begin again", () => {
  const script = [{ loop: { times: 2, steps: [say("a"), { loop: { steps: [say("b")] } }] } }];
  expect(played(script, 0, 3)).toEqual(["a", "b", "b"]);
});

test("RUN-1: every position within the length has a step, and none beyond", () => {
  const nested = fc.letrec<{ list: unknown[] }>((tie) => ({
    list: fc.array(
      fc.oneof(
        fc.constant(say("x")),
        fc.record({ loop: fc.record({ times: fc.integer({ min: 1, max: 4 }), steps: tie("list") }) }),
      ),
      { minLength: 1, maxLength: 3, depthIdentifier: "d" },
    ),
  })).list;
  fc.assert(
    fc.property(nested, (list) => {
      const script = parseScript(list);
      if ("error" in script) return;
      const journey = walk(script);
      expect(journey.at(journey.length - 1)).toBeDefined();
      expect(journey.at(journey.length)).toBeUndefined();
    }),
  );
  expect(walk(steps([say("a")])).at(-1)).toBeUndefined();
});

test("a shell word is one word, whatever is in it", () => {
  expect(quoteForShell("plain/path.txt")).toBe("plain/path.txt");
  expect(quoteForShell("it's $HOME")).toBe("'it'\\''s $HOME'");
  expect(quoteForShell("")).toBe("''");
});
