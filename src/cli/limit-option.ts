/** `--limit` of lists: how many at most; none at all would be no answer. */
import { OverseerError } from "#errors.ts";
import type { Call } from "./command.ts";

export function limitIn(call: Pick<Call, "number">, usual: number): number {
  const limit = call.number("limit") ?? usual;
  if (limit > 0) return limit;
  throw new OverseerError("usage", "LIMIT_ZERO", "--limit 0 would show nothing.", "For example: --limit 20");
}
