import { expect, test } from "bun:test";
import { ADA, T0 } from "../../../test/support/samples.ts";
import { allowed, placed } from "../../../test/support/tree.ts";
import type { Fleet } from "./fleet.ts";
import { applyToFleet, freezeFleet, thawFleet } from "./fleet.ts";

const frozen: Fleet = { fleetId: "fleet", status: "frozen", since: T0, by: "human:ada", reason: "lunch" };

test("FREEZE-1: freezing is one event that the row is folded from", () => {
  const [event] = allowed(freezeFleet(undefined, "lunch", ADA));
  expect(event && applyToFleet(undefined, placed(event))).toMatchObject({ status: "frozen", reason: "lunch" });
});

test("FREEZE-1: freezing what is frozen changes nothing and is no mistake", () => {
  const decision = freezeFleet(frozen, "again", ADA);
  expect(decision).toEqual({ ok: true, events: [], value: { changed: false, fleet: frozen } });
});

test("FREEZE-1: thawing ends it, and thawing what moves changes nothing", () => {
  const [event] = allowed(thawFleet(frozen, null, ADA));
  const moving = event && applyToFleet(frozen, placed(event));
  expect(moving).toMatchObject({ status: "moving" });
  expect(allowed(thawFleet(moving, null, ADA))).toEqual([]);
  expect(allowed(thawFleet(undefined, null, ADA))).toEqual([]);
});
