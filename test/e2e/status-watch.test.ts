/**
 * STATUS-1: `status --watch` and `peek --follow` as a person has them: in a real terminal, read from its screen and driven
 * by its keys, at two sizes and through a change of size.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { bundled, OVERSEER, overseer } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
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

const screen = () => tmux("capture-pane", "-p", "-t", "w").replace(/\n$/, "").split("\n");
const shows = (text: string) =>
  eventually(
    () => screen().some((line) => line.includes(text)) && screen(),
    () => `"${text}" on\n${screen().join("\n")}`,
  );

/** A line that may be longer than the screen is wide. */
const wrapped = (text: string) =>
  eventually(
    () => screen().join("").includes(text),
    () => `"${text}" on\n${screen().join("\n")}`,
  );

test.each([
  [80, 24],
  [200, 50],
] as const)(
  "STATUS-1: at %i × %i it shows problems first, takes an answer, follows, resizes and leaves",
  async (columns, rows) => {
    fleet = await Fleet.make({ terminal: "detached" });
    const question = "Which of the two calendars shall be used everywhere, and from which day on?";
    const { attempt } = await fleet.sling("asker", [
      { kind: "ask", question, cli: ["overseer", "ask", question, "--option", "Gregorian", "--option", "Julian"] },
      { kind: "say", text: "Thank you." },
    ]);
    await fleet.turns(attempt, 1);
    socket = join(tempDir("w-"), "s");
    const path = `PATH=${process.env.PATH}`;
    tmux("new-session", "-d", "-s", "w", "-x", `${columns}`, "-y", `${rows}`, "-c", fleet.repo.path, "-e", path, "sh");
    tmux("send-keys", "-t", "w", `${OVERSEER} status --watch`, "Enter");

    await shows("0/1 done");
    const seen = await shows("[a]");
    expect(seen).toHaveLength(rows);
    expect(seen[0]).toContain("daemon stopped");
    expect(seen[2]).toStartWith("Waits for you");
    expect(seen[3]).toStartWith("› The daemon is not running");
    const at = (text: string) => seen.findIndex((line) => line.includes(text));
    expect(at("[a]")).toBeGreaterThan(1);
    expect(at("asker#1 ")).toBeGreaterThan(at("[a]"));
    expect(at("asker#1 ")).toBe(at("AGENT") + 1);
    // Goals stand below the agents where there is no room beside them.
    expect(at("0/1 done") > at("asker#1 ")).toBe(columns === 80);
    expect(seen.at(-1)).toContain("q quit  a answer  ? keys");
    const words = seen.map((line) => line.split(" │")[0]?.trim()).join(" ");
    expect(words).toContain(question);
    expect(words).toContain("1. Gregorian / 2. Julian)");

    tmux("send-keys", "-t", "w", "?");
    await shows("leave; nothing stops");
    tmux("send-keys", "-t", "w", "Escape");
    await shows("[a]");
    tmux("send-keys", "-t", "w", "a");
    await shows("A number or your own words");
    tmux("send-keys", "-t", "w", "-l", "日本");
    await shows("> 日本");
    // The caret stands behind what was written, in the last line.
    expect(tmux("display-message", "-p", "-t", "w", "#{cursor_flag} #{cursor_x} #{cursor_y}").trim()).toBe(
      `1 6 ${rows - 1}`,
    );
    tmux("send-keys", "-t", "w", "C-u", "2");
    await shows("> 2");
    tmux("send-keys", "-t", "w", "Enter");
    await eventually(
      () => fleet?.all("question.answered")[0]?.data.answer === "Julian",
      () => `the answer; on the screen:\n${screen().join("\n")}`,
    );
    await eventually(
      () => !screen().some((line) => line.includes("[a]")),
      () => `the question to be gone:\n${screen().join("\n")}`,
    );

    await shows("Answered q_");
    tmux("resize-window", "-t", "w", "-x", "60", "-y", "12");
    await eventually(
      () => screen().length === 12 && screen()[11]?.includes("q quit") && screen().join("").includes("Answered q_"),
      () => `what was said and the keys at the end of 12 lines:\n${screen().join("\n")}`,
    );
    tmux("send-keys", "-t", "w", "q");
    await wrapped("status --watch"); // the shell's own screen, as it was
    expect(screen().some((line) => line.includes("Answered q_"))).toBe(false);

    tmux("resize-window", "-t", "w", "-x", `${columns}`, "-y", `${rows}`);
    tmux("send-keys", "-t", "w", `${OVERSEER} peek asker --follow`, "Enter");
    await shows("Thank you.");
    // Header and footer of one frame: a screen may be read while it is being drawn.
    await eventually(
      () => {
        const now = screen();
        const whole =
          /^asker#1 {2}T1 {2}idle for \d+ s/.test(now[0] ?? "") && now.at(-1)?.includes("q quit; asker continues");
        return now.length === rows && whole;
      },
      () => `header and footer in ${rows} lines:\n${screen().join("\n")}`,
    );
    await fleet.ok("mail", "send", "--to", "asker", "--subject", "Hello", "--body", "are you there?");
    await shows("are you there?");
    tmux("resize-window", "-t", "w", "-x", "60", "-y", "12");
    await eventually(
      () => screen().length === 12 && screen()[11]?.startsWith("q quit") && screen()[0]?.startsWith("asker#1"),
      () => `header and footer in 12 lines:\n${screen().join("\n")}`,
    );
    await fleet.ok("stop", "asker");
    await shows("It has ended.");
    tmux("send-keys", "-t", "w", "q");
    await wrapped("peek asker --follow");
    expect(screen().some((line) => line.includes("It has ended."))).toBe(false);
    // Without a terminal it is plain lines, until it has ended.
    expect(await fleet.ok("peek", "asker", "--follow")).toContain("Thank you.");
  },
);

test("STATUS-1: without a terminal --watch says what to use instead", async () => {
  fleet = await Fleet.make({ terminal: "detached" });
  expect(await overseer(fleet.repo.path, "status", "--watch")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("events --follow"),
  });
});
