/** WORK-6: of all that happened, the step that answers the question; and what only confirms a step is told in one line. */
import { expect, test } from "bun:test";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import { placed } from "../../../test/support/tree.ts";
import { CAUSES, causeOf, foldReceipts, isReceipt, receiptKind, type ToldStep } from "./cause.ts";

function steps(...types: string[]): ToldStep[] {
  return types.map((type, seq) => {
    const about = { actor: "overseer", goalId: "goal_A", because: "x" } as const;
    const event = placed({ ...about, type, data: { verdict: "pass" } } as unknown as NewEvent) as EventOf;
    return { seq, at: seq, text: `${seq}`, event };
  });
}

const CASES: [why: string, status: string, types: string[], seq: number | null][] = [
  ["a paused goal: its pause, not the plan that was revised after it", "paused", ["goal.paused", "plan.accepted"], 0],
  ["a queued node: what let it in last", "queued", ["work.queued", "work.blocked", "work.unblocked"], 2],
  ["a done one that landed: the landing, which says more", "done", ["landing.landed", "work.done"], 0],
  ["a done one that nobody landed", "done", ["work.started", "work.done"], 1],
  ["one in progress: what happened last, receipts apart", "in_progress", ["work.started", "update.taken"], 0],
  ["nothing but receipts", "in_progress", ["update.taken"], 0],
  ["nothing at all", "blocked", [], null],
];
test.each(CASES)("WORK-6: %s", (_why, status, types, seq) => {
  expect(causeOf(steps(...types), status)?.seq ?? null).toBe(seq);
});

const receiptsOf = (story: readonly ToldStep[]) =>
  new Map(
    story.flatMap(({ seq, event }) => (receiptKind(event) === undefined ? [] : [[seq, receiptKind(event) ?? ""]])),
  );

test("WORK-6: like receipts in a row are told as the last of them, with their number", () => {
  const story = steps("assignment.created", "assignment.delivered", "assignment.delivered", "assignment.done");
  const receipts = receiptsOf(story);
  expect(foldReceipts(story, receipts).map(({ text }) => text)).toEqual(["0", "2 (2 of these)", "3"]);
  expect(foldReceipts(story.slice(0, 2), receipts).map(({ text }) => text)).toEqual(["0", "1"]);
});

test("WORK-6: receipts of different things are told one by one, also in a row", () => {
  const story = steps("assignment.delivered", "update.taken", "update.taken", "merge.testing", "assignment.delivered");
  expect(foldReceipts(story, receiptsOf(story)).map(({ text }) => text)).toEqual(["0", "2 (2 of these)", "3", "4"]);
  const check = (seq: number, name: string, verdict = "pass"): ToldStep => {
    const data = { name, verdict };
    const event = {
      ...placed({ actor: "overseer", because: "x", type: "check.finished", data } as unknown as NewEvent),
    };
    return { seq, at: seq, text: `${seq}`, event: event as EventOf };
  };
  const checks = [check(1, "tests"), check(2, "lint"), check(3, "lint"), check(4, "lint", "fail")];
  expect(foldReceipts(checks, receiptsOf(checks)).map(({ text }) => text)).toEqual(["1", "3 (2 of these)", "4"]);
});

test("WORK-6: no receipt is a cause", () => {
  const causes = Object.values(CAUSES).flat(2);
  expect(causes.filter((type) => steps(type).some(({ event }) => isReceipt(event)))).toEqual([]);
});
