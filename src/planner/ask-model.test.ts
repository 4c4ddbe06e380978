import { expect, test } from "bun:test";
import { z } from "zod";
import { OverseerError } from "#errors.ts";
import { askModel, type ModelQuestion, type ModelReply } from "./ask-model.ts";

const QUESTION: ModelQuestion<{ n: number }> = {
  prompt: { id: "p", text: "Give {{what}}." },
  values: { what: "a number with {{what}} in it" },
  schema: z.strictObject({ n: z.number() }),
  judge: ({ n }) => (n > 3 ? [] : ["It is too small."]),
  maxInputBytes: 1_000,
  repairs: 2,
  maxCostUsd: null,
};

const TOKENS = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };

async function asked(answers: readonly (string | Error)[], more: Partial<ModelQuestion<{ n: number }>> = {}) {
  const heard: string[] = [];
  const outcome = await askModel({ ...QUESTION, ...more }, async (prompt): Promise<ModelReply> => {
    const answer = answers[heard.push(prompt) - 1] ?? "";
    if (answer instanceof Error) throw answer;
    return { text: answer, costUsd: 1, tokens: TOKENS };
  });
  return { heard, outcome };
}

test("MERGE-2: what a value holds is material and is not filled in again", async () => {
  const { heard, outcome } = await asked(['{"n":4}']);
  expect(heard).toEqual(["Give a number with {{what}} in it."]);
  expect(outcome).toMatchObject({ answer: { n: 4 }, problems: [], tries: 1, costUsd: 1, tokens: TOKENS });
});

test("MERGE-2: an answer that is none goes back with everything that is wrong with it", async () => {
  const { heard, outcome } = await asked(["Sure!", '{"n":"x"}', '```json\n{"n":9}\n```']);
  expect(heard[1]).toContain("- It is not one JSON object.");
  expect(heard[2]).toContain("- n: ");
  expect(outcome).toMatchObject({ answer: { n: 9 }, tries: 3, costUsd: 3, tokens: { outputTokens: 6 } });
});

test("MERGE-2: tries end with the repairs, with the money, and with a model that cannot be reached", async () => {
  expect((await asked(['{"n":1}', "", "", '{"n":9}'])).outcome).toMatchObject({ answer: undefined, tries: 3 });
  expect((await asked(['{"n":1}', '{"n":9}'], { maxCostUsd: 1 })).outcome).toMatchObject({
    ...{ answer: undefined, tries: 1 },
    problems: ["It is too small."],
  });
  const { outcome } = await asked(["", new Error("gone")]);
  expect(outcome).toMatchObject({
    answer: undefined,
    problems: ["gone"],
    tries: 2,
    costUsd: 1,
    unreached: "unreached",
  });
});

test("GOAL-2: what was wrong with each answer comes back beside the JSON that held", async () => {
  const { outcome } = await asked(["Sure!", '{"n":1}', '```json\n{"n":9}\n```']);
  expect(outcome).toMatchObject({ answer: { n: 9 }, raw: '{"n":9}', unreached: null });
  expect(outcome.rejected).toEqual(['It is not one JSON object. It begins: "Sure!".', "It is too small."]);
  const slow = new OverseerError("environment", "MODEL_TOO_SLOW", "It did not answer.", "Later.");
  expect((await asked([slow])).outcome).toMatchObject({ unreached: "too-slow", rejected: [], raw: "" });
});

test("PLAN-2: a repair shows the model the answer that is to be repaired, and what is wrong with it", async () => {
  const { heard } = await asked(['{"n":"nine"}', '{"n":9}']);
  expect(heard[1]).toContain('--- BEGIN your last answer\n{"n":"nine"}\n--- END your last answer');
  expect(heard[1]).toMatch(/Your last answer could not be used:\n- n: /);
});

test("PLAN-2: an answer of two megabytes is neither parsed nor kept", async () => {
  const { outcome, heard } = await asked([`{"n":9,"x":"${"x".repeat(2 * 1024 * 1024)}"}`, '{"n":9}']);
  expect(outcome).toMatchObject({
    answer: { n: 9 },
    rejected: [expect.stringContaining("longer than the 262144 bytes")],
  });
  expect((heard[1] ?? "").length).toBeLessThan(1_000);
});

const TOO_LONG: [why: string, more: Partial<ModelQuestion<{ n: number }>>][] = [
  ["as it is", { maxInputBytes: 20 }],
  ["as far as it is known", { atLeastBytes: 5_000, values: {} }],
];
test.each(TOO_LONG)("MERGE-2: a question that is too long is not asked: %s", async (_why, more) => {
  const { heard, outcome } = await asked(['{"n":4}'], more);
  expect(heard).toEqual([]);
  expect(outcome).toMatchObject({ answer: undefined, tries: 0, problems: [expect.stringContaining("too long")] });
});
