/** Ticks over both stores, and the executors that only need the store: what is decided is asked for once and carried out. */
import { describe, expect, test } from "bun:test";
import { cancelWholeGoal } from "#control/goals.ts";
import { cancelWork } from "#control/work.ts";
import { type Action, actionDecided } from "#domain/model/action.ts";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { createGoal } from "#domain/model/goal.ts";
import { actionByKey, openActions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { memoryStore } from "#store/memory.ts";
import { waitingMessages } from "#store/messages.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import type { Store } from "#store/store.ts";
import { nodeById } from "#store/work.ts";
import { addRunning } from "../../test/support/attempts.ts";
import { ADA, addGoal, addPlan, newGoal, planned } from "../../test/support/samples.ts";
import { MINUTE } from "../../test/support/snapshots.ts";
import { tempDir } from "../../test/support/temp.ts";
import { type TestWorld, worldOn } from "../../test/support/world.ts";
import { REGISTRY } from "./actions/index.ts";
import { machineObserver } from "./observe.ts";
import { drain } from "./outbox.ts";
import { tick } from "./tick.ts";

const GB = 1024 ** 3;
const PLENTY = {
  load: 0,
  cores: 2,
  freeMemoryBytes: 8 * GB,
  totalMemoryBytes: 9 * GB,
  freeDiskBytes: 90 * GB,
  totalDiskBytes: 99 * GB,
};

async function sqlite(): Promise<Store> {
  const path = `${tempDir("tick-")}/overseer.db`;
  await prepareStore({ address: path, backupDir: `${path}.backups`, now: 0 });
  return openForWriting({ address: path });
}

function worldWith(store: Store): TestWorld {
  return {
    ...worldOn(store),
    room: async () => PLENTY,
    socketDir: async () => "/nowhere",
    root: { project: "/repo", userDir: "/repo/.overseer", state: tempDir("state-"), gitCommonDir: "/repo/.git" },
  };
}

/** An observer that sees no processes, so that nobody is proven dead. */
function blind(world: TestWorld, periodMs: number | null = null) {
  return { ...machineObserver(world, { periodMs }), evidence: async () => new Map() };
}

async function pending(store: Store): Promise<string[]> {
  return (await store.read({ open: openActions() })).open.map((action) => action.actionId).sort();
}

describe.each([
  ["in memory", async () => memoryStore()],
  ["SQLite", sqlite],
] as const)("a tick on the store %s", (_name, open) => {
  test("TICK-2, TICK-3: decides what is ready, writes it down, and asks for nothing new the second time", async () => {
    const store = await open();
    await addGoal(store, "goal_A");
    await addPlan(store, "goal_A");
    const world = worldWith(store);
    expect(await tick(world, blind(world), "test")).toMatchObject({ ok: true, didWork: true, actions: 1 });
    expect(await pending(store)).toEqual(["spawn:goal_A/T1.1:1"]);
    expect(await tick(world, blind(world), "test")).toMatchObject({ ok: true, didWork: false, actions: 0 });
    await store.close();
  });

  test("STORE-1: what ticks write is rebuilt from the log alone", async () => {
    const store = await open();
    await addGoal(store, "goal_A");
    await addPlan(store, "goal_A");
    const world = worldWith(store);
    await tick(world, blind(world), "test");
    const before = await store.dump();
    await store.rebuild();
    expect(await store.dump()).toEqual(before);
    await store.close();
  });

  test("TELL-1: what ended before a look that told nobody is told by the next", async () => {
    const store = await open();
    const wish = { ...newGoal("goal_A"), origin: { kind: "cli", session: "s1" } } as const;
    await store.commit({ at: 0, reads: {}, decide: () => createGoal(undefined, wish, { ...ADA, now: 0 }) });
    const world = worldWith(store);
    await tick(world, blind(world), "test");
    await cancelWholeGoal(world, "goal_A");
    await world.clock.advance(MINUTE);
    await tick(world, { ...blind(world), measureSkippedMs: () => 60 * MINUTE }, "after a sleep");
    await world.clock.advance(MINUTE);
    await tick(world, blind(world), "test");
    const { open: left } = await store.read({ open: openActions() });
    expect(left.map(({ kind, payload }) => [kind, payload])).toEqual([
      ["notify", { to: "origin:s1", outcome: "cancelled", text: "Goal goal_A was cancelled." }],
    ]);
    await store.close();
  });

  test("LADDER-1, NUDGE-2: an agent that never speaks is nudged; the nudge reaches its inbox once", async () => {
    const store = await open();
    const world = worldWith(store);
    const [number = 0] = await addRunning(store, 1, world.processes.self());
    await world.clock.advance(20 * MINUTE);
    await tick(world, blind(world), "test");
    await drain(world, REGISTRY);
    await drain(world, REGISTRY);
    const { waiting } = await store.read({ waiting: waitingMessages(number) });
    expect(waiting.map(({ kind, tone }) => [kind, tone])).toEqual([
      ["instruction", null],
      ["nudge", "hint"],
    ]);
    expect(await pending(store)).toEqual([]);
    await store.close();
  });

  test("GOAL-5: pausing a goal pauses its agent, resuming it lets the agent continue", async () => {
    const store = await open();
    const world = worldWith(store);
    const [number = 0] = await addRunning(store, 1, world.processes.self());
    const status = async () => (await store.read({ one: attemptByNumber(number) })).one?.status;
    const round = async (type: "goal.paused" | "goal.resumed") => {
      const event = {
        type,
        actor: ADA.actor,
        goalId: "goal_RUNNING000",
        because: "asked-for",
        data: { reason: null },
      } as const;
      await store.commit({ at: world.clock.now(), reads: {}, decide: () => accept([event], null) });
      await world.clock.advance(1_000);
      await tick(world, blind(world), "test");
      await drain(world, REGISTRY);
      return status();
    };
    expect(await round("goal.paused")).toBe("paused");
    expect(await round("goal.resumed")).toBe("running");
    await store.close();
  });
});

test("a loop that was late judges nobody by the time that it lost", async () => {
  const store = memoryStore();
  const world = worldWith(store);
  await addRunning(store, 1, world.processes.self());
  const observer = blind(world, 2 * MINUTE);
  await tick(world, observer, "first");
  await world.clock.advance(480 * MINUTE);
  await tick(world, observer, "woken");
  await world.clock.advance(MINUTE);
  const { judged } = await tick(world, observer, "next");
  expect([...judged.values()].map((one) => one.state)).toEqual(["starting"]);
  expect((await store.log({ after: 0, limit: 1_000 })).map((event) => event.type)).toContain("time.skipped");
});

test.each([
  ["forwards", 600 * MINUTE],
  ["back", -600 * MINUTE],
] as const)("EDGE-10: a wall clock that was set %s between two looks makes nobody silent", async (_way, by) => {
  const store = memoryStore();
  const world = worldWith(store);
  await addRunning(store, 1, world.processes.self());
  const observer = blind(world, 2 * MINUTE);
  const act = async (source: string) => {
    const at = world.clock.now();
    await store.signals.record(1, "a", [{ source, phase: "", kind: "said", at, data: { text: "On it." } }]);
  };
  await act("one");
  await tick(world, observer, "first");
  await world.clock.advance(MINUTE);
  world.clock.jump(by);
  expect((await tick(world, observer, "set")).judged.size).toBe(0);
  for (let look = 0; look < 20; look += 1) {
    await world.clock.advance(MINUTE);
    act(`more ${look}`);
    const { judged } = await tick(world, observer, "next");
    expect([...judged.values()].map((one) => one.state)).toEqual(["working"]);
  }
  for (let look = 0; look < 60; look += 1) {
    await world.clock.advance(MINUTE);
    await tick(world, observer, "next");
  }
  const { judged } = await tick(world, observer, "last");
  expect([...judged.values()].map((one) => one.state)).toEqual(["silent"]);
});

test("LIVE-1: a runner that is gone is seen as dead at once", async () => {
  const store = memoryStore();
  const world = worldWith(store);
  await addRunning(store, 1, { pid: 99_999, start: "gone" });
  const { judged } = await tick(world, machineObserver(world, { periodMs: null }), "test");
  expect([...judged.values()]).toEqual([{ state: "dead", because: "proven-by-process" }]);
  expect(await pending(store)).toEqual([expect.stringMatching(/^stop:1:/)]);
});

test("DISP-1: a resend interrupts the turn and writes nothing twice", async () => {
  const store = memoryStore();
  const world = worldWith(store);
  const [number = 0] = await addRunning(store, 1, world.processes.self());
  const { one } = await store.read({ one: attemptByNumber(number) });
  const about = { goalId: one?.goalId, nodeId: one?.workNodeId, agent: one?.agent, attempt: number };
  const words = { dispatchId: "D_RUNNING0", body: "Work" };
  await world.clock.advance(1_000);
  const decided = [
    {
      ...about,
      actionId: "r1",
      kind: "resend",
      because: "x",
      notBefore: 0,
      payload: { ...words, messageId: "m_1", rerun: false },
    },
    {
      ...about,
      actionId: "r2",
      kind: "resend",
      because: "x",
      notBefore: 0,
      payload: { ...words, messageId: "m_2", dispatchId: "D_2", rerun: true },
    },
  ] as const;
  const moment = { now: world.clock.now(), actor: "overseer" } as const;
  await store.commit({
    at: moment.now,
    reads: {},
    decide: () =>
      accept(
        decided.map((one) => actionDecided(one, moment)),
        null,
      ),
  });
  await world.clock.advance(1_000);
  await drain(world, REGISTRY);
  const { waiting, now } = await store.read({ waiting: waitingMessages(number), now: attemptByNumber(number) });
  expect(waiting.map((message) => message.messageId).sort()).toEqual(["m_2", "m_RUNNING0"]);
  expect(now?.interruptRequestedAt).toBe(world.clock.now());
});

test("DISP-4: what nobody can carry out yet fails clearly, and the node still waits", async () => {
  const store = memoryStore();
  await addGoal(store, "goal_A");
  await addPlan(store, "goal_A");
  const world = worldWith(store);
  await tick(world, blind(world), "test");
  await drain(world, {});
  const { action, node } = await store.read({
    action: actionByKey("spawn:goal_A/T1.1:1"),
    node: nodeById("goal_A", "T1.1"),
  });
  expect(action).toMatchObject({ status: "failed", problem: "no executor for spawn" });
  expect(node?.status).toBe("queued");
});

test("ESC-1: nobody is asked about a task that ended between the decision and the asking", async () => {
  const store = memoryStore();
  const world = worldWith(store);
  await addGoal(store, "goal_A");
  await addPlan(store, "goal_A", [planned("P1", { children: [planned("T1"), planned("T2")] })]);
  const about = (workNodeId: string) => {
    const payload = { questionId: `q_${workNodeId}`, text: "What now?", options: [] };
    return {
      ...{ kind: "ask", goalId: "goal_A", assignmentId: null },
      workNodeId,
      payload,
    } as unknown as Action<"ask">;
  };
  await cancelWork(world, { node: "T1", goal: "goal_A" });
  await REGISTRY.ask(about("T1"), world);
  await REGISTRY.ask(about("T2"), world);
  const { open } = await store.read({ open: openQuestions() });
  expect(open.map(({ questionId }) => questionId)).toEqual(["q_T2"]);
});

const BUILDERS = "/repo/.overseer/roles/builder.yaml";
const patience: [who: string, role: string | undefined, nudged: number][] = [
  ["whose role says nothing is not", undefined, 0],
  ["whose role says 7 minutes is", "limits: {idleAfter: 7m}\n", 1],
  ["whose role says half an hour is not", "limits: {idleAfter: 30m}\n", 0],
  ["whose role cannot be read is not", "limits: {idleAfter: soon}\n", 0],
];
test.each(patience)(
  "CONF-1, AGENT-1, ROLE-2: with 15 minutes for the fleet, an agent silent for 8 %s nudged",
  async (_who, role, nudged) => {
    const store = memoryStore();
    const world = worldWith(store);
    if (role !== undefined) {
      await world.files.makeDir("/repo/.overseer/roles");
      await world.files.write(BUILDERS, role);
    }
    const [number = 0] = await addRunning(store, 1, world.processes.self());
    const data = { text: "I look into it" };
    store.signals.record(number, "agent-0", [
      { kind: "said", source: "s1", phase: "said", at: world.clock.now(), data },
    ]);
    await world.clock.advance(8 * MINUTE);
    await tick(world, blind(world), "test");
    expect(await store.read({ open: openActions() })).toMatchObject({ open: { length: nudged } });
    await store.close();
  },
);

test("SYNC-2, LADDER-1: what others learned lies in an idle agent's inbox and does not excuse its silence", async () => {
  const store = memoryStore();
  const world = worldWith(store);
  const [number = 0] = await addRunning(store, 1, world.processes.self());
  const say = async (type: "message.seen" | "message.queued", data: object) => {
    await store.commit({
      at: world.clock.now(),
      reads: { one: attemptByNumber(number) },
      decide: ({ one }) =>
        accept(one ? [attemptEvent(one, "overseer", type, "test", data as { messageId: string })] : [], null),
    });
  };
  await say("message.seen", { messageId: "m_RUNNING0" });
  const at = world.clock.now();
  await store.signals.record(number, "agent-0", [
    { kind: "turn.started", source: "t1", phase: "started", at, data: { by: "message" } } as never,
    {
      ...{ kind: "turn.ended", source: "t1", phase: "ended", at },
      data: { ok: true, reason: "completed", text: "", costUsd: null },
    } as never,
  ]);
  await world.clock.advance(20 * MINUTE);
  await say("message.queued", { messageId: "m_learned", kind: "sync", from: "agent-1", body: "x", tone: "fyi" });
  await tick(world, blind(world), "test");
  expect(await pending(store)).toEqual([expect.stringMatching(/^deliver:/)]);
  await store.close();
});
