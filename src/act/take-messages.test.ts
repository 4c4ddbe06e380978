/** Who gets nothing out of an inbox just now: FREEZE-1 holds at every door, because it is asked for in the commit itself. */
import { expect, test } from "bun:test";
import { freezeFleet, thawFleet } from "#domain/fleet.ts";
import { theFleet } from "#store/fleet.ts";
import { memoryStore } from "#store/memory.ts";
import { addRunning } from "../../test/support/attempts.ts";
import { ADA } from "../../test/support/samples.ts";
import { takeForAttempt } from "./take-messages.ts";

test("FREEZE-1: nothing is handed over while the fleet is frozen, and everything after", async () => {
  const store = memoryStore();
  const [attempt = 0] = await addRunning(store, 1, { pid: 1, start: "1" });
  const taking = { handedAs: "h", because: "test", capBytes: 8_192, now: ADA.now, midTurn: false };
  const fleet = (rule: typeof freezeFleet) =>
    store.commit({ at: ADA.now, reads: { fleet: theFleet() }, decide: ({ fleet }) => rule(fleet, null, ADA) });

  await fleet(freezeFleet);
  expect(await takeForAttempt(store, attempt, taking)).toMatchObject({ text: "", handed: [] });
  await fleet(thawFleet);
  expect((await takeForAttempt(store, attempt, taking)).handed).toHaveLength(1);
  expect((await takeForAttempt(store, attempt, taking)).handed).toHaveLength(0);
});
