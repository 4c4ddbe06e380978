/**
 * What every store keeps to, whatever lies underneath. Memory and SQLite run it today; PostgreSQL joins by adding
 * one line to store.test.ts.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { refuse } from "#domain/core/refusal.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import { askQuestion, endQuestion } from "#domain/model/question.ts";
import { finishByHand } from "#domain/model/work.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { OverseerError } from "#errors.ts";
import {
  assignmentsOfNode,
  crystallizationById,
  latestCrystallization,
  openQuestions,
  questionById,
  questionByPlace,
  questionNumber,
} from "#store/assignments.ts";
import { eventsMatching, logSize } from "#store/events.ts";
import { goalById, goalOverviews, goalsWithPrefix } from "#store/goals.ts";
import { mergesWithPrefix } from "#store/merges.ts";
import type { Store } from "#store/store.ts";
import { nodeById, nodesInStatus, nodesNamed, nodesOfGoal, nodesWithPrefix } from "#store/work.ts";
import { ADA, addGoal, addPlan, T0 } from "../support/samples.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";

export function storeSuite(name: string, open: () => Promise<Store>): void {
  describe(`store contract: ${name}`, () => {
    const opened: Store[] = [];
    const fresh = async () => {
      const store = await open();
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });

    test("STORE-1: a commit appends its events in order, without gaps, and folds them into the tables", async () => {
      const store = await fresh();
      await addGoal(store, "goal_A");
      await addPlan(store, "goal_A");
      const { size, goal, nodes } = await store.read({
        size: logSize(),
        goal: goalById("goal_A"),
        nodes: nodesOfGoal("goal_A"),
      });
      const log = await store.log({ after: 0, limit: 1000 });
      expect(log.map((event) => event.seq)).toEqual(log.map((_, index) => index + 1));
      expect(size).toEqual({ events: log.length, last: log.length });
      expect(goal?.plan).toHaveLength(1);
      expect(nodes.map((node) => `${node.workNodeId} ${node.status}`)).toEqual([
        "P1 queued",
        "T1.1 queued",
        "S1.1.1 queued",
        "S1.1.2 todo",
        "T1.2 todo",
        "P2 todo",
        "T2.1 todo",
      ]);
    });

    test("STORE-5: a store has an identity of its own, which nothing that is written changes", async () => {
      const store = await fresh();
      const identity = await store.identity();
      expect(identity).toMatch(/^s_[0-9a-f-]{20,}$/);
      await addGoal(store, "goal_A");
      await store.rebuild();
      expect(await store.identity()).toBe(identity);
      expect(await (await fresh()).identity()).not.toBe(identity);
    });

    test("STORE-2: an event carries its place, time, type, actor, ids, reason and payload", async () => {
      const store = await fresh();
      await addGoal(store, "goal_A");
      const [event] = await store.log({ after: 0, limit: 1 });
      expect(event).toMatchObject({
        seq: 1,
        at: T0,
        v: 1,
        type: "goal.created",
        actor: "human:ada",
        goalId: "goal_A",
        because: "asked-for",
      });
    });

    test("a refusal is a value and writes nothing", async () => {
      const store = await fresh();
      await addGoal(store, "goal_A");
      const before = await store.dump();
      const outcome = await store.commit({
        at: T0,
        reads: {},
        decide: () => refuse("conflict", "NO", "No.", "Ask again."),
      });
      expect(outcome).toEqual({
        ok: false,
        refusal: { kind: "conflict", code: "NO", message: "No.", hint: "Ask again." },
      });
      expect(await store.dump()).toEqual(before);
      expect((await store.read({ size: logSize() })).size.events).toBe(1);
    });

    test("a rule that throws writes nothing, and the store continues", async () => {
      const store = await fresh();
      const failing = store.commit({
        at: T0,
        reads: {},
        decide: () => {
          throw new Error("a fault in a rule");
        },
      });
      expect(failing).rejects.toThrow("a fault in a rule");
      await addGoal(store, "goal_A");
      expect((await store.read({ size: logSize() })).size.events).toBe(1);
    });

    test("WORK-2: an event that makes a forbidden move is refused at the door, whoever wrote it", async () => {
      const store = await fresh();
      await addGoal(store, "goal_A");
      await addPlan(store, "goal_A");
      const before = await store.dump();
      const forbidden = store.commit({
        at: T0,
        reads: {},
        decide: () =>
          accept(
            [
              {
                type: "work.started",
                actor: "overseer",
                goalId: "goal_A",
                nodeId: "T2.1",
                because: "test",
                data: { reason: null },
              },
            ],
            null,
          ),
      });
      expect(forbidden).rejects.toThrow("a node cannot go from todo to in_progress");
      expect(await store.dump()).toEqual(before);
    });

    test("what a rule reads and what it writes are one step: of many racing callers exactly one wins", async () => {
      const store = await fresh();
      const results = await Promise.allSettled(Array.from({ length: 20 }, () => addGoal(store, "goal_SAME")));
      expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
      expect((await store.read({ size: logSize() })).size.events).toBe(1);
    });

    test("STORE-1: rebuilding from the log gives equal tables, versions included", async () => {
      const store = await fresh();
      await addGoal(store, "goal_A");
      await addPlan(store, "goal_A");
      await finish(store, "goal_A", "S1.1.1");
      const before = await store.dump();
      const { events } = await store.rebuild();
      expect(events).toBe((await store.read({ size: logSize() })).size.events);
      expect(await store.dump()).toEqual(before);
      await finish(store, "goal_A", "S1.1.2");
      expect((await store.read({ node: nodeById("goal_A", "T1.1") })).node?.status).toBe("done");
    });

    test("append continues a log that was taken elsewhere, and refuses one with a gap", async () => {
      const source = await fresh();
      await addGoal(source, "goal_A");
      await addPlan(source, "goal_A");
      const log = await source.log({ after: 0, limit: 1000 });
      const target = await fresh();
      await target.append(log);
      expect(await target.dump()).toEqual(await source.dump());
      const late = { ...(log.at(-1) as EventOf), seq: log.length + 2 } as EventOf;
      expect(target.append([late])).rejects.toBeInstanceOf(OverseerError);
      expect((await target.read({ size: logSize() })).size.events).toBe(log.length);
    });

    test("STORE-8: restore replaces a log that only tells of its beginning, and refuses one with a history", async () => {
      const source = await fresh();
      await addGoal(source, "goal_A");
      await addPlan(source, "goal_A");
      const log = await source.log({ after: 0, limit: 1000 });
      const target = await fresh();
      const begun = { type: "overseer.initialised", actor: "human:ada", because: "asked-for" } as const;
      await target.commit({
        at: T0,
        reads: {},
        decide: () => accept([{ ...begun, data: { version: "1", targetBranch: null } }], null),
      });
      await expect(target.restore(log.slice(1))).rejects.toMatchObject({ code: "LOG_GAP" });
      expect((await target.log({ after: 0, limit: 10 })).map((event) => event.type)).toEqual(["overseer.initialised"]);
      await target.restore(log);
      expect(await target.dump()).toEqual(await source.dump());
      expect(await target.log({ after: 0, limit: 1000 })).toEqual([...log]);
      await expect(target.restore(log)).rejects.toMatchObject({ code: "STORE_NOT_EMPTY" });
      await finish(target, "goal_A", "S1.1.1");
      await target.rebuild();
    });

    test("CTL-1: a question keeps its number for ever, and is found by it", async () => {
      const store = await fresh();
      for (const [at, questionId] of [
        [T0 + 1, "q_B"],
        [T0 + 2, "q_A"],
        [T0 + 2, "q_C"],
      ] as const) {
        const wanted = { questionId, text: `What is ${questionId}?`, options: [] };
        await store.commit({
          at,
          reads: { taken: questionById(questionId) },
          decide: ({ taken }) => askQuestion(taken, wanted, { ...ADA, now: at }),
        });
      }
      const numbers = async () => {
        const { b, a, c } = await store.read({
          b: questionById("q_B"),
          a: questionById("q_A"),
          c: questionById("q_C"),
        });
        const of = [b, a, c].flatMap((one) => one ?? []);
        return Promise.all(of.map(async (one) => (await store.read({ n: questionNumber(one) })).n));
      };
      expect(await numbers()).toEqual([1, 2, 3]);
      await store.commit({
        at: T0 + 3,
        reads: { one: questionById("q_B") },
        decide: ({ one }) => endQuestion(one, "q_B", { to: "answered", answer: "x" }, ADA),
      });
      expect(await numbers()).toEqual([1, 2, 3]);
      const seen = await store.read({ two: questionByPlace(2), four: questionByPlace(4) });
      expect([seen.two?.questionId, seen.four]).toEqual(["q_A", undefined]);
      expect((await store.read({ none: mergesWithPrefix("M_") })).none).toEqual([]);
    });

    test("every question is answered the same way from every store", async () => {
      const store = await fresh();
      await addGoal(store, "goal_A1");
      await addGoal(store, "goal_A2", T0 + 5);
      await addPlan(store, "goal_A1");
      await addPlan(store, "goal_A2");
      await finish(store, "goal_A1", "S1.1.1");
      const seen = await store.read({
        none: goalById("goal_none"),
        prefix: goalsWithPrefix("goal_A"),
        one: goalsWithPrefix("goal_A2"),
        overview: goalOverviews({ archived: false }),
        named: nodesNamed("T1.1"),
        begin: nodesWithPrefix("T1."),
        queued: nodesInStatus("queued", 3),
        done: nodesInStatus("done", 10),
        assignments: assignmentsOfNode("goal_A1", "T1.1"),
        crystal: latestCrystallization("goal_A1"),
        noCrystal: crystallizationById("C_none"),
        questions: openQuestions(),
        work: eventsMatching({ type: "work", goalId: "goal_A1", limit: 3 }),
        newest: eventsMatching({ goalId: "goal_A1", nodeId: "S1.1.1", limit: 2, newest: true }),
      });
      expect(seen.none).toBeUndefined();
      expect(seen.prefix.map((goal) => goal.goalId)).toEqual(["goal_A1", "goal_A2"]);
      expect(seen.one.map((goal) => goal.goalId)).toEqual(["goal_A2"]);
      expect(
        seen.overview.map(({ goalId, nodes, leaves, leavesDone, queued }) => [
          goalId,
          nodes,
          leaves,
          leavesDone,
          queued,
        ]),
      ).toEqual([
        ["goal_A1", 7, 4, 1, 1],
        ["goal_A2", 7, 4, 0, 1],
      ]);
      expect(seen.named.map((node) => node.goalId)).toEqual(["goal_A1", "goal_A2"]);
      expect(seen.begin.map((node) => `${node.goalId}/${node.workNodeId}`).slice(0, 3)).toEqual([
        "goal_A1/T1.1",
        "goal_A2/T1.1",
        "goal_A1/T1.2",
      ]);
      expect(seen.queued.map((node) => `${node.goalId}/${node.workNodeId}`)).toHaveLength(3);
      expect(seen.done.map((node) => node.workNodeId)).toEqual(["S1.1.1"]);
      expect(seen.assignments).toEqual([]);
      expect(seen.crystal?.summary).toBe("S1.1.1 works");
      expect(seen.noCrystal).toBeUndefined();
      expect(seen.questions).toEqual([]);
      expect(seen.work.map((event) => event.type)).toEqual(["work.added", "work.added", "work.added"]);
      expect(seen.newest.map((event) => event.type)).toEqual(["crystallization.recorded", "work.done"]);
    });

    test("DONE-1: tasks that ended without a change are counted, those that a person cancelled are not", async () => {
      const store = await fresh();
      await addGoal(store, "goal_A1");
      await addPlan(store, "goal_A1");
      const ends = [
        ["S1.1.1", "no_changes: It was there already."],
        ["T2.1", "not no_changes: wanted"],
      ] as const;
      for (const [nodeId, reason] of ends) {
        const event = { type: "work.cancelled", actor: "overseer", because: "x", goalId: "goal_A1", nodeId } as const;
        await store.commit({ at: T0, reads: {}, decide: () => accept([{ ...event, data: { reason } }], null) });
      }
      const { overview } = await store.read({ overview: goalOverviews({ archived: false }) });
      expect(overview).toMatchObject([{ nodes: 7, leaves: 2, unchanged: 1 }]);
    });

    test("STORE-7: a secret in any field of any event is gone from log and tables", async () => {
      const store = await fresh();
      for (const [index, { text }] of PLANTED_SECRETS.entries()) {
        const goalId = `goal_S${index}`;
        await store.commit({
          at: T0,
          reads: {},
          decide: () =>
            accept(
              [
                {
                  type: "goal.created",
                  actor: "human:ada",
                  goalId,
                  because: text,
                  data: {
                    title: text,
                    priority: "normal",
                    tags: [text],
                    problemStatement: text,
                    successCriteria: [`a ${text} b`],
                    nonGoals: [],
                    constraints: [],
                    assumptions: [],
                    risks: [{ risk: text, impact: "", mitigation: "" }],
                    owner: "",
                    stakeholders: [],
                    origin: { kind: "cli", deliveryContext: { note: text } },
                    repo: {},
                  },
                },
              ],
              null,
            ),
        });
      }
      const everything = JSON.stringify([await store.dump(), await store.log({ after: 0, limit: 1000 })]);
      const leaked = PLANTED_SECRETS.filter(({ secret }) => everything.includes(JSON.stringify(secret).slice(1, -1)));
      expect(leaked.map(({ kind }) => kind)).toEqual([]);
    });

    test("STORE-6: a field of ten megabytes is clipped at the door with a mark", async () => {
      const store = await fresh();
      await addGoal(store, "goal_A");
      await store.commit({
        at: T0,
        reads: {},
        decide: () =>
          accept(
            [
              {
                type: "goal.updated",
                actor: "human:ada",
                goalId: "goal_A",
                because: "test",
                data: { changes: { problemStatement: "x".repeat(10_000_000) } },
              },
            ],
            null,
          ),
      });
      const { goal } = await store.read({ goal: goalById("goal_A") });
      expect(goal?.problemStatement.length).toBeLessThanOrEqual(64 * 1024);
      expect(goal?.problemStatement).toContain("clipped");
    });

    test("the change mark moves when another caller commits", async () => {
      const store = await fresh();
      await addGoal(store, "goal_A");
      expect(typeof (await store.changeMark())).toBe("number");
    });
  });
}

async function finish(store: Store, goalId: string, nodeId: string): Promise<void> {
  const outcome = await store.commit({
    at: T0,
    reads: { goal: goalById(goalId), nodes: nodesOfGoal(goalId) },
    decide: ({ goal, nodes }) => {
      const node = nodes.find((one) => one.workNodeId === nodeId);
      if (!goal || !node) throw new Error("not there");
      const done = { summary: `${nodeId} works`, crystallizationId: `C_${goalId}_${nodeId}` };
      return settleDecision({ goal, nodes }, finishByHand(node, nodes, done, ADA), ADA);
    },
  });
  if (!outcome.ok) throw new Error(outcome.refusal.message);
}
