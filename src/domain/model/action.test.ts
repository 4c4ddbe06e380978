/** The outbox's entity: taken under a lease, done once, tried again with patience, given up openly. */
import { expect, test } from "bun:test";
import { ADA, T0 } from "../../../test/support/samples.ts";
import { allowed, placed, typesOf } from "../../../test/support/tree.ts";
import type { Action, ActionOutcome, ActionRequest } from "./action.ts";
import { ACTION_TRIES, actionDecided, applyToAction, closeAction, hastenAction, takeAction } from "./action.ts";
import type { Decision } from "./decision.ts";

const REQUEST: ActionRequest = {
  actionId: "spawn:goal_A/T1:1",
  kind: "spawn",
  goalId: "goal_A",
  nodeId: "T1",
  because: "ready",
  notBefore: T0,
  payload: { dispatchId: "D_1", capability: "builder", name: null },
};
const ME = { by: "1@x", leaseMs: 1_000, gone: () => false };
const at = (now: number) => ({ ...ADA, now });

function decided(): Action {
  const action = applyToAction(undefined, placed(actionDecided(REQUEST, ADA)));
  if (!action) throw new Error("no action");
  return action;
}

function after(action: Action, decision: Decision<unknown>, now = T0): Action {
  return allowed(decision).reduce<Action>((known, event) => applyToAction(known, placed(event, now)) ?? known, action);
}

const taken = (now = T0) => after(decided(), takeAction(decided(), ME, at(now)), now);

test("TICK-2: an action that is decided twice is one action", () => {
  const known = taken();
  expect(applyToAction(known, placed(actionDecided(REQUEST, ADA), T0 + 5))).toBe(known);
});

test("DISP-1: its id is its key, and everything it needs is in it", () => {
  expect(decided()).toMatchObject({
    actionId: REQUEST.actionId,
    status: "pending",
    payload: REQUEST.payload,
    tries: 0,
  });
});

test("TICK-2: it is taken by one, until that one's lease has expired or that one is gone", () => {
  const held = taken();
  const other = { ...ME, by: "2@y" };
  expect(typesOf(takeAction(held, other, at(T0 + 999)))).toEqual([]);
  expect(typesOf(takeAction(held, other, at(T0 + 1_000)))).toEqual(["action.taken"]);
  expect(typesOf(takeAction(held, { ...other, gone: () => true }, at(T0 + 1)))).toEqual(["action.taken"]);
});

test.each([
  ["its holder died", 1, true],
  ["its lease lapsed", 1_000, false],
])("EDGE-10 TICK-2: taken after the clock was set back by a year, it is taken again when %s", (_when, ms, dead) => {
  const back = T0 - 365 * 86_400_000;
  const held = taken(back);
  expect(held).toMatchObject({ status: "taken", dueAt: T0, updatedAt: back });
  const other = { ...ME, by: "2@y", gone: () => dead };
  expect(typesOf(takeAction(held, other, at(back + ms)))).toEqual(["action.taken"]);
  expect(typesOf(takeAction(held, { ...other, gone: () => false }, at(back + 1)))).toEqual([]);
});

test("it is not taken before its time, nor when it has ended", () => {
  const later = { ...decided(), dueAt: T0 + 10 };
  expect(typesOf(takeAction(later, ME, at(T0 + 9)))).toEqual([]);
  const done = after(taken(), closeAction(taken(), ME.by, { ok: true }, ADA));
  expect(done.status).toBe("done");
  expect(typesOf(takeAction(done, ME, at(T0 + 10)))).toEqual([]);
});

test("an outcome of somebody who lost it meanwhile changes nothing", () => {
  expect(typesOf(closeAction(taken(), "2@y", { ok: true }, ADA))).toEqual([]);
});

test("DISP-4: what failed waits longer each time and is given up at last", () => {
  let action = decided();
  let now = T0;
  const waits: number[] = [];
  for (let tries = 1; tries <= ACTION_TRIES; tries += 1) {
    action = after(action, takeAction(action, ME, at(now)), now);
    action = after(action, closeAction(action, ME.by, { ok: false, problem: "no", retry: "backoff" }, at(now)), now);
    if (action.status !== "failed") break;
    waits.push(action.dueAt - now);
    now = action.dueAt;
  }
  expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000]);
  expect(action).toMatchObject({ status: "dropped", problem: "no" });
});

test("DISP-4: what was tried in vain because of the machine counts for no task: its own failures begin with the first", () => {
  const fail = (action: Action, outcome: ActionOutcome) => {
    const held = after(action, takeAction(action, ME, at(action.dueAt)), action.dueAt);
    return after(held, closeAction(held, ME.by, outcome, at(action.dueAt)), action.dueAt);
  };
  let action = decided();
  for (let tries = 0; tries <= ACTION_TRIES; tries += 1)
    action = fail(action, { ok: false, problem: "no CLI", retry: "always", cause: "RUNTIME_NOT_READY" });
  expect(action).toMatchObject({ status: "failed", tries: ACTION_TRIES + 1, cause: "RUNTIME_NOT_READY" });
  const own = { ok: false, problem: "disk is full", retry: "backoff" } as const;
  action = fail(action, own);
  expect(action).toMatchObject({ status: "failed", tries: 1 });
  expect(action.cause).toBeUndefined();
  for (let tries = 2; tries <= ACTION_TRIES; tries += 1) action = fail(action, own);
  expect(action.status).toBe("dropped");
});

test("CAP-1: not yet is no failure: it waits as long as it was told, and the try does not count", () => {
  const waiting = after(
    taken(),
    closeAction(taken(), ME.by, { ok: false, problem: "full", retry: { afterMs: 30_000 } }, ADA),
  );
  expect(waiting).toMatchObject({ status: "failed", tries: 0, dueAt: T0 + 30_000 });
});

test("what can never work is dropped at once", () => {
  const dropped = after(
    taken(),
    closeAction(taken(), ME.by, { ok: false, problem: "no such role", retry: "never" }, ADA),
  );
  expect(dropped.status).toBe("dropped");
});

test("ACC-2: what waits longer than it has to is due at once; what is being done, due or over is left alone", () => {
  const running = taken();
  const waits = after(
    running,
    closeAction(running, ME.by, { ok: false, problem: "p", retry: { afterMs: 60_000 } }, at(T0)),
  );
  const due = after(waits, hastenAction(waits, "free", at(T0 + 5)), T0 + 5);
  expect([due.status, due.dueAt, due.tries]).toEqual(["failed", T0 + 5, waits.tries]);
  expect(allowed(takeAction(due, ME, at(T0 + 5)))).toHaveLength(1);
  for (const other of [running, due, undefined]) expect(allowed(hastenAction(other, "free", at(T0 + 6)))).toEqual([]);
});
