/**
 * What an agent may not do with its tools (SCOPE-1, FENCE-1), decided before it happens. Files: nothing outside its
 * worktree or its scope, nothing by a role that only reads, nothing into git's or Overseer's own directories, nothing
 * that sets up agents (agent-files.ts). Attempts:
 * nothing at all once another has taken over, or when that cannot be known. Each refusal is one sentence that says what
 * to do instead, because an agent that only hears "no" tries again.
 *
 * Shell commands are judged in permit-shell.ts, as advice: a shell can always be outwitted. What holds is elsewhere: the
 * main checkout is compared at the end of a turn, and landing refuses a diff outside the scope.
 */

import { inScope } from "#domain/core/scope.ts";
import { setsUpAgents } from "./agent-files.ts";

/** Written beside the agent's settings when it is started; the permit knows nothing else about it. */
export interface PermitPolicy {
  readonly v: 1;
  readonly attempt: number;
  readonly agent: string;
  /** Of the attempt's secret (sys/attempt-token.ts); undefined when an older version started it. */
  readonly tokenHash?: string;
  /** Absolute, free of symlinks. */
  readonly worktree: string;
  /** Paths inside the worktree that are its to change; null means all of them. */
  readonly scope: readonly string[] | null;
  readonly readOnly: boolean;
  readonly mainCheckout: string;
  readonly gitCommonDir: string;
  readonly state: string;
  /** Directories where a command may leave its output; writing tools have no business there. */
  readonly scratch: readonly string[];
  /** Where the permit leaves its mark for each call that it lets pass; the runner looks for it there. */
  readonly heard?: string;
  /** What the CLI's meter showed when the attempt ended whose session this one continues with. */
  readonly meterUsd?: number;
  /** In a session with a screen, hooks are the source of turns and tool calls; else the stream is. */
  readonly interactive: boolean;
  /** How long the texts may be that hooks keep, in bytes, as it was configured when the agent was started. */
  readonly signalCaps: { readonly textBytes: number; readonly saidBytes: number };
}

export interface PermitCall {
  readonly tool: string;
  /** The file it names, as the agent wrote it. */
  readonly path: string | undefined;
  /** Where the agent stands; absolute. */
  readonly cwd: string;
}

/** What the store says about the attempt; `unknown` when it cannot be read. */
export type AttemptLife = "living" | "over" | "unknown";

/** The absolute path that a path means, seen from a directory, symlinks followed as far as the path exists. */
export type ResolvePath = (base: string, path: string) => string;

export interface PermitFacts {
  readonly policy: PermitPolicy | undefined;
  /** OVERSEER_ATTEMPT of the agent's environment, where it has one. */
  readonly attempt: number | undefined;
  readonly life: AttemptLife;
}

/** Why the attempt may do nothing any more; undefined when it may. */
export function judgeAttempt({ policy, attempt, life }: PermitFacts): string | undefined {
  if (!policy) return "The rules of this attempt are missing, so it may change nothing; end your turn now.";
  if (attempt !== undefined && attempt !== policy.attempt) {
    return `These are the rules of attempt #${policy.attempt}, not of #${attempt}, so nothing may be changed; end your turn now.`;
  }
  if (life === "over") {
    return `Attempt #${policy.attempt} has ended and somebody else may have taken its work; stop now, nothing you do counts any more.`;
  }
  if (life === "unknown") {
    return "Overseer's database cannot be read, so nothing may be changed now; wait a moment, try once more, then end your turn and say so.";
  }
  return undefined;
}

/** Why a file may not be written; undefined when it may. `path` is absolute and resolved. */
export function judgeWrite(policy: PermitPolicy, path: string): string | undefined {
  if (policy.readOnly) return "Your role only reads: report what should change instead of changing it.";
  const inside = isInside(policy.worktree, path);
  const ours = isInside(policy.state, path) || isInside(`${policy.mainCheckout}/.overseer`, path);
  if (!inside && (ours || isInside(policy.gitCommonDir, path))) {
    return `${path} belongs to ${ours ? "Overseer" : "git"}, not to you; work inside ${policy.worktree} only.`;
  }
  if (!inside) return `${path} is outside your worktree; write below ${policy.worktree} instead.`;
  const relative = path.slice(policy.worktree.length + 1);
  if (relative === "" || relative === ".git" || relative.startsWith(".git/")) {
    return `${path} is git's own; use git commands instead of writing there.`;
  }
  if (setsUpAgents(relative)) {
    return `${relative} sets up the agents themselves, so only people change it; say in your report what should be in it.`;
  }
  if (policy.scope && !inScope(relative, policy.scope)) {
    return `${relative} is outside your files (${formatScope(policy.scope)}); if it has to change, ask whoever gave you the work.`;
  }
  return undefined;
}

/** Why a writing tool may not be used as asked; undefined when it may, or when the tool is none of these. */
export function judgeFileTool(policy: PermitPolicy, call: PermitCall, resolve: ResolvePath): string | undefined {
  const { path } = call;
  if (path === undefined || path === "" || path.includes("\0")) {
    return policy.readOnly ? judgeWrite(policy, "") : `${call.tool} names no file; give an absolute path.`;
  }
  return judgeWrite(policy, resolve(call.cwd, path));
}

/** True for the directory itself and everything below it. Both absolute and normal. */
export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

function formatScope(scope: readonly string[]): string {
  const shown = scope.slice(0, 5).join(", ");
  return scope.length > 5 ? `${shown} and ${scope.length - 5} more` : shown;
}
