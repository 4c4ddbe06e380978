/**
 * Reaching a model for planner/ask-model.ts: the user's agent CLI as a one-shot, or a command of theirs that reads the
 * prompt and prints the answer. Before each call quota, budgets and the share of this tick are looked at. Every use is an
 * event with what was asked by which text, how often, and what it took; prompts and answers lie in a log beside it. A
 * model that cannot be reached is a problem like any other answer that is none: nothing depends on it.
 */
import { budgetLimits, hasBudgets } from "#config/limits.ts";
import { quotaId } from "#domain/model/condition.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventSubject } from "#domain/model/event.ts";
import { DAY_MS, startOfDay, usageTotals } from "#domain/model/usage-totals.ts";
import { accountOf } from "#domain/tick/account.ts";
import { type ModelRoom, roomForCall } from "#domain/tick/model-calls.ts";
import { tripByCall } from "#domain/tick/quota.ts";
import { OverseerError } from "#errors.ts";
import { askModel, type ModelOutcome, type ModelQuestion, type ModelReply } from "#planner/ask-model.ts";
import { presentConditions } from "#store/actions.ts";
import { livingAttempts } from "#store/attempts.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import { attemptsForBudgets } from "#store/tick.ts";
import { redact } from "#telemetry/redact.ts";
import { filterEnvironment } from "./attempt-files.ts";
import { momentNow } from "./checks/claim-store.ts";
import type { ActParts } from "./parts.ts";
import { standOnSettings } from "./settings/stand-on-settings.ts";

export interface ModelCall {
  /** What it is asked for, as one word: "ai-resolve". */
  readonly purpose: string;
  readonly model: string | null;
  readonly timeoutMs: number;
  readonly about: EventSubject;
  /** The first of a piece of work; the others belong to it and do not wait for the next tick. */
  readonly first: boolean;
}

export type ModelAskResult<T> =
  | { readonly kind: "answered"; readonly answer: T }
  /** There is no answer that holds; what was wrong is recorded. */
  | { readonly kind: "unanswered" }
  /** Nobody was asked, and it is worth asking again then. */
  | Held;

export interface Held {
  readonly kind: "held";
  /** Why, as a clause. */
  readonly detail: string;
  readonly until: number;
}

export async function askWithinBudget<T>(
  parts: ActParts,
  question: ModelQuestion<T>,
  call: ModelCall,
): Promise<ModelAskResult<T>> {
  const room = await roomNow(parts, call);
  if (!room.ok) {
    if (room.until !== null) return { kind: "held", detail: room.detail, until: room.until };
    await record(parts, question, call, { ...NOT_ASKED, problems: [room.detail] }, 0, "");
    return { kind: "unanswered" };
  }
  const { maxCostUsd } = room;
  const bounded = { ...question, maxCostUsd: lower(question.maxCostUsd, maxCostUsd) };
  const startedAt = parts.clock.monotonic();
  const log: string[] = [];
  let limit: { readonly resetsAt: number | null } | undefined;
  const outcome = await askModel(bounded, async (prompt) => {
    const reply = await oneShot(parts, prompt, call);
    log.push(`--- prompt\n${prompt}\n--- answer\n${"limited" in reply ? reply.limited.detail : reply.text}\n`);
    if (!("limited" in reply)) return reply;
    limit = reply.limited;
    throw new Error(`The account has reached a limit: ${reply.limited.detail}`);
  });
  await record(parts, question, call, outcome, parts.clock.monotonic() - startedAt, log.join("\n"));
  if (limit !== undefined) return recordQuotaTrip(parts, limit.resetsAt);
  return outcome.answer === undefined ? { kind: "unanswered" } : { kind: "answered", answer: outcome.answer };
}

const NOT_ASKED = {
  answer: undefined,
  tries: 0,
  costUsd: null,
  tokens: null,
  promptHash: "",
  inputBytes: 0,
} as const;

async function record<T>(
  parts: ActParts,
  question: ModelQuestion<T>,
  call: ModelCall,
  outcome: ModelOutcome<T>,
  durationMs: number,
  log: string,
): Promise<void> {
  const callId = parts.ids.next("Q_");
  const logPath = log === "" ? "" : `${parts.root.state}/logs/models/${callId}.log`;
  if (log !== "") {
    await parts.files.makeDir(`${parts.root.state}/logs/models`, { mode: 0o700 });
    await parts.files.write(logPath, redact(log));
  }
  const { now, actor } = momentNow(parts);
  const { promptHash, tries, inputBytes, costUsd, tokens } = outcome;
  const data = {
    callId,
    purpose: call.purpose,
    prompt: question.prompt.id,
    promptHash,
    model: call.model,
    tries,
    ok: outcome.answer !== undefined,
    problems: outcome.problems.slice(0, 10).map((problem) => redact(problem).slice(0, 500)),
    inputBytes,
    costUsd,
    tokens,
    durationMs: Math.max(0, Math.round(durationMs)),
    logPath,
  };
  const event = { type: "model.asked", actor, ...call.about, because: call.purpose, data } as const;
  await (await parts.writer()).commit({ at: now, reads: {}, decide: () => accept([event], null) });
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Null for a command of the user's: whose quota that is, is theirs to know. */
async function accountAsked(parts: ActParts): Promise<string | null> {
  const { model, runtime } = await parts.config();
  return model.command === null ? accountOf(runtime) : null;
}

async function roomNow(parts: ActParts, { about, first }: ModelCall): Promise<ModelRoom> {
  const config = await parts.config();
  const budgets = budgetLimits(config);
  const store = await parts.writer();
  const now = parts.clock.now();
  const { conditions } = await store.read({ conditions: presentConditions() });
  const models = conditions.find((one) => one.kind === "models");
  const { living, pulses, attempts } = hasBudgets(budgets)
    ? await store.read({
        living: livingAttempts(),
        pulses: pulsesOfLiving(),
        attempts: attemptsForBudgets(startOfDay(now) - DAY_MS),
      })
    : { living: [], pulses: [], attempts: [] };
  const seen = living.map((attempt) => ({
    attempt,
    usage: pulses.find((pulse) => pulse.attempt === attempt.attempt)?.usage,
  }));
  return roomForCall({
    now,
    account: await accountAsked(parts),
    goalId: about.goalId,
    conditions,
    usage: usageTotals(seen, attempts, models, now),
    budgets,
    perTick: config.reconcile.modelCallsPerTick,
    tickMs: config.reconcile.tickEvery,
    first,
  });
}

/** Everybody else of that account is spared the same experience. */
async function recordQuotaTrip(parts: ActParts, resetsAt: number | null): Promise<Held> {
  const { quota } = await parts.config();
  const account = (await accountAsked(parts)) ?? "";
  const now = parts.clock.now();
  const backoff = { baseMs: quota.backoff.base, maxMs: quota.backoff.max };
  await (await parts.writer()).commit({
    at: now,
    reads: { conditions: presentConditions() },
    decide: ({ conditions }) => {
      const known = conditions.find(({ conditionId }) => conditionId === quotaId(account));
      return accept(tripByCall(known, account, resetsAt, backoff, now), null);
    },
  });
  const { conditions } = await (await parts.writer()).read({ conditions: presentConditions() });
  const known = conditions.find(({ conditionId }) => conditionId === quotaId(account));
  const until = known?.kind === "quota" ? known.until : now + backoff.baseMs;
  return { kind: "held", detail: `the quota of ${account} is used up, so no model can be asked`, until };
}

type Reply = ModelReply | { readonly limited: { readonly resetsAt: number | null; readonly detail: string } };

async function oneShot(parts: ActParts, prompt: string, call: ModelCall): Promise<Reply> {
  const { config } = await standOnSettings(parts);
  const env = filterEnvironment(parts.env, config.agents.passEnv);
  const cwd = parts.root.userDir;
  if (config.model.command !== null) {
    const options = { cwd, env, stdin: prompt, timeoutMs: call.timeoutMs };
    const result = await parts.exec.run(["sh", "-c", config.model.command], options);
    if (result.timedOut || result.code !== 0) throw toUnreachedError(result.timedOut, result.stderr);
    return { text: result.stdout, costUsd: null, tokens: null };
  }
  const runtime = await parts.runtime(config.runtime);
  const { launch, stdin } = runtime.oneShot({ prompt, model: call.model, cwd, env });
  const options = { cwd: launch.cwd, env: launch.env, stdin, timeoutMs: call.timeoutMs };
  const result = await parts.exec.run(launch.argv, options);
  if (result.timedOut || (result.code !== 0 && result.stdout.trim() === "")) {
    throw toUnreachedError(result.timedOut, result.stderr);
  }
  return runtime.answer(result.stdout);
}

function toUnreachedError(timedOut: boolean, said: string): OverseerError {
  const why = timedOut ? "it did not answer in time" : redact(said.trim().split("\n").at(-1) ?? "").slice(0, 200);
  return new OverseerError(
    "environment",
    "MODEL_UNREACHED",
    `The model could not be asked: ${why === "" ? "it ended without output" : why}.`,
    "It is asked again later.",
  );
}
