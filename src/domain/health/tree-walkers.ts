/**
 * Tools of the user's that walk the whole tree and find the worktrees of agents in it: their tests would run too, their
 * packages would count twice. Worktrees lie inside the repository, so that whatever is looked for upwards (node_modules,
 * configurations) is found from there; what keeps such a tool out is a line of its own configuration. Tools that pass over
 * directories whose names begin with a dot (bun, pytest, go, tsc, ripgrep) are not told. Pure.
 */

export interface TreeWalker {
  readonly tool: string;
  /** What to write, and where. */
  readonly advice: string;
}

interface PackageFile {
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly devDependencies?: Readonly<Record<string, unknown>>;
  readonly jest?: unknown;
}

/** Those that this project uses, by its package.json; none where that cannot be read. `ignored` is where worktrees lie. */
export function findTreeWalkers(packageJson: string | undefined, ignored: string): TreeWalker[] {
  const found = parsePackage(packageJson);
  if (!found) return [];
  const packages = { ...found.dependencies, ...found.devDependencies };
  const scripts = Object.values(found.scripts ?? {}).filter((one) => typeof one === "string");
  const runs = (pattern: RegExp) => scripts.some((script) => pattern.test(script));
  const walkers: TreeWalker[] = [];
  // With files or patterns behind it, it looks nowhere else.
  if (runs(/\bnode\b[^&|;]*\s--test(?:\s+--?\S+)*\s*(?:$|[&|;])/)) {
    walkers.push({ tool: "node --test", advice: "name your tests, as in: node --test test/*.test.js" });
  }
  if ("jest" in packages || found.jest !== undefined) {
    const pattern = `["<rootDir>/${ignored}/"]`;
    walkers.push({
      tool: "jest",
      advice: `add modulePathIgnorePatterns and testPathIgnorePatterns: ${pattern} to its configuration`,
    });
  }
  if ("vitest" in packages) {
    walkers.push({
      tool: "vitest",
      advice: `add "**/${ignored}/**" to test.exclude, behind ...configDefaults.exclude`,
    });
  }
  // Before version 9 it passes over folders whose names begin with a dot.
  const eslint = Number(/\d+/.exec(String(packages.eslint ?? ""))?.[0] ?? Number.POSITIVE_INFINITY);
  if ("eslint" in packages && (eslint >= 9 || !ignored.startsWith("."))) {
    walkers.push({ tool: "eslint", advice: `add { ignores: ["${ignored}/"] } to eslint.config.js` });
  }
  return walkers;
}

function parsePackage(text: string | undefined): PackageFile | undefined {
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as PackageFile) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
