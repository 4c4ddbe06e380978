/**
 * Safe mode: the store is under suspicion, so everything can be read and nothing is given out, landed or delivered until
 * a person says go. It is a file and not a row, because then the store itself is in doubt.
 */
import { sentenceOf } from "#domain/high-water.ts";
import type { Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";
import type { Files } from "#sys/files.ts";
import { readNow } from "#sys/read-now.ts";

export interface SafeMode {
  readonly since: string;
  readonly problem: string;
  readonly movedTo: readonly string[];
  /** Set from before the first file is moved until the recovered database stands: where the damaged one goes. */
  readonly recovering?: string;
}

interface SafeModeParts {
  readonly root: { readonly state: string };
  readonly clock: Clock;
  readonly files: Files;
  readonly readNow?: (path: string) => string | undefined;
}

export function safeModeFile(state: string): string {
  return `${state}/run/safe-mode.json`;
}

/** What the file says; null when there is none. One that was cut off still means that something is wrong. */
export function safeModeIn(state: string, read: (path: string) => string | undefined = readNow): SafeMode | null {
  const text = read(safeModeFile(state));
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as SafeMode;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { since: "an unknown time", problem: "What it was entered for cannot be read any more.", movedTo: [] };
  }
}

/** The first reason stays; another one that comes to it is told beside it. */
export async function enterSafeMode(parts: SafeModeParts, problem: string): Promise<void> {
  const { state } = parts.root;
  const before = safeModeIn(state, parts.readNow);
  if (before?.problem.includes(problem)) return;
  const since = new Date(parts.clock.now()).toISOString();
  const now: SafeMode = before
    ? { ...before, problem: `${before.problem} ${problem}`.slice(0, 4_000) }
    : { since, problem, movedTo: [] };
  await parts.files.makeDir(`${state}/run`, { mode: 0o700 });
  await parts.files.write(safeModeFile(state), `${JSON.stringify(now)}\n`, { mode: 0o600 });
}

/** A store that does not go on from where it was seen is not to be gone on with by itself. True when it is so. */
export async function doubtStore(parts: SafeModeParts, store: Pick<Store, "standing">): Promise<boolean> {
  const standing = await store.standing();
  if (standing.kind === "follows") return false;
  await enterSafeMode(parts, sentenceOf(standing));
  return true;
}
