/**
 * Counts what a session spends, once. The CLI tells it three ways: with every block of every message (the same numbers
 * again and again, the output not yet known), with every result (this turn, without sub-agents), and as totals of the
 * session with every result. The totals are the truth, but they are restored when a session is resumed after an
 * orderly end and begin at nothing after a kill; a turn that was killed has only its messages. So messages are counted
 * as they come and each result tops them up to what its totals say. One ledger serves all legs of an attempt; one that
 * continues with an earlier attempt's session is told what that one took.
 */
import type { Tokens, Totals } from "#runtimes/runtime.ts";
import { largerTokens, sumTokens, tokensBeyond } from "./wire.ts";

const NOTHING: Tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const NONE: Totals = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0 };

export class UsageLedger {
  /** The largest numbers of each message. */
  private readonly seen = new Map<string, Tokens>();
  /** Counted by message since the last result. */
  private counted: Tokens = NONE;
  /** The session's totals as the last result gave them. */
  private last: Totals = NONE;
  private fresh = true;

  /** A new process tells its totals again. `before`: what was taken in its session by others, who counted it. */
  leg(before: Totals = NONE): void {
    if (this.last === NONE) this.last = before;
    this.fresh = true;
    this.counted = NONE;
  }

  /** The tokens of a message that were not counted before; undefined for a block that repeats its numbers. */
  message(id: string, tokens: Tokens): Tokens | undefined {
    if (id === "") return undefined;
    const before = this.seen.get(id);
    const added = tokensBeyond(tokens, before);
    if (added === undefined) return undefined;
    this.seen.set(id, largerTokens(tokens, before));
    this.counted = plus(this.counted, added);
    return added;
  }

  /** What is still to be counted after a result, and what its turn has cost. */
  result(totals: Totals, turn: Tokens): { readonly rest: Tokens; readonly costUsd: number } {
    const since = this.fresh && !isRestored(totals, this.last, most(turn, this.counted)) ? NONE : this.last;
    // Others may have counted more than the CLI remembers; this turn itself it knows.
    const spent = this.fresh ? largerTokens(minus(totals, since), turn) : minus(totals, since);
    const rest = minus(spent, this.counted);
    const costUsd = Math.max(0, totals.costUsd - since.costUsd);
    this.fresh = false;
    this.last = totals;
    this.counted = NONE;
    return { rest, costUsd };
  }
}

/**
 * Restored totals hold what was known before and this turn; others hold this turn alone. What was known is not exact
 * (the CLI forgets a turn that was killed, calls of its own are in nobody's messages), but never wrong by half.
 */
function isRestored(totals: Tokens, known: Tokens, turn: Tokens): boolean {
  return sumTokens(totals) >= sumTokens(turn) + sumTokens(known) / 2;
}

function most(one: Tokens, other: Tokens): Tokens {
  return sumTokens(one) >= sumTokens(other) ? one : other;
}

function plus(one: Tokens, other: Tokens): Tokens {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

/** Never below nothing: a count is corrected upwards only. */
function minus(one: Tokens, other: Tokens): Tokens {
  return tokensBeyond(one, other) ?? NOTHING;
}
