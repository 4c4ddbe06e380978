/** The same seed is the same course, to the byte: in one process, and in two that have little else in common. */
import { beforeAll, expect, test } from "bun:test";
import { simulate } from "#sim/run.ts";
import { scenarioOf } from "#sim/scenario.ts";
import { bundled, OVERSEER } from "../support/cli.ts";
import { tempDir } from "../support/temp.ts";

beforeAll(bundled);

test("SIM-1: the same seed is the same course, to the byte; another is another", async () => {
  const course = async (seed: number) => (await simulate(scenarioOf(seed), { trace: true })).trace.join("\n");
  const first = await course(7);
  expect(first.length).toBeGreaterThan(10_000);
  expect(await course(7)).toBe(first);
  expect(await course(8)).not.toBe(first);
});

test("SIM-1: two processes with other homes, zones, languages and users play the same course", async () => {
  const play = async (env: Record<string, string>) => {
    const child = Bun.spawn([OVERSEER, "sim", "--seed", "11", "--trace"], {
      cwd: tempDir("sim-"),
      env: { PATH: process.env.PATH ?? "", HOME: tempDir("home-"), ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect([stderr, code]).toEqual(["", 0]);
    return stdout;
  };
  const [here, there] = await Promise.all([
    play({ TZ: "Pacific/Auckland", LANG: "tr_TR.UTF-8", USER: "ada" }),
    play({ TZ: "America/St_Johns", LANG: "C", USER: "grace", BUN_JSC_useJIT: "0" }),
  ]);
  expect(here.length).toBeGreaterThan(10_000);
  expect(there).toBe(here);
});
