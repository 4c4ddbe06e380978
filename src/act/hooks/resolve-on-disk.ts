/**
 * Where a path really leads, also when it does not exist yet: every part that exists is followed through its links, a
 * link that points at nothing is followed too (writing through it would create its target), and `..` goes up from where
 * one really is, as the kernel does it. A path that runs in circles leads where it was written.
 */
import type { ResolvePath } from "#domain/permit/permit.ts";
import { systemCode } from "#errors.ts";
import { parentOf, resolvePath } from "#sys/paths.ts";

const MOST_LINKS = 40;

/** Where a link points; undefined when it is no link, or nothing. */
export type LinkTarget = (path: string) => string | undefined;

export function resolverOnDisk(linkTarget: LinkTarget): ResolvePath {
  return (base, path) => follow(path.startsWith("/") ? "/" : base, path, { links: 0, linkTarget });
}

function follow(base: string, path: string, budget: { links: number; readonly linkTarget: LinkTarget }): string {
  let at = base === "/" ? "/" : follow("/", base, budget);
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      at = parentOf(at);
      continue;
    }
    const next = resolvePath(at, part);
    const target = budget.linkTarget(next);
    budget.links += target === undefined ? 0 : 1;
    at =
      target === undefined || budget.links > MOST_LINKS
        ? next
        : follow(target.startsWith("/") ? "/" : at, target, budget);
  }
  return at;
}

/** The long way, where the C library cannot be asked. */
export function linkTargetByNode(path: string): string | undefined {
  const fs: typeof import("node:fs") = require("node:fs");
  try {
    // Asked first what it is: that a path is no link is the rule, and an error that is thrown costs more than the answer.
    return fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? fs.readlinkSync(path) : undefined;
  } catch (error) {
    const code = systemCode(error);
    if (code === "EINVAL" || code === "ENOENT" || code === "ENOTDIR" || code === "EACCES" || code === "ENAMETOOLONG") {
      return undefined;
    }
    throw error;
  }
}
