import { expect, test } from "bun:test";
import { byteLength } from "#domain/core/quote.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import { learningWith, recipientWith } from "../../../test/support/learnings.ts";
import { T0 } from "../../../test/support/samples.ts";
import {
  chooseExpertise,
  EXPERTISE_FORMATS,
  type ExpertiseWish,
  type FinishedNode,
  fitBudget,
  fitsPaths,
  renderExpertise,
} from "./expertise.ts";

const WEEK = 7 * 24 * 3_600_000;
const later = { now: T0 + WEEK, node: "goal_B/T1" };
const at = (...paths: string[]): ExpertiseWish => ({ domains: [], paths, budgetBytes: 4_000 });
const helped = recipientWith(3, { outcome: "used", seen: true });
const inVain = (attempt: number) => recipientWith(attempt, { outcome: "repeated", seen: true });
const fact = { kind: "fact", near: ["src/auth"], text: "Sessions live in redis." } as const;

const texts = (learnings: Parameters<typeof learningWith>[0][], wish = at("src/auth/login.ts"), who = later) =>
  chooseExpertise({ learnings: learnings.map(learningWith), finished: [] }, wish, who).map(({ text }) => text);

test.each([
  ["that helped", { ...fact, recipients: [helped] }, 1],
  ["that others found too", { ...fact, confirmed: 1 }, 1],
  ["of a person", { ...fact, foundBy: { agent: "human:ada", attempt: 0, node: null, at: T0 } }, 1],
  ["of how a failure is avoided", { near: ["src/auth"] }, 1],
  ["that nobody has tried", fact, 0],
  ["that was dropped", { ...fact, recipients: [helped], status: "forgotten" as const }, 0],
  ["that its readers found wrong", { ...fact, recipients: [helped, inVain(4), inVain(5)] }, 0],
  ["of how a failure is avoided, which it is not", { near: ["src/auth"], recipients: [inVain(4)] }, 0],
])("LEARN-1: a learning %s", (_what, learning, told) => {
  expect(texts([learning])).toHaveLength(told);
});

test("LEARN-1: a learning is told where it belongs and nowhere else", () => {
  const learning = { ...fact, tags: ["backend"], recipients: [helped] };
  expect(texts([learning], at("src/auth/session/**"))).toHaveLength(1);
  expect(texts([learning], at("src/ui/button.ts"))).toEqual([]);
  expect(texts([learning], { domains: ["backend"], paths: ["src/ui/**"], budgetBytes: 4_000 })).toHaveLength(1);
  expect(texts([learning], { domains: ["frontend"], paths: [], budgetBytes: 4_000 })).toEqual([]);
  // A domain is at home in directories that are called so.
  const ofDomain = { ...learning, near: [], tags: ["auth"] };
  expect(texts([ofDomain], at("src/auth/login.ts"))).toHaveLength(1);
  expect(texts([ofDomain], at("src/authors/login.ts"))).toEqual([]);
  // Whoever works on the node that it was found on has its handoff.
  expect(texts([learning], at("src/auth/login.ts"), { ...later, node: "goal_A/T1" })).toEqual([]);
});

test("LEARN-1, CRYS-3: decisions of finished work are told for half a year, unless the work was taken back", () => {
  const left: Crystallization = {
    ...{ crystallizationId: "C_1", goalId: "goal_A", workNodeId: "T1", createdAt: T0, by: "agent:a#1", level: "task" },
    ...{ summary: "", currentState: "", nextActions: [], openQuestions: [], knownBlockers: [], transcripts: [] },
    decisions: [{ decision: "Tokens are hashed", rationale: "they leak" }],
    evidence: { ...NO_EVIDENCE, filesTouched: ["src/auth/token.ts"] },
  };
  const node = { goalId: "goal_A", workNodeId: "T1", tags: [], crystallizationId: "C_1", takenBack: undefined };
  const told = (finished: FinishedNode, who = later, wish = at("src/auth/login.ts")) =>
    chooseExpertise({ learnings: [], finished: [finished] }, wish, who).map(({ text }) => text);
  expect(told({ node, left })).toEqual(["Tokens are hashed (they leak)"]);
  expect(told({ node, left }, later, at("docs/index.md"))).toEqual([]);
  expect(told({ node, left }, { ...later, now: T0 + 30 * WEEK })).toEqual([]);
  expect(told({ node: { ...node, crystallizationId: "C_2" }, left })).toEqual([]);
  const takenBack = { by: "human:ada", at: T0, target: "main", landed: "c", commit: "r", reason: null };
  expect(told({ node: { ...node, takenBack }, left })).toEqual([]);
});

test("LEARN-1: what has the highest rank comes first, and no more than there is room for", () => {
  const many = Array.from({ length: 50 }, (_, index) => ({
    ...{ ...fact, key: `k${index}`, text: `${"x".repeat(200)} ${index}`, rank: index / 50, confirmed: 1 },
  }));
  const told = texts(many, { ...at("src/auth/login.ts"), budgetBytes: 1_000 });
  expect(told.length).toBeGreaterThan(1);
  expect(told.join("").length).toBeLessThanOrEqual(1_000);
  expect(told[0]).toEndWith(" 49");
});

test.each([
  ["auth", ["src/auth/login.ts"], true],
  ["login", ["src/auth/login.ts"], true],
  ["login", ["src/auth/login.test.ts"], true],
  ["Auth", ["src/auth/**"], true],
  ["auth", ["src/author.ts"], false],
  ["auth", [], false],
] as const)("MULCH-1: the domain %s and the files %s", (domain, paths, fits) => {
  expect(fitsPaths(domain, paths)).toBe(fits);
});

test("MULCH-1: markdown, xml and json hold the same, one line each, and nothing breaks out of its line", () => {
  const items = [{ id: "1", domain: "a", kind: "failure", text: 'x\n## <Rules> & "more"' }];
  expect(renderExpertise(items, "markdown")).toBe('- a, failure: x ## <Rules> & "more"');
  expect(renderExpertise(items, "xml")).toBe(
    '<item domain="a" kind="failure">x ## &lt;Rules&gt; &amp; &quot;more&quot;</item>',
  );
  expect(JSON.parse(renderExpertise(items, "json"))).toEqual({ domain: "a", kind: "failure", text: items[0]?.text });
  expect(renderExpertise([], "xml")).toBe("");
});

test.each(EXPERTISE_FORMATS)(
  "LEARN-1: what fits its room fits it as %s, too, however it is written there",
  (format) => {
    const odd = { id: "", domain: "a&b", kind: "k".repeat(90), text: `<"&>\u0001`.repeat(20) };
    const told = fitBudget(
      Array.from({ length: 20 }, () => odd),
      4_000,
    );
    expect(told.length).toBeGreaterThan(0);
    expect(byteLength(renderExpertise(told, format))).toBeLessThanOrEqual(4_000);
  },
);
