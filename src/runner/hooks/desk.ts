/** The runner's desk for its agent's hooks: the store stays open, and is opened again when another file took its place. */
import type { HookDesk } from "#act/hooks/desk.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import type { LaunchFile } from "#runner/launch-file.ts";
import { markStoreFiles } from "#runner/store-files.ts";
import { openAsker, openSignalLog } from "#store/open.ts";

/** How long the database is waited for before a hook's words are spooled: the runner itself waits meanwhile. */
const BUSY_MS = 100;

export interface RunnerDesk extends HookDesk {
  readonly policy: PermitPolicy;
  close(): void;
}

type Which = Pick<LaunchFile, "root" | "directory" | "attempt" | "agent" | "database" | "signalCaps">;

export function runnerDesk(launch: Which, policy: PermitPolicy, catchUp?: () => Promise<void>): RunnerDesk {
  const { database, signalCaps: caps } = launch;
  const fileNow = () => markStoreFiles(database);
  const log = keepOpen(fileNow, () => openSignalLog(database, { busyMs: BUSY_MS, caps }));
  const asker = keepOpen(fileNow, () => openAsker(database));
  return {
    state: launch.root.state,
    directory: launch.directory,
    attempt: launch.attempt,
    agent: launch.agent,
    policy,
    interactive: policy.interactive,
    ask: async (query, busyMs) => asker.now().ask(query, busyMs),
    withLog: async (work) => work(log.now()),
    ...(catchUp ? { catchUp } : {}),
    close() {
      log.close();
      asker.close();
    },
  };
}

interface KeptOpen<T> {
  /** Throws when it cannot be opened. */
  now(): T;
  close(): void;
}

function keepOpen<T extends { close(): void }>(fileNow: () => string, open: () => T): KeptOpen<T> {
  let kept: { readonly file: string; readonly opened: T } | undefined;
  const abandoned: T[] = []; // never closed: see runner/lasting-store.ts
  return {
    now() {
      const file = fileNow();
      if (kept && kept.file !== file) {
        abandoned.push(kept.opened);
        kept = undefined;
      }
      kept ??= { file, opened: open() };
      return kept.opened;
    },
    close: () => kept?.opened.close(),
  };
}
