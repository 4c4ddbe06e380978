/** The scripts of a package.json: what each really runs, and how it is called with the project's package manager. */
import { type ProjectFiles, readJsonObject, readTexts } from "./project-files.ts";

export type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

export interface PackageScripts {
  readonly manager: PackageManager;
  /** By name, as they stand there. */
  readonly scripts: ReadonlyMap<string, string>;
  /** It names packages that have to be installed before anything runs. */
  readonly hasPackages: boolean;
}

const LOCKFILES: readonly (readonly [name: string, manager: PackageManager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
];

export function readPackageScripts({ paths, texts }: ProjectFiles): PackageScripts | undefined {
  const found = readJsonObject(texts.get("package.json"));
  if (found === undefined) return undefined;
  const named = typeof found.packageManager === "string" ? found.packageManager.split("@", 1)[0] : undefined;
  const locked = LOCKFILES.find(([name]) => paths.includes(name))?.[1];
  const manager = isManager(named) ? named : (locked ?? "npm");
  const hasPackages = ["dependencies", "devDependencies"].some((key) => readTexts(found, key).size > 0);
  return { manager, scripts: readTexts(found, "scripts"), hasPackages };
}

function isManager(word: string | undefined): word is PackageManager {
  return word === "npm" || word === "pnpm" || word === "yarn" || word === "bun";
}

/** As somebody would type it. `bun test` is a runner of its own, so bun's scripts are always named as such. */
export function callScript(manager: PackageManager, script: string): string {
  return script === "test" && manager !== "bun" ? `${manager} test` : `${manager} run ${script}`;
}

/** What makes a fresh checkout ready for its scripts; null where nothing has to be installed. */
export function installCommand({ manager, hasPackages }: PackageScripts, paths: readonly string[]): string | null {
  if (!hasPackages) return null;
  const isLocked = LOCKFILES.some(([name, of]) => of === manager && paths.includes(name));
  if (!isLocked) return `${manager} install`;
  return manager === "npm" ? "npm ci" : `${manager} install --frozen-lockfile`;
}

const CALLS = /\b(?:npm|pnpm|yarn|bun|node)\s+(?:run-script\s+|run\s+|--run\s+)?([\w:.-]+)/g;
const CALLS_SEVERAL = /\b(?:run-s|run-p|npm-run-all)((?:\s+[\w:.-]+){1,20})/g;
const MOST_EXPANDED = 40;

/** Everything that runs when a script is called: itself, what its manager runs before and after, what it calls. */
export function expandScript(scripts: ReadonlyMap<string, string>, name: string): string {
  const seen = new Set<string>();
  const open = [name];
  for (let next = open.shift(); next !== undefined && seen.size < MOST_EXPANDED; next = open.shift()) {
    const body = scripts.get(next);
    if (body === undefined || seen.has(next)) continue;
    seen.add(next);
    const called = [...body.matchAll(CALLS)].map(([, word = ""]) => word);
    const several = [...body.matchAll(CALLS_SEVERAL)].flatMap(([, words = ""]) => words.trim().split(/\s+/));
    open.push(`pre${next}`, `post${next}`, ...called, ...several);
  }
  return [...seen].map((one) => `${one}\n${scripts.get(one) ?? ""}`).join("\n");
}
