/**
 * Where the daemon's files lie below the state directory. One place for these names: the daemon writes them, and
 * status, runners, the guard and the next `up` look for them.
 */
export interface RunFiles {
  readonly registration: string;
  readonly heartbeat: string;
  readonly intent: string;
  /** How the last life ended. */
  readonly ending: string;
  readonly guard: string;
  readonly guardLock: string;
  /** What a guard prints that nobody has in a terminal. */
  readonly guardOutput: string;
  /** Where the store is at home (domain/health/place.ts). */
  readonly place: string;
  /** Where the exporter of traces is, and how it stands; its lock, and what it says when something goes wrong. */
  readonly exporter: string;
  readonly exporterLock: string;
  readonly exporterOutput: string;
  /** Why the last hook of a session that leads failed; nothing is there when it did not. */
  readonly leadFailure: string;
  readonly lock: string;
  readonly log: string;
  /** What the process itself says, where something goes wrong before or beside its log. */
  readonly output: string;
  /** Why that start failed, for whoever waits for it; several may be tried at once. */
  failureOf(instance: string): string;
}

export function runFiles(state: string): RunFiles {
  return {
    registration: `${state}/run/daemon.json`,
    heartbeat: `${state}/run/auto.heartbeat`,
    intent: `${state}/run/intent.json`,
    ending: `${state}/run/daemon.end.json`,
    guard: `${state}/run/guard.json`,
    guardLock: `${state}/run/guard.lock.db`,
    guardOutput: `${state}/logs/guard.out`,
    place: `${state}/run/place.json`,
    exporter: `${state}/run/exporter.json`,
    exporterLock: `${state}/run/exporter.lock.db`,
    exporterOutput: `${state}/logs/exporter.out`,
    leadFailure: `${state}/run/lead.failed.json`,
    lock: `${state}/run/lock.db`,
    log: `${state}/logs/daemon.ndjson`,
    output: `${state}/logs/daemon.out`,
    failureOf: (instance) => `${state}/run/daemon.failed.${instance}.json`,
  };
}
