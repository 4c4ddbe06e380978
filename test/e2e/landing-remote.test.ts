/**
 * REPO-1 with real git and a bare repository on disk in the place of a server: local only unless told otherwise; the
 * target follows the remote before a landing and is sent to it afterwards; nothing here is lost when the remote does not
 * do its part, and nothing there is ever overwritten.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { pushAction } from "#act/landing/remote.ts";
import { mergeBranch } from "#control/merge.ts";
import type { Action } from "#domain/model/action.ts";
import landAction from "#engine/actions/land.ts";
import { drain } from "#engine/outbox.ts";
import { openQuestions } from "#store/assignments.ts";
import type { Exec } from "#sys/exec.ts";
import { asPerson, landByHand } from "../support/landing-observations.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const HOME = tempDir("home-");
const configOf = (repo: object, more: object = {}) => ({ landing: { mode: "auto" }, repo, ...more });

/** A repository, a bare one that it calls its remote, and somebody else's clone of that. */
async function scene(config: unknown, remote = "origin") {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  const bare = join(tempDir("bare-"), "r.git");
  gitIn(repo.path, "clone", "--quiet", "--bare", repo.path, bare);
  repo.git("remote", "add", remote, bare);
  const elsewhere = join(tempDir("clone-"), "c");
  gitIn(repo.path, "clone", "--quiet", bare, elsewhere);
  await foundLanding(repo.path, tasks(4));
  const commands: string[] = [];
  const wrap = <T extends object>(port: string, real: T): T => {
    if (port !== "exec") return real;
    const exec = real as unknown as Exec;
    const run: Exec["run"] = (argv, options) => {
      commands.push(argv.find((word) => /^(fetch|push|pull|ls-remote|remote)$/.test(word)) ?? "");
      return exec.run(argv, options);
    };
    return { ...exec, run } as unknown as T;
  };
  const world = await landingWorld(repo.path, { config, wrap });
  const there = () => gitIn(bare, "rev-parse", "main");
  return { repo, bare, elsewhere, world, there, network: () => commands.filter((word) => word !== "") };
}

async function finished(world: LandingWorld, id: string, files: Record<string, string>): Promise<string> {
  const attempt = await world.attempt(id);
  const commit = world.commit(attempt, files);
  await world.report(attempt);
  return commit;
}

const land = (world: LandingWorld, nodeId: string) => landClaim(world.parts, { goalId: GOAL, nodeId });

/** Somebody else pushes a change. */
function pushedElsewhere(clone: string, file: string, text = `${file}\n`): string {
  gitIn(clone, "pull", "--quiet", "--ff-only");
  writeFileSync(join(clone, file), text);
  gitIn(clone, "add", "--all");
  gitIn(clone, "commit", "--quiet", "-m", `Elsewhere ${file}`);
  gitIn(clone, "push", "--quiet");
  return gitIn(clone, "rev-parse", "HEAD");
}

async function pushDue(world: LandingWorld) {
  return drain(world.parts, { push: pushAction }, { only: ({ kind }: Action) => kind === "push" });
}

async function eventsOf(world: LandingWorld, prefix: string): Promise<string[]> {
  const log = await world.store.log({ after: 0, limit: 10_000 });
  return log.map(({ type }) => type).filter((type) => type.startsWith(prefix));
}

test("REPO-1: local only by default: no landing fetches or pushes, and the remote's refs stay as they are", async () => {
  const { repo, world, elsewhere, there, network } = await scene(configOf({}));
  pushedElsewhere(elsewhere, "theirs.txt");
  const before = [there(), repo.git("for-each-ref", "refs/remotes")];
  await finished(world, "T1", { "b.txt": "b\n" });
  expect(await land(world, "T1")).toEqual({ kind: "done" });
  await finished(world, "T2", { "c.txt": "c\n" });
  await workOffQueue(world.parts);
  repo.git("branch", "mine", repo.git("commit-tree", "-p", "main", "-m", "Mine", "main^{tree}"));
  await mergeBranch(asPerson(world), "mine");
  expect((await world.node("T2")).status).toBe("done");
  expect(network()).toEqual([]);
  expect([there(), repo.git("for-each-ref", "refs/remotes")]).toEqual(before);
  expect((await pushDue(world)).done).toBe(0);
  await world.close();
});

test("REPO-1: with fetch the target follows the remote before a landing, checkout and all, and nothing is pushed", async () => {
  const { repo, bare, world, elsewhere, there } = await scene(configOf({ remote: "fetch", remoteName: "up" }), "up");
  const theirs = pushedElsewhere(elsewhere, "theirs.txt");
  await finished(world, "T1", { "b.txt": "b\n" });
  expect(await land(world, "T1")).toEqual({ kind: "done" });
  expect(repo.git("rev-parse", "main^1")).toBe(theirs);
  expect(existsSync(join(repo.path, "theirs.txt")) && existsSync(join(repo.path, "b.txt"))).toBe(true);
  expect([repo.git("status", "--porcelain"), there()]).toEqual(["", theirs]);
  expect(existsSync(join(repo.path, ".git/FETCH_HEAD"))).toBe(false);
  expect(await eventsOf(world, "remote.")).toEqual(["remote.followed"]);
  // The landing is ours alone by now; that is no reason not to continue, nor is a branch that the remote has not.
  await finished(world, "T2", { "c.txt": "c\n" });
  expect(await land(world, "T2")).toEqual({ kind: "done" });
  gitIn(bare, "update-ref", "refs/heads/other", "main");
  gitIn(bare, "update-ref", "-d", "refs/heads/main");
  await finished(world, "T3", { "d.txt": "d\n" });
  expect(await land(world, "T3")).toEqual({ kind: "done" });
  await world.close();
});

test("REPO-1: when the two have diverged a person is asked and nothing changes; brought together, it lands", async () => {
  const { repo, world, elsewhere, there } = await scene(configOf({ remote: "fetch" }));
  const theirs = pushedElsewhere(elsewhere, "theirs.txt");
  repo.write({ "ours.txt": "ours\n" });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "-m", "Ours");
  await finished(world, "T1", { "b.txt": "b\n" });
  // The remote-tracking ref is the one thing that a fetch changes.
  repo.git("fetch", "--quiet", "origin");
  const before = snapshot(repo.path, HOME);
  expect(await land(world, "T1")).toEqual({ kind: "asked" });
  expect(snapshot(repo.path, HOME)).toEqual(before);
  expect(there()).toBe(theirs);
  const { open } = await world.store.read({ open: openQuestions() });
  expect(open.map(({ text }) => text)).toEqual([expect.stringContaining("have diverged")]);
  repo.git("merge", "--quiet", "--no-edit", "origin/main");
  expect((await landByHand(world, "T1")).outcome).toBe("done");
  await world.close();
});

test("REPO-1: a remote that cannot be reached, and a checkout in the way of following it, are waited for", async () => {
  const { repo, bare, world, elsewhere } = await scene(configOf({ remote: "fetch" }));
  pushedElsewhere(elsewhere, "a.txt", "theirs\n");
  await finished(world, "T1", { "b.txt": "b\n" });
  const action = { kind: "land", goalId: GOAL, workNodeId: "T1" } as Action<"land">;
  renameSync(bare, `${bare}-away`);
  expect(await landAction(action, world.parts)).toMatchObject({ ok: false, retry: { afterMs: 60_000 } });
  expect((await world.node("T1")).claim?.waiting).toMatchObject({
    for: "remote",
    detail: expect.stringContaining("main cannot be fetched from origin: fatal:"),
  });
  renameSync(`${bare}-away`, bare);
  repo.write({ "a.txt": "mine\n" });
  repo.git("fetch", "--quiet", "origin");
  const before = snapshot(repo.path, HOME);
  expect(await landAction(action, world.parts)).toMatchObject({ ok: false });
  expect(snapshot(repo.path, HOME)).toEqual(before);
  expect((await world.node("T1")).claim?.waiting).toMatchObject({ for: "checkout", files: ["a.txt"] });
  repo.git("checkout", "--quiet", "a.txt");
  expect(await landAction(action, world.parts)).toEqual({ ok: true, result: "done" });
  expect(repo.git("show", "main:a.txt")).toBe("theirs");
  await world.close();
});

test("REPO-1: with push the remote has what landed, one or a batch, by the outbox or by hand; twice does no harm", async () => {
  const { repo, world, there } = await scene(configOf({ remote: "push" }));
  await finished(world, "T1", { "b.txt": "b\n" });
  await finished(world, "T2", { "c.txt": "c\n" });
  await workOffQueue(world.parts);
  expect(there()).not.toBe(repo.git("rev-parse", "main"));
  expect(await pushDue(world)).toMatchObject({ done: 2, failed: 0 });
  expect(there()).toBe(repo.git("rev-parse", "main"));
  expect(repo.git("rev-parse", "origin/main")).toBe(there());
  expect(await eventsOf(world, "remote.")).toEqual(["remote.pushed"]);
  await finished(world, "T3", { "d.txt": "d\n" });
  expect(await landByHand(world, "T3")).toMatchObject({ outcome: "done", detail: null });
  expect(there()).toBe(repo.git("rev-parse", "main"));
  expect(await pushDue(world)).toMatchObject({ done: 1, failed: 0 });
  expect(await eventsOf(world, "remote.")).toEqual(["remote.pushed", "remote.pushed"]);
  await world.close();
});

test("REPO-1: somebody who pushes while the gate runs is merged with and gated; who pushes after the landing keeps theirs, and a person is asked", async () => {
  const dir = tempDir("push-");
  const pushOnce = join(dir, "push-once");
  writeFileSync(pushOnce, "#!/bin/sh\nexit 0\n");
  chmodSync(pushOnce, 0o755);
  const gate = { command: `${pushOnce} && ls`, on: ["land"], timeout: "20s" };
  const { repo, bare, world, elsewhere, there } = await scene(configOf({ remote: "push" }, { checks: { gate } }));
  const quiet = "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE";
  writeFileSync(
    pushOnce,
    `#!/bin/sh\n${quiet}\ntest -f ${dir}/done && exit 0\ntouch ${dir}/done\ncd ${elsewhere} && echo x > theirs.txt && git add -A && git -c user.name=E -c user.email=e@example.invalid commit -qm E && git push -q\n`,
  );
  await finished(world, "T1", { "b.txt": "b\n" });
  expect(await land(world, "T1")).toEqual({ kind: "done" });
  expect(repo.git("ls-files").split("\n")).toEqual(["a.txt", "b.txt", "theirs.txt"]);
  const receipts = (await eventsOf(world, "check.finished")).length;
  expect(receipts).toBe(2);

  const theirs = pushedElsewhere(elsewhere, "later.txt");
  const landed = repo.git("rev-parse", "main");
  expect(await pushDue(world)).toMatchObject({ done: 0, failed: 1 });
  expect([repo.git("rev-parse", "main"), there()]).toEqual([landed, theirs]);
  expect((await world.node("T1")).status).toBe("done");
  expect(await eventsOf(world, "remote.")).toEqual(["remote.followed", "remote.refused"]);
  const { open } = await world.store.read({ open: openQuestions() });
  expect(open.map(({ text }) => text)).toEqual([expect.stringContaining("main could not be pushed to origin")]);
  // A second try asks nobody again; once the two are brought together it goes through, and the question is gone.
  const again = async () => pushAction(actionOf(landed), world.parts);
  expect(await again()).toMatchObject({ ok: false });
  repo.git("merge", "--quiet", "--no-edit", "origin/main");
  expect(await again()).toEqual({ ok: true });
  expect(there()).toBe(repo.git("rev-parse", "main"));
  expect((await world.store.read({ open: openQuestions() })).open).toEqual([]);
  expect(await eventsOf(world, "remote.")).toEqual(["remote.followed", "remote.refused", "remote.pushed"]);
  expect(existsSync(bare)).toBe(true);
  await world.close();
});

function actionOf(commit: string): Action<"push"> {
  return { kind: "push", payload: { target: "main", commit }, decidedAt: 0 } as Action<"push">;
}

test("REPO-1: a remote that refuses for a moment gets it on the next try; one that always does costs no landing", async () => {
  const { repo, bare, world, there } = await scene(configOf({ remote: "push" }));
  const hook = join(bare, "hooks/pre-receive");
  mkdirSync(join(bare, "hooks"), { recursive: true });
  const refuse = (script: string) => {
    writeFileSync(hook, `#!/bin/sh\n${script}\n`);
    chmodSync(hook, 0o755);
  };
  refuse(`test -f ${bare}/seen && exit 0; touch ${bare}/seen; exit 1`);
  await finished(world, "T1", { "b.txt": "b\n" });
  expect(await landByHand(world, "T1")).toMatchObject({ outcome: "done", detail: null });
  expect(there()).toBe(repo.git("rev-parse", "main"));
  refuse("exit 1");
  await finished(world, "T2", { "c.txt": "c\n" });
  const { outcome, detail } = await landByHand(world, "T2");
  expect([outcome, detail]).toEqual(["done", expect.stringContaining("not pushed yet")]);
  expect(repo.git("show", "main:c.txt")).toBe("c");
  rmSync(hook);
  expect(await pushDue(world)).toMatchObject({ failed: 0 });
  expect(there()).toBe(repo.git("rev-parse", "main"));
  expect((await world.store.read({ open: openQuestions() })).open).toEqual([]);
  await world.close();
});
