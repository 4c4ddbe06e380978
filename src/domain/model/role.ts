/**
 * A role: what kind of agent an agent is, and what follows from it. One file per role is the only source for its
 * tools, permissions, constraints, doctrine and PACE plan; prompts, the permit hook and checks are all made from it, so the
 * prompt cannot promise what the permit denies.
 * It does not read files and does not know any agent CLI: a runtime hands in which of its tools do what.
 */

import { TOOL_KINDS, type ToolKind, type ToolVocabulary } from "#domain/core/tools.ts";
import type { OwnLimits } from "./limits.ts";
import type { Supervision } from "./supervision.ts";

/**
 * What happens to a call that is not on the role's list of tools; the words are those of config.yaml.
 * default: refused when nobody watches, asked when someone does. acceptEdits: the same, but edits in the worktree run.
 * plan: only looking is allowed. bypassPermissions: everything runs, and only the permit hook stands in the way.
 */
export const PERMISSION_MODES = ["default", "acceptEdits", "bypassPermissions", "plan"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** The sentence by which an agent hears of each constraint. The permit knows them by the same names. */
export const CONSTRAINTS = {
  "worktree-only":
    "Your worktree is your workplace. Everything outside it is read-only for you, including the main checkout.",
  "file-scope": "Stay inside the file scope of your assignment. If the work needs a file outside it, ask first.",
  "no-overseer-dir": "Leave `.overseer/` alone; it belongs to the people who run the fleet.",
  "no-git-stash": "Do not use `git stash`: the stash is shared with the person's own checkout.",
  "no-git-worktree": "Do not add, move or remove worktrees.",
  "no-git-push": "Do not push, fetch into branches, or touch remotes. Overseer lands your branch.",
  "no-branch-delete": "Stay on your branch. Do not delete, rename, force or move any branch or ref.",
  "no-git-config": "Do not change git configuration, hooks or maintenance settings.",
  "no-native-subagents": "Do not start sub-agents of your own CLI; delegate work through Overseer.",
  "no-user-dialogs": "Do not open dialogs or wait for a person at the terminal; nobody is there. Ask by mail.",
  "read-only": "You read and report. You do not change, create or delete files, and you do not commit.",
  "no-new-dependencies": "Do not add dependencies; if one is truly needed, ask.",
  "keep-tests": "Do not delete, skip or weaken a test to make a check pass.",
} as const satisfies Record<string, string>;
export type Constraint = keyof typeof CONSTRAINTS;

/** These hold for every role that writes and cannot be configured away. */
export const BASE_CONSTRAINTS: readonly Constraint[] = [
  "worktree-only",
  "file-scope",
  "no-overseer-dir",
  "no-git-stash",
  "no-git-worktree",
  "no-git-push",
  "no-branch-delete",
  "no-git-config",
  "no-native-subagents",
  "no-user-dialogs",
];

export interface Doctrine {
  /** Steps between two SALUTE reports. */
  readonly saluteIntervalSteps: number;
  readonly maxStepsWithoutProgress: number;
  /** Steps between two looks of the reflex; always fewer than between two SALUTE reports. */
  readonly radioCheckSteps: number;
}

export const PACE_LEVELS = ["primary", "alternate", "contingent", "emergency"] as const;
export type PaceLevel = (typeof PACE_LEVELS)[number];

export interface Role {
  /** The role's name, and the name of its file. */
  readonly capability: string;
  readonly summary: string;
  /** Further words by which the role can be asked for. */
  readonly capabilities: readonly string[];
  /** File name in agents/ of the text that says how to work. */
  readonly definition: string;
  readonly model?: string;
  /** With which a fresh agent tries, once, where one of this role is stuck and its work would be split. */
  readonly strongerModel?: string;
  readonly runtime?: string;
  /** Tool kinds, or a runtime's own names (an MCP tool, say). */
  readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly permissionMode: PermissionMode;
  readonly readOnly: boolean;
  readonly canSpawn: boolean;
  /** A tighter limit than the fleet's on how deep this role's own agents may stand. */
  readonly maxDepth?: number;
  readonly constraints: readonly Constraint[];
  /** What of it is switched off for its agents, unless their node says otherwise. */
  readonly supervision: Supervision;
  /** A session whose work has landed may be given the next piece of the same goal, instead of a new one. */
  readonly continueSession?: boolean | undefined;
  /** Limits of its agents, over those of the fleet. */
  readonly limits?: OwnLimits;
  readonly doctrine: Doctrine;
  /** What the agent hears at each level. */
  readonly pace: Readonly<Record<PaceLevel, string>>;
}

/** All that hold for a role, in the order of the table. One that may not write at all needs no scope to write in. */
export function constraintsOf(role: Pick<Role, "constraints" | "readOnly">): readonly Constraint[] {
  const held = new Set<Constraint>([...BASE_CONSTRAINTS, ...role.constraints]);
  if (role.readOnly) {
    held.add("read-only");
    held.delete("file-scope");
  }
  return (Object.keys(CONSTRAINTS) as Constraint[]).filter((constraint) => held.has(constraint));
}

/** What a runtime can do about tools; the adapter states it. */
export interface RuntimeTools extends Pick<ToolVocabulary, "names"> {
  /** It can be told to refuse named tools. */
  readonly canDeny: boolean;
  readonly permissionModes: readonly PermissionMode[];
}

export interface ToolPolicy {
  /** The runtime's own names, sorted. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly permissionMode: PermissionMode;
  /** Why this role cannot run there as written. Not empty: the spawn is refused with these sentences. */
  readonly unmet: readonly string[];
}

/** Orchestration is Overseer's: work handed on and questions asked inside the CLI would be invisible to it. */
const NEVER: readonly ToolKind[] = ["subagent", "ask-user"];

/** The role's tools in the words of one runtime. Deny wins over allow. */
export function toolsFor(role: Role, runtime: RuntimeTools): ToolPolicy {
  const native = (tool: string): readonly string[] => (isToolKind(tool) ? runtime.names[tool] : [tool]);
  const denied = new Set([...role.tools.deny, ...NEVER, ...(role.readOnly ? ["edit"] : [])].flatMap(native));
  const allowed = new Set(role.tools.allow.flatMap(native).filter((tool) => !denied.has(tool)));
  const unmet: string[] = [];
  if (!runtime.permissionModes.includes(role.permissionMode)) {
    const offered = runtime.permissionModes.join(", ") || "none";
    unmet.push(`the runtime has no permission mode "${role.permissionMode}" (it has: ${offered})`);
  }
  if (denied.size > 0 && !runtime.canDeny) {
    unmet.push(`the runtime cannot refuse ${[...denied].toSorted().join(", ")}`);
  }
  return {
    allow: [...allowed].toSorted(),
    deny: [...denied].toSorted(),
    permissionMode: role.permissionMode,
    unmet,
  };
}

export function isToolKind(tool: string): tool is ToolKind {
  return (TOOL_KINDS as readonly string[]).includes(tool);
}

export type SpawnVerdict = { readonly allowed: true } | { readonly allowed: false; readonly because: string };

/**
 * May an agent of this role, standing at `depth` (0 = started by a person), put another agent below itself?
 * `maxDepth` counts levels: 2 allows depths 0 and 1.
 */
export function maySpawn(role: Role, place: { readonly depth: number; readonly maxDepth: number }): SpawnVerdict {
  if (!role.canSpawn) return { allowed: false, because: `the role "${role.capability}" does not sling agents` };
  const limit = Math.min(place.maxDepth, role.maxDepth ?? place.maxDepth);
  const child = place.depth + 1;
  if (child < limit) return { allowed: true };
  return { allowed: false, because: `an agent at depth ${child} would exceed the limit of ${limit} levels` };
}

export type RoleMatch =
  | { readonly kind: "found"; readonly role: Role }
  | { readonly kind: "several"; readonly capabilities: readonly string[] }
  | { readonly kind: "none" };

/** A role by its own name, or else by the one role that lists the word among its capabilities. */
export function matchRole(roles: ReadonlyMap<string, Role>, word: string): RoleMatch {
  const exact = roles.get(word);
  if (exact !== undefined) return { kind: "found", role: exact };
  const offering = [...roles.values()].filter((role) => role.capabilities.includes(word));
  const only = offering[0];
  if (only === undefined) return { kind: "none" };
  if (offering.length === 1) return { kind: "found", role: only };
  return { kind: "several", capabilities: offering.map((role) => role.capability).toSorted() };
}
