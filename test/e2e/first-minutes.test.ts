/**
 * INIT-1: what a newcomer sees in the first minutes, on a real terminal and in a script: what `init` asks and says, that
 * only what went wrong is red, and that a question is shown to its end.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bundled, OVERSEER, overseer } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

let fleet: Fleet | undefined;
let socket = "";
const tmux = (...words: string[]) =>
  Bun.spawnSync(["tmux", "-S", socket, "-f", "/dev/null", ...words]).stdout.toString();
afterEach(async () => {
  if (socket) tmux("kill-server");
  await fleet?.end();
  [fleet, socket] = [undefined, ""];
});

const screen = () => tmux("capture-pane", "-p", "-e", "-t", "w").trimEnd();
const shows = (text: string) =>
  eventually(
    () => screen().includes(text) && screen(),
    () => `"${text}" on\n${screen()}`,
  );
const type = (...keys: string[]) => void tmux("send-keys", "-t", "w", ...keys);

function openTerminal(directory: string): void {
  socket = join(tempDir("w-"), "s");
  const env = ["PATH", "HOME"].flatMap((name) => ["-e", `${name}=${process.env[name] ?? ""}`]);
  tmux(
    "new-session",
    "-d",
    "-s",
    "w",
    "-x",
    "100",
    "-y",
    "50",
    "-c",
    directory,
    ...env,
    "env",
    "-u",
    "NO_COLOR",
    "PS1=$ ",
    "sh",
  );
}

/** The colour in which a text stands on the screen: tmux tells it where it changes, maybe lines before. */
function colourOf(shown: string, text: string): string {
  expect(shown).toContain(text);
  const marks = shown.slice(0, shown.indexOf(text)).split("\u001b[").slice(1);
  return marks.at(-1)?.split("m")[0] || "0";
}

test("INIT-1, ESC-1: on a terminal init proposes what a day may cost, hints are not red, and a long question is shown whole", async () => {
  const repo = tempRepo();
  openTerminal(repo.path);
  type(`${OVERSEER} init`, "Enter");
  await shows("A number, or none for no limit [50]");
  expect(existsSync(join(repo.path, ".overseer"))).toBe(false);
  type("lots", "Enter");
  await eventually(
    () => screen().split("no limit [50]").length === 3,
    () => `asked again on\n${screen()}`,
  );
  type("Enter");
  const made = await shows("overseer status --watch");
  expect(made).toContain("At the limit they pause and you are asked");
  expect(made).toContain("A day may cost 50 US dollars");
  expect(made).toContain("Finished work waits for your review, then lands on main.");
  expect(made).not.toContain("\u001b[31m");
  const config = join(repo.path, ".overseer/config.yaml");
  expect(readFileSync(config, "utf8")).toContain("\nbudgets:\n  day: { cost: 50 }\n");

  const question = `Which of the two calendars shall be used everywhere, ${"and by whom, ".repeat(8)}from which day on?`;
  fleet = await Fleet.make({ terminal: "detached" });
  const { attempt } = await fleet.sling("asker", [
    { kind: "ask", question, cli: ["overseer", "ask", question, "--option", "Gregorian"] },
    { kind: "say", text: "Thank you." },
  ]);
  await fleet.turns(attempt, 1);
  type(`cd ${fleet.repo.path}`, "Enter");
  type("clear", "Enter");
  type(`${OVERSEER} questions; ${OVERSEER} goal shwo`, "Enter");
  const asked = await shows("Did you mean");
  const flat = asked.replace(/\n +/g, " ");
  expect(flat).toContain(question);
  expect(asked.split("\n").filter((line) => line.includes("and by whom")).length).toBeGreaterThan(1);
  expect(colourOf(asked, 'has no command "shwo"')).toBe("31");
  expect(["hint: ", "Did you mean", "Answer one"].map((text) => colourOf(asked, text))).not.toContain("31");
  type("clear", "Enter");
  type(`NO_COLOR=1 ${OVERSEER} goal lsit`, "Enter");
  expect(await shows("Did you mean: overseer goal list")).not.toContain("\u001b[31m");
});

test("INIT-1: in a script init asks nothing and sets no limit unless it is told to; detached, bare and empty are said", async () => {
  const repo = tempRepo();
  const refused = await overseer(repo.path, "init", "--budget-day", "0");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--budget-day 0 is no amount.")]);
  expect(existsSync(join(repo.path, ".overseer"))).toBe(false);

  repo.git("checkout", "--quiet", "--detach");
  const plain = await overseer(repo.path, "init");
  expect(plain.code).toBe(0);
  expect(plain.stdout).toContain("No limit is set on what a day may cost; 'overseer config set budgets.day.cost 50'");
  expect(plain.stderr).toContain(
    "HEAD is detached: no branch to land on. Check out a branch, or set repo.targetBranch",
  );
  expect(plain.stderr.trimEnd().split("\n").slice(-4)).toEqual([
    "Next:",
    expect.stringMatching(/^ {2}overseer do "what you want" +# /),
    expect.stringMatching(/^ {2}overseer sling --prompt "what you want" --follow +# /),
    expect.stringMatching(/^ {2}overseer status --watch +# /),
  ]);
  const config = join(repo.path, ".overseer/config.yaml");
  expect(readFileSync(config, "utf8")).toContain("\n# budgets:\n#   day: { cost: 50 }\n");
  const again = await overseer(repo.path, "init", "--budget-day", "20");
  expect([again.code, again.stderr]).toEqual([4, expect.stringContaining("budgets: {day: {cost: 20}}")]);

  const other = tempRepo();
  expect((await overseer(other.path, "init", "--budget-day", "20")).stdout).toContain("A day may cost 20 US dollars");
  expect(readFileSync(join(other.path, ".overseer/config.yaml"), "utf8")).toContain("\n  day: { cost: 20 }\n");

  const bare = tempDir("bare-");
  gitIn(bare, "init", "--quiet", "--bare");
  expect((await overseer(bare, "init")).stderr).toContain("It is bare: push a first commit into it from a clone");
});
