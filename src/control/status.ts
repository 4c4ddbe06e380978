/** How things stand, in one answer: what a person looks at first. It reads and never writes. */
import { goalOverviews } from "#store/goals.ts";
import { readNow } from "#sys/read-now.ts";
import type { GoalRow } from "./views.ts";
import { goalRow } from "./views.ts";
import type { World } from "./world.ts";

export interface SafeMode {
  readonly since: string;
  readonly problem: string;
  readonly movedTo: readonly string[];
  /** Set from before the first file is moved until the recovered database stands: where the damaged one goes. */
  readonly recovering?: string;
}

export interface Status {
  readonly root: string;
  readonly goals: readonly GoalRow[];
  /** Set while the store is under suspicion: everything can be read, nothing is given out. */
  readonly safeMode: SafeMode | null;
}

export async function status(world: World): Promise<Status> {
  const store = await world.reader();
  const { rows } = await store.read({ rows: goalOverviews({ archived: false }) });
  return { root: world.root.project, goals: rows.map(goalRow), safeMode: await readSafeMode(world) };
}

export function safeModePath(world: World): string {
  return `${world.root.state}/run/safe-mode.json`;
}

export async function readSafeMode(world: World): Promise<SafeMode | null> {
  const text = readNow(safeModePath(world));
  return text === undefined ? null : (JSON.parse(text) as SafeMode);
}
