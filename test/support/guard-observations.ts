/** What keys of the guard change: what it makes of the same daemon, and how long it gives whom. */
import type { Config } from "#config/schema.ts";
import { judgeHealth } from "#domain/guard/health.ts";
import { decideAfterFailure, NO_FAILURES } from "#domain/guard/spiral.ts";
import type { Heartbeat, Registration } from "#domain/health/daemon-life.ts";
import { readFault } from "#guard/daemon-watch.ts";
import { type GuardSettings, toGuardSettings } from "#guard/settings.ts";

const registration = { instance: "d_1", pid: 7, start: "s" } as Registration;
const heartbeat = { instance: "d_1", work: { open: true, progressAt: 1 } } as Heartbeat;

/** A daemon with work of which nothing has moved for half an hour. */
export const stillForHalfAnHour = (config: Config) =>
  judgeHealth(
    {
      ...{
        registration,
        alive: true,
        heartbeat,
        ending: undefined,
        intent: undefined,
        faults: [],
        isDiskFull: false,
        strangeMs: 0,
      },
      still: { beatMs: 0, tickMs: 0, progressMs: 30 * 60_000 },
    },
    { registration, intentAt: 0 },
    toGuardSettings(config),
  );

const after = (memory: object, kind: "stalled" | "faults") => (config: Config) =>
  decideAfterFailure(
    { ...NO_FAILURES, ...memory },
    { kind, code: null, detail: "It broke." },
    30_000,
    toGuardSettings(config),
  ).act;

/** A second stall in a row; and a fault half a minute after a remediation. */
export const stalledTwice = after({ stalls: 1 }, "stalled");
export const failedAgain = after({ remediated: true }, "faults");

export const guardSets = (key: keyof GuardSettings) => (config: Config) => toGuardSettings(config)[key];

const WARNING = '{"level":"warn","event":"store.reopened","data":{"problem":"it was away"}}';
export const warningSeen = (config: Config) => readFault(WARNING, toGuardSettings(config).strict);
