/**
 * STATUS-1, CTL-1, REV-1: a person with nothing but the live view, in a real terminal, with real agents: everything is
 * found, decided and done by keys, and read from the screen.
 */
import { Database } from "bun:sqlite";
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bundled, OVERSEER } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { LiveTerminal } from "../support/live-terminal.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet | undefined;
let terminal: LiveTerminal | undefined;
afterEach(async () => {
  terminal?.end();
  await fleet?.end();
  [fleet, terminal] = [undefined, undefined];
});

const QUESTION = "Which of the two calendars shall be used everywhere, and from which day on?";

test("STATUS-1, CTL-1, REV-1: a person with only the live view answers, reviews, rejects, accepts, stops, looks and asks why", async () => {
  fleet = await Fleet.make({ terminal: "detached", more: 'checks: {tests: {command: "true", timeout: 20s}}\n' });
  const ask = ["overseer", "ask", QUESTION, "--option", "Gregorian", "--option", "Julian"];
  const [asker] = await Promise.all([
    fleet.sling("asker", [
      { kind: "ask", question: QUESTION, cli: ask },
      { kind: "say", text: "Julian it is." },
    ]),
    fleet.sling("greeter", [
      { kind: "edit", file: "hello.txt", content: "hello, whole world\n" },
      { kind: "commit", message: "Greet" },
      { kind: "report", status: "done", summary: "It greets." },
      {
        ...{ kind: "on", message: "Shorter, please" },
        do: [
          { kind: "edit", file: "hello.txt", content: "hi\n" },
          { kind: "commit", message: "Greet shortly" },
          { kind: "report", status: "done", summary: "It greets shortly." },
        ],
      },
    ]),
    fleet.sling("loner", [
      { kind: "say", text: "I never end." },
      { kind: "hang", in: "tool" },
    ]),
    fleet.sling("writer", [
      { kind: "say", text: "I look \u001b[31maround." },
      { kind: "run", command: "echo found-it" },
      { kind: "on", message: "hurry", do: [{ kind: "say", text: "Hurrying." }] },
    ]),
  ]);
  await fleet.ok("up");
  const seen = new LiveTerminal(fleet.repo.path, 100, 30);
  terminal = seen;
  seen.press(OVERSEER, "Enter");

  // The question stands first, whole, with its key.
  await seen.shows(`[a] ASKED`);
  expect(await seen.shows("1. Gregorian / 2. Julian")).toContain(QUESTION);
  seen.press("a");
  await seen.shows("2. Julian A number or your own words");
  // A wrong one is told, and can be put right; on its page the question is read whole.
  seen.press("9", "Enter");
  expect(await seen.shows("> 9")).toContain("2. Julian");
  await seen.shows("has no option 9");
  seen.press("Escape");
  await seen.hides("has no option 9");
  seen.press("g", "Enter");
  expect(await seen.shows(`asker#${asker.attempt} asks about`)).toContain(QUESTION);
  seen.press("2");
  await seen.shows("> 2");
  expect(fleet.all("question.answered")).toEqual([]);
  // Somebody holds the database: it is told while they do, and the view goes on.
  const holder = new Database(join(fleet.repo.path, ".git/overseer/overseer.db"));
  await eventually(
    () => {
      try {
        return holder.run("begin immediate") && true;
      } catch {
        return false;
      }
    },
    () => "the writer's place",
  );
  seen.press("Enter");
  await seen.shows("held by another process");
  holder.run("rollback");
  holder.close();
  await seen.shows("> 2");
  seen.press("Enter");
  expect(await seen.shows("Answered q_")).toContain(`Julian. asker#${asker.attempt} is told.`);
  await seen.hides("[a] ASKED");
  expect(fleet.all("question.answered").map(({ data }) => data.answer)).toEqual(["Julian"]);

  // The review: what changed and what the checks say; sent back with a reason, looked at again, accepted.
  await seen.shows("[r] YOUR REVIEW");
  seen.press("g", "r");
  expect(await seen.shows("+hello, whole world")).toContain("tests on done: pass");
  seen.press("x");
  await seen.shows("What has to change");
  seen.type("Shorter, please");
  seen.press("Enter");
  await seen.shows("Sent back to its agent");
  await eventually(
    () => fleet && fleet.all("work.claimed").length >= 2,
    () => `a second report:\n${seen.screen().join("\n")}`,
  );
  await seen.shows("[r] YOUR REVIEW");
  seen.press("g", "r");
  await seen.shows("+hi");
  seen.press("y");
  await seen.shows("Landed");
  expect(fleet.repo.git("show", "main:hello.txt")).toBe("hi");

  // What does not work is a sentence with its next step, and the view goes on.
  seen.press("/");
  seen.type("asker");
  seen.press("Enter", "r");
  await seen.shows("There is no finished work");

  // An agent is stopped, after a yes.
  seen.press("/", "C-u");
  seen.type("loner");
  seen.press("Enter");
  await seen.shows("/loner");
  seen.press("s");
  await seen.shows("Stop loner#");
  seen.press("n");
  await seen.shows("loner was not stopped.");
  seen.press("s", "y");
  await seen.shows("Stopped loner#");
  const loner = fleet.rows<{ attempt: number }>("select attempt from attempts where agent = 'loner'")[0]?.attempt ?? 0;
  expect(fleet.attempt(loner).status).toBe("ended");

  // Why its task stands still.
  await seen.shows("loner");
  seen.press("w");
  expect(await seen.shows("How it came to this")).toContain("overseer restart loner");
  seen.press("Escape");
  // It is let continue by its key, after a yes.
  await seen.shows("[u] YOURS");
  seen.press("u");
  await seen.shows("Restart loner?");
  seen.press("y");
  await seen.shows(`continues where #${loner} had ended`);
  await seen.hides("[u] YOURS");
  expect(fleet.rows("select attempt from attempts where agent = 'loner' and status <> 'ended'")).toHaveLength(1);
  seen.press("Escape");
  await seen.hides("log /loner");

  // Another is looked into, and written to; it follows.
  seen.press("/");
  seen.type("writer");
  seen.press("Enter", "Enter");
  expect(await seen.shows("found-it")).not.toContain("\u001b");
  seen.press("n");
  await seen.shows("A note to writer");
  seen.type("hurry");
  seen.press("Enter");
  await seen.shows("Your note waits for writer#");
  await seen.shows("Hurrying.");
  seen.press("G"); // any key takes away what was said
  seen.resize(50, 10);
  await eventually(
    () => seen.screen().length === 10 && seen.screen().at(-1)?.startsWith("Esc back"),
    () => `keys in the last of 10 lines:\n${seen.screen().join("\n")}`,
  );
  seen.press("Escape", "5");
  await seen.shows("[5 log]");

  // Leaving stops nothing.
  seen.press("q");
  await seen.hides("[5 log]");
  const living = fleet.rows<{ agent: string }>("select agent from attempts where status <> 'ended'");
  expect(living.map(({ agent }) => agent).toSorted()).toContain("writer");
  expect(fleet.processes.alive(fleet.runner(asker.attempt))).toBe(true);
});

test("INIT-1: overseer alone says the first three commands where nothing is set up", async () => {
  for (const [path, where] of [
    [tempRepo().path, "Overseer is not set up in this repository yet."],
    [tempDir("bare-"), "This is no git repository."],
  ] as const) {
    terminal = new LiveTerminal(path, 100, 30);
    terminal.press(OVERSEER, "Enter");
    const said = await terminal.shows("every command.");
    for (const text of [where, "overseer init", "overseer do", "overseer sling --prompt"]) expect(said).toContain(text);
    // So does status, and neither breaks a word at the edge.
    terminal.resize(80, 24);
    for (const words of ["status", "status --watch"]) {
      terminal.press("clear; ", `${OVERSEER} ${words}; echo "left with $?"`, "Enter");
      const greeting = await terminal.shows("left with 5");
      for (const text of [
        said.includes("no git") ? "is not inside a git repository." : where,
        "overseer init",
        "overseer do",
        "overseer sling --prompt",
      ])
        expect(greeting).toContain(text);
      expect(greeting).not.toContain("there is no database");
    }
    terminal.end();
  }
});

test("STATUS-1: the live view and peek --follow end with their terminal, without a word, also where nobody tells them", async () => {
  fleet = await Fleet.make({ terminal: "detached" });
  const home = fleet;
  await home.sling("loner", [
    { kind: "say", text: "I never end." },
    { kind: "hang", in: "tool" },
  ]);
  const close = async (before: string, words: string, shown: string) => {
    const seen = new LiveTerminal(home.repo.path, 100, 30);
    const at = tempDir("gone-");
    seen.type(`${before}sh -c 'echo $$ > ${at}/pid; exec ${OVERSEER} ${words} 2> ${at}/errors'`);
    seen.press("Enter");
    await seen.shows(shown);
    const pid = Number(readFileSync(join(at, "pid"), "utf8"));
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    seen.tmux("kill-pane", "-t", "w");
    await eventually(
      () => !existsSync(`/proc/${pid}`),
      () => `${words} (${pid}) to end with its terminal`,
    ).finally(() => existsSync(`/proc/${pid}`) && process.kill(pid, "SIGKILL"));
    expect(readFileSync(join(at, "errors"), "utf8")).toBe("");
  };
  const ofAnotherSession = "setsid -w "; // no SIGHUP reaches it
  await Promise.all([
    close("", "status --watch", "[1 fleet]"),
    close(ofAnotherSession, "status --watch", "[1 fleet]"),
    close(ofAnotherSession, "peek loner --follow", "q quit; loner continues"),
  ]);
});
