/**
 * PLAN-2, SAFE-1: a model revises a plan that people have worked on. What they set stays, what is done stays done, and of
 * two people who change or accept one proposal nobody overwrites the other unseen.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { editProposalIn } from "#control/edit-proposal.ts";
import * as goals from "#control/goals.ts";
import { acceptProposal, digestOfProposal, wantPlan } from "#control/planning.ts";
import { plan as planByFile } from "#control/plans.ts";
import { finishWork } from "#control/work.ts";
import { awaitProposal } from "#engine/await-proposal.ts";
import { nodesOfGoal } from "#store/work.ts";
import { GOOD_PLAN, type PlanningWorld, planningWorld, scriptModel, withFirstTask } from "../support/planning-world.ts";

setDefaultTimeout(60_000);

const PERSONS = {
  ...{
    model: "opus",
    runtime: "scripted",
    recoveryPolicy: "reassign",
    idleAfter: "7m",
    budget: { cost: 3, time: "1h" },
  },
  ...{ tags: ["urgent"], definitionOfDone: "Reviewed by Ada", hints: { riskLevel: "high" }, acceptance: ["It works"] },
};
const WRITTEN = JSON.stringify(withFirstTask(PERSONS));
const REPEATED = withFirstTask({ acceptance: ["It works"] });

async function revise(place: PlanningWorld, goalId: string, prune: "all" | [] = []) {
  const { number } = await wantPlan(place.world, goalId, { remark: "again" });
  await awaitProposal(place.world, goalId, number);
  const { planning } = await place.goal(goalId);
  expect([planning?.status, planning?.detail]).toEqual(["proposed", null]);
  return acceptProposal(place.world, goalId, { number, prune });
}

async function nodeOf({ world }: PlanningWorld, goalId: string, id: string) {
  const { nodes } = await (await world.writer()).read({ nodes: nodesOfGoal(goalId) });
  return nodes.find(({ workNodeId }) => workNodeId === id);
}

async function begin(...answers: string[]) {
  const place = await planningWorld(scriptModel(...answers));
  const goalId = await goals.create(place.world, { title: "Limits" });
  await planByFile(place.world, goalId, { name: "plan.json", text: WRITTEN });
  return { place, goalId };
}

describe("PLAN-2: a model's revision of a plan that a person wrote", () => {
  test("leaves what people set as it is, open or done", async () => {
    const { place, goalId } = await begin(JSON.stringify(REPEATED).replace("Use it", "Use it well"));
    const before = await nodeOf(place, goalId, "T1.1");
    expect(await revise(place, goalId)).toMatchObject({ changed: 1, kept: 2 });
    const { hints, tags, definitionOfDone } = (await nodeOf(place, goalId, "T1.1")) ?? {};
    expect({ hints, tags, definitionOfDone }).toEqual({
      hints: before?.hints,
      tags: ["urgent"],
      definitionOfDone: "Reviewed by Ada",
    });
    await finishWork(place.world, { node: "T1.1", goal: goalId }, { summary: "done" });
    expect(await revise(place, goalId)).toMatchObject({ changed: 0, kept: 3 });
  });

  test("may leave out what is done, and come after it", async () => {
    const [phase] = GOOD_PLAN.phases;
    const rest = { ...GOOD_PLAN, phases: [{ ...phase, tasks: phase?.tasks.slice(1) }] };
    const { place, goalId } = await begin(JSON.stringify(rest));
    await finishWork(place.world, { node: "T1.1", goal: goalId }, { summary: "done" });
    expect(await revise(place, goalId)).toMatchObject({ cancelled: 0, added: 0 });
    expect(await nodeOf(place, goalId, "T1.1")).toMatchObject({ status: "done" });
    expect(await nodeOf(place, goalId, "T1.2")).toMatchObject({ status: "queued", dependsOn: ["T1.1"] });
  });
});

describe("SAFE-1: two people and one proposal", () => {
  const replaceIn = (file: string, from: string, to: string) =>
    Bun.write(file, readFileSync(file, "utf8").replace(from, to));
  const caught = (work: Promise<unknown>) => work.then(() => undefined).catch((error) => error);

  test("of two editors the second is told, and keeps its text in a file of its own", async () => {
    const place = await planningWorld(scriptModel(JSON.stringify(GOOD_PLAN)));
    const { goalId } = await place.plan();
    const opened: string[] = [];
    const inner = async (file: string) => {
      opened.push(file);
      await replaceIn(file, "Limiter", "Governor");
      return 0;
    };
    const late = editProposalIn(place.world, goalId, () => async (file) => {
      opened.push(file);
      await editProposalIn(place.world, goalId, () => inner);
      await replaceIn(file, "Use it", "Use it well");
      return 0;
    });
    const error = await caught(late);
    expect(error?.code).toBe("PROPOSAL_CHANGED");
    expect(new Set(opened).size).toBe(2);
    const raw = (await place.goal(goalId)).planning?.proposal?.raw ?? "";
    expect([raw.includes("Governor"), raw.includes("Use it well")]).toEqual([true, false]);
    const kept = /(\S*plan-draft-\S+\.yaml)/.exec(error.hint)?.[1] ?? "";
    expect(readFileSync(kept, "utf8")).toContain("Use it well");
    // The next one begins with what is proposed now.
    let seen = "";
    await editProposalIn(place.world, goalId, () => async (file) => {
      seen = readFileSync(file, "utf8");
      return 0;
    });
    expect([seen.includes("Governor"), seen.includes("Use it well")]).toEqual([true, false]);
  });

  test("what is accepted is what was looked at, to the letter", async () => {
    const place = await planningWorld(scriptModel(JSON.stringify(GOOD_PLAN)));
    const { goalId, number } = await place.plan();
    const { planning } = await place.goal(goalId);
    const digest = digestOfProposal(planning?.proposal ?? { raw: "" });
    await editProposalIn(place.world, goalId, () => async (file) => {
      await replaceIn(file, "Limiter", "Governor");
      return 0;
    });
    expect((await caught(acceptProposal(place.world, goalId, { number, digest })))?.code).toBe("PROPOSAL_CHANGED");
    expect((await place.goal(goalId)).plan).toEqual([]);
    const now = digestOfProposal((await place.goal(goalId)).planning?.proposal ?? { raw: "" });
    expect(await acceptProposal(place.world, goalId, { number, digest: now })).toMatchObject({ revision: 1 });
  });
});
