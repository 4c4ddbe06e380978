/**
 * DEMO-1: the demo shows what it says it shows, on real processes, and leaves nothing behind: at its end, after an
 * interruption at any moment, and after kill -9 as soon as somebody looks.
 */
import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { systemProcesses } from "#sys/processes.ts";
import { bundled, OVERSEER, overseer, overseerOk } from "../support/cli.ts";
import { eventually } from "../support/fleet.ts";
import { gitIn, tempDir } from "../support/temp.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

const processes = systemProcesses();
const bases: string[] = [];
afterEach(() => {
  for (const base of bases.splice(0)) for (const one of runningIn(base)) processes.signal(one, "SIGKILL");
});

function runningIn(base: string) {
  return processes.withEnvironment("TMPDIR", base);
}

/** Starts it where there is no repository, and reads along. */
function started(...words: string[]) {
  const child = Bun.spawn([OVERSEER, "demo", "--headless", "--speed", "2", ...words], {
    cwd: tempDir(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) said += decoder.decode(bytes, { stream: true });
  })();
  const until = (text: string) =>
    eventually(
      () => said.includes(text) || (child.exitCode !== null && fail(`it ended before "${text}":\n${said}`)),
      () => `"${text}" in\n${said}`,
    );
  return {
    child,
    until,
    said: () => said,
    async end() {
      const code = await child.exited;
      await reading;
      return code;
    },
    base() {
      const base = /^Repository: (.+)\/repo$/m.exec(said)?.[1] ?? fail("it names no repository");
      bases.push(base);
      return base;
    },
  };
}

function fail(why: string): never {
  throw new Error(why);
}

function leftOf(base: string): string[] {
  return [
    ...runningIn(base).map(({ pid }) => `process ${pid}`),
    ...(existsSync(base) ? [base] : []),
    ...readdirSync(tmpdir()).filter((name) => name.startsWith("overseer-demo-")),
  ];
}

test("DEMO-1: a goal is reached whatever its agents do, everything is told, and nothing is left", async () => {
  const demo = started();
  const code = await demo.end();
  const said = demo.said();
  expect(code === 0 ? "" : `${said}${await demo.child.stderr.text()}`).toBe("");
  for (const fact of [
    /T2 {3}No progress; the agent is asked how it stands \(a hint\)/,
    /T2 {3}Still nothing; its turn is broken off and the instruction given again/,
    /T2 {3}Still nothing; a fresh agent takes over from its last commit/,
    /T3 {3}Not true: the check 'greetings' fails: german: says 'Hallo Ada', should say 'Hallo, Ada!'/,
    /T3 {3}The claim goes back to its author/,
    /T4 {3}Steered by its reflex at step \d+: “You made the same call \d+ times with the same result\.”/,
    /T5 {3}\S+ died: Its process was killed by SIGKILL/,
    /T5 {3}It is started again at once, in the same worktree/,
    /T6 {3}\S+ asks: Shall the front page greet formally or familiarly\?/,
    /The daemon is killed with kill -9/,
    /It finds (one agent|\d+ agents) at work and adopts them/,
    /T6 {3}Answered: familiarly/,
    /The goal is reached/,
    /8 branches landed, 2 daemons/,
  ]) {
    expect(said).toMatch(fact);
  }
  for (let task = 1; task <= 8; task += 1)
    expect(said).toMatch(new RegExp(`T${task} {3}Checked, merged and landed on main`));
  expect(leftOf(demo.base())).toEqual([]);
});

describe("interrupted", () => {
  test.each([
    ["SIGINT", "Repository: ", 130],
    ["SIGTERM", "The daemon runs", 143],
    ["SIGINT", "reports done", 130],
  ] as const)("DEMO-1: by %s after '%s' it leaves nothing", async (signal, moment, code) => {
    const demo = started();
    await demo.until(moment);
    demo.child.kill(signal);
    expect(await demo.end()).toBe(code);
    expect(leftOf(demo.base())).toEqual([]);
  });
});

test("DEMO-1: after kill -9, doctor in its place says what is left, and doctor --fix clears all of it", async () => {
  const demo = started();
  await demo.until("No progress");
  const base = demo.base();
  demo.child.kill("SIGKILL");
  await demo.end();
  expect(runningIn(base).length).toBeGreaterThan(3);
  const looked = await overseer(`${base}/repo`, "doctor");
  expect(looked).toMatchObject({ code: 5, stderr: expect.stringContaining("doctor --fix") });
  expect(await overseerOk(`${base}/repo`, "doctor", "--fix")).toContain("a demo that was killed");
  expect(leftOf(base)).toEqual([]);
});

test("DEMO-1: --keep leaves the repository with what landed, and nothing that runs", async () => {
  const demo = started("--keep", "--agents", "3");
  expect(await demo.end()).toBe(0);
  const base = demo.base();
  const repo = `${base}/repo`;
  expect(runningIn(base)).toEqual([]);
  expect(gitIn(repo, "show", "HEAD:greetings/japanese.sh")).toContain("こんにちは");
  expect(gitIn(repo, "status", "--porcelain", "--untracked-files=no")).toBe("");
  expect(await overseerOk(repo, "why", "T2")).toContain("is done");
  Bun.spawnSync(["rm", "-rf", base]);
});
