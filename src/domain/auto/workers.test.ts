import { describe, expect, test } from "bun:test";
import type { Worker } from "#domain/model/auto.ts";
import { addWorker, judgeVanished, listPlaces, matchWorkers, pickPlace, removeWorker } from "./workers.ts";

const MOMENT = { now: 5, actor: "human:ada" } as const;
const worker = (name: string, change: Partial<Worker> = {}): Worker => ({
  ...{
    name,
    made: name.startsWith("auto-"),
    excluded: false,
    capability: null,
    runtime: null,
    model: null,
    addedAt: 1,
  },
  ...change,
});
const wish = (name: string) => ({ name, excluded: false, capability: null, runtime: null, model: null });

describe("AUTO-3: workers of auto mode are made on demand", () => {
  test("as many as are wanted, each once", () => {
    const events = matchWorkers([worker("auto-1")], 3, [], MOMENT);
    expect(events.map(({ type, data }) => [type, "name" in data && data.name])).toEqual([
      ["worker.added", "auto-2"],
      ["worker.added", "auto-3"],
    ]);
    expect(matchWorkers([worker("auto-1"), worker("auto-2")], 2, [], MOMENT)).toEqual([]);
  });

  test("one that is too many goes, unless somebody works under its name; standing ones stay", () => {
    const known = [worker("auto-1"), worker("auto-2"), worker("auto-3"), worker("ben")];
    const events = matchWorkers(known, 1, [{ agent: "auto-3" }], MOMENT);
    expect(events.map(({ type, data }) => [type, "name" in data && data.name])).toEqual([["worker.removed", "auto-2"]]);
  });

  test("those that are excluded get no task by themselves", () => {
    expect(listPlaces(2, [worker("ben"), worker("cleo", { excluded: true }), worker("auto-1")])).toEqual([
      ...["auto-1", "auto-2", "ben"],
    ]);
  });
});

describe("AUTO-3: which place somebody gets", () => {
  const places = ["auto-1", "auto-2", "auto-3"];
  const rows: readonly [string, string, readonly string[], readonly string[], string | undefined][] = [
    ["the one that was meant for them", "auto-2", [], [], "auto-2"],
    ["another where that is taken", "auto-2", ["auto-2"], [], "auto-1"],
    ["one that nobody is to continue under, if there is one", "auto-1", [], ["auto-1", "auto-2"], "auto-3"],
    ["any that is free, rather than none", "auto-1", ["auto-2"], ["auto-1", "auto-3"], "auto-1"],
    ["none where all have a task", "auto-1", places, [], undefined],
    ["never one beyond those that there are", "auto-3", ["auto-1", "auto-3"], ["auto-2"], "auto-2"],
  ];
  test.each(rows)("%s", (_name, wanted, living, promised, expected) => {
    expect(pickPlace(wanted, places, { living: new Set(living), promised: new Set(promised) })).toBe(
      expected as string,
    );
  });
});

describe("AUTO-10: workers of auto mode take the defaults", () => {
  const rows: readonly [string, ReturnType<typeof addWorker>, string][] = [
    ["one of theirs with settings of its own", addWorker([], wish("auto-2"), MOMENT), "AUTO_WORKER"],
    ["a name that is none", addWorker([], wish("Ben!"), MOMENT), "NAME_INVALID"],
    ["a name that is taken", addWorker([worker("ben")], wish("ben"), MOMENT), "WORKER_EXISTS"],
    ["one of theirs taken away", removeWorker([worker("auto-1")], "auto-1", MOMENT), "AUTO_WORKER"],
    ["one that is not there", removeWorker([], "ben", MOMENT), "WORKER_UNKNOWN"],
  ];
  test.each(rows)("%s is refused", (_name, decision, code) => {
    expect(decision.ok ? "accepted" : decision.refusal.code).toBe(code);
  });

  test("a standing worker comes and goes", () => {
    expect(addWorker([], wish("ben"), MOMENT).ok).toBe(true);
    expect(removeWorker([worker("ben")], "ben", MOMENT).ok).toBe(true);
  });
});

describe("AUTO-8: workers that vanish from the state", () => {
  test("none, some, all", () => {
    const expected = ["auto-1", "auto-2"];
    expect(judgeVanished(expected, [worker("auto-1"), worker("auto-2")]).kind).toBe("none");
    expect(judgeVanished(expected, [worker("auto-2")])).toEqual({ kind: "some", names: ["auto-1"] });
    const all = judgeVanished(expected, [worker("ben")]);
    expect(all.kind === "all" && all.failure.code).toBe("WORKERS_VANISHED");
    expect(judgeVanished([], []).kind).toBe("none");
  });
});
