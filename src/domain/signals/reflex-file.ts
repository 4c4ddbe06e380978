/**
 * What the sling leaves for the reflex of one attempt, beside its other files. No such file: no role, and nothing runs.
 * Hooks read it, so it is small; the runner reads it once.
 */

import type { Role } from "#domain/model/role.ts";
import type { Exemptions } from "#domain/model/supervision.ts";
import { isSpared, isSupervised } from "#domain/model/supervision.ts";
import type { Pulse } from "./pulse.ts";
import type { ReflexRules, ReflexSettings } from "./reflex-rules.ts";
import { rulesFor } from "./reflex-rules.ts";
import type { SaluteUnit } from "./salute.ts";

export const REFLEX_FILE = "reflex.json";
/** Made by the runner while one more step might be worth a word; hooks of a driven agent look no further without it. */
export const ALERT_FILE = "alert";
/** The word for "no role" on the command line. */
export const NO_ROLE = "none";

export interface ReflexFile {
  readonly v: 1;
  /** The agent's own hooks steer it. */
  readonly steers: boolean;
  readonly rules: ReflexRules;
  readonly unit: SaluteUnit;
  /** How much the contexts of models hold: what earlier agents have learned, for one that is not told before its turn ends. */
  readonly windows: Readonly<Record<string, number>>;
  readonly salute: {
    readonly keep: number;
    readonly directory: string;
    /** Where an overseer on another machine reads and writes, if there is one. */
    readonly shared: string | null;
  };
}

/** Undefined for one without a role, or that is not supervised; of one that is not nudged, only reports are made. */
export function reflexFile(
  role: Role | undefined,
  settings: ReflexSettings & { readonly enabled: boolean },
  given: Pick<ReflexFile, "unit" | "windows" | "salute">,
  exempt?: Exemptions,
): ReflexFile | undefined {
  const own = exempt ? { exempt } : {};
  if (!role || !isSupervised(own)) return undefined;
  return { v: 1, steers: settings.enabled && !isSpared(own), rules: rulesFor(role, settings), ...given };
}

/** The pulse with the size of its context filled in, where earlier agents of its model have learned it. */
export function withKnownWindow(pulse: Pulse, { windows }: Pick<ReflexFile, "windows">): Pulse {
  if (pulse.contextWindow !== null || pulse.model === null) return pulse;
  return { ...pulse, contextWindow: windows[pulse.model] ?? null };
}
