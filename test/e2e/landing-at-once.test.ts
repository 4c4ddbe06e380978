/**
 * Claims that are landed at the same time, by one process or by several: git moves a branch that is checked out in two
 * steps, so only one may do it at a time. All land, one on top of the other, and nothing of any stays in the checkout.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { runChecks } from "#act/checks/check.ts";
import { landClaim } from "#act/landing/land.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const config = { landing: { mode: "auto" } };
const NODES = ["T1", "T2", "T3", "T4"];

test("MERGE-3: claims that land at the same time all land, and leave the checkout clean", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(NODES.length));
  const world = await landingWorld(repo.path, { config });
  for (const node of NODES) {
    const attempt = await world.attempt(node);
    world.commit(attempt, { [`${node}.txt`]: `${node}\n` });
    await world.report(attempt);
    await runChecks(world.parts, { goalId: GOAL, nodeId: node });
  }
  const landed = await Promise.all(NODES.map((nodeId) => landClaim(world.parts, { goalId: GOAL, nodeId })));
  await world.close();
  expect(landed.map(({ kind }) => kind)).toEqual(NODES.map(() => "done"));
  expect(repo.git("status", "--porcelain")).toBe("");
  for (const node of NODES) expect(repo.git("show", `main:${node}.txt`)).toBe(node);
});
