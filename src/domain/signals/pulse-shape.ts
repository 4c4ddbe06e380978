/**
 * Whether a pulse that was kept can be used: a disk, a bug or a hand may have left anything in its row. Whoever reads one
 * asks here, so that one spoiled row stops nobody; its agent's next signal begins it again (store/sqlite/signal-log.ts).
 */
import { hasFields, isBoolean, isCount, isListOf, isMapOf, isString, maybe, tryJson } from "#domain/core/shape.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import type { Pulse } from "./pulse.ts";

const TRIES = { times: isCount, step: isCount };

const isCall = hasFields({
  tool: isString,
  argsHash: isString,
  ok: maybe(isBoolean),
  ms: maybe(isCount),
  id: isString,
});

const isCourseCall = hasFields({
  ...{
    id: isString,
    tool: isString,
    args: isString,
    shape: isString,
    kind: isString,
    program: isString,
    part: isString,
  },
  ...{ failed: maybe(isBoolean), result: isString, bare: isBoolean, progress: isBoolean, step: maybe(isCount) },
  ...{
    error: maybe(isString),
    seeks: maybe(isString),
    words: maybe(isString),
    says: maybe(isString),
    file: maybe(isString),
  },
});

/** What a course is, wherever it comes from: the store, or the report of another machine. */
export const isCourse = hasFields({
  ...{
    steps: isCount,
    step: maybe(isString),
    sinceProgress: isCount,
    idle: isCount,
    fresh: isBoolean,
    strain: isCount,
  },
  ...{
    run: isCount,
    doing: isString,
    calls: isListOf(isCourseCall),
    looked: isListOf(isString),
    compacting: isBoolean,
  },
  checks: isListOf(isListOf(isString)),
  ...{ steered: isMapOf(isCount), told: maybe(isMapOf(isCount)), voiced: maybe(isMapOf(isListOf(isString))) },
  failing: maybe(
    isListOf(
      hasFields({ shape: isString, error: maybe(isString), rounds: isCount, best: maybe(isCount), step: isCount }),
    ),
  ),
  hunt: maybe(hasFields({ ...TRIES, program: isString })),
  blocker: maybe(hasFields({ ...TRIES, what: isString, shape: isString })),
  polled: maybe(hasFields({ ...TRIES, from: isCount })),
  lastSteering: maybe(hasFields({ cause: isString, step: isCount, at: isCount })),
});

const isPulse = hasFields({
  ...{ attempt: isCount, agent: isString, beats: isCount, inTurn: isBoolean, turns: isCount, failures: isCount },
  calls: isListOf(isCall),
  usage: hasFields(Object.fromEntries(Object.keys(NO_USAGE).map((name) => [name, isCount]))),
  ...{ contextTokens: isCount, contextWindow: maybe(isCount), compactReserve: maybe(isCount), model: maybe(isString) },
  ...{ lastText: isString, lastKind: isString, noise: isCount, meterUsd: maybe(isCount), acts: maybe(isCount) },
  ...{ quotaUntil: maybe(isCount), quotaAt: maybe(isCount), firstAt: maybe(isCount), lastAt: maybe(isCount) },
  ...{ lastActAt: maybe(isCount), turnSince: maybe(isCount), answeredAt: maybe(isCount), lastFoundAt: maybe(isCount) },
  ...{ lastChangeAt: maybe(isCount), lastProgressAt: maybe(isCount), lastCommitAt: maybe(isCount) },
  providerFailure: maybe(hasFields({ cause: isString, detail: isString, at: isCount })),
  retrying: maybe(
    hasFields({ cause: maybe(isString), detail: isString, since: isCount, attempt: isCount, nextAt: isCount }),
  ),
  course: maybe(isCourse),
});

/** The pulse of that attempt in a text; undefined where it cannot be used. */
export function pulseIn(text: string, attempt: number): Pulse | undefined {
  const value = tryJson(text);
  return isPulse(value) && (value as Pulse).attempt === attempt ? (value as Pulse) : undefined;
}
