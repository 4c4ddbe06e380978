import { describe, expect, test } from "bun:test";
import type { DaemonState, Heartbeat, Registration } from "./daemon-life.ts";
import {
  judgeDaemon,
  parseHeartbeat,
  parseIntent,
  parseRegistration,
  withSeedBeat,
  withSeedNames,
} from "./daemon-life.ts";

const registration: Registration = {
  pid: 7,
  start: "s",
  instance: "d_1",
  version: "1.0.0",
  socket: "/s",
  log: "/l",
  since: 1_000,
  supervision: true,
  auto: false,
  flags: {},
};
const beating: Heartbeat = {
  instance: "d_1",
  at: 100_000,
  bootMs: 5,
  ticks: 3,
  tickedAt: 90_000,
  tickProblem: null,
  troubles: [],
  rings: [],
  configProblem: null,
  hold: null,
  work: null,
  auto: null,
};
const LIMITS = { heartbeatTimeoutMs: 30_000, tickTimeoutMs: 360_000 };

const cases: [
  why: string,
  seen: { registration?: Registration; heartbeat?: Heartbeat; alive?: boolean; now?: number },
  state: DaemonState,
][] = [
  ["nobody is registered", {}, "stopped"],
  ["it beats and ticks", { registration, heartbeat: beating }, "running"],
  ["its process is gone", { registration, heartbeat: beating, alive: false }, "died"],
  ["its heart stood still for too long", { registration, heartbeat: beating, now: 130_001 }, "not-beating"],
  ["a heart may be as old as it may", { registration, heartbeat: beating, now: 130_000 }, "running"],
  ["it beats, and no tick ends", { registration, heartbeat: { ...beating, at: 460_000 }, now: 460_000 }, "not-ticking"],
  ["it has only just begun and not beaten yet", { registration, now: 2_000 }, "running"],
  [
    "the heartbeat of an earlier life does not count",
    { registration, heartbeat: { ...beating, instance: "d_0" } },
    "not-beating",
  ],
];
test.each(cases)("DEAD-1: %s", (_why, { alive = true, now = 100_000, ...seen }, state) => {
  const evidence = { registration: seen.registration, heartbeat: seen.heartbeat, alive: () => alive };
  expect(judgeDaemon(evidence, LIMITS, now).state).toBe(state);
});

describe("the files of run/", () => {
  test("AUTO-4: what was written is read again", () => {
    expect(parseRegistration(JSON.stringify(registration))).toEqual(registration);
    expect(parseHeartbeat(JSON.stringify(beating))).toEqual(beating);
    const intent = { want: "frozen", at: 3, by: "human:ada", reason: null } as const;
    expect(parseIntent(JSON.stringify(intent))).toEqual(intent);
  });

  test.each([undefined, "", "{", "null", "[]", '"x"', '{"pid":"7"}', '{"want":"war"}'])("%p says nothing", (text) => {
    expect(parseRegistration(text)).toBeUndefined();
    expect(parseHeartbeat(text)).toBeUndefined();
    expect(parseIntent(text)).toBeUndefined();
  });
});

test("AUTO-4: both files carry the seed's names beside ours, and are read back as they were", () => {
  const flags = { taskPoolCommand: "next", concurrency: 4, tasks: 2, budgetUsd: 1.5, cwd: "/w" };
  const written = withSeedNames({ ...registration, auto: true, flags });
  expect(written).toMatchObject({ pid: 7, start_time_unix: 1, instance_id: "d_1", log_file: "/l" });
  expect(parseRegistration(JSON.stringify(written))).toEqual({ ...registration, auto: true, flags });
  const auto = { lastTakenAt: 61_500, lastEndedAt: null, why: "every worker has a task" };
  const beat = withSeedBeat({ ...beating, auto });
  expect(beat).toMatchObject({ timestamp_unix: 100, instance_id: "d_1", last_task_assignment_unix: 61 });
  expect(beat.last_task_completion_unix).toBeNull();
  expect(parseHeartbeat(JSON.stringify(beat))).toEqual({ ...beating, auto });
});

test("AUTO-1: flags of another kind than they should be count as not said", () => {
  const text = JSON.stringify({
    ...registration,
    flags: { taskPoolCommand: 7, concurrency: "four", tasks: 3, other: 1 },
  });
  expect(parseRegistration(text)?.flags).toEqual({ tasks: 3 });
});
