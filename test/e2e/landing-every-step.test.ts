/**
 * Three fixed histories, and for each of them a machine that dies before a change it would make to the world, each of them
 * in the long lane and every few here:
 * objects, refs, worktrees, files, commits of the store. After each death the user's checkout is whole; then another
 * process continues from what is on disk, and the story ends as if nothing had happened.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { workOffQueue } from "#act/landing/queue.ts";
import { pushAction } from "#act/landing/remote.ts";
import type { Action } from "#domain/model/action.ts";
import { drain } from "#engine/outbox.ts";
import { listQueuedMerges } from "#store/merges.ts";
import { mortal, untilDeath } from "../support/dying-ports.ts";
import { foundLanding, type LandingWorld, landingWorld, tasks } from "../support/landing-world.ts";
import { restoreTree } from "../support/restore-tree.ts";
import { spread } from "../support/scale.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(600_000);

const GATE = { gate: { command: "! ls bad-* 2>/dev/null", on: ["land"], timeout: "60s" } };
const BAD = "bad-2.txt";
const LINES = Array.from({ length: 9 }, (_, line) => `line ${line}`);
const withLine = (at: number, text: string) => `${LINES.map((line, n) => (n === at ? text : line)).join("\n")}\n`;

interface Story {
  readonly name: string;
  readonly config: object;
  /** Agents' work, then what the user does; returns the directory of a remote, if there is one. */
  prepare(world: LandingWorld, repo: TempRepo): Promise<string | undefined>;
  /** How the nodes end, in order. */
  readonly ends: readonly string[];
}

async function finished(world: LandingWorld, id: string, work: (worktree: string) => void): Promise<string> {
  const attempt = await world.attempt(id);
  work(attempt.worktree);
  world.commit(attempt, {});
  await world.report(attempt);
  return attempt.branch;
}

const writing = (files: Readonly<Record<string, string | Uint8Array>>) => (dir: string) => {
  for (const name of Object.keys(files)) mkdirSync(dirname(join(dir, name)), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
};

const STORIES: readonly Story[] = [
  {
    name: "a batch with a bad branch and a conflict, merged into the checkout",
    config: { landing: { mode: "auto", tiers: { mechanical: false } }, checks: GATE },
    ends: ["done", "in_progress", "in_progress"],
    async prepare(world, repo) {
      await finished(world, "T1", (dir) => {
        gitIn(dir, "mv", "a.txt", "größe ☃.txt");
        chmodSync(join(dir, "run.sh"), 0o755);
        writing({ "bin.dat": new Uint8Array([0, 255, 1]) })(dir);
      });
      await finished(world, "T2", writing({ [BAD]: "bad\n", "b.txt": "edited by a bad one\n" }));
      await finished(world, "T3", writing({ "shared.txt": withLine(4, "by three") }));
      repo.write({ "shared.txt": withLine(4, "by the user") });
      repo.git("commit", "--quiet", "-am", "Meanwhile");
      repo.write({ "b.txt": "stashed\n" });
      repo.git("stash", "--quiet");
      return undefined;
    },
  },
  {
    name: "squashed branches, one on top of another, with a submodule, CRLF and an empty commit",
    config: { landing: { mode: "auto", strategy: "squash", batch: 1 } },
    ends: ["done", "done"],
    async prepare(world, repo) {
      const first = await finished(world, "T1", (dir) => {
        writing({ "shared.txt": withLine(4, "first").replaceAll("\n", "\r\n") })(dir);
        mkdirSync(join(dir, "lib"));
        gitIn(dir, "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},lib`);
      });
      await finished(world, "T2", (dir) => {
        gitIn(dir, "merge", "--quiet", first);
        gitIn(dir, "commit", "--quiet", "--allow-empty", "-m", "Nothing");
        writing({ "shared.txt": withLine(4, "second").replaceAll("\n", "\r\n") })(dir);
      });
      repo.write({ "meanwhile.txt": "m\n" });
      repo.git("add", "--all");
      repo.git("commit", "--quiet", "-m", "Meanwhile");
      return undefined;
    },
  },
  {
    name: "a target that is checked out nowhere, behind its remote, and pushed",
    config: { landing: { mode: "auto" }, repo: { targetBranch: "main", remote: "push" } },
    ends: ["done", "done"],
    async prepare(world, repo) {
      const bare = join(tempDir("bare-"), "r.git");
      gitIn(repo.path, "clone", "--quiet", "--bare", repo.path, bare);
      repo.git("remote", "add", "origin", bare);
      const theirs = gitIn(bare, "commit-tree", "-p", "main", "-m", "Theirs", "main^{tree}");
      gitIn(bare, "update-ref", "refs/heads/main", theirs);
      await finished(world, "T1", writing({ "new/one.txt": "1\n" }));
      await finished(world, "T2", (dir) => gitIn(dir, "rm", "--quiet", "b.txt"));
      repo.git("checkout", "--quiet", "-b", "elsewhere");
      repo.write({ "a.txt": "in the middle of something\n" });
      repo.git("add", "a.txt");
      return bare;
    },
  },
];

const FIRST = {
  "a.txt": "a\n".repeat(20),
  "b.txt": "b\n",
  "run.sh": "#!/bin/sh\n",
  "shared.txt": withLine(4, "line 4"),
};
const isPush = ({ kind }: Action) => kind === "push";

/** Works off the queue, then what is to be pushed: after a death, once the lease of the dead has lapsed. */
async function goOn(world: LandingWorld, laterMs = 0): Promise<void> {
  await workOffQueue(world.parts);
  const clock = { ...world.parts.clock, now: () => world.parts.clock.now() + laterMs };
  await drain({ ...world.parts, clock }, { push: pushAction }, { only: isPush, parallel: 1 });
}

/** How many deaths of each story an ordinary run tells. */
const PLACES = 12;
const LAPSED_MS = 24 * 3_600_000;

/** The user's own: files that git does not know, the stash, what is staged and what is changed, with its content. */
function theirs(repo: TempRepo): unknown {
  const stash = join(repo.path, ".git/refs/stash");
  return [
    readFileSync(join(repo.path, "mine.txt"), "utf8"),
    existsSync(stash) ? readFileSync(stash, "utf8") : "none",
    readFileSync(join(repo.path, ".git/HEAD"), "utf8"),
    repo.git("status", "--porcelain=v2"),
  ];
}

/** What is left of a story, without ids and times. */
async function ending(world: LandingWorld, repo: TempRepo, story: Story, bare: string | undefined) {
  const log = await world.store.log({ after: 0, limit: 10_000 });
  const ids = story.ends.map((_, index) => `T${index + 1}`);
  const landed = log.filter(({ type }) => type === "landing.landed").map(({ nodeId }) => nodeId);
  return {
    nodes: await Promise.all(ids.map(async (id) => (await world.node(id)).status)),
    landed: landed.sort(),
    done: log.filter(({ type }) => type === "work.done").length,
    left: (await world.store.read({ left: listQueuedMerges() })).left,
    history: repo.git("log", "--first-parent", "--format=%T %s", "main"),
    theirs: theirs(repo),
    pushed: bare === undefined || gitIn(bare, "rev-parse", "main") === repo.git("rev-parse", "main"),
    unfinished: repo.git("worktree", "list", "--porcelain").match(/locked|prunable/g),
  };
}

const copies: string[] = [];
afterAll(() => {
  for (const path of copies) rmSync(path, { recursive: true, force: true });
});

test.each(STORIES)(
  "MERGE-3: $name: dead before any change of the world, and continued, it ends the same",
  async (story) => {
    const repo = tempRepo({ files: FIRST });
    await foundLanding(repo.path, tasks(story.ends.length));
    const first = await landingWorld(repo.path, { config: story.config });
    const bare = await story.prepare(first, repo);
    await first.close();
    repo.write({ "mine.txt": "mine\n" });
    const commits = repo.git("rev-list", "--all").split("\n");
    const before = theirs(repo);
    const places = [repo.path, ...(bare === undefined ? [] : [bare])];
    for (const place of places) cpSync(place, `${place}-kept`, { recursive: true, preserveTimestamps: true });
    copies.push(...places.map((place) => `${place}-kept`));
    const start = repo.git("rev-parse", "main");

    const whole = mortal();
    const undisturbed = await landingWorld(repo.path, { config: story.config, wrap: whole.wrap });
    await goOn(undisturbed);
    const expected = await ending(undisturbed, repo, story, bare);
    expect(expected).toMatchObject({ nodes: story.ends, left: [], pushed: true, unfinished: null, theirs: before });
    await undisturbed.store.close();

    for (const at of spread(whole.calls.length, PLACES, story.name.length)) {
      for (const place of places) restoreTree(`${place}-kept`, place);
      const call = `${at} ${whole.calls[at - 1]}`;
      const dying = await landingWorld(repo.path, { config: story.config, wrap: mortal(at).wrap });
      await untilDeath(() => goOn(dying));
      await dying.store.close();
      expect([call, theirs(repo)]).toEqual([call, before]);
      const next = await landingWorld(repo.path, { config: story.config });
      await goOn(next, LAPSED_MS);
      expect({ call, ...(await ending(next, repo, story, bare)) }).toEqual({ call, ...expected });
      await next.store.close();
      const been = repo.git("reflog", "show", "--format=%H", "main").split("\n");
      const bad = been.slice(0, been.indexOf(start)).map((commit) => `${commit}:${BAD}\n`);
      const asked = Bun.spawnSync(["git", "cat-file", "--batch-check"], {
        cwd: repo.path,
        stdin: new TextEncoder().encode(bad.join("")),
      });
      const found = asked.stdout
        .toString()
        .split("\n")
        .filter((line) => line !== "" && !line.endsWith(" missing"));
      expect([call, found]).toEqual([call, []]);
      const reachable = new Set(repo.git("rev-list", "--all").split("\n"));
      expect([call, commits.filter((commit) => !reachable.has(commit))]).toEqual([call, []]);
    }
  },
);
