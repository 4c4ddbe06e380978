/**
 * The hook door: what an agent's own hooks run at every boundary (HOOK-1…3) where they are commands. It never harms its
 * agent: whatever is missing, busy or broken, it says nothing and ends well, and what it could not record it leaves in
 * the spool. What is answered is act/hooks/answer-moment.ts; the permit before writing tools is another program
 * (permit.ts), because that one must fail the other way.
 *
 * Every tool call waits for this, so nothing is loaded that the common case does not need.
 */
import { answerMoment } from "#act/hooks/answer-moment.ts";
import type { HookDesk } from "#act/hooks/desk.ts";
import { objectIn } from "#act/hooks/payload.ts";
import { askSeal } from "#act/hooks/seal.ts";
import { isHookMoment, STATUS_LINE } from "#domain/permit/hook-moments.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import { dialectNamed } from "#runtimes/dialects.ts";
import type { HookDialect, HookPayload } from "#runtimes/hook-dialect.ts";
import { tokenHashIn } from "#sys/attempt-token.ts";
import { assertRootAllowed } from "#sys/isolation.ts";
import { openLibc } from "#sys/libc.ts";
import { readNow } from "#sys/read-now.ts";
import { fileDesk } from "./file-desk.ts";
import { readPayload } from "./read-payload.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** What is to be printed for the agent's CLI; undefined for nothing. Never rejects. */
export async function answerHook(word: string, spoken: string | undefined, env: Env): Promise<string | undefined> {
  try {
    const payload = (await readPayload(openLibc())) ?? {};
    const attempt = Number(env.OVERSEER_ATTEMPT ?? 0);
    if (!Number.isSafeInteger(attempt) || attempt <= 0) return undefined; // somebody else's session
    const dialect = dialectNamed(spoken);
    if (word === STATUS_LINE) return await statusLine(dialect, payload, attempt, env);
    if (isHookMoment(word)) {
      const desk = await findDesk(env, attempt);
      if (!(await isTheAgent(desk, env))) return undefined;
      return await answerMoment({ moment: word, payload, fact: dialect.read(payload), dialect }, desk);
    }
    // Of a version we do not know: not ours to record. Said where only somebody at a prompt reads it.
    console.error(`overseer: "${word.slice(0, 40)}" is no event of an agent's hooks; nothing was recorded.`);
    return undefined;
  } catch {
    // HOOK-3: a hook never breaks its agent. What went wrong with the store is in the spool already; what is left
    // (no repository any more, a full disk) can be told to nobody from here.
    return undefined;
  }
}

/** Says whose screen this is, and keeps what its meters show. */
async function statusLine(dialect: HookDialect, payload: HookPayload, attempt: number, env: Env): Promise<string> {
  const { recordMeter } = require("#act/hooks/record.ts") as typeof import("#act/hooks/record.ts");
  const desk = await findDesk(env, attempt);
  if (!(await isTheAgent(desk, env))) return "overseer: this is not the agent's own session";
  const meter = dialect.readMeter(payload);
  if (meter) await recordMeter(meter, desk);
  return `${env.OVERSEER_AGENT ?? "agent"}#${attempt} · overseer`;
}

/**
 * FENCE-1: whoever calls for an attempt shows its secret; somebody else's call records nothing, whatever it says. Which one
 * it is the log says: the policy is a file that other agents can write, and counts only where the log knows none. Without
 * either nothing is known, and the store alone says whether the attempt still counts.
 */
async function isTheAgent(desk: HookDesk, env: Env): Promise<boolean> {
  const { state, policy, attempt } = desk;
  const hash = (await askSeal(desk)) ?? policy?.tokenHash;
  if (hash === undefined || hash === tokenHashIn(env)) return true;
  const { tryRecordFenced } = require("#act/hooks/fenced.ts") as typeof import("#act/hooks/fenced.ts");
  await tryRecordFenced(state, attempt, "a hook without its secret", "not-the-agent");
  return false;
}

/** We wrote OVERSEER_ROOT ourselves, so the usual place is tried before it is searched for. */
async function findDesk(env: Env, attempt: number): Promise<HookDesk> {
  const agent = env.OVERSEER_AGENT ?? "";
  const usual = `${env.OVERSEER_ROOT}/.git/overseer`;
  const policy = env.OVERSEER_ROOT ? policyBelow(usual, attempt) : undefined;
  if (policy) {
    assertRootAllowed(usual);
    return fileDesk(usual, attempt, agent, policy);
  }
  const { findRoot } = require("#sys/root.ts") as typeof import("#sys/root.ts");
  const { state } = await findRoot({ cwd: env.OVERSEER_ROOT ?? "/", env: env as Record<string, string> });
  return fileDesk(state, attempt, agent, policyBelow(state, attempt));
}

function policyBelow(state: string, attempt: number): PermitPolicy | undefined {
  const text = readNow(`${state}/run/attempts/${attempt}/policy.json`);
  return objectIn(text) as unknown as PermitPolicy | undefined;
}
