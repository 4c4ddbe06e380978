import { expect, test } from "bun:test";
import {
  commandProblems,
  type DescribedCommand,
  disagreements,
  findVerb,
  lintPrompt,
} from "../../../test/support/prompt-lint.ts";
import { AGENT_VERBS, UPDATE_FIELDS, updateBlock, usage, verbsFor } from "./protocol.ts";

test("POL-1: agents report, ask, mail, prime; only those who may spawn can sling", () => {
  const ids = (canSpawn: boolean) => verbsFor({ canSpawn }).map((verb) => verb.id);
  expect(ids(true)).toContain("sling");
  expect(ids(false)).not.toContain("sling");
  expect(ids(false)).toEqual(expect.arrayContaining(["report", "send", "check", "reply", "prime"]));
});

test("UPD-1: the update block is JSON with exactly the fields of the table", () => {
  const json: unknown = JSON.parse(updateBlock().replaceAll(/^```.*$/gm, ""));
  expect(json).toHaveProperty("overseerUpdate");
  expect(Object.keys((json as { overseerUpdate: object }).overseerUpdate)).toEqual(UPDATE_FIELDS.map((f) => f.name));
});

test("AGENT-2: the usage line of every verb is one that the verb accepts", () => {
  for (const verb of AGENT_VERBS) {
    expect(commandProblems(usage(verb), AGENT_VERBS)).toEqual([]);
    expect(findVerb(usage(verb).split(" ").slice(1))).toBe(verb);
    expect(new Set(verb.flags.map((flag) => flag.name)).size).toBe(verb.flags.length);
  }
});

const writer = { canSpawn: false, readOnly: false };
const reader = { canSpawn: false, readOnly: true };
const prompts: [why: string, text: string, role: typeof writer, mentions: string | undefined][] = [
  ["a known verb passes", "Run `overseer mail check --wait`.", writer, undefined],
  ["a bare mention passes", "Use `overseer mail send` often.", writer, undefined],
  ["an unknown verb", "Run `overseer nuke --all`.", writer, "not a verb"],
  ["a verb only leads have", "Run `overseer sling T1 --capability scout`.", writer, "not a verb"],
  ["an unknown flag", "Run `overseer prime --loud`.", writer, "no flag --loud"],
  ["a value outside its choices", "`overseer work report --status finished --summary x`", writer, '"finished"'],
  ["a call without what it requires", "`overseer mail reply <id>`", writer, "without --body"],
  ["a flag without its value", "`overseer mail reply <id> --body`", writer, "needs a value"],
  ["a command broken over two lines is still read", "`overseer mail\ncheck --fast`", writer, "--fast"],
  ["a command in a fenced block is read", "```sh\noverseer prime --x\n```", writer, "--x"],
  ["a command outside of code quotes", "Run overseer mail check now.", writer, "not in code quotes"],
  ["a placeholder nobody filled", "See {{verbs.reprot}}.", writer, "placeholder"],
  ["a reader told to commit", "Look around. Then commit it.", reader, "told to commit"],
  ["a reader told to edit in a list", "- Read.\n- Edit the file.", reader, "told to edit"],
  ["a reader told not to", "You do not edit or commit.", reader, undefined],
  ["a writer told to commit", "Commit early.", writer, undefined],
];
test.each(prompts)("AGENT-1: prompt lint: %s", (_why, text, role, mentions) => {
  const found = lintPrompt(text, role).map((finding) => finding.message);
  if (mentions === undefined) expect(found).toEqual([]);
  else expect(found.join("; ")).toContain(mentions);
});

test("AGENT-1: a finding names its line", () => {
  expect(lintPrompt("one\ntwo `overseer fly`\n", writer)[0]?.line).toBe(2);
  expect(lintPrompt("one.\n\n- two\n- commit it\n", reader)[0]?.line).toBe(4);
});

const reply = AGENT_VERBS.find((verb) => verb.id === "reply");
const body = { name: "body", value: "text" };
const type = { name: "type", value: "type" };
const priority = { name: "priority", value: "p" };
const doors: [why: string, command: DescribedCommand, expected: string[]][] = [
  ["one that takes all of it", { args: [{ name: "id" }], options: [body, type, priority] }, []],
  ["one without the argument", { options: [body, type, priority] }, ["takes no argument <id>"]],
  ["one without a flag", { args: [{ name: "id" }], options: [body, type] }, ["has no flag --priority"]],
  [
    "one with a switch for a value",
    { args: [{ name: "id" }], options: [{ name: "body" }, type, priority] },
    ["disagrees whether --body has a value"],
  ],
  [
    "one with fewer choices",
    { args: [{ name: "id" }], options: [body, { ...type, choices: ["status", "question", "result"] }, priority] },
    ["refuses --type error"],
  ],
  [
    "one that wants more",
    { args: [{ name: "id" }, { name: "x" }], options: [body, type, priority] },
    ["requires the argument <x>"],
  ],
];
test.each(doors)("AGENT-2: a door is held against the table: %s", (_why, command, expected) => {
  expect(reply && [...disagreements(reply, command)]).toEqual(expected);
});
