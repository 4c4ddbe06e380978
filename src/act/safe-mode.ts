/**
 * Safe mode: the store is under suspicion, so everything can be read and nothing is dispatched, landed or delivered until
 * a person says go. It is a file and not a row, because then the store itself is in doubt.
 */
import { type Continuity, sentenceOf } from "#domain/health/high-water.ts";
import type { Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";
import type { Files } from "#sys/files.ts";
import { readNow } from "#sys/read-now.ts";

export interface SafeMode {
  readonly since: string;
  readonly problem: string;
  readonly movedTo: readonly string[];
  /** Set where the store did not continue from where it was seen; how far it is behind changes with what is written to it. */
  readonly doubted?: true;
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
    return { since: "an unknown time", problem: "Why it is on can no longer be read.", movedTo: [] };
  }
}

/** The first reason stays; another one that comes to it is told beside it. */
export async function enterSafeMode(parts: SafeModeParts, problem: string): Promise<void> {
  const before = safeModeIn(parts.root.state, parts.readNow);
  if (before?.problem.includes(problem)) return;
  await write(parts, {
    ...(before ?? newSafeMode(parts)),
    problem: both(before?.problem ?? "", problem).slice(0, 4_000),
  });
}

function newSafeMode({ clock }: SafeModeParts): SafeMode {
  return { since: new Date(clock.now()).toISOString(), problem: "", movedTo: [] };
}

const both = (one: string, other: string) => [one, other].filter((text) => text !== "").join(" ");

async function write({ root: { state }, files }: SafeModeParts, safeMode: SafeMode): Promise<void> {
  await files.makeDir(`${state}/run`, { mode: 0o700 });
  await files.write(safeModeFile(state), `${JSON.stringify(safeMode)}\n`, { mode: 0o600 });
}

/** A store that does not continue from where it was seen is not used without a person. True when it is so. */
export async function doubtStore(parts: SafeModeParts, store: Pick<Store, "standing">): Promise<boolean> {
  const standing = await store.standing();
  if (standing.kind === "follows") return false;
  const before = safeModeIn(parts.root.state, parts.readNow);
  if (!before?.doubted) await write(parts, { ...(before ?? newSafeMode(parts)), doubted: true });
  return true;
}

/** Why it is on, as things are now: a store in doubt is asked how far it is behind, or whether that has ended. */
export function problemNow({ problem, doubted }: SafeMode, standing: Continuity): string {
  if (standing.kind !== "follows") return both(problem, sentenceOf(standing));
  return both(problem, doubted ? "The database had gone back; it continues from where it was seen again." : "");
}
