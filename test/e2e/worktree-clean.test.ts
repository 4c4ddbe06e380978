/** WT-1 with real git: what `worktree list` says of each worktree is what `worktree clean` then does. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { clean, worktrees } from "#control/worktrees.ts";
import { asPerson, endOf } from "../support/landing-observations.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

test("WT-1: worktrees are listed with task, age, size and why they stay; what has landed as one commit goes, the rest stays", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(4));
  const config = { landing: { mode: "auto", strategy: "squash", keepWorktree: true } };
  const world = await landingWorld(repo.path, { config });
  const ada = asPerson(world);
  const [landed, unmerged, dirty, living] = [
    await world.attempt("T1"),
    await world.attempt("T2"),
    await world.attempt("T3"),
    await world.attempt("T4"),
  ];
  const tip = world.commit(landed, { "b.txt": "b\n" });
  await world.report(landed);
  expect(await landClaim(world.parts, { goalId: GOAL, nodeId: "T1" })).toEqual({ kind: "done" });
  world.commit(unmerged, { "c.txt": "c\n" });
  writeFileSync(join(dirty.worktree, "a.txt"), "x".repeat(200_000));
  for (const one of [landed, unmerged, dirty]) await endOf(world, one.attempt);
  const listed = await worktrees(ada);
  expect(listed.map(({ task, taskName, stays }) => [task, taskName, stays])).toEqual([
    [`${GOAL}/T4`, "Node T4", "its agent is at work"],
    [`${GOAL}/T3`, "Node T3", "it has uncommitted work"],
    [`${GOAL}/T2`, "Node T2", "it has commits that are not in main"],
    [`${GOAL}/T1`, "Node T1", null],
  ]);
  expect(
    listed.every(
      ({ createdAt, endedAt, attempt }) => (endedAt === null) === (attempt === living.attempt) && createdAt > 0,
    ),
  ).toBe(true);
  const [, fat, thin] = listed;
  expect(fat?.bytes).toBeGreaterThan((thin?.bytes ?? 0) + 150_000);
  const cleaned = await clean(ada, { force: false });
  expect(
    cleaned.removed.map(({ task, recovery }) => [task, recovery.map((ref) => repo.git("rev-parse", ref))]),
  ).toEqual([[`${GOAL}/T1`, [tip]]]);
  expect(cleaned.kept.map(({ task, because }) => [task, because.slice(because.indexOf(" ") + 1)])).toEqual([
    [`${GOAL}/T4`, expect.stringContaining("agent lives in")],
    [`${GOAL}/T3`, "has uncommitted changes."],
    [`${GOAL}/T2`, "has commits that are not in main."],
  ]);
  expect([landed, unmerged, dirty, living].map(({ worktree }) => existsSync(worktree))).toEqual([
    false,
    true,
    true,
    true,
  ]);
  const one = await clean(ada, { name: `${dirty.agent}#${dirty.attempt}`, force: true });
  expect(one.removed).toMatchObject([
    { task: `${GOAL}/T3`, recovery: [expect.stringContaining("refs/overseer/recovery/")] },
  ]);
  await world.close();
});
