/** CONF-1: one key is changed as a person would change it, and a value that the key does not take changes nothing. */
import { describe, expect, test } from "bun:test";
import { OverseerError } from "#errors.ts";
import { setKey } from "./edit.ts";
import { parseConfig } from "./load.ts";

const FILE = `# Ours.
agents:   # who works
  maxConcurrent:   4    # enough

landing:
    mode: review
    unionFiles: [CHANGELOG.md]
checks:
  tests: npm test   # short
  lint: {command: npm run lint, on: [done]}
`;

describe("CONF-1: setting a key", () => {
  test.each([
    ["agents.maxConcurrent", "8", "maxConcurrent:   4    # enough", "maxConcurrent:   8    # enough"],
    ["landing.mode", "auto", "mode: review", "mode: auto"],
    ["landing.unionFiles", "[a.md, b.md]", "[CHANGELOG.md]", "[ a.md, b.md ]"],
    ["checks.tests", "bun test", "tests: npm test   # short", "tests: bun test   # short"],
    ["checks.lint", "make lint", "command: npm run lint", "command: make lint"],
    ["checks.lint.timeout", "5m", "on: [done]", "timeout: 5m"],
    ["checks.lint", "{command: make}", "{command: npm run lint, on: [done]}", "{ command: make }"],
  ])("%s to %s keeps everything else", (key, value, before, after) => {
    const changed = setKey(FILE, key, value, "config.yaml");
    if (changed.includes("timeout")) {
      expect(changed).toContain(after);
      expect(changed.match(/#[^\n]*/g)).toEqual(FILE.match(/#[^\n]*/g));
    } else expect(changed).toBe(FILE.replace(before, after));
    expect(parseConfig(changed, "config.yaml")).not.toEqual(parseConfig(FILE, "config.yaml"));
  });

  test.each([
    ["", "agents.maxConcurrent", "8", "agents:\n  maxConcurrent: 8\n"],
    ["# only a comment\n", "checks.tests", "npm test", "# only a comment\nchecks:\n  tests: npm test\n"],
    ["agents:\n", "agents.maxConcurrent", "8", "agents:\n  maxConcurrent: 8\n"],
    ["agents: {}\r\n", "agents.maxConcurrent", "8", /maxConcurrent: 8/],
    [
      "",
      "checks.tests",
      "{command: node --test test/, timeout: 2m}",
      "checks:\n  tests:\n    command: node --test test/\n    timeout: 2m\n",
    ],
    ["", "landing.lockfiles", "{a.lock: npm i}", /lockfiles:\n {4}a\.lock: npm i/],
    ["", "checks.tests.command", "[ -f a ] && make", /command: "\[ -f a \] && make"/],
    ["", "landing.lockfiles.package-lock.json", "npm i", /package-lock\.json: npm i/],
    ["landing:\n  mode: auto\n", "landing.mode", "null", "landing:\n  mode: null\n"],
    ["", "landing.afterLand", "true", /afterLand: "true"/],
  ] as const)("in %p: %s %s", (text, key, value, expected) => {
    const changed = setKey(text, key, value, "config.yaml");
    if (typeof expected === "string") expect(changed).toBe(expected);
    else expect(changed).toMatch(expected);
  });

  test.each([
    ["agents.maxConcurent", "8", "not-found", "Did you mean agents.maxConcurrent?", "config explain"],
    ["nonsense", "8", "not-found", "nonsense is not a key", "config explain"],
    ["", "8", "not-found", "is not a key", "config explain"],
    ["agents..maxConcurrent", "8", "not-found", "is not a key", "config explain"],
    ["guard", "5", "usage", "guard is a group of keys", "guard.checkEvery"],
    ["checks", "npm test", "usage", "checks is a group of keys", "checks.tests.command"],
    ["agents.maxConcurrent", "many", "usage", 'must be a whole number, not "many"', "takes a whole number"],
    ["agents.maxConcurrent", "-1", "usage", "must be at least 1, not -1", "at least 1"],
    ["landing.mode", "automatic", "usage", "must be one of review, auto", "review, auto"],
    ["reconcile.tickEvery", "5x", "usage", "must be a duration like 2m", "a duration such as"],
    ["reconcile.tickEvery", "5", "usage", "must be a duration with its unit", "a duration such as"],
    ["checks.tests.on", "land", "usage", "must be a list of texts", "'[done, land]'"],
    ["landing.keepWorktree", "yes please", "usage", "must be true or false", "true or false"],
    ["checks.tests", "{command: make, timout: 2m}", "usage", "timout", "Nothing was changed"],
    ["checks.tests", "{timeout: 2m}", "usage", "command", "Nothing was changed"],
    ["checks.tests", "{ make; }", "usage", "plain text or a group", "checks.tests.command"],
    ["checks.tests", "[ -f a ] && make", "usage", "plain text or a group", "checks.tests.command"],
    ["checks.tests", "[npm, test]", "usage", "plain text or a group", "checks.tests.command"],
    ["checks.Tests!", "x", "usage", "must look like tests", "Nothing was changed"],
  ])("%s %s is refused", (key, value, kind, message, hint) => {
    let refused: unknown;
    try {
      setKey(FILE, key, value, "config.yaml");
    } catch (error) {
      refused = error;
    }
    if (!(refused instanceof OverseerError)) throw new Error("It was not refused.");
    expect(refused.kind).toBe(kind as OverseerError["kind"]);
    expect(`${refused.message}`).toContain(message);
    expect(refused.hint).toContain(hint);
    expect(refused.message.split("\n")).toHaveLength(1);
  });

  test.each([
    [
      "agents: {maxConcurrent: &c 4, maxDepth: *c}\n",
      "agents.maxConcurrent",
      ["agents.maxConcurrent", "agents.maxDepth"],
    ],
    ["agents: {maxConcurrent: &c 4, maxDepth: *c}\n", "agents.maxDepth", ["agents.maxConcurrent", "agents.maxDepth"]],
    ["checks:\n  a: &k {command: x}\n  b: *k\n", "checks.a.command", ["checks.a", "checks.b"]],
    ["checks:\n  a: &k {command: x}\n  b: *k\n", "checks.b.command", ["checks.a", "checks.b"]],
    ["checks:\n  a: &k {command: x}\n  b: *k\n", "checks.b", ["checks.a", "checks.b"]],
  ])("in %p a value that %s shares with another key is refused, naming both", (text, key, named) => {
    const set = () => setKey(text, key, key.startsWith("checks") ? "y" : "3", "config.yaml");
    expect(set).toThrow(OverseerError);
    for (const name of named) expect(set).toThrow(name);
  });

  test("an anchor that nothing refers to, or that another key has, is in nobody's way", () => {
    const text = "agents: {maxConcurrent: &c 4}\nchecks:\n  a: &k {command: x}\n  b: *k\n";
    expect(setKey(text, "agents.maxDepth", "3", "c")).toContain("maxDepth: 3");
    expect(parseConfig(setKey(text, "agents.maxConcurrent", "5", "c"), "c").agents.maxConcurrent).toBe(5);
  });

  test("a file that is broken already is told with its place, and is not touched", () => {
    expect(() => setKey("agents: [\n", "agents.maxConcurrent", "8", "config.yaml")).toThrow(/^config\.yaml:\d+:\d+: /);
  });
});

test("CONF-1: a check as a plain text means its command", () => {
  const short = parseConfig("checks: {tests: npm test}", "c");
  expect(short).toEqual(parseConfig("checks: {tests: {command: npm test}}", "c"));
  expect(() => parseConfig("checks: {tests: ''}", "c")).toThrow("checks.tests");
  expect(() => parseConfig("checks: {tests: 5}", "c")).toThrow("checks.tests");
});
