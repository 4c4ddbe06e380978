/**
 * What `init` puts into `.overseer/`: a short configuration, the base roles with their definitions, the index, a place
 * for hooks, and a .gitignore of its own, so that no file of the user's has to be changed. All of it is theirs from
 * then on: a file that exists is never touched again, whatever it holds.
 * Pure: it says which files there should be; writing them is the caller's.
 */
import configText from "#prompts/scaffold/config.yaml" with { type: "text" };
import hooksText from "#prompts/scaffold/hooks.yaml" with { type: "text" };
import { BUILT_IN_DEFINITIONS } from "./definitions.ts";
import { BUILT_IN_ROLES, readRole, renderManifest } from "./roles.ts";

export interface ScaffoldFile {
  /** Inside `.overseer/`, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** What is proposed as the most that all agents together spend in one day, in US dollars. */
export const PROPOSED_DAY_COST = 50;

/** Every file of a fresh `.overseer/`, sorted by path. Without a cost for a day, its lines stand there as a comment. */
export function scaffold(dayCost: number | null = null): readonly ScaffoldFile[] {
  const files: ScaffoldFile[] = [
    { path: ".gitignore", text: GITIGNORE },
    { path: "config.yaml", text: dayCost === null ? starterConfig : withDayCost(dayCost) },
    { path: "hooks.yaml", text: starterHooks },
    { path: "manifest.yaml", text: manifest() },
    ...[...BUILT_IN_ROLES].map(([name, text]) => ({ path: `roles/${name}.yaml`, text: roleHeader(name) + text })),
    ...[...BUILT_IN_DEFINITIONS].map(([name, text]) => ({
      path: `agents/${name}`,
      text: definitionHeader(name) + text,
    })),
  ];
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

export interface ScaffoldPlan {
  readonly create: readonly ScaffoldFile[];
  /** There already; `changed` when it differs from what a fresh one would hold. */
  readonly keep: readonly { readonly path: string; readonly changed: boolean }[];
}

/** What is still to be written, given what is there. Running it again after writing leaves nothing to create. */
export function planScaffold(existing: ReadonlyMap<string, string>, dayCost: number | null = null): ScaffoldPlan {
  const files = scaffold(dayCost);
  return {
    create: files.filter((file) => !existing.has(file.path)),
    keep: files
      .filter((file) => existing.has(file.path))
      .map(({ path, text }) => ({ path, changed: existing.get(path) !== text })),
  };
}

const starterConfig: string = configText;
const starterHooks: string = hooksText;

function withDayCost(cost: number): string {
  return starterConfig.replace(/^# budgets:\n# {3}day: .*$/m, `budgets:\n  day: { cost: ${cost} }`);
}

const GITIGNORE = `# Written by \`overseer init\`. What Overseer puts here while it runs stays out of git; the files you edit do not.
/worktrees/
/salute/
/manual_intervention_needed_*.txt
`;

function manifest(): string {
  const header = `# The index of roles: which file describes each capability, and which text tells its agents how to work.
# The role files say everything; this list is checked against them. Add a line when you add a role.
`;
  return (
    header + renderManifest([...BUILT_IN_ROLES].map(([name, text]) => readRole(`builtin:${name}.yaml`, text, name)))
  );
}

function roleHeader(name: string): string {
  return `# The role "${name}". Yours to edit. A key that stands here wins over the built-in role; a key you remove, or the
# whole file, goes back to it. For one agent, flags of \`overseer sling\` win over this file.
`;
}

function definitionHeader(name: string): string {
  return `<!-- How agents of this role work. Yours to edit. While this file exists it is used instead of the built-in ${name};
delete it to go back. Words in double braces are filled in from the role and from what the command line accepts. This
comment is not shown to agents. -->
`;
}
