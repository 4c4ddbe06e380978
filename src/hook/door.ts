/**
 * The hook door: what an agent's own hooks run at every boundary (HOOK-1…3). It records what is the hook's to record,
 * re-primes a session that was compacted, and stops the tools of an attempt that has ended. It never harms its agent:
 * whatever is missing, busy or broken, it says nothing and ends well, and what it could not record it leaves in the
 * spool. The permit before writing tools is another program (permit.ts), because that one must fail the other way.
 *
 * Every tool call waits for this, so nothing is loaded that the common case does not need.
 */

import { needsPermit, useOf } from "#domain/core/tools.ts";
import { type HookMoment, isHookMoment, isRecorded, STATUS_LINE } from "#domain/permit/hook-moments.ts";
import type { AttemptLife, PermitPolicy } from "#domain/permit/permit.ts";
import { judgeAttempt } from "#domain/permit/permit.ts";
import { dialectNamed } from "#runtimes/dialects.ts";
import type { HookDialect, HookFact, HookPayload } from "#runtimes/hook-dialect.ts";
import { tokenHashIn } from "#sys/attempt-token.ts";
import { assertRootAllowed } from "#sys/isolation.ts";
import { openLibc } from "#sys/libc.ts";
import { readNow } from "#sys/read-now.ts";
import { objectIn, readPayload } from "./payload.ts";
import { mayBeSteered } from "./reflex-gate.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** How long a tool without a permit waits to hear whether its attempt has ended. */
const BUSY_MS = 100;

/** What the agent's CLI has told, and how it is spoken to. */
export interface HookTold {
  readonly moment: HookMoment;
  readonly payload: HookPayload;
  readonly fact: HookFact;
  readonly dialect: HookDialect;
}

/** What is to be printed for the agent's CLI; undefined for nothing. Never rejects. */
export async function answerHook(word: string, spoken: string | undefined, env: Env): Promise<string | undefined> {
  try {
    const payload = (await readPayload(openLibc())) ?? {};
    const attempt = Number(env.OVERSEER_ATTEMPT ?? 0);
    if (!Number.isSafeInteger(attempt) || attempt <= 0) return undefined; // somebody else's session
    const dialect = dialectNamed(spoken);
    if (word === STATUS_LINE) return await statusLine(dialect, payload, attempt, env);
    if (isHookMoment(word))
      return await answer({ moment: word, payload, fact: dialect.read(payload), dialect }, attempt, env);
    // Of a version we do not know: not ours to record. Said where only somebody at a prompt reads it.
    console.error(`overseer: "${word.slice(0, 40)}" is no event of an agent's hooks; nothing was recorded.`);
    return undefined;
  } catch {
    // HOOK-3: a hook never breaks its agent. What went wrong with the store is in the spool already; what is left
    // (no repository any more, a full disk) can be told to nobody from here.
    return undefined;
  }
}

async function answer(told: HookTold, attempt: number, env: Env): Promise<string | undefined> {
  const { moment, payload, fact, dialect } = told;
  const { state, policy } = await findHookContext(env, attempt);
  if (!(await isTheAgent(state, policy, attempt, env))) return undefined;
  const interactive = policy?.interactive === true;
  const directory = `${state}/run/attempts/${attempt}`;
  // A driven agent gets its messages from its runner. A sub-agent's boundary is not the agent's.
  const words =
    interactive && AT_BOUNDARIES.has(moment) && fact.sub === ""
      ? await waitingWords({ state, directory, attempt }, told)
      : undefined;
  let life: AttemptLife | undefined;
  // A stop that is answered is none: the turn continues.
  if (isRecorded(moment, interactive) && !(moment === "Stop" && words !== undefined)) {
    const { record } = require("./record.ts") as typeof import("./record.ts");
    const agent = env.OVERSEER_AGENT ?? "";
    life = await record({ dialect, moment, payload, interactive, state, attempt, agent, caps: policy?.signalCaps });
  }
  const refusable = moment === "PreToolUse" && !needsPermit(useOf(dialect.tools, fact.call.tool));
  if (refusable && policy && life !== "living") life = await lifeNow(state, attempt);
  if (life === "over") {
    const { tryRecordFenced } = require("#hook/fenced.ts") as typeof import("./fenced.ts");
    await tryRecordFenced(state, attempt, `${moment} of its hooks came after its end`);
    // FENCE-1 for the tools that the permit is not asked about; unlike there, what cannot be known is let pass.
    const reason = refusable ? judgeAttempt({ policy, attempt, life }) : undefined;
    return reason === undefined ? undefined : dialect.deny(reason);
  }
  if (words !== undefined) return words;
  if (moment === "SessionStart" && fact.source === "compact") {
    const { primeAgain } = require("#hook/prime-again.ts") as typeof import("./prime-again.ts");
    return primeAgain({ state, directory, attempt }, dialect);
  }
  if (!mayBeSteered(moment, fact, directory, interactive)) return undefined;
  const { steer } = require("./reflex.ts") as typeof import("./reflex.ts");
  const texts = await steer({ fact, dialect, state, directory, attempt, interactive });
  return texts.length === 0 ? undefined : dialect.context(moment, texts.join("\n\n"));
}

/** Where an agent on its own screen is told what waits. */
const AT_BOUNDARIES: ReadonlySet<HookMoment> = new Set<HookMoment>([
  "SessionStart",
  "UserPromptSubmit",
  "PostToolBatch",
  "Stop",
]);

/** Undefined when nothing waits, which is found out by one look. */
async function waitingWords(
  place: { readonly state: string; readonly directory: string; readonly attempt: number },
  { moment, fact, dialect }: HookTold,
): Promise<string | undefined> {
  const { somethingWaits } = require("./waiting.ts") as typeof import("./waiting.ts");
  if (!(await somethingWaits(place.state, place.attempt))) return undefined;
  const { injectAt, isBoundary, takeAtBoundary } = require("#hook/inbox.ts") as typeof import("./inbox.ts");
  if (!isBoundary(moment)) return undefined;
  if (moment !== "SessionStart" || fact.source !== "compact") return injectAt(place, moment, dialect);
  const { primeWith } = require("#hook/prime-again.ts") as typeof import("./prime-again.ts");
  return primeWith(place, await takeAtBoundary(place, moment), dialect);
}

/** Says whose screen this is, and keeps what its meters show. */
async function statusLine(dialect: HookDialect, payload: HookPayload, attempt: number, env: Env): Promise<string> {
  const { recordMeter } = require("./record.ts") as typeof import("./record.ts");
  const { state, policy } = await findHookContext(env, attempt);
  const agent = env.OVERSEER_AGENT ?? "";
  if (!(await isTheAgent(state, policy, attempt, env))) return "overseer: this is not the agent's own session";
  const meter = dialect.readMeter(payload);
  if (meter) await recordMeter(meter, { state, attempt, agent, caps: policy?.signalCaps, before: policy?.meterUsd });
  return `${env.OVERSEER_AGENT ?? "agent"}#${attempt} · overseer`;
}

/**
 * FENCE-1: whoever calls for an attempt shows its secret; somebody else's call records nothing, whatever it says. Without
 * the policy nothing is known, and the store alone says whether the attempt still counts.
 */
async function isTheAgent(
  state: string,
  policy: PermitPolicy | undefined,
  attempt: number,
  env: Env,
): Promise<boolean> {
  if (policy?.tokenHash === undefined || policy.tokenHash === tokenHashIn(env)) return true;
  const { tryRecordFenced } = require("#hook/fenced.ts") as typeof import("./fenced.ts");
  await tryRecordFenced(state, attempt, "a hook without its secret", "not-the-agent");
  return false;
}

interface HookContext {
  readonly state: string;
  readonly policy: PermitPolicy | undefined;
}

/** We wrote OVERSEER_ROOT ourselves, so the usual place is tried before it is searched for. */
async function findHookContext(env: Env, attempt: number): Promise<HookContext> {
  const usual = `${env.OVERSEER_ROOT}/.git/overseer`;
  const policy = env.OVERSEER_ROOT ? policyBelow(usual, attempt) : undefined;
  if (policy) {
    assertRootAllowed(usual);
    return { state: usual, policy };
  }
  const { findRoot } = require("#sys/root.ts") as typeof import("#sys/root.ts");
  const { state } = await findRoot({ cwd: env.OVERSEER_ROOT ?? "/", env: env as Record<string, string> });
  return { state, policy: policyBelow(state, attempt) };
}

function policyBelow(state: string, attempt: number): PermitPolicy | undefined {
  const text = readNow(`${state}/run/attempts/${attempt}/policy.json`);
  return objectIn(text) as unknown as PermitPolicy | undefined;
}

function lifeNow(state: string, attempt: number): Promise<AttemptLife> {
  const { lifeOf } = require("./life.ts") as typeof import("./life.ts");
  return lifeOf(state, attempt, BUSY_MS);
}
