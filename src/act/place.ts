/**
 * Following a repository that was renamed or moved, and keeping a copied one away from its original (domain/health/place.ts has
 * the judgement). What is moved is followed by itself, before anybody acts on an agent: git's pointers between the
 * repository and agents' worktrees are set right, and each attempt is told where its worktree is now. A copy waits for a
 * person's word, `doctor --fix`, which makes it a repository of its own. Only pointers of agents' worktrees are written,
 * by hand: `git worktree repair` would also rewrite those of the original. Safe to repeat at any point: the record of the
 * place is written last.
 */
import { dirname, join } from "node:path";
import {
  earlierProject,
  followPath,
  judgePlace,
  parsePlace,
  type StoreHome,
  type StoreStanding,
  sayAway,
} from "#domain/health/place.ts";
import { relocateAttempts } from "#domain/model/attempt.ts";
import { freezeFleet } from "#domain/model/fleet.ts";
import { OverseerError } from "#errors.ts";
import { latestAttempts, livingAttempts } from "#store/attempts.ts";
import { theFleet } from "#store/fleet.ts";
import { addressIn, identityAt } from "#store/open.ts";
import type { Store } from "#store/store.ts";
import type { Files } from "#sys/files.ts";
import type { Root } from "#sys/root.ts";
import { runFiles } from "#sys/run-files.ts";
import { recordEnd } from "./attempt-end/record-end.ts";
import { birthplaceOf } from "./attempt-files.ts";
import type { ActParts } from "./parts.ts";

type Parts = Pick<ActParts, "root" | "files" | "writer" | "clock" | "socketDir" | "wakeSocket">;

/** Writes down that this store is at home here, for whoever finds it elsewhere; nothing when that is known. */
export async function recordPlace(parts: Omit<Parts, "writer">): Promise<void> {
  const { root, files } = parts;
  const place: StoreHome = { project: root.project, state: root.state, sockets: await parts.socketDir() };
  const path = runFiles(root.state).place;
  const text = `${JSON.stringify(place)}\n`;
  if ((await files.read(path)) === text) return;
  await files.makeDir(dirname(path), { mode: 0o700 });
  await files.write(path, text, { mode: 0o600 });
}

export async function judgeStanding(
  files: Files,
  root: Root,
): Promise<{ standing: StoreStanding; recorded?: StoreHome }> {
  const recorded = parsePlace(await files.read(runFiles(root.state).place));
  if (recorded === undefined) return { standing: "first" };
  if (recorded.state === root.state) return { standing: "here", recorded };
  const identity = identityAt(addressIn(root.state)) ?? "";
  const there = await lookThere(files, recorded, root);
  return { standing: judgePlace({ recorded, state: root.state, identity, there }), recorded };
}

async function lookThere(files: Files, recorded: StoreHome, root: Root) {
  const [theirs, ours] = [addressIn(recorded.state), addressIn(root.state)];
  const [file, own] = [await files.facts(theirs), await files.facts(ours)];
  if (file === undefined) return "nothing" as const;
  if (own !== undefined && file.inode === own.inode && file.device === own.device) return "this" as const;
  const identity = identityAt(theirs);
  return identity === undefined ? ("unknown" as const) : { identity };
}

/** Throws conflict/REPOSITORY_COPIED where this repository is a copy of one that is still there. */
export async function assertNotCopied(files: Files, root: Root): Promise<void> {
  const { standing, recorded } = await judgeStanding(files, root);
  if (standing !== "copied" || recorded === undefined) return;
  const { message, hint } = sayAway({ standing, from: recorded.project }, root.project);
  throw new OverseerError("conflict", "REPOSITORY_COPIED", message, hint);
}

/**
 * Writes the record of the place again where it was lost and the repository is elsewhere by now: by the paths of agents'
 * worktrees, which were recorded there and lie here. What that means is then judged like any other record.
 */
async function restoreRecord(parts: Parts): Promise<void> {
  const { root, files } = parts;
  const path = runFiles(root.state).place;
  if (parsePlace(await files.read(path)) !== undefined) return;
  const { attempts } = await (await parts.writer()).read({ attempts: latestAttempts(Number.MAX_SAFE_INTEGER) });
  for (const attempt of attempts) {
    const project = earlierProject(attempt.worktree, root);
    const now = project && followPath(attempt.worktree, { project }, root);
    if (project === undefined || now === undefined || (await files.facts(now)) === undefined) continue;
    const state = followPath(root.state, root, { project }) ?? birthplaceOf(attempt).state;
    const { socket } = (attempt.terminal ?? {}) as { readonly socket?: string };
    const place: StoreHome = { project, state, sockets: socket ? dirname(socket) : await parts.socketDir() };
    await files.makeDir(dirname(path), { mode: 0o700 });
    await files.write(path, `${JSON.stringify(place)}\n`, { mode: 0o600 });
    return;
  }
}

/**
 * Sets right what a move broke. Throws REPOSITORY_COPIED where that shows only now. Returns what was done, as sentences;
 * nothing where nothing moved.
 */
export async function followMove(parts: Parts): Promise<string[]> {
  await restoreRecord(parts);
  await assertNotCopied(parts.files, parts.root);
  const { standing, recorded } = await judgeStanding(parts.files, parts.root);
  if (standing !== "moved" || recorded === undefined) return [];
  await relocate(parts, await parts.writer(), recorded, standing);
  await recordPlace(parts);
  return [`the repository was at ${recorded.project} before; its agents' worktrees are known here now`];
}

/**
 * Makes a copy a repository of its own: its worktrees are its own, and the agents that work for the original have ended
 * here, without anything being done to them. Nothing is dispatched until a person thaws it: the work continues over there.
 * The store is handed in, because nobody else may write it before this is through.
 */
export async function separateCopy(parts: Omit<Parts, "writer">, store: Store): Promise<string[]> {
  const { standing, recorded } = await judgeStanding(parts.files, parts.root);
  if (standing !== "copied" || recorded === undefined) return [];
  await relocate(parts, store, recorded, standing);
  const { living } = await store.read({ living: livingAttempts() });
  for (const attempt of living) {
    const detail = `It works for ${recorded.project}, of which this repository is a copy.`;
    await recordEnd({ ...parts, writer: async () => store }, attempt, "stopped", detail, null);
  }
  const reason = `a copy of ${recorded.project}, whose work it would do a second time`;
  await store.commit({
    at: parts.clock.now(),
    reads: { fleet: theFleet() },
    decide: ({ fleet }) => freezeFleet(fleet, reason, { now: parts.clock.now(), actor: "overseer" }),
  });
  await parts.files.remove(runFiles(parts.root.state).registration);
  await recordPlace(parts);
  return [
    `made this copy of ${recorded.project} a repository of its own; nothing there was touched, and the fleet here is frozen until 'overseer thaw'`,
  ];
}

/** Pointers first, then what is known of each attempt. */
async function relocate(
  parts: Omit<Parts, "writer">,
  store: Store,
  from: StoreHome,
  standing: "moved" | "copied",
): Promise<void> {
  const everyone = latestAttempts(Number.MAX_SAFE_INTEGER);
  const { attempts } = await store.read({ attempts: everyone });
  const links = new Set(attempts.map(({ worktree }) => `${worktree}/.git`));
  await repairPointers(parts, { from, standing, links });
  const found = new Map<string, string>();
  for (const { worktree } of attempts) {
    const now = followPath(worktree, from, parts.root);
    if (now !== undefined && (await parts.files.facts(now)) !== undefined) found.set(worktree, now);
  }
  await store.commit({
    at: parts.clock.now(),
    reads: { attempts: everyone },
    decide: (read) => relocateAttempts(read.attempts, found, { from: from.project, to: parts.root.project }),
  });
}

/**
 * Both ends of the link between the repository and each of our worktrees that came along. One that a person had put
 * outside of the repository stayed where it was, and still names the old place: of a moved repository it is followed; of
 * a copied one it belongs to the original.
 */
async function repairPointers(
  { root, files }: Pick<Parts, "root" | "files">,
  repair: { readonly from: StoreHome; readonly standing: "moved" | "copied"; readonly links: ReadonlySet<string> },
): Promise<void> {
  const entries = join(root.gitCommonDir, "worktrees");
  for (const name of (await files.list(entries)) ?? []) {
    const pointer = join(entries, name, "gitdir");
    const before = (await files.read(pointer))?.trim() ?? "";
    const link = followPath(before, repair.from, root) ?? (repair.standing === "moved" ? before : "");
    if (!repair.links.has(before) && !link.startsWith(`${root.userDir}/`)) continue;
    if ((await files.facts(link))?.kind !== "file") continue;
    await files.write(pointer, `${link}\n`, { mode: 0o644 });
    await files.write(link, `gitdir: ${dirname(pointer)}\n`, { mode: 0o644 });
  }
}
