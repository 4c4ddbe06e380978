/**
 * What of a worktree's ignored files may go with it without a word: what anybody can make again from what is committed.
 * Judged by name alone, part by part of the path, so that the answer can be read off a list: the names below are those
 * of dependencies, build products and caches in common use; `worktree.rebuildable` adds a project's own. What is not on
 * a list is taken for somebody's work. Pure.
 */

/** `*` stands for any run of signs within one name. */
export const REBUILDABLE: readonly string[] = [
  // dependencies
  ...[
    "node_modules",
    "bower_components",
    ".pnpm-store",
    ".venv",
    "venv",
    "site-packages",
    "Pods",
    ".bundle",
    "elm-stuff",
  ],
  // build products
  ...["target", "build", "dist", "out", "_build", "DerivedData", ".next", ".nuxt", ".svelte-kit", ".output", ".gradle"],
  ...["*.o", "*.a", "*.so", "*.dylib", "*.obj", "*.class", "*.pyc", "*.pyo", "*.egg-info", "*.tsbuildinfo"],
  // caches and reports of tools
  ...[
    "__pycache__",
    ".cache",
    ".parcel-cache",
    ".turbo",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
  ],
  ...[".eslintcache", ".stylelintcache", "coverage", ".nyc_output", ".coverage", ".DS_Store", "Thumbs.db"],
];

/** True when one of the names on the path is on the list. */
export function isRebuildable(path: string, names: readonly string[]): boolean {
  const parts = path.split("/").filter((part) => part !== "");
  return names.some((name) => {
    const pattern = patternOf(name.replace(/\/$/, ""));
    return parts.some((part) => pattern.test(part));
  });
}

function patternOf(name: string): RegExp {
  const literal = name.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`, "s");
}

/** Something in a worktree that none of our refs can hold. */
export interface Loss {
  /** As seen from the worktree; a directory ends with a slash. */
  readonly path: string;
  readonly what: "ignored" | "large" | "unreadable" | "special" | "repository";
  readonly files?: number;
  readonly bytes?: number;
  /** Why it cannot be kept, where that is not plain from what it is. */
  readonly because?: string;
}

const NAMED = 5;

/** One line for people: the largest first, and how many more there are. */
export function describeLosses(losses: readonly Loss[]): string {
  const named = losses.toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0)).slice(0, NAMED);
  const more = losses.length - named.length;
  return `${named.map(describe).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const WHAT: Readonly<Record<Loss["what"], string>> = {
  ignored: "ignored",
  large: "over the limit of wip.maxFile",
  unreadable: "cannot be read",
  special: "not a file",
  repository: "a repository",
};

function describe({ path, what, files, bytes, because }: Loss): string {
  const size = bytes === undefined ? "" : `, ${describeSize(bytes)}`;
  const many = files !== undefined && files > 1 ? `, ${files} files` : "";
  return `${path} (${WHAT[what]}${many}${size}${because === undefined ? "" : `: ${because}`})`;
}

export function describeSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let [size, unit] = [bytes / 1024, 0];
  for (; size >= 1024 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
