/** How an agent does in the words that older programs know (booting, working, stalled, zombie; fresh, stale, very stale), beside ours. */

import type { Config } from "#config/schema.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Freshness } from "#domain/watch/freshness.ts";
import { judgeFreshness } from "#domain/watch/freshness.ts";
import type { AgentHealth, LifePhase } from "#domain/watch/health.ts";
import { healthOfLiving } from "#store/health.ts";
import type { World } from "./world.ts";

export interface LifeWords {
  /** Null where it was not looked at yet. */
  readonly phase: LifePhase | null;
  readonly freshness: Freshness;
}

/** What says them of each attempt, as the watch kept them; also while the configuration cannot be read. */
export async function readLifeWords(
  world: World,
): Promise<(attempt: Pick<Attempt, "attempt" | "status">) => LifeWords> {
  const { rows } = await (await world.reader()).read({ rows: healthOfLiving() });
  const known = new Map(rows.map((row) => [row.attempt, row]));
  const watch = rows.length === 0 ? undefined : (await world.config().catch(() => undefined))?.watch;
  return ({ attempt, status }) => {
    if (status === "ended") return { phase: "terminated", freshness: "unknown" };
    const health = known.get(attempt);
    if (!health) return { phase: null, freshness: "unknown" };
    return { phase: health.phase, freshness: watch ? freshnessNow(world, health, watch) : health.freshness };
  };
}

/** As people read them; empty where nothing is known. */
export function sayLifeWords({ phase, freshness }: LifeWords): string {
  return [phase ?? [], freshness === "unknown" ? [] : freshness.replace("-", " ")].flat().join(", ");
}

/** What stood still at the last look has stood still since, as far as this boot knows; the rest is as it was seen then. */
export function freshnessNow(
  { clock }: Pick<World, "clock">,
  { freshness, quiet }: Pick<AgentHealth, "freshness" | "quiet">,
  { staleAfter: staleAfterMs, veryStaleAfter: veryStaleAfterMs }: Config["watch"],
): Freshness {
  if (!quiet || quiet.since.boot !== clock.boot()) return "unknown";
  if (freshness === "fresh") return freshness;
  return judgeFreshness(quiet, { boot: clock.boot(), ms: clock.monotonic() }, { staleAfterMs, veryStaleAfterMs });
}
