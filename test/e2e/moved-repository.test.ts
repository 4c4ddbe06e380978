/**
 * A repository that is renamed under its agents, one that is copied, and a login that has another runtime directory.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { gitIn } from "../support/git-in.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.end();
  fleet = undefined;
});

const DRAFT: readonly Step[] = [
  { kind: "edit", file: "draft.txt", content: "not yet\n" },
  { kind: "hang", in: "thought" },
];

async function drafting(made: Fleet, name: string): Promise<Attempt> {
  const attempt = await made.sling(name, DRAFT);
  await eventually(
    () => existsSync(join(attempt.worktree, "draft.txt")),
    () => `${name}'s draft`,
  );
  return attempt;
}

test("PROC-1, ADOPT-1: agents of a renamed repository can be stopped, restarted and cleaned at its new place", async () => {
  const before = join(tempDir("moves-"), "before");
  const made = await Fleet.make({ at: before });
  fleet = made;
  const [ada, bob, eve] = [await drafting(made, "ada"), await drafting(made, "bob"), await drafting(made, "eve")];
  const runner = made.runner(bob.attempt);
  await made.ok("up");
  const daemon = made.theDaemon();
  const after = `${before}-renamed`;
  renameSync(before, after);
  const moved = made.at(after);
  fleet = moved;
  // What still runs finds its repository gone, and ends without making it again.
  await eventually(
    () => !made.processes.alive(runner) && !made.processes.alive(daemon),
    () => "the end of the runner and the daemon",
  );
  expect(existsSync(before)).toBe(false);
  const here = (attempt: Attempt) => attempt.worktree.replace(before, after);
  expect(await moved.ok("status")).toMatch(new RegExp(`^MOVED: The repository was at ${before} before.*'overseer up'`));
  expect((await moved.run("doctor")).stdout).toMatch(new RegExp(`ok +place: The repository was at ${before} before`));
  expect(await moved.ok("stop", "ada")).toContain("ada");
  expect(await moved.ok("status")).not.toContain("MOVED");
  expect(moved.attempt(ada.attempt).worktree).toBe(here(ada));
  expect(gitIn(here(ada), "status", "--porcelain")).toContain("draft.txt");
  await moved.ok("restart", "bob");
  const again = moved.rows<{ attempt: number }>("select max(attempt) as attempt from attempts")[0]?.attempt ?? 0;
  expect([moved.attempt(again).agent, moved.attempt(again).worktree]).toEqual(["bob", here(bob)]);
  expect(readFileSync(join(here(bob), "draft.txt"), "utf8")).toBe("not yet\n");
  await moved.ok("nuke", "eve");
  expect(existsSync(here(eve))).toBe(false);
  expect([existsSync(before), moved.all("overseer.moved").length]).toEqual([false, 1]);
  await moved.ok("up");
});

test("PROC-1, ADOPT-1: agents of a renamed repository are found also where the record of its place was lost", async () => {
  const before = join(tempDir("moves-"), "before");
  const made = await Fleet.make({ at: before });
  fleet = made;
  const [ada, bob] = [await drafting(made, "ada"), await drafting(made, "bob")];
  const runners = [made.runner(ada.attempt), made.runner(bob.attempt)];
  rmSync(join(made.state, "run", "place.json"));
  const after = `${before}-renamed`;
  renameSync(before, after);
  const moved = made.at(after);
  fleet = moved;
  await eventually(
    () => !runners.some((runner) => made.processes.alive(runner)),
    () => "the end of the runners",
  );
  expect(await moved.ok("stop", "ada")).toContain("ada");
  expect(moved.attempt(ada.attempt).worktree).toBe(ada.worktree.replace(before, after));
  await moved.ok("nuke", "bob");
  const draft = gitIn(after, "for-each-ref", "--format=%(refname)", "refs/overseer/recovery/bob-2*");
  expect([existsSync(bob.worktree.replace(before, after)), gitIn(after, "show", `${draft}:draft.txt`)]).toEqual([
    false,
    "not yet",
  ]);
  expect(moved.all("overseer.moved")).toHaveLength(1);
});

test("PROC-1, ISO-1: a copied repository acts on nothing of its original, and becomes one of its own when told to", async () => {
  const original = await Fleet.make({ at: join(tempDir("copies-"), "original") });
  fleet = original;
  const ada = await drafting(original, "ada");
  // A linked worktree of the person's own, with the branch that work lands on: git's entry for it is copied too.
  const linked = `${original.repo.path}-linked`;
  gitIn(original.repo.path, "checkout", "--quiet", "-b", "elsewhere");
  gitIn(original.repo.path, "worktree", "add", "--quiet", linked, "main");
  await original.ok("up");
  const copy = original.at(`${original.repo.path}-copy`);
  // What the living daemon is just writing anew comes and goes under the copy.
  cpSync(original.repo.path, copy.repo.path, { recursive: true, filter: (path) => !path.endsWith(".new") });
  for (const words of [["stop", "ada"], ["nuke", "--all"], ["up"], ["down", "--agents"], ["restart", "ada"]]) {
    const { code, stderr } = await copy.run(...words);
    expect([words, code, stderr]).toEqual([words, 4, expect.stringContaining(`is a copy of ${original.repo.path}`)]);
  }
  const status = await copy.ok("status");
  expect(status).toStartWith(`COPIED: ${copy.repo.path} is a copy of ${original.repo.path}`);
  expect(status).toContain("Agents of the original: 1");
  expect(status).not.toMatch(/overseer up|Daemon:/);
  const away = { standing: "copied", from: original.repo.path };
  expect(JSON.parse(await copy.ok("status", "--json")).away).toEqual(away);
  expect(JSON.parse(await original.ok("status", "--json")).away).toBeNull();
  expect((await copy.run("doctor")).stdout).toMatch(
    /PROBLEM +place: .* is a copy of .*\n.*'overseer doctor --fix' here/,
  );
  const living = () => [original.theDaemon(), original.runner(ada.attempt)].map((who) => original.processes.alive(who));
  expect(living()).toEqual([true, true]);
  const { stdout } = await copy.run("doctor", "--fix");
  expect(stdout).toContain("a repository of its own");
  expect(living()).toEqual([true, true]);
  const worktree = ada.worktree.replace(original.repo.path, copy.repo.path);
  expect(copy.attempt(ada.attempt)).toMatchObject({ status: "ended", worktree });
  expect(original.attempt(ada.attempt)).toMatchObject({ status: "running", worktree: ada.worktree });
  for (const [place, repo] of [
    [worktree, copy],
    [ada.worktree, original],
  ] as const) {
    expect(gitIn(place, "rev-parse", "--path-format=absolute", "--git-common-dir")).toBe(join(repo.repo.path, ".git"));
  }
  // Nothing of the original's work is begun a second time before a person wants that.
  expect(await copy.ok("status")).toMatch(/^Waits for you: \d+\n {2}FROZEN/);
  await copy.ok("thaw");
  await copy.ok("trust", "--yes");
  gitIn(copy.repo.path, "branch", "mine", "main");
  const head = gitIn(linked, "rev-parse", "HEAD");
  const scratch = join(tempDir("scratch-"), "mine");
  gitIn(copy.repo.path, "worktree", "add", "--quiet", scratch, "mine");
  writeFileSync(join(scratch, "mine.txt"), "mine\n");
  gitIn(scratch, "add", "--all");
  gitIn(scratch, "commit", "--quiet", "--message", "Mine");
  await copy.ok("merge", "--branch", "mine");
  expect(gitIn(copy.repo.path, "log", "-1", "--format=%s", "main")).not.toBe("First commit");
  expect([gitIn(linked, "rev-parse", "HEAD"), gitIn(linked, "status", "--porcelain")]).toEqual([head, ""]);
  await copy.ok("restart", "ada");
  expect(living()).toEqual([true, true]);
  await copy.ok("nuke", "--all");
  expect(living()).toEqual([true, true]);
  await copy.end();
});

test("PROC-1: an agent is stopped, looked at and restarted from a login with another runtime directory", async () => {
  const [first, second] = [tempDir("xdg-"), tempDir("xdg-")];
  const made = await Fleet.make({ env: { XDG_RUNTIME_DIR: first } });
  fleet = made;
  const ada = await drafting(made, "ada");
  const other = made.at(made.repo.path, { XDG_RUNTIME_DIR: second });
  fleet = other;
  expect(await other.ok("peek", "ada")).not.toBe("");
  await other.ok("nudge", "ada", "How is it going?");
  await other.ok("stop", "ada");
  expect(other.attempt(ada.attempt).status).toBe("ended");
  await other.ok("restart", "ada");
  expect(await other.tmux("list-sessions")).toContain("ov-2");
  expect(existsSync(join(second, "overseer"))).toBe(false);
});
