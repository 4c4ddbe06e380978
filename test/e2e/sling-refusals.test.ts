/**
 * What can be wrong with a sling, through the real door: each mistake gets one clear sentence, a next step and the
 * exit code of its kind, and nothing is left behind.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundled, overseer, overseerOk } from "../support/cli.ts";
import { leftovers } from "../support/leftovers.ts";
import { UNHURRIED, worldAt } from "../support/real-world.ts";
import { type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

const PLAN = {
  planVersion: 1,
  phases: [
    {
      id: "P1",
      name: "Phase",
      objective: "Reach it",
      acceptance: ["it works"],
      tasks: ["T1", "T2", "T3"].map((id) => ({
        id,
        name: `Task ${id}`,
        objective: `Do it. @@SCRIPT[{"say":"here"}]@@END`,
        acceptance: ["it is done"],
        ...(id === "T3" ? { deps: ["T1"] } : {}),
      })),
    },
  ],
};
const PROMPT = ["--prompt", `Wait. @@SCRIPT[{"say":"here"}]@@END`];

const PATH = process.env.PATH ?? "";

let repo: TempRepo;
let goal: string;

async function fleet(config = UNHURRIED): Promise<TempRepo> {
  const made = tempRepo({ files: { "src/a.ts": "a\n" } });
  await overseerOk(made.path, "init");
  appendFileSync(join(made.path, ".overseer/config.yaml"), config);
  return made;
}

async function plannedGoal(path: string, title: string): Promise<string> {
  const { goalId } = JSON.parse(await overseerOk(path, "goal", "create", title, "--json")) as { goalId: string };
  const file = join(tempDir("plan-"), "plan.json");
  writeFileSync(file, JSON.stringify(PLAN));
  await overseerOk(path, "goal", "plan", goalId, "--file", file);
  return goalId;
}

beforeAll(async () => {
  bundled();
  repo = await fleet();
  goal = await plannedGoal(repo.path, "Refusals");
}, 60_000);

/** Refused with that code and words, and the world is as before. */
async function refusedWith(path: string, words: readonly string[], exit: number, sentence: RegExp, hint: RegExp) {
  // Looked at with all tools at hand, whatever the command has to do without.
  const world = await worldAt(path, { env: { PATH } });
  const before = await leftovers(world);
  const goals = await overseerOk(path, "goal", "list", "--all", "--json");
  const { code, stdout, stderr } = await overseer(path, "sling", ...words);
  expect(stderr).toMatch(sentence);
  expect(stderr).toMatch(/hint: \S/);
  expect(stderr.slice(stderr.indexOf("hint:"))).toMatch(hint);
  expect(stderr).not.toMatch(/\n\s+at |undefined|\[object/);
  expect({ code, stdout }).toEqual({ code: exit, stdout: "" });
  expect(await leftovers(world)).toEqual(before);
  return { goals, after: await overseerOk(path, "goal", "list", "--all", "--json") };
}

describe("words that cannot be meant", () => {
  test.each<[string, () => string[], number, RegExp, RegExp]>([
    ["an unknown capability", () => [...PROMPT, "--capability", "bulder"], 3, /bulder/, /builder/],
    ["an unknown role", () => [...PROMPT, "--role", "scuot"], 3, /scuot/, /scout/],
    [
      "an unknown runtime",
      () => [...PROMPT, "--runtime", "scriptd"],
      3,
      /no runtime "scriptd"/,
      /Did you mean scripted/,
    ],
    [
      "a name with odd characters",
      () => [...PROMPT, "--name", "Bob Smith; rm -rf"],
      2,
      /not a valid agent name/,
      /lowercase letters/,
    ],
    [
      "a name that leaves the directory",
      () => [...PROMPT, "--name", "../x"],
      2,
      /not a valid agent name/,
      /lowercase letters/,
    ],
    ["an unknown task", () => ["T99"], 3, /T99/, /./],
    ["an unknown goal", () => ["T1", "--goal", "goal_NOPE"], 3, /no goal goal_NOPE/, /goal list/],
    ["a phase", () => [`${goal}/P1`], 2, /is a phase/, /work list/],
    ["a task that waits for another", () => [`${goal}/T3`], 4, /T3 is pending|T3 is blocked|only a queued/, /./],
    ["neither task nor prompt", () => [], 2, /Nothing to do was named/, /--prompt/],
    ["both", () => ["T1", ...PROMPT], 2, /A task, a prompt or a list: only one/, /Name a task/],
    [
      "a script with an unknown verb",
      () => ["--runtime", "scripted", "--prompt", 'Try @@SCRIPT[{"sya":"hi"}]@@END'],
      2,
      /script in the prompt cannot be played: script, step 1: unknown verb "sya"/,
      /docs\/scripted\.md/,
    ],
    ["an empty prompt", () => ["--prompt", "  "], 2, /prompt is empty/, /what is to be done/],
    [
      "a scope outside the repository",
      () => [...PROMPT, "--files", "../other"],
      2,
      /"\.\.\/other" is not a path/,
      /relative/,
    ],
    ["an absolute scope", () => [...PROMPT, "--files", "/etc"], 2, /"\/etc" is not a path/, /relative/],
    ["our own directory as scope", () => [...PROMPT, "--files", ".overseer"], 2, /not a path/, /relative/],
    ["a base branch that is missing", () => [...PROMPT, "--base", "nope"], 3, /no branch "nope"/, /git branch nope/],
    [
      "an unknown parent",
      () => [...PROMPT, "--parent", "nobody"],
      3,
      /There is no agent called nobody/,
      /overseer agents/,
    ],
    ["a depth that is not so", () => [...PROMPT, "--depth", "1"], 2, /--depth contradicts/, /Leave out --depth/],
    ["a screen the runtime has not", () => [...PROMPT, "--interactive"], 4, /no interactive screen/, /--interactive/],
    ["a specification that is not there", () => [...PROMPT, "--spec", "no/such.md"], 3, /no\/such\.md/, /path/],
  ])("SLING-1: %s", async (_what, words, exit, sentence, hint) => {
    const { goals, after } = await refusedWith(repo.path, words(), exit, sentence, hint);
    expect(after).toBe(goals); // not even a goal made from the prompt
  });

  test("SLING-1: a task that is done, and one of a paused goal", async () => {
    const other = await plannedGoal(repo.path, "Paused");
    await overseerOk(repo.path, "work", "done", `${other}/T1`, "--summary", "By hand", "--override", "test");
    await refusedWith(repo.path, [`${other}/T1`], 4, /T1 is done/, /./);
    await overseerOk(repo.path, "goal", "pause", other);
    await refusedWith(repo.path, [`${other}/T2`], 4, /is paused; nothing of it is dispatched/, /goal resume/);
  }, 60_000);

  test("SLING-2, SCOPE-1: a name and files that somebody living has", async () => {
    await overseerOk(repo.path, "sling", ...PROMPT, "--name", "first", "--files", "src");
    await refusedWith(repo.path, [...PROMPT, "--name", "first"], 4, /first#\d+ already runs/, /overseer stop first/);
    await refusedWith(
      repo.path,
      [...PROMPT, "--files", "src/a.ts"],
      4,
      /src\/a\.ts overlaps src, .* first#\d+/,
      /different files/,
    );
    await overseerOk(repo.path, "nuke", "first");
    expect(await leftovers(await worldAt(repo.path))).toEqual([]);
  }, 60_000);
});

describe("a place that is taken", () => {
  test("SLING-1: a directory of somebody else where the worktree would be stays as it is", async () => {
    const { path } = await fleet();
    const inTheWay = join(path, ".overseer/worktrees/b-1");
    mkdirSync(inTheWay, { recursive: true });
    writeFileSync(join(inTheWay, "mine.txt"), "mine");
    await refusedWith(path, [...PROMPT, "--name", "b"], 4, /already exists, and it is not Overseer's/, /--name/);
    expect(readFileSync(join(inTheWay, "mine.txt"), "utf8")).toBe("mine");
    // An empty directory and a symlink are somebody's too.
    mkdirSync(join(path, ".overseer/worktrees/c-2"));
    symlinkSync("/nowhere", join(path, ".overseer/worktrees/d-3"));
    await refusedWith(path, [...PROMPT, "--name", "c"], 4, /already exists/, /--name/);
    await refusedWith(path, [...PROMPT, "--name", "d"], 4, /already exists/, /--name/);
    expect(readdirSync(join(path, ".overseer/worktrees")).sort()).toEqual(["b-1", "c-2", "d-3"]);
  }, 60_000);

  test("SLING-1: a branch of the same name stays, even where it holds nothing yet", async () => {
    const { path, git } = await fleet();
    git("branch", "overseer/b/T1");
    await refusedWith(path, [...PROMPT, "--name", "b"], 4, /branch overseer\/b\/T1 already exists/, /git log/);
    git("branch", "overseer/c");
    await refusedWith(path, [...PROMPT, "--name", "c"], 4, /branch overseer\/c\/T1/, /git log|another name/);
    expect(git("branch", "--list", "--format=%(refname:short)")).toBe("main\noverseer/b/T1\noverseer/c");
  }, 60_000);
});

describe("a machine that does not play along", () => {
  const withTools = (...tools: string[]) => {
    const bin = tempDir("bin-");
    for (const tool of tools) symlinkSync(Bun.which(tool) ?? "", join(bin, tool));
    return bin;
  };

  test("SLING-1: without tmux a fleet that asks for it says so; one that does not care continues without", async () => {
    const { path } = await fleet(`${UNHURRIED}terminal: tmux\n`);
    process.env.PATH = withTools("git", "sh", "readlink", "find");
    try {
      await refusedWith(path, PROMPT, 5, /tmux/, /Install tmux|detached/);
      const other = await fleet();
      await overseerOk(other.path, "sling", ...PROMPT, "--name", "plain");
      expect(await overseerOk(other.path, "agents", "show", "plain")).toContain("plain#1");
      await overseerOk(other.path, "nuke", "--all");
    } finally {
      process.env.PATH = PATH;
    }
  }, 60_000);

  test("SLING-1: a tmux whose server dies while it is asked leaves nothing behind", async () => {
    const { path } = await fleet();
    const bin = withTools("git", "sh", "readlink");
    // It answers as to its version, and dies at everything that needs the server.
    writeFileSync(
      join(bin, "tmux"),
      `#!/bin/sh\ncase "$1" in -V) echo tmux 3.4 ;; *) echo "server exited unexpectedly" >&2; exit 1 ;; esac\n`,
      { mode: 0o755 },
    );
    process.env.PATH = bin;
    try {
      const { code, stderr } = await overseer(path, "sling", ...PROMPT, "--name", "b");
      expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringMatching(/tmux[\s\S]*hint: \S/) });
    } finally {
      process.env.PATH = PATH;
    }
    await overseer(path, "stop", "nobody");
    expect(await leftovers(await worldAt(path))).toEqual([]);
  }, 60_000);

  test.each([
    ["fails", "echo no network >&2; touch half-made; exit 7", "15m", /set-up command failed \(exit 7\): no network/],
    ["never ends", "touch half-made; sleep 300 & sleep 300", "1s", /set-up command failed \(timed out\)/],
    ["kills itself", "kill -9 $$", "15m", /set-up command failed \(signal SIGKILL\)/],
  ])(
    "WT-1: a set-up command that %s: its log is named, the rest is taken back",
    async (_how, command, timeout, sentence) => {
      const { path } = await fleet(
        `${UNHURRIED}worktree: {setup: ${JSON.stringify(command)}, setupTimeout: ${timeout}}\n`,
      );
      await refusedWith(path, [...PROMPT, "--name", "b"], 5, sentence, /setup\.log/);
      const [stamp = ""] = readdirSync(join(path, ".git/overseer/logs/b"));
      expect(readFileSync(join(path, ".git/overseer/logs/b", stamp, "setup.log"), "utf8")).toContain(`$ ${command}`);
    },
    60_000,
  );

  test("WT-1: a set-up command that works is run in the worktree, with the agent's environment and nothing more", async () => {
    process.env.SECRET_TOKEN = "swordfish-planted";
    const { path } = await fleet(`${UNHURRIED}worktree: {setup: "env > ready.txt"}\n`);
    try {
      await overseerOk(path, "sling", ...PROMPT, "--name", "b");
    } finally {
      delete process.env.SECRET_TOKEN;
    }
    const env = readFileSync(join(path, ".overseer/worktrees/b-1/ready.txt"), "utf8");
    expect(env).toContain("OVERSEER_ATTEMPT=1\n");
    expect(env).not.toContain("swordfish");
    await overseerOk(path, "nuke", "--all");
  }, 60_000);
});
