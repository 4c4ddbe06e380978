/**
 * Taking Overseer out of a repository: daemon and agents are stopped, worktrees go by the same safe removal as ever, and then
 * everything that `init` and the fleet have made. Work that is in no branch stays under refs, or goes into a bundle where the
 * person says so. While anything cannot be removed without a loss, the store and the files stay, and it is said what is in
 * the way. Repeatable: what is gone already is not looked for.
 */
import { landingBranch } from "#act/landing/target-branch.ts";
import { forgetTrust } from "#act/settings/trust-file.ts";
import { hasOurShape, readCopy } from "#config/checked-copy.ts";
import { resolveConfigured } from "#config/places.ts";
import { defaultConfig } from "#config/schema.ts";
import { listLivingAgents } from "#control/agents.ts";
import { livingDaemon, stopAgents, stopDaemon } from "#control/daemon.ts";
import { readGuard, stopGuard } from "#control/guard.ts";
import { readService, removeService } from "#control/service.ts";
import { isStoreLost } from "#control/store-lost.ts";
import { clean, worktrees } from "#control/worktrees.ts";
import type { World } from "#control/world.ts";
import { isOwnFile } from "#domain/health/own-files.ts";
import { type Attempt, attemptLabel } from "#domain/model/attempt.ts";
import { OverseerError, systemCode } from "#errors.ts";
import * as args from "#git/arguments.ts";
import { changeRefs, listRefs } from "#git/refs.ts";
import { branchTip, findCommit, isMergedInto, listWorktrees, targetBranch } from "#git/repository.ts";
import { leaveRecoveryRef } from "#git/worktree-removal.ts";
import { forgetWorktree } from "#git/worktrees.ts";
import { latestAttempts } from "#store/attempts.ts";
import { addressIn, openForWriting } from "#store/open.ts";
import { capsOf } from "#store/seal.ts";
import type { Store } from "#store/store.ts";
import { isWithin, nameOf, parentOf, resolvePath } from "#sys/paths.ts";

export interface UninstallPlan {
  readonly daemon: number | null;
  /** The pid of the guard that watches. */
  readonly guard: number | null;
  /** The unit by which a service manager runs the guard; one that is not as we wrote it is left. */
  readonly service: string | null;
  readonly agents: readonly string[];
  /** Each with why it would not go by itself; null where nothing is lost. */
  readonly worktrees: readonly { readonly agent: string; readonly path: string; readonly stays: string | null }[];
  /** Branches that agents made. */
  readonly branches: readonly string[];
  /** What is on no branch, and what is on one all the same. */
  readonly refs: { readonly kept: readonly string[]; readonly dropped: readonly string[] };
  /** What could not be read, and what is done instead. */
  readonly remarks: readonly string[];
  /** Directories and files that go. */
  readonly paths: readonly string[];
  /** What lies in them and is none of ours: nothing is changed while it is there. */
  readonly foreign: readonly string[];
  /** What stays, a path or a branch, and why. */
  readonly left: readonly { readonly path: string; readonly because: string }[];
}

export interface UninstallOrder {
  /** Where work that is on no branch is exported to, absolute; its refs go then. */
  readonly bundle?: string;
  /** Deletes also what no ref can keep. */
  readonly discard: boolean;
}

export interface Uninstalled extends UninstallPlan {
  /** The file that was written; null where nothing had to be. */
  readonly bundle: string | null;
}

const OWN_REFS = "refs/overseer/";
const MOST_ATTEMPTS = 100_000;

/** What there is to be taken back. Changes nothing. */
export async function planUninstall(world: World): Promise<UninstallPlan> {
  return planWith(await makeUsable(world));
}

async function planWith(ground: Ground): Promise<UninstallPlan> {
  const { world, hasStore, remarks } = ground;
  const { gitCommonDir, state, userDir } = world.root;
  const tracked = await listTrackedFiles(world);
  const paths = tracked.length === 0 ? [userDir, state] : [await worktreeDir(world), state];
  const attempts = await listAttempts(ground);
  const { branches, checkedOut } = await sortBranches(world, attempts);
  const because = `${tracked.length} of its files are committed: 'git rm -r .overseer' takes them out of the history's next commit`;
  const guard = readGuard(world);
  const service = await readService(world);
  const leftUnit =
    service.path !== null && service.problem !== null ? [{ path: service.path, because: service.problem }] : [];
  return {
    daemon: livingDaemon(world)?.pid ?? null,
    guard: guard?.alive === true ? guard.pid : null,
    service: service.problem === null ? service.path : null,
    agents: hasStore ? (await listLivingAgents(world)).map(attemptLabel) : [],
    worktrees: (hasStore ? await worktrees(world) : []).map(({ agent, attempt, path, stays }) => ({
      agent: attemptLabel({ agent, attempt }),
      path,
      stays,
    })),
    branches,
    refs: await sortRefs(ground),
    remarks,
    paths: [...new Set(paths)].filter((path) => path !== gitCommonDir),
    foreign: await findForeign(world, paths, attempts),
    left: [...(tracked.length === 0 ? [] : [{ path: userDir, because }]), ...checkedOut, ...leftUnit],
  };
}

/** Throws FOREIGN_FILES and WORKTREES_KEPT, with everything else still there, where something would be lost that no ref can keep. */
export async function uninstall(given: World, order: UninstallOrder): Promise<Uninstalled> {
  const ground = await makeUsable(given);
  const { world, hasStore } = ground;
  const before = await planWith(ground);
  assertNothingForeign(before.foreign);
  const bundle = order.bundle === undefined ? undefined : await placeBundle(world, order.bundle, before);
  // First, so that nobody starts again what is stopped next.
  if (before.service !== null) await removeService(world);
  await stopGuard(world);
  await stopDaemon(world, "uninstall");
  if (hasStore) await removeAgents(world, order);
  // Nothing of an agent's is left to be excused now, and somebody may have put something there meanwhile.
  assertNothingForeign(await findForeign(world, before.paths, await listAttempts(ground), "gone"));
  await dropBranches(ground, before.branches);
  const refs = await sortRefs(ground);
  if (bundle !== undefined && refs.kept.length > 0) {
    await world.git.git.run(args.bundleOf(bundle, refs.kept), { cwd: world.root.project });
    await world.git.git.run(args.verifyBundle(bundle), { cwd: world.root.project });
  }
  const gone = bundle === undefined ? refs.dropped : [...refs.dropped, ...refs.kept];
  const drops = gone.map((ref) => ({ kind: "drop", ref }) as const);
  await changeRefs(world.git.git, world.root.gitCommonDir, drops);
  await removeCheckWorktrees(ground);
  await forgetTrust(world.files, { project: world.root.project, env: world.env });
  const sockets = await world.socketDir();
  if (hasStore) await (await world.writer()).close();
  await removePaths(world, [...before.paths, sockets]);
  return {
    ...before,
    refs: bundle === undefined ? refs : { kept: [], dropped: gone },
    bundle: bundle !== undefined && refs.kept.length > 0 ? bundle : null,
  };
}

/** Ends every agent and removes its worktree. */
async function removeAgents(world: World, order: UninstallOrder): Promise<void> {
  const [stuck] = (await stopAgents(world, "uninstall")).filter(({ problem }) => problem !== null);
  if (stuck) {
    const hint = "Stop it yourself (overseer stop), then run 'overseer uninstall' again; nothing else was changed.";
    throw new OverseerError("conflict", "AGENT_STAYS", `${stuck.agent} could not be stopped: ${stuck.problem}`, hint);
  }
  const { kept } = await clean(world, { force: true, discard: order.discard });
  if (kept.length > 0) {
    const named = kept.map(({ agent, attempt, because }) => `${agent}#${attempt}: ${because}`).join(" ");
    const hint =
      "Copy what you need out of it, then run it again with --discard. The store, the settings and the rest are still there.";
    throw new OverseerError("conflict", "WORKTREES_KEPT", `Not everything can go without a loss. ${named}`, hint);
  }
}

/** The database goes last: whoever is interrupted finds in it what is left to be done. */
async function removePaths(world: World, paths: readonly string[]): Promise<void> {
  const { state } = world.root;
  for (const path of paths) if (path !== state) await world.files.remove(path);
  for (const name of (await world.files.list(state)) ?? []) {
    if (!name.startsWith(nameOf(addressIn(state)))) await world.files.remove(`${state}/${name}`);
  }
  await world.files.remove(state);
}

/** The world with settings that can be read, and whether there is a store that says what agents made. */
interface Ground {
  readonly world: World;
  readonly hasStore: boolean;
  readonly remarks: readonly string[];
}

/** What is broken must not keep anybody from taking it out. */
async function makeUsable(given: World): Promise<Ground> {
  const { world, remark } = await withReadableSettings(given);
  try {
    await (await world.reader()).read({ attempts: latestAttempts(MOST_ATTEMPTS) });
    return { world, hasStore: true, remarks: remark === null ? [] : [remark] };
  } catch (error) {
    if (!isStoreLost(error)) throw error;
    const { userDir, state } = world.root;
    const isThere = (await world.files.facts(userDir)) ?? (await world.files.facts(state));
    if (isThere === undefined) throw error;
    const lost = `${error.message} So branches of agents stay: nothing says which they are.`;
    return { world, hasStore: false, remarks: remark === null ? [lost] : [remark, lost] };
  }
}

async function withReadableSettings(given: World): Promise<{ readonly world: World; readonly remark: string | null }> {
  try {
    await given.config();
    return { world: given, remark: null };
  } catch (error) {
    if (!(error instanceof OverseerError) || error.kind !== "config") throw error;
    const { state } = given.root;
    const copy = readCopy(await given.files.read(`${state}/run/config.json`));
    const isKept = copy !== undefined && hasOurShape(copy);
    const config = isKept ? copy.config : defaultConfig();
    let store: Promise<Store> | undefined;
    const writer = () => {
      store ??= openForWriting({ address: addressIn(state), caps: capsOf(config.store) });
      return store;
    };
    const parts = Object.getOwnPropertyDescriptors(given);
    const readable = { config: { value: async () => config }, writer: { value: writer } };
    const [first] = error.message.split("\n");
    const remark = `${first} So ${isKept ? "the last settings that could be used" : "the default settings"} say what there is to be removed.`;
    return { world: Object.defineProperties({}, { ...parts, ...readable }) as World, remark };
  }
}

/** Undefined where nothing tells it: then no work counts as landed. */
async function findTarget({ world, hasStore }: Ground): Promise<string | undefined> {
  if (hasStore) return landingBranch(world);
  const { repo } = await world.config();
  try {
    return await targetBranch(world.git.git, world.root.project, { config: repo.targetBranch ?? undefined });
  } catch (error) {
    if (error instanceof OverseerError) return undefined;
    throw error;
  }
}

/** Where the bundle really comes to lie. What goes cannot hold what is to be kept. */
async function placeBundle(world: World, bundle: string, plan: UninstallPlan): Promise<string> {
  const real = await findRealPlace(world, bundle);
  for (const path of [...plan.paths, ...plan.worktrees.map((one) => one.path)]) {
    if (!isWithin(await findRealPlace(world, path), real)) continue;
    const message = `${real} would be removed with ${path}, and the unlanded work with it. Nothing was changed.`;
    throw new OverseerError(
      "usage",
      "BUNDLE_INSIDE",
      message,
      "Name a file outside of it: --bundle ../unlanded.bundle",
    );
  }
  if ((await world.files.facts(parentOf(real)))?.kind !== "directory") {
    const message = `There is no directory ${parentOf(real)} to put the bundle into. Nothing was changed.`;
    throw new OverseerError("usage", "BUNDLE_NOWHERE", message, "Make it, or name another file.");
  }
  return real;
}

/** Links resolved as far as the path exists. */
async function findRealPlace(world: World, path: string): Promise<string> {
  if ((await world.files.facts(path)) !== undefined) {
    const real = await world.files.realPath(path).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return undefined; // a link to nothing stands for itself
      throw error;
    });
    if (real !== undefined) return real;
  }
  return path === "/" ? path : resolvePath(await findRealPlace(world, parentOf(path)), nameOf(path));
}

/** Files of .overseer/ that the person has committed are the repository's. */
async function listTrackedFiles({ git, root }: World): Promise<string[]> {
  if (!isWithin(root.project, root.userDir) || root.userDir === root.state) return [];
  const listed = await git.git.attempt(args.listTrackedBelow(root.userDir), { cwd: root.project });
  return listed.stdout.split("\0").filter((path) => path !== "");
}

async function worktreeDir(world: World): Promise<string> {
  return resolveConfigured(world.root, (await world.config()).worktree.dir).path;
}

async function listAttempts({ world, hasStore }: Ground): Promise<Attempt[]> {
  if (!hasStore) return [];
  return (await (await world.reader()).read({ attempts: latestAttempts(MOST_ATTEMPTS) })).attempts;
}

/** Where worktrees are made now, and where they were before the setting was changed. */
async function worktreeDirs(world: World, attempts: readonly Attempt[]): Promise<string[]> {
  const before = attempts.map(({ worktree }) => parentOf(worktree));
  return [...new Set([await worktreeDir(world), `${world.root.userDir}/worktrees`, ...before])];
}

/** Branches of attempts that are still there; one that somebody has checked out elsewhere is theirs by now. */
async function sortBranches(
  world: World,
  attempts: readonly Attempt[],
): Promise<{ readonly branches: readonly string[]; readonly checkedOut: UninstallPlan["left"] }> {
  const branches: string[] = [];
  const checkedOut: UninstallPlan["left"][number][] = [];
  const users = await listBranchUsers(world, attempts);
  for (const branch of new Set(attempts.map((one) => one.branch))) {
    if ((await branchTip(world.git, world.root.gitCommonDir, branch)) === undefined) continue;
    const user = users.get(branch);
    if (user === undefined) branches.push(branch);
    else checkedOut.push({ path: branch, because: `it is checked out in ${user}` });
  }
  return { branches, checkedOut };
}

/** Which branch is checked out where, agents' own worktrees apart. */
async function listBranchUsers(world: World, attempts: readonly Attempt[]): Promise<Map<string, string>> {
  const own = new Set(attempts.map(({ worktree }) => worktree));
  const entries = await listWorktrees(world.git.git, world.root.gitCommonDir);
  return new Map(
    entries.flatMap(({ path, branch, bare }) =>
      branch === undefined || bare || own.has(path) ? [] : [[branch.replace(/^refs\/heads\//, ""), path] as const],
    ),
  );
}

/** One that is not in the target leaves a recovery ref, at the very commit that is deleted. */
async function dropBranches(ground: Ground, branches: readonly string[]): Promise<void> {
  const { world } = ground;
  const { gitCommonDir: cwd } = world.root;
  const target = await findTarget(ground);
  const users = await listBranchUsers(world, await listAttempts(ground));
  for (const branch of branches) {
    const tip = await branchTip(world.git, cwd, branch);
    if (tip === undefined || branch === target || users.has(branch)) continue;
    const isLanded = target !== undefined && (await isMergedInto(world.git.git, cwd, tip, target));
    if (!isLanded) await leaveRecoveryRef(world.git, cwd, branch, tip);
    await changeRefs(world.git.git, cwd, [{ kind: "delete", ref: `refs/heads/${branch}`, from: tip }]);
  }
}

/** What some branch or tag of the person's has need not be kept; merges that never landed are made again from their sides. */
async function sortRefs(ground: Ground): Promise<UninstallPlan["refs"]> {
  const { world } = ground;
  const { gitCommonDir: cwd } = world.root;
  const target = await findTarget(ground);
  const kept: string[] = [];
  const dropped: string[] = [];
  const seen = new Set<string>();
  for (const { ref, oid } of await listRefs(world.git.git, cwd, OWN_REFS)) {
    const needless = ref.startsWith(`${OWN_REFS}staged/`) || seen.has(oid);
    const isCommit = (await findCommit(world.git.git, cwd, oid)) !== undefined;
    const goes =
      needless || (isCommit && target !== undefined && (await isMergedInto(world.git.git, cwd, oid, target)));
    (goes ? dropped : kept).push(ref);
    if (!goes) seen.add(oid);
  }
  return { kept, dropped };
}

/** Our own, in which checks ran: nobody works there. */
async function removeCheckWorktrees(ground: Ground): Promise<void> {
  const { world } = ground;
  const places = (await worktreeDirs(world, await listAttempts(ground))).map((path) => `${path}/${CHECKS}`);
  const { gitCommonDir } = world.root;
  for (const { path } of await listWorktrees(world.git.git, gitCommonDir)) {
    if (!places.some((place) => isWithin(place, path)) || path === gitCommonDir) continue;
    await world.files.remove(path);
    await forgetWorktree(world.git, gitCommonDir, path);
  }
}

const CHECKS = ".checks";

/**
 * What lies below the paths that go and is somebody's: worktrees that no agent had, and files that we neither made nor asked
 * for. What lies in an agent's worktree is for the removal of that to judge, until it is gone.
 */
async function findForeign(
  world: World,
  paths: readonly string[],
  attempts: readonly Attempt[],
  agents: "there" | "gone" = "there",
): Promise<string[]> {
  const { root, files } = world;
  const dirs = await worktreeDirs(world, attempts);
  const excused = [
    ...dirs.map((path) => `${path}/${CHECKS}`),
    ...(agents === "there" ? attempts.map(({ worktree }) => worktree) : []),
  ];
  const isExcused = (path: string) => excused.some((place) => isWithin(place, path));
  const found = new Set<string>();
  for (const { path, bare } of await listWorktrees(world.git.git, root.gitCommonDir)) {
    if (bare || isExcused(path) || !paths.some((place) => isWithin(place, path))) continue;
    if ((await files.facts(path)) !== undefined) found.add(path);
  }
  for (const dir of dirs) {
    if (dir !== (await worktreeDir(world)) && !paths.some((place) => isWithin(place, dir))) continue;
    for (const name of (await files.list(dir)) ?? []) {
      const path = `${dir}/${name}`;
      if (name !== ".gitignore" && name !== CHECKS && !isExcused(path)) found.add(path);
    }
  }
  if (paths.includes(root.userDir) && root.userDir !== root.state) {
    for (const path of await listNotOurs(world, root.userDir, [...dirs, ...excused])) found.add(path);
  }
  return [...found].sort();
}

/** A directory in which nothing is ours is named itself, instead of all that it holds. */
async function listNotOurs(world: World, directory: string, excused: readonly string[]): Promise<string[]> {
  const { userDir } = world.root;
  const found: string[] = [];
  let ours = directory === userDir;
  for (const name of (await world.files.list(directory)) ?? []) {
    const path = `${directory}/${name}`;
    const isDirectory = (await world.files.facts(path))?.kind === "directory";
    if (excused.includes(path) || isOwnFile(path.slice(userDir.length + 1))) ours = true;
    else if (!isDirectory) found.push(path);
    else if (isRepository(await world.files.list(path))) found.push(path);
    else {
      const inside = await listNotOurs(world, path, excused);
      if (!inside.includes(path)) ours = true;
      found.push(...inside);
    }
  }
  return ours || found.length === 0 ? found : [directory];
}

function isRepository(names: readonly string[] | undefined): boolean {
  return names?.includes(".git") === true;
}

function assertNothingForeign(foreign: readonly string[]): void {
  const [first] = foreign;
  if (first === undefined) return;
  const more = foreign.length > MOST_NAMED ? ` and ${foreign.length - MOST_NAMED} more` : "";
  const message = `${foreign.slice(0, MOST_NAMED).join(", ")}${more} would be removed too, and nothing says that an agent of this repository made it.`;
  const hint =
    "Move it away ('git worktree move' for a worktree), then run 'overseer uninstall' again; settings, store and refs are still there.";
  throw new OverseerError("conflict", "FOREIGN_FILES", message, hint);
}

const MOST_NAMED = 10;
