/**
 * The guard before writing tools (SCOPE-1, FENCE-1), a program of its own because it fails the other way: whatever it
 * cannot know, it refuses. Its rules are the policy file it is started with, the store says whether its attempt still
 * counts, the disk says where a path really leads; the verdict is domain/guard.ts. An answer is always printed and the
 * exit is always 0: a shell that sees anything else prints the refusal itself (domain/hook-settings.ts).
 */
import type { GuardCall, GuardPolicy } from "#domain/guard.ts";
import { judgeAttempt, judgeFileTool } from "#domain/guard.ts";
import { judgeShell } from "#domain/guard-shell.ts";
import { denial } from "#domain/hook-settings.ts";
import { messageOf } from "#errors.ts";
import { readNow } from "#sys/read-now.ts";
import { lifeOf } from "./life.ts";
import type { Payload } from "./payload.ts";
import { objectIn, readPayload } from "./payload.ts";
import { resolveOnDisk } from "./resolve-on-disk.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Readers seldom wait at all; one that has to is given this long before it counts as not knowing. */
const BUSY_MS = 2_000;

/** The refusal to print; undefined when there is nothing against the call. Never rejects. */
export async function answerGuard(policyFile: string, env: Env): Promise<string | undefined> {
  try {
    const payload = await readPayload();
    if (!payload) return denial("This call could not be understood, so it was not made; make it smaller or simpler.");
    const reason = judge(payload, policyIn(policyFile), env);
    return reason === undefined ? undefined : denial(reason);
  } catch (error) {
    return denial(
      `Overseer's guard failed (${messageOf(error).slice(0, 200)}), so nothing may be changed; say so in your report.`,
    );
  }
}

function judge(payload: Payload, policy: GuardPolicy | undefined, env: Env): string | undefined {
  const life = policy ? lifeOf(`${policy.state}/overseer.db`, policy.attempt, BUSY_MS) : "unknown";
  const attempt = env.OVERSEER_ATTEMPT ? Number(env.OVERSEER_ATTEMPT) : undefined;
  const fenced = judgeAttempt({ policy, attempt, life });
  if (fenced !== undefined || !policy) return fenced;
  const call = callOf(payload, policy);
  switch (call.tool) {
    case "Bash":
      return judgeShell(policy, String(call.input.command ?? ""), call.cwd, resolveOnDisk);
    case "Write":
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return judgeFileTool(policy, call, resolveOnDisk);
    default:
      return undefined;
  }
}

function callOf(payload: Payload, policy: GuardPolicy): GuardCall {
  const { tool_name: tool, tool_input: input, cwd } = payload;
  return {
    tool: typeof tool === "string" ? tool : "",
    input: typeof input === "object" && input !== null ? (input as Payload) : {},
    cwd: typeof cwd === "string" && cwd.startsWith("/") ? cwd : policy.worktree,
  };
}

function policyIn(path: string): GuardPolicy | undefined {
  const value = objectIn(readNow(path)) as Partial<GuardPolicy> | undefined;
  const whole =
    value?.v === 1 &&
    typeof value.attempt === "number" &&
    typeof value.readOnly === "boolean" &&
    (value.scope === null || Array.isArray(value.scope)) &&
    Array.isArray(value.scratch) &&
    [value.worktree, value.mainCheckout, value.gitCommonDir, value.state].every((path) => path?.startsWith("/"));
  return whole ? (value as GuardPolicy) : undefined;
}
