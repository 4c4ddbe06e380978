/**
 * The permit before writing tools (SCOPE-1, FENCE-1): whatever it cannot know, it refuses. Its rules are the attempt's
 * policy, the store says whether the attempt still counts, the disk says where a path really leads; the verdict is
 * domain/permit/permit.ts. Asked by the program of that name (hook/permit.ts) and by the runner.
 */
import { interpretCall } from "#domain/core/tools.ts";
import type { AttemptLife, PermitFacts, PermitPolicy, ResolvePath } from "#domain/permit/permit.ts";
import { judgeAttempt, judgeFileTool } from "#domain/permit/permit.ts";
import { judgeShell } from "#domain/permit/permit-shell.ts";
import { messageOf } from "#errors.ts";
import type { HookDialect, HookFact } from "#runtimes/hook-dialect.ts";
import { objectIn, type Payload } from "./payload.ts";

export interface PermitDesk {
  readonly dialect: HookDialect;
  readonly policy: PermitPolicy | undefined;
  /** Whom the caller says it is; undefined where it does not say. */
  readonly attempt: number | undefined;
  readonly resolve: ResolvePath;
  life(policy: PermitPolicy): Promise<AttemptLife>;
  noteFenced(policy: PermitPolicy): Promise<unknown>;
  /** Leaves the mark of a call that is let pass. False when it cannot be left. */
  mark(policy: PermitPolicy, call: string): boolean;
}

/** The refusal; undefined when there is nothing against the call. Never rejects. */
export async function answerPermit(payload: Payload | undefined, desk: PermitDesk): Promise<string | undefined> {
  const { dialect, policy, attempt, resolve } = desk;
  const { deny } = dialect;
  try {
    if (!payload) return deny(NOT_UNDERSTOOD);
    const fact = dialect.read(payload);
    const life = policy ? await desk.life(policy) : "unknown";
    const reason = judgeCall(dialect, fact, { policy, life, attempt }, resolve);
    if (policy && life === "over") await desk.noteFenced(policy);
    if (reason !== undefined) return deny(reason);
    if (!policy || desk.mark(policy, fact.call.id)) return undefined;
    return deny("Overseer's permit hook could not leave its mark (is the disk full?), so nothing may be changed now.");
  } catch (error) {
    return deny(describePermitFailure(error));
  }
}

export const NOT_UNDERSTOOD = "This call could not be understood, so it was not made; make it smaller or simpler.";

export function describePermitFailure(error: unknown): string {
  return `Overseer's permit hook failed (${messageOf(error).slice(0, 200)}), so nothing may be changed; say so in your report.`;
}

/** A CLI that gives its calls no such name is not looked after by marks. */
export function isCallName(call: string): boolean {
  return /^[\w.-]{1,200}$/.test(call);
}

function judgeCall(dialect: HookDialect, fact: HookFact, facts: PermitFacts, resolve: ResolvePath): string | undefined {
  const { policy } = facts;
  const fenced = judgeAttempt(facts);
  if (fenced !== undefined || !policy) return fenced;
  const cwd = isAbsolute(fact.cwd) ? fact.cwd : policy.worktree;
  const { tool, input } = fact.call;
  const { use, path, command = "" } = interpretCall(dialect.tools, tool, input);
  if (use === "shell") return judgeShell(policy, command, cwd, resolve);
  return use === "edit" ? judgeFileTool(policy, { tool, path, cwd }, resolve) : undefined;
}

/** The rules in the text of a policy file; undefined when they are not whole. */
export function policyIn(text: string | undefined): PermitPolicy | undefined {
  const value = objectIn(text) as Partial<PermitPolicy> | undefined;
  const whole =
    value?.v === 1 &&
    typeof value.attempt === "number" &&
    typeof value.readOnly === "boolean" &&
    (value.scope === null || Array.isArray(value.scope)) &&
    Array.isArray(value.scratch) &&
    isAbsolute(value.worktree) &&
    isAbsolute(value.mainCheckout) &&
    isAbsolute(value.gitCommonDir) &&
    isAbsolute(value.state);
  return whole ? (value as PermitPolicy) : undefined;
}

function isAbsolute(path: string | undefined): boolean {
  return path?.startsWith("/") === true;
}
