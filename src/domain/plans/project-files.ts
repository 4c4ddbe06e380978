/**
 * What can be known of a project without running anything of it: the names of its tracked files, and the texts of the few
 * that say how it is built and tested. Which those are stands here, so that nobody reads a whole repository to find out.
 */

export interface ProjectFiles {
  /** Every tracked file, relative to the top. */
  readonly paths: readonly string[];
  /** The texts that were read, by path. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Files that say how a project is built, in the order in which they are read. */
const MANIFESTS: readonly string[] = [
  "package.json",
  "Makefile",
  "GNUmakefile",
  "makefile",
  "justfile",
  "Justfile",
  ".justfile",
  "pyproject.toml",
  "pytest.ini",
  "setup.cfg",
  "tox.ini",
  "requirements.txt",
  "requirements-dev.txt",
  "Cargo.toml",
  "go.mod",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "composer.json",
  "Gemfile",
  "Rakefile",
  "deno.json",
  "deno.jsonc",
  "mix.exs",
  "pubspec.yaml",
  "Package.swift",
];

/** What the people of a project tell whoever works in it, the most binding first. */
export const GUIDES: readonly string[] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md", "README.md"];

const WORKFLOW = /^\.github\/workflows\/[^/]+\.ya?ml$/;
const OTHER_CI: ReadonlySet<string> = new Set([".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml"]);

const MOST_WORKFLOWS = 8;
/** Below the top only directories with a manifest of their own are looked at, and not many of those. */
const MOST_NESTED = 16;

export function isCiFile(path: string): boolean {
  return WORKFLOW.test(path) || OTHER_CI.has(path);
}

/** The files worth reading, at most some fifty, whatever the repository looks like. */
export function listFilesToRead(paths: readonly string[]): string[] {
  const known = new Set([...MANIFESTS, ...GUIDES]);
  const manifests = new Set(MANIFESTS);
  const wanted = paths.filter((path) => known.has(path));
  const nested = paths.filter((path) => {
    const [, below, ...deeper] = path.split("/", 3);
    return below !== undefined && deeper.length === 0 && manifests.has(below);
  });
  // Some have dozens, most of them about issues and labels.
  const isTelling = (path: string) => /test|ci|check|build|lint|main|pr\b/i.test(path.slice(path.lastIndexOf("/")));
  const workflows = paths.filter(isCiFile);
  const ci = [...workflows.filter(isTelling), ...workflows].slice(0, MOST_WORKFLOWS);
  return [...new Set([...wanted, ...nested.slice(0, MOST_NESTED), ...ci])];
}

/** Directories right below the top that have a manifest of their own, by name. */
export function listNestedProjects({ texts }: ProjectFiles): string[] {
  const manifests = new Set(MANIFESTS);
  const found = [...texts.keys()].flatMap((path) => {
    const [directory = "", name, ...deeper] = path.split("/");
    return name !== undefined && deeper.length === 0 && manifests.has(name) ? [directory] : [];
  });
  return [...new Set(found)].toSorted();
}

/** The project of one directory alone, as if that were the top; what builds it in CI is the whole's. */
export function narrowTo(project: ProjectFiles, directory: string): ProjectFiles {
  const start = `${directory}/`;
  const own = [...project.texts].flatMap(([path, text]): [string, string][] =>
    path.startsWith(start) ? [[path.slice(start.length), text]] : isCiFile(path) ? [[path, text]] : [],
  );
  const paths = project.paths.flatMap((path) => (path.startsWith(start) ? [path.slice(start.length)] : []));
  return { paths, texts: new Map(own) };
}

/** What the project's CI says it runs, without comments; empty where there is none. */
export function readCi({ texts }: ProjectFiles): string {
  const found = [...texts].flatMap(([path, text]) => (isCiFile(path) ? [text] : []));
  return found.join("\n").replace(/^[ \t]*#.*$/gm, "");
}

/** The object that a JSON file holds; comments and trailing commas are passed over. Undefined where it is none. */
export function readJsonObject(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  const plain = text.replace(/^[ \t]*\/\/.*$/gm, "").replace(/,(?=\s*[}\]])/g, "");
  for (const one of [text, plain]) {
    try {
      const value: unknown = JSON.parse(one);
      return isObject(value) ? value : undefined;
    } catch (error) {
      // Somebody's half-edited file says nothing; the next reading of it may.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

/** The texts among the values of an object within an object, such as the scripts of a package.json. */
export function readTexts(holder: Readonly<Record<string, unknown>> | undefined, key: string): Map<string, string> {
  const value = holder !== undefined && Object.hasOwn(holder, key) ? holder[key] : undefined;
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(entries.flatMap(([name, text]) => (typeof text === "string" ? [[name, text] as const] : [])));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
