/**
 * CLEAN-1 and VALID-11: a fleet that works, stops and is taken away leaves the person's checkout, index, stash, refs,
 * settings and HOME as they were, byte for byte, in whatever kind of repository; and an agent sees of the person's
 * environment only what is on the list.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { bundled, overseer, overseerOk } from "../support/cli.ts";
import { leftovers } from "../support/leftovers.ts";
import { UNHURRIED, worldAt } from "../support/real-world.ts";
import { snapshot } from "../support/snapshot.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

beforeAll(bundled);

function scripted(...steps: object[]): string[] {
  return ["--prompt", `Play this. @@SCRIPT${JSON.stringify(steps)}@@END`];
}

async function fleetIn(path: string, config = UNHURRIED): Promise<void> {
  await overseerOk(path, "init");
  appendFileSync(join(path, ".overseer/config.yaml"), config);
}

/** Looks again and again, gently, until it is so. */
async function until(what: string, so: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await Bun.sleep(50)) if (await so()) return;
  throw new Error(`never: ${what}`);
}

async function idle(path: string, name: string): Promise<void> {
  await until(`${name} has done its turn`, async () => {
    const shown = JSON.parse(await overseerOk(path, "agents", "show", name, "--json")) as {
      current: { seen: string; pulse: { turns: number } | null } | null;
    };
    return shown.current === null || (shown.current.seen === "idle" && (shown.current.pulse?.turns ?? 0) > 0);
  });
}

const WORK = [
  { edit: { file: "new.txt", content: "committed\n" } },
  { commit: "Add new.txt" },
  { edit: { file: "later.txt", content: "not committed\n" } },
];

describe("what is the person's", () => {
  test("CLEAN-1: is byte-equal before and after sling, work, stop and nuke --all", async () => {
    const repo = tempRepo({ files: { "a.txt": "a\n", "b.txt": "b\n", "c.bin": "\0\r\n" } });
    const { path } = repo;
    repo.write({ "a.txt": "stashed\n" });
    repo.git("stash", "push", "--quiet");
    repo.write({ "a.txt": "staged\r\n" });
    repo.git("add", "a.txt");
    repo.write({ "b.txt": "changed\n", "untracked/x y.txt": "mine\n", "a.txt": "staged, then changed\r\n" });
    repo.git("branch", "mine");
    repo.git("tag", "v1");
    repo.git("config", "core.autocrlf", "true");
    const home = homedir();
    mkdirSync(join(home, ".claude"), { recursive: true });
    writeFileSync(join(home, ".claude/settings.json"), "{}");
    writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Mine\n");
    await fleetIn(path);
    const before = snapshot(path, home);
    expect(Object.keys(before)).toContain("home/.claude/settings.json");
    expect(Object.keys(before)).toContain("repo/.git/index");
    expect(before.refs).toContain("refs/stash");

    await overseerOk(path, "sling", ...scripted(...WORK), "--name", "one");
    await overseerOk(path, "sling", ...scripted({ run: "git status; git stash list" }), "--name", "two");
    await idle(path, "one");
    await idle(path, "two");
    expect(snapshot(path, home)).toEqual(before);
    expect(await overseerOk(path, "stop", "one")).toContain("uncommitted work is kept in refs/overseer/wip/");
    await overseerOk(path, "worktree", "list");
    await overseerOk(path, "status");
    await overseerOk(path, "agents", "list", "--all");
    expect(snapshot(path, home)).toEqual(before);
    await overseerOk(path, "nuke", "one");
    await overseerOk(path, "nuke", "--all");
    expect(snapshot(path, home)).toEqual(before);
    expect(await leftovers(await worldAt(path))).toEqual([]);
  }, 120_000);
});

describe("the agent's environment", () => {
  const plant = { SECRET_TOKEN: "swordfish-planted", NPM_TOKEN: "passed-on-purpose" };

  test("CLEAN-1: has what is on the list, what passEnv names, our marks, and nothing else", async () => {
    const { path } = tempRepo();
    await fleetIn(path, UNHURRIED.replace("agents: {", "agents: {passEnv: [NPM_TOKEN], "));
    Object.assign(process.env, plant);
    try {
      await overseerOk(path, "sling", ...scripted({ run: "env > env.txt" }), "--name", "looker");
    } finally {
      delete process.env.SECRET_TOKEN;
      delete process.env.NPM_TOKEN;
    }
    const seen = join(path, ".overseer/worktrees/looker-1/env.txt");
    await idle(path, "looker");
    const env = Object.fromEntries(
      readFileSync(seen, "utf8")
        .split("\n")
        .flatMap((line) =>
          line.includes("=") ? [[line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]] : [],
        ),
    ) as Record<string, string>;
    expect(env).toMatchObject({ NPM_TOKEN: plant.NPM_TOKEN, OVERSEER_AGENT: "looker", OVERSEER_ATTEMPT: "1" });
    const allowed =
      /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TERM|TZ|TMPDIR|XDG_RUNTIME_DIR|SSH_AUTH_SOCK|IS_SANDBOX|NO_COLOR|PWD|OLDPWD|SHLVL|_|NPM_TOKEN|LC_\w+|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL)|GIT_TERMINAL_PROMPT|GIT_CEILING_DIRECTORIES|GIT_CONFIG_(GLOBAL|NOSYSTEM|COUNT|KEY_\d|VALUE_\d)|OVERSEER_(ROOT|AGENT|ATTEMPT|ROLE|TOKEN|SOCKET|MARK|TEST|SCRIPT_SPEED|SCRIPTED_HOME))$/;
    expect(Object.keys(env).filter((name) => !allowed.test(name))).toEqual([]);
    const launch = readFileSync(join(path, ".git/overseer/run/attempts/1/launch.json"), "utf8");
    expect(launch).not.toContain("swordfish");
    expect(JSON.parse(launch)).toMatchObject({ env: { NPM_TOKEN: plant.NPM_TOKEN } });
    await overseerOk(path, "nuke", "--all");
  }, 120_000);
});

describe("any repository", () => {
  const shapes: readonly [string, () => string, string][] = [
    [
      "with blanks and unicode in its path",
      () => {
        const { path } = tempRepo();
        const place = join(tempDir("über dir-"), "ein Projekt — 日本 'x' $HOME");
        renameSync(path, place);
        return place;
      },
      "main",
    ],
    [
      "with sha256",
      () => {
        const path = tempDir("sha-");
        gitIn(path, "init", "--quiet", "--initial-branch", "main", "--object-format=sha256");
        writeFileSync(join(path, "a.txt"), "a\n");
        gitIn(path, "add", "--all");
        gitIn(path, "commit", "--quiet", "--message", "First");
        return path;
      },
      "main",
    ],
    [
      "with a submodule",
      () => {
        const [inner, outer] = [tempRepo(), tempRepo()];
        gitIn(outer.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "lib");
        outer.git("commit", "--quiet", "--message", "Add lib");
        return outer.path;
      },
      "main",
    ],
    ["whose default branch has another name", () => tempRepo({ branch: "trunk/dev" }).path, "trunk/dev"],
  ];

  test.each(shapes)(
    "VALID-11: %s: sling, commit, stop, nuke",
    async (_shape, make, branch) => {
      const path = make();
      await fleetIn(path);
      const before = snapshot(path, homedir());
      const slung = JSON.parse(await overseerOk(path, "sling", ...scripted(...WORK), "--name", "b", "--json")) as {
        branch: string;
        base: string;
      };
      expect(slung.base).toBe(gitIn(path, "rev-parse", branch));
      await idle(path, "b");
      expect(gitIn(path, "log", "--format=%s", `${branch}..${slung.branch}`)).toBe("Add new.txt");
      const stopped = JSON.parse(await overseerOk(path, "stop", "b", "--json")) as { end: { wip: string } };
      expect(gitIn(path, "show", `${stopped.end.wip}:later.txt`)).toBe("not committed");
      const nuked = JSON.parse(await overseerOk(path, "nuke", "b", "--json")) as { recovery: string[] };
      expect(nuked.recovery.length).toBeGreaterThan(0);
      expect(snapshot(path, homedir())).toEqual(before);
      expect(await leftovers(await worldAt(path))).toEqual([]);
    },
    120_000,
  );

  test("VALID-11: a detached HEAD starts from the branch at init; nuke works there too", async () => {
    const { path, git } = tempRepo();
    await fleetIn(path);
    git("checkout", "--quiet", "--detach");
    await overseerOk(path, "sling", ...scripted({ say: "here" }), "--name", "b");
    await overseerOk(path, "nuke", "b");
    expect(await overseer(path, "worktree", "list")).toMatchObject({ code: 0 });
    expect(await leftovers(await worldAt(path))).toEqual([]);
  }, 120_000);
});
