import { describe, expect, test } from "bun:test";
import { autoWith, poolTaskWith, workerWith } from "../../../test/support/auto.ts";
import { T0 } from "../../../test/support/samples.ts";
import { type AutoCondition, applyToAuto, applyToWorkers, autoNames, isAutoName, isPlaceName } from "./auto.ts";
import type { EventData, EventOf } from "./event.ts";

type AutoType = Parameters<typeof applyToAuto>[1]["type"];
const LATER = T0 + 1_000;
const event = <T extends keyof EventData & string>(type: T, data: EventData[T], goalId?: string) =>
  ({ type, data, actor: "human:ada", because: "test", seq: 7, at: LATER, v: 1, goalId }) as unknown as EventOf<T>;
const apply = <T extends AutoType>(known: AutoCondition | undefined, type: T, data: EventData[T], goalId?: string) =>
  applyToAuto(known, event(type, data, goalId) as Parameters<typeof applyToAuto>[1]);

describe("AUTO-12: what the log says of the pool", () => {
  const open = autoWith({ open: [poolTaskWith({ goalId: "goal_A" })], taken: 1, lastPull: "P_1" });

  test("a task that was taken is open, counted for ever and for this run, and ends what was said of an empty pool", () => {
    const empty = autoWith({ emptySince: T0, repeated: { goalId: "goal_Z", at: T0, times: 2 } });
    const after = apply(empty, "pool.taken", { source: "command", key: "k", pull: "P_9" }, "goal_B");
    expect(after.open).toEqual([{ goalId: "goal_B", source: "command", key: "k", takenAt: LATER }]);
    expect(after).toMatchObject({ taken: 1, run: { taken: 1 }, lastTakenAt: LATER, lastPull: "P_9" });
    expect([after.emptySince, after.repeated, after.files]).toEqual([null, null, {}]);
  });

  test("a file's task is known by its file, and leaves the last asking alone", () => {
    const after = apply(open, "pool.taken", { source: "directory", key: "1.md#h", pull: null }, "goal_B");
    expect([after.files, after.lastPull]).toEqual([{ "1.md#h": "goal_B" }, "P_1"]);
  });

  test("FAIL-4: repeats of one task are counted, and belong to an asking", () => {
    const once = apply(open, "pool.repeated", { pull: "P_2" }, "goal_A");
    expect(once).toMatchObject({ repeated: { goalId: "goal_A", times: 1 }, lastPull: "P_2", taken: 1 });
    expect(apply(once, "pool.repeated", { pull: "P_3" }, "goal_A").repeated?.times).toBe(2);
    expect(apply(once, "pool.repeated", { pull: "P_3" }, "goal_B").repeated?.times).toBe(1);
  });

  test("AUTO-5: an end closes that task alone, and adds to its outcome and to what this run has cost", () => {
    const two = { ...open, open: [...open.open, poolTaskWith({ goalId: "goal_B" })] };
    const repeated = { ...two, repeated: { goalId: "goal_A", at: T0, times: 1 } };
    const after = apply(repeated, "pool.ended", { outcome: "unchanged", costUsd: 0.5 }, "goal_A");
    expect(after.open.map(({ goalId }) => goalId)).toEqual(["goal_B"]);
    expect(after).toMatchObject({ outcomes: { landed: 0, unchanged: 1, cancelled: 0 }, run: { costUsd: 0.5 } });
    expect([after.repeated, after.lastEndedAt]).toEqual([null, LATER]);
  });

  test("what is refused is said once, and forgotten with its file", () => {
    const after = apply(open, "pool.refused", { key: "1.md#h", problem: "it is no text" });
    expect([after.files, after.refused]).toEqual([{ "1.md#h": "" }, { "1.md#h": "it is no text" }]);
    const gone = apply(after, "pool.forgotten", { keys: ["1.md#h"] });
    expect([gone.files, gone.refused]).toEqual([{}, {}]);
  });

  test("an empty pool is empty since the first time it said so", () => {
    expect(apply(open, "pool.empty", { sources: ["command"] }).emptySince).toBe(LATER);
    expect(apply({ ...open, emptySince: 5 }, "pool.empty", { sources: ["command"] }).emptySince).toBe(5);
  });
});

describe("AUTO-7: what the log says of auto mode itself", () => {
  const failure = { code: "POOL_FAILED", problem: "It exits 1.", hint: "Fix it." };

  test("a failure stays until it is started anew; a pause also then", () => {
    const failed = apply(apply(autoWith(), "auto.paused", { reason: "lunch" }), "auto.failed", failure);
    expect(failed).toMatchObject({ failure: { ...failure, at: LATER }, paused: { by: "human:ada", reason: "lunch" } });
    const data = { instance: "j", sources: [], concurrency: 1, tasks: null, budgetUsd: null };
    const again = apply({ ...failed, run: { startedAt: T0, taken: 4, costUsd: 2 } }, "auto.started", data);
    expect(again).toMatchObject({
      failure: null,
      paused: { reason: "lunch" },
      run: { startedAt: LATER, taken: 0, costUsd: 0 },
    });
    expect(apply(again, "auto.resumed", { reason: null }).paused).toBeNull();
  });
});

describe("AUTO-3: workers", () => {
  const added = ({ addedAt: _at, ...data } = workerWith("auto-1")) => event("worker.added", data);

  test("come, are replaced under their name, and go; the last one leaves an empty list", () => {
    const one = applyToWorkers(undefined, added());
    expect(one.workers).toEqual([workerWith("auto-1", { addedAt: LATER })]);
    const two = applyToWorkers(one, added(workerWith("ben", { excluded: true })));
    expect(applyToWorkers(two, added(workerWith("ben"))).workers.map(({ name, excluded }) => [name, excluded])).toEqual(
      [
        ["auto-1", false],
        ["ben", false],
      ],
    );
    const none = applyToWorkers(one, event("worker.removed", { name: "auto-1" }));
    expect([none.workers, none.since, none.active]).toEqual([[], LATER, true]);
  });

  const names: readonly [string, boolean, boolean][] = [
    ["auto-1", true, true],
    ["auto-1000", true, true],
    ["auto-0", false, false],
    ["auto-01", false, false],
    ["auto-", false, false],
    ["auto-12345", false, false],
    ["automatic-1", false, false],
    ["ben", false, true],
    ["cleo", false, false],
  ];
  test.each(names)("%s is auto mode's own: %p; a place: %p", (name, isOwn, isPlace) => {
    const known = [workerWith("ben"), workerWith("cleo", { excluded: true })];
    expect([isAutoName(name), isPlaceName(name, known)]).toEqual([isOwn, isPlace]);
  });

  test("their names are counted from one", () => {
    expect(autoNames(3)).toEqual(["auto-1", "auto-2", "auto-3"]);
  });
});
