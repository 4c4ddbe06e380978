import { expect, test } from "bun:test";
import type { Command } from "./command.ts";
import { renderCommand, renderMenu } from "./help.ts";

const plain = { width: 72, colour: false };

const create: Command = {
  name: "create",
  summary: "Record a goal",
  details:
    "A goal says what should be true in the end.\nPlans and agents come later.\n\n  overseer goal plan\n\nThat is all.",
  args: [{ name: "title", summary: "What should be true" }],
  options: [
    { name: "priority", short: "p", value: "level", summary: "How urgent it is", choices: ["low", "high"] },
    {
      name: "label",
      value: "name",
      summary: "A word to find it by, of your own choosing, in any language",
      repeat: true,
    },
    { name: "force", summary: "Even if there is one of that title" },
  ],
  examples: [{ line: 'overseer goal create "Ship it" -p high', why: "Prints the id of the new goal." }],
};
const goal: Command = { name: "goal", summary: "Say what should become true", subcommands: [create] };

test("the page of a command shows how it is called, what it takes, and examples", () => {
  expect(renderCommand(create, { ...plain, calledAs: "overseer goal create" })).toBe(`Record a goal

Usage: overseer goal create <title> [options]

A goal says what should be true in the end. Plans and agents come later.

  overseer goal plan

That is all.

Arguments
  <title>                 What should be true

Options
  -p, --priority <level>  How urgent it is (one of low, high)
      --label <name>      A word to find it by, of your own choosing, in
                          any language (may be repeated)
      --force             Even if there is one of that title

Options of every command
      --json              Print the answer, or the error, as JSON
      --root <dir>        Use the repository in this directory instead
                          of the current one
  -h, --help              Show help, with examples

Examples
  overseer goal create "Ship it" -p high
      Prints the id of the new goal.`);
});

test("the page of a group lists its commands with their arguments", () => {
  const page = renderCommand(goal, { ...plain, calledAs: "overseer goal" });
  expect(page).toContain("Usage: overseer goal <command> [options]");
  expect(page).toContain("Commands\n  create <title>    Record a goal");
});

test("the menu shows commands in their groups, in order, without the hidden ones", () => {
  const entries = [
    { name: "init", group: "Set up", summary: "Begin here" },
    { name: "goal", group: "Plan", summary: "Say what should become true" },
    { name: "doctor", group: "Set up", summary: "Look for trouble" },
    { name: "hook", group: "Plan", summary: "For agents", hidden: true },
  ];
  expect(
    renderMenu(entries, { ...plain, version: "1.2.3" }),
  ).toBe(`overseer 1.2.3: runs a fleet of coding agents on a git repository

Usage: overseer <command> [options]

Set up
  init              Begin here
  doctor            Look for trouble

Plan
  goal              Say what should become true

Options of every command
      --json        Print the answer, or the error, as JSON
      --root <dir>  Use the repository in this directory instead of the
                    current one
  -h, --help        Show help, with examples
  -v, --version     Print the version

Run 'overseer help <command>' for its options and examples.`);
});

test("colour changes nothing but the colour", () => {
  const coloured = renderCommand(create, { width: 72, colour: true, calledAs: "overseer goal create" });
  expect(coloured).not.toBe(Bun.stripANSI(coloured));
  expect(Bun.stripANSI(coloured)).toBe(renderCommand(create, { ...plain, calledAs: "overseer goal create" }));
});

test.each([30, 40, 60, 80, 100, 200])("no prose is wider than a terminal of %d columns", (width) => {
  const page = renderCommand({ ...create, examples: [] }, { width, colour: false, calledAs: "overseer goal create" });
  const prose = page.split("\n").filter((line) => !line.startsWith("Usage:"));
  expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(width);
});
