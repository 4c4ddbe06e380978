/**
 * A provider that fails two agents of the real Claude Code under a daemon: its login is refused, then nobody listens at
 * its port. The regular tick comes every ten minutes only, so whatever is noticed was noticed because a turn failed.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ClaudeWorld, type Slung } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { LiveScreen } from "../support/live-screen.ts";
import { type ModelServer, modelPrompt, startModelServer } from "../support/model-server.ts";
import { say } from "../support/steps.ts";
import { expectTroubles } from "../support/troubles.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let world: ClaudeWorld | undefined;
let again: ModelServer | undefined;
let screens: LiveScreen[] = [];
afterEach(async () => {
  for (const screen of screens.splice(0)) screen.close();
  await world?.run("down");
  await world?.end();
  await again?.stop();
  world = again = undefined;
});

test("FAIL-19, PROV-1, HOLD-1, STATUS-1: a refused login is one condition and one question, a dead port needs nobody; both continue, none is replaced", async () => {
  const fleet = await ClaudeWorld.start();
  world = fleet;
  const path = join(fleet.repo.path, ".overseer/config.yaml");
  const settings = { provider: { backoff: { base: "1s", max: "2s" } }, reconcile: { tickEvery: "10m" } };
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), ...settings }));
  await fleet.ok("up");
  const agents: Slung[] = [];
  for (const name of ["ada", "bob"]) {
    agents.push(await fleet.sling(modelPrompt("Begin", [say("Ready.")]), "--name", name));
  }
  const answered = (count: number) =>
    Promise.all(
      agents.map((agent) =>
        fleet.until(
          () => fleet.signals(agent, "turn.ended").filter(({ data }) => data.ok).length >= count,
          `answer ${count} to ${agent.agent}`,
        ),
      ),
    );
  await answered(1);

  fleet.model.refuseAll({ status: 401, type: "authentication_error", message: "invalid x-api-key" });
  for (const agent of agents) await fleet.send(agent, modelPrompt("Continue", [say("On it.")]));
  const [question] = await fleet.until(() => listProviderQuestions(fleet), "a question about the login");
  expect(question?.text).toContain("its login does not work");
  for (const agent of agents) {
    await fleet.until(() => fleet.signals(agent, "api.failed").length > 0, `the failure of ${agent.agent}`);
  }
  expect(listConditions(fleet)).toMatchObject([{ kind: "provider", cause: "auth", active: true }]);
  expect(await fleet.ok("status")).toMatch(
    /PROVIDER: .*its login does not work.*one agent tries, and the others follow/,
  );
  const [{ goalId = "" } = {}] = fleet.rows<{ goalId: string }>("select goal_id as goalId from attempts");
  const readTrouble = async (says: string, command: string) => {
    screens = [LiveScreen.open(fleet.repo.path, [80, 24]), LiveScreen.open(fleet.repo.path, [200, 50])];
    await expectTroubles((...words) => fleet.ok(...words), screens, [{ says, command, why: goalId }]);
    for (const screen of screens.splice(0)) screen.close();
  };
  await readTrouble("its login does not work", "overseer answer q_");
  fleet.model.refuseAll(null);
  await answered(2);
  await fleet.until(() => !listConditions(fleet).some(({ active }) => active), "the end of the condition");
  await fleet.until(() => listProviderQuestions(fleet)?.every(({ status }) => status === "withdrawn"), "its end");
  expect(listProviderQuestions(fleet)).toHaveLength(1);

  await fleet.model.stop();
  for (const agent of agents) await fleet.send(agent, modelPrompt("Continue again", [say("On it again.")]));
  await fleet.until(
    () => listConditions(fleet).some(({ active, cause }) => active && cause === "network"),
    "no network",
  );
  await readTrouble("cannot be reached", "overseer doctor");
  again = await startModelServer({ port: Number(new URL(fleet.model.url).port) });
  await answered(3);
  expect(listProviderQuestions(fleet)).toHaveLength(1);

  const replaced = ["assignment.nudged", "assignment.restarting", "assignment.reassigning", "assignment.stalled"];
  const found = fleet.rows<{ type: string }>("select type from events").filter(({ type }) => replaced.includes(type));
  expect(found).toEqual([]);
  expect(fleet.rows("select attempt from attempts")).toHaveLength(2);
});

function listConditions(fleet: ClaudeWorld): { kind: string; active: boolean; cause: string }[] {
  return fleet
    .rows<{ doc: string }>("select doc from conditions where kind = 'provider'")
    .map(({ doc }) => JSON.parse(doc) as { kind: string; active: boolean; cause: string });
}

function listProviderQuestions(fleet: ClaudeWorld): { text: string; status: string }[] | undefined {
  const all = fleet
    .rows<{ doc: string }>("select doc from questions")
    .map(({ doc }) => JSON.parse(doc) as { text: string; status: string });
  return all.length === 0 ? undefined : all;
}
