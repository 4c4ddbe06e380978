import { expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { scaled } from "../../../test/support/scale.ts";
import {
  findBroughtByGit,
  findGone,
  type Gone,
  holdForGone,
  holdForUnconfirmed,
  type InGit,
  isOwnHistory,
  listChangedNames,
  listOwnCommits,
  type Provenance,
} from "./settings.ts";

const CONFIG = "checks:\n  test:\n    command: npm test\n";
const KEPT = { "config.yaml": CONFIG, "roles/scout.yaml": "readOnly: true\n", "hooks.yaml": "# none\n" };

const rows: readonly [what: string, now: Record<string, string>, gone: readonly Gone[]][] = [
  ["nothing changed", KEPT, []],
  ["all of it is away", {}, Object.keys(KEPT).map((name) => ({ name, how: "missing" }))],
  ["one is empty", { ...KEPT, "config.yaml": "" }, [{ name: "config.yaml", how: "empty" }]],
  ["only blanks are left", { ...KEPT, "config.yaml": " \n" }, [{ name: "config.yaml", how: "empty" }]],
  [
    "it is cut off",
    { ...KEPT, "config.yaml": CONFIG.slice(0, 24) },
    [{ name: "config.yaml", how: "cut off in line 3" }],
  ],
  [
    "it is cut off after a line",
    { ...KEPT, "config.yaml": "checks:\n  test:\n" },
    [{ name: "config.yaml", how: "cut off after line 2" }],
  ],
  ["the last newline is gone", { ...KEPT, "config.yaml": CONFIG.trimEnd() }, []],
  ["it says something else", { ...KEPT, "config.yaml": "runtime: scripted\n" }, []],
  ["something was added", { ...KEPT, "config.yaml": `${CONFIG}runtime: scripted\n`, more: "x" }, []],
];

for (const [what, now, gone] of rows) {
  test(`CONF-2: what is away when ${what}`, () => {
    expect(findGone(KEPT, now)).toEqual([...gone]);
  });
}

const LONG =
  "runtime: scripted\nlanding:\n  mode: auto\n\n# every check\nchecks:\n  test: {command: npm test}\n# the end\n";

test.each([
  ["runtime: scripted\nlanding:\n  mode: auto\n\n", "without checks, which it ended with"],
  ["runtime: scripted\nlanding:\n  mode: auto\n\n# every check\n", "without checks, which it ended with"],
  ["runtime: scripted\n", "without landing, checks, which it ended with"],
  ["runtime: scripted\nlanding:\n", "cut off after line 2"],
  ["runtime: scripted\nlanding:\n  mode: au", "cut off in line 3"],
])("CONF-2: whole sections that are away are named, %j", (now, how) => {
  const gone = findGone({ "config.yaml": LONG }, { "config.yaml": now });
  expect(gone).toEqual([{ name: "config.yaml", how }]);
  expect(holdForGone(gone)).toMatchObject({
    message: expect.stringContaining(`config.yaml is ${how}: `),
    hint: expect.stringMatching(/^If that is on purpose, 'overseer config accept' takes it/),
  });
});

test("CONF-2: comments at the end of a file may go, they say nothing", () => {
  expect(findGone({ "config.yaml": LONG }, { "config.yaml": LONG.slice(0, LONG.indexOf("# the")) })).toEqual([]);
  expect(findGone({ "config.yaml": LONG }, { "config.yaml": LONG.slice(0, LONG.indexOf(" end")) })).toHaveLength(1);
  expect(findGone({ "a.md": "A\n# B\n" }, { "a.md": "A\n" })).toHaveLength(1);
});

test("CONF-2: what says only what is built in may be deleted, not cut off", () => {
  const { "hooks.yaml": hooks, ...now } = KEPT;
  expect(findGone(KEPT, now, ["hooks.yaml"])).toEqual([]);
  expect(findGone(KEPT, { ...now, "hooks.yaml": hooks.slice(0, 3) }, ["hooks.yaml"])).toHaveLength(1);
});

test("CONF-2: every beginning of a text is away, and no text that continues is", () => {
  fc.assert(
    fc.property(anyText(), anyText(), (text, more) => {
      const whole = `k: ${text}|`;
      for (const cut of [0, 1, whole.length - 1]) {
        expect(findGone({ a: whole }, { a: whole.slice(0, cut) })).toHaveLength(1);
      }
      expect(findGone({ a: whole }, { a: `${whole}${more}` })).toEqual([]);
    }),
    { numRuns: scaled(50) },
  );
});

test("ISO-1: changes are those of texts, new and gone ones included", () => {
  expect(listChangedNames({ a: "1", b: "2", c: "3" }, { a: "1", b: "x", d: "4" })).toEqual(["b", "c", "d"]);
});

const git: readonly [
  what: string,
  before: InGit,
  now: InGit,
  brought: boolean,
  own?: true | "but foreign" | "made here",
][] = [
  ["git does not know the file", { held: [], text: "t" }, { held: [], text: "n" }, false],
  ["git holds what it held", { held: ["h"], text: "t" }, { held: ["h"], text: "n" }, false],
  ["what was confirmed has been committed", { held: ["h"], text: "t" }, { held: ["t"], text: "n" }, false],
  ["it was typed and committed at once", { held: ["h"], text: "t" }, { held: ["n"], text: "n" }, false, true],
  ["it is new and was committed at once", { held: [], text: null }, { held: ["n"], text: "n" }, false, true],
  ["it was committed and typed into again", { held: ["h"], text: "t" }, { held: ["m"], text: "n" }, false, true],
  ["a stash put back what is committed", { held: ["h"], text: "t" }, { held: ["h"], text: "h" }, true],
  ["a stash did, and nothing but commits was made", { held: ["h"], text: "t" }, { held: ["h"], text: "h" }, true, true],
  ["a pull or a checkout brought it", { held: ["h"], text: "t" }, { held: ["p"], text: "p" }, true],
  ["somebody typed into what a pull brought", { held: ["h"], text: "t" }, { held: ["p"], text: "n" }, true],
  ["a merge that stopped has staged another", { held: ["h"], text: "t" }, { held: ["h", "p"], text: "n" }, true],
  ["a clone brought a new file", { held: [], text: null }, { held: ["p"], text: "p" }, true],
  ["a squash was committed", { held: ["h"], text: "t" }, { held: ["p"], text: "p" }, true, "but foreign"],
  [
    "one file was taken from a branch",
    { held: ["h"], text: "t" },
    { held: ["h", "p"], text: "p" },
    true,
    "but foreign",
  ],
  ["it was committed here after a reset", { held: ["h"], text: "t" }, { held: ["n"], text: "n" }, false, "made here"],
  ["a patch was applied", { held: ["h"], text: "t" }, { held: ["h"], text: "p" }, true, "but foreign"],
];

for (const [what, before, now, brought, own] of git) {
  test(`ISO-1: a change counts as ${brought ? "brought by git" : "typed here"} when ${what}`, () => {
    const madeBy: Provenance["madeBy"] =
      own === "but foreign" ? { f: "foreign" } : own === "made here" ? { f: "own" } : {};
    const provenance = { isOwnHistory: own === true || own === "but foreign", madeBy };
    expect(findBroughtByGit(["f"], { f: before }, { f: now }, provenance)).toEqual(brought ? ["f"] : []);
  });
}

const histories: readonly [steps: readonly string[], own: boolean][] = [
  [["c0 clone: from /x"], true],
  [["c2 commit: Add checks", "c1 commit (amend): Begin", "c0 commit: Begin"], true],
  [["c1 pull: Fast-forward", "c0 commit: Begin"], false],
  [["c2 commit: Mine", "c1 checkout: moving from a to b", "c0 commit: Begin"], false],
  [["c1 commit (merge): Merge branch 'theirs'", "c0 commit: Begin"], false],
  [["c1 reset: moving to HEAD~1", "c0 commit: Begin"], false],
  [["c0 checkout: moving back", "c1 checkout: moving away", "c0 commit: Begin"], true],
  [["c5 commit: Mine"], false],
  [[], false],
];

test("ISO-1: only plain commits since the settings were confirmed are this user's own history", () => {
  for (const [steps, own] of histories) {
    const read = steps.map((step) => ({ commit: step.slice(0, 2), how: step.slice(3), settings: step.slice(0, 2) }));
    expect([steps, isOwnHistory("c0", read)]).toEqual([steps, own]);
  }
  expect(isOwnHistory(undefined, [])).toBe(false);
});

test("ISO-1: what landed meanwhile, and whatever else left the settings as they were, is no concern", () => {
  const steps = [
    { commit: "c2", how: "commit: Mine", settings: "s2" },
    { commit: "c1", how: "merge 12ab: Fast-forward", settings: "s0" },
    { commit: "c0", how: "commit: Begin", settings: "s0" },
  ];
  expect(isOwnHistory("c0", steps)).toBe(true);
  expect([...listOwnCommits(steps)]).toEqual(["c2", "c0"]);
  expect(
    isOwnHistory(
      "c0",
      steps.map((step) => (step.commit === "c1" ? { ...step, settings: "s1" } : step)),
    ),
  ).toBe(false);
});

test("CONF-2, ISO-1: a hold names the files, a few of them, and the next step", () => {
  const gone = ["a", "b", "c", "d", "e"].map((name): Gone => ({ name, how: "missing" }));
  expect(holdForGone(gone).message).toStartWith("a is missing, b is missing, c is missing, d is missing and 1 more:");
  expect(holdForGone(gone).hint).toContain("overseer config accept");
  expect(holdForUnconfirmed(["x"], "brought").message).toStartWith("x came by git and was not confirmed");
  expect(holdForUnconfirmed([], "never").hint).toContain("overseer trust");
});
