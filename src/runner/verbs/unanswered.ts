/**
 * What an agent's command says and does when its runner did not carry it out: refused it, does not answer, or fell silent
 * in the middle. Nothing is ever written past the runner; a report, whose loss would be worse than its delay, is kept in
 * the attempt's spool and signed, and taken by whoever has the attempt next.
 */
import { launchFilePath } from "#act/attempt-files.ts";
import { keepReport } from "#act/updates/kept-report.ts";
import { isQuestion, isReport } from "#domain/agents/verbs.ts";
import { diskError, type ErrorKind, EXIT_CODES, messageOf } from "#errors.ts";
import { TOKEN_VARIABLE } from "#sys/attempt-token.ts";
import { readNow } from "#sys/read-now.ts";
import { findRoot, type Root } from "#sys/root.ts";
import type { VerbAnswer } from "./client.ts";

export interface UnansweredCall {
  /** Of the request that nobody answered. */
  readonly salt: string;
  readonly words: readonly string[];
  readonly attempt: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The fields of a report; the exit code when its words are wrong, which it has said then. */
  readReport(): Promise<{ readonly fields: unknown } | { readonly code: number }>;
  /** That it spoke after its end is in the log once. False when there never was such an attempt. Never rejects. */
  noteEnded(state: string): Promise<boolean>;
  say(text: string): void;
}

interface Said {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** The exit code. */
export async function explainUnanswered(
  answer: Exclude<VerbAnswer, { kind: "done" }>,
  call: UnansweredCall,
): Promise<number> {
  if (answer.kind === "refused") return say(call, answer.refusal);
  const root = await findRoot({ cwd: call.cwd, env: call.env as Record<string, string> });
  if (readNow(launchFilePath({ root }, call.attempt)) === undefined) {
    const isKnown = hasState(root) && (await call.noteEnded(root.state));
    return say(call, isKnown ? hasEnded(call.attempt) : isUnknown(call.attempt, root));
  }
  if (isReport(call.words)) return keep(call, root, call.env[TOKEN_VARIABLE]);
  return say(call, answer.kind === "cut" ? cutOff(call.attempt) : away(call.attempt, answer.frozen));
}

async function keep(call: UnansweredCall, root: Root, token: string | undefined): Promise<number> {
  const read = await call.readReport();
  if ("code" in read) return read.code;
  const said = isQuestion(call.words) ? "question" : "report";
  if (token === undefined) return say(call, withoutToken(call.attempt, said));
  try {
    keepReport(root.state, token, { attempt: call.attempt, id: call.salt, at: Date.now(), fields: read.fields });
  } catch (error) {
    const { message, hint } = diskError(error) ?? { message: `${messageOf(error)}.`, hint: "Try again later." };
    return say(call, { kind: "environment", code: "NOT_KEPT", message: notKept(call.attempt, said, message), hint });
  }
  return say(call, {
    kind: "unconfirmed",
    code: "REPORT_KEPT",
    message: `The runner of attempt #${call.attempt} does not answer; your ${said} is kept, and is taken as soon as it does, or when Overseer looks after this attempt.`,
    hint: "Do not repeat it. You can end your turn.",
  });
}

function notKept(attempt: number, said: string, why: string): string {
  return `The runner of attempt #${attempt} does not answer, and the ${said} could not be kept: ${why}`;
}

const FROM_THE_AGENT = "Run it from the agent itself, with the environment it was started with.";

/** What is kept is signed, so that it is nobody else's. */
function withoutToken(attempt: number, said: string): Said {
  const message = notKept(attempt, said, `${TOKEN_VARIABLE} is missing.`);
  return { kind: "conflict", code: "NOT_THE_AGENT", message, hint: FROM_THE_AGENT };
}

function isUnknown(attempt: number, { project }: Root): Said {
  const message = `There is no attempt #${attempt} in ${project}.`;
  return { kind: "conflict", code: "NOT_THE_AGENT", message, hint: FROM_THE_AGENT };
}

/** A repository without Overseer stays one. */
function hasState({ state }: Root): boolean {
  const { existsSync } = require("node:fs") as typeof import("node:fs");
  return existsSync(state);
}

function away(attempt: number, frozen: boolean): Said {
  return {
    kind: "environment",
    code: "RUNNER_AWAY",
    message: `The runner of attempt #${attempt} ${frozen ? "did not answer in time" : "does not answer"}; nothing was done.`,
    hint: "Try once more in a minute. Reports and questions are kept meanwhile; Overseer looks after a runner that has died.",
  };
}

function cutOff(attempt: number): Said {
  return {
    kind: "unconfirmed",
    code: "CUT_OFF",
    message: `The runner of attempt #${attempt} fell silent before this was finished; it may have been done or not.`,
    hint: "Look before you repeat it, for example with 'overseer mail list' or 'overseer agents list'.",
  };
}

function hasEnded(attempt: number): Said {
  return {
    kind: "conflict",
    code: "ATTEMPT_FENCED",
    message: `Attempt #${attempt} has ended; what it says no longer counts.`,
    hint: "Nothing to do: another attempt has taken over, or it was stopped.",
  };
}

function say(call: UnansweredCall, said: Said): number {
  const { kind, code, message, hint } = said;
  const end = call.words.indexOf("--");
  const asJson = (end < 0 ? call.words : call.words.slice(0, end)).includes("--json");
  if (asJson) call.say(JSON.stringify({ error: { kind, code, message, hint } }));
  else call.say(`overseer: ${message}\n  hint: ${hint}`);
  return EXIT_CODES[kind];
}
