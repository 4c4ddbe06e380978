/**
 * What a hostile or unlucky world does to a landing, with real git: branches made to run something or to reach outside,
 * conflicts that no file shows, gates that take their worktree apart. Each lands right, or does not land and says why in
 * a clear sentence; what does not land changes nothing of the user's.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { landClaim } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { mergeBranch } from "#control/merge.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { asPerson } from "../support/landing-observations.ts";
import { foundLanding, GOAL, landingWorld, tasks } from "../support/landing-world.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);

const HOME = tempDir("home-");
const FILES = { "a.txt": "a\n".repeat(30), "dir/x.txt": "x\n", "dir/y.txt": "y\n" };

interface Attack {
  readonly what: string;
  /** The agent's; everything in the worktree is then committed. */
  agent(worktree: string, repo: TempRepo): void;
  /** After the report of done, before the landing. */
  meanwhile?(repo: TempRepo, attempt: Attempt): void;
  readonly config?: object;
  /** How it ends, and what is said where it does not land. */
  readonly ends: "done" | readonly [outcome: string, says: RegExp];
  /** What must hold afterwards besides. */
  after?(repo: TempRepo): void;
}

const adds = (worktree: string) => writeFileSync(join(worktree, "n.txt"), "n\n");
const commits = (repo: TempRepo, files: Record<string, string>) => {
  repo.write(files);
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "-m", "The user's");
};
function throwAway(repo: TempRepo, worktree: string, branch: string): void {
  repo.git("worktree", "remove", "--force", worktree);
  repo.git("branch", "-D", branch);
  repo.git("reflog", "expire", "--expire=now", "--all");
  repo.git("gc", "--quiet", "--prune=now");
}
const pwned = join(tempDir("pwned-"), "pwned");
const gate = (...commands: string[]) => ({
  checks: Object.fromEntries(
    commands.map((command, index) => [`g${index}`, { command, on: ["land"], timeout: "20s" }] as const),
  ),
});

const ATTACKS: readonly Attack[] = [
  {
    what: "a link to a file outside, and one in the place of a directory",
    agent(at) {
      rmSync(join(at, "dir"), { recursive: true });
      symlinkSync("/etc", join(at, "dir"));
      symlinkSync("/etc/passwd", join(at, "link"));
    },
    ends: "done",
    after: (repo) => expect(repo.git("ls-tree", "main", "dir", "link").match(/^120000/gm)).toHaveLength(2),
  },
  {
    what: "a merge driver that only the branch names",
    agent(at, repo) {
      repo.git("config", "merge.evil.driver", `touch ${pwned}; cp %B %A`);
      writeFileSync(join(at, ".gitattributes"), "* merge=evil\n");
      writeFileSync(join(at, "dir/x.txt"), "theirs\n");
    },
    meanwhile: (repo) => commits(repo, { "dir/x.txt": "ours\n" }),
    ends: ["returned", /conflicts with main in 1 file/],
    after: () => expect(existsSync(pwned)).toBe(false),
  },
  {
    what: "hooks of the user's that run something and refuse everything",
    agent: adds,
    meanwhile(repo) {
      const hooks = "post-merge reference-transaction pre-merge-commit post-checkout post-index-change";
      for (const hook of hooks.split(" ")) {
        writeFileSync(join(repo.path, ".git/hooks", hook), `#!/bin/sh\ntouch ${pwned}\nexit 1\n`);
        chmodSync(join(repo.path, ".git/hooks", hook), 0o755);
      }
    },
    config: gate("test -f n.txt"),
    ends: "done",
    after(repo) {
      expect(existsSync(pwned)).toBe(false);
      rmSync(join(repo.path, ".git/hooks"), { recursive: true });
    },
  },
  {
    what: "two pointers for one submodule",
    agent(at) {
      mkdirSync(join(at, "lib"));
      gitIn(at, "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},lib`);
    },
    meanwhile(repo) {
      mkdirSync(join(repo.path, "lib"));
      repo.git("update-index", "--add", "--cacheinfo", `160000,${"2".repeat(40)},lib`);
      repo.git("commit", "--quiet", "-m", "Another");
    },
    ends: ["returned", /conflicts with main in 1 file/],
  },
  {
    what: "a directory where the target has a file",
    agent(at) {
      mkdirSync(join(at, "thing"));
      writeFileSync(join(at, "thing/a"), "a\n");
    },
    meanwhile: (repo) => commits(repo, { thing: "a file\n" }),
    ends: ["returned", /conflicts with main in 1 file/],
  },
  {
    what: "a file that both sides renamed",
    agent: (at) => renameSync(join(at, "a.txt"), join(at, "b.txt")),
    meanwhile(repo) {
      repo.git("mv", "a.txt", "c.txt");
      repo.git("commit", "--quiet", "-m", "Another name");
    },
    ends: ["returned", /conflicts with main in 3 files/],
  },
  {
    what: "a directory that was split, with the files in conflict declared as union",
    agent(at) {
      writeFileSync(join(at, "dir/new.txt"), "new\n");
      writeFileSync(join(at, "a.txt"), "theirs\n");
    },
    meanwhile(repo) {
      mkdirSync(join(repo.path, "left"));
      mkdirSync(join(repo.path, "right"));
      repo.git("mv", "dir/x.txt", "left/x.txt");
      repo.git("mv", "dir/y.txt", "right/y.txt");
      commits(repo, { "a.txt": "ours\n" });
    },
    config: { landing: { mode: "auto", unionFiles: ["*.txt"] } },
    ends: ["returned", /conflicts with main in 1 file/],
  },
  {
    what: "names that differ in case only",
    agent(at) {
      renameSync(join(at, "a.txt"), join(at, "A.txt"));
      writeFileSync(join(at, "dir/X.txt"), "X\n");
    },
    ends: "done",
  },
  {
    what: "a branch that was deleted with its worktree",
    agent: adds,
    meanwhile(repo, { worktree, branch }) {
      repo.git("worktree", "remove", "--force", worktree);
      repo.git("branch", "-D", branch);
    },
    ends: "done",
  },
  {
    what: "a branch that was deleted and thrown away for good, as far as others can",
    agent: adds,
    meanwhile(repo, { worktree, branch }) {
      throwAway(repo, worktree, branch);
    },
    ends: "done",
  },
  {
    what: "a branch that was deleted and thrown away for good, also where we keep it",
    agent: adds,
    meanwhile(repo, { worktree, branch }) {
      for (const ref of repo.git("for-each-ref", "--format=%(refname)", "refs/overseer").split("\n").filter(Boolean)) {
        repo.git("update-ref", "-d", ref);
      }
      throwAway(repo, worktree, branch);
    },
    ends: ["returned", /the commit \w+ that was reported is not in the repository any more/],
  },
  {
    what: "a gate that removes the worktree it runs in, and a second one that needs it",
    agent: adds,
    config: gate('rm -rf "$PWD"', "test -f n.txt"),
    ends: "done",
  },
  {
    what: "a gate that removes the worktree and fails, where the target passes",
    agent: adds,
    config: gate('test ! -f n.txt || { rm -rf "$PWD"; exit 1; }'),
    ends: ["returned", /the check g0 on the merged tree: exit 1/],
  },
  {
    what: "a gate that takes the worktree's git away, writes, commits, nests a repository and locks its files",
    agent: adds,
    config: gate(
      "echo x > junk; echo y > a.txt; git add -A; git -c user.name=x -c user.email=x commit -qm x; git init -q nest",
      "test ! -e junk && test ! -e nest && grep -q a a.txt && mkdir -p ro/x && touch ro/x/y && chmod -R 0 ro && rm .git",
      "test ! -e ro && test -f n.txt && git rev-parse HEAD",
    ),
    ends: "done",
    after: (repo) => expect(repo.git("ls-tree", "--name-only", "main")).not.toContain("junk"),
  },
];

test.each(ATTACKS.map((one) => [one.what, one] as const))("MERGE-3: %s", async (_what, attack) => {
  const repo = tempRepo({ files: FILES });
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path, { config: { landing: { mode: "auto" }, ...attack.config } });
  const attempt = await world.attempt("T1");
  attack.agent(attempt.worktree, repo);
  world.commit(attempt, {});
  await world.report(attempt);
  attack.meanwhile?.(repo, attempt);
  const before = snapshot(repo.path, HOME);
  const tip = repo.git("rev-parse", "main");
  const outcome = await landClaim(world.parts, { goalId: GOAL, nodeId: "T1" });
  attack.after?.(repo);
  if (attack.ends === "done") {
    expect(outcome).toEqual({ kind: "done" });
    expect(repo.git("rev-parse", "main^1")).toBe(tip);
    expect(repo.git("status", "--porcelain")).toBe("");
  } else {
    const [kind, says] = attack.ends;
    expect(outcome).toMatchObject({ kind });
    expect(snapshot(repo.path, HOME)).toEqual(before);
    const log = await world.store.log({ after: 0, limit: 1000 });
    const said = log.flatMap((event) => (event.type === "landing.refused" ? [event.data.detail] : []));
    expect(said.join("\n")).toMatch(says);
  }
  await world.close();
});

/** What the user does in their checkout while the gate runs, and who of a batch of two has to wait for them. */
const DURING_THE_GATE: [what: string, command: string, waits: string[], status: string][] = [
  ["edits a file that a branch edits", "echo mine > a.txt", ["T1"], " M a.txt"],
  ["writes a file that a branch adds", "echo mine > T2.txt", ["T2"], "?? T2.txt"],
  ["stages something", "echo mine > staged.txt && git add staged.txt", [], "A  staged.txt"],
  ["goes to another branch", "git checkout --quiet -b elsewhere", [], ""],
  ["takes a commit back", "git reset --quiet --hard HEAD~1", [], ""],
  ["commits", "git -c user.name=U -c user.email=u@example.invalid commit --quiet --allow-empty -m Mine", [], ""],
];
test.each(DURING_THE_GATE)("MERGE-3: a user that %s while the gate runs", async (_what, command, waits, status) => {
  const repo = tempRepo({ files: FILES });
  await foundLanding(repo.path, tasks(2));
  const once = `test -e .git/once || { touch .git/once && ${command}; }`;
  const config = { landing: { mode: "auto" }, repo: { targetBranch: "main" }, ...gate(`cd ${repo.path} && ${once}`) };
  const world = await landingWorld(repo.path, { config });
  for (const id of ["T1", "T2"]) {
    const attempt = await world.attempt(id);
    world.commit(attempt, { [`${id}.txt`]: `${id}\n`, ...(id === "T1" ? { "a.txt": "better\n" } : {}) });
    await world.report(attempt);
  }
  commits(repo, { "u.txt": "u\n" });
  await workOffQueue(world.parts);
  expect(repo.git("status", "--porcelain")).toBe(status);
  expect(repo.git("ls-tree", "--name-only", "main", "u.txt")).toBe(command.includes("reset") ? "" : "u.txt");
  const atHome = repo.git("symbolic-ref", "HEAD") === "refs/heads/main";
  for (const id of ["T1", "T2"]) {
    const { status: ended, claim } = await world.node(id);
    const waiting = waits.includes(id);
    expect([id, ended]).toEqual([id, waiting ? "in_progress" : "done"]);
    expect(repo.git("ls-tree", "--name-only", "main", `${id}.txt`)).toBe(waiting ? "" : `${id}.txt`);
    if (waiting) expect(claim?.waiting?.detail).toMatch(/uncommitted changes|would be overwritten/);
    // Somebody who went elsewhere does not havehing of it in their files.
    else expect(existsSync(join(repo.path, `${id}.txt`))).toBe(atHome);
  }
  await world.close();
});

const NAMES = ["a'b", 'q"q', "$(id)", "-x", "--upload-pack=x", "a;b", "`id`", "@", "HEAD", "refs/heads/main", "größe☃"];
test("REV-1: branches with odd names land as what they are, and what is no branch is refused", async () => {
  const repo = tempRepo({ files: FILES });
  await foundLanding(repo.path, tasks(1));
  const world = await landingWorld(repo.path, { config: { repo: { targetBranch: "main" } } });
  const ada = asPerson(world);
  for (const [index, name] of NAMES.entries()) {
    const blob = Bun.spawnSync(["git", "hash-object", "-w", "--stdin"], {
      cwd: repo.path,
      stdin: new TextEncoder().encode(name),
    });
    repo.git("checkout", "--quiet", "--detach", "main");
    repo.git("update-index", "--add", "--cacheinfo", `100644,${blob.stdout.toString().trim()},f${index}`);
    repo.git("commit", "--quiet", "-m", "Odd");
    repo.git("update-ref", `refs/heads/${name}`, "HEAD");
    repo.git("checkout", "--quiet", "--force", "main");
    expect([name, await mergeBranch(ada, name)]).toMatchObject([name, { outcome: "done" }]);
    expect(repo.git("show", `main:f${index}`)).toBe(name);
    expect(repo.git("log", "-1", "--format=%s", "main")).toBe(`Merge ${name}`);
  }
  repo.git("checkout", "--quiet", "--detach");
  for (const name of ["../../HEAD", "main^", "", "a\nb", "origin/../main"]) {
    await expect(mergeBranch(ada, name)).rejects.toMatchObject({ code: "BRANCH_MISSING" });
  }
  expect(readFileSync(join(repo.path, "f0"), "utf8")).toBe(NAMES[0] ?? "");
  await world.close();
});
