import { describe, expect, test } from "bun:test";
import type { WorkNode } from "#domain/model/work.ts";
import { attemptWith, claimWith } from "../../../test/support/claims.ts";
import { ADA } from "../../../test/support/samples.ts";
import { allowed, nodeWith } from "../../../test/support/tree.ts";
import { type AfterStop, endReservation, stopAttempt } from "./stop-agent.ts";

const LIVES = attemptWith();
const ENDED = attemptWith({ status: "ended" });
const types = (node: WorkNode, after: AfterStop, attempt = LIVES, last = attempt.attempt) =>
  allowed(stopAttempt({ attempt, node, last }, { name: "builder-1", reason: null, after }, ADA)).map(
    ({ type }) => type,
  );

describe("HOLD-1: what a stop makes of the task", () => {
  const working = nodeWith("in_progress");

  test.each([
    ["the tick's leaves it to whoever is next", working, "queue", LIVES, ["agent.stop_requested"]],
    ["down --agents puts it aside", working, "resume", LIVES, ["agent.stop_requested"]],
    ["a person's reserves it", working, "reserve", LIVES, ["agent.stop_requested", "work.blocked"]],
    [
      "what is reported done stands",
      nodeWith("in_progress", { claim: claimWith() }),
      "reserve",
      LIVES,
      ["agent.stop_requested"],
    ],
    ["an open question stands", nodeWith("blocked"), "reserve", LIVES, ["agent.stop_requested"]],
    ["one that has just ended is reserved too", nodeWith("queued"), "reserve", ENDED, ["work.blocked"]],
    ["but not what somebody else has by now", working, "reserve", ENDED, []],
  ] as const)("%s", (_what, node, after, attempt, expected) => {
    expect(types(node, after, attempt)).toEqual([...expected]);
  });

  test("an earlier attempt of another's work reserves nothing", () => {
    expect(types(nodeWith("queued"), "reserve", ENDED, ENDED.attempt + 1)).toEqual([]);
  });

  test("it says how to continue, and whoever a person puts to work ends it", () => {
    const events = allowed(
      stopAttempt(
        { attempt: LIVES, node: working, last: LIVES.attempt },
        { name: "b", reason: null, after: "reserve" },
        ADA,
      ),
    );
    const blocked = events.find((event) => event.type === "work.blocked");
    if (blocked?.type !== "work.blocked") throw new Error("It is not reserved.");
    expect(blocked.data.blocked.needs).toContain(`overseer restart ${LIVES.agent}`);
    const reserved = nodeWith("blocked", { blockedReason: blocked.data.blocked });
    expect(endReservation(reserved, ADA)).toMatchObject({
      node: { status: "queued" },
      events: [{ type: "work.unblocked" }],
    });
    expect(endReservation(reserved, { ...ADA, actor: "overseer" })).toEqual({ node: reserved, events: [] });
    const asked = nodeWith("blocked", { blockedReason: { kind: "human", detail: "?" } });
    expect(endReservation(asked, ADA)).toEqual({ node: asked, events: [] });
  });
});
