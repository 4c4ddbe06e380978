/** Auto mode with the real Claude Code: two tasks from a pool, done, committed, reported, checked and landed. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Step } from "#runtimes/scripted/language.ts";
import { TestPool } from "../support/auto-pool.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { modelPrompt, textOf } from "../support/model-server.ts";
import { run } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const worlds: ClaudeWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) {
    await world.run("down");
    await world.end();
  }
});

const steps = (name: string): Step[] => [
  { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
  run(`git add ${name}.txt && git commit --quiet --message 'Write ${name}'`),
  { kind: "report", status: "done", summary: `${name} is there` },
];

test("AUTO-1 AUTO-2 AUTO-3 AUTO-10: two tasks of a pool are done by the real Claude Code and land", async () => {
  const world = await ClaudeWorld.start({
    config: {
      auto: { concurrency: 2, every: "150ms" },
      checks: { tests: { command: "true", on: ["done", "land"], timeout: "30s" } },
      defaults: { permissionMode: "bypassPermissions" },
    },
  });
  worlds.push(world);
  const pool = new TestPool();
  for (const name of ["one", "two"]) pool.put(name, modelPrompt(`Add ${name}`, steps(name)));
  await world.ok("up", "--auto", "--task-pool-command", pool.command, "--tasks", "2");
  const ended = () => world.rows<{ data: string }>("select data from events where type = 'pool.ended'");
  await world.until(() => ended().length === 2, "both tasks to end");
  expect(ended().map(({ data }) => JSON.parse(data).outcome)).toEqual(["landed", "landed"]);
  const titles = world.repo.git("log", "--format=%s", "main").split("\n").slice(0, -1);
  expect(titles.map((title) => title.split(" @@")[0]).toSorted()).toEqual(["Add one", "Add two"]);
  for (const name of ["one", "two"]) expect(world.repo.git("show", `main:${name}.txt`)).toBe(name);
  const workers = world.rows<{ agent: string }>("select agent from events where type = 'agent.slung' order by agent");
  expect(workers).toEqual([{ agent: "auto-1" }, { agent: "auto-2" }]);
  expect(world.model.requests.some((request) => textOf(request).includes("Add one"))).toBe(true);
  // It was started for two: it ends by itself.
  await world.until(
    () => world.rows("select 1 from events where type = 'daemon.stopped'").length === 1,
    "the daemon to end by itself",
  );
});
