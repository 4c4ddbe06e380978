import { describe, expect, test } from "bun:test";
import { presentPlain } from "#control/present.ts";
import { type ErrorKind, EXIT_CODES, OverseerError } from "#errors.ts";
import type { Command } from "./command.ts";
import type { MenuEntry } from "./menu.ts";
import { OutputReaderGone } from "./print.ts";
import { type Cli, type Globals, runCli } from "./run.ts";

interface Parts {
  readonly root: string | undefined;
}

const show: Command<Parts> = {
  name: "show",
  summary: "Show one",
  args: [{ name: "goal", summary: "" }],
  async run(call, parts) {
    if (call.json) call.out.json(presentPlain({ goal: call.arg("goal"), root: parts.root ?? null }));
    else call.out.line(`goal ${call.arg("goal")}`);
  },
};
const goal: Command<Parts> = { name: "goal", summary: "Goals", subcommands: [show] };

const crew: Command<Parts> = {
  name: "crew",
  summary: "Who is there",
  otherwise: "list",
  subcommands: [
    {
      name: "list",
      summary: "All",
      options: [{ name: "all", summary: "" }],
      async run(call) {
        call.out.line(`crew${call.has("all") ? " all" : ""}${call.json ? " json" : ""}`);
      },
    },
  ],
};

const thrown: Record<string, () => unknown> = {
  refused: () =>
    new OverseerError("conflict", "TAKEN", "It is taken.", "Choose another.", { cause: new Error("row 7") }),
  broken: () => new Error("x is undefined"),
  odd: () => "just a string",
  gone: () => new OutputReaderGone("nobody reads"),
  escape: () => new OverseerError("usage", "ODD", "You typed \u001b[31mred\u0007.", "Do not."),
};
const fail: Command<Parts> = {
  name: "fail",
  summary: "Fails",
  args: [{ name: "how", summary: "" }],
  async run(call) {
    throw thrown[call.arg("how")]?.();
  },
};
const careless: Command<Parts> = {
  name: "careless",
  summary: "Asks for what it never described",
  async run(call) {
    call.text("title");
  },
};

function entry(command: Command<Parts>): MenuEntry<Parts> {
  return { name: command.name, group: "All", summary: command.summary, load: async () => ({ default: command }) };
}

async function call(words: readonly string[], given: Partial<Cli<Parts>> = {}) {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const built: Globals[] = [];
  const code = await runCli(words, {
    menu: [goal, crew, fail, careless].map(entry),
    version: "1.2.3",
    env: {},
    out: {
      line: (text = "") => stdout.push(text),
      json: (value) => stdout.push(JSON.stringify(value)),
      remark: (text) => stderr.push(text),
      problem: (text) => stderr.push(text),
      colour: false,
      width: 80,
      interactive: false,
    },
    parts(globals) {
      built.push(globals);
      return { root: globals.root };
    },
    ...given,
  });
  return { code, stdout: stdout.join("\n"), stderr: stderr.join("\n"), built };
}

describe("finding the command", () => {
  test("a subcommand runs with its arguments and parts", async () => {
    expect(await call(["goal", "show", "g1"])).toMatchObject({ code: 0, stdout: "goal g1", stderr: "" });
  });

  test.each([
    [["--root", "/r", "--json", "goal", "show", "g1"]],
    [["goal", "--root=/r", "--json", "show", "g1"]],
    [["goal", "show", "g1", "--json", "--root", "/r"]],
  ])("global options are understood wherever they stand: %p", async (words) => {
    const { code, stdout, built } = await call(words);
    expect({ code, answer: JSON.parse(stdout) }).toEqual({ code: 0, answer: { goal: "g1", root: "/r" } });
    expect(built).toMatchObject([{ root: "/r", json: true }]);
  });

  test.each([[["--version"]], [["-v"]], [["--json", "--version"]]])("%p prints the version", async (words) => {
    expect(await call(words)).toMatchObject({ code: 0, stdout: "1.2.3" });
  });

  test.each([[[]], [["--help"]], [["-h"]], [["help"]], [["help", "--json"]]])("%p shows the menu", async (words) => {
    const { code, stdout } = await call(words);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: overseer <command>");
  });

  test.each([
    [["help", "goal", "show"]],
    [["goal", "show", "--help"]],
    [["goal", "help", "show"]],
    [["goal", "--help", "show"]],
    [["--help", "goal", "show"]],
    [["goal", "show", "-h", "--nonsense"]],
  ])("%p shows the page of the command and builds nothing", async (words) => {
    const { code, stdout, built } = await call(words);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: overseer goal show <goal>");
    expect(built).toEqual([]);
  });

  test.each([
    [["crew"], "crew"],
    [["crew", "--all"], "crew all"],
    [["crew", "--json"], "crew json"],
    [["crew", "list", "--all"], "crew all"],
  ])("a group that says what is meant otherwise runs it: %p", async (words, stdout) => {
    expect(await call(words)).toMatchObject({ code: 0, stdout });
  });

  test.each([[["crew", "--help"]], [["crew", "-h"]]])("%p still shows the group", async (words) => {
    expect((await call(words)).stdout).toContain("Usage: overseer crew <command>");
  });

  test.each([[["goal", "--help"]], [["help", "goal"]], [["goal", "help"]]])("%p shows the group", async (words) => {
    const { code, stdout } = await call(words);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: overseer goal <command>");
  });
});

describe("words that are wrong leave with exit code 2, one sentence and the next step", () => {
  const cases: [words: string[], message: string, hint: string][] = [
    [["gaol"], 'overseer has no command "gaol".', "Did you mean: overseer goal"],
    [["zzzzzzzz"], 'overseer has no command "zzzzzzzz".', "See: overseer --help"],
    [["help", "gaol"], 'overseer has no command "gaol".', "Did you mean: overseer goal"],
    [["goal", "shwo"], 'overseer goal has no command "shwo".', "Did you mean: overseer goal show"],
    [["--verison"], "overseer has no option --verison.", "Did you mean --version?"],
    [["goal", "--jsn", "show"], "overseer goal has no option --jsn.", "Did you mean --json?"],
    [["goal", "show"], "overseer goal show needs a <goal>.", "See: overseer goal show --help"],
  ];
  test.each(cases)("%p", async (words, message, hint) => {
    expect(await call(words)).toEqual({
      code: 2,
      stdout: "",
      stderr: `overseer: ${message}\n  hint: ${hint}`,
      built: [],
    });
  });

  test("a group alone shows its page beside the answer, not as the answer", async () => {
    const { code, stdout, stderr } = await call(["goal"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("show <goal>");
  });

  test("a group alone with --json is an error like any other", async () => {
    const { code, stderr } = await call(["goal", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stderr).error).toMatchObject({ kind: "usage", code: "MISSING_COMMAND" });
  });
});

describe("what goes wrong inside a command", () => {
  test("a refusal shows its sentence, its hint and its exit code", async () => {
    const stderr = "overseer: It is taken.\n  hint: Choose another.";
    expect(await call(["fail", "refused"])).toMatchObject({ code: 4, stdout: "", stderr });
  });

  test("with --json the error is JSON on stderr and stdout stays empty", async () => {
    const { code, stdout, stderr } = await call(["fail", "refused", "--json"]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    const error = { kind: "conflict", code: "TAKEN", message: "It is taken.", hint: "Choose another." };
    expect(JSON.parse(stderr)).toEqual({ error });
  });

  test.each(Object.entries(EXIT_CODES))("an error of kind %s leaves with exit code %d", async (kind, code) => {
    const parts = () => {
      throw new OverseerError(kind as ErrorKind, "X", "x", "y");
    };
    expect((await call(["goal", "show", "g"], { parts })).code).toBe(code);
  });

  test("our own fault asks to be reported and keeps its stack to itself", async () => {
    const { code, stderr } = await call(["fail", "broken"]);
    expect(code).toBe(1);
    expect(stderr).toStartWith("overseer: internal error: x is undefined\n  hint: ");
    expect(stderr).toContain("report");
    expect(stderr).not.toContain("run.test.ts");
  });

  test("OVERSEER_DEBUG=1 shows where it happened, and what caused it", async () => {
    const env = { OVERSEER_DEBUG: "1" };
    expect((await call(["fail", "broken"], { env })).stderr).toContain("run.test.ts");
    expect((await call(["fail", "refused"], { env })).stderr).toContain("caused by: Error: row 7");
    expect(JSON.parse((await call(["fail", "broken", "--json"], { env })).stderr).error.stack).toContain("run.test.ts");
  });

  test("whatever is thrown, the call ends with an exit code", async () => {
    expect(await call(["fail", "odd"])).toMatchObject({ code: 1 });
  });

  test("a command that asks for an option it never described is our fault", async () => {
    const { code, stderr } = await call(["careless"]);
    expect(code).toBe(1);
    expect(stderr).toContain('The description of the command "careless" has no option title.');
  });

  test("a reader that has gone is nobody's error", async () => {
    expect(await call(["fail", "gone"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  test("quoted words cannot steer the terminal of who reads the error", async () => {
    const { stderr } = await call(["fail", "escape"]);
    expect(stderr).toContain("You typed \uFFFD[31mred\uFFFD.");
  });
});

describe("the seat belt of agents", () => {
  const refuseCall = (name: string, sub: string) =>
    name === "goal" ? `Agents may not call ${name} ${sub}.` : undefined;

  test("a refused command builds nothing and leaves with exit code 4", async () => {
    const { code, stderr, built } = await call(["goal", "show", "g"], { refuseCall });
    expect({ code, built }).toEqual({ code: 4, built: [] });
    expect(stderr).toContain("Agents may not call goal show.");
  });

  test("other commands are not concerned", async () => {
    expect(await call(["fail", "gone"], { refuseCall })).toMatchObject({ code: 0 });
  });

  test("help offers only what they may run", async () => {
    const mayShow = (name: string, sub: string) =>
      (name === "goal" && sub !== "show") || (name === "crew" && sub === "") ? undefined : "Not for agents.";
    const menu = (await call(["help"], { refuseCall: mayShow })).stdout;
    expect([menu.includes("goal"), menu.includes("careless")]).toEqual([true, false]);
    const offers = async (group: string, given = {}) =>
      (await call(["help", group], given)).stdout.includes("Commands\n");
    expect([await offers("crew"), await offers("crew", { refuseCall: mayShow })]).toEqual([true, false]);
    expect(await call(["help", "fail"], { refuseCall: mayShow })).toMatchObject({ code: 4 });
  });
});
