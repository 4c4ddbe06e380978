/**
 * Reaching a model for planner/ask-model.ts: the user's agent CLI as a one-shot, or a command of theirs that reads the
 * prompt and prints the answer. Every use is an event with what was asked by which text, how often, and what it cost;
 * prompts and answers lie in a log beside it. A model that cannot be reached is a problem like any other answer that is
 * none: nothing depends on it.
 */
import type { EventSubject } from "#domain/event.ts";
import { accept } from "#domain/refusal.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { askModel, type ModelQuestion, type ModelReply } from "#planner/ask-model.ts";
import { redact } from "#telemetry/redact.ts";
import { passedEnvironment } from "./attempt-files.ts";
import { momentNow } from "./claim-store.ts";
import type { ActParts } from "./parts.ts";

export interface ModelCall {
  /** What it is asked for, as one word: "ai-resolve". */
  readonly purpose: string;
  readonly model: string | null;
  readonly timeoutMs: number;
  readonly about: EventSubject;
}

/** The answer, or undefined when there is none that holds; both are recorded. */
export async function ask<T>(parts: ActParts, question: ModelQuestion<T>, call: ModelCall): Promise<T | undefined> {
  const callId = parts.ids.next("Q_");
  const logPath = `${parts.root.state}/logs/models/${callId}.log`;
  await parts.files.makeDir(`${parts.root.state}/logs/models`, { mode: 0o700 });
  const startedAt = parts.clock.monotonic();
  const log: string[] = [];
  const reached = async (prompt: string): Promise<ModelReply> => {
    const reply = await oneShot(parts, prompt, call);
    log.push(`--- prompt\n${prompt}\n--- answer\n${reply.text}\n`);
    return reply;
  };
  const none = { answer: undefined, tries: 0, costUsd: null, promptHash: "", inputBytes: 0 };
  const outcome = await askModel(question, reached).catch((error: unknown) => ({
    ...none,
    problems: [messageOf(error)],
  }));
  await parts.files.write(logPath, redact(log.join("\n")));
  const { now, actor } = momentNow(parts);
  const data = {
    callId,
    purpose: call.purpose,
    prompt: question.prompt.id,
    promptHash: outcome.promptHash,
    model: call.model,
    tries: outcome.tries,
    ok: outcome.answer !== undefined,
    problems: outcome.problems.slice(0, 10).map((problem) => redact(problem).slice(0, 500)),
    inputBytes: outcome.inputBytes,
    costUsd: outcome.costUsd,
    durationMs: Math.max(0, Math.round(parts.clock.monotonic() - startedAt)),
    logPath,
  };
  const event = { type: "model.asked", actor, ...call.about, because: call.purpose, data } as const;
  await (await parts.writer()).commit({ at: now, reads: {}, decide: () => accept([event], null) });
  return outcome.answer;
}

async function oneShot(parts: ActParts, prompt: string, call: ModelCall): Promise<ModelReply> {
  const config = await parts.config();
  const env = passedEnvironment(parts.env, config.agents.passEnv);
  const cwd = parts.root.state;
  if (config.model.command !== null) {
    const options = { cwd, env, stdin: prompt, timeoutMs: call.timeoutMs };
    const result = await parts.exec.run(["sh", "-c", config.model.command], options);
    if (result.timedOut || result.code !== 0) throw unreached(result.timedOut, result.stderr);
    return { text: result.stdout, costUsd: null };
  }
  const runtime = await parts.runtime(config.runtime);
  const { launch, stdin } = runtime.oneShot({ prompt, model: call.model, cwd, env });
  const options = { cwd: launch.cwd, env: launch.env, stdin, timeoutMs: call.timeoutMs };
  const result = await parts.exec.run(launch.argv, options);
  if (result.timedOut) throw unreached(true, "");
  return runtime.answer(result.stdout);
}

function unreached(timedOut: boolean, said: string): OverseerError {
  const why = timedOut ? "it did not answer in time" : redact(said.trim().split("\n").at(-1) ?? "").slice(0, 200);
  return new OverseerError(
    "environment",
    "MODEL_UNREACHED",
    `The model could not be asked: ${why}.`,
    "It is asked again later.",
  );
}
