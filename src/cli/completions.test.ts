import { describe, expect, test } from "bun:test";
import type { Command } from "./command.ts";
import { completionScript, SHELLS } from "./completions.ts";

const create: Command = {
  name: "create",
  summary: "Record a goal; it's quick",
  args: [{ name: "title", summary: "" }],
  options: [
    { name: "priority", short: "p", value: "level", summary: "How urgent", choices: ["low", "normal", "high"] },
    { name: "plan", value: "file", summary: "A plan: by hand" },
    { name: "title", value: "text", summary: "" },
    { name: "force", summary: "" },
  ],
};
const commands: readonly Command[] = [
  { name: "goal", summary: "Goals", subcommands: [create, { name: "list", summary: "List goals" }] },
  { name: "completions", summary: "Shells", args: [{ name: "shell", summary: "", choices: ["bash", "zsh", "fish"] }] },
];

/** What bash offers for the last word, the others being typed already. */
async function offeredByBash(words: readonly string[]): Promise<readonly string[]> {
  const ask = `COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _overseer; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const script = `${completionScript("bash", commands)}\n${ask}`;
  const bash = Bun.spawn(["bash", "--norc", "-c", script, "bash", "overseer", ...words], {
    cwd: import.meta.dir,
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([bash.stdout.text(), bash.stderr.text()]);
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

describe.skipIf(Bun.which("bash") === null)("in bash", () => {
  const cases: [why: string, words: string[], offered: string[]][] = [
    ["commands at the start", [""], ["goal", "completions", "help"]],
    ["commands that begin so", ["go"], ["goal"]],
    ["subcommands of a group", ["goal", ""], ["create", "list"]],
    ["commands after help", ["help", ""], ["goal", "completions", "help"]],
    ["subcommands after global options", ["--root", "goal", "goal", "l"], ["list"]],
    ["options of a subcommand", ["goal", "create", "--p"], ["--priority", "--plan"]],
    ["global options", ["goal", "list", "--j"], ["--json"]],
    ["the values of an option", ["goal", "create", "--priority", ""], ["low", "normal", "high"]],
    ["the values of a short option", ["goal", "create", "-p", "n"], ["normal"]],
    [
      "values after an equals sign, which bash makes a word",
      ["goal", "create", "--priority", "="],
      ["low", "normal", "high"],
    ],
    ["values begun after an equals sign", ["goal", "create", "--priority", "=", "h"], ["high"]],
    ["options after a value", ["goal", "create", "--priority", "high", "--f"], ["--force"]],
    [
      "files where a file belongs",
      ["goal", "create", "--plan", "completions.t"],
      ["completions.test.ts", "completions.ts"],
    ],
    ["directories where one belongs", ["--root", "comm"], ["commands"]],
    ["the choices of an argument", ["completions", ""], ["bash", "zsh", "fish"]],
    ["nothing for a second argument", ["completions", "bash", ""], []],
    ["nothing for a free value", ["goal", "create", "--title", ""], []],
    ["no option after --", ["completions", "--", "z"], ["zsh"]],
  ];
  test.each(cases)("%s", async (_why, words, offered) => {
    expect((await offeredByBash(words)).toSorted()).toEqual(offered.toSorted());
  });
});

for (const shell of SHELLS) {
  test.skipIf(Bun.which(shell) === null)(`${shell} can read its script`, async () => {
    const check = Bun.spawn([shell, "-n"], { stdin: new Blob([completionScript(shell, commands)]), stderr: "pipe" });
    expect(await check.stderr.text()).toBe("");
    expect(await check.exited).toBe(0);
  });
}

test.each([...SHELLS])("the script for %s knows every command and option", (shell) => {
  const script = completionScript(shell, commands);
  for (const word of ["goal", "create", "list", "priority", "plan", "force", "json", "root", "normal"]) {
    expect(script).toContain(word);
  }
});

test("a summary with a quote cannot break out of the fish script", () => {
  expect(completionScript("fish", commands)).toContain("-d 'Record a goal; it\\'s quick'");
});
