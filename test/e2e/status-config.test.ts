/** `status` under a configuration that cannot be used: it says so, and everything else it has to say. */
import { expect, test } from "bun:test";
import { defaultConfig } from "#config/schema.ts";
import * as goals from "#control/goals.ts";
import { readFleetStatus } from "#control/status.ts";
import { examine } from "#control/upkeep/doctor.ts";
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

test("CONF-2: doctor under a file that is no YAML makes every check it can, and says where the fault is and what to do", async () => {
  const { repo, real } = await repoUnder(defaultConfig());
  const checks = (await examine(real)).map(({ check }) => check);
  const needsConfig = /^(runtime|role|trust|checks|project settings)/;
  repo.write({ ".overseer/config.yaml": "project:\n  name: x\nagents: [\n" });
  const again = realWorld(await findRoot({ cwd: repo.path, env: testEnvironment() }), testEnvironment());
  const findings = await examine(again);
  const names = findings.map(({ check }) => check);
  expect(checks.filter((check) => !names.includes(check) && !needsConfig.test(check))).toEqual([]);
  expect(findings.find(({ check }) => check === "database")).toMatchObject({ ok: true });
  const config = findings.find(({ check }) => check === "config");
  expect(config).toMatchObject({ ok: false, detail: expect.stringMatching(/config\.yaml:\d+:\d+: /) });
  expect(config?.next).toContain("Correct");
  expect(config?.next).toContain("Nothing is started until the file is corrected");
  expect(findings.filter(({ ok }) => !ok).map(({ check }) => check)).toEqual(["config"]);
}, 60_000);
