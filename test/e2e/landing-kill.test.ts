/**
 * Killed anywhere between a report of done and the landing, doing it again ends the same: the same target, a clean
 * checkout, one landing, one end of the node, and no work lost. The harness kills its own process at its n-th call of a
 * port, before the call or in the middle of it.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { runChecks } from "#act/checks/check.ts";
import { landClaim } from "#act/landing/land.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { spread } from "../support/scale.ts";
import { gitIn, tempRepo } from "../support/temp.ts";

setDefaultTimeout(600_000);

const HARNESS = join(import.meta.dir, "../support/landing-harness.ts");
const place = { goalId: GOAL, nodeId: "T1" };
const gates = { tests: { command: "test -f b.txt && cat b.txt > seen", timeout: "20s" } };

/** Two ways in: a checkout that is moved along, with a gate; and a squash into a branch that nobody looks at. */
const STORIES = [
  { name: "a merge into the checkout, gated", elsewhere: false, config: { landing: { mode: "auto" }, checks: gates } },
  {
    name: "a squash into a branch that is checked out nowhere",
    elsewhere: true,
    config: { landing: { mode: "auto", strategy: "squash" }, repo: { targetBranch: "main" } },
  },
];

async function claimed(story: (typeof STORIES)[number]): Promise<string> {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(2, true));
  const world = await landingWorld(repo.path, { config: story.config });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n", "dir/c.txt": "c\n" });
  repo.write({ "d.txt": "d\n" });
  repo.git("add", "d.txt");
  repo.git("commit", "--quiet", "-m", "Meanwhile");
  if (story.elsewhere) repo.git("checkout", "--quiet", "--detach");
  await world.report(attempt);
  await world.close();
  return repo.path;
}

function harness(repo: string, config: unknown, ...fault: string[]) {
  const argv = [process.execPath, HARNESS, repo, JSON.stringify(config), ...fault];
  return Bun.spawnSync(argv, { env: process.env, stdin: "ignore" });
}

/** What is left of a story, without ids and times. */
async function ending(repo: string, config: unknown) {
  const world = await landingWorld(repo, { config });
  await runChecks(world.parts, place);
  const outcome = await landClaim(world.parts, place);
  const types = (await world.store.log({ after: 0, limit: 10_000 })).map(({ type }) => type);
  const [first, second] = [await world.node("T1"), await world.node("T2")];
  await world.close();
  const once = ["landing.landed", "work.done", "assignment.done", "work.checked"];
  return {
    settled: outcome.kind === "done" || outcome.kind === "nothing",
    main: gitIn(repo, "log", "--first-parent", "--format=%T %s %an", "main").split("\n"),
    parents: gitIn(repo, "log", "-1", "--format=%P", "main").split(" ").length,
    status: gitIn(repo, "status", "--porcelain"),
    nodes: [first.status, first.unverified, first.evidence?.commits.length, second.status],
    once: once.map((type) => types.filter((one) => one === type).length),
    locks: gitIn(repo, "worktree", "list")
      .split("\n")
      .filter((line) => /locked|prunable/.test(line)),
  };
}

test.each(STORIES)("MERGE-3: $name: killed at any step and done again, it ends the same", async (story) => {
  const { config } = story;
  const whole = await claimed(story);
  const done = harness(whole, config);
  expect(done.stderr.toString()).toBe("");
  const { calls } = JSON.parse(done.stdout.toString()) as { calls: string[] };
  const undisturbed = await ending(whole, config);
  expect(undisturbed).toMatchObject({ settled: true, nodes: ["done", expect.any(Boolean), 2, "queued"], status: "" });
  // Every step in the long lane; here a few, other ones for each story.
  const places = spread(calls.length, 4, story.name.length);
  const both = places.length === calls.length;
  for (const [index, at] of places.entries()) {
    for (const mode of both ? ["kill", "kill-during"] : [index % 2 === 0 ? "kill-during" : "kill"]) {
      const repo = await claimed(story);
      const killed = harness(repo, config, mode, String(at));
      expect(`${at} ${killed.signalCode}`).toBe(`${at} SIGKILL`);
      expect({ at, call: calls[at - 1], mode, ...(await ending(repo, config)) }).toEqual({
        at,
        call: calls[at - 1],
        mode,
        ...undisturbed,
      });
    }
  }
});
