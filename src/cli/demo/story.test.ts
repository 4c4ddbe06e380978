/** What the demo writes is what the program takes, at every speed and with every number of agents. */
import { expect, test } from "bun:test";
import { parseConfig } from "#config/load.ts";
import { DEFAULT_PLAN_LIMITS, problemsOfPlan } from "#domain/plans/plan.ts";
import { parsePlan } from "#planner/plan-file.ts";
import { findScript } from "#runtimes/scripted/language.ts";
import { ownAgentStory } from "./own-agent.ts";
import { FEWEST_AGENTS, MOST_AGENTS, makeScriptedStory } from "./story.ts";

interface Plan {
  readonly phases: readonly { readonly tasks: readonly { readonly id: string; readonly objective: string }[] }[];
}
const tasksOf = (plan: string) => (JSON.parse(plan) as Plan).phases.flatMap(({ tasks }) => tasks);

for (const speed of [0.1, 1, 2, 10]) {
  for (const agents of [FEWEST_AGENTS, 4, MOST_AGENTS]) {
    test(`DEMO-1: at speed ${speed} with ${agents} agents configuration and plan are valid and every script can be played`, () => {
      const { configuration, plan, tasks } = makeScriptedStory({ speed, agents });
      expect(parseConfig(configuration, "config.yaml").agents.maxConcurrent).toBe(agents);
      expect(problemsOfPlan(parsePlan(plan, "plan.json").phases, DEFAULT_PLAN_LIMITS)).toEqual([]);
      expect(tasksOf(plan)).toHaveLength(tasks);
      expect(new Set(tasksOf(plan).map(({ id }) => id)).size).toBe(tasks);
      for (const { objective } of tasksOf(plan)) expect(findScript(objective)).toHaveProperty("steps");
    });
  }
}

test("DEMO-1: your own agent gets what it needs of your environment, a limit on what it may spend, and no script", () => {
  const env = { HOME: "/h", ANTHROPIC_API_KEY: "k", https_proxy: "p", CLAUDE_PROJECT_DIR: "/x", SECRET: "s" };
  const { configuration, plan, environment } = ownAgentStory({ speed: 1, agents: 4 }, env);
  const config = parseConfig(configuration, "config.yaml");
  expect(environment).toEqual({ HOME: "/h", ANTHROPIC_API_KEY: "k", https_proxy: "p" });
  expect(config.agents.passEnv).toEqual(["ANTHROPIC_API_KEY", "https_proxy"]);
  expect([config.budgets.agent.cost, config.budgets.goal.cost]).toEqual([0.5, 2]);
  expect(problemsOfPlan(parsePlan(plan, "plan.json").phases, DEFAULT_PLAN_LIMITS)).toEqual([]);
  expect(plan).not.toContain("@@SCRIPT");
});
