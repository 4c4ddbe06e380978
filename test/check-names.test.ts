/** The check of names and words finds one planted fault of each kind, and nothing in what is right. */
import { expect, test } from "bun:test";
import { findAvoidedWords, findParticiples, findSharedExports, readNotList } from "../scripts/check-names.ts";

const file = (text: string, path = "src/a.ts") => [{ path, text }];

test.each([
  "export async function prepared(): Promise<void> {}",
  "const kept = (x: string): string => x;",
  "const x = {\n  settledWith: async (y) => y,\n};",
  "class A {\n  async chosenBy(x: string): Promise<void> {\n  }\n}",
  "interface A {\n  takenFrom(x: string): void;\n}",
])("a function named by a past participle is found: %s", (text) => {
  expect(findParticiples(file(text))).toHaveLength(1);
});

test.each([
  "/** A function returned by it. */\nexport function needMore() {}",
  "const landed = list.filter((x) => x);",
  "function succeed() {}",
  "const x = {\n  landed: rows.length,\n};",
])("a value may have such a name, and so may a verb that only looks like one: %s", (text) => {
  expect(findParticiples(file(text))).toEqual([]);
});

test("a name that two files export is found; default exports have none", () => {
  const one = { path: "src/a.ts", text: "export const LIMIT = 1;\nexport default {};" };
  const other = { path: "src/b.ts", text: "export function LIMIT() {}\nexport default {};" };
  expect(findSharedExports([one, other])).toEqual([expect.stringContaining("src/a.ts and src/b.ts")]);
  expect(findSharedExports([one])).toEqual([]);
});

const glossary =
  "| **agent** | Works. *Not*: worker, bot, session (that is its CLI's). |\n| **goal** | What is wanted. |\n";
const notList = readNotList(glossary);

test("the words to avoid come from the glossary, without those that have a use of their own", () => {
  expect([...notList]).toEqual([
    ["worker", "agent"],
    ["bot", "agent"],
  ]);
});

test.each([
  ["src/a.ts", 'throw new Error("The workers are gone.");'],
  ["src/a.ts", "const x = `Started a bot.`;"],
  ["docs/a.md", "It is given to a worker."],
])("an avoided word in a sentence is found: %s %s", (path, text) => {
  expect(findAvoidedWords(file(text, path), notList, [])).toHaveLength(1);
});

test.each([
  ["src/a.ts", "/* The worker. */ const worker = `for $" + "{worker}: ready`;"],
  ["docs/a.md", "The key `auto.workers` and\n```sh\nrun a worker\n```\nrobots."],
])("in code and comments it is nobody's sentence: %s", (path, text) => {
  expect(findAvoidedWords(file(text, path), notList, [])).toEqual([]);
});

test("an exception has to be needed", () => {
  const exception = { word: "worker", phrase: "web worker" };
  expect(findAvoidedWords(file("A web worker.", "docs/a.md"), notList, [exception])).toEqual([]);
  expect(findAvoidedWords(file("An agent.", "docs/a.md"), notList, [exception])).toHaveLength(1);
});
