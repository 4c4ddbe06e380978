/**
 * The moments of a session at which an agent's CLI calls a hook, in Overseer's words: `.overseer/hooks.yaml` and the
 * hook's own command use them. What a CLI calls them, and how it tells of them, is its dialect (runtimes/hook-dialect.ts).
 */

/** Every moment Overseer listens to, in the order of a session. */
export const HOOK_MOMENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "SubagentStart",
  "SubagentStop",
  "Notification",
  "PreCompact",
  "PostCompact",
  "Stop",
  "StopFailure",
  "SessionEnd",
] as const;
export type HookMoment = (typeof HOOK_MOMENTS)[number];

/** Moments that the stream of a driven agent tells as well, and better; recorded only where there is no stream. */
const TOLD_BY_STREAM: readonly HookMoment[] = [
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "Stop",
  "StopFailure",
];

export function isHookMoment(word: string): word is HookMoment {
  return (HOOK_MOMENTS as readonly string[]).includes(word);
}

/** One source per fact: is this moment the hook's to record? The end of a step is a boundary and no fact. */
export function isRecorded(moment: HookMoment, interactive: boolean): boolean {
  return moment !== "PostToolBatch" && (interactive || !TOLD_BY_STREAM.includes(moment));
}

/**
 * Has a hook at this moment anything to do? Of a driven agent the stream tells most, so hooks are left that record what it
 * does not say, that stop the tools of an attempt which has ended, and that let the reflex speak where there is one.
 */
export function isWanted(
  moment: HookMoment,
  agent: { readonly interactive: boolean; readonly steered: boolean },
): boolean {
  if (isRecorded(moment, agent.interactive) || moment === "PreToolUse") return true;
  if (moment === "PostToolBatch") return agent.interactive || agent.steered;
  return moment === "UserPromptSubmit" && agent.steered;
}

/** Moments at which an agent can be told something. */
const BOUNDARIES = ["SessionStart", "UserPromptSubmit", "PostToolBatch", "Stop"] as const satisfies HookMoment[];
export type Boundary = (typeof BOUNDARIES)[number];

export function isBoundary(moment: HookMoment): moment is Boundary {
  return (BOUNDARIES as readonly HookMoment[]).includes(moment);
}

/** What the hook is called with for a line on the CLI's screen, which is no moment of the session. */
export const STATUS_LINE = "StatusLine";

/** A hook of the user's, from .overseer/hooks.yaml. */
export interface UserHook {
  readonly event: HookMoment;
  /** The tools (or sources) it is for; null means all. */
  readonly matcher: string | null;
  readonly command: string;
  readonly timeoutSeconds: number | null;
}

/** The name of the pipe at which an agent on its own screen is woken, in the attempt's directory. */
export const WAKE_PIPE = "wake";

/** The directory of the permit's marks, in the attempt's directory. */
export const HEARD = "heard";

/** How each of our refusals begins, so that the agent knows who refused, and we recognise it when it comes back. */
export const REFUSED = "Refused by Overseer: ";

/** What the agent reads when the permit hook could not answer at all. */
export const PERMIT_GONE =
  "Overseer's permit hook could not run, so nothing may be changed now. Do not retry; say in your report that it is missing.";

/**
 * What no agent may write even when no hook runs: the repository's git directory and Overseer's own files, as absolute
 * patterns. Agents' worktrees lie below the user's directory, so it is listed part by part.
 */
export function listOwnPaths(place: { readonly gitCommonDir: string; readonly userDir: string }): string[] {
  const own = ["roles/**", "agents/**", "config.yaml", "hooks.yaml", "manifest.yaml"];
  return [`${place.gitCommonDir}/**`, ...own.map((part) => `${place.userDir}/${part}`)];
}
