/** Whether anybody looks at agents now (WATCH-1): where nobody does, what was judged last is old, and says so. */
import type { DaemonState } from "./daemon-life.ts";

export interface Attention {
  /** Why nobody looks, as a sentence without its stop; null while somebody does. */
  readonly unwatched: string | null;
  /** Wall clock, ms: when somebody last did, as far as that is known. */
  readonly judgedAt: number | null;
}

export interface Watcher {
  readonly state: DaemonState;
  /** False after `up --no-supervision`. */
  readonly supervision: boolean;
  /** `watch.enabled`. */
  readonly enabled: boolean;
}

const AWAY: Readonly<Partial<Record<DaemonState, string>>> = {
  stopped: "No daemon runs",
  died: "The daemon died",
  "not-beating": "The daemon does not beat",
};

/** Why nobody looks; null where somebody does. */
export function reasonUnwatched({ state, supervision, enabled }: Watcher): string | null {
  const away = AWAY[state];
  if (away !== undefined) return away;
  if (!supervision) return "The daemon runs without supervision: nobody is watched";
  return enabled ? null : "watch.enabled is false: nobody is watched";
}
