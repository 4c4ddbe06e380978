/**
 * Files by which a repository sets up the agents that work in it: settings, hooks, servers of tools, agents and skills
 * of the CLIs we know. Whoever writes them decides what runs beside an agent and what holds it back, so no agent writes them
 * and none of them lands without a person. Plain instructions (AGENTS.md, CLAUDE.md, GEMINI.md) are not among them: they
 * run nothing, every agent reads them as advice, and keeping them true is ordinary work.
 */

/** Directories that belong to a CLI as a whole, wherever they stand. */
const DIRECTORIES: ReadonlySet<string> = new Set([
  ".claude",
  ".claude-plugin",
  ".codex",
  ".gemini",
  ".opencode",
  ".cursor",
  ".pi",
  ".agents",
]);
const FILES: ReadonlySet<string> = new Set([".mcp.json", "opencode.json", "opencode.jsonc"]);

/** True for such a file, and for such a directory or whatever stands in its place. `path` is relative; case is ignored. */
export function setsUpAgents(path: string): boolean {
  const parts = path.toLowerCase().split("/");
  return parts.some((part) => DIRECTORIES.has(part)) || FILES.has(parts.at(-1) ?? "");
}

/** Patterns that say the same to the CLI itself, which keeps them also when no hook runs. */
export function listAgentFiles(worktree: string): string[] {
  return [...[...DIRECTORIES].map((name) => `${name}/**`), ...FILES].map((path) => `${worktree}/**/${path}`);
}
