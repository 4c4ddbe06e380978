/**
 * Looks who calls the program before a command runs (FENCE-1). A process that names an attempt was started by that
 * attempt's runner, which vouches for it; only where the runner is an older one it shows the attempt's secret. One that names none speaks for the person, unless it, or one above it, carries the mark of an agent, a check or
 * the tmux server of this repository. What was refused is in the log once; how it is judged is domain/core/caller.ts.
 */
import { AGENT_MARK, attemptDir, CHECK_MARK, REMEDY_MARK, RUNNER_MARK } from "#act/attempt-files.ts";
import type { FencedBecause } from "#act/fence.ts";
import type { Claimed, Mark, NotTheCaller, RecordedAttempt } from "#domain/core/caller.ts";
import {
  judgeClaim,
  judgeWay,
  notThePerson,
  readMark,
  refuseElsewhere,
  remedyMayLook,
  startsServer,
} from "#domain/core/caller.ts";
import { parsePlace } from "#domain/health/place.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";
import { findAbove, isCalledAbove } from "#sys/ancestors.ts";
import { hashOfToken, tokenHashIn } from "#sys/attempt-token.ts";
import { readNow } from "#sys/read-now.ts";
import type { Root } from "#sys/root.ts";
import { runFiles } from "#sys/run-files.ts";
import { SERVER_MARK } from "#terminals/tmux-commands.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface CallerParts {
  readonly env: Env;
  /** Throws where there is no repository. */
  root(): Promise<Root>;
  /** What the runner vouched with that started this process; undefined when none did. */
  readonly key?: string;
  /** As the log has it; undefined when it knows no such attempt. */
  attemptIn(root: Root, attempt: number): Promise<Attempt | undefined>;
  /** Never rejects. */
  noteFenced(root: Root, attempt: number, what: string, because: FencedBecause): Promise<void>;
}

/** Throws conflict/NOT_THE_AGENT or conflict/NOT_THE_PERSON. */
export async function assertCaller(parts: CallerParts, called: string): Promise<void> {
  if (parts.env.OVERSEER_ATTEMPT) return assertAgent(parts);
  await assertPerson(parts, called);
}

async function assertAgent(parts: CallerParts): Promise<void> {
  const { env } = parts;
  const root = await parts.root();
  const attempt = Number(env.OVERSEER_ATTEMPT);
  const mark = readNamedMark(AGENT_MARK, env[AGENT_MARK]);
  // Nothing is written there: what an agent is told elsewhere is no business of that repository's log.
  if (mark && !here(root, mark)) throw toRefusalError("NOT_THE_AGENT", refuseElsewhere(attempt, root.project));
  const claimed = { attempt, agent: env.OVERSEER_AGENT, tokenHash: tokenHashIn(env) };
  const no = await judgeAgent(parts, root, claimed);
  if (!no) return;
  await parts.noteFenced(root, attempt, no.what, no.tooLate ? "attempt-over" : "not-the-agent");
  throw toRefusalError(no.tooLate ? "ATTEMPT_FENCED" : "NOT_THE_AGENT", no);
}

async function judgeAgent(parts: CallerParts, root: Root, claimed: Claimed): Promise<NotTheCaller | undefined> {
  const known = Number.isSafeInteger(claimed.attempt) && claimed.attempt > 0;
  const logged = known ? await parts.attemptIn(root, claimed.attempt) : undefined;
  const vouched = parts.key === undefined ? undefined : hashOfToken(parts.key);
  const way = judgeWay(
    claimed,
    logged && { isUp: logged.runner !== null, hasEnded: logged.status === "ended", seals: logged.seals },
    vouched,
  );
  return way === "by-files" ? judgeClaim(claimed, readRecordedAttempt(root, claimed.attempt)) : way;
}

/** As the sling wrote it down, beside what the permit goes by. */
function readRecordedAttempt(root: Root, attempt: number): RecordedAttempt | undefined {
  if (!Number.isSafeInteger(attempt) || attempt <= 0) return undefined;
  const text = readNow(`${attemptDir({ root }, attempt)}/policy.json`);
  return text === undefined ? undefined : (JSON.parse(text) as RecordedAttempt);
}

const MARKS = [AGENT_MARK, RUNNER_MARK, CHECK_MARK, REMEDY_MARK, SERVER_MARK];

interface Marked extends Mark {
  readonly name: string;
}

async function assertPerson(parts: CallerParts, called: string): Promise<void> {
  const { env } = parts;
  const root = await rootIfAny(parts);
  const own = MARKS.map((name) => readNamedMark(name, env[name])).find((mark) => (root ? here(root, mark) : mark));
  const above = root && findAbove(MARKS, (name, value) => here(root, readNamedMark(name, value)));
  const mark = own ?? above ?? (root && underOldServer(root));
  if (!mark) return;
  // Nobody else is there to look at the fleet with; that it looks only is its permit's to see to.
  if (mark.name === REMEDY_MARK && remedyMayLook(called)) return;
  const no = notThePerson(called, mark.name === CHECK_MARK ? "check" : "agent");
  if (root && [AGENT_MARK, RUNNER_MARK].includes(mark.name) && here(root, mark)) {
    await parts.noteFenced(root, mark.number, no.what, "not-the-person");
  }
  throw toRefusalError("NOT_THE_PERSON", no);
}

/** A tmux server that an older version started carries no mark; it is known by the socket it was started for. */
function underOldServer(root: Root): Marked | undefined {
  const place = parsePlace(readNow(runFiles(root.state).place));
  const is = place && isCalledAbove((words) => startsServer(words, `${place.sockets}/tmux`));
  return is ? { name: SERVER_MARK, number: 0, state: root.state } : undefined;
}

function readNamedMark(name: string, value: string | undefined): Marked | undefined {
  const mark = readMark(value);
  return mark && { ...mark, name };
}

/** An agent elsewhere that tries this program out in a repository of its own is that one's person. */
function here(root: Root, mark: Marked | undefined): Marked | undefined {
  if (!mark) return undefined;
  // A repository that was renamed since has agents that carry its old name: whoever has no home is taken for ours.
  const ours = mark.state === root.state || mark.state === `${root.project}/.overseer` || !isThere(mark.state);
  return ours ? mark : undefined;
}

/** Loaded when it is asked, which is seldom: an agent's own calls never come here. */
function isThere(path: string): boolean {
  const { existsSync } = require("node:fs") as typeof import("node:fs");
  return existsSync(path);
}

/** Some commands need none; whoever does need one says so itself. */
async function rootIfAny(parts: CallerParts): Promise<Root | undefined> {
  try {
    return await parts.root();
  } catch (error) {
    if (error instanceof OverseerError) return undefined;
    throw error;
  }
}

function toRefusalError(code: string, { message, hint }: NotTheCaller): OverseerError {
  return new OverseerError("conflict", code, message, hint);
}
