/** The simulator on every even seed: with everything that goes wrong, nothing that must hold breaks. */
import { expect, test } from "bun:test";
import { scaled } from "../support/scale.ts";
import { brokenIn, seedsEach } from "./seeds.ts";

test(
  "SIM-1 TICK-2 TICK-3 LADDER-1 FENCE-1 TELL-1 MASS-1 EDGE-10: on even seeds nothing that must hold breaks, and all comes to its end",
  async () => {
    expect(await brokenIn(2, 2, seedsEach())).toEqual([]);
  },
  scaled(600_000),
);
