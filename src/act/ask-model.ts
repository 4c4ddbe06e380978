/**
 * Reaching a model for planner/ask-model.ts: the user's agent CLI as a one-shot, or a command of theirs that reads the
 * prompt and prints the answer. Before each call quota, budgets and the share of this tick are looked at. Every use is an
 * event with what was asked by which text, how often, and what it took; prompts and answers lie in a log beside it. A
 * model that cannot be reached is a problem like any other answer that is none: nothing depends on it.
 */
import { budgetLimits, hasBudgets } from "#config/limits.ts";
import { loadModelPrompt, type ModelPrompt } from "#config/model-prompts.ts";
import { quotaId } from "#domain/model/condition.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventSubject } from "#domain/model/event.ts";
import { DAY_MS, startOfDay, usageTotals } from "#domain/model/usage-totals.ts";
import { accountOf } from "#domain/tick/account.ts";
import { type ModelRoom, roomForCall } from "#domain/tick/model-calls.ts";
import { tripByCall } from "#domain/tick/quota.ts";
import { OverseerError } from "#errors.ts";
import {
  askModel,
  MODEL_TOO_SLOW,
  type ModelOutcome,
  type ModelQuestion,
  type ModelReply,
  mostAnswerBytes,
  NOT_ASKED,
} from "#planner/ask-model.ts";
import { presentConditions } from "#store/actions.ts";
import { livingAttempts } from "#store/attempts.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import { attemptsForBudgets } from "#store/tick.ts";
import { clip } from "#telemetry/bounds.ts";
import { redact } from "#telemetry/redact.ts";
import { filterEnvironment } from "./attempt-files.ts";
import { momentNow } from "./checks/claim-store.ts";
import type { ActParts } from "./parts.ts";
import { standOnSettings } from "./settings/stand-on-settings.ts";

export interface ModelCall {
  /** What it is asked for, as one word: "ai-resolve". */
  readonly purpose: string;
  readonly model: string | null;
  /** The agent CLI that is asked; undefined is the one of the configuration. */
  readonly runtime?: string;
  readonly timeoutMs: number;
  readonly about: EventSubject;
  /** The first of a piece of work; the others belong to it and do not wait for the next tick. */
  readonly first: boolean;
  /** Nobody waits for the answer any more: the model is ended. */
  readonly signal?: AbortSignal;
}

export type ModelAskResult<T> =
  | (Asked & { readonly kind: "answered"; readonly answer: T; readonly raw: string })
  /** There is no answer that holds; what was wrong is recorded. */
  | (Asked & Pick<ModelOutcome<T>, "problems" | "unreached"> & { readonly kind: "unanswered" })
  /** Nobody was asked, and it is worth asking again then. */
  | Held;

/** How it was asked, for whoever keeps where an answer came from. */
export interface Asked {
  /** With which text, the user's own where there is one. */
  readonly prompt: ModelPrompt;
  readonly promptHash: string;
  readonly rejected: readonly string[];
  /** Prompts and answers lie there; empty where nobody was asked. */
  readonly logPath: string;
}

export interface Held {
  readonly kind: "held";
  /** Why, as a clause. */
  readonly detail: string;
  readonly until: number;
}

export async function askWithinBudget<T>(
  parts: ActParts,
  given: ModelQuestion<T>,
  call: ModelCall,
): Promise<ModelAskResult<T>> {
  const prompt = await findPrompt(parts, given.prompt);
  if (prompt instanceof OverseerError) {
    const problems = [`${prompt.message} ${prompt.hint}`];
    return recordUnanswered(parts, given, call, { ...NOT_ASKED, problems });
  }
  const question = { ...given, prompt };
  const room = await roomNow(parts, call);
  if (!room.ok) {
    if (room.until !== null) return { kind: "held", detail: room.detail, until: room.until };
    return recordUnanswered(parts, question, call, { ...NOT_ASKED, problems: [room.detail] });
  }
  const bounded = { ...question, maxCostUsd: lower(question.maxCostUsd, room.maxCostUsd) };
  const startedAt = parts.clock.monotonic();
  const log: string[] = [];
  let limit: { readonly resetsAt: number | null } | undefined;
  const outcome = await askModel(bounded, async (text) => {
    const reply = await oneShot(parts, text, call, mostAnswerBytes(question));
    const said = "limited" in reply ? reply.limited.detail : reply.text;
    log.push(`--- prompt\n${text}\n--- answer\n${clip(said, MOST_LOGGED_BYTES)}\n`);
    if (!("limited" in reply)) return reply;
    limit = reply.limited;
    throw new Error(`The account has reached a limit: ${reply.limited.detail}`);
  });
  const durationMs = parts.clock.monotonic() - startedAt;
  if (outcome.answer === undefined) {
    const result = await recordUnanswered(parts, question, call, outcome, durationMs, log.join("\n"));
    return limit === undefined ? result : recordQuotaTrip(parts, call, limit.resetsAt);
  }
  const logPath = await record(parts, question, call, outcome, durationMs, log.join("\n"));
  const { answer, raw, promptHash, rejected } = outcome;
  return { kind: "answered", answer, raw, prompt, promptHash, rejected, logPath };
}

/** With a text of the user's own that cannot be used nobody is asked: ours in its place is not what they want. */
async function findPrompt(parts: ActParts, ours: ModelPrompt): Promise<ModelPrompt | OverseerError> {
  try {
    return await loadModelPrompt((await parts.settings()).files, parts.root, ours);
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") return error;
    throw error;
  }
}

/** What is kept of one answer in the log beside the events; a model can print for hours. */
const MOST_LOGGED_BYTES = 128 * 1024;

async function recordUnanswered<T>(
  parts: ActParts,
  question: ModelQuestion<T>,
  call: ModelCall,
  outcome: ModelOutcome<T>,
  durationMs = 0,
  log = "",
): Promise<Extract<ModelAskResult<T>, { kind: "unanswered" }>> {
  const logPath = await record(parts, question, call, outcome, durationMs, log);
  const { problems, unreached, promptHash, rejected } = outcome;
  return { kind: "unanswered", problems, unreached, prompt: question.prompt, promptHash, rejected, logPath };
}

/** Writes down that it was asked; gives the path of the log. */
async function record<T>(
  parts: ActParts,
  question: ModelQuestion<T>,
  call: ModelCall,
  outcome: ModelOutcome<T>,
  durationMs: number,
  log: string,
): Promise<string> {
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
    ...(question.prompt.own ? { ownPrompt: question.prompt.own } : {}),
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
  return logPath;
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Null for a command of the user's: whose quota that is, is theirs to know. */
async function accountAsked(parts: ActParts, call: ModelCall): Promise<string | null> {
  const { model, runtime } = await parts.config();
  return model.command === null ? accountOf(call.runtime ?? runtime) : null;
}

async function roomNow(parts: ActParts, call: ModelCall): Promise<ModelRoom> {
  const { about, first } = call;
  const config = await parts.config();
  const budgets = budgetLimits(config);
  const store = await parts.writer();
  const now = parts.clock.now();
  const { conditions } = await store.read({ conditions: presentConditions() });
  const models = conditions.find((one) => one.kind === "models");
  const { living, pulses, attempts } = hasBudgets(budgets, conditions)
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
    account: await accountAsked(parts, call),
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
async function recordQuotaTrip(parts: ActParts, call: ModelCall, resetsAt: number | null): Promise<Held> {
  const { quota } = await parts.config();
  const account = (await accountAsked(parts, call)) ?? "";
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

async function oneShot(parts: ActParts, prompt: string, call: ModelCall, most: number): Promise<Reply> {
  const { config } = await standOnSettings(parts);
  const env = filterEnvironment(parts.env, config.agents.passEnv);
  const cwd = parts.root.userDir;
  const limits = { timeoutMs: call.timeoutMs, ...(call.signal === undefined ? {} : { signal: call.signal }) };
  if (config.model.command !== null) {
    // One more than is taken, so that too much is seen to be too much.
    const options = { cwd, env, stdin: prompt, ...limits, maxBytes: most + 1 };
    const result = await parts.exec.run(["sh", "-c", config.model.command], options);
    if (call.signal?.aborted) throw toLeftError();
    if (result.timedOut || result.code !== 0) throw toUnreachedError(result.timedOut, result.stderr);
    return { text: result.stdout, costUsd: null, tokens: null };
  }
  const runtime = await parts.runtime(call.runtime ?? config.runtime);
  const { launch, stdin } = runtime.oneShot({ prompt, model: call.model, cwd, env });
  const result = await parts.exec.run(launch.argv, { cwd: launch.cwd, env: launch.env, stdin, ...limits });
  if (call.signal?.aborted) throw toLeftError();
  if (result.timedOut || (result.code !== 0 && result.stdout.trim() === "")) {
    throw toUnreachedError(result.timedOut, result.stderr);
  }
  return runtime.answer(result.stdout);
}

function toLeftError(): OverseerError {
  const message = "The model was ended: nobody waits for its answer any more.";
  return new OverseerError("environment", "MODEL_UNREACHED", message, "It is asked again later.");
}

function toUnreachedError(timedOut: boolean, said: string): OverseerError {
  const why = timedOut ? "it did not answer in time" : redact(said.trim().split("\n").at(-1) ?? "").slice(0, 200);
  return new OverseerError(
    "environment",
    timedOut ? MODEL_TOO_SLOW : "MODEL_UNREACHED",
    `The model could not be asked: ${why === "" ? "it ended without output" : why}.`,
    "It is asked again later.",
  );
}
