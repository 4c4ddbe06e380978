/**
 * The store as a process holds it that outlives what may happen to a file: busy for long, a full disk, moved aside by a
 * recovery, deleted, brought back. None of that is a reason to end an agent, so what cannot be written waits here and is
 * asked for again, and a database that was replaced is opened again. Whether the attempt still counts in it is for the
 * caller to see. What the agent does meanwhile keeps being read and is kept by the recorder.
 */
import { messageOf, OverseerError } from "#errors.ts";
import type { SignalLog } from "#store/signal-log.ts";
import type { Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";

/** A turn at the database is tried for this long, in which the runner can do nothing else, and then again. */
export const TRY_MS = 100;
/** Between two tries at a busy database, so that whoever asks the runner something meanwhile is answered. */
const BETWEEN_TRIES_MS = 150;
/** How long signals are tried to be written before whoever records them hears of it. */
const SIGNALS_PATIENCE_MS = 15_000;
const FIRST_WAIT_MS = 250;
const MOST_WAIT_MS = 5_000;
/** Further apart than SQLite can count others' changes while somebody looks, so that no sum comes twice. */
const OWN_CHANGE = 2 ** 32;
/** How often the log is told that it still waits. */
const TELL_EVERY_MS = 60_000;

/** Troubles that pass, or that somebody repairs while we wait. A database of a newer version is for a newer runner. */
const PASSING = new Set([
  "STORE_BUSY",
  "STORE_REPLACED",
  "STORE_WAL_GONE",
  "STORE_MISSING",
  "STORE_CORRUPT",
  "STORE_FOREIGN",
  "STORE_OLD",
  "STORE_UNREADABLE",
  "STORE_READONLY",
  "STORE_IO",
  "DISK_FULL",
]);

export interface LastingStore extends Pick<Store, "commit" | "read" | "changeMark"> {
  /** From now on trouble is thrown instead of waited out: somebody wants this process to end. */
  impatient(): void;
}

export interface LastingParts {
  open(): Promise<Store>;
  readonly clock: Clock;
  /** Nothing will ever come back: the whole repository is gone. */
  isHopeless(): boolean;
  problem(text: string): Promise<void>;
}

/** The first opening is not waited for: a runner that cannot even begin is to say so. */
export async function lastingStore(parts: LastingParts): Promise<LastingStore> {
  let store: Store | undefined = await parts.open();
  // Never closed: SQLite would remove the -wal at the old path, which may be another database's by then.
  const abandoned: Store[] = [];
  let patient = true;
  let told = Number.NEGATIVE_INFINITY;
  // SQLite tells of others' writes only; ours, and another file in its place, are changes too.
  let own = 0;
  async function patiently<T>(work: (store: Store) => Promise<T>): Promise<T> {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MOST_WAIT_MS)) {
      try {
        store ??= await parts.open();
        return await work(store);
      } catch (error) {
        if (!patient || !(error instanceof OverseerError) || !PASSING.has(error.code) || parts.isHopeless())
          throw error;
        if (parts.clock.now() - told >= TELL_EVERY_MS) {
          told = parts.clock.now();
          await parts.problem(`waiting for the store: ${messageOf(error)}`);
        }
        if (store && error.code !== "STORE_BUSY" && error.code !== "DISK_FULL") {
          abandoned.push(store);
          store = undefined;
          own += 1;
        }
        await parts.clock.sleep(error.code === "STORE_BUSY" ? BETWEEN_TRIES_MS : waitMs);
      }
    }
  }
  return {
    commit: async (request) => {
      try {
        return await patiently((now) => now.commit(request));
      } finally {
        own += 1;
      }
    },
    changeMark: () => patiently(async (now) => (await now.changeMark()) + own * OWN_CHANGE),
    read: (reads) => patiently((now) => now.read(reads)),
    impatient() {
      patient = false;
    },
  };
}

type RecordOnly = Pick<SignalLog, "record" | "close">;

/** Only a busy database is waited for here; whoever records signals keeps what was refused. */
export function lastingSignals(
  open: () => RecordOnly,
  fileNow: () => string | number | undefined,
  clock: Pick<Clock, "monotonic" | "sleep">,
): RecordOnly {
  let file = fileNow();
  let log: RecordOnly | undefined = open();
  const abandoned: RecordOnly[] = []; // as above
  const logNow = (): RecordOnly => {
    if (fileNow() !== file && log) {
      abandoned.push(log);
      log = undefined;
    }
    if (!log) {
      file = fileNow();
      log = open();
    }
    return log;
  };
  return {
    async record(attempt, agent, signals) {
      for (const until = clock.monotonic() + SIGNALS_PATIENCE_MS; ; ) {
        try {
          return await logNow().record(attempt, agent, signals);
        } catch (error) {
          const busy = error instanceof OverseerError && error.code === "STORE_BUSY";
          if (!busy || clock.monotonic() >= until) throw error;
          await clock.sleep(BETWEEN_TRIES_MS);
        }
      }
    },
    close: () => log?.close(),
  };
}
