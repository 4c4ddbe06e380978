/** What a session spends is counted once: within a process, across processes, and across attempts. */
import { expect, test } from "bun:test";
import type { Tokens, Totals } from "#runtimes/runtime.ts";
import { UsageLedger } from "./stream-usage.ts";

const tokens = (inputTokens: number, outputTokens: number): Tokens => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});
const totals = (inputTokens: number, outputTokens: number, costUsd: number): Totals => ({
  ...tokens(inputTokens, outputTokens),
  costUsd,
});
/** What earlier attempts took in the same session. */
const BEFORE = totals(2_000, 20, 0.5);

/** One turn of two messages in a process that tells these totals at its end. */
function spent(ledger: UsageLedger, said: Totals): { readonly counted: Tokens; readonly costUsd: number } {
  const first = ledger.message("m1", tokens(1_000, 1)) ?? tokens(0, 0);
  const second = ledger.message("m2", tokens(1_000, 1)) ?? tokens(0, 0);
  const { rest, costUsd } = ledger.result(said, tokens(2_000, 20));
  return {
    counted: tokens(
      first.inputTokens + second.inputTokens + rest.inputTokens,
      first.outputTokens + second.outputTokens + rest.outputTokens,
    ),
    costUsd,
  };
}

test.each<[string, Totals, Totals, number]>([
  ["in a session that nobody had before", totals(0, 0, 0), totals(2_000, 20, 0.4), 0.4],
  ["after an orderly end, when the CLI remembers what was before", BEFORE, totals(4_000, 40, 0.9), 0.4],
  ["after a kill, when the CLI begins at nothing", BEFORE, totals(2_000, 20, 0.4), 0.4],
  ["when the CLI remembers less than was counted", BEFORE, totals(3_500, 32, 0.8), 0.3],
])("RUN-1: a turn is counted once %s", (_when, before, said, costUsd) => {
  const ledger = new UsageLedger();
  ledger.leg(before);
  const turn = spent(ledger, said);
  expect(turn.counted).toEqual(tokens(2_000, 20));
  expect(turn.costUsd).toBeCloseTo(costUsd, 6);
});

test("RUN-1: of the blocks of one message the largest numbers count", () => {
  const ledger = new UsageLedger();
  ledger.leg();
  expect(ledger.message("m1", tokens(40_000, 1))).toEqual(tokens(40_000, 1));
  expect(ledger.message("m1", tokens(40_000, 1))).toBeUndefined();
  expect(ledger.message("m1", tokens(160_000, 1))).toEqual(tokens(120_000, 0));
  expect(ledger.message("m1", tokens(40_000, 1))).toBeUndefined();
  expect(ledger.result(totals(160_000, 9, 0.1), tokens(160_000, 9)).rest).toEqual(tokens(0, 8));
});

test("RUN-1: what was before is told to every leg and counts for the first", () => {
  const ledger = new UsageLedger();
  ledger.leg(BEFORE);
  expect(spent(ledger, totals(4_000, 40, 0.9)).costUsd).toBeCloseTo(0.4, 6);
  ledger.leg(BEFORE);
  ledger.message("m3", tokens(1_000, 1));
  const { rest, costUsd } = ledger.result(totals(5_000, 50, 1.1), tokens(1_000, 10));
  expect(rest).toEqual(tokens(0, 9));
  expect(costUsd).toBeCloseTo(0.2, 6);
});
