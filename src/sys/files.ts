/** The file system as a port: only what the product needs, with the sharp edges named. */
import type { Stats } from "node:fs";
import {
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  statfs,
  unlink,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemCode } from "#errors.ts";

export interface FileFacts {
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly size: number;
  readonly mtimeMs: number;
  /** Permission bits only. */
  readonly mode: number;
  readonly inode: number;
  readonly device: number;
}

export interface Files {
  /** The text, or undefined when there is no such file (or it is a directory). Other failures reject. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file in one step (temporary neighbour, fsync, rename): a reader sees the old text or the new. */
  write(path: string, text: string, options?: { mode?: number }): Promise<void>;
  /** Adds to the end in one write; creates the file (0600 by default) when missing. */
  append(path: string, text: string, options?: { mode?: number }): Promise<void>;
  /** Makes the file with this text, unless something is there already: then false, and nothing is changed. */
  create(path: string, text: string): Promise<boolean>;
  /** The bytes and the mode of a file, to a new place or over what is there. */
  copy(from: string, to: string): Promise<void>;
  /** True when the whole of one file is how the other begins; also when both are the same. */
  isBeginningOf(path: string, whole: string): Promise<boolean>;
  /** Does not follow a symlink at the end of the path. Undefined when nothing is there. */
  facts(path: string): Promise<FileFacts | undefined>;
  /** Names in a directory, sorted; undefined when it does not exist. */
  list(path: string): Promise<string[] | undefined>;
  /** Makes the directory and its parents; no error when it is there already. */
  makeDir(path: string, options?: { mode?: number }): Promise<void>;
  /** Removes a file or a whole directory; no error when nothing is there. Never follows a symlink. */
  remove(path: string): Promise<void>;
  /** Removes a file, a link or an empty directory; a directory that holds anything stays. For a place that is not ours. */
  removeUnlessFull(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** The path with all symlinks resolved; rejects with ENOENT when it does not exist. */
  realPath(path: string): Promise<string>;
  /** Free bytes on the volume that holds `path`. */
  freeBytes(path: string): Promise<number>;
}

const PRIVATE_FILE = 0o600;

export function systemFiles(): Files {
  return {
    read: (path) => unlessMissing(readFile(path, "utf8")),
    write: replaceFile,
    append: appendOnce,
    create: createOnce,
    copy: (from, to) => copyFile(from, to),
    isBeginningOf,
    facts: async (path) => {
      const stats = await unlessMissing(lstat(path));
      return stats === undefined ? undefined : factsOf(stats);
    },
    list: async (path) => (await unlessMissing(readdir(path)))?.sort(),
    makeDir: async (path, options) => {
      await mkdir(path, { recursive: true, mode: options?.mode });
    },
    remove: (path) => rm(path, { recursive: true, force: true }),
    removeUnlessFull: removeOne,
    rename,
    realPath: (path) => realpath(path),
    freeBytes: async (path) => {
      const volume = await statfs(path);
      return volume.bavail * volume.bsize;
    },
  };
}

/** A path through a file (ENOTDIR) and a directory where a file was meant (EISDIR) are as absent as a missing one. */
async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined;
    throw error;
  }
}

/** By the calls that cannot take more than one thing, whatever is put there meanwhile. */
async function removeOne(path: string): Promise<void> {
  const facts = await unlessMissing(lstat(path));
  if (facts === undefined) return;
  try {
    await (facts.isDirectory() ? rmdir(path) : unlink(path));
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (!["ENOENT", "ENOTDIR", "EISDIR", "ENOTEMPTY", "EEXIST"].includes(code)) throw error;
  }
}

/** Keeps the mode of the file it replaces unless told otherwise; a new one is private. A symlink is replaced itself. */
async function replaceFile(path: string, text: string, options?: { mode?: number }): Promise<void> {
  const before = await unlessMissing(lstat(path));
  const mode = options?.mode ?? (before?.isFile() ? before.mode & 0o7777 : PRIVATE_FILE);
  const neighbour = join(dirname(path), `.${basename(path).slice(0, 200)}.${crypto.randomUUID()}.tmp`);
  try {
    const handle = await open(neighbour, "wx", mode);
    try {
      await handle.writeFile(text);
      // The umask has had its say at open; the mode asked for is the mode given.
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(neighbour, path);
  } catch (error) {
    await rm(neighbour, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Without this the new name may be lost with the power, though the bytes are not. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function appendOnce(path: string, text: string, options?: { mode?: number }): Promise<void> {
  const handle = await open(path, "a", options?.mode ?? PRIVATE_FILE);
  try {
    let rest = Buffer.from(text);
    // One write on every healthy disk; a short one is followed up, so that a full disk says ENOSPC instead of nothing.
    while (rest.length > 0) {
      const { bytesWritten } = await handle.write(rest);
      rest = rest.subarray(bytesWritten);
    }
  } finally {
    await handle.close();
  }
}

async function createOnce(path: string, text: string): Promise<boolean> {
  try {
    const handle = await open(path, "wx", 0o666);
    try {
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

const COMPARED_BYTES = 1024 * 1024;

async function isBeginningOf(path: string, whole: string): Promise<boolean> {
  const [part, all] = [await open(path, "r"), await open(whole, "r")];
  try {
    const [one, other] = [Buffer.alloc(COMPARED_BYTES), Buffer.alloc(COMPARED_BYTES)];
    for (let at = 0; ; ) {
      const { bytesRead } = await part.read(one, 0, COMPARED_BYTES, at);
      if (bytesRead === 0) return true;
      const there = await all.read(other, 0, bytesRead, at);
      if (there.bytesRead < bytesRead || !one.subarray(0, bytesRead).equals(other.subarray(0, bytesRead))) return false;
      at += bytesRead;
    }
  } finally {
    await part.close();
    await all.close();
  }
}

function factsOf(stats: Stats): FileFacts {
  return {
    kind: kindOf(stats),
    size: stats.size,
    mtimeMs: stats.mtimeMs,
    mode: stats.mode & 0o7777,
    inode: stats.ino,
    device: stats.dev,
  };
}

function kindOf(stats: Stats): FileFacts["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "symlink" : "other";
}
