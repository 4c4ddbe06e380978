import { describe, expect, test } from "bun:test";
import type { Command } from "./command.ts";
import { renderMenu } from "./help.ts";
import { MENU } from "./menu.ts";
import { EVERY_DAY, GROUPS } from "./menu-groups.ts";
import { GLOBAL_OPTIONS } from "./parse.ts";

describe.each(MENU.map((entry) => [entry.name, entry] as const))("the command %s", (_name, entry) => {
  test("is called in the menu what it calls itself", async () => {
    const { default: command } = await entry.load();
    expect({ name: entry.name, summary: entry.summary }).toEqual({ name: command.name, summary: command.summary });
  });

  test("is described so that it can be parsed, helped and completed", async () => {
    const { default: command } = await entry.load();
    expect(withSubcommands(command).flatMap(faults)).toEqual([]);
  });
});

test("no two commands share a name, and none is called help", () => {
  const names = ["help", ...MENU.map(({ name }) => name)];
  expect(names).toEqual([...new Set(names)]);
});

test("CTL-1: the main help begins with the commands of every day, and says each in one line of 80 columns", () => {
  const page = renderMenu(MENU, { version: "1.2.3", width: 80, colour: false }).split("\n");
  const first = page.indexOf("Every day");
  const names = page.slice(first + 1, first + 1 + EVERY_DAY.length).map((line) => line.trim().split(" ")[0]);
  expect(names).toEqual([...EVERY_DAY]);
  const headings = page.filter((line) => GROUPS.some((group) => group === line));
  expect(headings).toEqual([...GROUPS]);
  const shown = MENU.filter(({ hidden }) => hidden !== true);
  const lines = shown.filter(({ name, summary }) =>
    page.some((line) => line.startsWith(`  ${name} `) && line.endsWith(` ${summary}`) && line.length <= 80),
  );
  expect(lines.map(({ name }) => name)).toEqual(shown.map(({ name }) => name));
});

function withSubcommands(command: Command<never>): readonly Command<never>[] {
  return [command, ...(command.subcommands ?? []).flatMap(withSubcommands)];
}

function faults({ name, run, subcommands, options = [], args = [] }: Command<never>): readonly string[] {
  const all = [...options, ...GLOBAL_OPTIONS];
  const longs = all.map((option) => option.name);
  const shorts = all.flatMap(({ short }) => short ?? []);
  return [
    ...((run === undefined) === (subcommands === undefined) ? [`${name} must either run or have subcommands`] : []),
    ...(new Set(longs).size < longs.length ? [`${name} has an option twice, or takes a global one's name`] : []),
    ...(new Set(shorts).size < shorts.length ? [`${name} has a short option twice, or takes a global one's`] : []),
    ...(shorts.some((short) => short.length !== 1) ? [`${name} has a short option that is not one letter`] : []),
    ...(args.slice(0, -1).some(({ rest }) => rest) ? [`${name} has arguments after one that takes the rest`] : []),
    ...(args.some(({ optional }, at) => !optional && args[at - 1]?.optional)
      ? [`${name} needs what may be missing`]
      : []),
  ];
}
