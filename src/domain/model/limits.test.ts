import { expect, test } from "bun:test";
import type { AgentLimits, OwnLimits } from "./limits.ts";
import { resolveLimits } from "./limits.ts";

const MINUTE = 60_000;
const FLEET: AgentLimits = {
  idleAfterMs: 15 * MINUTE,
  startingLimitMs: 2 * MINUTE,
  toolLimitMs: 20 * 60_000,
  patienceMs: 2 * MINUTE,
  budget: { tokens: 100, cost: null, timeMs: null },
};

const rows: [why: string, role: OwnLimits | undefined, node: OwnLimits | undefined, expected: OwnLimits][] = [
  ["nobody says anything", undefined, undefined, {}],
  ["the role says one thing", { idleAfterMs: 7 * MINUTE }, undefined, { idleAfterMs: 7 * MINUTE }],
  ["the node says the same thing", { idleAfterMs: 7 * MINUTE }, { idleAfterMs: MINUTE }, { idleAfterMs: MINUTE }],
  ["each says another", { patienceMs: 1 }, { startingLimitMs: 3 }, { patienceMs: 1, startingLimitMs: 3 }],
  [
    "budgets are laid over each other field by field, and null lifts a limit",
    { budget: { cost: 5 } },
    { budget: { tokens: null } },
    { budget: { tokens: null, cost: 5, timeMs: null } },
  ],
];
test.each(rows)("CONF-1, AGENT-1: %s", (_why, role, node, expected) => {
  expect(resolveLimits(FLEET, role, node)).toEqual({ ...FLEET, ...expected } as AgentLimits);
});
