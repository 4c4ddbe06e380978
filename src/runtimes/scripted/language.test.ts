import { expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { scaled } from "../../../test/support/scale.ts";
import {
  DEATH_SIGNALS,
  DEATHS,
  findScript,
  matchesPattern,
  parseScript,
  renderScript,
  SCRIPTED_STATUSES,
  type Step,
  scaleMs,
  withoutScripts,
} from "./language.ts";

const readable: [why: string, written: unknown, step: Step][] = [
  ["a bare value is the verb's main field", { say: "hi" }, { kind: "say", text: "hi" }],
  ["numbers are text where text is wanted", { say: 7 }, { kind: "say", text: "7" }],
  ["a time is milliseconds", { think: 1500 }, { kind: "think", ms: 1500 }],
  ["or a word with its unit", { think: "2m" }, { kind: "think", ms: 120_000 }],
  ["write", { edit: { file: "a", content: "" } }, { kind: "edit", file: "a", content: "" }],
  ["append", { edit: { file: "a", append: "x" } }, { kind: "edit", file: "a", append: "x" }],
  ["replace", { edit: { file: "a", replace: "x", with: "" } }, { kind: "edit", file: "a", replace: "x", with: "" }],
  ["wait for a message", { wait: "message" }, { kind: "wait" }],
  ["wait without more is for a message", "wait", { kind: "wait" }],
  ["wait for a time", { wait: "2s" }, { kind: "wait", ms: 2000 }],
  ["a verb alone", "hang", { kind: "hang", in: "thought" }],
  ["a verb with true", { hang: true }, { kind: "hang", in: "thought" }],
  ["a verb with nothing", { hang: null }, { kind: "hang", in: "thought" }],
  ["hang in a tool", { hang: "tool" }, { kind: "hang", in: "tool" }],
  ["ignore", "ignore", { kind: "ignore", messages: "content" }],
  ["ignore no more", { ignore: false }, { kind: "ignore", messages: "none" }],
  ["deaf", { ignore: "deaf" }, { kind: "ignore", messages: "deaf" }],
  ["die", { die: "mid-commit" }, { kind: "die", at: "mid-commit", signal: "SIGKILL" }],
  [
    "a quota with a reset time gives up",
    { quota: "2030-01-01T00:00:00Z" },
    { kind: "quota", attempts: 2, retryAfterMs: 500, givesUp: true, resetsAt: "2030-01-01T00:00:00Z" },
  ],
  ["a quota without one recovers", "quota", { kind: "quota", attempts: 2, retryAfterMs: 500, givesUp: false }],
  ["fail with an exit code", { fail: { message: "m", exitCode: 7 } }, { kind: "fail", message: "m", exitCode: 7 }],
];

test.each(readable)("RUN-1: a script may say: %s", (_why, written, step) => {
  expect(parseScript([written])).toEqual({ steps: [step] });
});

const mistakes: [why: string, written: unknown, says: RegExp][] = [
  ["no list", { say: "x" }, /script: expected a list of steps, got fields/],
  ["an empty list", [], /the list of steps is empty/],
  ["an unknown verb", [{ say: "x" }, { dance: 1 }], /step 2: unknown verb "dance"\. Known: say, think/],
  ["two verbs", [{ say: "x", run: "y" }], /step 1: a step has exactly one verb, got say, run/],
  ["an unknown field", [{ edit: { file: "a", content: "x", mode: 1 } }], /step 1 \(edit\): unknown field "mode"/],
  ["a missing field", [{ run: {} }], /step 1 \(run\): "command" is missing/],
  ["two ways to edit", [{ edit: { file: "a", content: "x", append: "y" } }], /exactly one of content, append, replace/],
  ["a time that is none", [{ think: "soon" }], /"ms" must be milliseconds or a time like/],
  [
    "a rule inside a loop",
    [{ loop: { steps: [{ on: { message: "x", do: ["hang"] } }] } }],
    /belongs to the whole script/,
  ],
  [
    "a mistake deep inside",
    [{ loop: { times: 2, steps: ["hang", { say: {} }] } }],
    /step 1 \(loop\), steps, step 2 \(say\)/,
  ],
  ["a broken expression", [{ on: { message: "/(/", do: ["hang"] } }], /is not a regular expression/],
  ["an unknown status", [{ report: "finished" }], /"status" must be one of todo, queued, in_progress/],
  ["a verb of Object.prototype", [{ constructor: 1 }], /unknown verb "constructor"/],
];

test.each(mistakes)("RUN-1: a script is refused with the place of its mistake: %s", (_why, written, says) => {
  const found = parseScript(written);
  expect("error" in found ? found.error : "no error").toMatch(says);
});

const HI = { steps: [{ kind: "say", text: "hi" }] } as const;
const texts: [why: string, text: string, found: unknown][] = [
  ["none", "please do it", undefined],
  ["JSON on one line", 'do it @@SCRIPT[{"say":"hi"}]@@END thanks', HI],
  ["YAML", "do it\n@@SCRIPT\n- say: hi\n@@END\n", HI],
  ["indented YAML", "  @@SCRIPT\n    - say: hi\n  @@END", HI],
  ["the last of two", '@@SCRIPT[{"say":"no"}]@@END and @@SCRIPT[{"say":"hi"}]@@END', HI],
  ["the last that can be read", '@@SCRIPT[{"say":"hi"}]@@END then @@SCRIPT nonsense: [@@END', HI],
  ["one that never ends, after a good one", '@@SCRIPT[{"say":"hi"}]@@END and see @@SCRIPT', HI],
  ["quoted as a JSON string", JSON.stringify({ task: `x ${renderScript(HI.steps)}` }), HI],
  ["quoted in a mail", "> @@SCRIPT\n> - say: hi\n> @@END", HI],
  ["inside a fence", `\`\`\`\n${renderScript(HI.steps)}\n\`\`\``, HI],
];

test.each(texts)("RUN-1: a script is found in a text: %s", (_why, text, found) => {
  expect(findScript(text)).toEqual(found as ReturnType<typeof findScript>);
});

test("RUN-1: a script that cannot be read says why, instead of being overlooked", () => {
  expect(findScript("@@SCRIPT[{@@END")).toEqual({ error: expect.stringContaining("neither JSON") });
  expect(findScript("see @@SCRIPT")).toEqual({ error: "@@SCRIPT has no @@END." });
});

test("RUN-1: YAML that refers to itself is refused, not followed", () => {
  expect(findScript("@@SCRIPT\n- &a\n  loop: {steps: [*a]}\n@@END")).toHaveProperty("error");
  const bomb = [
    "- &a0 {say: x}",
    ...Array.from({ length: 7 }, (_, i) => `- &a${i + 1} {loop: {steps: [${Array(9).fill(`*a${i}`).join(", ")}]}}`),
  ];
  expect(findScript(`@@SCRIPT\n${bomb.join("\n")}\n@@END`)).toHaveProperty("error");
});

test("RUN-1: ten megabytes with a thousand markers are read in passing", () => {
  const text = `${"@@SCRIPT[ ".repeat(1_000)}${"x".repeat(10_000_000)}`;
  expect(findScript(text)).toHaveProperty("error");
});

const patterns: [pattern: string, text: string, matches: boolean][] = [
  ["stop", "Please STOP now", true],
  ["/^stop$/", "stop", true],
  ["/^stop$/", "please stop", false],
  ["/STOP/i", "stop", true],
  ["/x/g", "x", true],
  ["a.c", "abc", false],
];

test.each(patterns)("the pattern %s on %s: %p", (pattern, text, matches) => {
  expect(matchesPattern(pattern, text)).toBe(matches);
});

test("the words around scripts are what patterns look at", () => {
  expect(withoutScripts(`a ${renderScript(HI.steps)} b ${renderScript(HI.steps)} c`)).toBe("a  b  c");
});

test("twice the speed, half the time", () => expect(scaleMs(1_000, 2)).toBe(500));

const text = fc.oneof(anyText(), fc.constantFrom("@@END", "@@SCRIPT[]@@END", "```", "'; rm", "\u2028", "> x"));
const path = text.filter((value) => value !== "" && !value.includes("\0"));
const some = <T>(name: string, value: fc.Arbitrary<T>) =>
  fc.option(value).map((one) => (one === null ? {} : { [name]: one }));
const whole = fc.integer({ min: 1, max: 50 });

function plain(kind: string, ...fields: fc.Arbitrary<object>[]): fc.Arbitrary<Step> {
  return fc.tuple(...fields).map((parts) => Object.assign({ kind }, ...parts) as Step);
}

const record = (shape: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> => fc.record(shape);
const argv = some("cli", fc.array(path, { minLength: 1, maxLength: 3 }));

const { step: anyStep } = fc.letrec<{ step: Step; steps: Step[] }>((tie) => ({
  step: fc.oneof(
    { depthSize: "small" },
    plain("say", record({ text })),
    plain("think", record({ ms: fc.nat() })),
    plain("read", record({ file: path })),
    plain(
      "edit",
      record({ file: path }),
      fc.oneof(record({ content: text }), record({ append: text }), record({ replace: path, with: text })),
    ),
    plain("run", record({ command: path })),
    plain("commit", record({ message: path })),
    plain(
      "report",
      record({ status: fc.constantFrom(...SCRIPTED_STATUSES) }),
      some("summary", text),
      some("evidence", some("commits", fc.array(text))),
      argv,
    ),
    plain("ask", record({ question: text }), some("options", fc.array(text)), argv),
    plain("wait", some("ms", fc.nat())),
    plain("fail", record({ message: text }), some("exitCode", fc.nat(255)), some("once", fc.boolean())),
    plain("hang", record({ in: fc.constantFrom("thought", "tool") })),
    plain("flood", record({ lines: whole, bytes: whole, to: fc.constantFrom("text", "stderr") })),
    plain("ignore", record({ messages: fc.constantFrom("none", "content", "deaf") })),
    plain(
      "quota",
      record({ attempts: whole, retryAfterMs: fc.nat(), givesUp: fc.boolean() }),
      some("resetsAt", fc.constant("2030-01-01T00:00:00Z")),
    ),
    plain("die", record({ at: fc.constantFrom(...DEATHS), signal: fc.constantFrom(...DEATH_SIGNALS) })),
    plain("orphan", record({ seconds: whole }), some("bareEnvironment", fc.boolean())),
    plain("usage", some("inputTokens", fc.nat()), some("costUsd", fc.double({ min: 0, max: 10, noNaN: true }))),
    plain("lie", record({ summary: text }), some("commits", fc.array(text))),
    plain("oscillate", record({ file: path, between: fc.tuple(text, text) }), some("times", whole)),
    plain("loop", record({ steps: tie("steps") }), some("times", whole)),
  ),
  steps: fc.array(tie("step"), { minLength: 1, maxLength: 3, depthIdentifier: "steps" }),
}));
const rule = plain(
  "on",
  record({ message: path.filter((p) => !p.startsWith("/")), do: fc.array(anyStep, { minLength: 1, maxLength: 2 }) }),
);

test("RUN-1: what is written into a text is found again, whatever stands around it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(anyStep, rule), { minLength: 1, maxLength: 6 }),
      text,
      text,
      (steps, before, after) => {
        const safeAfter = after.replaceAll("@@SCRIPT", "");
        expect(findScript(before + renderScript(steps) + safeAfter)).toEqual({ steps });
      },
    ),
    { numRuns: scaled(300) },
  );
});

test("RUN-1: a script written as the content of another is not mistaken for it", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 1, maxLength: 3 }), (inner) => {
      const steps: Step[] = [{ kind: "say", text: renderScript(inner) }];
      expect(findScript(renderScript(steps))).toEqual({ steps });
    }),
    { numRuns: scaled(50) },
  );
});

test("RUN-1: reading never throws, whatever the text", () => {
  const hostile = fc.array(
    fc.oneof(text, fc.constantFrom("@@SCRIPT", "@@END", "[", "- ", "{", "\n", "&a ", "*a", "say: ")),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(hostile, (parts) => {
      findScript(parts.join(""));
      findScript(`@@SCRIPT${parts.join("")}@@END`);
    }),
    { numRuns: scaled(500) },
  );
  fc.assert(fc.property(fc.anything(), (value) => void parseScript(value)));
});
