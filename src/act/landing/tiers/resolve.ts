/**
 * Bringing two sides together where git alone cannot: the tiers of MERGE-2 that run without the author. First what is
 * mechanical: resolutions that were found before for the very same three files, both sides for files that are declared
 * so, lockfiles made anew by their own tool. Then, when the author has had its rounds or is gone, a model, twice: once
 * with the conflict, once with the change to be made again on top of the target. Each yields a tree that is gated like
 * any other, or nothing, and none may drop a side: conservation.ts has the last word on every file.
 */
import { dirname, join } from "node:path";
import { z } from "zod";
import { askWithinBudget, type Held, type ModelAskResult } from "#act/ask-model.ts";
import { filterEnvironment } from "#act/attempt-files.ts";
import { withCheckWorktree } from "#act/checks/check.ts";
import type { Candidate, WorkBehind } from "#act/landing/candidate.ts";
import type { ActParts } from "#act/parts.ts";
import { type ModelPrompt, REIMAGINE_CHANGE, RESOLVE_CONFLICT } from "#config/model-prompts.ts";
import type { Config } from "#config/schema.ts";
import { conservationProblems, type Sides } from "#domain/landing/conservation.ts";
import { isLiving } from "#domain/model/attempt.ts";
import type { MergeTier } from "#domain/model/merge.ts";
import { prepareCheckWorktree } from "#git/check-worktree.ts";
import {
  bytesOf,
  type Conflict,
  type ConflictFile,
  conflictOf,
  isOfLines,
  keepFile,
  readSideText,
  sideIn,
  treeWith,
  writeBlob,
} from "#git/conflict.ts";
import { changesBetween, type FileChange, writeCommit } from "#git/landing.ts";
import type { ModelQuestion } from "#planner/ask-model.ts";
import { resolutionOf } from "#store/merges.ts";
import type { Store } from "#store/store.ts";
import { sidesKept } from "./sides-kept.ts";

export interface Resolution {
  readonly path: string;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  readonly result: string;
}

export interface Resolved {
  readonly tree: string;
  readonly changes: readonly FileChange[];
  readonly tier: MergeTier;
  /** What was found out on the way, worth keeping once it has landed. */
  readonly found: readonly Resolution[];
}

/** In a batch only what costs nothing; a model is asked about the real target, not about what a batch may become. */
export type ResolveUpTo = "mechanical" | "all";

type ResolveJob = Pick<Candidate, "parts" | "config"> & Pick<WorkBehind, "seen" | "claim">;

export async function resolveConflict(
  job: ResolveJob,
  from: string,
  files: readonly string[],
  upTo: ResolveUpTo,
): Promise<Resolved | Held | undefined> {
  const { parts, config } = job;
  const { tiers } = config.landing;
  if (files.length === 0 || !(await parts.git.git.probe()).mergeTreeWriteTree) return undefined;
  const merge = { target: from, commit: job.claim.commit };
  const repository = parts.root.gitCommonDir;
  let conflict = await conflictOf(parts.git, repository, merge);
  if (conflict === undefined) return undefined;
  let known: Settled = { files: [], found: [], open: conflict.files };
  if (tiers.mechanical) {
    const union = await unionSettings(
      parts,
      config.landing.unionFiles,
      join(parts.root.gitCommonDir, "overseer", "union-attributes"),
    );
    const united = union && (await conflictOf(parts.git, repository, { ...merge, settings: union }));
    if (united && (await unionKeeps(parts, conflict, united))) conflict = united;
    known = await mechanically(job, from, conflict);
    if (known.open.length === 0) return finishResolution(job, from, conflict, known, "auto-resolve");
  }
  if (upTo === "mechanical" || authorIsNext(job)) return undefined;
  let first = true;
  for (const [on, prompt, tier] of MODEL_TIERS) {
    if (!on(tiers)) continue;
    const answered = await byModel(job, known, { prompt, tier, first });
    if (answered && "kind" in answered) return answered;
    if (answered) return finishResolution(job, from, conflict, answered, tier);
    first = false;
  }
  return undefined;
}

type Tiers = Config["landing"]["tiers"];

const MODEL_TIERS: readonly [on: (tiers: Tiers) => boolean, prompt: ModelPrompt, tier: MergeTier][] = [
  [({ aiResolve }) => aiResolve, RESOLVE_CONFLICT, "ai-resolve"],
  [({ reimagine }) => reimagine, REIMAGINE_CHANGE, "reimagine"],
];

/** While its author is there and has rounds left, nobody else decides what it meant. */
function authorIsNext({ config, seen }: ResolveJob): boolean {
  const { tiers, authorRounds } = config.landing;
  const { attempt, node } = seen;
  return tiers.author && attempt !== undefined && isLiving(attempt) && (node.rounds ?? 0) + 1 < authorRounds;
}

interface Settled {
  readonly files: readonly { readonly path: string; readonly mode: string; readonly oid: string }[];
  readonly found: readonly Resolution[];
  readonly open: readonly ConflictFile[];
}

async function finishResolution(
  { parts }: ResolveJob,
  from: string,
  conflict: Conflict,
  settled: Settled,
  tier: MergeTier,
): Promise<Resolved> {
  const repository = parts.root.gitCommonDir;
  const tree =
    settled.files.length === 0 ? conflict.tree : await treeWith(parts.git, repository, conflict.tree, settled.files);
  return { tree, changes: await changesBetween(parts.git, repository, from, tree), tier, found: settled.found };
}

/** Git's own union for the files that are declared so, by our own list that holds for this merge alone. */
export async function unionSettings(
  parts: Pick<ActParts, "git" | "files" | "root">,
  patterns: readonly string[],
  path: string,
): Promise<string[] | undefined> {
  if (patterns.length === 0) return undefined;
  const told = await parts.git.git.attempt(["config", "--path", "--get", "core.attributesFile"], {
    cwd: parts.root.gitCommonDir,
  });
  const theirs = told.code === 0 ? ((await parts.files.read(told.stdout.trim())) ?? "") : "";
  await parts.files.makeDir(dirname(path));
  await parts.files.write(path, `${theirs}\n${patterns.map((one) => `${one} merge=union`).join("\n")}\n`);
  return ["-c", `core.attributesFile=${path}`];
}

/** Git's union is held to what holds for every tier, file by file. */
async function unionKeeps(parts: ActParts, before: Conflict, united: Conflict): Promise<boolean> {
  const open = new Set(united.files.map(({ path }) => path));
  for (const file of before.files.filter(({ path }) => !open.has(path))) {
    const result = await sideIn(parts.git, parts.root.gitCommonDir, united.tree, file.path);
    if ((await sidesKept(parts, file, result)) === "no") return false;
  }
  return true;
}

async function mechanically(job: ResolveJob, from: string, conflict: Conflict): Promise<Settled> {
  const { parts, config } = job;
  const repository = parts.root.gitCommonDir;
  const files: { path: string; mode: string; oid: string }[] = [];
  const open: ConflictFile[] = [];
  const locks: { file: ConflictFile; command: string }[] = [];
  for (const file of conflict.files) {
    const by = await findSettlement(parts, await parts.writer(), config, file);
    if (by?.kind === "recorded") files.push({ path: file.path, mode: by.mode, oid: by.result });
    else if (by?.kind === "lockfile") locks.push({ file, command: by.command });
    else open.push(file);
  }
  // A lockfile follows from everything else: made anew only when the rest is settled.
  if (open.length > 0 || locks.length === 0)
    return { files, found: [], open: [...open, ...locks.map(({ file }) => file)] };
  const rest = await treeWith(parts.git, repository, conflict.tree, [
    ...files,
    ...locks.flatMap(({ file }) => (file.ours ? [{ path: file.path, ...file.ours }] : [])),
  ]);
  const made = await regenerateLockfiles(job, from, rest, locks);
  return made
    ? { files: [...files, ...made], found: [], open: [] }
    : { files, found: [], open: locks.map(({ file }) => file) };
}

export type FileSettledBy =
  | { readonly kind: "recorded"; readonly mode: string; readonly result: string }
  | { readonly kind: "lockfile"; readonly command: string };

/** How one file in conflict is settled without asking anybody; undefined when it is not. */
export async function findSettlement(
  parts: Pick<ActParts, "git" | "root">,
  store: Pick<Store, "read">,
  { landing: { lockfiles } }: Pick<Config, "landing">,
  file: ConflictFile,
): Promise<FileSettledBy | undefined> {
  if (!file.ours) return undefined;
  const result = await findRecordedResult(parts, store, file);
  if (result !== undefined) return { kind: "recorded", mode: file.ours.mode, result };
  const command = lockfiles[file.path] ?? lockfiles[file.path.split("/").at(-1) ?? ""];
  return command === undefined ? undefined : { kind: "lockfile", command };
}

/** The result that was once found for the very same three files, if it is still there and still keeps both sides. */
async function findRecordedResult(
  parts: Pick<ActParts, "git" | "root">,
  store: Pick<Store, "read">,
  file: ConflictFile,
): Promise<string | undefined> {
  const { found } = await store.read({ found: resolutionOf(keyOf(file)) });
  if (!found || !isOfLines(file)) return undefined;
  const there = await parts.git.git.attempt(["cat-file", "-e", found.result], { cwd: parts.root.gitCommonDir });
  return there.code === 0 ? found.result : undefined;
}

function keyOf({ base, ours, theirs }: ConflictFile): string {
  return [base?.oid ?? "", ours?.oid ?? "", theirs?.oid ?? ""].join(":");
}

const LOCKFILE_MS = 10 * 60_000;

/** Runs each lockfile's own tool on the merged files, in a disposable worktree. Undefined when one of them fails. */
async function regenerateLockfiles(
  { parts, config, claim }: ResolveJob,
  from: string,
  tree: string,
  locks: readonly { readonly file: ConflictFile; readonly command: string }[],
): Promise<Settled["files"] | undefined> {
  const repository = parts.root.gitCommonDir;
  const wish = { tree, parents: [from, claim.commit], message: "Lockfiles to be made anew\n", at: claim.claimedAt };
  const commit = await writeCommit(parts.git, repository, wish);
  return withCheckWorktree(parts, async (place) => {
    const { path: top } = await prepareCheckWorktree(parts.git, { repository, path: place.path, commit });
    const env = { ...filterEnvironment(parts.env, config.agents.passEnv), [place.mark.name]: place.mark.value };
    const made: { path: string; mode: string; oid: string }[] = [];
    for (const { file, command } of locks) {
      const cwd = join(top, file.path, "..");
      const result = await parts.exec.run(["sh", "-c", command], { cwd, env, timeoutMs: LOCKFILE_MS });
      const there = (await parts.files.facts(join(top, file.path)))?.kind === "file";
      if (result.code !== 0 || result.timedOut || !there || !file.ours) return undefined;
      const side = { mode: file.ours.mode, oid: await keepFile(parts.git, top, file.path) };
      // A tool that did nothing leaves one side as it was.
      if ((await sidesKept(parts, file, side)) === "no") return undefined;
      made.push({ path: file.path, ...side });
    }
    return made;
  });
}

const ANSWER = z.strictObject({
  content: z.string(),
  superseded: z
    .array(z.strictObject({ side: z.enum(["ours", "theirs"]), line: z.string(), reason: z.string() }))
    .max(200)
    .default([]),
});

interface TierCall {
  readonly prompt: ModelPrompt;
  readonly tier: MergeTier;
  /** No model was asked about this conflict before. */
  readonly first: boolean;
}

/** Each open file by one question to a model; undefined as soon as one of them has no answer that holds. */
async function byModel(job: ResolveJob, known: Settled, how: TierCall): Promise<Settled | Held | undefined> {
  const repository = job.parts.root.gitCommonDir;
  const files = [...known.files];
  const found: Resolution[] = [];
  const topics = await topicsOf(job, known.open);
  for (const [index, topic] of (topics ?? []).entries()) {
    const { file, mode } = topic;
    const asked = await askAbout(job, topic, { ...how, first: how.first && index === 0 });
    if (asked.kind !== "answered") return asked.kind === "held" ? asked : undefined;
    const oid = await writeBlob(job.parts.git, repository, asked.answer.content);
    files.push({ path: file.path, mode, oid });
    const [base = "", ours = "", theirs = ""] = keyOf(file).split(":");
    found.push({ path: file.path, base, ours, theirs, result: oid });
  }
  return topics && { files, found, open: [] };
}

/** A file that a model may be asked about. */
interface Topic {
  readonly file: ConflictFile;
  readonly mode: string;
  readonly bytes: number;
  /** Not read where that alone is more than a model is given. */
  readonly sides: Sides;
}

const UNREAD: Sides = { base: "", ours: "", theirs: "" };

export interface TopicParts {
  readonly parts: Pick<ActParts, "git" | "root">;
  readonly config: Pick<Config, "planner">;
}

/** Is this a file that a model would be given: of lines, and not too long? */
export async function isForModel(given: TopicParts, file: ConflictFile): Promise<boolean> {
  const [topic] = (await topicsOf(given, [file])) ?? [];
  return topic !== undefined && topic.bytes <= given.config.planner.maxInput;
}

/**
 * Undefined when one of them is nothing for a model: then the others would be asked about in vain. The longest comes
 * first, because it is the one that may be too long.
 */
async function topicsOf({ parts, config }: TopicParts, open: readonly ConflictFile[]): Promise<Topic[] | undefined> {
  const repository = parts.root.gitCommonDir;
  const topics: Topic[] = [];
  for (const file of open) {
    const { base, ours, theirs } = file;
    if (!isOfLines(file) || !ours) return undefined;
    const bytes = await bytesOf(parts.git, repository, [base, ours, theirs]);
    const read = async (side: ConflictFile["base"]) => readSideText(parts.git, repository, side);
    const fits = bytes <= config.planner.maxInput;
    const sides = fits ? { base: await read(base), ours: await read(ours), theirs: await read(theirs) } : UNREAD;
    if (Object.values(sides).some((text: string) => text.includes("\0"))) return undefined;
    topics.push({ file, mode: ours.mode, bytes, sides });
  }
  return topics.sort((one, other) => other.bytes - one.bytes);
}

async function askAbout(
  { parts, config, seen, claim }: ResolveJob,
  { file, sides, bytes }: Topic,
  { prompt, tier, first }: TierCall,
): Promise<ModelAskResult<z.infer<typeof ANSWER>>> {
  const { goalId, workNodeId: nodeId } = seen.node;
  const question: ModelQuestion<z.infer<typeof ANSWER>> = {
    prompt,
    values: { ...sides, path: file.path, objective: seen.node.objective },
    atLeastBytes: bytes,
    schema: ANSWER,
    judge: (one) => [
      ...conservationProblems(sides, one.content, one.superseded),
      ...findBrokenJson(file.path, sides, one.content),
    ],
    maxInputBytes: config.planner.maxInput,
    repairs: config.planner.repairs,
    maxCostUsd: config.budgets.agent.cost,
  };
  return askWithinBudget(parts, question, {
    purpose: tier,
    model: config.landing.model,
    timeoutMs: config.landing.modelTimeout,
    about: { goalId, nodeId, assignmentId: claim.assignmentId, agent: claim.agent, attempt: claim.attempt },
    first,
  });
}

/** A file that both sides have as JSON stays JSON. */
function findBrokenJson(path: string, sides: Sides, content: string): string[] {
  const broken = path.endsWith(".json") && isJson(sides.ours) && isJson(sides.theirs) && !isJson(content);
  return broken ? ["The file is JSON, and the result is not."] : [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
