/**
 * SERENA-1 and SERENA-2 with real git, real worktrees and a list of projects like a person's: comments, entries of others, an
 * order of their own. Whatever is slung, nuked, landed or killed, what is not ours stays byte for byte.
 */
import { beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { landClaim } from "#act/landing/land.ts";
import { reap } from "#act/landing/reap.ts";
import { forgetSerenaProjects, lookAtSerena, makeSerenaProject, repairSerena } from "#act/serena.ts";
import { judgeSerena } from "#domain/health/serena.ts";
import { livingAttempts } from "#store/attempts.ts";
import { bundled } from "../support/cli.ts";
import { endedFleets } from "../support/fleets.ts";
import { endOf } from "../support/landing-observations.ts";
import {
  foundLanding,
  GOAL,
  type LandingParts,
  type LandingWorld,
  landingWorld,
  tasks,
} from "../support/landing-world.ts";
import { gitIn, tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

const THEIRS = `# my Serena, do not touch
gui_log_window: false

# the list of registered project paths (updated automatically).
projects: # mine
  # daily
  - /home/ada/shop   # the big one
  - '/home/ada/it''s'

record_tool_usage_stats: true   # keep
`;

let home = "";
let list = "";
beforeEach(() => {
  home = tempDir("serena-");
  list = join(home, "serena_config.yml");
  writeFileSync(list, THEIRS);
});

const projectsNow = () => (parse(readFileSync(list, "utf8")) as { projects: string[] }).projects;
const nameIn = (worktree: string) =>
  (parse(readFileSync(join(worktree, ".serena/project.yml"), "utf8")) as { project_name: string }).project_name;

const fleetOf = endedFleets({ terminal: "detached" });

test("SERENA-1 CLEAN-1: agents slung at once are projects of their own; when they are nuked, the list is as it was", async () => {
  const fleet = await fleetOf({ more: "serena: {enabled: true}\n", env: { SERENA_HOME: home } });
  mkdirSync(join(fleet.repo.path, ".serena"));
  writeFileSync(join(fleet.repo.path, ".serena/project.yml"), "# ours\nlanguages: [go]\nproject_name: shop # mine\n");
  const names = ["ann", "bob", "cy"];
  const agents = await Promise.all(names.map((name) => fleet.sling(name, [{ kind: "say", text: "Here." }])));
  const worktrees = agents.map(({ worktree }) => worktree);
  expect(new Set(projectsNow())).toEqual(new Set(["/home/ada/shop", "/home/ada/it's", ...worktrees]));
  expect(new Set(worktrees.map(nameIn)).size).toBe(3);
  for (const worktree of worktrees) {
    expect(gitIn(worktree, "status", "--porcelain", "--ignored=no")).toBe("");
    // What the person has set for their checkout counts for its worktrees, too.
    expect(readFileSync(join(worktree, ".serena/project.yml"), "utf8")).toContain("# ours\nlanguages: [go]\n");
    expect(nameIn(worktree)).not.toBe("shop");
  }
  expect(readFileSync(join(fleet.repo.path, ".serena/project.yml"), "utf8")).toContain("project_name: shop # mine");
  await fleet.ok("nuke", "ann");
  expect(projectsNow()).not.toContain(worktrees[0] ?? "");
  await Promise.all(["bob", "cy"].map((name) => fleet.ok("nuke", name)));
  expect(readFileSync(list, "utf8")).toBe(THEIRS);
  expect(existsSync(join(fleet.state, "run/serena.json"))).toBe(false);
});

async function scene(more: Partial<LandingParts> = {}, files: Record<string, string> = {}): Promise<LandingWorld> {
  const repo = tempRepo({ files: { "a.ts": "a\n", "b.py": "b\n", "c.ts": "c\n", ...files } });
  await foundLanding(repo.path, tasks(3));
  return landingWorld(repo.path, {
    config: { serena: { enabled: true }, landing: { mode: "auto" } },
    env: { SERENA_HOME: home },
    ...more,
  });
}

const findings = async ({ parts, store }: LandingWorld) =>
  judgeSerena(await lookAtSerena(parts, (await store.read({ living: livingAttempts() })).living)).map(
    ({ ok, detail }) => [ok, detail] as const,
  );

test("SERENA-1: landed work takes its project with it", async () => {
  const world = await scene();
  const attempt = await world.attempt("T1");
  expect(await makeSerenaProject(world.parts, attempt)).toBeNull();
  expect(projectsNow()).toContain(attempt.worktree);
  expect(readFileSync(join(attempt.worktree, ".serena/project.yml"), "utf8")).toContain('languages: ["typescript"]');
  world.commit(attempt, { "ok.txt": "yes\n" });
  await world.report(attempt);
  await landClaim(world.parts, { goalId: GOAL, nodeId: "T1" });
  await endOf(world, attempt.attempt);
  expect((await reap(world.parts, attempt.attempt)).kind).toBe("reaped");
  expect(existsSync(attempt.worktree)).toBe(false);
  expect(readFileSync(list, "utf8")).toBe(THEIRS);
});

test("SERENA-1: a committed project file stays as it is; the name goes beside it", async () => {
  const world = await scene(
    {},
    { ".serena/project.yml": "project_name: shop\nlanguages: [go]\n", ".serena/.gitignore": "/*.local.yml\n" },
  );
  const attempt = await world.attempt("T1");
  expect(await makeSerenaProject(world.parts, attempt)).toBeNull();
  expect(nameIn(attempt.worktree)).toBe("shop");
  expect(readFileSync(join(attempt.worktree, ".serena/project.local.yml"), "utf8")).toMatch(
    /^project_name: "repo-.*"\n$/,
  );
  expect(gitIn(attempt.worktree, "status", "--porcelain")).toBe("");
  expect(await findings(world)).toEqual([[true, "1 worktrees are projects of their own"]]);
});

test("SERENA-1: a .serena that is a link, or holds one, leads nowhere: nothing is written behind it, and it is said", async () => {
  const world = await scene();
  const attempt = await world.attempt("T1");
  const outside = tempDir("outside-");
  const place = join(attempt.worktree, ".serena");
  symlinkSync(outside, place);
  expect(await makeSerenaProject(world.parts, attempt)).toContain(".serena is no directory of its own");
  expect(readdirSync(outside)).toEqual([]);
  expect(await repairSerena(world.parts)).toEqual([]);
  expect(readdirSync(outside)).toEqual([]);

  rmSync(place);
  mkdirSync(place);
  symlinkSync(join(outside, "ignored"), join(place, ".gitignore"));
  expect(await makeSerenaProject(world.parts, attempt)).toContain(".serena/.gitignore is no file of its own");
  expect([readdirSync(outside), readdirSync(place)]).toEqual([[], [".gitignore"]]);
});

test("SERENA-1: an ignore file that does not hide the project is taken away again", async () => {
  const world = await scene(
    {},
    { ".serena/project.yml": "project_name: shop\n", ".serena/project.local.yml": "a: b\n" },
  );
  const attempt = await world.attempt("T1");
  expect(await makeSerenaProject(world.parts, attempt)).toContain("git would see .serena/project.local.yml");
  expect(gitIn(attempt.worktree, "status", "--porcelain")).toBe("");
  expect(existsSync(join(attempt.worktree, ".serena/.gitignore"))).toBe(false);
});

test("SERENA-1: whoever is killed on the way, the next one makes up for it; switched off, it is taken back whole", async () => {
  let [calls, death] = [0, 0];
  const wrap = <T extends object>(port: string, real: T): T =>
    port !== "files"
      ? real
      : new Proxy(real, {
          get: (target, key) => {
            const value: unknown = Reflect.get(target, key);
            if (typeof value !== "function") return value;
            return (...args: unknown[]) => {
              calls += 1;
              if (calls >= death) throw new Error("killed");
              return Reflect.apply(value, target, args);
            };
          },
        });
  const world = await scene();
  const attempt = await world.attempt("T1");
  death = Number.POSITIVE_INFINITY;
  const dying = await landingWorld(world.repo, {
    config: { serena: { enabled: true } },
    env: { SERENA_HOME: home },
    wrap,
  });
  const off = await landingWorld(world.repo, { env: { SERENA_HOME: home } });
  let deaths = 0;
  for (let said: string | null = ""; said !== null; deaths += 1) {
    rmSync(join(attempt.worktree, ".serena"), { recursive: true, force: true });
    [calls, death] = [0, deaths + 1];
    said = await makeSerenaProject(dying.parts, attempt);
    if (deaths % 2 === 0) {
      expect(await makeSerenaProject(world.parts, attempt)).toBeNull();
      expect(projectsNow()).toContain(attempt.worktree);
      expect(nameIn(attempt.worktree)).toStartWith("repo-");
    }
    expect(await forgetSerenaProjects(off.parts)).toBeNull();
    expect(readFileSync(list, "utf8")).toBe(THEIRS);
    expect(existsSync(join(world.parts.root.state, "run/serena.json"))).toBe(false);
  }
  expect(deaths).toBeGreaterThan(8);
});

test("SERENA-1: repositories that keep their worktrees in one place leave each other's projects in the list", async () => {
  const shared = tempDir("shared-");
  const world = await scene({ config: { serena: { enabled: true }, worktree: { dir: shared } } });
  const attempt = await world.attempt("T1");
  const [theirs, removed] = [join(shared, "theirs"), join(shared, "removed")];
  mkdirSync(theirs);
  const forgotten = join(world.parts.root.userDir, "worktrees/forgotten");
  const listed = [theirs, removed, forgotten].map((path) => `  - ${path}\n`).join("");
  writeFileSync(list, THEIRS.replace("  # daily\n", listed));
  expect(await makeSerenaProject(world.parts, attempt)).toBeNull();
  // In this repository's own place, what is gone can only have been ours.
  expect(new Set(projectsNow())).toEqual(
    new Set(["/home/ada/shop", "/home/ada/it's", theirs, removed, attempt.worktree]),
  );
});

test("SERENA-2: a pipe where a project's file should be keeps nobody waiting", async () => {
  const world = await scene();
  const attempt = await world.attempt("T1");
  mkdirSync(join(attempt.worktree, ".serena"));
  Bun.spawnSync(["mkfifo", join(attempt.worktree, ".serena/project.yml")]);
  expect((await findings(world))[0]?.[1]).toContain("no project of their own");
  expect(await makeSerenaProject(world.parts, attempt)).toContain(".serena/project.yml is no file of its own");
  // The person's checkout and whatever else is listed are read as well.
  rmSync(join(attempt.worktree, ".serena"), { recursive: true });
  mkdirSync(join(world.repo, ".serena"));
  Bun.spawnSync(["mkfifo", join(world.repo, ".serena/project.yml")]);
  expect(await makeSerenaProject(world.parts, attempt)).toBeNull();
  expect(await findings(world)).toEqual([[true, "1 worktrees are projects of their own"]]);
}, 10_000);

test("SERENA-2: doctor finds projects that are missing, not registered or called the same, and repairs what it can", async () => {
  const world = await scene();
  const attempt = await world.attempt("T1");
  await makeSerenaProject(world.parts, attempt);
  const { project } = world.parts.root;
  mkdirSync(join(project, ".serena"));
  writeFileSync(join(project, ".serena/project.yml"), `project_name: "${nameIn(attempt.worktree)}"\n`);
  expect((await findings(world)).map(([ok]) => ok)).toEqual([false]);
  expect((await findings(world))[0]?.[1]).toContain("several projects of Serena's are called");
  rmSync(join(project, ".serena"), { recursive: true });

  rmSync(join(attempt.worktree, ".serena"), { recursive: true });
  expect((await findings(world))[0]?.[1]).toContain("no project of their own");
  writeFileSync(list, THEIRS);
  await makeSerenaProject(
    { ...world.parts, takeLock: () => undefined, clock: { ...world.parts.clock, sleep: async () => {} } },
    attempt,
  );
  expect((await findings(world))[0]?.[1]).toContain("not registered");
  expect(await repairSerena(world.parts)).toEqual([`made the project of ${attempt.agent} known to Serena`]);
  expect(await findings(world)).toEqual([[true, "1 worktrees are projects of their own"]]);

  // Nobody's list is made, and one that is not understood is left alone; agents work all the same.
  writeFileSync(list, "projects: {a: /b}\n");
  expect(await makeSerenaProject(world.parts, attempt)).toContain("not understood");
  expect(readFileSync(list, "utf8")).toBe("projects: {a: /b}\n");
  rmSync(list);
  expect(await makeSerenaProject(world.parts, attempt)).toContain("run Serena once");
  expect(existsSync(list)).toBe(false);
});
