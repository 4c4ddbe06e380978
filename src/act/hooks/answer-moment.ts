/**
 * What a hook answers at a moment of the session (HOOK-1…3), however it was called: what is the hook's to record is
 * recorded, a session that was compacted is primed again, messages are put before an agent on its own screen, the reflex
 * has its word, and the tools of an attempt that has ended are stopped. The permit before writing tools is
 * answer-permit.ts, because that one fails the other way.
 *
 * Where it is a program of its own every tool call waits for it, so nothing is loaded that the common case does not need.
 */
import { needsPermit, useOf } from "#domain/core/tools.ts";
import { type HookMoment, isBoundary, isRecorded } from "#domain/permit/hook-moments.ts";
import { type AttemptLife, judgeAttempt } from "#domain/permit/permit.ts";
import type { HookDialect, HookFact, HookPayload } from "#runtimes/hook-dialect.ts";
import type { HookDesk } from "./desk.ts";
import { mayBeSteered } from "./reflex-gate.ts";

/** How long a boundary waits to hear whether anything waits for it, and a tool without a permit whether its attempt has ended. */
const BUSY_MS = 100;

/** What the agent's CLI has told, and how it is spoken to. */
export interface HookTold {
  readonly moment: HookMoment;
  readonly payload: HookPayload;
  readonly fact: HookFact;
  readonly dialect: HookDialect;
}

/** What the agent's CLI is to read; undefined for nothing. Rejects when not even the spool can be written. */
export async function answerMoment(told: HookTold, desk: HookDesk): Promise<string | undefined> {
  const { moment, fact, dialect } = told;
  const { interactive, policy, attempt } = desk;
  // A driven agent gets its messages from its runner. A sub-agent's boundary is not the agent's.
  const words = interactive && isBoundary(moment) && fact.sub === "" ? await waitingWords(told, desk) : undefined;
  let life: AttemptLife | undefined;
  // A stop that is answered is none: the turn continues.
  if (isRecorded(moment, interactive) && !(moment === "Stop" && words !== undefined)) {
    const { record } = require("./record.ts") as typeof import("./record.ts");
    life = await record(told, desk);
  }
  const refusable = moment === "PreToolUse" && !needsPermit(useOf(dialect.tools, fact.call.tool));
  if (refusable && policy && life !== "living") {
    const { lifeOf } = require("./life.ts") as typeof import("./life.ts");
    life = await lifeOf(desk, BUSY_MS);
  }
  if (life === "over") {
    const { tryRecordFenced } = require("#act/hooks/fenced.ts") as typeof import("./fenced.ts");
    await tryRecordFenced(desk.state, attempt, `${moment} of its hooks came after its end`);
    // FENCE-1 for the tools that the permit is not asked about; unlike there, what cannot be known is let pass.
    const reason = refusable ? judgeAttempt({ policy, attempt, life }) : undefined;
    return reason === undefined ? undefined : dialect.deny(reason);
  }
  if (words !== undefined) return words;
  if (moment === "SessionStart" && fact.source === "compact") {
    const { primeAgain } = require("#act/hooks/prime-again.ts") as typeof import("./prime-again.ts");
    return primeAgain(desk, dialect);
  }
  if (moment === "PostToolBatch") await desk.catchUp?.();
  if (!mayBeSteered(moment, fact, desk.directory, interactive)) return undefined;
  const { steer } = require("./reflex.ts") as typeof import("./reflex.ts");
  const texts = await steer(fact, dialect, desk);
  return texts.length === 0 ? undefined : dialect.context(moment, texts.join("\n\n"));
}

/** Undefined when nothing waits, which is found out by one look. */
async function waitingWords({ moment, fact, dialect }: HookTold, desk: HookDesk): Promise<string | undefined> {
  if (!isBoundary(moment) || !(await somethingWaits(desk, moment === "Stop"))) return undefined;
  const { injectAt, takeAtBoundary } = require("#act/hooks/inbox.ts") as typeof import("./inbox.ts");
  if (moment !== "SessionStart" || fact.source !== "compact") return injectAt(desk, moment, dialect);
  const { primeWith } = require("#act/hooks/prime-again.ts") as typeof import("./prime-again.ts");
  return primeWith(desk, await takeAtBoundary(desk, moment), dialect);
}

/** False also when it cannot be known: what waits is handed over at the next boundary, and nothing is lost by waiting. */
async function somethingWaits(desk: Pick<HookDesk, "attempt" | "ask">, worthTurn: boolean): Promise<boolean> {
  const { isAnythingQueued } = require("#store/messages.ts") as typeof import("#store/messages.ts");
  try {
    return await desk.ask(isAnythingQueued(desk.attempt, worthTurn), BUSY_MS);
  } catch {
    return false;
  }
}
