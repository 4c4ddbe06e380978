/** The runner's desk for its agent's hooks: the signal log stays open, and is opened again when another file took its place. */
import { statSync } from "node:fs";
import type { HookDesk } from "#act/hooks/desk.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import type { LaunchFile } from "#runner/launch-file.ts";
import { askOnce, openSignalLog } from "#store/open.ts";
import type { SignalLog } from "#store/signal-log.ts";

/** How long the database is waited for before a hook's words are spooled: the runner itself waits meanwhile. */
const BUSY_MS = 100;

export interface RunnerDesk extends HookDesk {
  readonly policy: PermitPolicy;
  close(): void;
}

type Which = Pick<LaunchFile, "root" | "directory" | "attempt" | "agent" | "database" | "signalCaps">;

export function runnerDesk(launch: Which, policy: PermitPolicy): RunnerDesk {
  const { database, signalCaps: caps } = launch;
  const fileNow = () => statSync(database, { throwIfNoEntry: false })?.ino;
  let kept: { readonly file: number | undefined; readonly log: SignalLog } | undefined;
  const abandoned: SignalLog[] = []; // never closed: see runner/lasting-store.ts
  return {
    state: launch.root.state,
    directory: launch.directory,
    attempt: launch.attempt,
    agent: launch.agent,
    policy,
    interactive: policy.interactive,
    ask: (query, busyMs) => askOnce(database, query, busyMs),
    async withLog(work) {
      const file = fileNow();
      if (kept && kept.file !== file) {
        abandoned.push(kept.log);
        kept = undefined;
      }
      kept ??= { file, log: openSignalLog(database, { busyMs: BUSY_MS, caps }) };
      return work(kept.log);
    },
    close: () => kept?.log.close(),
  };
}
