/** What `why` says, word for word, with and without its steps, through the real program: to be read by somebody who was not there. */
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { assign, blockAssignment, moveAssignment } from "#domain/model/assignment.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { assignmentById } from "#store/assignments.ts";
import { openForWriting } from "#store/open.ts";
import { nodeById } from "#store/work.ts";
import { expectGolden } from "../support/golden.ts";
import { bundledProgram } from "../support/program.ts";
import { T0 } from "../support/samples.ts";
import { tempRepo } from "../support/temp.ts";

const PLAN = `
planVersion: 1
phases:
  - id: P1
    name: Read dates
    objective: Every date we meet is read.
    acceptance: [all samples parse]
    tasks:
      - { id: T1, name: Write the grammar, outcome: A grammar, acceptance: [grammar tests pass] }
      - { id: T2, name: Fetch the samples, outcome: Samples, acceptance: [samples are there], deps: [T1] }
  - id: P2
    name: Show dates
    objective: Dates are shown as people write them.
    acceptance: [seen by Grace]
    deps: [P1]
    tasks:
      - { id: T3, name: Format, outcome: A formatter, acceptance: [format tests pass] }
`;

const program = bundledProgram();
const repo = tempRepo();
let goalId = "";

beforeAll(async () => {
  const run = (...words: string[]) => program.ok(repo.path, ...words);
  repo.write({ "plan.yaml": PLAN });
  await run("init");
  goalId = JSON.parse(await run("goal", "create", "Dates in every locale", "--json")).goalId;
  await run("goal", "plan", goalId, "--file", "plan.yaml");
  await run(
    "work",
    "done",
    "T1",
    "--summary",
    "All but Thai parses.",
    "--commit",
    "3f2a1c9",
    "--test",
    "grammar=41 pass",
  );
  const missing = ["--kind", "credential", "--reason", "The archive wants a login.", "--needs", "ARCHIVE_LOGIN"];
  await run("work", "block", "T2", ...missing);
  await run("work", "unblock", "T2", "--reason", "Grace sent it");
  await run("work", "block", "T2", "--kind", "external", "--reason", "the archive is down");
  await run("work", "done", "T2", "--override", "Twenty samples are enough.");
});

test("a node that was blocked, unblocked, overridden and done", async () => {
  expectGolden("why-node.txt", await program.ok(repo.path, "why", "T2", "--all"));
});

test("a node that is ready, and its phase", async () => {
  const both = [await program.ok(repo.path, "why", "T3"), await program.ok(repo.path, "why", "P1", "--all")];
  expectGolden("why-ready-and-phase.txt", both.join("\n"));
});

test("a goal that was paused and revised", async () => {
  repo.write({ "plan2.yaml": PLAN.replace("name: Format,", "name: Format and test,") });
  await program.ok(repo.path, "goal", "pause", goalId, "--reason", "holidays");
  await program.ok(repo.path, "goal", "plan", goalId, "--file", "plan2.yaml", "--change", "Grace asked for tests.");
  expectGolden("why-goal.txt", await program.ok(repo.path, "why", goalId));
});

describe("an assignment", () => {
  beforeAll(giveOut);

  test("that was dispatched, stalled and waits for a person", async () => {
    expectGolden("why-assignment.txt", await program.ok(repo.path, "why", "A_1", "--all"));
  });

  test("and the same as JSON says the same words", async () => {
    const told = JSON.parse(await program.ok(repo.path, "why", "A_1", "--json"));
    const text = await program.ok(repo.path, "why", "A_1", "--all");
    for (const { text: said } of told.story) expect(text).toContain(said);
    expect(told.story.every(({ at }: { at: string }) => !Number.isNaN(Date.parse(at)))).toBe(true);
  });
});

/** No command gives work out yet, so the rules are asked directly. */
async function giveOut(): Promise<void> {
  const store = await openForWriting({ address: join(repo.path, ".git/overseer/overseer.db") });
  let minutes = 60;
  const commit = async (decide: (moment: { now: number; actor: "overseer" }) => Promise<Decision<unknown>>) => {
    minutes += 1;
    const moment = { now: T0 + minutes * 60_000, actor: "overseer" as const };
    const decision = await decide(moment);
    const outcome = await store.commit({ at: moment.now, reads: {}, decide: () => decision });
    if (!outcome.ok) throw new Error(outcome.refusal.message);
  };
  const known = async () => {
    const { one } = await store.read({ one: assignmentById("A_1") });
    if (!one) throw new Error("no assignment");
    return one;
  };
  await commit(async (moment) => {
    const { node } = await store.read({ node: nodeById(goalId, "T3") });
    if (!node) throw new Error("no node");
    const target = { agentId: "builder-1", sessionKey: null, deliveryContext: null, spawnedBy: null };
    return assign(node, [], { assignmentId: "A_1", target, recoveryPolicy: "nudge", idleAfterMs: 1 }, moment);
  });
  const about = { actor: "overseer" as const, goalId, nodeId: "T3", assignmentId: "A_1", because: "first-dispatch" };
  await commit(async () =>
    accept(
      [
        {
          type: "assignment.dispatched",
          ...about,
          data: {
            dispatchId: "D_1",
            mode: "spawn",
            instruction: "Format dates.",
            instructionHash: "h",
            expectedNextUpdateAt: null,
          },
        },
      ],
      null,
    ),
  );
  await commit(async () =>
    accept(
      [
        {
          type: "assignment.delivered",
          ...about,
          data: { dispatchId: "D_1", result: "ok", runId: "run-1", notes: "" },
        },
      ],
      null,
    ),
  );
  await commit(async (moment) => moveAssignment(await known(), "active", "spoke", null, moment));
  await commit(async (moment) => moveAssignment(await known(), "stalled", "silent", "silent for 20 minutes", moment));
  await commit(async (moment) => blockAssignment(await known(), { on: "human", detail: "Which calendar?" }, moment));
  await store.close();
}
