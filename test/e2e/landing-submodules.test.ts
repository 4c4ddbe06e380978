/** A submodule bump whose commit exists nowhere but in the agent's worktree: the target must not point at nothing. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChecks } from "#act/checks/check.ts";
import { landClaim } from "#act/landing/land.ts";
import { schema } from "#config/schema.ts";
import { bundled, overseerOk } from "../support/cli.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { gitIn, type TempRepo, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const LOCAL = ["-c", "protocol.file.allow=always"];
const place = { goalId: GOAL, nodeId: "T1" };

async function withLibrary(use: (repo: TempRepo, world: LandingWorld, library: TempRepo) => Promise<void>) {
  const repo = tempRepo({ files: { "a.txt": "a\n", ".gitignore": ".overseer/\n" } });
  const library = tempRepo({ files: { "lib.txt": "lib\n" } });
  repo.git(...LOCAL, "submodule", "add", "--quiet", "--name", "the/library", library.path, "libs/one");
  repo.git("commit", "--quiet", "--message", "With a library");
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path, { parsed: schema.parse({ landing: { mode: "auto" } }) });
  try {
    await use(repo, world, library);
  } finally {
    await world.close();
  }
}

/** An agent commits in the submodule, bumps it, and its work lands. */
async function landBump(world: LandingWorld, push = false): Promise<string> {
  const attempt = await world.attempt("T1");
  gitIn(attempt.worktree, ...LOCAL, "submodule", "update", "--quiet", "--init");
  const lib = join(attempt.worktree, "libs/one");
  writeFileSync(join(lib, "own.txt"), "own\n");
  gitIn(lib, "add", "--all");
  gitIn(lib, "commit", "--quiet", "--message", "Own");
  if (push) gitIn(lib, "push", "--quiet", "origin", "HEAD:refs/heads/own");
  world.commit(attempt, { "b.txt": "b\n" });
  await world.report(attempt);
  await runChecks(world.parts, place);
  expect(await landClaim(world.parts, place)).toEqual({ kind: "done" });
  return gitIn(lib, "rev-parse", "HEAD");
}

test("MERGE-4: the commit a landed bump points to is brought into the user's submodule, where an update finds it", async () => {
  await withLibrary(async (repo, world) => {
    const mine = join(repo.path, "libs/one");
    const before = gitIn(mine, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes");
    const [head, own] = [gitIn(mine, "rev-parse", "HEAD"), await landBump(world)];
    expect(gitIn(mine, "rev-parse", "HEAD")).toBe(head);
    expect(gitIn(mine, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes")).toBe(before);
    repo.git("submodule", "--quiet", "update");
    expect(gitIn(mine, "rev-parse", "HEAD")).toBe(own);
    const why = await overseerOk(repo.path, "why", "T1");
    for (const part of ["libs/one", own.slice(0, 10), "'git submodule update libs/one'", "push"])
      expect(why).toContain(part);
  });
});

test("MERGE-4: where the user has no such submodule yet, the ref that keeps it and the commands are told", async () => {
  await withLibrary(async (repo, world) => {
    repo.git("submodule", "deinit", "--quiet", "--force", "--all");
    rmSync(join(repo.path, ".git/modules"), { recursive: true });
    const own = await landBump(world);
    const why = await overseerOk(repo.path, "why", "T1");
    const ref = /refs\/overseer\/recovery\/\S+-of-libs_one-1/.exec(why.replace(/\n\s*/g, " "))?.[0] ?? "none";
    expect(repo.git("rev-parse", ref)).toBe(own);
    expect(why.replace(/\s+/g, " ")).toContain(
      `git -C libs/one fetch "$PWD" ${ref}:${ref} && git submodule update libs/one`,
    );
    expect(() => repo.git(...LOCAL, "submodule", "--quiet", "update", "--init", "libs/one")).toThrow("did not contain");
    gitIn(repo.path, "-C", "libs/one", "fetch", "--quiet", repo.path, `${ref}:${ref}`);
    repo.git("submodule", "--quiet", "update", "libs/one");
    expect(gitIn(join(repo.path, "libs/one"), "rev-parse", "HEAD")).toBe(own);
  });
});

test("MERGE-4: a bump whose commit the submodule's remote has is nobody's concern", async () => {
  await withLibrary(async (repo, world) => {
    await landBump(world, true);
    expect(repo.git("for-each-ref", "refs/overseer/recovery")).toBe("");
    expect(await overseerOk(repo.path, "why", "T1", "--all")).not.toContain("submodule");
  });
});
