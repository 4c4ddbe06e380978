import { expect, test } from "bun:test";
import type { Discovery, Overheard } from "./extract.ts";
import { commandKey, commandOfFailure, failureKey, listen, NEW_EAR } from "./extract.ts";

let heard = 0;

function run(command: string, ok: boolean, result = ""): Overheard {
  heard += 1;
  return {
    kind: "call",
    at: heard,
    id: `call_${heard}`,
    tool: "Bash",
    does: "shell",
    args: JSON.stringify({ command }),
    ok,
    result,
  };
}

function findIn(...all: readonly Overheard[]): Discovery[] {
  let ear = NEW_EAR;
  return all.flatMap((one) => {
    const next = listen(ear, one);
    ear = next.ear;
    return next.found;
  });
}

test("SYNC-1: a command that failed and, changed, worked is a discovery, once", () => {
  const found = findIn(
    run("npm test -- auth", false, "Error: no test database"),
    run("npm test -- auth --db=memory", true),
    run("npm test -- auth --db=memory", true),
  );
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({
    kind: "failure-fix",
    failing: failureKey("npm test -- auth", "Error: no test database"),
    fix: "npm test -- auth --db=memory",
    via: "tool",
  });
  expect(found[0]?.text).toBe(
    "`npm test -- auth` fails (`Error: no test database`); `npm test -- auth --db=memory` works.",
  );
});

test("SYNC-1, EDGE-4: what works, what fails for ever and what fails by chance is no discovery", () => {
  expect(findIn(run("npm test", true), run("npm run build", true))).toEqual([]);
  expect(findIn(run("npm test", false, "x"), run("npm test", false, "y"))).toEqual([]);
  expect(findIn(run("npm test", false, "Error: busy"), run("npm test", true), run("npm ci", true))).toEqual([]);
  expect(findIn(run("npm test", false, "Error: busy"), run("ls", true))).toEqual([]);
  expect(findIn({ kind: "said", at: 1, id: "m1", text: "Let me look." })).toEqual([]);
});

test.each([
  ["npm test -- auth", "npm test -- auth 2>&1 | tail -20"],
  ["npm test", "cd packages/api && npm test"],
  ["CI=1 npm test", "CI=1  npm   test >out.log"],
])("SYNC-1: %j and %j are one command", (one, other) => {
  expect(commandKey(other)).toBe(commandKey(one));
});

test("SYNC-1: another command, and the same that fails otherwise, are told apart", () => {
  expect(commandKey("npm test")).not.toBe(commandKey("npm test -- auth"));
  expect(failureKey("npm test", "Error: no database")).not.toBe(failureKey("npm test", "Error: out of memory"));
  expect(commandOfFailure(failureKey("npm test ! x", "Error: no database"))).toBe(commandKey("npm test ! x"));
});
