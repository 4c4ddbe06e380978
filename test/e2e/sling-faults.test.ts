/**
 * SLING-1 under attack: a failure at every call a sling makes to the machine, and a SIGKILL at every one. Afterwards
 * nothing of it is left, or the agent is up and runs normally. And many slings at once: exactly as many win as may.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { findAgent, nukeAgent } from "#control/agents.ts";
import type { World } from "#control/world.ts";
import { OverseerError } from "#errors.ts";
import { livingAttempts } from "#store/attempts.ts";
import { bundled, overseer, overseerOk } from "../support/cli.ts";
import { leftovers } from "../support/leftovers.ts";
import { UNHURRIED, worldAt } from "../support/real-world.ts";
import { scaled } from "../support/scale.ts";
import { type FaultMode, faultyWorld, slingOne } from "../support/sling-harness.ts";
import { tempRepo } from "../support/temp.ts";

beforeAll(bundled);

async function repoWithFleet(config = UNHURRIED): Promise<string> {
  const { path } = tempRepo({ files: { "a.txt": "a\n" } });
  await overseerOk(path, "init");
  appendFileSync(join(path, ".overseer/config.yaml"), config);
  return path;
}

/** How many calls a whole sling makes, and that one then ended. */
async function callsOfOne(repo: string): Promise<readonly string[]> {
  const { world, calls } = await faultyWorld(repo);
  await slingOne(world, "counted");
  // What comes after is waiting for the runner's hello, look after look.
  const made = calls.slice(0, calls.findLastIndex((call) => call !== "store.read") + 2);
  await nukeAgent(world, (await findAgent(world, "counted")).attempt, { reason: null, discard: false });
  return made;
}

/** The next command that touches the fleet; and if the agent came up after all, it runs normally and can be ended. */
async function nextCommand(world: World, name: string): Promise<"gone" | "came-up"> {
  const nobody = await findAgent(world, "nobody-of-that-name").catch((error: unknown) => error);
  expect(nobody).toMatchObject({ kind: "not-found" });
  const store = await world.writer();
  for (const until = Date.now() + 60_000; Date.now() < until; await Bun.sleep(20)) {
    const { living } = await store.read({ living: livingAttempts() });
    const one = living.find((attempt) => attempt.agent === name);
    if (!one) return "gone";
    if (one.status === "running") {
      await nukeAgent(world, one.attempt, { reason: null, discard: false });
      return "came-up";
    }
    await findAgent(world, "nobody-of-that-name").catch(() => undefined);
  }
  throw new Error(`${name} neither came up nor went away`);
}

test("SLING-1: a runner that takes its time to begin, and shows no environment until then, is waited for", async () => {
  const repo = await repoWithFleet();
  const world = await worldAt(repo, {
    changes: ({ runnerCommand, processes }) => ({
      runnerCommand: ["/bin/sh", "-c", 'sleep 2.5; exec "$0" "$@"', ...runnerCommand],
      processes: { ...processes, withEnvironment: () => [] },
    }),
  });
  await slingOne(world, "slow");
  const { attempt, status } = await findAgent(world, "slow");
  expect(status).toBe("running");
  await nukeAgent(await worldAt(repo), attempt, { reason: null, discard: false });
});

describe("a failure at every call of a sling", () => {
  const modes: readonly FaultMode[] = ["throw", "throw-after", "full"];
  test.each(modes)(
    "SLING-1: %s: nothing is left, or the agent is up",
    async (mode) => {
      const repo = await repoWithFleet();
      const plain = await worldAt(repo);
      const total = (await callsOfOne(repo)).length;
      expect(await leftovers(plain)).toEqual([]);
      const bad: string[] = [];
      let failures = 0;
      const stride = Math.max(1, Math.round(5 / scaled(1)));
      for (let at = 1 + (modes.indexOf(mode) % stride); at <= total; at += stride) {
        const name = `b-${at}`;
        const { world, calls } = await faultyWorld(repo, { mode, at });
        const error = await slingOne(world, name).catch((thrown: unknown) => thrown);
        if (error !== undefined) failures += 1;
        const atOnce = mode === "throw" && error instanceof OverseerError ? await leftovers(plain) : [];
        await nextCommand(plain, name);
        const left = await leftovers(plain);
        if (left.length > 0) bad.push(`${at} ${calls[at - 1]}: ${left.join("; ")}`);
        if (atOnce.length > 0 && calls.length > at) bad.push(`${at} ${calls[at - 1]}, at once: ${atOnce.join("; ")}`);
        await (await world.writer()).close().catch(() => undefined);
      }
      expect(bad).toEqual([]);
      expect(failures).toBeGreaterThan(5);
    },
    600_000,
  );
});

describe("a SIGKILL at every call of a sling", () => {
  const modes: readonly FaultMode[] = ["kill", "kill-during"];
  const harness = join(import.meta.dir, "../support/sling-harness.ts");

  /** The places `from`, `from` + `step` …, one after the other in a repository of their own. */
  async function killed(mode: FaultMode, from: number, step: number) {
    const repo = await repoWithFleet();
    const plain = await worldAt(repo);
    const total = (await callsOfOne(repo)).length;
    const bad: string[] = [];
    let gone = 0;
    for (let at = from; at <= total; at += step) {
      const name = `b-${at}`;
      const child = Bun.spawn([process.execPath, harness, repo, name, mode, String(at)], {
        stdout: "ignore",
        stderr: "pipe",
      });
      await child.exited;
      // The last places may lie beyond the end: how often a sling looks for its runner varies.
      if (child.signalCode !== "SIGKILL" && at < total - 2) bad.push(`${at}: not killed: ${await child.stderr.text()}`);
      if ((await nextCommand(plain, name)) === "gone") gone += 1;
      const left = await leftovers(plain);
      if (left.length > 0) bad.push(`${at}: ${left.join("; ")}`);
    }
    return { bad, gone };
  }

  test.each(modes)(
    "SLING-1: %s: the next command takes everything back, or the agent is up",
    async (mode) => {
      // Ordinarily every second place is struck, in one of the two ways; at a larger scale each in both.
      const stride = scaled(1) >= 2 ? 1 : 4;
      const first = 1 + (stride > 1 ? 2 * modes.indexOf(mode) : 0);
      const both = await Promise.all([killed(mode, first, stride * 2), killed(mode, first + stride, stride * 2)]);
      expect(both.flatMap(({ bad }) => bad)).toEqual([]);
      expect(both[0].gone + both[1].gone).toBeGreaterThan(5);
    },
    600_000,
  );
});

describe("many slings at once", () => {
  /** Ten processes; what each said. */
  async function race(repo: string, words: (number: number) => string[]) {
    const said = await Promise.all(
      Array.from({ length: 10 }, (_, number) => overseer(repo, "sling", ...words(number))),
    );
    const losers = said.filter(({ code }) => code !== 0);
    await overseerOk(repo, "nuke", "--all");
    expect(await leftovers(await worldAt(repo))).toEqual([]);
    return { won: said.length - losers.length, losers };
  }
  const prompt = ["--prompt", `Wait. @@SCRIPT[{"say":"here"}]@@END`];

  test("SLING-1: of ten that want one task, one gets it and nine are told who has it", async () => {
    const repo = await repoWithFleet();
    const goal = JSON.parse(await overseerOk(repo, "goal", "create", "Race", "--json")) as { goalId: string };
    const plan = join(repo, "plan.json");
    await Bun.write(plan, JSON.stringify(ONE_TASK));
    await overseerOk(repo, "goal", "plan", goal.goalId, "--file", plan);
    const { won, losers } = await race(repo, (number) => ["T1", "--name", `racer-${number}`]);
    expect(won).toBe(1);
    for (const { code, stderr } of losers) {
      expect(code).toBe(4);
      expect(stderr).toMatch(/T1 is with racer-\d|T1 is in_progress/);
      expect(stderr).toContain("hint:");
    }
  }, 120_000);

  test("SLING-2: of ten that want one name, one gets it; ten without a name all get one", async () => {
    const repo = await repoWithFleet();
    const named = await race(repo, () => [...prompt, "--name", "solo"]);
    expect(named.won).toBe(1);
    for (const { code, stderr } of named.losers) {
      expect(code).toBe(4);
      expect(stderr).toMatch(/solo#\d+ already runs under that name/);
    }
    expect((await race(repo, () => prompt)).losers).toEqual([]);
  }, 120_000);

  test("SCOPE-1: of ten whose files overlap, one is started", async () => {
    const repo = await repoWithFleet();
    const { won, losers } = await race(repo, (number) => [
      ...prompt,
      "--files",
      number % 2 ? "src" : "src/parser/*.ts",
    ]);
    expect(won).toBe(1);
    for (const { code, stderr } of losers) {
      expect(code).toBe(4);
      expect(stderr).toMatch(/overlaps .* which belongs to builder-\d+#\d+/);
    }
  }, 120_000);

  test("CAP-1: with three places, three of ten are started", async () => {
    const repo = await repoWithFleet(UNHURRIED.replace("maxConcurrent: 100", "maxConcurrent: 3"));
    const { won, losers } = await race(repo, () => prompt);
    expect(won).toBe(3);
    for (const { code, stderr } of losers) {
      expect(code).toBe(4);
      expect(stderr).toContain("3 agents are at work, and 3 is the limit.");
    }
  }, 120_000);
});

const ONE_TASK = {
  planVersion: 1,
  phases: [
    {
      id: "P1",
      name: "Phase",
      objective: "Reach it",
      acceptance: ["it works"],
      tasks: [{ id: "T1", name: "Task", objective: `Do it. @@SCRIPT[{"say":"here"}]@@END`, acceptance: ["done"] }],
    },
  ],
};
