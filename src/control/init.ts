/**
 * Setting Overseer up in a repository: the files a person edits, the database, and the first line of the log. Safe to
 * run again at any time: what exists is kept, what is missing is added, an older database is migrated.
 */
import { planScaffold, scaffold } from "#config/scaffold.ts";
import { accept } from "#domain/refusal.ts";
import { OverseerError } from "#errors.ts";
import { currentBranch, hasCommits } from "#git/repository.ts";
import { logSize } from "#store/events.ts";
import { openForWriting, prepareDatabase } from "#store/sqlite-file.ts";
import { acceptStore, backupDir, databasePath, isUnfinished } from "./recovery.ts";
import type { World } from "./world.ts";

export interface Initialised {
  readonly state: string;
  readonly created: readonly string[];
  readonly kept: readonly string[];
  readonly database: "created" | "migrated" | "kept";
}

export async function init(world: World, version: string): Promise<Initialised> {
  const { git } = world.git;
  if (!(await hasCommits(git, world.root.project))) {
    throw new OverseerError(
      "conflict",
      "NO_COMMITS",
      "This repository has no commits yet, so there is nothing agents could start from.",
      "Make a first commit (git commit --allow-empty -m 'Begin'), then run 'overseer init' again.",
    );
  }
  const branch = await currentBranch(git, world.root.project);
  const { state, userDir } = world.root;
  await makePrivateDirs(world);
  const existing = new Map<string, string>();
  for (const { path } of scaffold()) {
    const text = await world.files.read(`${userDir}/${path}`);
    if (text !== undefined) existing.set(path, text);
  }
  const plan = planScaffold(existing);
  for (const { path, text } of plan.create) {
    await world.files.makeDir(`${userDir}/${path}`.replace(/\/[^/]*$/, ""));
    await world.files.write(`${userDir}/${path}`, text, { mode: 0o644 });
  }
  if (await isUnfinished(world)) {
    throw new OverseerError(
      "environment",
      "RECOVERY_UNFINISHED",
      "A recovery of the database was interrupted; a new one made now would hide what can still be recovered.",
      "Run 'overseer doctor --fix': it goes on where it stopped.",
    );
  }
  const path = databasePath(world);
  const prepared = await prepareDatabase({ path, backupDir: backupDir(world), now: world.clock.now() });
  // A person starts anew where there was a store before: that one is kept as a backup, and no attempt gets its numbers.
  if (prepared.created) await acceptStore(world);
  await recordOnce(world, version, branch ?? null);
  await leaveCheckedConfig(world);
  return {
    state,
    created: plan.create.map((file) => file.path),
    kept: plan.keep.map((file) => file.path),
    database: prepared.created ? "created" : prepared.migratedFrom === null ? "kept" : "migrated",
  };
}

/** What runs and what is said there is for this user only. */
async function makePrivateDirs(world: World): Promise<void> {
  const { state, userDir } = world.root;
  await world.files.makeDir(userDir);
  await world.files.makeDir(state, { mode: 0o700 });
  for (const name of ["run", "logs", "specs"]) await world.files.makeDir(`${state}/${name}`, { mode: 0o700 });
}

/** Opening for writing leaves the checked copy of the configuration that fast commands read. */
async function leaveCheckedConfig(world: World): Promise<void> {
  try {
    await world.writer();
  } catch (error) {
    // A configuration that cannot be used is told by every command that needs it; setting up does not.
    if (!(error instanceof OverseerError) || error.kind !== "config") throw error;
  }
}

/** The first event of a log says where it began; later runs add nothing. */
async function recordOnce(world: World, version: string, targetBranch: string | null): Promise<void> {
  const store = await openForWriting({ path: databasePath(world) });
  try {
    await store.commit({
      at: world.clock.now(),
      reads: { size: logSize() },
      decide: ({ size }) =>
        accept(
          size.events > 0
            ? []
            : [
                {
                  type: "overseer.initialised",
                  actor: world.actor,
                  because: "asked-for",
                  data: { version, targetBranch },
                },
              ],
          null,
        ),
    });
  } finally {
    await store.close();
  }
}
