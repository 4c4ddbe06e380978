/** The desk of a hook that is a program of its own: each part is opened when it is needed, and closed before the end. */
import type { HookDesk } from "#act/hooks/desk.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import { addressIn, askOnce, openSignalLog } from "#store/open.ts";

/** How long a hook waits for the database before it spools. */
const BUSY_MS = 100;

export function fileDesk(state: string, attempt: number, agent: string, policy: PermitPolicy | undefined): HookDesk {
  return {
    state,
    directory: `${state}/run/attempts/${attempt}`,
    attempt,
    agent,
    policy,
    interactive: policy?.interactive === true,
    ask: (query, busyMs) => askOnce(addressIn(state), query, busyMs),
    async withLog(work) {
      const log = openSignalLog(addressIn(state), { busyMs: BUSY_MS, caps: policy?.signalCaps });
      try {
        return await work(log);
      } finally {
        // Left open, Bun would write the whole log back into the file at exit, which costs ten times the recording.
        log.close();
      }
    },
  };
}
