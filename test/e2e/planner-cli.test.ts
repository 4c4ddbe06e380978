/**
 * PLAN-1 as a person types it: with the daemon and without, killed in the middle, left to the daemon, shown, accepted and
 * refused. The model is a command; agents are none of this file's business.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { bundled, startOverseer } from "../support/cli.ts";
import { eventually } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { GOOD_PLAN, scriptModels, withFirstTask } from "../support/planning-world.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });
const FILES = {
  "README.md": "# An API\n",
  "src/api/routes.ts": "export const routes = 1;\n",
  "test/api.test.ts": "// tests\n",
};
const GOOD = JSON.stringify(GOOD_PLAN);
/** A model that thinks, and says which process it is. */
const SLOW = "!echo $$ > pid; exec sleep 60";

test("PLAN-1: asked for without a daemon, killed in the middle, taken up by the daemon, shown and accepted", async () => {
  const models = scriptModels({
    "-kill": [SLOW, GOOD],
    "-left": [SLOW, GOOD],
    "-bad": ["No."],
    "-own": [JSON.stringify(withFirstTask({ name: "Governor" }))],
    "-dead": ["!exit 7"],
  });
  const more = `model: {command: '${models.command}'}\nchecks: {unit: 'true'}\nplanner: {repairs: 0}\n`;
  const fleet = await fleetOf({ files: FILES, more });
  const planned = (goalId: string) =>
    JSON.parse(JSON.stringify(fleet.all("plan.proposed").filter((one) => one.goalId === goalId)));

  // Killed while the model thinks: it stays wanted, and nothing is proposed.
  const asking = startOverseer(fleet.repo.path, ["goal", "create", "Limits row-kill", "--plan-with-model"]);
  await eventually(
    () => models.of("-kill").asked() === 1,
    () => "the model was never asked",
  );
  asking.kill("SIGKILL");
  await asking.exited;
  // Killed so, nobody ends the model; whoever starts one in a test does.
  // Read before it is written it would be 0, and that is this very process and all beside it.
  const model = await eventually(
    () => Number(models.of("-kill").wrote("pid")) || undefined,
    () => "the pid of the model",
  );
  process.kill(model, "SIGKILL");
  const [row] = JSON.parse(await fleet.ok("goal", "list", "--json")) as { goalId: string }[];
  const goalId = row?.goalId ?? "";
  const waiting = await fleet.run("goal", "plan", goalId, "--show");
  expect([waiting.code, waiting.stdout]).toEqual([
    0,
    expect.stringContaining("without a daemon nobody does: overseer up"),
  ]);
  expect(await fleet.ok("status")).toContain("overseer up");
  const twice = await fleet.run("goal", "plan", goalId, "--with-model");
  expect([twice.code, twice.stderr]).toEqual([4, expect.stringContaining("already")]);

  // Left with Ctrl-C, the model is ended with it.
  const leaving = startOverseer(fleet.repo.path, ["goal", "create", "Limits row-left", "--plan-with-model"]);
  await eventually(
    () => models.of("-left").wrote("pid") !== "",
    () => "the model was never asked",
  );
  const thinking = fleet.processes.identify(Number(models.of("-left").wrote("pid")));
  leaving.kill("SIGINT");
  expect([await leaving.exited, await leaving.stderr.text()]).toEqual([7, expect.stringContaining("not made yet")]);
  await eventually(
    () => thinking === undefined || !fleet.processes.alive(thinking),
    () => "the model was not ended",
  );

  // The daemon takes it up; another one that fails is in nobody's way.
  await fleet.ok("up");
  await eventually(
    () => planned(goalId).length === 1,
    () => JSON.stringify(fleet.all("plan.waits")),
  );
  expect(models.of("-kill").asked()).toBe(2);
  expect(await fleet.ok("status")).toContain(`the plan of ${goalId} Limits row-kill waits for you, 3 nodes`);
  const shown = await fleet.run("goal", "plan", goalId, "--show");
  expect(shown.stdout).toContain("src/api/limit.ts exports limitRate");
  expect(shown.stdout).toContain("prompt plan-goal (hash ");
  expect(shown.stderr).toContain(`overseer goal plan ${goalId} --accept`);

  const bad = await fleet.run("goal", "create", "Limits row-bad", "--plan-with-model");
  expect([bad.code, bad.stderr]).toEqual([4, expect.stringContaining('It begins: "No."')]);
  expect(bad.stderr).toMatch(/overseer goal plan goal_\w+ --with-model/);
  const dead = await fleet.run("goal", "create", "Limits row-dead", "--plan-with-model");
  expect([dead.code, dead.stdout]).toEqual([
    0,
    expect.stringMatching(/waits: the model could not be asked.*the daemon asks then/s),
  ]);
  const status = await fleet.ok("status");
  expect(status).toContain("PLANNING FAILED");
  expect(status).toContain("NOT PLANNED: planning of");

  const both = await fleet.run("goal", "plan", goalId, "--accept", "--drop");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("do not go together")]);
  const accepted = JSON.parse(await fleet.ok("goal", "plan", goalId, "--accept", "--json"));
  expect(accepted).toMatchObject({ goalId, revision: 1, added: 3 });
  expect(await fleet.ok("why", goalId, "--all")).toContain("accepted what model.command proposed");

  // By the daemon, at once, where the person says so beforehand.
  const auto = await fleet.run("goal", "create", "Limits row-own", "--plan-with-model", "--yes", "--json");
  expect([auto.code, JSON.parse(auto.stdout)]).toEqual([0, expect.objectContaining({ planning: null })]);
  expect(fleet.all("plan.accepted")).toHaveLength(2);
});

test("PLAN-1: what is accepted at once is told to be accepted", async () => {
  const models = scriptModels({ "": [GOOD, JSON.stringify(withFirstTask({ name: "Governor" }))] });
  const more = `model: {command: '${models.command}'}\nchecks: {unit: 'true'}\n`;
  const fleet = await fleetOf({ files: FILES, more });
  const { goalId } = JSON.parse(await fleet.ok("goal", "create", "Limits", "--json")) as { goalId: string };
  for (const revision of [1, 2]) {
    const told = await fleet.ok("goal", "plan", goalId, "--with-model", "--yes");
    expect(told).toContain(`The plan of ${goalId} is accepted: revision ${revision}, 3 nodes.`);
    expect(told).not.toContain("No plan is proposed");
  }
});
