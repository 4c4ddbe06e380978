/**
 * Folds in what hooks could not record at once (runtimes/hook-spool.ts), in the order of time, and removes each file
 * when it is recorded. Cut off between the two it is simply done again: a signal has its id from the hook, so it counts
 * once. Done by the runner while its agent lives, and once more by whoever buries an agent whose runner died.
 */
import { messageOf } from "#errors.ts";
import { dialectNamed } from "#runtimes/dialects.ts";
import { hookSignals } from "#runtimes/hook-signals.ts";
import { isSpoolName, readSpooled, spoolDir } from "#runtimes/hook-spool.ts";
import type { SignalLog } from "#store/signal-log.ts";
import type { Files } from "#sys/files.ts";

export interface Spool {
  readonly state: string;
  readonly attempt: number;
  readonly agent: string;
  readonly interactive: boolean;
}

export interface FoldedSpool {
  readonly folded: number;
  /** Files that could not be understood, or signals that could not be written; what stays is tried again next time. */
  readonly problems: readonly string[];
}

/** At most this many at a time, so that nothing else waits for long. */
const MOST_FILES = 500;

/** Never throws for what lies in the spool; an unreadable directory is a problem that is told. */
export async function foldSpool(
  parts: { readonly files: Files; readonly signals: Pick<SignalLog, "record"> },
  spool: Spool,
): Promise<FoldedSpool> {
  const directory = spoolDir(spool.state, spool.attempt);
  const names = ((await parts.files.list(directory)) ?? []).filter(isSpoolName).toSorted();
  const problems: string[] = [];
  let folded = 0;
  for (const name of names.slice(0, MOST_FILES)) {
    const path = `${directory}/${name}`;
    const text = await parts.files.read(path);
    if (text === undefined) continue;
    const spooled = readSpooled(text);
    if (spooled === undefined) problems.push(`${name} in the spool is not understood; it was removed`);
    else {
      try {
        const event = { ...spooled, moment: spooled.event, interactive: spool.interactive };
        await parts.signals.record(spool.attempt, spool.agent, hookSignals(dialectNamed(spooled.dialect), event));
        folded += 1;
      } catch (error) {
        // The store is still busy or gone. The rest would fare no better, and order matters.
        return { folded, problems: [...problems, `the spool waits: ${messageOf(error)}`] };
      }
    }
    await parts.files.remove(path);
  }
  return { folded, problems };
}
