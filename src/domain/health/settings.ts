/**
 * The settings of a repository are the files a person writes in `.overseer/`: the configuration, roles, definitions, the
 * manifest and hooks, as texts by name. This says what a change of them means: files that were there and are away, which
 * is never a wish for the defaults; and changes that git brought, which nobody on this machine has agreed to. Pure.
 */

/** By name, as people know them: `.overseer/roles/builder.yaml`. */
export type SettingsTexts = Readonly<Record<string, string>>;

/** Why nothing is started, checked or landed under the settings as they are; the last good ones stay in effect. */
export interface Hold {
  readonly code: "CONFIG_AWAY" | "CONFIG_UNCONFIRMED";
  readonly message: string;
  /** The next step. */
  readonly hint: string;
}

export interface Gone {
  readonly name: string;
  /** As a sentence continues it: `missing`, `empty`, `cut off in line 3`, `without checks, which it ended with`. */
  readonly how: string;
}

/**
 * What of the kept texts is away: missing, empty, or only the beginning of what it was, as an editor leaves it that
 * truncates first. `builtIn` names those that say nothing but what holds without them; one of these may go.
 */
export function findGone(kept: SettingsTexts, now: SettingsTexts, builtIn: readonly string[] = []): Gone[] {
  return Object.entries(kept).flatMap(([name, text]): Gone[] => {
    const found = now[name];
    if (found === undefined) return builtIn.includes(name) ? [] : [{ name, how: "missing" }];
    // The newline at the end of a file comes and goes with the editor.
    const [whole, part] = [text.trimEnd(), found.trimEnd()];
    if (part === whole || !whole.startsWith(part)) return [];
    const how = part === "" ? "empty" : describeCut(whole, part, name.endsWith(".yaml"));
    return how === null ? [] : [{ name, how }];
  });
}

/**
 * What of a text is away that is only a beginning of what it was. A section that somebody removed from the end and a
 * write that stopped before it look the same, so it has to be said what is missing. Null where only comments are.
 */
function describeCut(whole: string, part: string, isYaml: boolean): string | null {
  const line = part.split("\n").length;
  if (whole[part.length] !== "\n") return `cut off in line ${line}`;
  const lost = whole.slice(part.length).split("\n");
  // Within a value every line is indented: what begins with this sign is a comment.
  const said = lost.filter((one) => one.trim() !== "" && !one.startsWith("#"));
  if (isYaml && said.length === 0) return null;
  const sections = said.flatMap((one) => /^([\w.-]+):/.exec(one)?.[1] ?? []);
  const isWhole = isYaml && said[0]?.startsWith(`${sections[0]}:`) === true;
  return isWhole ? `without ${formatParts(sections)}, which it ended with` : `cut off after line ${line}`;
}

/** The names of texts that are not as they were: other, new, or gone. */
export function listChangedNames(kept: SettingsTexts, now: SettingsTexts): string[] {
  const names = new Set([...Object.keys(kept), ...Object.keys(now)]);
  return [...names].filter((name) => kept[name] !== now[name]).sort();
}

/** What git has to do with one file: the blobs it holds of it, in its index and at HEAD, and the blob that its text is. */
export interface InGit {
  readonly held: readonly string[];
  /** Null where there is no such file. */
  readonly text: string | null;
}

const NOT_IN_GIT: InGit = { held: [], text: null };

/** What is known of where changes come from. */
export interface Provenance {
  /** Nothing but this user's commits has changed the settings in HEAD since they were confirmed (`isOwnHistory`). */
  readonly isOwnHistory: boolean;
  /**
   * Whose commits have the text of a name: `foreign` where one was not made here, as a squash, a checkout of one file or a
   * patch brings it; `own` where all were. Nothing for a text that no commit has.
   */
  readonly madeBy: Readonly<Record<string, "own" | "foreign">>;
}

/**
 * Which changes git brought. A text that git held already when the settings were last confirmed was put back by a stash, a
 * checkout or a reset; one that somebody else's commit has was brought, by whatever command. Beyond that, what git holds
 * now may be this user's own: where nothing but commits was made here since, whatever it holds was typed and committed.
 * Where anything else happened (a pull, a checkout, a merge), it brought every version that it did not hold before, but
 * for the confirmed text itself.
 */
export function findBroughtByGit(
  changed: readonly string[],
  confirmed: Readonly<Record<string, InGit>>,
  now: Readonly<Record<string, InGit>>,
  { isOwnHistory, madeBy }: Provenance,
): string[] {
  return changed.filter((name) => {
    const [before, after] = [confirmed[name] ?? NOT_IN_GIT, now[name] ?? NOT_IN_GIT];
    const isHeld = (blob: string | null) => blob !== null && after.held.includes(blob);
    if (isHeld(after.text) && before.held.includes(after.text ?? "")) return true;
    if (madeBy[name] !== undefined) return madeBy[name] === "foreign";
    if (isOwnHistory) return false;
    return isHeld(after.text) || after.held.some((blob) => blob !== before.text && !before.held.includes(blob));
  });
}

/** One step of HEAD as its reflog tells it, the newest first. */
export interface HeadStep {
  readonly commit: string;
  readonly how: string;
  /** The directory of settings as that commit has it; null where it has none. */
  readonly settings: string | null;
}

/**
 * Whether nothing but plain commits changed the settings between that commit and where HEAD is; work that landed, and
 * every other step that left them as they were, is no concern. A log that does not reach it proves nothing.
 */
export function isOwnHistory(since: string | undefined, steps: readonly HeadStep[]): boolean {
  const at = steps.findIndex(({ commit }) => commit === since);
  return at >= 0 && steps.slice(0, at).every((step, index) => isOwnStep(step) || isSame(step, steps[index + 1]));
}

/** The commits that were made here, in this checkout, by hand. */
export function listOwnCommits(steps: readonly HeadStep[]): ReadonlySet<string> {
  return new Set(steps.filter(isOwnStep).map(({ commit }) => commit));
}

function isOwnStep({ how }: HeadStep): boolean {
  return /^commit( \((amend|initial)\))?: /.test(how);
}

function isSame(step: HeadStep, before: HeadStep | undefined): boolean {
  return before !== undefined && step.settings === before.settings;
}

export function holdForGone(gone: readonly Gone[]): Hold {
  return {
    code: "CONFIG_AWAY",
    message: `${formatParts(gone.map(({ name, how }) => `${name} is ${how}`))}: the previous settings stay in effect, and nothing is started, checked or landed.`,
    hint: "If that is on purpose, 'overseer config accept' takes it as it is now; else bring it back (git stash pop, git switch, your editor).",
  };
}

export function holdForUnconfirmed(names: readonly string[], why: "brought" | "never" | "forgotten" | "unknown"): Hold {
  const reason = {
    brought: `${formatParts(names)} came by git and ${names.length === 1 ? "was" : "were"} not confirmed on this machine; the previous settings stay in effect`,
    unknown: `${formatParts(names)} changed, and git could not tell whether it brought the change; the previous settings stay in effect`,
    never: "The settings in .overseer/ were never confirmed by you on this machine",
    forgotten: "The record of what you confirmed of .overseer/ is gone",
  }[why];
  return {
    code: "CONFIG_UNCONFIRMED",
    message: `${reason}: none of their commands run, and nothing is started, checked or landed.`,
    hint: "'overseer trust' shows every command they would run, and confirms them.",
  };
}

/** Why work waits, as a clause for the log. */
export function describeHold(hold: Hold | null): string | null {
  if (hold === null) return null;
  return hold.code === "CONFIG_AWAY" ? "the settings are missing" : "the settings are not confirmed (overseer trust)";
}

const MOST_NAMED = 4;

function formatParts(parts: readonly string[]): string {
  const shown = parts.slice(0, MOST_NAMED);
  const left = parts.length - shown.length;
  return `${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}
