/**
 * Facts about a repository: where it is, what is checked out, whether anything is uncommitted, which branch work
 * lands on, who the user is. Reading only: nothing here writes, takes a lock, or refreshes the user's index, and
 * every function may be called at any time, twice, from any directory.
 */
import { dirname, join, resolve } from "node:path";
import { OverseerError } from "#errors.ts";
import * as args from "./arguments.ts";
import { type Git, type GitRunOptions, type GitTools, gitFailure } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { parseCheckedOut, parseStatus, type StatusEntry } from "./status.ts";
import { parseWorktreeList, type WorktreeEntry } from "./worktree-list.ts";

export interface Repository {
  /** Shared by all worktrees: objects, refs, settings. Absolute. */
  readonly commonDir: string;
  /** This worktree's own: HEAD, index. The same as commonDir in the main checkout. */
  readonly gitDir: string;
  /** The top of the worktree we are in; undefined in a bare repository or inside a git dir. */
  readonly topLevel?: string;
  readonly bare: boolean;
  readonly objectFormat: "sha1" | "sha256";
}

export interface Head {
  readonly commit: string;
  /** Short name; undefined when detached. */
  readonly branch?: string;
}

export interface GitIdentity {
  readonly name: string;
  readonly email: string;
}

export const OVERSEER_IDENTITY: GitIdentity = { name: "Overseer", email: "overseer@localhost" };

/** Throws `not-found` NOT_A_REPOSITORY when there is none, UNSAFE_DIRECTORY when git mistrusts its owner. */
export async function repositoryAt(git: Git, cwd: string): Promise<Repository> {
  const result = await git.attempt(args.repositoryFacts(), { cwd });
  // In a bare repository the last question fails, after the others are answered.
  const [bare, commonDir, gitDir, objectFormat, topLevel] = result.stdout.split("\n");
  if (commonDir === undefined || gitDir === undefined || objectFormat === undefined || objectFormat === "") {
    throw gitFailure(args.repositoryFacts(), cwd, result);
  }
  return {
    commonDir,
    gitDir,
    topLevel: topLevel === "" ? undefined : topLevel,
    bare: bare === "true",
    objectFormat: objectFormat === "sha256" ? "sha256" : "sha1",
  };
}

/** What is checked out. Throws `conflict` NO_COMMITS in a repository (or on a branch) without a commit. */
export async function headOf(git: Git, cwd: string): Promise<Head> {
  const commit = await findCommit(git, cwd, "HEAD");
  if (commit === undefined) {
    await repositoryAt(git, cwd);
    throw noCommits(cwd);
  }
  return { commit, branch: await currentBranch(git, cwd) };
}

/** The short name of the branch checked out, with or without commits; undefined when detached. */
export async function currentBranch(git: Git, cwd: string): Promise<string | undefined> {
  return branchName(await readSymbolicRef(git, cwd, "HEAD"));
}

/** False for a fresh `git init`. Throws NOT_A_REPOSITORY where there is no repository at all. */
export async function hasCommits(git: Git, cwd: string): Promise<boolean> {
  if ((await findCommit(git, cwd, "HEAD")) !== undefined) return true;
  await repositoryAt(git, cwd);
  return false;
}

/** The commit a name stands for, or undefined. */
export async function findCommit(git: Git, cwd: string, ref: string): Promise<string | undefined> {
  const result = await git.attempt(args.resolveCommitArguments(ref), { cwd });
  const commit = result.stdout.trim();
  if (result.code === 0 && commit !== "") return commit;
  if (/not a git repository|dubious ownership/.test(result.stderr)) {
    throw gitFailure(args.resolveCommitArguments(ref), cwd, result);
  }
  return undefined;
}

/** The commits that these names stand for, in one process; names that stand for none are left out. */
export async function findCommits(
  git: Git,
  place: Pick<GitRunOptions, "cwd" | "env">,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const stdin = names.map((name) => `${name}^{commit}\n`).join("");
  const answers = await git.run(args.resolveNames(), { ...place, stdin });
  return answers.split("\n").flatMap((line) => /^([0-9a-f]+) commit$/.exec(line)?.[1] ?? []);
}

/**
 * The commit that a worktree has checked out, read from git's own files: asked at the end of every turn. Where they do
 * not say it plainly, git is asked.
 */
export async function worktreeHead(tools: GitTools, commonDir: string, worktree: string): Promise<string | undefined> {
  const pointer = /^gitdir: (.+)$/m.exec((await tools.files.read(join(worktree, ".git"))) ?? "")?.[1];
  const head = pointer === undefined ? undefined : await tools.files.read(join(resolve(worktree, pointer), "HEAD"));
  const branch = branchName(/^ref: (.+)$/m.exec(head ?? "")?.[1]);
  // In a reftable the file says nothing of what is checked out.
  if (branch === undefined || (await tools.files.facts(join(commonDir, "reftable"))) !== undefined) {
    const result = await tools.git.attempt(args.resolveCommitArguments("HEAD"), within(worktree));
    return result.code === 0 && result.stdout.trim() !== "" ? result.stdout.trim() : undefined;
  }
  return branchTip(tools, commonDir, branch);
}

/** More than this many commits at once are not counted any further. */
const MOST_COUNTED = 1_000;
const MOST_NAMED = 20;

interface CommitsMade {
  readonly count: number;
  readonly commits: { readonly commit: string; readonly subject: string }[];
  /** When the newest of them was made at the latest; git says it to the second. */
  readonly lastAt: number;
}

/** What was committed on the way from one commit to another, newest first; of very many only the newest are named. */
export async function commitsSince(
  git: Git,
  cwd: string,
  way: { readonly from: string; readonly to: string },
): Promise<CommitsMade> {
  const listed = await git.run(args.commitsBetween(way.from, way.to, MOST_COUNTED), { cwd });
  const lines = listed.split("\n").filter((line) => line !== "");
  const read = lines.map((line) => {
    const [commit = "", seconds = "0", ...subject] = line.split(" ");
    return { commit, at: Number(seconds) * 1000 + 999, subject: subject.join(" ") };
  });
  const commits = read.slice(0, MOST_NAMED).map(({ commit, subject }) => ({ commit, subject }));
  return { count: lines.length, commits, lastAt: Math.max(0, ...read.map(({ at }) => at)) };
}

/**
 * Whether there is a branch of that name, looked up in the files git keeps refs in, because starting git for it costs
 * more than the rest of the question. Where refs are kept in another way, git is asked.
 */
export async function branchExists(tools: GitTools, commonDir: string, branch: string): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  if ((await tools.files.facts(join(commonDir, ref)))?.kind === "file") return true;
  if ((await tools.files.facts(join(commonDir, "reftable"))) !== undefined) {
    return (await findCommit(tools.git, commonDir, ref)) !== undefined;
  }
  const packed = (await tools.files.read(join(commonDir, "packed-refs"))) ?? "";
  return packed.split("\n").some((line) => line.endsWith(` ${ref}`));
}

/**
 * The commit a branch is at, or undefined when there is none: read from git's own files like the question above, since
 * landing asks it again and again.
 */
export async function branchTip(tools: GitTools, commonDir: string, branch: string): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`;
  // Read as a file, such a name would leave the directory of the branches; git has no branch that is called so.
  if (branch.split("/").some((part) => part === "" || part === "." || part === "..")) return undefined;
  const loose = (await tools.files.read(join(commonDir, ref)))?.trim();
  if (loose !== undefined) return OBJECT_ID.test(loose) ? loose : findCommit(tools.git, commonDir, ref);
  if ((await tools.files.facts(join(commonDir, "reftable"))) !== undefined) {
    return findCommit(tools.git, commonDir, ref);
  }
  const packed = (await tools.files.read(join(commonDir, "packed-refs"))) ?? "";
  const line = packed.split("\n").find((each) => each.endsWith(` ${ref}`));
  return line?.slice(0, line.indexOf(" "));
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** True when everything in `commit` is also in `target`. Throws GIT_FAILED when one of them does not exist. */
export async function isMergedInto(git: Git, cwd: string, commit: string, target: string): Promise<boolean> {
  const result = await git.attempt(args.isAncestor(commit, target), { cwd });
  if (result.code === 0) return true;
  if (result.code === 1) return false;
  throw gitFailure(args.isAncestor(commit, target), cwd, result);
}

/** Everything that is not as committed. Ignored files are not listed. */
export async function readStatus(git: Git, cwd: string, options = { renames: false }): Promise<StatusEntry[]> {
  return parseStatus(await git.run(args.status(options), { cwd }));
}

/** As far as git shows it; hidden-changes.ts looks further. */
export async function isStatusClean(git: Git, cwd: string): Promise<boolean> {
  return (await readStatus(git, cwd)).length === 0;
}

/** All worktrees of the repository, the main one first. */
/** Which of these paths are regular files in that commit: no directories, links or submodules. Rejects when git does. */
export async function regularFiles(
  { git }: GitTools,
  repository: string,
  commit: string,
  paths: readonly string[],
): Promise<string[]> {
  if (paths.length === 0) return [];
  const listed = await git.run(landingArgs.treeEntry(commit, ...paths), { cwd: repository });
  return listed.split("\0").flatMap((entry) => /^100\d{3} blob [^\t]+\t(.+)$/s.exec(entry)?.[1] ?? []);
}

/** The path of each link in that commit, and what it says. */
export async function readTrackedLinks(
  { git }: GitTools,
  repository: string,
  commit: string,
): Promise<Map<string, string>> {
  const listed = await git.run(landingArgs.treeEntries(commit), { cwd: repository });
  const found = listed.split("\0").flatMap((entry) => {
    const [, oid, path] = /^120000 blob ([0-9a-f]+)\t(.+)$/s.exec(entry) ?? [];
    return oid === undefined || path === undefined ? [] : [{ oid, path }];
  });
  if (found.length === 0) return new Map();
  const stdin = `${found.map(({ oid }) => oid).join("\n")}\n`;
  let rest = Buffer.from(await git.run(landingArgs.objectsListed(), { cwd: repository, stdin }));
  const links = new Map<string, string>();
  for (const { path } of found) {
    const header = rest.subarray(0, rest.indexOf("\n"));
    const size = Number(header.toString().split(" ")[2]);
    const begin = header.length + 1;
    links.set(path, rest.subarray(begin, begin + size).toString());
    rest = rest.subarray(begin + size + 1);
  }
  return links;
}

export async function listWorktrees(git: Git, cwd: string): Promise<WorktreeEntry[]> {
  const facts = await git.probe();
  return parseWorktreeList(await git.run(args.worktreeList(facts.worktreeListZ), { cwd }));
}

/** The user's name and e-mail as configured, else Overseer's own: git's guess from the host name is neither. */
export async function userIdentity(git: Git, cwd: string): Promise<GitIdentity> {
  const { stdout } = await git.attempt(args.configMatching("^user\\.(name|email)$"), { cwd });
  // Git answers from the general to the particular; the last word counts.
  const said = new Map(
    stdout.split("\0").map((entry) => [entry.split("\n", 1)[0] ?? "", entry.slice(entry.indexOf("\n") + 1)]),
  );
  const [name, email] = ["user.name", "user.email"].map((key) => said.get(key)?.trim() || undefined);
  return name === undefined || email === undefined ? OVERSEER_IDENTITY : { name, email };
}

export interface CheckoutFingerprint {
  readonly head: string;
  readonly index: string;
  readonly status: string;
}

/**
 * Three values that stay the same while nobody changes the checkout: HEAD (commit and branch), what is staged, and
 * what is uncommitted, with size and time of each such file, so a second edit of a dirty file shows as well. Looking
 * with `git status` does not change it.
 */
export async function checkoutFingerprint(tools: GitTools, dir: string): Promise<CheckoutFingerprint> {
  const { git, files } = tools;
  const [staged, said] = await Promise.all([
    git.run(args.listStagedContent(), { cwd: dir }),
    git.run(args.statusWithHead(), { cwd: dir }),
  ]);
  const { commit, branch, rest } = parseCheckedOut(said);
  if (commit === undefined) throw noCommits(dir);
  const entries = parseStatus(rest);
  const topLevel = entries.length === 0 ? dir : ((await repositoryAt(git, dir)).topLevel ?? dir);
  const stamps: string[] = [];
  for (const entry of entries) {
    const facts = await files.facts(join(topLevel, entry.path));
    stamps.push(facts === undefined ? "-" : `${facts.size} ${facts.mtimeMs} ${facts.mode} ${facts.inode}`);
  }
  return {
    head: `${branch ?? "detached"} ${commit}`,
    index: sha256(staged),
    status: sha256(`${rest}\0${stamps.join("\0")}`),
  };
}

export interface TargetBranchWishes {
  readonly flag?: string;
  readonly goal?: string;
  readonly config?: string;
  /** The branch recorded by `init`; where there is none, the one checked out now counts. */
  readonly atInit?: string;
}

/**
 * The branch work lands on: flag, goal, config, origin's default branch if it exists here, the branch at `init`.
 * Throws `not-found` BRANCH_MISSING when the one named does not exist, `conflict` TARGET_BRANCH_UNKNOWN when HEAD is
 * detached and nothing else says.
 */
export async function targetBranch(git: Git, cwd: string, wishes: TargetBranchWishes): Promise<string> {
  return (await targetTip(git, cwd, wishes)).branch;
}

export interface BranchTip {
  readonly branch: string;
  readonly commit: string;
}

/** The same with the commit it is at. */
export async function targetTip(git: Git, cwd: string, wishes: TargetBranchWishes): Promise<BranchTip> {
  const named = findNamedTarget(wishes);
  if (named !== undefined) return existingBranch(git, cwd, named.branch, named.source);
  const remote = (await readSymbolicRef(git, cwd, "refs/remotes/origin/HEAD"))?.replace("refs/remotes/origin/", "");
  const tip = remote === undefined ? undefined : await findCommit(git, cwd, `refs/heads/${remote}`);
  if (remote !== undefined && tip !== undefined) return { branch: remote, commit: tip };
  if (wishes.atInit !== undefined) return existingBranch(git, cwd, wishes.atInit, "the branch at init");
  const current = await currentBranch(git, cwd);
  if (current !== undefined) return existingBranch(git, cwd, current, "the branch checked out");
  const hint = "Check out a branch, or set repo.targetBranch in .overseer/config.yaml.";
  throw new OverseerError("conflict", "TARGET_BRANCH_UNKNOWN", "HEAD is detached: no branch to land on.", hint);
}

/** The first wish that was spoken, and who spoke it. */
export function findNamedTarget(wishes: TargetBranchWishes): { branch: string; source: string } | undefined {
  if (wishes.flag !== undefined) return { branch: wishes.flag, source: "the flag" };
  if (wishes.goal !== undefined) return { branch: wishes.goal, source: "the goal" };
  if (wishes.config !== undefined) return { branch: wishes.config, source: "repo.targetBranch" };
  return undefined;
}

/** Options for a run that must not find a repository above `dir`, should the one in it have lost its .git. */
export function within(dir: string): { cwd: string; env: Record<string, string> } {
  return { cwd: dir, env: { GIT_CEILING_DIRECTORIES: dirname(dir) } };
}

async function existingBranch(git: Git, cwd: string, branch: string, source: string): Promise<BranchTip> {
  const commit = await findCommit(git, cwd, `refs/heads/${branch}`);
  if (commit !== undefined) return { branch, commit };
  if (!(await hasCommits(git, cwd))) throw noCommits(cwd);
  const hint = `Make it with \`git branch ${branch}\`, or name a branch that exists.`;
  throw new OverseerError("not-found", "BRANCH_MISSING", `There is no branch "${branch}" (from ${source}).`, hint);
}

async function readSymbolicRef(git: Git, cwd: string, ref: string): Promise<string | undefined> {
  const result = await git.attempt(args.symbolicRef(ref), { cwd });
  return result.code === 0 ? result.stdout.trim() : undefined;
}

function branchName(ref: string | undefined): string | undefined {
  return ref?.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : undefined;
}

function noCommits(cwd: string): OverseerError {
  const hint = "Make a first commit: git add -A && git commit -m 'First commit'";
  return new OverseerError("conflict", "NO_COMMITS", `The repository at ${cwd} has no commits yet.`, hint);
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
