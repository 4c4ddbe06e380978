/**
 * The settings in effect: what lies in `.overseer/` now, held against what this user last confirmed. Files that are away
 * and files that git brought leave the last good ones in effect and hold the fleet back (domain/health/settings.ts); what was
 * typed here takes effect and is confirmed by that. A repository that never had settings has the defaults.
 */
import { type CheckedCopy, hashOfConfig, hasOurShape, readCopy, renderCopy } from "#config/checked-copy.ts";
import { resolveConfigured } from "#config/places.ts";
import type { ReadDir } from "#config/read-dir.ts";
import type { Config } from "#config/schema.ts";
import { CONFIG_FILE, gatherSettings, readingTexts } from "#config/settings-files.ts";
import { CONFIG_SHAPE } from "#config/shape.ts";
import {
  findBroughtByGit,
  findGone,
  type HeadStep,
  type Hold,
  holdForGone,
  holdForUnconfirmed,
  type InGit,
  isOwnHistory,
  listChangedNames,
  listOwnCommits,
  type SettingsTexts,
} from "#domain/health/settings.ts";
import { OverseerError } from "#errors.ts";
import type { Git } from "#git/git.ts";
import type { Files } from "#sys/files.ts";
import type { Root } from "#sys/root.ts";
import { makeSettingsReader } from "./settings-reader.ts";
import { refuseLinked } from "./tracked-state.ts";
import { digestOf, hasOwnTrust, readTrust, writeTrust } from "./trust-file.ts";

export interface Settings {
  readonly config: Config;
  /** The texts in effect, for the loaders of roles, definitions and hooks. */
  readonly files: ReadDir;
  /** Why nothing may be started, checked or landed now; null when nothing is in the way. */
  readonly hold: Hold | null;
  /** Confirms what was typed here since; does nothing where there is nothing to confirm. */
  keep(): Promise<void>;
}

export interface SettingsGround {
  readonly root: Root;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly files: Files;
  readonly git: { readonly git: Pick<Git, "attempt"> };
  readonly clock: { now(): number };
}

const copyPath = ({ root }: SettingsGround) => `${root.state}/run/config.json`;

/** Rejects with the configuration's own error where the file cannot be understood. */
export async function lookAtSettings(ground: SettingsGround): Promise<Settings> {
  await refuseLinked(ground.files, ground.root);
  for (let looks = 1; ; looks += 1) {
    const copyText = await ground.files.read(copyPath(ground));
    const seen = await lookAgainst(ground, copyText);
    // Somebody else may have confirmed an edit in between: then what is confirmed by now is another copy.
    const isOld = seen.hold !== null && (await ground.files.read(copyPath(ground))) !== copyText;
    if (!isOld || looks >= MOST_LOOKS) return seen;
  }
}

const MOST_LOOKS = 5;

async function lookAgainst(ground: SettingsGround, copyText: string | undefined): Promise<Settings> {
  const { root } = ground;
  const files = makeSettingsReader(ground.files, root);
  const configText = await files.read(pathOf(ground, CONFIG_FILE));
  const copy = readCopy(copyText);
  if (copy?.files === undefined) return firstLook(ground, copy, configText);
  const kept = { ...copy, files: copy.files, config: await readKeptConfig(ground, copy) };
  const before = { config: kept.config, files: readingTexts(kept.files, root), keep: async () => undefined };
  const own = kept.files[CONFIG_FILE];
  const cut = own === undefined ? [] : findGone({ [CONFIG_FILE]: own }, onlyConfig(configText));
  if (cut.length > 0) {
    // Where the others lie is for the configuration to say: the kept one.
    const now = await gatherSettings(files, root, { config: kept.config, configText });
    return { ...before, hold: holdForGone(findGone(kept.files, now, kept.builtIn)) };
  }
  const isTrusted = (await readTrust(ground.files, trustPlace(ground))).includes(digestOf(copyText ?? ""));
  const same = hasOurShape(kept) && kept.hash === hashOfConfig(configText);
  const config = same ? kept.config : await parse(ground, configText);
  const texts = await gatherSettings(files, root, { config, configText });
  if (!isTrusted) return inDoubt(ground, config, texts, (await hasTrust(ground)) ? "forgotten" : "never");
  const gone = findGone(kept.files, texts, kept.builtIn);
  if (gone.length > 0) return { ...before, hold: holdForGone(gone) };
  const changed = listChangedNames(kept.files, texts);
  if (changed.length === 0 && same) return { ...before, hold: null };
  const asked = await unlessGitFails(() => askGit(ground, kept, changed, texts));
  if (asked === undefined) return { ...before, hold: holdForUnconfirmed(changed, "unknown") };
  const { inGit, brought } = asked;
  if (brought.length > 0) return { ...before, hold: holdForUnconfirmed(brought, "brought") };
  const next = () => makeCopy(ground, { config, configText, texts, inGit: { ...kept.git, ...inGit } });
  return {
    config,
    files: readingTexts(texts, root),
    hold: null,
    keep: once(async () => writeCopy(ground, await next())),
  };
}

/** What was confirmed, as this version reads it: a copy that another version checked has not all of its keys. */
async function readKeptConfig(ground: SettingsGround, copy: CheckedCopy): Promise<Config> {
  return hasOurShape(copy) ? copy.config : parse(ground, copy.files?.[CONFIG_FILE]);
}

/** A git that does not work says so elsewhere; here it only means that nobody knows where a change comes from. */
async function unlessGitFails<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OverseerError && error.kind !== "config") return undefined;
    throw error;
  }
}

/** Nothing was confirmed here before. */
async function firstLook(
  ground: SettingsGround,
  copy: CheckedCopy | undefined,
  configText: string | undefined,
): Promise<Settings> {
  const { root } = ground;
  const files = makeSettingsReader(ground.files, root);
  const isAway = (configText ?? "").trim() === "" && copy !== undefined && copy.hash !== hashOfConfig(configText);
  if (isAway) {
    const hold = holdForGone([{ name: CONFIG_FILE, how: configText === undefined ? "missing" : "empty" }]);
    return {
      config: await readKeptConfig(ground, copy),
      files: readingTexts({}, root),
      hold,
      keep: async () => undefined,
    };
  }
  const config = await parse(ground, configText);
  const texts = await gatherSettings(files, root, { config, configText });
  if (Object.keys(texts).length > 0) return inDoubt(ground, config, texts, "never");
  const forgotten = await hasTrust(ground);
  if (forgotten) return inDoubt(ground, config, texts, "forgotten");
  return { config, files: readingTexts(texts, root), hold: null, keep: async () => undefined };
}

/** Read as they are, for whoever only looks; nothing of it is run. */
function inDoubt(ground: SettingsGround, config: Config, texts: SettingsTexts, why: "never" | "forgotten"): Settings {
  const hold = holdForUnconfirmed(Object.keys(texts), why);
  return { config, files: readingTexts(texts, ground.root), hold, keep: async () => undefined };
}

async function hasTrust(ground: SettingsGround): Promise<boolean> {
  return hasOwnTrust(ground.files, trustPlace(ground));
}

/** The settings as they lie there, whatever was confirmed before. */
export interface SettingsOnDisk {
  readonly config: Config;
  readonly configText: string | undefined;
  readonly texts: SettingsTexts;
}

export async function readSettings(ground: SettingsGround): Promise<SettingsOnDisk> {
  await refuseLinked(ground.files, ground.root);
  const files = makeSettingsReader(ground.files, ground.root);
  const configText = await files.read(pathOf(ground, CONFIG_FILE));
  const config = await parse(ground, configText);
  return { config, configText, texts: await gatherSettings(files, ground.root, { config, configText }) };
}

/** By a person's word. It is what they were shown that is confirmed, not what may lie there by now. */
export async function confirmSettings(ground: SettingsGround, read: SettingsOnDisk): Promise<void> {
  const inGit = await whatGitHolds(ground, Object.keys(read.texts), read.texts);
  await writeCopy(ground, await makeCopy(ground, { ...read, inGit }));
}

/** What differs from what was confirmed, for whoever decides about it. */
export interface SettingsChange {
  /** Nothing that was confirmed before is known. */
  readonly isNew: boolean;
  readonly gone: readonly string[];
  readonly changed: readonly string[];
  /** Those of the changed ones that git brought. */
  readonly brought: readonly string[];
}

export async function settingsChange(
  ground: SettingsGround,
  { texts }: Pick<SettingsOnDisk, "texts">,
): Promise<SettingsChange> {
  const copyText = await ground.files.read(copyPath(ground));
  const copy = readCopy(copyText);
  const isNew = !(await readTrust(ground.files, trustPlace(ground))).includes(digestOf(copyText ?? ""));
  const kept = copy?.files ?? {};
  const changed = listChangedNames(kept, texts).filter((name) => texts[name] !== undefined);
  return {
    isNew,
    gone: Object.keys(kept).filter((name) => texts[name] === undefined),
    changed,
    brought: (await askGit(ground, copy, changed, texts)).brought,
  };
}

interface Made extends SettingsOnDisk {
  readonly inGit: Readonly<Record<string, InGit>>;
}

async function makeCopy(ground: SettingsGround, { config, configText, texts, inGit }: Made): Promise<CheckedCopy> {
  const { scaffold } = await import("#config/scaffold.ts");
  const fresh = new Map(
    scaffold().map(({ path, text }) => [resolveConfigured(ground.root, `.overseer/${path}`).path, text]),
  );
  const builtIn = Object.keys(texts).filter(
    (name) => name !== CONFIG_FILE && fresh.get(pathOf(ground, name)) === texts[name],
  );
  const [head] = await objectsOf(ground, ["HEAD"], "commit");
  const checked = { hash: hashOfConfig(configText), shape: CONFIG_SHAPE, config };
  return { ...checked, files: texts, git: inGit, builtIn, ...(head ? { head } : {}) };
}

/** First that it is confirmed, then what: in between the copy before it still counts. */
async function writeCopy(ground: SettingsGround, copy: CheckedCopy): Promise<void> {
  const { files, root, clock } = ground;
  const before = await files.read(copyPath(ground));
  const text = renderCopy(copy);
  const trusted = await readTrust(files, trustPlace(ground));
  const still = before === undefined ? [] : [digestOf(before)].filter((digest) => trusted.includes(digest));
  await files.makeDir(`${root.state}/run`, { mode: 0o700 });
  await writeTrust(files, trustPlace(ground), [...new Set([digestOf(text), ...still])], clock.now());
  await files.write(copyPath(ground), text, { mode: 0o600 });
}

/** What git holds of what changed, and what of it git brought. */
async function askGit(
  ground: SettingsGround,
  kept: CheckedCopy | undefined,
  changed: readonly string[],
  texts: SettingsTexts,
): Promise<{ readonly inGit: Readonly<Record<string, InGit>>; readonly brought: readonly string[] }> {
  if (changed.length === 0) return { inGit: {}, brought: [] };
  const inGit = await whatGitHolds(ground, changed, texts);
  const steps = await headSteps(ground);
  const isAtRest = !(await isUnderWay(ground));
  const provenance = {
    isOwnHistory: isAtRest && isOwnHistory(kept?.head, steps),
    madeBy: await whoMade(ground, inGit, listOwnCommits(steps)),
  };
  return { inGit, brought: findBroughtByGit(changed, kept?.git ?? {}, inGit, provenance) };
}

/** Left by a merge, a rebase or a pick that is not over: what is staged then is not only this user's. */
const UNDER_WAY = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG", "rebase-merge", "rebase-apply"];
/** Besides the refs, what commands leave behind of commits that no ref may have. */
const ALSO_KNOWN = ["HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "ORIG_HEAD"];
const MOST_STEPS = 500;

async function isUnderWay({ root, files }: SettingsGround): Promise<boolean> {
  for (const name of UNDER_WAY) if (await files.facts(`${root.gitCommonDir}/${name}`)) return true;
  return false;
}

/** How HEAD came to where it is, the newest first; nothing where that is not written down. */
async function headSteps(ground: SettingsGround): Promise<HeadStep[]> {
  const { root, git } = ground;
  const format = "--format=%H %gs";
  const said = await git.git.attempt(["log", "--walk-reflogs", `--max-count=${MOST_STEPS}`, format, "HEAD"], {
    cwd: root.project,
  });
  if (said.code !== 0) return [];
  const lines = said.stdout.split("\n").filter(Boolean);
  const read = lines.map((line) => ({
    commit: line.slice(0, line.indexOf(" ")),
    how: line.slice(line.indexOf(" ") + 1),
  }));
  const directory = root.userDir.slice(root.project.length + 1);
  const trees = await objectsOf(
    ground,
    read.map(({ commit }) => `${commit}:${directory}`),
    "tree",
  );
  return read.map((step, at) => ({ ...step, settings: trees[at] ?? null }));
}

/** Whose commits have the present texts. */
async function whoMade(
  ground: SettingsGround,
  inGit: Readonly<Record<string, InGit>>,
  own: ReadonlySet<string>,
): Promise<Record<string, "own" | "foreign">> {
  const { root, git, files } = ground;
  const known: string[] = [];
  for (const name of ALSO_KNOWN) if (await files.facts(`${root.gitCommonDir}/${name}`)) known.push(name);
  const madeBy: Record<string, "own" | "foreign"> = {};
  for (const [name, { text }] of Object.entries(inGit)) {
    const path = pathOf(ground, name);
    if (text === null || !path.startsWith(`${root.project}/`)) continue;
    const said = await git.git.attempt(
      ["log", "--all", "--full-history", "--format=%H", `--find-object=${text}`, ...known, "--", path],
      { cwd: root.project },
    );
    // An object that git has never heard of was typed.
    const commits = said.code === 0 ? said.stdout.split("\n").filter(Boolean) : [];
    if (commits.length > 0) madeBy[name] = commits.every((commit) => own.has(commit)) ? "own" : "foreign";
  }
  return madeBy;
}

/** The blobs that git holds of these files, in its index and at HEAD, and those that their texts are. */
async function whatGitHolds(
  ground: SettingsGround,
  names: readonly string[],
  texts: SettingsTexts,
): Promise<Record<string, InGit>> {
  const { project } = ground.root;
  const tracked = names.flatMap((name) => {
    const path = pathOf(ground, name);
    return path.startsWith(`${project}/`) && !path.includes("\n")
      ? [{ name, path: path.slice(project.length + 1) }]
      : [];
  });
  const asked = tracked.flatMap(({ path }) => [`HEAD:${path}`, `:${path}`]);
  const held = await objectsOf(ground, asked, "blob");
  const byName = new Map(
    tracked.map(({ name }, at) => [name, held.slice(2 * at, 2 * at + 2).filter((blob) => blob !== undefined)]),
  );
  const filtered = await blobsOf(
    ground,
    tracked.filter(({ name }) => texts[name] !== undefined),
  );
  return Object.fromEntries(
    names.map((name) => {
      const blobs = byName.get(name) ?? [];
      const text = texts[name];
      const blob = text === undefined ? null : (filtered.get(name) ?? blobOf(text, blobs[0]?.length));
      return [name, { held: [...new Set(blobs)], text: blob }];
    }),
  );
}

/** As git would store them, line ends and filters of the repository included. */
async function blobsOf(
  { root, git }: SettingsGround,
  files: readonly { readonly name: string; readonly path: string }[],
): Promise<Map<string, string>> {
  if (files.length === 0) return new Map();
  const stdin = `${files.map(({ path }) => path).join("\n")}\n`;
  const said = await git.git.attempt(["hash-object", "--stdin-paths"], { cwd: root.project, stdin });
  const blobs = said.stdout.split("\n");
  return said.code === 0 ? new Map(files.map(({ name }, at) => [name, blobs[at] ?? ""])) : new Map();
}

async function objectsOf(
  ground: SettingsGround,
  asked: readonly string[],
  kind: "blob" | "commit" | "tree",
): Promise<(string | undefined)[]> {
  if (asked.length === 0) return [];
  const said = await ground.git.git.attempt(["cat-file", "--batch-check=%(objectname) %(objecttype)"], {
    cwd: ground.root.project,
    stdin: `${asked.join("\n")}\n`,
  });
  if (said.code !== 0) {
    throw new OverseerError(
      "environment",
      "SETTINGS_NOT_COMPARED",
      `Git could not list .overseer/: ${said.stderr.trim()}`,
      "Run 'git status' here, then try again.",
    );
  }
  const lines = said.stdout.split("\n");
  return asked.map((_name, at) => {
    const [object = "", found] = (lines[at] ?? "").split(" ");
    return found === kind && /^[0-9a-f]{40,64}$/.test(object) ? object : undefined;
  });
}

/** As git names it where no filter changes it: for what lies outside of the project. */
function blobOf(text: string, length = 40): string {
  const bytes = new TextEncoder().encode(text);
  return new Bun.CryptoHasher(length === 64 ? "sha256" : "sha1")
    .update(`blob ${bytes.length}\0`)
    .update(bytes)
    .digest("hex");
}

async function parse(ground: SettingsGround, text: string | undefined): Promise<Config> {
  const { parseConfig } = await import("#config/load.ts");
  return parseConfig(text ?? "", pathOf(ground, CONFIG_FILE));
}

function onlyConfig(text: string | undefined): SettingsTexts {
  return text === undefined ? {} : { [CONFIG_FILE]: text };
}

function pathOf({ root }: SettingsGround, name: string): string {
  return resolveConfigured(root, name).path;
}

function trustPlace({ root, env }: SettingsGround) {
  return { project: root.project, env };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
