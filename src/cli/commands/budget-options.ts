/** `--tokens`, `--cost`, `--time`: how much more a node or a goal may spend, as people write it. */
import type { Call, Option } from "#cli/command.ts";
import type { Allowance, Spendable } from "#domain/model/limits.ts";
import { ALLOWANCE_KEYS } from "#domain/model/limits.ts";
import { parseAmount } from "#domain/reports/raise-budget.ts";
import { OverseerError } from "#errors.ts";

export const BUDGET_OPTIONS: readonly Option[] = [
  { name: "tokens", value: "n", summary: "So many tokens, such as 500k or 2M; none for no limit." },
  { name: "cost", value: "usd", summary: "So many US dollars; none for no limit." },
  { name: "time", value: "duration", summary: "So much time, such as 90m or 3h; none for no limit." },
];

export function readRaise(call: Call): Partial<Allowance> {
  return {
    ...readAmount(call, "tokens"),
    ...readAmount(call, "cost"),
    ...readAmount(call, "time"),
  };
}

function readAmount(call: Call, what: Spendable): Partial<Allowance> {
  const text = call.text(what);
  if (text === undefined) return {};
  const amount = text === "none" ? null : parseAmount(text, what);
  if (amount !== undefined) return { [ALLOWANCE_KEYS[what]]: amount };
  const hint = BUDGET_OPTIONS.find(({ name }) => name === what)?.summary ?? "";
  throw new OverseerError("usage", "AMOUNT_UNKNOWN", `--${what} ${text.slice(0, 40)} is no amount.`, hint);
}
