import { expect, test } from "bun:test";
import type { ForecastFile } from "./tier.ts";
import { type ForecastFacts, forecastTier } from "./tiers.ts";

const open: ForecastFile = { path: "doc.md", by: null, forModel: true };
const binary: ForecastFile = { path: "logo.png", by: null, forModel: false };
const known: ForecastFile = { path: "old.md", by: { kind: "recorded" }, forModel: false };
const notes: ForecastFile = { path: "CHANGELOG.md", by: { kind: "union" }, forModel: false };
const lock: ForecastFile = { path: "app.lock", by: { kind: "lockfile", command: "make lock" }, forModel: false };

const FACTS: ForecastFacts = {
  files: [open],
  author: { label: "ada#3", living: false, rounds: 0 },
  tiers: { mechanical: true, author: true, aiResolve: true, reimagine: true },
  authorRounds: 3,
};
const living = { label: "ada#3", living: true, rounds: 0 };
const tiers = (off: Partial<ForecastFacts["tiers"]>) => ({ ...FACTS.tiers, ...off });

const ROWS: [what: string, facts: Partial<ForecastFacts>, tier: string, how: string][] = [
  ["nothing in common", { files: [] }, "person", "no history in common"],
  ["a person's own branch", { author: null }, "person", "resolve doc.md on the branch yourself"],
  ["a person's own branch, settled", { author: null, files: [notes] }, "person", "resolve CHANGELOG.md"],
  ["resolved before", { files: [known] }, "auto-resolve", "old.md as it was resolved before"],
  ["a union file", { files: [notes] }, "auto-resolve", "CHANGELOG.md with both sides"],
  ["a lockfile", { files: [lock, notes] }, "auto-resolve", "app.lock made anew by 'make lock'; CHANGELOG.md with"],
  ["one that stays open", { files: [known, open] }, "ai-resolve", "A model is asked about doc.md."],
  ["mechanical off", { files: [known], tiers: tiers({ mechanical: false }) }, "author", "dispatched again"],
  ["its author at work", { author: living }, "author", "ada#3 is at work and gets doc.md back (round 1 of 3)"],
  ["its author in the second round", { author: { ...living, rounds: 1 } }, "author", "(round 2 of 3)"],
  ["its author's rounds used up", { author: { ...living, rounds: 2 } }, "ai-resolve", "A model is asked"],
  ["its author at work, that tier off", { author: living, tiers: tiers({ author: false }) }, "ai-resolve", "A model"],
  ["its author gone", {}, "ai-resolve", "A model is asked about doc.md."],
  ["one call off", { tiers: tiers({ aiResolve: false }) }, "reimagine", "makes the change to doc.md again"],
  ["nothing for a model", { files: [open, binary] }, "author", "ada#3 is gone: its task is dispatched again"],
  [
    "nothing for a model, no rounds left",
    { files: [binary], author: { ...living, rounds: 2 } },
    "person",
    "a person is asked about logo.png",
  ],
  [
    "models off, its author at work, that tier off",
    { author: living, tiers: tiers({ author: false, aiResolve: false, reimagine: false }) },
    "author",
    "ada#3 gets doc.md back.",
  ],
];
test.each(ROWS)("MERGE-2: a conflict goes to the tier whose turn it would be: %s", (_what, facts, tier, how) => {
  const found = forecastTier({ ...FACTS, ...facts });
  expect(found.tier).toBe(tier as never);
  expect(found.how).toContain(how);
});

test("MERGE-2: of many files the first few are named, and how many more there are", () => {
  const files = Array.from({ length: 7 }, (_, index) => ({ ...open, path: `f${index}` }));
  expect(forecastTier({ ...FACTS, files }).how).toBe("A model is asked about f0, f1, f2, f3, f4 and 2 more.");
});
