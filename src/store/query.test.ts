/** The text of a query is for every database: what only one of them understands belongs into that one's folder. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ONE_DATABASE_ONLY: readonly (readonly [what: string, pattern: RegExp, example: string])[] = [
  ["reaching into JSON", /->>?\s*'|\bjsonb?_\w+\s*\(/, "doc ->> '$.parent'"],
  ["SQLite's own tables and settings", /\bsqlite_\w+|\bpragma\b|\browid\b/, "select name from sqlite_schema"],
  ["SQLite's own words", /\binsert or\b|\bifnull\s*\(|\bglob\b|\bgroup_concat\s*\(/, "insert or replace into"],
  [
    "the larger of two by max, the smaller by min",
    /\b(max|min)\s*\([^()]*(\([^()]*\))*[^()]*,/,
    "max(coalesce(a, 0), b)",
  ],
  ["a table made in place without a name", /from \([^()]*(\([^()]*\)[^()]*)*\)\s*(where|`|$)/, "from (select 1) where"],
];

function queryTexts(): [file: string, text: string][] {
  return readdirSync(import.meta.dir)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .flatMap((name): [string, string][] => {
      const source = readFileSync(join(import.meta.dir, name), "utf8");
      const texts = source.match(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
      return texts.filter((text) => /^["`]\s*(select|and|from|g\.)\b/.test(text)).map((text) => [name, text]);
    });
}

test.each(ONE_DATABASE_ONLY)("STORE-1: no query's text uses %s", (_, pattern, example) => {
  const texts = queryTexts();
  expect(texts.length).toBeGreaterThan(60);
  expect(example).toMatch(pattern);
  expect(texts.filter(([, text]) => pattern.test(text))).toEqual([]);
});

/** Who repairs a SQLite file knows that it is one. The list only shrinks. */
const KNOW_SQLITE = [
  "control/upkeep/attempts-seen.ts",
  "control/upkeep/doctor-hooks.ts",
  "control/upkeep/doctor.ts",
  "control/upkeep/earlier-store.ts",
  "control/upkeep/store-rescue.ts",
  "daemon-guard.ts",
  "daemon/store-care.ts",
  "store/open.ts",
  "wiring.ts",
];

test("STORE-1: nobody else knows which database the store lies in", () => {
  const root = join(import.meta.dir, "..");
  const knowing = [...new Bun.Glob("**/*.ts").scanSync(root)].filter(
    (path) =>
      !path.endsWith(".test.ts") &&
      !path.startsWith("store/sqlite/") &&
      /["/](bun:sqlite|store\/sqlite\/|\.\/sqlite\/)|"#store\/sqlite\//.test(readFileSync(join(root, path), "utf8")),
  );
  expect(knowing.sort()).toEqual(KNOW_SQLITE);
});
