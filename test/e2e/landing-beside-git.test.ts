/**
 * A landing and a git of the user's in the same checkout, at the same time: the user's git begins at one of our steps, and
 * stands still between reading the index and locking it until we are done. Git itself does not read and lock in one, so
 * it may write an index from before the landing over the new one; plain git does that to itself, which is shown first.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { LandedLately } from "#act/landing/landed-lately.ts";
import { mendIndexes } from "#git/stale-index.ts";
import { systemClock } from "#sys/clock.ts";
import { realGitTools, testEnvironment } from "../support/git-tools.ts";
import { foundLanding, GOAL, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { isLongLane, spread } from "../support/scale.ts";
import { type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(600_000);

const CONFIG = { landing: { mode: "auto" }, repo: { targetBranch: "main" } };
const PLACE = { goalId: GOAL, nodeId: "T1" };
const FIRST = { "both.txt": "before\n", "gone.txt": "gone\n", "mine.txt": "theirs\n", "other.txt": "other\n" };

/** What the user types with `mine.txt` changed and staged; the same again where git has refused. */
const TYPED = {
  "git commit": ["commit", "--quiet", "-m", "Mine"],
  "git commit -a": ["commit", "--quiet", "-a", "-m", "Mine"],
  "git commit <path>": ["commit", "--quiet", "-m", "Mine", "--", "mine.txt"],
  "git stash": ["stash", "push", "--quiet"],
} as const;
type Typed = keyof typeof TYPED;

function written(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await systemClock().sleep(5);
}

/**
 * Where the user's git stands still: once it has read the index and before it locks it (it asks who watches the files), or
 * when the user's own hook or editor runs.
 */
type Stand = "monitor" | "pre-commit" | "editor";

function slowGit(repo: TempRepo, words: readonly string[], stand: Stand = "monitor") {
  const place = tempDir("slow-");
  // Ends with its directory too, so that a test that is broken off leaves nobody waiting.
  const wait = `#!/bin/sh\n: > '${place}/paused'; while [ -d '${place}' ] && [ ! -e '${place}/go' ]; do sleep 0.02; done`;
  const program = written(join(place, stand), `${wait}\n${stand === "monitor" ? "exit 1" : "exit 0"}\n`);
  const SETTING: Readonly<Record<Stand, string>> = {
    monitor: `core.fsmonitor=${program}`,
    "pre-commit": `core.hooksPath=${place}`,
    editor: `core.editor=${program}`,
  };
  const more = stand === "editor" ? ["--edit"] : [];
  const [verb = "", ...rest] = words;
  const child = Bun.spawn(["git", "-c", SETTING[stand], verb, ...more, ...rest], {
    cwd: repo.path,
    env: { ...testEnvironment(), GIT_TEST_PRELOAD_INDEX: "1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  return {
    paused: () => until(() => existsSync(join(place, "paused")) || child.exitCode !== null),
    go: async () => {
      writeFileSync(join(place, "go"), "");
      return { code: await child.exited, said: await new Response(child.stderr).text() };
    },
  };
}

function changeMine(repo: TempRepo): void {
  repo.write({ "mine.txt": "mine\n" });
  repo.git("add", "mine.txt");
}

test("MERGE-4: plain git has this race with itself: what a fast-forward brought is staged as removed afterwards", async () => {
  const repo = tempRepo({ files: FIRST });
  repo.git("checkout", "--quiet", "-b", "topic");
  repo.write({ "landed.txt": "landed\n" });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "-m", "Topic");
  repo.git("checkout", "--quiet", "main");
  changeMine(repo);
  const user = slowGit(repo, TYPED["git commit"]);
  await user.paused();
  repo.git("merge", "--quiet", "--ff-only", "topic");
  const { code, said } = await user.go();
  expect([code, said]).toEqual([128, expect.stringContaining("cannot lock ref 'HEAD'")]);
  expect(repo.git("diff", "--cached", "--name-status")).toBe("D\tlanded.txt\nM\tmine.txt");
  repo.git("commit", "--quiet", "-m", "Mine, again");
  expect(repo.git("ls-tree", "--name-only", "main")).not.toContain("landed.txt");
});

test("MERGE-4: plain git has it with a stash too: what a fast-forward removed is in the stash and comes back", async () => {
  const repo = tempRepo({ files: FIRST });
  repo.git("checkout", "--quiet", "-b", "topic");
  repo.git("rm", "--quiet", "gone.txt");
  repo.git("commit", "--quiet", "-m", "Topic");
  repo.git("checkout", "--quiet", "main");
  changeMine(repo);
  const user = slowGit(repo, TYPED["git stash"]);
  await user.paused();
  repo.git("merge", "--quiet", "--ff-only", "topic");
  expect((await user.go()).code).toBe(0);
  repo.git("stash", "pop", "--quiet");
  expect(existsSync(join(repo.path, "gone.txt"))).toBe(true);
});

/** Our steps: calls that change something, by number, and the programs that git's last hook runs. */
type At = number | "mv" | "rm";

interface Ports {
  readonly wrap: <T extends object>(port: string, real: T) => T;
  readonly calls: string[];
}

/** Stops before the n-th call of a port. */
function stopping(at: At | undefined, arrive: () => Promise<void>): Ports {
  const calls: string[] = [];
  const counts = (port: string, key: string) =>
    port === "exec" || (port === "files" && !/^(read|facts|list)$/.test(key));
  const wrap = <T extends object>(port: string, real: T): T =>
    new Proxy(real, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function" || !counts(port, String(key))) return value;
        return async (...args: unknown[]) => {
          calls.push(`${port}.${String(key)} ${String(args[0])}`);
          if (calls.length === at) await arrive();
          return Reflect.apply(value, target, args);
        };
      },
    });
  return { wrap, calls };
}

/** Stops before a program that the hook runs: `mv` puts the index, `rm` releases its lock. */
async function inHook(at: "mv" | "rm", place: string, arrive: () => Promise<void>, ended: () => boolean) {
  await until(() => existsSync(join(place, "there")) || ended());
  if (!ended()) await arrive();
  writeFileSync(join(place, at), "");
}

function pathWith(at: At | undefined, place: string): string {
  const path = testEnvironment().PATH ?? "";
  if (at !== "mv" && at !== "rm") return path;
  const real = Bun.which(at, { PATH: path });
  const wait = `: > '${place}/there'; while [ ! -e '${place}/${at}' ]; do sleep 0.02; done`;
  const bin = tempDir("bin-");
  written(join(bin, at), `#!/bin/sh\n${wait}\nexec '${real}' "$@"\n`);
  return `${bin}:${path}`;
}

async function claimed(repo: TempRepo): Promise<void> {
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path, { config: CONFIG });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "landed.txt": "landed\n", "both.txt": "after\n", "gone.txt": null });
  await world.report(attempt);
  await world.close();
  changeMine(repo);
}

async function landOnce(world: LandingWorld): Promise<string> {
  return (await landClaim(world.parts, PLACE)).kind;
}

/** The user's git begins before our step `at`, and ends after the landing. */
async function interleave(typed: Typed, at: At | undefined, stand?: Stand): Promise<{ calls: readonly string[] }> {
  const repo = tempRepo({ files: FIRST });
  await claimed(repo);
  const place = tempDir("hook-");
  let user: ReturnType<typeof slowGit> | undefined;
  const arrive = async () => {
    user = slowGit(repo, TYPED[typed], stand);
    await user.paused();
  };
  const ports = stopping(at, arrive);
  const world = await landingWorld(repo.path, { config: CONFIG, wrap: ports.wrap, env: { PATH: pathWith(at, place) } });
  if (at === 0) await arrive();
  const watch = new LandedLately();
  let isOver = false;
  const hook = at === "mv" || at === "rm" ? inHook(at, place, arrive, () => isOver) : undefined;
  const kind = await landOnce(world);
  isOver = true;
  await hook;
  const first = await user?.go();
  // What the daemon does within a second of it.
  await watch.look(world.parts);
  rmSync(join(repo.path, ".git/index.lock"), { force: true });
  if (kind !== "done") expect(await landOnce(world)).toBe("done");
  await watch.look(world.parts);
  if (first && first.code !== 0) repo.git(...TYPED[typed]);
  if (first && typed === "git stash") {
    expect(repo.git("status", "--porcelain")).toBe("");
    repo.git("stash", "pop", "--quiet");
    repo.git("commit", "--quiet", "--all", "-m", "Mine");
  }
  await watch.look(world.parts);
  const undone = (await world.store.log({ after: 0, limit: 1_000 })).flatMap((event) =>
    event.type === "landing.undone" ? event.data.files : [],
  );
  const seen = {
    target: ["landed.txt", "both.txt"].map((path) => repo.git("show", `main:${path}`)),
    // A stash of an index from before the landing has the removed file in it, as in plain git; then people are told.
    gone: repo.git("ls-tree", "--name-only", "main").includes("gone.txt") ? undone : ["gone.txt"],
    mine: repo.git("show", "main:mine.txt"),
    left: repo.git("status", "--porcelain"),
  };
  const asItShould = {
    target: ["landed", "after"],
    gone: ["gone.txt"],
    mine: first ? "mine" : "theirs",
    left: first ? "" : "M  mine.txt",
  };
  expect({
    typed,
    at,
    step: typeof at === "number" ? ports.calls[at - 1] : at,
    said: first?.said,
    ...seen,
  }).toMatchObject(asItShould);
  await world.close();
  return { calls: ports.calls };
}

test.each(Object.keys(TYPED) as Typed[])(
  "MERGE-4: %s beside a landing, begun at any of its steps, takes out nothing that has landed and loses nothing",
  async (typed) => {
    const { calls } = await interleave(typed, undefined);
    expect(calls.length).toBeGreaterThan(20);
    for (const at of ["mv", "rm", 0, ...spread(calls.length, isLongLane() ? calls.length : 3, typed.length)] as At[])
      await interleave(typed, at);
  },
);

test.each(
  (["git commit", "git commit -a", "git commit <path>"] as const).flatMap((typed) =>
    (["pre-commit", "editor"] as const).map((stand) => [typed, stand] as const),
  ),
)("MERGE-4: %s that waits in its %s while work lands takes out nothing and loses nothing", async (typed, stand) => {
  expect((await interleave(typed, 0, stand)).calls.length).toBeGreaterThan(5);
});

test("MERGE-4: whoever stages a landing as taken out finds it put right once, and never again", async () => {
  const repo = tempRepo({ files: FIRST });
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path, { config: CONFIG });
  const attempt = await world.attempt("T1");
  world.commit(attempt, { "landed.txt": "landed\n" });
  await world.report(attempt);
  expect(await landClaim(world.parts, PLACE)).toEqual({ kind: "done" });
  for (const [told, staged] of [
    [1, ""],
    [0, "D  landed.txt\n?? landed.txt"],
    [0, "D  landed.txt\n?? landed.txt"],
  ] as const) {
    if (!repo.git("status", "--porcelain").startsWith("D")) repo.git("rm", "--quiet", "--cached", "landed.txt");
    // A daemon that was started again remembers it too.
    expect(await new LandedLately().look(world.parts)).toHaveLength(told);
    expect(repo.git("status", "--porcelain")).toBe(staged);
  }
  await world.close();
});

test("MERGE-4: an older version of a submodule that the user stages stays staged; one that git brought back does not", async () => {
  const repo = tempRepo({ files: { "a.txt": "a\n" } });
  const inner = tempRepo({ at: join(repo.path, "sub"), files: { "s.txt": "1\n" } });
  const before = inner.git("rev-parse", "HEAD");
  repo.git("add", "sub");
  repo.git("commit", "--quiet", "--message", "With a submodule");
  const from = repo.git("rev-parse", "HEAD");
  inner.write({ "s.txt": "2\n" });
  inner.git("commit", "--quiet", "--all", "--message", "Second");
  repo.git("add", "sub");
  repo.git("commit", "--quiet", "--message", "Bump");
  const move = { branch: "main", from, to: repo.git("rev-parse", "HEAD") };
  const mend = () => mendIndexes(realGitTools(), join(repo.path, ".git"), move);
  repo.git("update-index", "--cacheinfo", `160000,${before},sub`);
  expect(await mend()).toEqual(["sub"]);
  inner.git("checkout", "--quiet", before);
  repo.git("add", "sub");
  expect(await mend()).toEqual([]);
  expect(repo.git("diff", "--cached", "--name-only")).toBe("sub");
  rmSync(join(repo.path, "sub"), { recursive: true });
  expect(await mend()).toEqual([]);
});
