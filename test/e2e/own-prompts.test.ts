/**
 * A text of the user's own with which models are asked, as people and strangers leave it there: no file at all, too much of
 * one, emptied by the shell that writes it, taken away again. The real program, and planning with a scripted model.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PLAN_GOAL } from "#config/model-prompts.ts";
import { bundled, OVERSEER, overseer, overseerOk } from "../support/cli.ts";
import { confirmIn } from "../support/confirm.ts";
import { GOOD_PLAN, planningWorld, scriptModel } from "../support/planning-world.ts";
import { tempRepo } from "../support/temp.ts";

setDefaultTimeout(20_000);
beforeAll(bundled);

const makePipe = (path: string) => void Bun.spawnSync(["mkfifo", path]);
const CASES: [what: string, make: (path: string) => void, says: string][] = [
  ["a pipe", makePipe, "plan-goal.md is a pipe, a socket or a device and not a file."],
  ["a link to a device", (path) => symlinkSync("/dev/zero", path), "plan-goal.md is a symlink"],
  ["a link to itself", (path) => symlinkSync(path, path), "plan-goal.md is a symlink"],
  ["a directory", (path) => mkdirSync(path), "plan-goal.md is a directory and not a file."],
  ["too large", (path) => writeFileSync(path, "x".repeat(300 * 1024)), "plan-goal.md is larger than 256 KB"],
];

test.each(CASES)(
  "PLAN-1, SAFE-1: an own prompt that is no plain file (%s) is told by every door",
  async (_what, make, says) => {
    const { path } = tempRepo();
    await overseerOk(path, "init");
    mkdirSync(join(path, ".overseer/prompts"), { recursive: true });
    make(join(path, ".overseer/prompts/plan-goal.md"));
    for (const words of [
      ["config", "show"],
      ["trust", "--yes"],
      ["config", "accept"],
      ["config", "prompt", "plan-goal"],
    ]) {
      const refused = await overseer(path, ...words);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain(says);
    }
    const { stdout, stderr } = await overseer(path, "doctor");
    expect(`${stdout}${stderr}`.replace(/\s+/g, " ")).toContain(says);
  },
);

test.each(CASES)(
  "PLAN-1, SAFE-1: planning with such a prompt (%s) has failed, and does not wait",
  async (_what, make, says) => {
    const model = scriptModel(JSON.stringify(GOOD_PLAN));
    const place = await planningWorld(model);
    mkdirSync(join(place.repo.path, ".overseer/prompts"), { recursive: true });
    make(join(place.repo.path, ".overseer/prompts/plan-goal.md"));
    const { goalId } = await place.plan();
    const { planning } = await place.goal(goalId);
    expect(planning).toMatchObject({ status: "failed" });
    expect(planning?.detail).toContain(says);
  },
);

test("PLAN-1: the built-in text is written into the file it replaces, also where the shell has emptied that", async () => {
  const { path } = tempRepo();
  await overseerOk(path, "init");
  const file = join(path, ".overseer/prompts/plan-goal.md");
  const write = (more: string) => `${OVERSEER} config prompt plan-goal ${more}> .overseer/prompts/plan-goal.md`;
  for (const line of [`mkdir -p .overseer/prompts && ${write("--built-in ")}`, `rm ${file}; ${write("")}`]) {
    expect(Bun.spawnSync(["sh", "-c", line], { cwd: path, env: process.env }).exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(PLAN_GOAL.text);
  }
});

test("PLAN-1: what is said to do about a prompt that cannot be used leads out of it", async () => {
  const { path } = tempRepo();
  await overseerOk(path, "init");
  const file = join(path, ".overseer/prompts/plan-goal.md");
  mkdirSync(join(path, ".overseer/prompts"), { recursive: true });
  writeFileSync(file, "Plan it.\n");
  await confirmIn(path);
  const { stderr } = await overseer(path, "config", "prompt", "plan-goal");
  expect(stderr.replace(/\s+/g, " ")).toContain("delete it and run 'overseer config accept' to use ours");
  rmSync(file);
  await overseerOk(path, "config", "accept");
  expect((await overseer(path, "config", "show")).stderr).not.toContain("missing");
  expect((await overseerOk(path, "config", "prompt", "plan-goal")).trim()).toBe(PLAN_GOAL.text.trim());
});

test.each(["config.yaml", "hooks.yaml", "roles/builder.yaml", "agents/builder.md", "manifest.yaml"])(
  "CONF-2, SAFE-1: a pipe in the place of %s hangs nobody",
  async (name) => {
    const { path } = tempRepo();
    await overseerOk(path, "init");
    const file = join(path, ".overseer", name);
    rmSync(file, { force: true });
    makePipe(file);
    for (const words of [
      ["config", "show"],
      ["trust", "--yes"],
      ["config", "set", "agents.maxConcurrent", "3"],
    ]) {
      const refused = await overseer(path, ...words);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain(`.overseer/${name} is a pipe`);
    }
    for (const words of [["doctor"], ["status"], ["init"]]) {
      const { stdout, stderr } = await overseer(path, ...words);
      expect(`${stdout}${stderr}`.replace(/\s+/g, " ")).toContain(`.overseer/${name} is a pipe`);
    }
  },
);
