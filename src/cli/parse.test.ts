import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Command, Option } from "./command.ts";
import { GLOBAL_OPTIONS, parseCall, splitGlobals } from "./parse.ts";

const create: Command = {
  name: "create",
  summary: "",
  args: [
    { name: "goal", summary: "" },
    { name: "note", summary: "", optional: true },
  ],
  options: [
    { name: "title", short: "t", value: "text", summary: "" },
    { name: "label", short: "l", value: "name", summary: "", repeat: true },
    { name: "priority", value: "level", summary: "", choices: ["low", "normal", "high"] },
    { name: "force", short: "f", summary: "" },
    { name: "quiet", short: "q", summary: "" },
  ],
};
const many: Command = { name: "many", summary: "", args: [{ name: "words", summary: "", rest: true }] };
const bare: Command = { name: "bare", summary: "" };

function valuesOf(command: Command, words: readonly string[]) {
  const parsed = parseCall(command, words);
  if (!parsed.ok) throw new Error(parsed.problem.message);
  const { args, rest, options } = parsed.values;
  return { args: Object.fromEntries(args), rest, options: Object.fromEntries(options) };
}

describe("words that are understood", () => {
  const cases: [why: string, words: string[], options: Record<string, string[]>, args?: Record<string, string>][] = [
    ["an argument alone", ["g1"], {}],
    ["a value in the next word", ["g1", "--title", "A b"], { title: ["A b"] }],
    ["a value after an equals sign", ["g1", "--title=A=b"], { title: ["A=b"] }],
    ["an empty value", ["g1", "--title="], { title: [""] }],
    ["an empty value as a word of its own", ["g1", "--title", ""], { title: [""] }],
    ["options before arguments", ["--title", "x", "g1"], { title: ["x"] }],
    ["a short option", ["g1", "-t", "x"], { title: ["x"] }],
    ["a short option with its value attached", ["g1", "-tx"], { title: ["x"] }],
    ["a short option with an equals sign", ["g1", "-t=x"], { title: ["x"] }],
    ["several switches in one word", ["g1", "-fq"], { force: [], quiet: [] }],
    ["switches and a value in one word", ["g1", "-fqt", "x"], { force: [], quiet: [], title: ["x"] }],
    ["a switch given twice", ["g1", "-f", "--force"], { force: [] }],
    ["an option that may be repeated", ["g1", "-l", "a", "--label=b"], { label: ["a", "b"] }],
    ["a value that begins with a dash, by =", ["g1", "--title=-5"], { title: ["-5"] }],
    ["a lone dash as a value", ["g1", "--title", "-"], { title: ["-"] }],
    ["a lone dash as an argument", ["-"], {}, { goal: "-" }],
    ["a choice", ["g1", "--priority", "high"], { priority: ["high"] }],
    ["the global options", ["g1", "--json", "--root", "/x"], { json: [], root: ["/x"] }],
    ["-- ends the options", ["--", "--title", "--json"], {}, { goal: "--title", note: "--json" }],
    ["an optional argument", ["g1", "n"], {}, { goal: "g1", note: "n" }],
  ];
  test.each(cases)("%s", (_why, words, options, args = { goal: "g1" }) => {
    expect(valuesOf(create, words)).toEqual({ args, rest: [], options });
  });

  test("the last argument may take all that is left", () => {
    expect(valuesOf(many, ["a", "b", "--", "-c"])).toEqual({
      args: { words: "a" },
      rest: ["a", "b", "-c"],
      options: {},
    });
  });
});

describe("words that are refused", () => {
  const cases: [why: string, command: Command, words: string[], code: string, message: string, hint: string][] = [
    [
      "a mistyped option",
      create,
      ["g", "--tilte", "x"],
      "UNKNOWN_OPTION",
      "has no option --tilte",
      "Did you mean --title?",
    ],
    ["a mistyped global option", create, ["g", "--jsno"], "UNKNOWN_OPTION", "--jsno", "Did you mean --json?"],
    ["an option like nothing", create, ["g", "--zzzzzz"], "UNKNOWN_OPTION", "--zzzzzz", "overseer create --help"],
    ["an unknown short option", create, ["g", "-fx"], "UNKNOWN_OPTION", "-x", "overseer create --help"],
    ["a long option with one dash", create, ["g", "-priority"], "UNKNOWN_OPTION", "-p", "Did you mean --priority?"],
    ["a negative number as an argument", create, ["-5"], "UNKNOWN_OPTION", "-5", "put -- before it"],
    ["a missing value at the end", create, ["g", "--title"], "MISSING_VALUE", "--title <text>", "Add the text"],
    ["an option where a value belongs", create, ["g", "--title", "-f"], "MISSING_VALUE", "--title", "--title=-f"],
    ["a short option without its value", create, ["g", "-t"], "MISSING_VALUE", "-t <text>", "Add the text"],
    ["a value for a switch", create, ["g", "--force=yes"], "UNEXPECTED_VALUE", "--force", "--force alone"],
    ["two values where one fits", create, ["g", "-ta", "-tb"], "GIVEN_TWICE", "--title", "Keep the one"],
    ["two roots", bare, ["--root=a", "--root=b"], "GIVEN_TWICE", "--root", "Keep the one"],
    ["a value that is no choice", create, ["g", "--priority=hihg"], "NOT_A_CHOICE", "low, normal, high", "mean high?"],
    ["no argument where one is needed", create, [], "MISSING_ARGUMENT", "<goal>", "--help"],
    ["no word for the rest", many, [], "MISSING_ARGUMENT", "<words>", "--help"],
    ["one argument too many", create, ["g", "n", "x"], "TOO_MANY_ARGUMENTS", '2 arguments, and "x"', "quotes"],
    ["an argument where none is taken", bare, ["x"], "TOO_MANY_ARGUMENTS", "no arguments", "overseer bare --help"],
  ];
  test.each(cases)("%s", (_why, command, words, code, message, hint) => {
    const parsed = parseCall(command, words);
    if (parsed.ok) throw new Error("it was understood");
    expect(parsed.problem.code).toBe(code);
    expect(parsed.problem.message).toContain(message);
    expect(parsed.problem.hint).toContain(hint);
  });

  test.each([[["--help"]], [["--nonsense", "-h"]], [["a", "b", "c", "--help"]], [["g", "--title", "--help"]]])(
    "a call for help is understood however wrong the rest is: %p",
    (words) => {
      const parsed = parseCall(create, words);
      expect(parsed.ok && parsed.values.options.has("help")).toBe(true);
    },
  );
});

test("global options before a command are told apart from the words from its name on", () => {
  expect(splitGlobals(["--json", "--root", "/x", "goal", "--title"])).toEqual({
    globals: ["--json", "--root", "/x"],
    rest: ["goal", "--title"],
  });
  expect(splitGlobals(["--root=/x", "goal"])).toEqual({ globals: ["--root=/x"], rest: ["goal"] });
  expect(splitGlobals(["goal", "--json"])).toEqual({ globals: [], rest: ["goal", "--json"] });
});

const anyWord = fc.oneof(
  fc.string(),
  fc.constantFrom("--", "-", "--title", "-t", "--json", "--root", "--label=x", "-fq", "--help", "g1", "--=", "-="),
);

test("parsing never throws, whatever is typed", () => {
  fc.assert(
    fc.property(fc.array(anyWord), (words) => {
      for (const command of [create, many, bare]) parseCall(command, words);
      const { globals, rest } = splitGlobals(words);
      expect([...globals, ...rest]).toEqual(words);
    }),
  );
});

/** Spells an option's values in one of the ways people do. */
function spell(option: Option, value: string, way: number): string[] {
  const { name, short } = option;
  const dashed = value.length > 1 && value.startsWith("-");
  if (way === 0 && !dashed) return [`--${name}`, value];
  if (way === 1 && short !== undefined && !dashed) return [`-${short}`, value];
  if (way === 2 && short !== undefined) return [`-${short}=${value}`];
  return [`--${name}=${value}`];
}

test("whatever values are spelled as words, the same values are read back", () => {
  const valued = [...(create.options ?? []), ...GLOBAL_OPTIONS].filter(({ value, choices }) => value && !choices);
  const given = fc.record({
    args: fc.array(fc.string(), { minLength: 1, maxLength: 2 }),
    options: fc.uniqueArray(fc.tuple(fc.constantFrom(...valued), fc.string(), fc.nat(3)), {
      selector: ([{ name }]) => name,
    }),
    labels: fc.array(fc.tuple(fc.string(), fc.nat(3))),
    force: fc.boolean(),
  });
  const label = valued.find(({ name }) => name === "label");
  if (label === undefined) throw new Error("the example command lost its label");
  fc.assert(
    fc.property(given, ({ args, options, labels, force }) => {
      const others = options.filter(([{ name }]) => name !== "label");
      const words = [
        ...others.flatMap(([option, value, way]) => spell(option, value, way)),
        ...labels.flatMap(([value, way]) => spell(label, value, way)),
        ...(force ? ["-f"] : []),
        "--",
        ...args,
      ];
      const read = valuesOf(create, words);
      expect(Object.values(read.args)).toEqual(args);
      expect(read.options).toEqual({
        ...Object.fromEntries(others.map(([{ name }, value]) => [name, [value]])),
        ...(labels.length > 0 ? { label: labels.map(([value]) => value) } : {}),
        ...(force ? { force: [] } : {}),
      });
    }),
  );
});
