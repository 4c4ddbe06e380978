/** File scopes as tables, and the properties that make two agents in one file impossible. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { refused } from "../../../test/support/tree.ts";
import { checkScope, inScope, normalScope, overlap } from "./scope.ts";

const runs = { numRuns: scaled(1000) };

describe("a path of a scope", () => {
  test.each([
    ["src/parser", "src/parser"],
    ["./src//parser/", "src/parser"],
    ["src/./a.ts", "src/a.ts"],
    ["app/[id]/page.tsx", "app/[id]/page.tsx"],
    ["Grüße/日本.md", "Grüße/日本.md"],
    ["..hidden/a", "..hidden/a"],
    ["/etc/passwd", undefined],
    ["../neighbour", undefined],
    ["src/../../x", undefined],
    ["src/..", undefined],
    ["", undefined],
    [".", undefined],
    ["./", undefined],
    [".git/hooks", undefined],
    [".overseer/config.yaml", undefined],
    ["C:\\x", undefined],
    ["a\0b", undefined],
  ])("SCOPE-1: %p is kept as %p", (path, normal) => {
    expect(normalScope(path)).toBe(normal);
  });

  test("SCOPE-1: one bad path refuses them all by name; equal ones are kept once", () => {
    expect(checkScope(["src", "./src/", "docs/*.md"])).toEqual({ ok: true, scope: ["src", "docs/*.md"] });
    const decision = checkScope(["src", "../x"]);
    if (decision.ok) throw new Error("accepted");
    expect(refused(decision)).toMatchObject({
      kind: "usage",
      code: "SCOPE_INVALID",
      message: expect.stringContaining("../x"),
    });
  });
});

describe("two scopes", () => {
  test.each([
    ["src/a.ts", "src/a.ts", true],
    ["src", "src/a/b.ts", true],
    ["src/a", "src/ab", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/a.md", false],
    ["src/*.ts", "src/*.md", false],
    ["src/a*", "src/*b", true],
    ["src/a*c", "src/b*c", false],
    ["src/?.ts", "src/ab.ts", false],
    ["src/??.ts", "src/a?.ts", true],
    ["src/*/x", "src/y/z", false],
    ["src/*/x", "src/y", true],
    ["**/a.ts", "docs/b.md", true],
    ["src/**", "docs", false],
    ["app/[id]/page.tsx", "app/a/page.tsx", false],
    ["app/[id]", "app/[id]/page.tsx", true],
  ])("SCOPE-1: %p and %p overlap: %p", (a, b, expected) => {
    expect(overlap([a], [b]) !== undefined).toBe(expected);
    expect(overlap([b], [a]) !== undefined).toBe(expected);
  });

  test("SCOPE-1: the pair that overlaps is named, each side in its place", () => {
    expect(overlap(["docs", "src/a"], ["lib", "src"])).toEqual(["src/a", "src"]);
    expect(overlap([], ["src"])).toBeUndefined();
  });
});

describe("inside a scope", () => {
  test.each([
    ["src/a.ts", ["src"], true],
    ["src", ["src"], true],
    ["srcx/a.ts", ["src"], false],
    ["./src/a.ts", ["src"], true],
    ["src/../docs/a", ["src"], false],
    ["/src/a.ts", ["src"], false],
    ["src/a/b.ts", ["src/*.ts"], false],
    ["src/b.ts", ["src/*.ts"], true],
    ["src/a/b/c.ts", ["src/**/c.ts"], true],
    ["src/c.ts", ["src/**/c.ts"], true],
    ["app/[id]/page.tsx", ["app/[id]"], true],
    ["app/i/page.tsx", ["app/[id]"], false],
    ["app/x.ts", ["app/[a*"], false],
    [".overseer/config.yaml", ["**"], false],
    [".git/config", ["**"], false],
    ["a", [], false],
  ])("SCOPE-1: %p in %p: %p", (path, scope, expected) => {
    expect(inScope(path, scope)).toBe(expected);
  });

  test("SCOPE-1: so does one full of folders at any depth, and thousands that are held against each other", () => {
    expect(inScope(`${"a/".repeat(200)}c`, [`${"**/a/".repeat(30)}b`])).toBe(false);
    const many = (end: string) => Array.from({ length: 300 }, (_, at) => `${"*a".repeat(45)}${at}${end}`);
    expect(overlap(many("x"), many("y"))).toBeDefined();
  });

  test("SCOPE-1: a pattern full of stars answers at once", () => {
    expect(inScope(`${"a".repeat(200)}b`, [`${"*a".repeat(60)}c`])).toBe(false);
  });
});

/** Few letters, so that patterns and names meet often. */
const word = fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "["), minLength: 1, maxLength: 4 });
const entry = fc
  .array(fc.oneof({ weight: 5, arbitrary: word }, { weight: 1, arbitrary: fc.constant("**") }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join("/"));
const scope = fc.array(entry, { minLength: 1, maxLength: 3 });
const name = fc.string({ unit: fc.constantFrom("a", "b", "["), minLength: 1, maxLength: 4 });
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));

/** The same by a regular expression over the whole path: another way to say it, too slow for hostile patterns. */
function inScopeByExpression(one: string, entries: readonly string[]): boolean {
  return entries.some((each) => {
    const parts = each
      .split("/")
      .map((part) =>
        part === "**"
          ? "(?:[^/]+/)*"
          : `${[...part]
              .map((sign) => (sign === "*" ? "[^/]*" : sign === "?" ? "[^/]" : sign.replace(/[[\]^$.]/, "\\$&")))
              .join("")}/`,
      );
    return new RegExp(`^${parts.join("")}`).test(`${one}/`);
  });
}

describe("all scopes", () => {
  test("SCOPE-1: overlap is the same from both sides, and every scope overlaps itself", () => {
    fc.assert(
      fc.property(scope, scope, (a, b) => {
        expect(overlap(a, b) === undefined).toBe(overlap(b, a) === undefined);
        expect(overlap(a, a)).toBeDefined();
      }),
      runs,
    );
  });

  test("SCOPE-1: a path that lies in both means that they overlap", () => {
    fc.assert(
      fc.property(scope, scope, path, (a, b, one) => {
        if (inScope(one, a) && inScope(one, b)) expect(overlap(a, b)).toBeDefined();
      }),
      runs,
    );
  });

  test("SCOPE-1: two patterns of one name overlap exactly when some name fits both", () => {
    const names = ["a", "b", "["];
    const words = names.flatMap((x) => [x, ...names.flatMap((y) => [x + y, ...names.map((z) => x + y + z)])]);
    const short = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), minLength: 1, maxLength: 2 });
    fc.assert(
      fc.property(short, short, (a, b) => {
        const shared = words.some((one) => inScope(one, [a]) && inScope(one, [b]));
        expect(overlap([a], [b]) !== undefined).toBe(shared);
      }),
      runs,
    );
  });

  test("SCOPE-1: inside means what a regular expression over the path says", () => {
    fc.assert(
      fc.property(path, scope, (one, entries) => {
        expect(inScope(one, entries)).toBe(inScopeByExpression(one, entries));
      }),
      runs,
    );
  });
});
