/** PROV-1: what a failing provider means for its agents, played over virtual minutes with a fleet of ten. */
import { describe, expect, test } from "bun:test";
import type { Condition } from "#domain/model/condition.ts";
import type { ProviderCause } from "#domain/model/provider-cause.ts";
import type { Question } from "#domain/model/question.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { beat } from "#domain/signals/pulse.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { applied, attemptWith, MINUTE, NOW, pulseWith, seenWith, snapshotOf } from "../../../test/support/snapshots.ts";
import { assignmentWith, nodeWith } from "../../../test/support/tree.ts";
import { decide } from "./decide.ts";
import type { AgentSeen, Snapshot } from "./snapshot.ts";

const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

let signals = 0;
const heard = (pulse: Pulse, kind: string, at: number, data: object): Pulse => {
  signals += 1;
  return beat(pulse, { kind, source: `s${signals}`, phase: kind, at, data } as Signal);
};

/** How a provider fails: what an agent's CLI says at each minute of a turn that gets no answer. */
type Failing = (pulse: Pulse, minuteOfTurn: number, at: number) => Pulse;

function givesUp(cause: ProviderCause, detail: string): Failing {
  return (pulse, _minute, at) =>
    heard(heard(pulse, "api.failed", at, { cause, detail, resetsAt: null }), "turn.ended", at, {
      ok: false,
      reason: "api_error",
      text: detail,
      costUsd: null,
    });
}

/** A host that accepts and never answers: the CLI tries again every six minutes, for an hour. */
const neverAnswers: Failing = (pulse, minute, at) =>
  minute > 0 && minute % 6 === 0
    ? heard(pulse, "api.retry", at, { attempt: minute / 6, cause: "unknown", delayMs: 1_000 })
    : pulse;

interface Course {
  readonly types: string[];
  readonly asked: string[];
  readonly judged: Set<string>;
  readonly causes: Set<string>;
  readonly doneAt: number | undefined;
  readonly probes: number;
}

/** A fleet of ten whose provider fails for ten minutes and then works; the tick looks every minute. */
function play(failing: Failing, answering?: (minute: number) => boolean): Course {
  let world: Snapshot = snapshotOf({
    limits: {
      ...snapshotOf().limits,
      fleet: { maxConcurrent: 12, maxDepth: 2, startsPerMinute: 99, staggerMs: 2_000 },
    },
    nodes: [
      ...TEN.map((n) => nodeWith("in_progress", { workNodeId: `T${n}` })),
      nodeWith("queued", { workNodeId: "T99" }),
    ],
    assignments: TEN.map((n) =>
      assignmentWith({ assignmentId: `A_${n}`, workNodeId: `T${n}`, lastInstruction: "Do it.", lastDispatchAt: NOW }),
    ),
  });
  const agents = new Map(
    TEN.map((n) => [n, { pulse: heard(pulseWith({ attempt: n }), "turn.started", NOW, { by: "x" }), since: 0 }]),
  );
  const course = {
    types: [] as string[],
    asked: [] as string[],
    judged: new Set<string>(),
    causes: new Set<string>(),
    probes: 0,
  };
  let doneAt: number | undefined;
  for (let minute = 1; minute <= 60 && doneAt === undefined; minute += 1) {
    const now = NOW + minute * MINUTE;
    for (const [number, agent] of agents) {
      if (!agent.pulse.inTurn) continue;
      const at = now - 1_000;
      const pulse =
        minute <= 10
          ? failing(agent.pulse, minute - agent.since, at)
          : heard(heard(agent.pulse, "said", at, { text: "On it." }), "tool.started", at, {
              tool: "x",
              argsHash: `${at}`,
            });
      agents.set(number, { ...agent, pulse });
    }
    const seen = TEN.map((n): AgentSeen => {
      const attempt = attemptWith({
        attempt: n,
        workNodeId: `T${n}`,
        assignmentId: `A_${n}`,
        startedAt: NOW,
        createdAt: NOW,
      });
      return seenWith({ attempt, pulse: agents.get(n)?.pulse ?? null });
    });
    const given: Snapshot = { ...world, now, agents: seen };
    const decided = decide(given);
    course.types.push(...decided.events.map(({ type }) => type));
    for (const event of decided.events) if (event.type === "provider.failed") course.causes.add(event.data.cause);
    for (const judgement of decided.judged.values()) course.judged.add(judgement.because);
    world = { ...applied(given, decided, now), actions: [] };
    const questions: Question[] = [...world.questions];
    for (const action of decided.actions) {
      if (action.kind === "deliver" && action.attempt !== undefined) {
        const known = agents.get(action.attempt);
        if (!known) continue;
        course.probes += minute <= 10 ? 1 : 0;
        const at = Math.max(now, action.notBefore);
        agents.set(action.attempt, { pulse: heard(known.pulse, "turn.started", at, { by: "x" }), since: minute });
      } else if (action.kind === "ask") {
        course.asked.push(action.payload.text);
        questions.push(openQuestion(action.payload.questionId));
      } else course.types.push(`action ${action.kind}`);
    }
    world = { ...world, questions: answering?.(minute) ? [] : questions };
    if (minute > 10 && [...agents.values()].every(({ pulse }) => (pulse.answeredAt ?? 0) > NOW + 10 * MINUTE))
      doneAt = minute;
  }
  return { ...course, doneAt };
}

function openQuestion(questionId: string): Question {
  return { questionId, goalId: null, workNodeId: null, status: "open" } as unknown as Question;
}

const FORBIDDEN = [
  "assignment.nudged",
  "assignment.stalled",
  "assignment.resent",
  "assignment.reassigning",
  "assignment.restarting",
  "assignment.parked",
  "assignment.escalated",
  "action stop",
  "action reassign",
  "action restart",
];

const WAYS: [how: string, cause: ProviderCause, failing: Failing, questions: number][] = [
  ["refuses connections", "network", givesUp("network", "Unable to connect to API (ConnectionRefused)"), 0],
  ["times out", "network", neverAnswers, 0],
  ["answers 401", "auth", givesUp("auth", "Invalid API key · Fix external API key"), 1],
  ["answers 402", "billing", givesUp("billing", "Credit balance is too low"), 1],
  ["answers 404", "model", givesUp("model", "There's an issue with the selected model"), 1],
  ["answers 529", "overloaded", givesUp("overloaded", "529 Overloaded"), 0],
];

describe("PROV-1, FAIL-19: ten agents, a provider that fails for ten minutes", () => {
  test.each(WAYS)("it %s: one condition (%s), nobody is replaced, all continue", (_how, cause, failing, questions) => {
    const course = play(failing);
    expect(course.types.filter((type) => FORBIDDEN.includes(type))).toEqual([]);
    expect(course.types.filter((type) => type === "provider.restored")).toHaveLength(1);
    expect(course.types).toContain("dispatch.deferred");
    expect(course.judged).toContain("provider-fails");
    expect(course.asked).toHaveLength(questions);
    if (questions > 0) expect(course.asked[0]).toMatch(/10 agents wait/);
    expect(course.types.filter((type) => type === "question.withdrawn").length).toBe(questions);
    expect(course.doneAt).toBeLessThan(30);
    // One agent tries at a time, after one minute, two, four: not all of them every minute.
    expect(course.probes).toBeLessThanOrEqual(4);
    expect([...course.causes]).toEqual([cause]);
  });

  test("what a person has mended is tried at once, and asked about again where it was not", () => {
    const course = play(givesUp("auth", "Invalid API key"), (minute) => minute === 2 || minute === 4);
    expect(course.asked.length).toBeGreaterThan(1);
    expect(course.types.filter((type) => FORBIDDEN.includes(type))).toEqual([]);
  });
});

describe("PROV-1: whose failure it is", () => {
  const silent = (n: number, parts: Partial<Pulse>): AgentSeen =>
    seenWith({
      attempt: attemptWith({ attempt: n, workNodeId: `T${n}`, assignmentId: `A_${n}` }),
      pulse: pulseWith({
        attempt: n,
        inTurn: true,
        lastActAt: NOW - 30 * MINUTE,
        turnSince: NOW - 30 * MINUTE,
        ...parts,
      }),
    });
  const retrying = {
    cause: "network",
    ...{ detail: "unknown", attempt: 4 },
    ...{ since: NOW - 24 * MINUTE, nextAt: NOW - 5 * MINUTE },
  } as const;
  const world = (agents: AgentSeen[]) =>
    snapshotOf({
      agents,
      nodes: agents.map(({ attempt }) => nodeWith("in_progress", { workNodeId: attempt.workNodeId })),
      assignments: agents.map(({ attempt }) =>
        assignmentWith({ assignmentId: attempt.assignmentId, workNodeId: attempt.workNodeId }),
      ),
    });

  test("a CLI that only tries again is no sign of life: its provider fails", () => {
    const decided = decide(world([silent(1, { retrying })]));
    expect(decided.events).toContainEqual(
      expect.objectContaining({ type: "provider.failed", data: expect.objectContaining({ cause: "network" }) }),
    );
    expect(decided.judged.get(1)).toMatchObject({ state: "waiting", because: "provider-fails" });
  });

  test("where another of the account was answered meanwhile, the silence is its own, and the ladder's", () => {
    const decided = decide(world([silent(1, { retrying }), silent(2, { answeredAt: NOW - MINUTE, lastActAt: NOW })]));
    expect(decided.events.map(({ type }) => type)).not.toContain("provider.failed");
    expect(decided.judged.get(1)).toMatchObject({ state: "silent" });
  });

  test("PROV-1: a dead port is told after a minute of retries, also of one that never spoke, and nobody is nudged", () => {
    const never = { lastActAt: null, turnSince: NOW - 70_000 };
    const refused = { ...retrying, detail: "", attempt: 6, since: NOW - 70_000, nextAt: NOW + 20_000 };
    const decided = decide(world([silent(1, { ...never, retrying: refused })]));
    expect(decided.events.map(({ type }) => type)).toContain("provider.failed");
    expect(decided.events.map(({ type }) => type)).not.toContain("assignment.stalled");
  });

  test("PROV-1: one retry after a long answer is no failure yet, and it is looked at again in time", () => {
    const once = { ...retrying, attempt: 1, since: NOW - 1_000, nextAt: NOW };
    const busy = { lastActAt: NOW - 2 * MINUTE, turnSince: NOW - 20 * MINUTE };
    const decided = decide(world([silent(1, { ...busy, retrying: once })]));
    expect(decided.events.map(({ type }) => type)).not.toContain("provider.failed");
    const soon = { lastActAt: NOW - 20_000, turnSince: NOW - 20 * MINUTE };
    expect(decide(world([silent(1, { ...soon, retrying: once })])).nextDueAt).toBe(NOW + 40_000);
  });

  test("PROV-1: a host that accepts and never answers is told at the first retry, though only that began the turn", () => {
    const at = NOW - 1_000;
    const began = { ...retrying, detail: "", attempt: 1, since: at, nextAt: NOW };
    const decided = decide(world([silent(1, { lastActAt: null, turnSince: at, retrying: began })]));
    expect(decided.events).toContainEqual(
      expect.objectContaining({ type: "provider.failed", data: expect.objectContaining({ detail: "" }) }),
    );
  });

  test("PROV-1: a CLI that is about to try again is not silent, also where another was answered", () => {
    const soon = { ...retrying, nextAt: NOW + 30_000 };
    const decided = decide(
      world([silent(1, { retrying: soon }), silent(2, { answeredAt: NOW - MINUTE, lastActAt: NOW })]),
    );
    expect(decided.judged.get(1)).toMatchObject({ state: "waiting", because: "tries-again" });
  });

  test("PROV-1: the first answer ends the condition, before its time, where nobody gave up", () => {
    const failing: Condition = {
      ...{ conditionId: "provider:scripted/default", kind: "provider", active: true, account: "scripted/default" },
      ...{ since: NOW - MINUTE, updatedAt: NOW - MINUTE, cause: "network", detail: "", phase: "failing" },
      ...{ until: NOW + 5 * MINUTE, failures: 1, probe: null, probeTurns: 0, questionId: null },
    };
    const answered = silent(1, { answeredAt: NOW - 1_000, lastActAt: NOW - 1_000 });
    const waits = silent(2, { retrying: { ...retrying, nextAt: NOW + 30_000 } });
    const silentYet = silent(3, { lastActAt: null });
    const given = world([answered, waits, silentYet]);
    const decided = decide({ ...given, conditions: [failing] });
    expect(decided.events.map(({ type }) => type)).toContain("provider.restored");
    // While it holds, one that waits for its first answer waits for its provider.
    const held = decide({ ...world([waits, silentYet]), conditions: [failing] });
    expect(held.judged.get(3)).toMatchObject({ state: "waiting", because: "provider-fails" });
  });

  test("PROV-1: several that wait for their first answer have as long as anybody in a turn; one alone has not", () => {
    const handed = (n: number, parts: Partial<Pulse> = {}): AgentSeen => ({
      ...silent(n, { inTurn: false, lastActAt: null, turnSince: null, ...parts }),
      attempt: attemptWith({ attempt: n, workNodeId: `T${n}`, assignmentId: `A_${n}`, startedAt: NOW - 3 * MINUTE }),
      waiting: { queued: 0, handed: 1, unseen: [], since: NOW - 3 * MINUTE },
    });
    const both = decide(world([handed(1), handed(2)]));
    expect([...both.judged.values()].map(({ because }) => because)).toEqual(["no-answer-yet", "no-answer-yet"]);
    expect(decide(world([handed(1)])).judged.get(1)).toMatchObject({ state: "silent", because: "never-spoke" });
    const answered = silent(3, { answeredAt: NOW - MINUTE, lastActAt: NOW - MINUTE });
    const mixed = decide(world([handed(1), handed(2), answered]));
    expect(mixed.judged.get(1)).toMatchObject({ state: "silent", because: "never-spoke" });
  });

  test("PROV-1, QUOTA-1: a person's word to tick now makes a try due that was due later", () => {
    const account = "scripted/default";
    const common = {
      active: true,
      account,
      since: NOW - MINUTE,
      updatedAt: NOW - MINUTE,
      until: NOW + 5 * MINUTE,
      probe: null,
    };
    const failed: Condition = {
      ...{ ...common, conditionId: `provider:${account}`, kind: "provider", cause: "network", detail: "" },
      ...{ phase: "failing", failures: 1, probeTurns: 0, questionId: null },
    };
    const used: Condition = { ...common, conditionId: `quota:${account}`, kind: "quota", phase: "tripped", trips: 1 };
    const gaveUp = { inTurn: false, providerFailure: { cause: "network", detail: "", at: NOW - 2 * MINUTE } } as const;
    const limited = { inTurn: false, quotaAt: NOW - 2 * MINUTE };
    for (const [condition, parts, type] of [
      [failed, gaveUp, "provider.probing"],
      [used, limited, "quota.probing"],
    ] as const) {
      const given = { ...world([silent(1, parts)]), conditions: [condition] };
      const typesOf = (reason: string) => decide({ ...given, reason }).events.map((event) => event.type);
      expect(typesOf("asked: a turn failed")).not.toContain(type);
      expect(typesOf("follow-up, asked")).toContain(type);
    }
  });

  test("a login that was refused three times is told at once, though its CLI tries again", () => {
    const refused = {
      cause: "auth",
      detail: "authentication_failed",
      attempt: 3,
      since: NOW - 4_000,
      nextAt: NOW,
    } as const;
    const just = { lastActAt: NOW - 5_000, turnSince: NOW - 5_000 };
    const decided = decide(world([silent(1, { ...just, retrying: refused })]));
    expect(decided.actions.map(({ kind, because }) => `${kind} ${because}`)).toEqual(["ask provider-auth"]);
    const twice = decide(world([silent(1, { ...just, retrying: { ...refused, attempt: 2 } })]));
    expect(twice.events.map(({ type }) => type)).not.toContain("provider.failed");
  });

  test("QUOTA-1: one whose CLI waits for a rate limit is not stalled", () => {
    const limited = {
      cause: "quota",
      detail: "rate_limit",
      attempt: 1,
      since: NOW,
      nextAt: NOW + 60 * MINUTE,
    } as const;
    const decided = decide(world([silent(1, { retrying: limited })]));
    expect(decided.judged.get(1)).toMatchObject({ state: "waiting-quota", until: NOW + 60 * MINUTE });
    expect(decided.events.map(({ type }) => type)).not.toContain("provider.failed");
  });
});
