/**
 * Everyday git under a running daemon: none of it reaches the store (docs/decisions/0011). The branch that is checked out
 * is from before Overseer, so that nothing in the work tree hides anything from git.
 */
import { Database } from "bun:sqlite";
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readlinkSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundled, overseer, overseerOk } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { gitIn } from "../support/git-in.ts";

import { undoColumns } from "../support/older-store.ts";
import { provenLog } from "../support/store-proof.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.end();
  fleet = undefined;
});

test.each([
  ["git stash -u", ["stash", "--include-untracked"]],
  ["git clean -fd", ["clean", "-fd"]],
  ["git clean -fdx", ["clean", "-fdx"]],
])("STORE-5, CLEAN-1: %s on a branch from before Overseer takes nothing of a fleet at work", async (_name, words) => {
  fleet = await Fleet.make();
  const { path } = fleet.repo;
  gitIn(path, "branch", "before");
  gitIn(path, "add", ".overseer");
  gitIn(path, "commit", "--quiet", "--message", "Use Overseer");
  await fleet.ok("up");
  const agent = await fleet.sling("ada", [
    { kind: "edit", file: "draft.txt", content: "not yet\n" },
    { kind: "hang", in: "thought" },
  ]);
  await eventually(
    () => existsSync(join(agent.worktree, "draft.txt")),
    () => "the draft",
  );
  const [before, { ino }] = [fleet.happened(), statSync(`${fleet.state}/overseer.db`)];
  gitIn(path, "checkout", "--quiet", "before");
  writeFileSync(join(path, "mine.txt"), "mine\n");
  gitIn(path, ...words);
  expect(existsSync(join(path, "mine.txt"))).toBe(false); // git did what it was told to
  expect(statSync(`${fleet.state}/overseer.db`).ino).toBe(ino);
  expect(fleet.happened().slice(0, before.length)).toEqual(before);
  expect(readdirSync(`${fleet.state}/logs/ada`)).toHaveLength(1);
  expect(existsSync(join(agent.worktree, "draft.txt"))).toBe(true);
  expect(existsSync(`${fleet.state}/run/safe-mode.json`)).toBe(false);
  expect(await fleet.ok("agents")).toContain("ada");
});

/** As `overseer init` left a repository before the store moved below the git directory. */
async function earlier(): Promise<{ path: string; log: unknown[] }> {
  const { path } = tempRepo();
  await overseerOk(path, "init");
  await overseerOk(path, "goal", "create", "Something");
  const [state, dir] = [join(path, ".git/overseer"), join(path, ".overseer")];
  const log = provenLog(join(state, "overseer.db"));
  mkdirSync(join(state, "logs/ada"), { recursive: true });
  writeFileSync(join(state, "logs/ada/session.log"), "said\n");
  for (const name of readdirSync(state).filter((one) => one !== "backups"))
    renameSync(join(state, name), join(dir, name));
  return { path, log };
}

test("STORE-3: a store at its earlier place is named by every command and moved whole by doctor --fix", async () => {
  const { path, log } = await earlier();
  for (const words of [["status"], ["init"], ["up"], ["goal", "create", "Another"]]) {
    const { code, stderr } = await overseer(path, ...words);
    expect([words, code, stderr]).toEqual([words, 5, expect.stringContaining("'overseer doctor --fix'")]);
  }
  expect(existsSync(join(path, ".git/overseer/overseer.db"))).toBe(false);
  expect((await overseer(path, "doctor")).stdout).toContain("still lies at");
  expect((await overseer(path, "doctor", "--fix")).stdout).toContain("moved the database, the logs and the run files");
  expect(provenLog(join(path, ".git/overseer/overseer.db"))).toEqual(log as never);
  expect(existsSync(join(path, ".git/overseer/logs/ada/session.log"))).toBe(true);
  expect(readdirSync(join(path, ".overseer")).filter((name) => /overseer\.db|^run$|^logs$|^specs$/.test(name))).toEqual(
    [],
  );
  expect(await overseerOk(path, "status")).toContain("Something");
});

test("STORE-3: who still uses a store at its earlier place is named, with the way to end it; migrating and moving are one step", async () => {
  const { path } = await earlier();
  const db = join(path, ".overseer/overseer.db");
  const holder = Bun.spawn(["sh", "-c", `exec 3<"$1"; exec tail -f /dev/null`, "sh", db], { stdout: "ignore" });
  try {
    await eventually(
      () => existsSync(`/proc/${holder.pid}/fd/3`) && readlinkSync(`/proc/${holder.pid}/fd/3`, "utf8") === db,
      () => "the holder",
    );
    const { code, stderr } = await overseer(path, "doctor", "--fix");
    expect([code, stderr]).toEqual([4, expect.stringContaining(`kill ${holder.pid}`)]);
  } finally {
    holder.kill();
    await holder.exited;
  }
  const older = new Database(db);
  undoColumns(older);
  older.run("pragma user_version = 6");
  older.run("delete from meta where key = 'identity'");
  older.close();
  expect((await overseer(path, "doctor", "--fix")).stdout).toContain("migrated");
  expect(await overseerOk(path, "status")).toContain("Something");
});

test("STORE-5: a database that came with the repository is never taken over", async () => {
  const { path } = await earlier();
  gitIn(path, "add", "--force", ".overseer/overseer.db");
  gitIn(path, "commit", "--quiet", "--message", "Everything, also the database");
  const clone = join(tempDir("clone-"), "repo");
  gitIn(path, "clone", "--quiet", path, clone);
  const { code, stderr } = await overseer(clone, "doctor", "--fix");
  expect([code, stderr]).toEqual([4, expect.stringContaining("came with the repository")]);
  expect(existsSync(join(clone, ".git/overseer/overseer.db"))).toBe(false);
});
