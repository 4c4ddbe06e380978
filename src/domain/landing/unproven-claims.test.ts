import { expect, test } from "bun:test";
import type { EventOf } from "#domain/model/event.ts";
import { countClaims } from "./unproven-claims.ts";

const about = (type: string, attempt: number | null, because = "reported") =>
  ({ type, attempt, because, data: {} }) as unknown as EventOf;

test.each<[why: string, events: EventOf[], claims: number, unproven: number]>([
  ["a claim that held", [about("work.claimed", 1)], 1, 0],
  ["a check that failed", [about("work.claimed", 1), about("work.returned", 1, "checks-failed")], 1, 1],
  ["a person's no", [about("work.claimed", 1), about("work.returned", 1, "rejected")], 1, 1],
  ["a commit that is not there", [about("work.claimed", 1), about("work.returned", 1, "commit-missing")], 1, 1],
  ["a conflict says nothing", [about("work.claimed", 1), about("work.returned", 1, "merge-conflict")], 1, 0],
  ["a person who takes over neither", [about("work.claimed", 1), about("work.returned", 1, "taken-over")], 1, 0],
  [
    "each round counts",
    [
      about("work.claimed", 1),
      about("work.returned", 1, "checks-failed"),
      about("work.claimed", 1),
      about("work.returned", 1, "rejected"),
      about("work.claimed", 1),
    ],
    3,
    2,
  ],
  ["others' claims are others'", [about("work.claimed", 2), about("work.returned", null, "rejected")], 0, 0],
])("METRIC-1: done that was not: %s", (_why, events, claims, unproven) => {
  expect(countClaims(events).get(1) ?? { claims: 0, unproven: 0 }).toEqual({ claims, unproven });
});
