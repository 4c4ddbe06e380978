/**
 * Where the sockets of one state root live. Not under `.overseer/`: the path of a socket is limited to some hundred
 * bytes, and repositories lie deep. The directory is in a place others can write to, so it is taken only when it is a real
 * directory of this user that nobody else can have put anything into.
 */
import { chmod, lstat, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { OverseerError, systemCode } from "#errors.ts";

export interface SocketDirOptions {
  /** The state root with its symlinks resolved; two ways to say it must not make two directories. */
  readonly root: string;
  /** XDG_RUNTIME_DIR, where it is set. */
  readonly runtimeDir?: string;
  /** The temp directory of the operating system. */
  readonly tempDir: string;
  readonly uid: number;
}

/** For a whole socket path. 107 bytes work on Linux and 103 on macOS. */
const LONGEST_PATH_BYTES = 100;
/** Kept free behind the directory for a slash and a socket's name. */
const LONGEST_SOCKET_NAME_BYTES = 20;
const OTHERS_MAY_WRITE = 0o022;

/**
 * Makes the directory (0700) or checks the one that is there. Throws environment/SOCKET_DIR_UNSAFE for one that is a
 * link, belongs to another user or is open to others, environment/SOCKET_PATH_TOO_LONG when no place is short enough.
 * May be called again.
 */
export async function socketDirectory(place: SocketDirOptions): Promise<string> {
  for (const parent of await parentsOf(place)) {
    const directory = join(parent, rootHash(place.root));
    if (Buffer.byteLength(directory) + LONGEST_SOCKET_NAME_BYTES >= LONGEST_PATH_BYTES) continue;
    await secure(parent, place.uid);
    await secure(directory, place.uid);
    return directory;
  }
  throw new OverseerError(
    "environment",
    "SOCKET_PATH_TOO_LONG",
    `The temp directory ${place.tempDir} is too long a path for a socket inside it.`,
    "Set XDG_RUNTIME_DIR or TMPDIR to a directory with a short path.",
  );
}

/** Whether a directory that was taken before is still there and this user's only. */
export async function isSocketDirectory(directory: string, uid: number): Promise<boolean> {
  try {
    const facts = await lstat(directory);
    return facts.isDirectory() && facts.uid === uid && (facts.mode & 0o777) === 0o700;
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return false;
    throw error;
  }
}

async function parentsOf({ runtimeDir, tempDir, uid }: SocketDirOptions): Promise<string[]> {
  const fallback = join(tempDir, `overseer-${uid}`);
  // sudo and cron often leave the variable without the directory behind it.
  if (runtimeDir === undefined || !runtimeDir.startsWith("/") || !(await isDirectory(runtimeDir))) return [fallback];
  return [join(runtimeDir, "overseer"), fallback];
}

function rootHash(root: string): string {
  return new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 12);
}

async function secure(directory: string, uid: number): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
  const facts = await lstat(directory);
  if (facts.isSymbolicLink() || !facts.isDirectory()) throw unsafe(directory, "is not a directory of its own");
  if (facts.uid !== uid) throw unsafe(directory, "belongs to another user");
  if ((facts.mode & OTHERS_MAY_WRITE) !== 0) throw unsafe(directory, "can be written to by others");
  if ((facts.mode & 0o777) !== 0o700) await chmod(directory, 0o700);
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return false;
    throw error;
  }
}

function unsafe(directory: string, why: string): OverseerError {
  const message = `${directory} ${why}, so sockets in it would not be safe.`;
  const hint = `Look at it, remove or rename it, then try again; or set XDG_RUNTIME_DIR to a directory of your own.`;
  return new OverseerError("environment", "SOCKET_DIR_UNSAFE", message, hint);
}
