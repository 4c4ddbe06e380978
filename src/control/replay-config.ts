/**
 * `replay --config` (REPLAY-1): recorded work under other limits beside the ones in effect, and what would have been done
 * differently. Of transcripts that is what the reflex says; of a store also how the tick would have judged its agents.
 * What signals cannot tell is named in the answer.
 */
import { limitsOf } from "#config/limits.ts";
import { parseConfig } from "#config/load.ts";
import type { Config } from "#config/schema.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { resolveLimits } from "#domain/model/limits.ts";
import { compareSteerings, type SteeringDifference } from "#domain/signals/replay-difference.ts";
import type { Signal } from "#domain/signals/signal.ts";
import type { LivenessLimits } from "#domain/tick/liveness.ts";
import { type LivenessChange, LivenessReplay, listStandstills } from "#domain/tick/liveness-replay.ts";
import { agentLimits } from "#domain/tick/snapshot.ts";
import { OverseerError } from "#errors.ts";
import { assignmentById } from "#store/assignments.ts";
import { latestAttempts } from "#store/attempts.ts";
import { signalsAfter } from "#store/signals.ts";
import type { Store } from "#store/store.ts";
import type { Files } from "#sys/files.ts";
import {
  type ReadingReport,
  type ReplayInput,
  readPlaces,
  replayFile,
  rulesByRole,
  type SaidSentence,
  type Strictness,
} from "./replay.ts";

export interface SessionDifference {
  readonly name: string;
  readonly runtime: string;
  readonly steerings: readonly SteeringDifference<SaidSentence>[];
}

/** From when on an agent counts as silent or looping, under each of the two; only where they differ. */
export interface LivenessDifference {
  readonly agent: string;
  readonly before: readonly LivenessChange[];
  readonly after: readonly LivenessChange[];
}

export interface ConfigComparison {
  readonly sessions: number;
  readonly said: { readonly before: number; readonly after: number };
  readonly differences: readonly SessionDifference[];
  /** Null where there is no store: transcripts do not say what the tick saw. */
  readonly liveness: readonly LivenessDifference[] | null;
  /** What this cannot know. */
  readonly unknown: readonly string[];
  readonly read: ReadingReport | null;
}

const OF_SIGNALS = [
  "An agent that is told something else works differently from then on; what follows the first difference is a guess.",
];
const OF_STORE = [
  "Questions, quotas, deliveries and what processes did beside the signals are not in the record, so agents that waited for these may show as silent, and a tool call never as hanging.",
  "The ladder begins where an agent counts as silent or looping; which of its steps follow depends on what the agent does then.",
  "Of older attempts only milestones are kept (store.signalsKept); they are judged by these.",
];

export async function loadOtherConfig(files: Files, path: string): Promise<Config> {
  const text = await files.read(path);
  if (text === undefined) {
    const hint = "Name a file like .overseer/config.yaml with the limits to try.";
    throw new OverseerError("not-found", "CONFIG_UNKNOWN", `There is no configuration at ${path}.`, hint);
  }
  return parseConfig(text, path);
}

/** Transcripts under both. */
export async function compareTranscripts(input: ReplayInput, other: Strictness): Promise<ConfigComparison> {
  const [now, then] = [rulesByRole(input, input.role), rulesByRole(other, input.role)];
  now(null);
  then(null);
  const found = new Comparison();
  const read = await readPlaces(input, (file) => {
    const { open, sessions } = replayFile(file.name, (role) => [now(role), then(role)]);
    return {
      open,
      finish: () => {
        for (const { replayed } of sessions()) {
          const [before, after] = replayed;
          if (before && after && before.calls > 0) found.add(before.name, before.runtime, before.fired, after.fired);
        }
      },
    };
  });
  return { ...found.result(), liveness: null, unknown: OF_SIGNALS, read };
}

/** How the tick judges under a configuration, beside how strict the reflex is. */
export interface Limiting extends Strictness {
  readonly config: Config;
}

const MOST_ATTEMPTS = 500;
const PAGE = 2_000;

/** The agents of a store under both. */
export async function compareStore(store: Store, now: Limiting, then: Limiting, at: number): Promise<ConfigComparison> {
  const { attempts } = await store.read({ attempts: latestAttempts(MOST_ATTEMPTS) });
  const found = new Comparison();
  const liveness: LivenessDifference[] = [];
  for (const attempt of attempts.toReversed()) {
    const { assignment } = await store.read({ assignment: assignmentById(attempt.assignmentId) });
    const name = `${attempt.agent}#${attempt.attempt}`;
    const rules = [rulesByRole(now, attempt.role)(null), rulesByRole(then, attempt.role)(null)];
    const { open, sessions } = replayFile(name, () => rules);
    const take = open({ key: "", runtime: attempt.runtime, sub: false });
    const watches = [now, then].map(
      (limiting) => new LivenessReplay(attempt, assignment, limitsFor(limiting.config, attempt, limiting)),
    );
    for await (const signal of readSignals(store, attempt.attempt)) {
      take(signal, 0);
      for (const watch of watches) watch.take(signal);
    }
    const [before, after] = sessions()[0]?.replayed ?? [];
    if (before && after) found.add(name, attempt.runtime, before.fired, after.fired);
    const [usual, changed] = watches.map((watch) => listStandstills(watch.finish(attempt.endedAt ?? at)));
    if (usual && changed && JSON.stringify(usual) !== JSON.stringify(changed))
      liveness.push({ agent: name, before: usual, after: changed });
  }
  return { ...found.result(), liveness, unknown: [...OF_SIGNALS, ...OF_STORE], read: null };
}

function limitsFor(config: Config, attempt: Attempt, { roles }: Strictness): LivenessLimits {
  const limits = limitsOf(config);
  const role = roles.get(attempt.role)?.limits;
  const own = resolveLimits(agentLimits(limits), role);
  return { ...limits, ...own, graceMs: own.patienceMs };
}

async function* readSignals(store: Store, attempt: number): AsyncGenerator<Signal> {
  for (let place = 0; ; ) {
    const { page } = await store.read({ page: signalsAfter(attempt, place, PAGE) });
    for (const { signal } of page) yield signal;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    place = last.place;
  }
}

class Comparison {
  private sessions = 0;
  private before = 0;
  private after = 0;
  private readonly differences: SessionDifference[] = [];

  add(name: string, runtime: string, before: readonly SaidSentence[], after: readonly SaidSentence[]): void {
    this.sessions += 1;
    this.before += before.length;
    this.after += after.length;
    const steerings = compareSteerings(before, after);
    if (steerings.length > 0) this.differences.push({ name, runtime, steerings });
  }

  result(): Pick<ConfigComparison, "sessions" | "said" | "differences"> {
    const { sessions, before, after, differences } = this;
    return { sessions, said: { before, after }, differences };
  }
}
