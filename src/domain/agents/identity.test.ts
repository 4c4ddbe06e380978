import { expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import {
  afterSession,
  domainsOf,
  newIdentity,
  RECENT_TASKS,
  SESSION_OUTCOMES,
  type SessionRecord,
  WORK_HISTORY,
} from "./identity.ts";

const born = newIdentity("auth-login", "builder", 1000);
const session: SessionRecord = {
  attempt: 47,
  goalId: "goal_1",
  nodeId: "T1.2",
  outcome: "done",
  summary: "Login works",
  startedAt: 2000,
  endedAt: 3000,
  domains: ["src/auth"],
};

test("AGENT-3: a finished session is counted, and its task and domain remembered", () => {
  expect(afterSession(born, session)).toEqual({
    ...born,
    sessionsCompleted: 1,
    domains: ["src/auth"],
    recentTasks: [{ goalId: "goal_1", nodeId: "T1.2", summary: "Login works", completedAt: 3000 }],
    workHistory: [
      {
        attempt: 47,
        goalId: "goal_1",
        nodeId: "T1.2",
        outcome: "done",
        summary: "Login works",
        startedAt: 2000,
        endedAt: 3000,
      },
    ],
    lastAttempt: 47,
  });
});

const unfinished = SESSION_OUTCOMES.filter((outcome) => outcome !== "done");
test.each(unfinished)("AGENT-3: a session that %s is history but no completed task", (outcome) => {
  const after = afterSession(born, { ...session, outcome });
  expect(after.sessionsCompleted).toBe(0);
  expect(after.recentTasks).toEqual([]);
  expect(after.workHistory).toHaveLength(1);
});

test("FENCE-1: a session told twice, or of an older attempt, changes nothing", () => {
  const once = afterSession(born, session);
  expect(afterSession(once, session)).toBe(once);
  expect(afterSession(once, { ...session, attempt: 3 })).toBe(once);
});

test("AGENT-3: what is kept is bounded, newest first, while the count continues", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 120 }), (count) => {
      let identity = born;
      for (let attempt = 1; attempt <= count; attempt++) {
        identity = afterSession(identity, {
          ...session,
          attempt,
          domains: [`src/d${attempt}`],
          summary: "x".repeat(900),
        });
      }
      expect(identity.sessionsCompleted).toBe(count);
      expect(identity.recentTasks).toHaveLength(Math.min(count, RECENT_TASKS));
      expect(identity.workHistory).toHaveLength(Math.min(count, WORK_HISTORY));
      expect(identity.domains.length).toBeLessThanOrEqual(20);
      if (count > 0) expect(identity.workHistory[0]?.attempt).toBe(count);
      for (const entry of identity.workHistory) expect(entry.summary.length).toBeLessThanOrEqual(400);
    }),
    { numRuns: scaled(30) },
  );
});

const places: [why: string, paths: string[], domains: string[]][] = [
  ["two directories deep", ["src/auth/login/form.ts"], ["src/auth"]],
  ["the busiest first, then by name", ["b/x.ts", "a/y.ts", "src/ui/a.ts", "src/ui/b.ts"], ["src/ui", "a", "b"]],
  ["files at the top belong to no domain", ["README.md", "./x.ts"], []],
];
test.each(places)("AGENT-3: domains: %s", (_why, paths, domains) => {
  expect([...domainsOf(paths)]).toEqual(domains);
});
