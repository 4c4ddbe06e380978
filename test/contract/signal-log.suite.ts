/**
 * What every signal log keeps to, with the queries that read what it wrote. Memory and SQLite run it; another one joins by
 * adding a line to signal-log.test.ts.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import { NO_USAGE, type Usage } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { finishByHand } from "#domain/model/work.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { Steering } from "#domain/signals/reflex.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { type AgentRow, agentsAtWork } from "#store/agent-rows.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { listFinishedHandoffs, listFinishedTries } from "#store/finished-work.ts";
import { costsOfGoals, lastLandings, readyTasks } from "#store/fleet-sight.ts";
import { listOpenGoals } from "#store/goals.ts";
import type { SignalLog } from "#store/signal-log.ts";
import { DEFAULT_SIGNAL_CAPS } from "#store/signal-log.ts";
import { contextWindows, lastSignals, pulseOf, pulsesOfLiving, signalsAfter, signalsOf } from "#store/signals.ts";
import type { Store } from "#store/store.ts";
import { isBusyOrAsking } from "#store/watch.ts";
import { nodesOfGoal } from "#store/work.ts";
import { addRunning } from "../support/attempts.ts";
import { ADA, addGoal, addPlan } from "../support/samples.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";

const said = (source: string, text = "hello"): Signal => ({
  kind: "said",
  source,
  phase: "said",
  at: ADA.now,
  data: { text },
});

const HINT: Steering = {
  anomaly: "slow",
  fact: "It reads on.",
  step: 1,
  text: "Begin to write.",
} as unknown as Steering;

export interface OpenedLog {
  readonly store: Store;
  readonly signals: SignalLog;
}

export function signalLogSuite(name: string, open: () => Promise<OpenedLog>): void {
  describe(`signal log contract: ${name}`, () => {
    const opened: OpenedLog[] = [];
    const fresh = async () => {
      const log = await open();
      opened.push(log);
      const [attempt = 0] = await addRunning(log.store, 1, { pid: 7, start: "7" });
      return { ...log, attempt };
    };
    afterEach(async () => {
      for (const { store, signals } of opened.splice(0)) {
        signals.close();
        await store.close();
      }
    });

    test.each([
      ["a turn and nothing else", ["turn.started"], false],
      ["a call that runs", ["turn.started", "tool.started"], true],
      ["a turn that its provider failed", ["turn.started", "api.failed", "turn.ended"], true],
      ["the next turn after that", ["turn.started", "api.failed", "turn.ended", "turn.started"], false],
      ["its CLI tries again", ["turn.started", "api.retry"], true],
    ] as const)(
      "DEGR-1: whether anything explains a silence is known without a document: %s",
      async (_what, kinds, busy) => {
        const { store, signals, attempt } = await fresh();
        for (const [at, kind] of kinds.entries()) {
          const data = {
            tool: "t",
            does: null,
            argsHash: "",
            args: "",
            sub: null,
            detail: "",
            text: "",
            cause: "overloaded",
          };
          await signals.record(attempt, "agent-0", [
            { kind, source: `s${at}`, phase: "", at, data } as unknown as Signal,
          ]);
        }
        expect((await store.read({ busy: isBusyOrAsking(attempt) })).busy).toBe(busy);
      },
    );

    test("a signal counts once, however often and by whomever it is told", async () => {
      const { store, signals, attempt } = await fresh();
      expect((await signals.record(attempt, "agent-0", [said("a"), said("a")]))?.beats).toBe(1);
      expect((await signals.record(attempt, "agent-0", [said("a"), said("b")]))?.beats).toBe(2);
      const { kept } = await store.read({ kept: signalsOf(attempt, 10) });
      expect(kept.map(({ source }) => source)).toEqual(["a", "b"]);
    });

    test("FENCE-1: nothing is kept of an attempt that has ended, or that nobody knows", async () => {
      const { store, signals, attempt } = await fresh();
      await signals.record(attempt, "agent-0", [said("a")]);
      await endIt(store, attempt);
      expect(await signals.record(attempt, "agent-0", [said("b")])).toBeUndefined();
      expect(await signals.record(99, "nobody", [said("c")])).toBeUndefined();
      expect(await signals.steer(attempt, ADA.now, () => HINT)).toBeUndefined();
      const seen = await store.read({ living: pulsesOfLiving(), of: signalsOf(attempt, 9), nobody: pulseOf(99) });
      expect([seen.living, seen.of.length, seen.nobody]).toEqual([[], 1, undefined]);
    });

    test("what is kept holds no secret and is cut where its caps say", async () => {
      const { store, signals, attempt } = await fresh();
      const [planted] = PLANTED_SECRETS;
      await signals.record(attempt, "agent-0", [said("a", `${planted?.text} ${"x".repeat(9_000)}`)]);
      const { pulse, kept } = await store.read({ pulse: pulseOf(attempt), kept: signalsOf(attempt, 1) });
      expect(JSON.stringify([pulse, kept])).not.toContain(planted?.secret ?? "");
      expect(pulse?.lastText.length).toBeLessThanOrEqual(DEFAULT_SIGNAL_CAPS.saidBytes);
    });

    test("REFLEX-1: of several that ask at once one speaks, and the pulse remembers it", async () => {
      const { store, signals, attempt } = await fresh();
      await signals.record(attempt, "agent-0", [said("a")]);
      const judge = (pulse: Pulse) => (pulse.course?.lastSteering ? undefined : HINT);
      const answers = await Promise.all([1, 2, 3].map(() => signals.steer(attempt, ADA.now, judge)));
      expect(answers.filter((one) => one !== undefined)).toEqual([HINT]);
      expect(await signals.steer(attempt, ADA.now, () => undefined)).toBeUndefined();
      const { pulse } = await store.read({ pulse: pulseOf(attempt) });
      expect(pulse?.beats).toBe(1);
    });

    test("STORE-6: what is old is compacted into milestones, and the pulse still knows what it added up to", async () => {
      const { store, signals, attempt } = await fresh();
      const at = (source: string, when: number): Signal => ({ ...said(source), at: ADA.now + when });
      const turn: Signal = { kind: "turn.started", source: "t", phase: "", at: ADA.now, data: { by: "overseer" } };
      await signals.record(attempt, "agent-0", [at("a", 0), turn, at("b", 1), at("c", 2), at("d", 9), at("e", 9)]);
      expect(await signals.compact(ADA.now + 5, 1)).toBe(1);
      expect(await signals.compact(ADA.now + 5, 10)).toBe(1);
      expect(await signals.compact(ADA.now + 5, 10)).toBe(0);
      const { left, pulse } = await store.read({ left: signalsOf(attempt, 10), pulse: pulseOf(attempt) });
      expect(left.map(({ source }) => source)).toEqual(["a", "t", "d", "e"]);
      expect(pulse?.beats).toBe(6);
    });

    test("queries answer in the order of recording, by kind, place and number", async () => {
      const { store, signals, attempt } = await fresh();
      const turn: Signal = { kind: "turn.started", source: "t", phase: "", at: ADA.now + 5, data: { by: "overseer" } };
      await signals.record(attempt, "agent-0", [said("a"), turn, said("b")]);
      const { all, words, after, rows, windows } = await store.read({
        all: signalsOf(attempt, 2),
        words: lastSignals(attempt, ["said"], 5),
        after: signalsAfter(attempt, 0, 10),
        rows: agentsAtWork(),
        windows: contextWindows(),
      });
      expect(all.map(({ source }) => source)).toEqual(["t", "b"]);
      expect(words.map(({ source }) => source)).toEqual(["a", "b"]);
      const later = await store.read({ after: signalsAfter(attempt, after[0]?.place ?? 0, 10) });
      expect(later.after.map(({ signal }) => signal.source)).toEqual(["t", "b"]);
      expect(rows.map((row) => [row.inTurn, row.lastAt])).toEqual([[true, ADA.now + 5]]);
      expect(windows).toEqual({});
    });

    test("STATUS-1: what agents cost and hold is told while they live, and what a task and its goal cost afterwards", async () => {
      const { store, signals, attempt } = await fresh();
      const moment = { source: "m", at: ADA.now + 7 };
      const tokens = { inputTokens: 10, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
      const now = async () => (await store.read({ rows: agentsAtWork() })).rows.map(seeMeter);
      expect(await now()).toEqual([[null, 0, 0, null]]);
      await signals.record(attempt, "agent-0", [
        { ...moment, kind: "turn.started", phase: "s", data: { by: "overseer" } },
        { ...moment, kind: "usage", phase: "u", data: { ...tokens, contextTokens: 50_000, contextWindow: 200_000 } },
        { ...moment, kind: "meter", phase: "m", data: { costUsd: 0.25, contextWindow: 200_000 } },
      ]);
      expect(await now()).toEqual([[ADA.now + 7, 0.25, 50_000, 200_000]]);

      const { attempt: it } = await store.read({ attempt: attemptByNumber(attempt) });
      const about = {
        goalId: it?.goalId ?? "",
        nodeId: it?.workNodeId ?? "",
        actor: "overseer",
        because: "x",
      } as const;
      const queued = {
        mergeId: "m_1",
        target: "main",
        branch: "b",
        commit: "c1",
        priority: "normal",
        since: 3,
      } as const;
      const landing = { mergeId: "m_1", from: "c0", to: "c2", tier: "clean-merge" } as const;
      await endIt(store, attempt, { ...NO_USAGE, costUsd: 1.5 });
      await store.commit({
        at: ADA.now + 9,
        reads: {},
        decide: () =>
          accept(
            [
              { ...about, type: "merge.queued", data: queued },
              { ...about, type: "merge.landed", data: landing },
            ],
            null,
          ),
      });
      await addGoal(store, "goal_LATER");
      await addPlan(store, "goal_LATER");
      const seen = await store.read({ costs: costsOfGoals(), landed: lastLandings(5), ready: readyTasks(2) });
      expect(seen.costs.get(about.goalId)).toBe(1.5);
      expect(seen.landed).toMatchObject([
        { merge: { mergeId: "m_1", to: "c2", endedAt: ADA.now + 9 }, task: "Work", costUsd: 1.5 },
      ]);
      expect(seen.ready.map(({ goalId, workNodeId }) => [goalId, workNodeId])).toEqual([["goal_LATER", "T1.1"]]);
      const own = await store.read({
        ...{ one: lastLandings(5, about.goalId), other: lastLandings(5, "goal_LATER") },
        open: listOpenGoals(),
      });
      expect([own.one.length, own.other.length]).toEqual([1, 0]);
      expect(own.open.map(({ goalId }) => goalId).toSorted()).toEqual([about.goalId, "goal_LATER"].toSorted());
    });

    test("PLAN-1: estimates are made from the attempts on what is done, the latest done first, with their last acts", async () => {
      const { store, signals, attempt } = await fresh();
      const [first = 0, second = 0] = [attempt, attempt + 1];
      await addRunning(store, 3, { pid: 7, start: "7" }, 1);
      await signals.record(first, "agent-0", [said("a")]);
      const tries = async (most: number) => (await store.read({ tries: listFinishedTries(most) })).tries;
      expect(await tries(10)).toEqual([]);
      for (const [index, number] of [first, second].entries()) {
        await endIt(store, number);
        await finishIt(store, number, ADA.now + index);
      }
      const seen = (await tries(10)).map((one) => [one.attempt.attempt, one.lastActAt]);
      expect(seen).toEqual([
        [first, ADA.now],
        [second, null],
      ]);
      expect((await tries(1)).map((one) => one.attempt.attempt)).toEqual([second]);
      // finishByHand leaves a handoff with each, the later one first.
      const { all, last } = await store.read({ all: listFinishedHandoffs(10), last: listFinishedHandoffs(1) });
      const told = all.map(({ node, left }) => [node.workNodeId, node.crystallizationId, left.crystallizationId]);
      expect(told.map(([, , id]) => id)).toEqual([`C_${second}`, `C_${first}`]);
      expect(told.every(([, held, id]) => held === id)).toBe(true);
      expect(last).toEqual(all.slice(0, 1));
    });
  });
}

const seeMeter = ({ turnAt, costUsd, contextTokens, contextWindow }: AgentRow) => [
  ...[turnAt, costUsd],
  ...[contextTokens, contextWindow],
];

export async function endIt(store: Store, attempt: number, usage: Usage = NO_USAGE): Promise<void> {
  const end = { cause: "died", detail: "It died.", exitCode: null, signal: null, usage, wip: null } as const;
  const around = { node: undefined, assignment: undefined, waiting: [], parent: undefined };
  await store.commit({
    at: ADA.now,
    reads: { now: attemptByNumber(attempt) },
    decide: ({ now }) => endAttempt(now, around, end, ADA),
  });
}

async function finishIt(store: Store, attempt: number, at: number): Promise<void> {
  const { it } = await store.read({ it: attemptByNumber(attempt) });
  const { goalId = "", workNodeId = "" } = it ?? {};
  const outcome = await store.commit({
    at,
    reads: { nodes: nodesOfGoal(goalId) },
    decide: ({ nodes }) => {
      const node = nodes.find((one) => one.workNodeId === workNodeId);
      if (!node) throw new Error(`no node ${workNodeId}`);
      const done = { summary: "It works.", crystallizationId: `C_${attempt}`, overrideReason: "seen to work" };
      return finishByHand(node, nodes, done, { ...ADA, now: at });
    },
  });
  if (!outcome.ok) throw new Error(outcome.refusal.message);
}
