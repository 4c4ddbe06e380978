/** The outbox over a store in memory: done once, safe to repeat, failing without harm. */
import { expect, test } from "bun:test";
import type { Action, ActionOutcome, ActionRequest } from "#domain/model/action.ts";
import { actionDecided } from "#domain/model/action.ts";
import { accept } from "#domain/model/decision.ts";
import { OverseerError } from "#errors.ts";
import { virtualProcesses } from "#sim/virtual-processes.ts";
import { actionByKey } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { memoryStore } from "#store/memory.ts";
import type { Store } from "#store/store.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { ADA, T0 } from "../../test/support/samples.ts";
import type { Registry } from "./outbox.ts";
import { drain, outcomeOf } from "./outbox.ts";

function world() {
  const store = memoryStore();
  return { store, clock: virtualClock({ now: T0 }), processes: virtualProcesses(), writer: async () => store };
}
type World = ReturnType<typeof world>;

function request(actionId: string, nodeId: string, notBefore = T0): ActionRequest {
  return { actionId, kind: "clean", goalId: "goal_A", nodeId, because: "x", notBefore, payload: { reason: "x" } };
}

async function decided(store: Store, ...requests: ActionRequest[]): Promise<void> {
  await store.commit({
    at: T0,
    reads: {},
    decide: () =>
      accept(
        requests.map((one) => actionDecided(one, ADA)),
        null,
      ),
  });
}

async function action(store: Store, id: string): Promise<Action | undefined> {
  return (await store.read({ one: actionByKey(id) })).one;
}

function doing(outcomes: ActionOutcome[] = []): { registry: Registry<World>; done: string[] } {
  const done: string[] = [];
  const run = async ({ actionId }: { readonly actionId: string }): Promise<ActionOutcome> => {
    done.push(actionId);
    return outcomes.shift() ?? { ok: true };
  };
  return { registry: { clean: run }, done };
}

test("TICK-2: what is due is done once, in order for one node, and what is not due waits", async () => {
  const w = world();
  await decided(w.store, request("b", "T1", T0 - 1), request("a", "T1"), request("late", "T2", T0 + 5));
  const { registry, done } = doing();
  expect(await drain(w, registry)).toEqual({ done: 2, failed: 0, nextDueAt: T0 + 5 });
  expect(done).toEqual(["b", "a"]);
  await drain(w, registry);
  expect(done).toEqual(["b", "a"]);
  await w.clock.advance(5);
  expect(await drain(w, registry)).toMatchObject({ done: 1, nextDueAt: null });
});

test("HOLD-1: what becomes due while something takes its time is begun beside it, in order for one node", async () => {
  const w = world();
  await decided(w.store, request("slow", "T1"));
  const begun: string[] = [];
  let wake = () => {};
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const registry: Registry<World> = {
    async clean({ actionId }) {
      begun.push(actionId);
      if (actionId === "slow") {
        await decided(w.store, request("next of it", "T1"), request("another", "T2"));
        wake();
        await held;
      }
      if (actionId === "another") finish();
      return { ok: true };
    },
  };
  const awaitMore = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  expect(await drain(w, registry, { awaitMore })).toMatchObject({ done: 3, failed: 0 });
  expect(begun).toEqual(["slow", "another", "next of it"]);
});

test("DISP-4: a failure is recorded, backed off and tried again, and keeps nobody else from continuing", async () => {
  const w = world();
  await decided(w.store, request("a", "T1"), request("b", "T2"));
  const { registry, done } = doing([{ ok: false, problem: "no luck", retry: "backoff" }]);
  expect(await drain(w, registry, { parallel: 1 })).toMatchObject({ done: 1, failed: 1 });
  expect(await action(w.store, "a")).toMatchObject({ status: "failed", problem: "no luck", dueAt: T0 + 5_000 });
  await w.clock.advance(5_000);
  await drain(w, registry);
  expect(done).toEqual(["a", "b", "a"]);
  expect((await action(w.store, "a"))?.status).toBe("done");
});

test("DISP-4: an executor that throws is a failure like any other", async () => {
  const w = world();
  await decided(w.store, request("a", "T1"));
  await drain(w, { clean: () => Promise.reject(new Error("boom")) });
  expect(await action(w.store, "a")).toMatchObject({ status: "failed", problem: "boom" });
});

test("a kind that nobody knows says so", async () => {
  const w = world();
  await decided(w.store, request("a", "T1"));
  await drain(w, {});
  expect(await action(w.store, "a")).toMatchObject({ status: "failed", problem: "no executor for clean" });
});

test("TICK-2: what somebody took and did not finish is taken up when that process is gone, and not before", async () => {
  const w = world();
  await decided(w.store, request("a", "T1"));
  const holder = w.processes.self();
  const other = { ...w, processes: { ...w.processes, self: () => ({ pid: 4_711, start: "then" }) } };
  let release: (outcome: ActionOutcome) => void = () => {};
  const hanging = drain(other, {
    clean: () =>
      new Promise((resolve) => {
        release = resolve;
      }),
  });
  await Bun.sleep(0);
  const alive = { ...w.processes, alive: () => true };
  const { registry, done } = doing();
  await drain({ ...w, processes: alive }, registry);
  expect(done).toEqual([]);
  const gone = { ...w.processes, self: () => holder, alive: () => false };
  await drain({ ...w, processes: gone }, registry);
  expect(done).toEqual(["a"]);
  release({ ok: false, problem: "too late", retry: "never" });
  await hanging;
  expect((await action(w.store, "a"))?.status).toBe("done");
});

const refusals: [code: string, kind: "usage" | "conflict" | "environment", expected: object][] = [
  ["NODE_TAKEN", "conflict", { ok: true }],
  ["GOAL_NOT_ACTIVE", "conflict", { ok: true }],
  ["FLEET_FULL", "conflict", { ok: false, retry: { afterMs: 30_000 } }],
  ["NO_ROOM", "conflict", { ok: false, retry: { afterMs: 30_000 } }],
  ["ROLE_UNKNOWN", "usage", { ok: false, retry: "never" }],
  ["RUNTIME_NOT_READY", "environment", { ok: false, retry: "backoff" }],
];
test.each(refusals)("CAP-1, DISP-4: what a refusal means for trying again: %s", (code, kind, expected) => {
  expect(outcomeOf(new OverseerError(kind, code, "x", "y"))).toMatchObject(expected);
});

test.each([
  ["RUNTIME_NOT_READY", "spawn", { ok: false, retry: "always", cause: "RUNTIME_NOT_READY" }],
  ["TMUX_MISSING", "restart", { ok: false, retry: "always", cause: "TMUX_MISSING" }],
  ["GIT_FAILED", "reassign", { ok: false, retry: "always", cause: "GIT_FAILED" }],
  ["WORKTREE_BROKEN", "restart", { ok: false, retry: "backoff" }],
  ["GIT_FAILED", "land", { ok: false, retry: "backoff" }],
] as const)("DISP-4: a start that the machine is in the way of is not given up: %s of a %s", (code, kind, expected) => {
  const outcome = outcomeOf(new OverseerError("environment", code, "x", "y"), kind);
  expect(outcome).toEqual({ problem: "x", ...expected });
});

test.each([
  ["by a day", -86_400_000],
  ["by a year, after it had been set forward", -31_536_000_000],
] as const)(
  "EDGE-10: a clock that is set back %s holds nothing up: what waits is done, what failed is tried again",
  async (_name, jump) => {
    const w = world();
    await decided(w.store, request("a", "T1"), request("later", "T2", T0 + 60_000));
    const { registry, done } = doing([{ ok: false, problem: "busy", retry: { afterMs: 30_000 } }]);
    await drain(w, registry);
    expect(done).toEqual(["a"]);
    w.clock.jump(jump);
    await drain(w, registry);
    expect(done.toSorted()).toEqual(["a", "a", "later"]);
  },
);

test("EDGE-10: what is being carried out is not begun again because the clock was set back meanwhile", async () => {
  const w = world();
  await decided(w.store, request("a", "T1"));
  const begun: string[] = [];
  let release: (outcome: ActionOutcome) => void = () => {};
  const registry: Registry<World> = {
    clean: ({ actionId }) => {
      begun.push(actionId);
      return new Promise((resolve) => {
        release = resolve;
      });
    },
  };
  const hanging = drain(w, registry);
  await Bun.sleep(0);
  w.clock.jump(-86_400_000);
  await drain(w, registry);
  expect(begun).toEqual(["a"]);
  release({ ok: true });
  await hanging;
  expect((await action(w.store, "a"))?.status).toBe("done");
});

test("FAIL-12: a command after a landing that can never be run holds the queue and asks a person, once", async () => {
  const w = world();
  const afterLand = (commit: string): ActionRequest => ({
    ...{ actionId: `afterLand:main:${commit}`, kind: "afterLand", because: "landed", notBefore: T0 },
    payload: { target: "main", commit, landing: "goal_A/T1" },
  });
  await decided(w.store, afterLand("c1"), afterLand("c2"));
  const registry: Registry<World> = {
    afterLand: async () => {
      throw new Error("No space left on device");
    },
  };
  for (let tries = 0; tries < 8; tries += 1) {
    await drain(w, registry);
    await w.clock.advance(400_000);
  }
  expect((await action(w.store, "afterLand:main:c1"))?.status).toBe("dropped");
  expect((await action(w.store, "afterLand:main:c2"))?.status).toBe("dropped");
  const { open } = await w.store.read({ open: openQuestions() });
  expect(open.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^Nothing more lands on main: landing.afterLand could not be run .*No space left on device/),
  ]);
});
