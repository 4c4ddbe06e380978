/** `status` under a configuration that cannot be used: it says so, and everything else it has to say. */
import { expect, test } from "bun:test";
import { defaultConfig } from "#config/schema.ts";
import * as goals from "#control/goals.ts";
import { readFleetStatus } from "#control/status.ts";
import { findRoot } from "#sys/root.ts";
import { realWorld } from "#wiring.ts";
import { testEnvironment } from "../support/git-tools.ts";
import { repoUnder } from "../support/staged-world.ts";

test("CONF-2: a broken configuration is part of the status and hides nothing else", async () => {
  const { repo, real } = await repoUnder(defaultConfig());
  const goalId = await goals.create(real, { title: "Parse dates" });
  expect((await readFleetStatus(real)).configProblem).toBeNull();

  repo.write({ ".overseer/config.yaml": "agents:\n  maxConcurent: 3\n" });
  const again = realWorld(await findRoot({ cwd: repo.path, env: testEnvironment() }), testEnvironment());
  const now = await readFleetStatus(again);
  expect(now.configProblem).toContain("maxConcurent");
  expect(now.goals.map((goal) => goal.goalId)).toEqual([goalId]);
});
