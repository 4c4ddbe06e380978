/**
 * Serena works on projects, not in working directories: without one of its own, an agent's Serena would edit the user's
 * checkout (SERENA-1). What such a project is called, what its file says, and what `doctor` makes of those that are there.
 */
import { deriveHex } from "#domain/core/derived-id.ts";
import type { Finding } from "./checkup.ts";

/** Unique on this machine: two repositories of one name have different paths. */
export function serenaProjectName(project: string, worktree: string): string {
  const last = worktree.slice(worktree.lastIndexOf("/") + 1);
  return `${project}-${last}-${deriveHex(6, "serena", worktree)}`;
}

const NAME_LINE = /^project_name[ \t]*:.*$/m;

/** Under which name a project's own file has it; undefined where it has none of its own. */
export function nameInProjectFile(text: string): string | undefined {
  const written = /^project_name[ \t]*:[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[^#\r\n]*)/m.exec(text)?.[1]?.trim();
  return written === undefined || written === "" ? undefined : written.replace(/^(["'])(.*)\1$/, "$2");
}

/** What the user's own project says, under another name; from scratch, with the languages of its files, where there is none. */
export function writeProjectFile(name: string, own: string | undefined, files: readonly string[]): string {
  const line = `project_name: ${JSON.stringify(name)}`;
  if (own === undefined) return `${line}\nlanguages: ${JSON.stringify(languagesOf(files))}\n`;
  if (NAME_LINE.test(own)) return own.replace(NAME_LINE, () => line);
  return `${own}${own === "" || own.endsWith("\n") ? "" : "\n"}${line}\n`;
}

/** As Serena calls them, by how names of files end. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ...{ ts: "typescript", tsx: "typescript", js: "typescript", jsx: "typescript", mjs: "typescript", cjs: "typescript" },
  ...{ py: "python", go: "go", rs: "rust", java: "java", rb: "ruby", php: "php", cs: "csharp", kt: "kotlin" },
  ...{ c: "cpp", h: "cpp", cc: "cpp", cpp: "cpp", hpp: "cpp", swift: "swift", ex: "elixir", exs: "elixir", sh: "bash" },
};

/** The most frequent one: each costs a language server. */
function languagesOf(files: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const file of files) {
    const language = LANGUAGES[file.slice(file.lastIndexOf(".") + 1)];
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts.entries()]
    .toSorted((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1))
    .slice(0, 1)
    .map(([language]) => language);
}

/** What there is of one worktree's project. */
export interface SerenaProject {
  readonly agent: string;
  readonly worktree: string;
  /** Undefined: it has no file. */
  readonly name: string | undefined;
  readonly registered: boolean;
}

export interface SerenaFacts {
  readonly projects: readonly SerenaProject[];
  /** The names of the others: of the user's own checkout, and of whatever else is registered. */
  readonly others: readonly { readonly path: string; readonly name: string }[];
  /** Why its list cannot be read or changed; null where it can. */
  readonly problem: string | null;
}

/** SERENA-2: projects that are missing, not registered or called the same. */
export function judgeSerena({ projects, others, problem }: SerenaFacts): Finding[] {
  const check = "serena";
  const next = "'overseer doctor --fix' makes and registers them again.";
  if (problem !== null)
    return [
      { check, ok: false, detail: problem, next: "Run Serena once, or repair the file; then 'overseer doctor --fix'." },
    ];
  const findings: Finding[] = [];
  const missing = projects.filter(({ name }) => name === undefined);
  if (missing.length > 0) {
    findings.push({ check, ok: false, detail: `no project of their own have ${tellAgents(missing)}`, next });
  }
  const unknown = projects.filter(({ name, registered }) => name !== undefined && !registered);
  if (unknown.length > 0) {
    findings.push({
      check,
      ok: false,
      detail: `not registered with Serena are the projects of ${tellAgents(unknown)}`,
      next,
    });
  }
  const named = [
    ...projects.flatMap(({ name, worktree }) => (name === undefined ? [] : [{ name, path: worktree }])),
    ...others,
  ];
  for (const [name, same] of Map.groupBy(named, (one) => one.name)) {
    const paths = [...new Set(same.map(({ path }) => path))];
    if (paths.length < 2 || !projects.some((one) => one.name === name)) continue;
    const detail = `several projects of Serena's are called ${name}: ${paths.join(", ")}`;
    findings.push({
      check,
      ok: false,
      detail,
      next: "Give each a project_name of its own; tools may edit the wrong one.",
    });
  }
  if (findings.length > 0) return findings;
  return [{ check, ok: true, detail: `${projects.length} worktrees are projects of their own` }];
}

function tellAgents(projects: readonly SerenaProject[]): string {
  return projects.map(({ agent, worktree }) => `${agent} (${worktree})`).join(", ");
}
