/** A claim stands on its commit: whatever becomes of the branch and the worktree, what was claimed is checked and lands. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { runChecks } from "#act/checks/check.ts";
import { letGoOfKept } from "#act/landing/kept-refs.ts";
import { landClaim } from "#act/landing/land.ts";
import { takeFields } from "#act/updates/take-update.ts";
import { schema } from "#config/schema.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { type TempRepo, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const PLACE = { goalId: GOAL, nodeId: "T1" };
const CHECKED = { checks: { tests: { command: "test -f b.txt", on: ["done", "land"] } }, landing: { mode: "auto" } };

async function claimed(config: object = CHECKED): Promise<{ repo: TempRepo; world: LandingWorld; attempt: Attempt }> {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path, { config });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "b.txt": "b\n" });
  expect(await takeFields(world.parts, attempt.attempt, DONE)).toMatchObject({ kind: "taken" });
  return { repo, world, attempt };
}

const DONE = { status: "done", summary: "b.txt is there", evidence: { commits: [] } } as unknown as Parameters<
  typeof takeFields
>[2];

function tidyUp(repo: TempRepo): void {
  repo.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all");
  repo.git("gc", "--quiet", "--prune=now");
}

test.each<[string, (repo: TempRepo, attempt: Attempt) => void]>([
  [
    "deleted with its worktree",
    (repo, attempt) => {
      rmSync(attempt.worktree, { recursive: true });
      repo.git("worktree", "prune");
      repo.git("branch", "--quiet", "-D", attempt.branch);
    },
  ],
  [
    "rewound",
    (_repo, attempt) => Bun.spawnSync(["git", "reset", "--quiet", "--hard", "HEAD~1"], { cwd: attempt.worktree }),
  ],
])("MERGE-2: a claimed commit is checked and lands, its branch %s and everything tidied up", async (_what, lose) => {
  const { repo, world, attempt } = await claimed();
  try {
    lose(repo, attempt);
    tidyUp(repo);
    expect((await runChecks(world.parts, PLACE)).kind).toBe("checked");
    expect((await landClaim(world.parts, PLACE)).kind).toBe("done");
    expect(repo.git("show", "main:b.txt")).toBe("b");
  } finally {
    await world.close();
  }
});

test("MERGE-2: a claimed commit is let go of when its work ended as long ago as wip.keepAfterLanding says", async () => {
  const { repo, world, attempt } = await claimed({ ...CHECKED, wip: { keepAfterLanding: "0s" } });
  const refs = () => repo.git("for-each-ref", "--format=%(refname)", "refs/overseer/claims");
  try {
    await letGoOfKept(world.parts);
    expect(refs()).toStartWith(`refs/overseer/claims/${attempt.assignmentId}/`);
    await runChecks(world.parts, PLACE);
    await landClaim(world.parts, PLACE);
    await letGoOfKept({ ...world.parts, config: async () => schema.parse({}) });
    expect(refs()).not.toBe("");
    await letGoOfKept(world.parts);
    expect(refs()).toBe("");
  } finally {
    await world.close();
  }
});
