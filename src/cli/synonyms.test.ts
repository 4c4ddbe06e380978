/** CTL-1: words of other programs lead to our command, or name it. */
import { describe, expect, test } from "bun:test";
import type { Command } from "./command.ts";
import { MENU } from "./menu.ts";
import type { Output } from "./output.ts";
import type { Parts } from "./parts.ts";
import { runCli } from "./run.ts";
import { SYNONYMS } from "./synonyms.ts";

const commands = new Map(MENU.map((entry) => [entry.name, entry]));

async function findCommand(words: readonly string[]): Promise<Command<Parts> | undefined> {
  const [name = "", sub] = words;
  const command = (await commands.get(name)?.load())?.default;
  return sub === undefined || sub.startsWith("-") ? command : command?.subcommands?.find((one) => one.name === sub);
}

describe.each([...SYNONYMS])("%s", (word, synonym) => {
  test("is no command of ours", () => expect(commands.has(word)).toBe(false));

  test("leads to commands that exist, with their options", async () => {
    const named =
      "instead" in synonym
        ? [...synonym.instead.matchAll(/overseer ((?:[a-z-]+ ?)+)/g)].map(([, line = ""]) => line.trim().split(" "))
        : [synonym.as, ...(synonym.alone ? [synonym.alone] : [])].filter(([first]) => first !== "help");
    for (const line of named.filter(([first]) => first !== "--version")) {
      const command = await findCommand(line);
      expect([line, command !== undefined]).toEqual([line, true]);
      const options = (command?.options ?? []).map(({ name }) => `--${name}`);
      for (const flag of line.filter((one) => one.startsWith("--"))) expect(options).toContain(flag);
    }
  });
});

async function call(...words: string[]) {
  const said: string[] = [];
  const out: Output = {
    line: (text = "") => said.push(`out ${text}`),
    json: () => said.push("json"),
    remark: (text) => said.push(`err ${text}`),
    problem: (text) => said.push(`err ${text}`),
    colour: false,
    width: 80,
    interactive: false,
  };
  const ran: string[] = [];
  const code = await runCli(words, {
    menu: MENU,
    version: "1.2.3",
    env: {},
    out,
    parts: () => {
      throw new Error("parts");
    },
    admit: async (called) => {
      ran.push(called);
    },
  });
  return { code, ran: ran.join(), said: said.join("\n") };
}

test.each([
  [["ps"], "agents list", "err (ps is 'overseer agents' here)"],
  [["ps", "--json"], "agents list", "err {"],
  [["logs"], "events", "err (logs is 'overseer events' here)"],
  [["logs", "builder-1"], "peek", "err (logs is 'overseer peek' here)"],
  [["approve", "builder-1"], "accept", "err (approve is 'overseer accept' here)"],
  [["diff", "builder-1"], "review", "err (diff is 'overseer review' here)"],
  [["tasks"], "work list", "err (tasks is 'overseer work list' here)"],
  [["tasks", "--goal", "x"], "work list", "err (tasks is 'overseer work list' here)"],
  [["tasks", "show", "T1"], "work show", "err (tasks is 'overseer work' here)"],
  [["logs", "-f", "builder-1"], "peek", "err (logs is 'overseer peek' here)"],
  [["task", "T1"], "work show", "err (task is 'overseer work show' here)"],
  [["goal", "ls"], "goal list", "err (goal ls is 'overseer goal list' here)"],
  [["goal", "add", "x"], "goal create", "err (goal add is 'overseer goal create' here)"],
  [["dashboard"], "status", "err (dashboard is 'overseer status --watch' here)"],
])("%p runs %p", async (words, ran, first) => {
  const answer = await call(...words);
  expect(answer.ran).toBe(ran);
  expect(answer.said).toStartWith(first);
});

test.each([
  [["kill", "builder-1"], 'overseer has no command "kill".', "'overseer stop <agent>'"],
  [["run", "fix it"], 'overseer has no command "run".', "overseer do"],
  [["start"], 'overseer has no command "start".', "overseer up"],
  [["ls"], 'overseer has no command "ls".', "overseer status"],
  [["goal", "rm", "x"], 'overseer goal has no command "rm".', "overseer goal cancel"],
  [["agents", "builder-1"], 'overseer agents has no command "builder-1".', "overseer agents show builder-1"],
  [["help", "kill"], 'overseer has no command "kill".', "'overseer stop <agent>'"],
  [[""], "overseer was given an empty word for a command.", "overseer --help"],
])("%p runs nothing and says %p", async (words, message, hint) => {
  const answer = await call(...words);
  expect([answer.code, answer.ran]).toEqual([2, ""]);
  expect(answer.said).toContain(message);
  expect(answer.said).toContain(hint);
});

test("help on such a word is the page of the command; version prints the version", async () => {
  expect((await call("help", "ps")).said).toContain("Usage: overseer agents");
  expect((await call("version")).said).toContain("out 1.2.3");
});
