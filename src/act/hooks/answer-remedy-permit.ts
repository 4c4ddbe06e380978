/**
 * The permit of a remediating agent (GUARD-7): it has no attempt and must not need the store, which may be what is
 * broken. Its rules are its policy file, the disk says where a path really leads, the verdict is
 * domain/permit/remedy-permit.ts. Whatever it cannot know, it refuses.
 */
import { interpretCall } from "#domain/core/tools.ts";
import type { ResolvePath } from "#domain/permit/permit.ts";
import { judgeRemedyFileTool, judgeRemedyShell, type RemedyPolicy } from "#domain/permit/remedy-permit.ts";
import type { HookDialect, HookFact } from "#runtimes/hook-dialect.ts";
import { describePermitFailure, NOT_UNDERSTOOD } from "./answer-permit.ts";
import type { Payload } from "./payload.ts";

export interface RemedyDesk {
  readonly dialect: HookDialect;
  readonly policy: RemedyPolicy;
  readonly resolve: ResolvePath;
  /** Leaves the mark of a call that is let pass. False when it cannot be left. */
  mark(call: string): boolean;
}

/** The refusal; undefined when there is nothing against the call. Never throws. */
export function answerRemedyPermit(payload: Payload | undefined, desk: RemedyDesk): string | undefined {
  const { deny } = desk.dialect;
  try {
    if (!payload) return deny(NOT_UNDERSTOOD);
    const fact = desk.dialect.read(payload);
    const reason = judgeCall(desk, fact);
    if (reason !== undefined) return deny(reason);
    return desk.mark(fact.call.id)
      ? undefined
      : deny("Overseer's permit hook could not leave its mark (is the disk full?), so nothing may be changed now.");
  } catch (error) {
    return deny(describePermitFailure(error));
  }
}

function judgeCall({ dialect, policy, resolve }: RemedyDesk, { cwd: said, call }: HookFact): string | undefined {
  const cwd = said.startsWith("/") ? said : policy.project;
  const { use, path, command } = interpretCall(dialect.tools, call.tool, call.input);
  if (use === "shell") return judgeRemedyShell(policy, command ?? "", cwd, resolve);
  if (use === "edit") return judgeRemedyFileTool(policy, { tool: call.tool, path, cwd }, resolve);
  // It is asked before every tool: what servers of tools and CLIs to come bring along is nothing it may use.
  return use === "read" || use === "search" || use === "book"
    ? undefined
    : `${call.tool.slice(0, 80)} is not for a remediation: read, search, edit the settings, or run a command that reads.`;
}
