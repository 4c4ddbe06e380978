/**
 * What every health log keeps to, with the queries that read what it wrote. Memory and SQLite run it; another one joins by
 * adding a line to health-log.test.ts.
 */
import { afterEach, describe, expect, test } from "bun:test";
import type { AgentHealth } from "#domain/watch/health.ts";
import { noteChange } from "#domain/watch/health.ts";
import { healthOf, healthOfLiving, latestHealthChanges } from "#store/health.ts";
import { CHANGES_KEPT, type HealthLog } from "#store/health-log.ts";
import type { Store } from "#store/store.ts";
import { addRunning } from "../support/attempts.ts";
import { ADA } from "../support/samples.ts";
import { endIt } from "./signal-log.suite.ts";

export interface OpenedHealthLog {
  readonly store: Store;
  readonly health: HealthLog;
}

export function healthOfAgent(attempt: number, other: Partial<AgentHealth> = {}): AgentHealth {
  return {
    ...{ attempt, agent: `agent-${attempt}`, goalId: "goal_1", workNodeId: "T1" },
    ...{ status: "working", because: "turn-in-flight", phase: "working", freshness: "fresh", confidence: 0.95 },
    ...{ diagnosis: "It is in a turn.", recommendation: "continue", next: null, nextAt: null },
    ...{ nudges: 0, nextNudge: null, since: ADA.now, quiet: null },
    ...other,
  };
}

export function healthLogSuite(name: string, open: () => Promise<OpenedHealthLog>): void {
  describe(`health log contract: ${name}`, () => {
    const opened: OpenedHealthLog[] = [];
    const fresh = async (agents = 2) => {
      const log = await open();
      opened.push(log);
      return { ...log, attempts: await addRunning(log.store, agents, { pid: 7, start: "7" }) };
    };
    afterEach(async () => {
      for (const { store, health } of opened.splice(0)) {
        health.close();
        await store.close();
      }
    });

    test("HEALTH-2: keeps how each does now, and in order what changed", async () => {
      const { store, health, attempts } = await fresh();
      const [first = 0, second = 0] = attempts;
      const before = healthOfAgent(first);
      const after = healthOfAgent(first, { status: "silent", because: "no-activity", since: ADA.now + 1 });
      await health.note([before, healthOfAgent(second)], [noteChange(before, undefined)]);
      await health.note([after], [noteChange(after, before)]);
      const seen = await store.read({
        ...{ one: healthOf(first), living: healthOfLiving() },
        ...{ all: latestHealthChanges(10), own: latestHealthChanges(1, `agent-${first}`) },
        nobody: latestHealthChanges(10, "nobody"),
      });
      expect(seen.one).toEqual(after);
      expect(seen.living.map(({ attempt, status }) => [attempt, status])).toEqual([
        [first, "silent"],
        [second, "working"],
      ]);
      expect(seen.all).toEqual([noteChange(after, before), noteChange(before, undefined)]);
      expect(seen.own).toEqual([noteChange(after, before)]);
      expect(seen.nobody).toEqual([]);
    });

    test("EDGE-1: of an agent that ended while it was judged nothing is kept, and the others are", async () => {
      const { store, health, attempts } = await fresh();
      const [gone = 0, there = 0] = attempts;
      await endIt(store, gone);
      const judged = [healthOfAgent(gone), healthOfAgent(there)];
      await health.note(
        judged,
        judged.map((one) => noteChange(one, undefined)),
      );
      const { living, kept, changes } = await store.read({
        ...{ living: healthOfLiving(), kept: healthOf(gone), changes: latestHealthChanges(10) },
      });
      expect(living.map(({ attempt }) => attempt)).toEqual([there]);
      expect(kept).toBeUndefined();
      expect(changes.map(({ attempt }) => attempt)).toEqual([there]);
    });

    test("WATCH-1: the history is bounded, and the newest stays", async () => {
      const { store, health, attempts } = await fresh(1);
      const [attempt = 0] = attempts;
      const changes = Array.from({ length: CHANGES_KEPT + 20 }, (_, at) =>
        noteChange(healthOfAgent(attempt, { since: at }), undefined),
      );
      await health.note([], changes.slice(0, 30));
      await health.note([], changes.slice(30));
      const { all } = await store.read({ all: latestHealthChanges(2 * CHANGES_KEPT) });
      expect(all).toHaveLength(CHANGES_KEPT);
      expect(all[0]?.at).toBe(CHANGES_KEPT + 19);
    });
  });
}
