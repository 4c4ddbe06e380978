/** What an end leaves behind, and that a restart knows it before it stops anybody. */
import { expect, test } from "bun:test";
import type { Claim } from "#domain/model/claim.ts";
import { WORK_STATUSES } from "#domain/model/work.ts";
import { attemptWith, claimWith } from "../../../test/support/claims.ts";
import { endAttempt, refuseSuccessor } from "./attempt-end.ts";

const END = { cause: "stopped", detail: "restarted", wip: null, usage: {} } as unknown as Parameters<
  typeof endAttempt
>[2];
const MOMENT = { now: 1, actor: "overseer" } as const;
const CLAIMS: (Claim | undefined)[] = [undefined, claimWith(), claimWith({ attempt: 6 })];

test.each(WORK_STATUSES)(
  "FAIL-5: a restart on work that is %s is refused before the stop whenever it would be after it",
  (status) => {
    for (const claim of CLAIMS) {
      const attempt = attemptWith();
      const node = { status, claim };
      const around = { node, assignment: { status: "running" }, waiting: [], parent: undefined };
      const ended = endAttempt(attempt, around, END, MOMENT);
      const isQueued = status === "queued" || (ended.ok && ended.events.some(({ type }) => type === "work.requeued"));
      const refused = refuseSuccessor(attempt, node);
      if (claim?.attempt === attempt.attempt) expect(refused).toMatchObject({ refusal: { code: "REPORTED_DONE" } });
      else expect(refused === undefined).toBe(isQueued);
    }
  },
);

test("FAIL-5: an agent that has ended is restarted on work that is queued, and on no other", () => {
  const attempt = attemptWith({ status: "ended" });
  const free = WORK_STATUSES.filter((status) => refuseSuccessor(attempt, { status }) === undefined);
  expect(free).toEqual(["queued"]);
});

test("FAIL-5: work that waits for an answer is not restarted, and the question is named with the command that answers it", () => {
  const attempt = attemptWith({ status: "ended" });
  const about = (status: (typeof WORK_STATUSES)[number]) => refuseSuccessor(attempt, { status }, "q_7");
  expect(about("blocked")).toMatchObject({ refusal: { hint: expect.stringContaining("overseer answer q_7 ") } });
  expect(about("done")).toMatchObject({ refusal: { hint: expect.not.stringContaining("q_7") } });
  expect(about("queued")).toBeUndefined();
});
