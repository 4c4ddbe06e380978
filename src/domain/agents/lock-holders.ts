/**
 * Whether every process that could hold a lock at a path can be seen from here. It cannot where the file system is another
 * machine's too, and where we live among our own processes (a container) and the path was handed in from outside. Pure: it reads
 * what the kernel says of mounts.
 */

/** Another machine, or the one around this one, may be at work there. */
const SHARED_TYPES = /^(nfs\d*|cifs|smb\d*|9p|virtiofs|ceph|afs|glusterfs|lustre|gpfs|vboxsf|prl_fs|fuse\b.*)$/;

export interface Surroundings {
  /** `/proc/self/mountinfo`; undefined where there is none. */
  readonly mounts: string | undefined;
  /** Whether all processes of this machine are ours to see, or only those of a container. */
  readonly seesMachine: boolean;
}

export function areHoldersSeen(path: string, { mounts, seesMachine }: Surroundings): boolean {
  const mount = mounts === undefined ? undefined : findMount(mounts, path);
  if (mount === undefined || SHARED_TYPES.test(mount.type)) return false;
  // A directory of another file system that was put here: whoever did it has it too.
  return seesMachine || mount.within === "/";
}

interface Mount {
  readonly type: string;
  /** Which part of that file system it is. */
  readonly within: string;
}

/** `id parent device root point options … - type source options`; the last of the longest counts. */
function findMount(mounts: string, path: string): Mount | undefined {
  let found: (Mount & { readonly point: string }) | undefined;
  for (const line of mounts.split("\n")) {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , within = "", point = ""] = before.split(" ").map(unescapeMount);
    const [type = ""] = after.split(" ");
    const isAbove = point === "/" || path === point || path.startsWith(`${point}/`);
    if (point !== "" && isAbove && point.length >= (found?.point.length ?? 0)) found = { type, within, point };
  }
  return found;
}

/** Spaces, tabs, newlines and backslashes are octal there. */
function unescapeMount(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
