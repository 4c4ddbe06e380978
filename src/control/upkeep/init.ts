/**
 * Setting Overseer up in a repository: the files a person edits, the database, and the first line of the log. Safe to
 * run again at any time: what exists is kept, what is missing is added, an older database is migrated.
 */

import { rulesNow } from "#act/landing/rules.ts";
import { landingBranch } from "#act/landing/target-branch.ts";
import { confirmSettings, readSettings, settingsChange } from "#act/settings/settings.ts";
import { makeSettingsReader } from "#act/settings/settings-reader.ts";
import { refuseTracked } from "#act/settings/tracked-state.ts";
import { resolveConfigured } from "#config/places.ts";
import { planScaffold, type ScaffoldFile, scaffold } from "#config/scaffold.ts";
import { defaultConfig } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import type { SettingsTexts } from "#domain/health/settings.ts";
import { findTreeWalkers, type TreeWalker } from "#domain/health/tree-walkers.ts";
import type { LandingRules } from "#domain/landing/landing-rules.ts";
import { accept } from "#domain/model/decision.ts";
import { OverseerError } from "#errors.ts";
import { currentBranch, hasCommits, repositoryAt } from "#git/repository.ts";
import { logSize } from "#store/events.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import { acceptStore, backupDir, databasePath, isUnfinished } from "./store-rescue.ts";

export interface Initialised {
  /** Where the files are that a person edits. */
  readonly userDir: string;
  /** Where the database is. */
  readonly state: string;
  readonly created: readonly string[];
  readonly kept: readonly string[];
  /** False when files are there that somebody else may have written: 'overseer trust' shows and confirms them. */
  readonly isConfirmed: boolean;
  readonly database: "created" | "migrated" | "kept";
  /** The branch that finished work lands on, or why there is none and what to do. */
  readonly landsOn: LandsOn;
  /** What a day may cost, where this run wrote it into the configuration. */
  readonly dayCost: number | null;
  /** Tools of this project that would walk into the worktrees of agents, and what keeps each out. */
  readonly walkers: readonly TreeWalker[];
}

/** `mode`: whether a person accepts each landing, as things are. */
export type LandsOn =
  | { readonly branch: string; readonly mode: LandingRules["mode"] }
  | { readonly problem: string; readonly hint: string };

export interface InitChoices {
  /** Asked once, and only where a configuration is about to be written: the most a day may cost, null for no limit. */
  chooseDayCost(): number | null;
  /** It was named on the command line, so it must not be lost without a word. */
  readonly namesDayCost: boolean;
}

export async function init(world: World, version: string, choices: InitChoices): Promise<Initialised> {
  const { git } = world.git;
  if (!(await hasCommits(git, world.root.project))) {
    const { bare } = await repositoryAt(git, world.root.project);
    throw new OverseerError(
      "conflict",
      "NO_COMMITS",
      "This repository has no commits yet, so there is nothing agents could start from.",
      bare
        ? "It is bare: push a first commit into it from a clone, then run 'overseer init' again."
        : "Make a first commit (git commit --allow-empty -m 'Begin'), then run 'overseer init' again.",
    );
  }
  await refuseTracked(world);
  const branch = await currentBranch(git, world.root.project);
  const { state, userDir } = world.root;
  const reader = makeSettingsReader(world.files, world.root);
  const existing = new Map<string, string>();
  for (const { path } of scaffold()) {
    const text = await reader.read(`${userDir}/${path}`);
    if (text !== undefined) existing.set(path, text);
  }
  const isConfigured = existing.has("config.yaml");
  if (isConfigured && choices.namesDayCost) throw isYours(choices.chooseDayCost());
  const dayCost = isConfigured ? null : choices.chooseDayCost();
  await makePrivateDirs(world);
  const before = await settingsBefore(world);
  const plan = planScaffold(existing, dayCost);
  for (const { path, text } of plan.create) {
    await world.files.makeDir(`${userDir}/${path}`.replace(/\/[^/]*$/, ""));
    await world.files.write(`${userDir}/${path}`, text, { mode: 0o644 });
  }
  if (await isUnfinished(world)) {
    throw new OverseerError(
      "environment",
      "RECOVERY_UNFINISHED",
      "A recovery of the database was interrupted; a new one made now would hide what can still be recovered.",
      "Run 'overseer doctor --fix': it continues where it stopped.",
    );
  }
  const path = databasePath(world);
  const prepared = await prepareStore({ address: path, backupDir: backupDir(world), now: world.clock.now() });
  // A person starts again where there was a store before: that one is kept as a backup, and no attempt gets its numbers.
  if (prepared.created) await acceptStore(world);
  await recordOnce(world, version, branch ?? null);
  const isConfirmed = await confirmWritten(world, before, plan.create);
  await leaveCheckedConfig(world);
  return {
    userDir,
    state,
    created: plan.create.map((file) => file.path),
    kept: plan.keep.map((file) => file.path),
    isConfirmed,
    database: prepared.created ? "created" : prepared.migratedFrom === null ? "kept" : "migrated",
    landsOn: await findLandsOn(world),
    dayCost,
    walkers: await listWalkers(world),
  };
}

function isYours(dayCost: number | null): OverseerError {
  return new OverseerError(
    "conflict",
    "CONFIG_KEPT",
    "This repository has a configuration already, and init changes nothing that is yours.",
    `Write it there: budgets: {day: {cost: ${dayCost}}} in .overseer/config.yaml.`,
  );
}

async function findLandsOn(world: World): Promise<LandsOn> {
  try {
    const [branch, { mode }] = [await landingBranch(world), await rulesNow(world)];
    return { branch, mode };
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return { problem: error.message, hint: error.hint };
  }
}

/** Where worktrees lie elsewhere, nobody walks into them. */
async function listWalkers(world: World): Promise<TreeWalker[]> {
  const { project } = world.root;
  const { path } = resolveConfigured(world.root, await readWorktreeDir(world));
  if (!path.startsWith(`${project}/`)) return [];
  return findTreeWalkers(await world.files.read(`${project}/package.json`), path.slice(project.length + 1));
}

/** The default where the configuration cannot be used: every command that needs it says why. */
async function readWorktreeDir(world: World): Promise<string> {
  try {
    return (await world.config()).worktree.dir;
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return defaultConfig().worktree.dir;
  }
}

interface Before {
  readonly texts: SettingsTexts;
  /** This user has confirmed them, and nothing is away. */
  readonly isConfirmed: boolean;
}

/** What lay there before anything was written; undefined where it cannot be understood. */
async function settingsBefore(world: World): Promise<Before | undefined> {
  try {
    const { texts } = await readSettings(world);
    const { isNew, brought } = await settingsChange(world, { texts });
    return { texts, isConfirmed: !isNew && brought.length === 0 };
  } catch (error) {
    if (!(error instanceof OverseerError) || error.kind !== "config") throw error;
    return undefined;
  }
}

/** What `init` wrote is confirmed by that; what lay there and is not its own is not, unless it was before. */
async function confirmWritten(
  world: World,
  before: Before | undefined,
  created: readonly ScaffoldFile[],
): Promise<boolean> {
  if (before === undefined) return false;
  const own = new Map(scaffold().map(({ path, text }) => [`.overseer/${path}`, text]));
  const isForeign = Object.entries(before.texts).some(([name, text]) => own.get(name) !== text);
  if (isForeign && !before.isConfirmed) return false;
  // Where everything is confirmed and nothing was missing, there is nothing to say.
  if (before.isConfirmed && created.length === 0) return true;
  await confirmSettings(world, await readSettings(world));
  return true;
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
  const store = await openForWriting({ address: databasePath(world) });
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
