/** CTL-1: every form in which a screen prints a thing names it, and what names nothing or several says what to type. */
import { beforeAll, describe, expect, test } from "bun:test";
import { accept } from "#domain/model/decision.ts";
import { askQuestion } from "#domain/model/question.ts";
import { OverseerError } from "#errors.ts";
import { memoryStore } from "#store/memory.ts";
import type { Store } from "#store/store.ts";
import { addRunning } from "../../test/support/attempts.ts";
import { ADA, addGoal, addPlan, planned } from "../../test/support/samples.ts";
import { worldOn } from "../../test/support/world.ts";
import { agent, findAgent } from "./agents.ts";
import {
  assertOneMeaning,
  resolveAgent,
  resolveAny,
  resolveEventType,
  resolveGoal,
  resolveNode,
  resolveQuestion,
  resolveWork,
} from "./names.ts";
import { giveAnswer, questions } from "./questions.ts";
import { takeBackLanding } from "./revert.ts";
import { acceptWork, pick, rejectLanding, review } from "./review.ts";
import { cancelWork } from "./work.ts";

let store: Store;

/** agent-0, agent-1 and agent-2, each on T1 of its own goal; two questions about nothing in particular. */
beforeAll(async () => {
  store = memoryStore();
  await addRunning(store, 3, { pid: 1, start: "1" });
  for (const [at, questionId, text] of [
    [1, "q_ZZ11", "Which calendar?"],
    [2, "q_AA22", "Which zone?"],
  ] as const) {
    const outcome = await store.commit({
      at: ADA.now + at,
      reads: {},
      decide: () => {
        const asked = askQuestion(undefined, { questionId, text, options: [] }, { ...ADA, now: ADA.now + at });
        return asked.ok ? accept(asked.events, null) : asked;
      },
    });
    expect(outcome.ok).toBe(true);
  }
});

async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return `${error.kind} ${error.message} | ${error.hint}`;
  }
}

describe("CTL-1: an agent", () => {
  test.each([
    ["agent-1", 2],
    ["agent-1#2", 2],
    ["#2", 2],
    ["goal_RUNNING002/T1", 3],
    ["RUNNING002/T1", 3],
    ["", /^usage No agent was named\. \| .*overseer agents/],
    ["  ", /^usage No agent was named/],
    ["agent-1#1", /^not-found #1 is agent-0, not agent-1\. \| The last of that name is agent-1#2/],
    ["agent-1#99", /^not-found There is no agent agent-1#99\. \| The last of that name is agent-1#2/],
    ["agnet-1", /^not-found There is no agent called agnet-1\. \| Did you mean agent-1\? 'overseer agents --all'/],
    ["agent-", /^conflict agent- could be agent-0#1, agent-1#2, agent-2#3\. \| Name the agent/],
    ["T1", /^conflict T1 could be agent-0#1, agent-1#2, agent-2#3\. \| Name the agent/],
    ["P1", /^conflict P1 could be goal_RUNNING000\/P1/],
    ["goal_RUNNING002/P9", /^not-found There is no agent called/],
  ] as const)("%p is %p", async (word, expected) => {
    const found = await outcome(resolveAgent(store, word).then((one) => one.attempt));
    if (typeof expected === "number") expect(found).toBe(expected);
    else expect(found).toMatch(expected);
  });

  test("is shown by its label", async () => {
    expect((await agent(worldOn(store), "agent-1#2")).name).toBe("agent-1");
  });
});

describe("CTL-1: a goal", () => {
  test.each([
    ["goal_RUNNING001", "goal_RUNNING001"],
    ["RUNNING001", "goal_RUNNING001"],
    ["goal_running001", "goal_RUNNING001"],
    ["goal_", /^usage Every goal begins with goal_, so goal_ alone names none of them\. \| .*goal list/],
    ["", /^usage No goal was named\./],
    ["goal_R", /^conflict goal_R could be goal_RUNNING000 \(Work\), goal_RUNNING001 \(Work\), goal_RUNNING002/],
    ["goal_RUNNINK001", /^not-found There is no goal goal_RUNNINK001\. \| Did you mean goal_RUNNING001\? .*goal list/],
  ] as const)("%p is %p", async (word, expected) => {
    expect(await outcome(resolveGoal(store, word))).toEqual(
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    );
  });

  test("that is the only one is not named by what all begin with", async () => {
    const alone = memoryStore();
    await addRunning(alone, 1, { pid: 1, start: "1" });
    expect(await outcome(resolveGoal(alone, "goal_"))).toMatch(/^usage/);
    expect(await outcome(resolveNode(alone, "T"))).toMatch(/^not-found/);
    expect(await outcome(resolveGoal(alone, "goal_R"))).toBe("goal_RUNNING000");
  });
});

describe("CTL-1: work", () => {
  test.each([
    ["agent-2", "goal_RUNNING002/T1"],
    ["agent-2#3", "goal_RUNNING002/T1"],
    ["RUNNING001/T1", "goal_RUNNING001/T1"],
    ["T1", /^conflict T1 could be goal_RUNNING000\/T1 \(Work\), .* \| Name the goal too/],
    ["T9", /^not-found There is no agent or task T9\. \| Did you mean T1\? 'overseer work list'.*overseer agents/],
    ["", /^usage No work node was named/],
    ["M_", /^usage Every landing begins with M_/],
    ["M_X", /^not-found There is no landing M_X\. \| 'overseer merge' shows the queue/],
  ] as const)("%p is %p", async (word, expected) => {
    const found = await outcome(resolveWork(store, word).then(({ goalId, nodeId }) => `${goalId}/${nodeId}`));
    expect(found).toEqual(typeof expected === "string" ? expected : expect.stringMatching(expected));
  });
});

test("CTL-1: a verb that changes something does not choose between an agent and a task of one name", async () => {
  const both = memoryStore();
  await addRunning(both, 2, { pid: 1, start: "1" });
  await addGoal(both, "goal_TASKS");
  await addPlan(both, "goal_TASKS", [planned("P1", { children: [planned("agent-1"), planned("T5")] })]);
  const judge = (word: string, goal?: string) => outcome(assertOneMeaning(both, word, goal));
  const asked =
    /^conflict agent-1 is an agent \(agent-1#2\) and a task \(goal_TASKS\/agent-1\)\. \| .*agent-1#2.*goal_TASKS\/agent-1/;
  expect(await judge("agent-1")).toMatch(asked);
  for (const word of ["agent-0", "agent-1#2", "goal_TASKS/agent-1", "T5", "T1", "nobody", ""]) {
    expect([word, await judge(word)]).toEqual([word, undefined]);
  }
  expect(await judge("agent-1", "goal_TASKS")).toBeUndefined();
  expect(await resolveWork(both, "agent-1", "goal_TASKS")).toEqual({ goalId: "goal_TASKS", nodeId: "agent-1" });
  const world = worldOn(both);
  const verbs = [
    () => findAgent(world, "agent-1"),
    () => acceptWork(world, { what: "agent-1" }),
    () => rejectLanding(world, { what: "agent-1" }, "No"),
    () => pick(world, { what: "agent-1" }, null),
    () => takeBackLanding(world, { what: "agent-1", force: false, reopen: false }),
    () => cancelWork(world, { node: "agent-1" }, "No"),
  ];
  for (const verb of verbs) expect(await outcome(verb())).toMatch(asked);
  expect(await outcome(review(world, { what: "agent-1" }))).toMatch(/no finished work for goal_RUNNING001\/T1/);
});

describe("CTL-1: anything", () => {
  test.each([
    ["agent-2#3", "assignment"],
    ["q_AA22", "question"],
    ["2", "question"],
    ["RUNNING001", "goal"],
    ["goal_RUNNING001/T1", "node"],
    ["nonsense", /^not-found There is no goal, task, agent or question nonsense/],
  ] as const)("%p is %p", async (word, expected) => {
    const found = await outcome(resolveAny(store, word).then(({ kind }) => kind));
    expect(found).toEqual(typeof expected === "string" ? expected : expect.stringMatching(expected));
  });
});

describe("CTL-1: a question", () => {
  test.each([
    ["1", "q_ZZ11"],
    ["#2", "q_AA22"],
    ["q_A", "q_AA22"],
    ["aa", "q_AA22"],
    ["q_", /^usage Every question begins with q_/],
    ["7", /^not-found There is no question 7\. \| 'overseer questions'/],
    ["q_AA23", /^not-found There is no question q_AA23\. \| Did you mean q_AA22\?/],
  ] as const)("%p is %p", async (word, expected) => {
    expect(await outcome(resolveQuestion(store, word))).toEqual(
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    );
  });

  test("keeps its number when an older one is answered: a number never means another question than it did", async () => {
    const world = worldOn(store);
    expect((await questions(world)).map(({ number, questionId }) => [number, questionId])).toEqual([
      [1, "q_ZZ11"],
      [2, "q_AA22"],
    ]);
    expect((await giveAnswer(world, "1", "ISO")).asked).toBe("Which calendar?");
    expect((await questions(world)).map(({ number }) => number)).toEqual([2]);
    expect(await outcome(giveAnswer(world, "1", "Berlin"))).toMatch(/^conflict Question q_ZZ11 is answered already/);
    expect(await giveAnswer(world, "2", "UTC")).toMatchObject({ questionId: "q_AA22" });
  });
});

test("EVT-1: a type of events is one that exists, or the noun of several", () => {
  expect(["work", "work.done", "question"].map(resolveEventType)).toEqual(["work", "work.done", "question"]);
  expect(() => resolveEventType("work.dnoe")).toThrow("No event is of the type work.dnoe");
});

test("CTL-1: of several tasks with one name, the only one that fits is meant; where several fit, those are named", async () => {
  const only = (goal: string) => (node: { goalId: string }) => node.goalId === goal;
  expect(await resolveWork(store, "T1", undefined, only("goal_RUNNING001"))).toEqual({
    goalId: "goal_RUNNING001",
    nodeId: "T1",
  });
  const two = outcome(resolveWork(store, "T1", undefined, ({ goalId }) => goalId !== "goal_RUNNING000"));
  expect(await two).toMatch(/^conflict T1 could be goal_RUNNING001\/T1 \(Work\), goal_RUNNING002\/T1 \(Work\)\. /);
  expect(await outcome(resolveWork(store, "T1", undefined, () => false))).toMatch(
    /^conflict T1 could be goal_RUNNING000/,
  );
});
