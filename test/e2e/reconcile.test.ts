/**
 * A plan of three phases and nine tasks, carried out by scripted agents as real processes under a real daemon, with
 * everything going wrong that goes wrong: one agent stops half-way and needs a word, one hangs, one lies, one dies, one
 * asks, one runs out of quota, one waits long for a person. Nobody helps but the person who is asked.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeProgram, knownToTheCli, modelEnvironment, NEWEST } from "../support/claude.ts";
import { bundled } from "../support/cli.ts";
import { Fleet } from "../support/fleet.ts";
import { startModelServer } from "../support/model-server.ts";
import { liveThroughNine, QUICK } from "../support/nine-tasks.ts";
import { isLongLane } from "../support/scale.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.end();
  fleet = undefined;
});

/** Who does the work: in an ordinary run the mixed fleet alone, which meets everything that the other does. */
const FLEETS: [who: string, claudes: readonly string[]][] = [
  ["two of its agents real Claude Code", ["T3", "T9"]],
  ...(isLongLane() ? [["all of its agents scripted", []] as [string, readonly string[]]] : []),
];

test.each(FLEETS)(
  "VALID-14 TICK-1 LADDER-1 DONE-1 QUOTA-1 ESC-1 RUN-1: with %s, a goal with a plan is dispatched, stalls, is nudged, continues and converges: nine tasks land in order, whatever their agents do",
  async (_who, claudes) => {
    const model = await startModelServer({ speed: 10 });
    try {
      fleet = await withClaude(model.url);
      const world = fleet;
      const goalId = await liveThroughNine(world, (task) => (claudes.includes(task) ? "coder" : undefined));
      const second = world.all("agent.slung").findLast(({ nodeId }) => nodeId === "T2");
      expect(second?.data.base).toBe(world.repo.git("rev-parse", firstBranchOf(world, "T2")));
      expect(await world.ok("why", `${goalId}/T2`, "--all")).toContain("asked");
      const runtimes = new Map(world.all("agent.slung").map(({ nodeId, data }) => [nodeId, data.runtime]));
      for (const [task, runtime] of runtimes) {
        expect(`${task} ${runtime}`).toBe(`${task} ${claudes.includes(task ?? "") ? "claude-code" : "scripted"}`);
      }
      expect(model.requests.length > 0).toBe(claudes.length > 0);
      await world.end();
      fleet = undefined;
    } finally {
      await model.stop();
    }
  },
);

function firstBranchOf(world: Fleet, nodeId: string): string {
  return world.all("agent.slung").find((event) => event.nodeId === nodeId)?.data.branch ?? "";
}

/** A fleet whose role `coder` runs on the real CLI, with the scripted model behind it. */
async function withClaude(url: string): Promise<Fleet> {
  const given = modelEnvironment(url);
  const configDir = join(tempDir("claude-"), "config");
  mkdirSync(configDir);
  const made = await Fleet.make({ more: QUICK, env: { ...given, CLAUDE_CONFIG_DIR: configDir } });
  writeFileSync(join(configDir, ".claude.json"), knownToTheCli(made.repo.path));
  const path = join(made.userDir, "config.yaml");
  const config = Bun.YAML.parse(readFileSync(path, "utf8")) as { agents: object; runtimes: object };
  const agents = { ...config.agents, passEnv: Object.keys(given) };
  const runtimes = { ...config.runtimes, "claude-code": { command: claudeProgram(NEWEST) } };
  writeFileSync(path, JSON.stringify({ ...config, agents, runtimes }));
  const roles = join(made.userDir, "roles");
  const builder = readFileSync(join(roles, "builder.yaml"), "utf8");
  writeFileSync(
    join(roles, "coder.yaml"),
    `${builder.replace("capability: builder", "capability: coder")}runtime: claude-code\n`,
  );
  return made;
}
