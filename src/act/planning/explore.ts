/**
 * Looks at a repository for a planner: reads names, a few known texts and recent commits at one commit, and makes a bounded
 * snapshot of it (domain/plans/project-facts.ts). It reads objects, never the checkout; runs nothing of the repository; and
 * secrets are taken out of every text before it is cut. What takes too long or is too large is left out, and that is told.
 */
import type { ActParts } from "#act/parts.ts";
import { gatherFacts, type ProjectFacts, type ProjectSeen, renderFacts } from "#domain/plans/project-facts.ts";
import { listFilesToRead } from "#domain/plans/project-files.ts";
import { OverseerError } from "#errors.ts";
import { listContents, listPastCommits, readSmallTexts } from "#git/commit-contents.ts";
import { findCommit } from "#git/repository.ts";
import { redact, redactDeep } from "#telemetry/redact.ts";

export interface ExploreRequest {
  /** A commit, or a name for one. */
  readonly base: string;
  /** What is wanted, in somebody's words. */
  readonly sentence: string;
  /** Most that the text may take. */
  readonly maxBytes: number;
}

export interface Explored {
  /** One fenced block, without secrets, of at most the bytes asked for. */
  readonly text: string;
  /** The same as values, without secrets. */
  readonly facts: ProjectFacts;
  /** Every file that is tracked there, for whoever asks whether a path exists. */
  readonly paths: readonly string[];
}

type ExploreParts = Pick<ActParts, "git" | "root">;

/** Files of a project's own making are read up to this size. */
const LARGEST_TEXT = 128 * 1024;
const MOST_COMMITS = 300;

/** Throws `not-found` BASE_MISSING where there is no such commit. Everything else that cannot be read is told in the text. */
export async function exploreRepository(parts: ExploreParts, request: ExploreRequest): Promise<Explored> {
  const seen = await readProject(parts, request.base);
  const history = await orRemark("The history was not read", () =>
    listPastCommits(parts.git, parts.root.gitCommonDir, seen.commit, MOST_COMMITS),
  );
  const commits = (history.value ?? []).map((one) => ({ ...one, subject: redact(one.subject) }));
  const texts = new Map([...seen.texts].map(([path, text]) => [path, redact(text)]));
  const remarks = [...seen.remarks, ...history.remarks];
  const facts = redactDeep(gatherFacts({ paths: seen.paths, texts, commits, remarks }, request.sentence));
  return { text: renderFacts(facts, request.maxBytes, redact), facts, paths: seen.paths };
}

export interface ProjectAt extends Omit<ProjectSeen, "commits"> {
  readonly commit: string;
}

/** What is tracked at a commit, and the texts that say how it is built: as they are, for this machine only. */
export async function readProject({ git, root }: ExploreParts, base: string): Promise<ProjectAt> {
  const commit = await findCommit(git.git, root.gitCommonDir, base);
  if (commit === undefined) {
    const message = `There is no commit ${base.slice(0, 80)} in this repository.`;
    throw new OverseerError("not-found", "BASE_MISSING", message, "Name a branch or a commit that exists.");
  }
  const listed = await orRemark("The files were not listed", () => listContents(git, root.gitCommonDir, commit));
  const { files = [], submodules = [] } = listed.value ?? {};
  const paths = files.map(({ path }) => path);
  const wanted = new Set(listFilesToRead(paths));
  const chosen = files.filter(({ path }) => wanted.has(path));
  const read = await orRemark("The files that say how it is built were not read", () =>
    readSmallTexts(git, root.gitCommonDir, chosen, LARGEST_TEXT),
  );
  const { texts = new Map<string, string>(), left = [] } = read.value ?? {};
  const remarks = [
    ...listed.remarks,
    ...read.remarks,
    ...(files.length === 0 && listed.remarks.length === 0 ? ["There are no files in it yet."] : []),
    ...(left.length === 0 ? [] : [`Too large, or no text: ${nameSome(left)}.`]),
    ...(submodules.length === 0 ? [] : [`Other repositories inside it, not looked into: ${nameSome(submodules)}.`]),
  ];
  return { commit, paths, texts, remarks };
}

interface Tried<T> {
  readonly value?: T;
  readonly remarks: readonly string[];
}

/** What git could not say in time, or at all, is a gap in what is known and not the end of it. */
async function orRemark<T>(sentence: string, ask: () => Promise<T>): Promise<Tried<T>> {
  try {
    return { value: await ask(), remarks: [] };
  } catch (error) {
    if (!(error instanceof OverseerError) || !GAPS.has(error.code)) throw error;
    return { remarks: [`${sentence}: ${GAPS.get(error.code)}.`] };
  }
}

const GAPS: ReadonlyMap<string, string> = new Map([
  ["GIT_TIMED_OUT", "it took too long"],
  ["GIT_OUTPUT_TOO_LARGE", "there is too much of it"],
  ["GIT_FAILED", "git could not read all of it"],
]);

const MOST_NAMED = 10;

function nameSome(paths: readonly string[]): string {
  const rest = paths.length - MOST_NAMED;
  return `${paths.slice(0, MOST_NAMED).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
