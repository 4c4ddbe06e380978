/**
 * Checks for a repository that has none configured: what its files show (domain/plans/found-checks.ts), run once on the
 * branch that work lands on, in a worktree of our own, and written into the configuration once a person has said so. Nothing
 * here is decided for anybody: finding runs nothing, running writes nothing but its receipts.
 */
import { type JudgeOptions, judgeCommit } from "#act/checks/check.ts";
import { landingTip } from "#act/landing/target-branch.ts";
import { readProject } from "#act/planning/explore.ts";
import { type SettingsEdit, setSettings } from "#control/edit-settings.ts";
import type { World } from "#control/world.ts";
import type { CheckVerdict } from "#domain/model/check.ts";
import { type FoundCheck, findChecks, suggestSetup } from "#domain/plans/found-checks.ts";

export interface CheckProposal {
  /** Where work lands, and what is there now. */
  readonly branch: string;
  readonly commit: string;
  /** Names of those that are configured already. */
  readonly configured: readonly string[];
  /** Those beside them, the most telling first. */
  readonly found: readonly FoundCheck[];
  /** What a fresh worktree needs before they can run, where nothing is configured for it; null where nothing tells. */
  readonly setup: string | null;
}

/** Looks only. Throws what landingTip throws where there is no branch to look at. */
export async function findProposal(world: World): Promise<CheckProposal> {
  const { branch, commit } = await landingTip(world);
  const { checks, worktree } = await world.config();
  const project = await readProject(world, commit);
  const commands = new Set(Object.values(checks).map((one) => one.command));
  const found = findChecks(project).filter(({ name, command }) => checks[name] === undefined && !commands.has(command));
  const setup = worktree.setup === null ? suggestSetup(project) : null;
  return { branch, commit, configured: Object.keys(checks), found, setup };
}

/** How a found one ended on the commit. */
export interface TriedCheck extends FoundCheck {
  readonly verdict: CheckVerdict;
  /** Why it did not pass, as a clause; null when it did. */
  readonly why: string | null;
  readonly durationMs: number;
  /** Empty where nothing was run. */
  readonly logPath: string;
}

/** A proposal and what came of it. */
export interface ProposedChecks extends CheckProposal {
  /** How each ended; null where none was run. */
  readonly tried: readonly TriedCheck[] | null;
  /** The names of those that are in the configuration now because of this. */
  readonly kept: readonly string[];
  /** Why they are not in effect yet; null where they are. */
  readonly hold: SettingsEdit["hold"];
}

/** Somebody waits for it, so none runs as long as it may later. */
export const LONGEST_TRIAL_MS = 5 * 60_000;

/** Runs each once. Throws CONFIG_AWAY or CONFIG_UNCONFIRMED where nothing may be run under these settings. */
export async function tryChecks(
  world: World,
  { commit, found }: CheckProposal,
  trial: Pick<JudgeOptions, "begins" | "signal">,
): Promise<TriedCheck[]> {
  const specs = found.map(({ name, command, timeoutMs }) => ({
    ...{ name, command, timeoutMs: Math.min(timeoutMs, LONGEST_TRIAL_MS) },
    ...({ on: ["done", "land"], expect: null, protected: [], once: true } as const),
  }));
  const receipts = (await judgeCommit(world, null, specs, "land", commit, { ...trial, anew: true })) ?? [];
  return found.flatMap((one, at) => {
    const receipt = receipts[at];
    if (receipt === undefined) return [];
    const { verdict, why, durationMs, logPath } = receipt;
    return [{ ...one, verdict, why, durationMs, logPath }];
  });
}

/** By a person's word: into the configuration, where comments and order stay as they are. */
export async function adoptChecks(world: World, checks: readonly FoundCheck[]): Promise<SettingsEdit> {
  return setSettings(
    world,
    checks.map(({ name, command, timeoutMs }) => [
      `checks.${name}`,
      JSON.stringify({ command, timeout: `${Math.round(timeoutMs / 60_000)}m` }),
    ]),
  );
}
