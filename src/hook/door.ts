/**
 * The hook door: what an agent's own hooks run at every boundary (HOOK-1…3). It records what is the hook's to record,
 * re-primes a session that was compacted, and stops the tools of an attempt that is over. It never harms its agent:
 * whatever is missing, busy or broken, it says nothing and ends well, and what it could not record it leaves in the
 * spool. The guard before writing tools is another program (guard.ts), because that one must fail the other way.
 *
 * Every tool call waits for this, so nothing is loaded that the common case does not need.
 */
import type { GuardPolicy } from "#domain/guard.ts";
import { judgeAttempt } from "#domain/guard.ts";
import type { HookEventName } from "#domain/hook-settings.ts";
import { denial, GUARDED_TOOLS, HOOK_EVENTS, isRecorded, STATUS_LINE } from "#domain/hook-settings.ts";
import type { HookPayload } from "#runtimes/hook-signals.ts";
import { assertRootAllowed } from "#sys/isolation.ts";
import { readNow } from "#sys/read-now.ts";
import { objectIn, readPayload } from "./payload.ts";
import { mayBeSteered } from "./reflex-gate.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** How long an unguarded tool waits to hear whether its attempt is over. */
const BUSY_MS = 100;

/** What is to be printed for the agent's CLI; undefined for nothing. Never rejects. */
export async function answerHook(word: string, env: Env): Promise<string | undefined> {
  try {
    const payload = (await readPayload()) ?? {};
    const event = HOOK_EVENTS.find((name) => name === word);
    const attempt = Number(env.OVERSEER_ATTEMPT ?? 0);
    if (!Number.isSafeInteger(attempt) || attempt <= 0) return undefined; // somebody else's session
    if (word === STATUS_LINE) return await statusLine(payload, attempt, env);
    if (event === undefined) return undefined; // of a version we do not know: not ours to record
    return await answer(event, payload, attempt, env);
  } catch {
    // HOOK-3: a hook never breaks its agent. What went wrong with the store is in the spool already; what is left
    // (no repository any more, a full disk) can be told to nobody from here.
    return undefined;
  }
}

async function answer(
  event: HookEventName,
  payload: HookPayload,
  attempt: number,
  env: Env,
): Promise<string | undefined> {
  const state = await stateDir(env, attempt);
  const directory = `${state}/run/attempts/${attempt}`;
  const policy = objectIn(readNow(`${directory}/policy.json`)) as unknown as GuardPolicy | undefined;
  const interactive = policy?.interactive === true;
  if (isRecorded(event, interactive)) {
    const { record } = require("./record.ts") as typeof import("./record.ts");
    record({ event, payload, interactive, state, attempt, agent: env.OVERSEER_AGENT ?? "" });
  }
  if (event === "PreToolUse") return refusalWhenOver(policy, payload.tool_name, state, attempt);
  if (event === "SessionStart" && payload.source === "compact") {
    const { primeAgain } = require("#hook/prime-again.ts") as typeof import("#hook/prime-again.ts");
    return primeAgain({ state, directory, attempt });
  }
  if (!mayBeSteered(event, payload, directory, interactive)) return undefined;
  const { contextAnswer, steer } = require("./reflex.ts") as typeof import("./reflex.ts");
  return contextAnswer(event, await steer({ payload, state, directory, attempt, interactive }));
}

/** Says whose screen this is, and keeps what its meters show. */
async function statusLine(payload: HookPayload, attempt: number, env: Env): Promise<string> {
  const { recordMeter } = require("./record.ts") as typeof import("./record.ts");
  recordMeter(payload, await stateDir(env, attempt), attempt, env.OVERSEER_AGENT ?? "");
  return `${env.OVERSEER_AGENT ?? "agent"}#${attempt} · overseer`;
}

/** We wrote OVERSEER_ROOT ourselves, so the usual place is tried before it is searched for. */
async function stateDir(env: Env, attempt: number): Promise<string> {
  const usual = `${env.OVERSEER_ROOT}/.overseer`;
  if (env.OVERSEER_ROOT && readNow(`${usual}/run/attempts/${attempt}/policy.json`) !== undefined) {
    assertRootAllowed(usual);
    return usual;
  }
  const { findRoot } = require("#sys/root.ts") as typeof import("#sys/root.ts");
  return (await findRoot({ cwd: env.OVERSEER_ROOT ?? "/", env: env as Record<string, string> })).state;
}

/** FENCE-1 for the tools that the guard is not asked about; unlike there, what cannot be known is let pass. */
function refusalWhenOver(
  policy: GuardPolicy | undefined,
  tool: unknown,
  state: string,
  attempt: number,
): string | undefined {
  if (!policy || GUARDED_TOOLS.some((name) => name === tool)) return undefined;
  const { lifeOf } = require("./life.ts") as typeof import("./life.ts");
  const life = lifeOf(`${state}/overseer.db`, attempt, BUSY_MS);
  if (life !== "over") return undefined;
  const reason = judgeAttempt({ policy, attempt, life });
  return reason === undefined ? undefined : denial(reason);
}
