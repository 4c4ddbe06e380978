/** What a tick decides under a configuration, for the table of keys: one small world per key, and what comes of it. */
import { limitsOf } from "#config/limits.ts";
import type { Config } from "#config/schema.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { Recovery, Steps } from "#domain/model/ladder-state.ts";
import { decide } from "#domain/tick/decide.ts";
import type { Snapshot } from "#domain/tick/snapshot.ts";
import {
  applied,
  attemptWith,
  endedWith,
  MINUTE,
  NOW,
  pulseWith,
  recoveryWith,
  seenWith,
  silentFor,
  snapshotOf,
  working,
} from "./snapshots.ts";
import { nodeWith } from "./tree.ts";

/** Everything a tick decides about a world, as comparable as it gets. */
function decides(world: () => Snapshot): (config: Config) => unknown {
  return (config) => {
    const { events, judged } = decide({ ...world(), limits: limitsOf(config) });
    return { events: events.map(({ type, data }) => ({ type, data })), judged: [...judged.values()] };
  };
}

/** An agent that has been silent for long, after these steps. */
export function stuckAfter(steps: Partial<Steps>, more: Partial<Recovery> = {}): (config: Config) => unknown {
  const tried = { steps: { ...recoveryWith().steps, ...steps }, lastStepAt: NOW - 90 * MINUTE, backoffUntil: NOW - 1 };
  return decides(() =>
    working({ pulse: silentFor(100 * MINUTE) }, { recoveries: [recoveryWith({ ...tried, ...more })] }),
  );
}

/** The same, where a model is asked about stalls. */
export function stuckAndDiagnosed(steps: Partial<Steps>): (config: Config) => unknown {
  return (config) => stuckAfter(steps)({ ...config, planner: { ...config.planner, diagnoseStalls: true } });
}

/** A task that names its agent is ready, and the session of another is free. */
export const namedBesideSession = (config: Config) => {
  const attempt = endedWith({ cause: "stopped" }, { agent: "ben", session: "s" });
  const pulse = pulseWith({ contextTokens: 1, contextWindow: 100 });
  const next = nodeWith("queued", { workNodeId: "T2", hints: { suggestedAgentId: "ann" } });
  const limits = { ...limitsOf(config), continuing: ["builder"], defaultAccount: "scripted/default" };
  return decide(snapshotOf({ limits, nodes: [nodeWith("done"), next], sessions: [{ attempt, pulse }] })).actions;
};

export const silentForTenMinutes = decides(() => working({ pulse: silentFor(10 * MINUTE) }));

/** It was given the same hint four minutes ago. */
export function hintedAgain(config: Config): unknown {
  const world = working({ pulse: silentFor(100 * MINUTE) });
  const sent = applied(world, decide(world)).recoveries[0]?.sent ?? [];
  return stuckAfter({}, { sent: sent.map((one) => ({ ...one, at: NOW - 4 * MINUTE })) })(config);
}

export const neverSpoke = decides(() =>
  working({ attempt: attemptWith({ startedAt: NOW - 3 * MINUTE }), pulse: null }),
);

const SIGN = { source: "terminal", says: "gone", at: NOW, reliability: "weak" } as const;

export const youngWithASign = decides(() =>
  working({ attempt: attemptWith({ startedAt: NOW - 10_000 }), pulse: null, evidence: [SIGN] }),
);

export const silentWithASign = decides(() => working({ pulse: silentFor(20 * MINUTE), evidence: [SIGN] }));

export function diedAfter(restarts: number): (config: Config) => unknown {
  const recoveries = [recoveryWith({ restarts })];
  return decides(() => snapshotOf({ nodes: [nodeWith("queued")], ended: [endedWith({})], recoveries }));
}

/** It died again, where a model is asked about failures, which is awaited for so long. */
export function diedWithTriage(awaitedMs?: number): (config: Config) => unknown {
  const diagnosis =
    awaitedMs === undefined
      ? null
      : { assignmentId: "A_1", askedAt: NOW - awaitedMs, said: null, left: [], failed: null };
  const recoveries = [recoveryWith({ restarts: 1, diagnosis })];
  const ended = [endedWith({}, { endedAt: NOW - 60 * MINUTE })];
  return decides(() => snapshotOf({ nodes: [nodeWith("queued")], ended, recoveries }));
}

/** So many died, this far apart. */
export function diedTogether(count: number, apartMs: number): (config: Config) => unknown {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return decides(() =>
    snapshotOf({
      nodes: numbers.map((number) => nodeWith("queued", { workNodeId: `T${number}` })),
      ended: numbers.map((number) =>
        endedWith({}, { attempt: number, workNodeId: `T${number}`, endedAt: NOW - (count - number) * apartMs }),
      ),
    }),
  );
}

/** The account has been tripped so often before. */
export function outOfQuota(trips: number): (config: Config) => unknown {
  const since = { active: true, since: NOW - MINUTE, updatedAt: NOW - MINUTE };
  const account = "scripted/default";
  const known = {
    conditionId: `quota:${account}`,
    kind: "quota",
    account,
    phase: "probing",
    until: NOW,
    probe: 1,
    trips,
  } as const;
  return decides(() =>
    snapshotOf({
      agents: [seenWith({ pulse: pulseWith({ quotaAt: NOW - 1 }) })],
      conditions: trips > 0 ? [{ ...known, ...since }] : [],
    }),
  );
}

/** The provider has failed so often before. */
export function providerFailed(failures: number): (config: Config) => unknown {
  const account = "scripted/default";
  const known: Condition = {
    ...{ conditionId: `provider:${account}`, kind: "provider", account, phase: "probing", until: NOW, probe: 1 },
    ...{ cause: "network", detail: "", questionId: null, failures, probeTurns: -1 },
    ...{ active: true, since: NOW - MINUTE, updatedAt: NOW - MINUTE },
  };
  const failure = { cause: "network", detail: "", at: NOW - 1 } as const;
  return decides(() =>
    snapshotOf({
      agents: [seenWith({ pulse: pulseWith({ providerFailure: failure }) })],
      conditions: failures > 0 ? [known] : [],
    }),
  );
}

/** A command of its has done nothing for ten minutes. */
export const hungForTenMinutes = decides(() => {
  const call = { tool: "shell", argsHash: "", ok: null, errorClass: null, ms: null, id: "t" };
  const since = NOW - 10 * MINUTE;
  const pulse = pulseWith({ inTurn: true, calls: [call], lastActAt: since, turnSince: since });
  return working({ pulse, toolsStillMs: 10 * MINUTE });
});

/** Its CLI has tried by itself for three minutes. */
export const retriedForThreeMinutes = decides(() => {
  const since = NOW - 3 * MINUTE;
  const retrying = { cause: "network", detail: "", attempt: 2, since, nextAt: NOW } as const;
  return snapshotOf({
    agents: [seenWith({ pulse: pulseWith({ inTurn: true, retrying, lastActAt: since, turnSince: since }) })],
  });
});

/** Ninety tokens, ninety dollars and ninety minutes have been spent by the agent, its goal, and today. */
export const spent = decides(() => {
  const { usage } = snapshotOf();
  const ninety = { ...usage.day, outputTokens: 90, costUsd: 90, workingMs: 90 * MINUTE };
  return working({}, { usage: { ...usage, agents: { "1": ninety }, goals: { goal_A: ninety }, day: ninety } });
});

/** The same, of a hundred tokens that were allowed. */
export function warnedAt(config: Config): unknown {
  return spent({ ...config, budgets: { ...config.budgets, agent: { tokens: 100, cost: null, time: null } } });
}
