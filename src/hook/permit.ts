/**
 * The permit before writing tools (SCOPE-1, FENCE-1), a program of its own because it fails the other way: whatever it
 * cannot know, it refuses. Its rules are the policy file it is started with, the store says whether its attempt still
 * counts, the disk says where a path really leads; the verdict is domain/permit/permit.ts. An answer is always printed and the
 * exit is always 0: a shell that sees anything else prints the refusal itself (its settings).
 */

import { interpretCall } from "#domain/core/tools.ts";
import type { PermitFacts, PermitPolicy, ResolvePath } from "#domain/permit/permit.ts";
import { judgeAttempt, judgeFileTool } from "#domain/permit/permit.ts";
import { judgeShell } from "#domain/permit/permit-shell.ts";
import { messageOf } from "#errors.ts";
import { dialectNamed } from "#runtimes/dialects.ts";
import type { HookDialect, HookFact } from "#runtimes/hook-dialect.ts";
import { type Libc, openLibc } from "#sys/libc.ts";
import { readNow } from "#sys/read-now.ts";
import { lifeOf } from "./life.ts";
import { objectIn, readPayload } from "./payload.ts";
import { linkTargetByNode, resolverOnDisk } from "./resolve-on-disk.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Readers seldom wait at all; one that has to is given this long before it counts as not knowing. */
const BUSY_MS = 2_000;

/** The refusal to print; undefined when there is nothing against the call. Never rejects. */
export async function answerPermit(
  policyFile: string,
  spoken: string | undefined,
  env: Env,
): Promise<string | undefined> {
  const dialect = dialectNamed(spoken);
  const { deny } = dialect;
  try {
    const libc = openLibc();
    const payload = await readPayload(libc);
    if (!payload) return deny("This call could not be understood, so it was not made; make it smaller or simpler.");
    const fact = dialect.read(payload);
    const policy = policyIn(policyFile);
    const life = policy ? await lifeOf(policy.state, policy.attempt, BUSY_MS) : "unknown";
    const resolve = resolverOnDisk(libc?.linkTarget ?? linkTargetByNode);
    const reason = judge(dialect, fact, { policy, life, attempt: attemptIn(env) }, resolve);
    if (policy && life === "over") {
      const { tryRecordFenced } = require("#hook/fenced.ts") as typeof import("./fenced.ts");
      await tryRecordFenced(policy.state, policy.attempt, "it wanted to change something after its end");
    }
    if (reason !== undefined) return deny(reason);
    if (policy?.heard === undefined || leaveMark(libc, policy.heard, fact.call.id)) return undefined;
    return deny("Overseer's permit hook could not leave its mark (is the disk full?), so nothing may be changed now.");
  } catch (error) {
    return deny(
      `Overseer's permit hook failed (${messageOf(error).slice(0, 200)}), so nothing may be changed; say so in your report.`,
    );
  }
}

/** A link, because it takes one call and nothing else; what it is called is all it says. Left already is left too. */
function leaveMark(libc: Libc | undefined, directory: string, call: string): boolean {
  // A CLI that gives its calls no such name is not looked after in this way.
  if (!/^[\w.-]{1,200}$/.test(call)) return true;
  const path = `${directory}/${call}`;
  if (libc?.makeLink(path, "heard")) return true;
  if ((libc?.linkTarget ?? linkTargetByNode)(path) !== undefined) return true;
  if (libc) return false;
  const { symlinkSync } = require("node:fs") as typeof import("node:fs");
  symlinkSync("heard", path);
  return true;
}

function judge(dialect: HookDialect, fact: HookFact, facts: PermitFacts, resolve: ResolvePath): string | undefined {
  const { policy } = facts;
  const fenced = judgeAttempt(facts);
  if (fenced !== undefined || !policy) return fenced;
  const cwd = isAbsolute(fact.cwd) ? fact.cwd : policy.worktree;
  const { tool, input } = fact.call;
  const { use, path, command = "" } = interpretCall(dialect.tools, tool, input);
  if (use === "shell") return judgeShell(policy, command, cwd, resolve);
  return use === "edit" ? judgeFileTool(policy, { tool, path, cwd }, resolve) : undefined;
}

function attemptIn(env: Env): number | undefined {
  return env.OVERSEER_ATTEMPT ? Number(env.OVERSEER_ATTEMPT) : undefined;
}

function policyIn(path: string): PermitPolicy | undefined {
  const value = objectIn(readNow(path)) as Partial<PermitPolicy> | undefined;
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
