/** A disk that is nearly full: one question however long it lasts, withdrawn when there is room, and then all continues. */
import { describe, expect, test } from "bun:test";
import type { NewEvent } from "#domain/model/event.ts";
import { applied, NOW, snapshotOf, working } from "../../../test/support/snapshots.ts";
import { goalOf, nodeWith } from "../../../test/support/tree.ts";
import { decide } from "./decide.ts";
import type { Snapshot } from "./snapshot.ts";

const GB = 1024 ** 3;
const { room } = snapshotOf();
const free = (diskBytes: number, parts: Partial<Snapshot["room"]> = {}) => ({
  ...{ room: { ...room, diskBytes, minDiskBytes: 2 * GB, ...parts } },
});
const ready = (parts: Partial<Snapshot> = {}) => snapshotOf({ nodes: [nodeWith("queued")], ...parts });
const types = (events: readonly NewEvent[]): string[] =>
  events.map(({ type }) => type).filter((type) => type.startsWith("disk.") || type.startsWith("question."));
const asksOf = (world: Snapshot) => decide(world).actions.flatMap((one) => (one.kind === "ask" ? [one.payload] : []));

/** The person has been asked: the action is done and its question open. */
function asked(world: Snapshot): Snapshot {
  const [ask] = asksOf(world);
  const after = applied(world, decide(world));
  const question = { questionId: ask?.questionId, goalId: null, workNodeId: null, status: "open" };
  const actions = after.actions.filter(({ kind }) => kind !== "ask");
  return { ...after, actions, questions: [question] as unknown as Snapshot["questions"], now: NOW + 5_000 };
}

describe("FAIL-16: who is asked about a disk", () => {
  const rows: readonly (readonly [string, Snapshot, number])[] = [
    ["with less than must stay free, and work that waits", ready(free(GB)), 1],
    ["with less, and an agent at work", working({}, free(GB)), 1],
    ["with exactly as much", ready(free(2 * GB)), 0],
    ["with less, and nothing to do", snapshotOf(free(GB)), 0],
    ["with less, and only work that has ended", snapshotOf({ nodes: [nodeWith("done")], ...free(GB) }), 0],
    ["with less, and a goal that is paused", ready({ ...free(GB), goals: [{ ...goalOf(), status: "paused" }] }), 0],
    ["with less, on a machine that is busy too", ready(free(GB, { load: 99 })), 1],
    ["with less, while nothing may start for its settings", ready({ ...free(GB), held: "they are away" }), 1],
    ["with less, in a frozen fleet", ready({ ...free(GB), frozen: true }), 0],
  ];
  test.each(rows)("%s", (_what, world, questions) => {
    expect(asksOf(world)).toHaveLength(questions);
    expect(types(decide(world).events)).toEqual(questions === 0 ? [] : ["disk.short"]);
  });

  test("it says how much is free, what helps, and that it continues by itself", () => {
    expect(asksOf(ready(free(0.5 * GB)))[0]).toMatchObject({
      text: expect.stringMatching(
        /the disk is nearly full: 512 MB free, 2\.0 GB needed\. Free some .*capacity\.minDisk: everything continues by itself/,
      ),
      options: ["look again"],
    });
  });
});

describe("FAIL-16: asked once, and withdrawn with the shortage", () => {
  const rows: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
    ["it stays so", {}, []],
    ["it gets worse", free(0), []],
    ["it is at its limit", free(2 * GB), []],
    ["there is a tenth more than is needed", free(2.2 * GB), ["disk.enough", "question.withdrawn"]],
    [
      "the limit was lowered",
      { room: { ...room, diskBytes: GB, minDiskBytes: 1 } },
      ["disk.enough", "question.withdrawn"],
    ],
    ["nothing is left to do", { nodes: [nodeWith("done")] }, ["disk.enough", "question.withdrawn"]],
    ["somebody has answered, and it stays so", { questions: [] }, []],
    ["somebody has answered, and there is room", { ...free(9 * GB), questions: [] }, ["disk.enough"]],
  ];
  test.each(rows)("%s", (_what, change, said) => {
    const { events, nextDueAt } = decide({ ...asked(ready(free(GB))), ...change });
    expect(types(events)).toEqual([...said]);
    // Nobody tells when there is room: it is looked for.
    if (said.length === 0) expect(nextDueAt).toBe(NOW + 10_000);
  });

  test("a question that was not asked yet is not asked any more; one that is just being asked is withdrawn after that", () => {
    const world = { ...applied(ready(free(GB)), decide(ready(free(GB)))), ...free(9 * GB), now: NOW + 1_000 };
    const over = decide(world);
    expect(over.events.map(({ type }) => type)).toContain("action.dropped");
    expect(types(over.events)).toEqual(["disk.enough"]);
    const taken = world.actions.map((one) => ({ ...one, status: "taken" as const }));
    expect(types(decide({ ...world, actions: taken }).events)).toEqual([]);
  });

  test("with room again what waited starts, and a disk that is short anew is asked about anew", () => {
    const back = decide({ ...asked(ready(free(GB))), ...free(9 * GB) });
    expect(back.actions.map(({ kind }) => kind)).toEqual(["spawn"]);
    const later = {
      ...applied(asked(ready(free(GB))), decide({ ...asked(ready(free(GB))), ...free(9 * GB) })),
      ...free(GB),
    };
    expect(asksOf({ ...later, now: NOW + 60_000 })).toHaveLength(1);
  });
});
