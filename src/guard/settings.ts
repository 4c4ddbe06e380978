/**
 * The numbers the guard goes by: of the last settings that were checked and confirmed (run/config.json), and where there are
 * none yet, the usual ones. It reads no YAML and no schema: what is wrong with a configuration must not take it down.
 */
import { readCopy } from "#config/checked-copy.ts";
import type { Config } from "#config/schema.ts";
import { readNow } from "#sys/read-now.ts";

export interface GuardSettings {
  readonly checkEveryMs: number;
  readonly heartbeatTimeoutMs: number;
  readonly tickTimeoutMs: number;
  readonly graceMs: number;
  readonly stallAfterMs: number;
  readonly stallRestarts: number;
  readonly cooldownMs: number;
  readonly remediationTimeoutMs: number;
  readonly strict: boolean;
  readonly project: string | null;
  readonly channels: Config["channels"] | null;
  readonly passEnv: readonly string[];
  readonly logs: { readonly maxSize: number; readonly keep: number };
}

const MINUTE = 60_000;
/** The defaults of the schema; a test holds the two together. */
export const USUAL_SETTINGS: GuardSettings = {
  checkEveryMs: 5_000,
  heartbeatTimeoutMs: 30_000,
  tickTimeoutMs: 6 * MINUTE,
  graceMs: 30_000,
  stallAfterMs: 60 * MINUTE,
  stallRestarts: 3,
  cooldownMs: MINUTE,
  remediationTimeoutMs: 30 * MINUTE,
  strict: false,
  project: null,
  channels: null,
  passEnv: [],
  logs: { maxSize: 10 * 1024 ** 2, keep: 5 },
};

export function readGuardSettings(state: string): GuardSettings {
  const config = readCopy(readNow(`${state}/run/config.json`))?.config;
  return config ? toGuardSettings(config) : USUAL_SETTINGS;
}

/** A copy of another version may lack what is new since. */
export function toGuardSettings(config: Partial<Config>): GuardSettings {
  const { guard, reconcile, project, channels, agents, logs } = config;
  const usual = USUAL_SETTINGS;
  return {
    checkEveryMs: guard?.checkEvery ?? usual.checkEveryMs,
    heartbeatTimeoutMs: guard?.heartbeatTimeout ?? usual.heartbeatTimeoutMs,
    tickTimeoutMs: reconcile ? reconcile.tickEvery * reconcile.deadmanFactor : usual.tickTimeoutMs,
    graceMs: guard?.grace ?? usual.graceMs,
    stallAfterMs: guard?.stallAfter ?? usual.stallAfterMs,
    stallRestarts: guard?.stallRestarts ?? usual.stallRestarts,
    cooldownMs: guard?.cooldown ?? usual.cooldownMs,
    remediationTimeoutMs: guard?.remediationTimeout ?? usual.remediationTimeoutMs,
    strict: guard?.strict ?? usual.strict,
    project: project?.name ?? usual.project,
    channels: channels ?? usual.channels,
    passEnv: agents?.passEnv ?? usual.passEnv,
    logs: logs ? { maxSize: logs.maxSize, keep: logs.keep } : usual.logs,
  };
}
