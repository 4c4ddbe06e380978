/**
 * Who may start whom, what an agent is told and shown to be, and what happens to the places agents worked in: hierarchy,
 * roles, identity, worktrees, all through the real door with real processes.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingAgent } from "#control/sling.ts";
import { examine } from "#control/upkeep/doctor.ts";
import { bundled, overseer, overseerOk } from "../support/cli.ts";
import { leftovers } from "../support/leftovers.ts";
import { UNHURRIED, worldAt } from "../support/real-world.ts";
import { type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

beforeAll(bundled);

const OVERSEER = join(import.meta.dir, "../../bin/overseer");

async function fleet(config = UNHURRIED): Promise<TempRepo> {
  const made = tempRepo({ files: { "src/a.ts": "a\n", "b.txt": "b\n" } });
  await overseerOk(made.path, "init");
  appendFileSync(join(made.path, ".overseer/config.yaml"), config);
  return made;
}

function scripted(...steps: object[]): string[] {
  return ["--prompt", `Play this. @@SCRIPT${JSON.stringify(steps)}@@END`];
}

interface Shown {
  readonly current: { seen: string; permissionMode: string; pulse: { turns: number } | null } | null;
  readonly identity: { sessionsCompleted: number; domains: string[]; workHistory: { outcome: string }[] };
}

async function show(path: string, name: string): Promise<Shown> {
  return JSON.parse(await overseerOk(path, "agents", "show", name, "--json")) as Shown;
}

/** Waits, gently, until the agent has done its turn. */
async function idle(path: string, name: string): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await Bun.sleep(50)) {
    const { current } = await show(path, name);
    if (current === null || (current.seen === "idle" && (current.pulse?.turns ?? 0) > 0)) return;
  }
  throw new Error(`${name} is never done`);
}

interface Listed {
  readonly agent: string;
  readonly parent: { agent: string; attempt: number } | null;
  readonly depth: number;
}

/** What an agent's own command said, as the script wrote it down in its worktree. */
function said(path: string, worktree: string, file: string): string {
  return readFileSync(join(path, ".overseer/worktrees", worktree, file), "utf8");
}

describe("who may start whom", () => {
  const inner = (name: string, ...flags: string[]) =>
    `'${OVERSEER}' sling --prompt 'Wait for word' --name ${name} ${flags.join(" ")} > ${name}.out 2>&1; echo "exit $?" >> ${name}.out`;

  test("SLING-2, SLING-3, HEALTH-4: a lead starts an agent: parent and depth follow from who calls, and are shown", async () => {
    const { path } = await fleet();
    const steps = [
      { run: inner("worker") },
      { run: inner("liar", "--depth", "0") },
      { run: inner("orphan", "--parent", "somebody") },
      { run: inner("unseen", "--no-supervision") },
    ];
    await overseerOk(path, "sling", ...scripted(...steps), "--name", "chief", "--capability", "lead");
    await idle(path, "chief");
    expect(said(path, "chief-1", "worker.out")).toContain("exit 0");
    expect(said(path, "chief-1", "liar.out")).toMatch(/--depth contradicts what is derived: it is 1[\s\S]*exit 2/);
    expect(said(path, "chief-1", "orphan.out")).toMatch(
      /--parent contradicts what is derived: it is chief[\s\S]*exit 2/,
    );
    expect(said(path, "chief-1", "unseen.out")).toMatch(/Only people exempt agents from supervision[\s\S]*exit 4/);
    const listed = JSON.parse(await overseerOk(path, "agents", "list", "--json")) as Listed[];
    expect(listed.map(({ agent, parent, depth }) => [agent, parent?.agent ?? null, depth])).toEqual([
      ["chief", null, 0],
      ["worker", "chief", 1],
    ]);
    expect(await overseerOk(path, "agents", "list")).toMatch(/\n {2}worker#2/);
    expect(await overseerOk(path, "status")).toMatch(/Agents: 2: [\s\S]*chief#1[\s\S]* {4}worker#2/);
    expect(readFileSync(join(path, ".git/overseer/run/attempts/2/system-prompt.md"), "utf8")).toContain("chief");
    await overseerOk(path, "nuke", "--all");
    expect(await leftovers(await worldAt(path))).toEqual([]);
  }, 120_000);

  test("SLING-2: a builder starts nobody, an agent's lead starts nobody, an ended attempt starts nobody", async () => {
    const { path } = await fleet();
    await overseerOk(path, "sling", ...scripted({ run: inner("sub") }), "--name", "b");
    await idle(path, "b");
    expect(said(path, "b-1", "sub.out")).toMatch(/b#1 may not start agents[\s\S]*exit 4/);
    await overseerOk(path, "sling", ...scripted({ say: "here" }), "--name", "chief", "--capability", "lead");
    const deep = [...scripted({ run: inner("sub") }), "--name", "second", "--capability", "lead", "--parent", "chief"];
    await overseerOk(path, "sling", ...deep);
    await idle(path, "second");
    expect(said(path, "second-3", "sub.out")).toMatch(/second#3 may not start agents[\s\S]*exit 4/);
    const tooDeep = await overseer(path, "sling", ...scripted({ say: "x" }), "--parent", "second");
    expect(tooDeep).toMatchObject({ code: 4, stderr: expect.stringMatching(/depth 2/) });
    const launch = JSON.parse(readFileSync(join(path, ".git/overseer/run/attempts/2/launch.json"), "utf8"));
    const { OVERSEER_TOKEN } = launch.env as Record<string, string>;
    await overseerOk(path, "stop", "chief");
    Object.assign(process.env, { OVERSEER_ATTEMPT: "2", OVERSEER_AGENT: "chief", OVERSEER_TOKEN });
    try {
      const late = await overseer(path, "sling", ...scripted({ say: "x" }), "--root", path);
      expect(late).toMatchObject({ code: 4, stderr: expect.stringMatching(/Attempt #2 has ended/) });
    } finally {
      delete process.env.OVERSEER_ATTEMPT;
      delete process.env.OVERSEER_AGENT;
      delete process.env.OVERSEER_TOKEN;
    }
    await overseerOk(path, "nuke", "--all");
  }, 120_000);
});

describe("what an agent is", () => {
  test("AGENT-1: its system prompt says how (the role) and what (task, spec, branch, files, how to report)", async () => {
    const { path } = await fleet();
    const spec = join(tempDir("spec-"), "spec.md");
    writeFileSync(spec, "# Make it blue\nAll of it.\n");
    await overseerOk(path, "sling", ...scripted({ say: "x" }), "--name", "b", "--spec", spec, "--files", "src,b.txt");
    const prompt = readFileSync(join(path, ".git/overseer/run/attempts/1/system-prompt.md"), "utf8");
    const definition = readFileSync(join(import.meta.dir, "../../src/prompts/builder.md"), "utf8");
    expect(prompt).toContain(definition.split("\n").find((line) => line.startsWith("# ")) ?? "#");
    for (const fact of ["overseer/b/T1", "src", "b.txt", "Make it blue", "T1", "#1"]) expect(prompt).toContain(fact);
    const [kept = ""] = readdirSync(join(path, ".git/overseer/specs"));
    expect(readFileSync(join(path, ".git/overseer/specs", kept), "utf8")).toBe("# Make it blue\nAll of it.\n");
    await overseerOk(path, "sling", ...scripted({ say: "y" }), "--name", "c", "--capability", "scout");
    const made = readdirSync(join(path, ".git/overseer/specs")).filter((name) => name !== kept);
    expect(readFileSync(join(path, ".git/overseer/specs", made[0] ?? ""), "utf8")).toContain("Play this.");
    await overseerOk(path, "nuke", "--all");
  }, 120_000);

  test("AGENT-3: its history outlives its sessions, whatever became of each", async () => {
    const { path } = await fleet();
    await overseerOk(path, "sling", ...scripted({ say: "x" }), "--name", "b", "--files", "src");
    await overseerOk(path, "stop", "b");
    await overseerOk(path, "sling", ...scripted({ fail: { message: "no", exitCode: 3 } }), "--name", "b");
    for (const end = Date.now() + 60_000; Date.now() < end && (await show(path, "b")).current; ) await Bun.sleep(50);
    const { identity, current } = await show(path, "b");
    expect(current).toBeNull();
    expect(identity.workHistory.map(({ outcome }) => outcome).sort()).toEqual(["failed", "stopped"]);
    expect(identity.domains).toContain("src");
    const text = await overseerOk(path, "agents", "show", "b");
    expect(text).toMatch(/b is not at work[\s\S]*sessions completed: \d[\s\S]*#2/);
    expect(await overseer(path, "agents", "show", "nobody")).toMatchObject({ code: 3 });
    await overseerOk(path, "nuke", "b");
  }, 120_000);

  test("RUN-2: its permission mode is the role's, shown by agents and doctor", async () => {
    const { path } = await fleet();
    const mode = /permissionMode: (\w+)/.exec(
      readFileSync(join(import.meta.dir, "../../src/prompts/roles/builder.yaml"), "utf8"),
    )?.[1];
    await overseerOk(path, "sling", ...scripted({ say: "x" }), "--name", "b");
    expect((await show(path, "b")).current?.permissionMode).toBe(mode ?? "");
    expect(await overseerOk(path, "agents", "list")).toContain(mode ?? "");
    const { stdout } = await overseer(path, "doctor");
    for (const role of ["builder", "lead", "merger", "reviewer", "scout"]) {
      expect(stdout).toMatch(new RegExp(`role ${role}: \\w+ on scripted`));
    }
    expect(stdout).toContain(`role builder: ${mode}`);
    await overseerOk(path, "nuke", "--all");
  }, 120_000);
});

test("RUN-2: a policy that the runtime cannot meet is said by doctor and refused loudly at sling", async () => {
  const { path } = await fleet();
  const world = await worldAt(path, {
    changes: (real) => ({
      async runtime(name) {
        const runtime = await real.runtime(name);
        const tools = { ...runtime.capabilities.tools, permissionModes: [], canDeny: false };
        return { ...runtime, capabilities: { ...runtime.capabilities, tools } };
      },
    }),
  });
  const findings = (await examine(world)).filter(({ check }) => check.startsWith("role "));
  expect(findings).toHaveLength(5);
  for (const finding of findings) {
    expect(finding).toMatchObject({ ok: false, detail: expect.stringContaining("the runtime has no permission mode") });
  }
  const input = {
    prompt: "x",
    capability: "builder",
    files: [],
    tags: [],
    interactive: false,
    keep: false,
    dryRun: false,
  };
  await expect(slingAgent(world, input)).rejects.toMatchObject({ kind: "conflict", code: "POLICY_UNMET" });
  expect(await leftovers(world)).toEqual([]);
}, 60_000);

interface Worktree {
  readonly agent: string;
  readonly dirty: boolean;
  readonly merged: boolean;
  readonly status: string;
}

describe("the places agents worked in", () => {
  const clean = async (path: string, ...words: string[]) =>
    JSON.parse(await overseerOk(path, "worktree", "clean", ...words, "--json")) as {
      removed: { agent: string; recovery: string[] }[];
      kept: { agent: string; because: string }[];
    };

  test("WT-1: clean takes what is merged, never what is dirty, unmerged or lived in; force leaves recovery refs; logs stay", async () => {
    const { path, git } = await fleet();
    const edit = { edit: { file: "new.txt", content: "new\n" } };
    await overseerOk(path, "sling", ...scripted({ say: "x" }), "--name", "empty");
    await overseerOk(path, "sling", ...scripted(edit), "--name", "dirty");
    await overseerOk(path, "sling", ...scripted(edit, { commit: "Add, and never merge" }), "--name", "unmerged");
    await overseerOk(path, "sling", ...scripted(edit, { commit: "Add" }), "--name", "merged");
    await overseerOk(path, "sling", ...scripted({ say: "x" }), "--name", "living");
    for (const name of ["empty", "dirty", "unmerged", "merged", "living"]) await idle(path, name);
    for (const name of ["empty", "dirty", "unmerged", "merged"]) await overseerOk(path, "stop", name);
    git("merge", "--quiet", "--ff-only", "overseer/merged/T1");
    const list = JSON.parse(await overseerOk(path, "worktree", "list", "--json")) as Worktree[];
    expect(list.map(({ agent, dirty, merged }) => [agent, dirty, merged]).sort()).toEqual([
      ["dirty", true, true],
      ["empty", false, true],
      ["living", false, true],
      ["merged", false, true],
      ["unmerged", false, false],
    ]);
    const first = await clean(path, "--completed");
    expect(first.removed.map(({ agent }) => agent).sort()).toEqual(["empty", "merged"]);
    expect(first.kept.map(({ agent }) => agent).sort()).toEqual(["dirty", "living", "unmerged"]);
    const branches = () => git("branch", "--list", "overseer/*", "--format=%(refname:short)");
    expect(branches()).not.toContain("overseer/merged/T1");
    const forced = await clean(path, "--all", "--force");
    expect(forced.removed.map(({ agent }) => agent).sort()).toEqual(["dirty", "unmerged"]);
    expect(forced.kept.map(({ agent }) => agent)).toEqual(["living"]);
    for (const { recovery } of forced.removed) {
      expect(recovery.length).toBeGreaterThan(0);
      for (const ref of recovery) expect(git("show", `${ref}:new.txt`)).toBe("new");
    }
    for (const name of ["empty", "dirty", "unmerged", "merged"]) {
      expect(existsSync(join(path, ".git/overseer/logs", name))).toBe(true);
    }
    expect(await overseer(path, "worktree", "clean", "nobody")).toMatchObject({ code: 3 });
    expect(await overseer(path, "worktree", "clean")).toMatchObject({ code: 2 });
    await overseerOk(path, "nuke", "--all");
    expect(await leftovers(await worldAt(path))).toEqual([]);
  }, 120_000);

  test("WIP-1: restore brings back what was not committed; elsewhere when its worktree is gone", async () => {
    const { path, git } = await fleet();
    await overseerOk(path, "sling", ...scripted({ edit: { file: "grüße.txt", content: "a\r\nb\n" } }), "--name", "b");
    await idle(path, "b");
    const { end } = JSON.parse(await overseerOk(path, "stop", "b", "--json")) as { end: { wip: string } };
    const listed = await overseerOk(path, "worktree", "restore");
    expect(listed).toMatch(new RegExp(`${end.wip} +1 file +b +goal_\\S+/T1 .* \\d\\d:\\d\\d +[0-9a-f]{10}`));
    const [kept] = JSON.parse(await overseerOk(path, "worktree", "restore", "--json")) as object[];
    expect(kept).toMatchObject({ ref: end.wip, agent: "b", task: expect.stringMatching(/\/T1$/), files: 1 });
    const place = join(path, ".overseer/worktrees/b-1");
    git("-C", place, "clean", "-qfd");
    await overseerOk(path, "worktree", "restore", end.wip);
    expect(readFileSync(join(place, "grüße.txt"), "utf8")).toBe("a\r\nb\n");
    await overseerOk(path, "nuke", "b");
    expect(await overseer(path, "worktree", "restore", end.wip)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/is gone[\s\S]*--into/),
    });
    await overseerOk(path, "sling", ...scripted({ say: "x" }), "--name", "c");
    await idle(path, "c");
    await overseerOk(path, "worktree", "restore", end.wip, "--into", join(path, ".overseer/worktrees/c-2"));
    expect(readFileSync(join(path, ".overseer/worktrees/c-2/grüße.txt"), "utf8")).toBe("a\r\nb\n");
    expect(
      await overseer(path, "worktree", "restore", "refs/overseer/wip/nothing/1", "--into", path),
    ).not.toMatchObject({
      code: 0,
    });
    await overseerOk(path, "nuke", "--all");
  }, 120_000);
});
