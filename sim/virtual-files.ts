/**
 * A file system in memory that keeps the contract of Files, errors included, and can be broken on purpose: a full or
 * read-only disk is one call. It holds text, directories and symlinks; it has no users, and modes are only remembered.
 */
import type { FileFacts, Files } from "#sys/files.ts";
import { nameOf, parentOf, resolvePath } from "#sys/paths.ts";

export interface DiskFault {
  readonly code: "ENOSPC" | "EROFS" | "EIO" | "EACCES" | "EDQUOT";
  /** Only paths at or below this directory; default: everywhere. */
  readonly under?: string;
  /** Default: whatever changes the disk, except that a full disk still lets things be removed and renamed. */
  readonly operations?: readonly (keyof Files)[];
}

export interface MemoryFiles extends Files {
  /** From now on the disk fails this way; the function returned ends it. */
  failing(fault: DiskFault): () => void;
  /** Makes a symlink, which the port itself never does. */
  link(target: string, path: string): void;
  /** As sys/read-now.ts does it. */
  readNow(path: string): string | undefined;
  /** What freeBytes answers; the fake does not count. */
  free: number;
}

interface Common {
  readonly inode: number;
  mode: number;
  mtimeMs: number;
}
type FileNode = Common & { readonly kind: "file"; text: string };
type DirectoryNode = Common & { readonly kind: "directory"; readonly children: Map<string, Node> };
type LinkNode = Common & { readonly kind: "symlink"; readonly target: string };
type Node = FileNode | DirectoryNode | LinkNode;

const GROWING: readonly (keyof Files)[] = ["write", "append", "create", "copy", "makeDir"];
const CHANGING: readonly (keyof Files)[] = [...GROWING, "remove", "removeUnlessFull", "rename"];
const LONGEST_LINK_CHAIN = 40;

export function memoryFiles({ now = () => 0 }: { now?: () => number } = {}): MemoryFiles {
  let inodes = 0;
  const common = (mode: number): Common => {
    inodes += 1;
    return { inode: inodes, mode, mtimeMs: now() };
  };
  const root: DirectoryNode = { kind: "directory", children: new Map(), ...common(0o755) };
  const faults = new Set<DiskFault>();

  /** Where a path leads: the directory that holds it, its name there, and what is there now; or why it leads nowhere. */
  const seek = (path: string, follow: boolean, hops = 0): DirectoryEntry | Nowhere => {
    const absolute = resolvePath("/", path);
    if (absolute === "/") return { directory: root, name: "", node: root, real: "/" };
    const above = directoryAbove(absolute, hops);
    if (typeof above === "string") return above;
    const name = nameOf(absolute);
    const node = above.directory.children.get(name);
    if (follow && node?.kind === "symlink") {
      if (hops >= LONGEST_LINK_CHAIN) throw new DiskError("ELOOP", absolute);
      return seek(resolvePath(above.real, node.target), true, hops + 1);
    }
    return { directory: above.directory, name, node, real: above.real === "/" ? `/${name}` : `${above.real}/${name}` };
  };

  /** The same where it has to lead somewhere. */
  const locate = (path: string, follow: boolean): DirectoryEntry => {
    const place = seek(path, follow);
    if (typeof place === "string") throw new DiskError(place, path);
    return place;
  };

  /** What is there; undefined for what the real calls answer with ENOENT or ENOTDIR. */
  const nodeAt = (path: string, follow: boolean): Node | undefined => {
    const place = seek(path, follow);
    return typeof place === "string" ? undefined : place.node;
  };

  /** The directory that holds it, walked to from the top; links on the way are followed. */
  const directoryAbove = (absolute: string, hops: number): { directory: DirectoryNode; real: string } | Nowhere => {
    let directory = root;
    for (let at = 1, end = absolute.indexOf("/", 1); end > 0; at = end + 1, end = absolute.indexOf("/", at)) {
      const child = directory.children.get(absolute.slice(at, end));
      if (child === undefined) return "ENOENT";
      if (child.kind === "file") return "ENOTDIR";
      if (child.kind === "symlink") return throughLink(absolute, hops);
      directory = child;
    }
    return { directory, real: parentOf(absolute) };
  };

  const throughLink = (absolute: string, hops: number): { directory: DirectoryNode; real: string } | Nowhere => {
    const place = seek(parentOf(absolute), true, hops);
    if (typeof place === "string") return place;
    const { node, real } = place;
    if (node === undefined) return "ENOENT";
    return node.kind === "directory" ? { directory: node, real } : "ENOTDIR";
  };

  const put = ({ directory, name }: DirectoryEntry, node: Node): void => {
    directory.children.set(name, node);
    directory.mtimeMs = now();
  };

  const check = (operation: keyof Files, path: string): void => {
    for (const { code, under = "/", operations } of faults) {
      const concerned = operations ?? (code === "ENOSPC" || code === "EDQUOT" ? GROWING : CHANGING);
      const prefix = under === "/" ? "/" : `${resolvePath("/", under)}/`;
      if (concerned.includes(operation) && `${resolvePath("/", path)}/`.startsWith(prefix))
        throw new DiskError(code, path);
    }
  };

  const makeDir = (path: string, mode: number): void => {
    const absolute = resolvePath("/", path);
    const there = nodeAt(absolute, true);
    if (there?.kind === "directory") return;
    if (there !== undefined) throw new DiskError("EEXIST", absolute);
    if (nodeAt(parentOf(absolute), true) === undefined) makeDir(parentOf(absolute), mode);
    // Locating it says ENOTDIR when the way there leads through a file.
    put(locate(absolute, true), { kind: "directory", children: new Map(), ...common(mode) });
  };

  const files: Files = {
    read: async (path) => {
      check("read", path);
      const node = nodeAt(path, true);
      return node?.kind === "file" ? node.text : undefined;
    },
    write: async (path, text, options) => {
      check("write", path);
      const place = locate(path, false);
      if (place.node?.kind === "directory") throw new DiskError("EISDIR", path);
      const kept = place.node?.kind === "file" ? place.node.mode : 0o600;
      put(place, { kind: "file", text, ...common(options?.mode ?? kept) });
    },
    append: async (path, text, options) => {
      check("append", path);
      const place = locate(path, true);
      if (place.node?.kind === "directory") throw new DiskError("EISDIR", path);
      if (place.node?.kind === "file") Object.assign(place.node, { text: place.node.text + text, mtimeMs: now() });
      else put(place, { kind: "file", text, ...common(options?.mode ?? 0o600) });
    },
    create: async (path, text) => {
      check("create", path);
      const place = locate(path, false);
      if (place.node !== undefined) return false;
      put(place, { kind: "file", text, ...common(0o644) });
      return true;
    },
    copy: async (from, to) => {
      check("copy", to);
      const node = nodeAt(from, true);
      if (node?.kind !== "file") throw new DiskError("ENOENT", from);
      put(locate(to, true), { kind: "file", text: node.text, ...common(node.mode) });
    },
    isBeginningOf: async (path, whole) => {
      check("isBeginningOf", path);
      const [part, all] = [nodeAt(path, true), nodeAt(whole, true)];
      if (part?.kind !== "file" || all?.kind !== "file") throw new DiskError("ENOENT", path);
      return all.text.startsWith(part.text);
    },
    facts: async (path) => {
      check("facts", path);
      const node = nodeAt(path, false);
      return node && factsOf(node);
    },
    list: async (path) => {
      check("list", path);
      const node = nodeAt(path, true);
      return node?.kind === "directory" ? [...node.children.keys()].sort() : undefined;
    },
    makeDir: async (path, options) => {
      check("makeDir", path);
      makeDir(path, options?.mode ?? 0o755);
    },
    remove: async (path) => {
      check("remove", path);
      const place = seek(path, false);
      if (typeof place !== "string") place.directory.children.delete(place.name);
    },
    removeUnlessFull: async (path) => {
      check("removeUnlessFull", path);
      const place = seek(path, false);
      if (typeof place === "string" || (place.node?.kind === "directory" && place.node.children.size > 0)) return;
      place.directory.children.delete(place.name);
    },
    rename: async (from, to) => {
      check("rename", from);
      check("rename", to);
      move(locate(from, false), locate(to, false));
    },
    realPath: async (path) => {
      check("realPath", path);
      const { node, real } = locate(path, true);
      if (node === undefined) throw new DiskError("ENOENT", path);
      return real;
    },
    freeBytes: async (path) => {
      check("freeBytes", path);
      if (locate(path, true).node === undefined) throw new DiskError("ENOENT", path);
      return memory.free;
    },
  };

  const move = (source: DirectoryEntry, target: DirectoryEntry): void => {
    const { node } = source;
    if (node === undefined) throw new DiskError("ENOENT", source.real);
    if (`${target.real}/`.startsWith(`${source.real}/`) && target.real !== source.real)
      throw new DiskError("EINVAL", target.real);
    if (target.node?.kind === "directory") {
      if (node.kind !== "directory") throw new DiskError("EISDIR", target.real);
      if (target.node.children.size > 0 && target.node !== node) throw new DiskError("ENOTEMPTY", target.real);
    } else if (target.node !== undefined && node.kind === "directory") throw new DiskError("ENOTDIR", target.real);
    source.directory.children.delete(source.name);
    put(target, node);
  };

  const memory: MemoryFiles = {
    ...files,
    free: 2 ** 40,
    failing: (fault) => {
      faults.add(fault);
      return () => void faults.delete(fault);
    },
    readNow: (path) => {
      const node = nodeAt(path, true);
      return node?.kind === "file" ? node.text : undefined;
    },
    link: (target, path) => put(locate(path, false), { kind: "symlink", target, ...common(0o777) }),
  };
  return memory;
}

interface DirectoryEntry {
  readonly directory: DirectoryNode;
  readonly name: string;
  readonly node: Node | undefined;
  readonly real: string;
}

/** Why a path leads nowhere: something on the way is missing, or is a file. Asking for it is no fault in itself. */
type Nowhere = "ENOENT" | "ENOTDIR";

class DiskError extends Error {
  constructor(
    readonly code: string,
    path: string,
  ) {
    super(`${code}: '${path}'`);
  }
}

function factsOf(node: Node): FileFacts {
  const size = node.kind === "file" ? new TextEncoder().encode(node.text).length : 0;
  return { kind: node.kind, size, mtimeMs: node.mtimeMs, mode: node.mode, inode: node.inode, device: 1 };
}
