/**
 * Bugs planted on purpose, each as a part of Overseer that was made wrong: what a removed line or a forgotten check
 * would do. The simulator has to find every one of them; a simulator that finds nothing proves nothing.
 */

import { forgetAsking } from "#act/auto/task-command.ts";
import { takeFields } from "#act/updates/take-update.ts";
import { copyInput, slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import { ACTION_TRIES, applyToAction } from "#domain/model/action.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { type Attempt, attemptEvent, isLiving, NO_USAGE } from "#domain/model/attempt.ts";
import type { AutoCondition } from "#domain/model/auto.ts";
import type { Condition } from "#domain/model/condition.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { wasDispatched } from "#engine/actions/dispatched.ts";
import { REGISTRY } from "#engine/actions/index.ts";
import { drain } from "#engine/outbox.ts";
import { turnPool } from "#engine/pool.ts";
import type { Observer } from "#engine/tick.ts";
import { tick } from "#engine/tick.ts";
import type { FaultKind } from "#sim/faults.ts";
import type { Invariant } from "#sim/invariants.ts";
import type { Subject } from "#sim/run.ts";
import { attemptByNumber, attemptsOfNode } from "#store/attempts.ts";
import type { PulsesSeen } from "#store/signals.ts";
import type { Commit, CommitOutcome, ReadResults, Reads, Store } from "#store/store.ts";
import { sessionName } from "#terminals/terminal-name.ts";

export interface PlantedBug {
  readonly name: string;
  /** Where the search begins, for one that shows late: a lane has better things to do than to play what holds. */
  readonly from?: number;
  /** What it takes to show; every second fault is one of these. */
  readonly often?: readonly FaultKind[];
  /** Shows only where a model splits work. */
  readonly replanning?: true;
  /** Shows only in auto mode. */
  readonly auto?: true;
  readonly subject: Partial<Subject>;
  /** What it breaks, at least one of these. */
  readonly breaks: readonly Invariant[];
}

/** A store whose commits write other events than the rule decided. */
function writing(change: (events: readonly NewEvent[], request: { readonly at: number }) => readonly NewEvent[]) {
  return (real: Store): Store => ({
    ...real,
    commit: <R extends Reads, T>(request: Commit<R, T>) =>
      real.commit({
        ...request,
        decide: (seen): Decision<T> => {
          const decision = request.decide(seen);
          return decision.ok ? { ...decision, events: change(decision.events, request) } : decision;
        },
      }),
  });
}

/** The same parts, with whatever is in the way of them forgotten. */
function underAnySettings<P>(parts: P): P {
  const world = parts as P & Pick<World, "settings">;
  return { ...world, settings: async () => ({ ...(await world.settings()), hold: null }) };
}

/** Says it under a new id each time it is carried out, whether or not it was said before. */
let sayings = 0;
const deliverWithoutDedupe: Subject["registry"]["deliver"] = async (action, world) => {
  sayings += 1;
  const { payload } = action;
  const store = await world.writer();
  await store.commit({
    at: world.clock.now(),
    reads: { attempt: attemptByNumber(action.attempt ?? 0) },
    decide: ({ attempt }) => {
      if (!attempt || !isLiving(attempt)) return accept([], null);
      const words = {
        messageId: `m_TWICE${sayings}`,
        from: "overseer",
        body: payload.body,
        dispatchId: payload.dispatchId,
        kind: "nudge",
        tone: "hint",
      } as const;
      return accept([attemptEvent(attempt, "overseer", "message.queued", "decided", words)], null);
    },
  });
  return { ok: true };
};

/** An agent whose terminal is gone counts as dead, although its process lives. */
function killingOnOneSign(real: Observer, world: World): Observer {
  return {
    ...real,
    async evidence(living, pulses) {
      const known = await real.evidence(living, pulses);
      const open = new Set((await (await world.terminal()).list()).map(({ name }) => name));
      const at = world.clock.now();
      return new Map(
        living.map((attempt) => {
          const seen = known.get(attempt.attempt) ?? [];
          if (!attempt.runner || open.has(sessionName(attempt.attempt))) return [attempt.attempt, seen];
          return [attempt.attempt, [{ source: "process", says: "gone", at, reliability: "proof" }]];
        }),
      );
    },
  };
}

/** Whoever is started again is called after its number. */
function renamingRestarts(events: readonly NewEvent[]): readonly NewEvent[] {
  const renamed = events.some((event) => event.type === "agent.slung" && event.data.continues !== undefined);
  return events.map((event) => {
    if (!renamed || event.attempt === undefined) return event;
    const agent = `again-${event.attempt}`;
    return event.type === "agent.slung" ? { ...event, agent, data: { ...event.data, agent } } : { ...event, agent };
  });
}

/** What a tick decides is done to the world, and only then committed. */
function actingFirst(world: World): World {
  const writer = async (): Promise<Store> => {
    const store = await world.writer();
    const commit = async <R extends Reads, T>(request: Commit<R, T>): Promise<CommitOutcome<T>> => {
      let decided: readonly NewEvent[] = [];
      const look = (seen: ReadResults<R>): Decision<null> => {
        const decision = request.decide(seen);
        decided = decision.ok ? decision.events : [];
        return accept([], null);
      };
      await store.commit({ ...request, decide: look });
      for (const event of decided) {
        if (event.type !== "action.decided" || event.data.kind !== "spawn") continue;
        const action = applyToAction(undefined, { ...event, seq: 0, at: request.at, v: 1 });
        if (action?.kind === "spawn") await REGISTRY.spawn(action, world);
      }
      return store.commit(request);
    };
    return { ...store, commit };
  };
  return { ...world, writer };
}

type Seen = Readonly<Record<string, readonly unknown[]>>;

/** A commit that reads `where` sees what was read in another way. */
function seeing(where: string, change: (seen: Seen) => object): (real: Store) => Store {
  return (real) => ({
    ...real,
    commit: <R extends Reads, T>(request: Commit<R, T>) =>
      real.commit({
        ...request,
        decide: (seen) => request.decide(where in seen ? { ...seen, ...change(seen as Seen) } : seen),
      }),
  });
}

/** A tick does not see that something of that kind is known already. */
function forgetting(forgotten: Condition["kind"]): (real: Store) => Store {
  return seeing("conditions", ({ conditions = [] }) => ({
    conditions: (conditions as readonly Condition[]).filter(({ kind }) => kind !== forgotten),
  }));
}

/** An observer for whom a turn that its provider failed is a turn like any other. */
const blamingTheAgent = seeing("seenPulses", (seen) => {
  const { pulses, unusable } = seen.seenPulses as unknown as PulsesSeen;
  return {
    seenPulses: { pulses: pulses.map((pulse) => ({ ...pulse, providerFailure: null, retrying: null })), unusable },
  };
});

/** Nobody reads what runners write down of agents that need a person. */
const overlookingBlockers = seeing("recoveries", ({ living = [] }) => ({
  living: (living as readonly Attempt[]).map(({ blocker: _unseen, ...attempt }) => attempt),
}));

/** What runners write down of worktrees that are broken is read by nobody who decides. */
const overlookingBroken = seeing("recoveries", (seen) => {
  const whole = (attempts: readonly unknown[] = []) =>
    (attempts as readonly Attempt[]).map(({ brokenWorktree: _unseen, ...attempt }) => attempt);
  return { living: whole(seen.living), ended: whole(seen.ended), endedLately: whole(seen.endedLately) };
});

/** The same agent again, where it was, whatever has become of that place. */
const restartBlindly: Subject["registry"]["restart"] = async ({ payload }, world) => {
  const { after, dispatchId } = payload;
  const { before } = await (await world.writer()).read({ before: attemptByNumber(after) });
  if (!before || (await wasDispatched(world, { ...before, dispatchId }))) return { ok: true };
  const { agent: name, attempt, branch, worktree } = before;
  const continues = { attempt, branch, worktree, session: null, spent: NO_USAGE };
  await slingAgent(world, { ...copyInput(before), name, dispatchId, restart: { of: before, continues, carried: [] } });
  return { ok: true };
};

/** How often a worktree broke is not remembered. */
const forgettingBroken = seeing("recoveries", ({ recoveries = [] }) => ({
  recoveries: (recoveries as readonly Recovery[]).map(({ brokenWorktrees: _forgotten, ...one }) => one),
}));

/** That a person was asked about a node, and has answered, is not remembered. */
const forgettingAnswers = seeing("recoveries", ({ recoveries = [] }) => ({
  recoveries: (recoveries as readonly Recovery[]).map(({ askedSeq: _asked, ...one }) => ({
    ...{ ...one, askedAt: null, answeredAt: null },
  })),
}));

/** A start that the machine was in the way of is given up like any other. */
function givingUpStarts(events: readonly NewEvent[]): readonly NewEvent[] {
  return events.map((event): NewEvent => {
    if (event.type !== "action.failed" || event.data.cause === undefined || event.data.tries < ACTION_TRIES)
      return event;
    const { actionId, problem: reason } = event.data;
    return { ...event, type: "action.dropped", because: "tried-too-often", data: { actionId, kind: "spawn", reason } };
  });
}

/** What was checked once is not checked again, whoever reports it anew. */
function checkingOnce(): (real: Store) => Store {
  const seen = new Set<string>();
  return writing((events) =>
    events.filter((event) => {
      if (event.type !== "action.decided" || event.data.kind !== "check") return true;
      const what = event.data.actionId.split(":").slice(0, 3).join(":");
      const isNew = !seen.has(what);
      seen.add(what);
      return isNew;
    }),
  );
}

/** Nobody knows of files that are somebody's alone, neither who decides on a dispatch nor who admits it. */
function forgettingFiles(real: Store): Store {
  const plain = (node: WorkNode): WorkNode => ({ ...node, hints: { ...node.hints, files: [] } });
  return {
    ...real,
    commit: <R extends Reads, T>(request: Commit<R, T>) =>
      real.commit({
        ...request,
        decide: (seen) => {
          if (!("living" in seen)) return request.decide(seen);
          const living = (seen.living as readonly Attempt[]).map((attempt) => ({ ...attempt, scope: null }));
          const nodes = "nodes" in seen ? { nodes: (seen.nodes as readonly WorkNode[]).map(plain) } : {};
          return request.decide({ ...seen, living, ...nodes });
        },
      }),
  };
}

/** Nobody knows that a session was given on, neither who decides on a dispatch nor who admits it. */
function forgettingSessions(real: Store): Store {
  const plain = ({ follows, ...one }: Attempt): Attempt => (follows ? { ...one, session: null } : one);
  return {
    ...real,
    commit: <R extends Reads, T>(request: Commit<R, T>) =>
      real.commit({
        ...request,
        decide: (seen) => {
          const forgotten = ["living", "latest", "later"].filter((key) => key in seen);
          const known = seen as Readonly<Record<string, readonly Attempt[]>>;
          const plainly = Object.fromEntries(forgotten.map((key) => [key, known[key]?.map(plain)]));
          return request.decide({ ...seen, ...plainly });
        },
      }),
  };
}

/** Events of that kind are never written. */
function losing(isLost: (event: NewEvent) => boolean): (real: Store) => Store {
  return writing((events) => events.filter((event) => !isLost(event)));
}

/** Each further death begins the pause anew, as though somebody had been tried. */
function forgetProbe(event: NewEvent): NewEvent {
  if (event.type !== "fleet.mass_death") return event;
  const { attempts, nodes } = event.data;
  return { ...event, data: { attempts, nodes } };
}

/** A parent is done as soon as all of its children but one are. */
function rollingUpEarly(events: readonly NewEvent[]): readonly NewEvent[] {
  const done = events.find((event) => event.type === "work.done" && event.nodeId?.startsWith("T"));
  const parent = done?.nodeId === "T1" || done?.nodeId === "T2" ? "P1" : "P2";
  if (done?.type !== "work.done" || events.some((event) => event.nodeId === parent)) return events;
  return [...events, { ...done, nodeId: parent, assignmentId: undefined, agent: undefined, attempt: undefined }];
}

/** The events of a split, changed; `waiting` are those that wait for its parts. */
function splitting(
  change: (part: EventOf<"work.added">["data"], waiting: readonly string[]) => Partial<EventOf<"work.added">["data"]>,
): (events: readonly NewEvent[]) => readonly NewEvent[] {
  return (events) => {
    const waiting = events.flatMap((event) => (event.type === "work.redefined" ? [event.nodeId ?? ""] : []));
    return events.map((event) =>
      event.type === "work.added" && event.data.splitFrom
        ? { ...event, data: { ...event.data, ...change(event.data, waiting) } }
        : event,
    );
  };
}

/** Each part of what is split comes twice, the second time over the first. */
function addingTwice(events: readonly NewEvent[]): readonly NewEvent[] {
  return events.flatMap((event) => (event.type === "work.added" && event.data.splitFrom ? [event, event] : [event]));
}

/** A split changes what is done, too. */
function rewritingDone(): (real: Store) => Store {
  const done = new Map<string, string>();
  return writing((events) => {
    for (const event of events) {
      if (event.type === "work.done") done.set(event.goalId ?? "", event.nodeId ?? "");
    }
    const part = events.find((event) => event.type === "work.added" && event.data.splitFrom !== undefined);
    const nodeId = done.get(part?.goalId ?? "");
    if (part?.type !== "work.added" || nodeId === undefined) return events;
    const { revision, ...definition } = part.data;
    return [...events, { ...part, type: "work.redefined", nodeId, data: { definition, revision } }];
  });
}

/** Whoever stores a task sees what is known of auto mode in another way. */
function storingTasks(change: (auto: AutoCondition) => AutoCondition): (real: Store) => Store {
  return seeing("named", ({ conditions = [] }) => ({
    conditions: (conditions as readonly Condition[]).map((one) => (one.kind === "auto" ? change(one) : one)),
  }));
}

/** Nobody who asks the pool sees that a person has paused it. */
function overlookingPause(real: Store): Store {
  return {
    ...real,
    read: async <R extends Reads>(reads: R): Promise<ReadResults<R>> => {
      const seen = await real.read(reads);
      if (!("conditions" in seen)) return seen;
      const conditions = (seen.conditions as readonly Condition[]).map((one) =>
        one.kind === "auto" ? { ...one, paused: null } : one,
      );
      return { ...seen, conditions };
    },
  };
}

/** What the pool's command said is cleared away, and only then stored. */
function clearingFirst(world: World): World {
  const writer = async (): Promise<Store> => {
    const store = await world.writer();
    const commit = async <R extends Reads, T>(request: Commit<R, T>): Promise<CommitOutcome<T>> => {
      let pull: string | null = null;
      const look = (seen: ReadResults<R>): Decision<null> => {
        const decision = request.decide(seen);
        for (const event of decision.ok ? decision.events : []) if (event.type === "pool.taken") pull = event.data.pull;
        return accept([], null);
      };
      await store.commit({ ...request, decide: look });
      if (pull !== null) await forgetAsking(world, pull);
      return store.commit(request);
    };
    return { ...store, commit };
  };
  return { ...world, writer };
}

/** Whoever a plan names gets the name of a worker. */
function namingAfterWorkers(events: readonly NewEvent[]): readonly NewEvent[] {
  return events.map((event) => {
    if (!event.agent?.startsWith("helper")) return event;
    const agent = "auto-1";
    return event.type === "agent.slung" ? { ...event, agent, data: { ...event.data, agent } } : { ...event, agent };
  });
}

/** Learnings that are told to more than they should be; `more` says to whom, of all who were ever slung. */
function tellingMore(more: (learningId: string, told: Told, all: AllToldOf) => readonly Told[]) {
  const finders = new Map<string, number>();
  const slung = new Map<number, Told>();
  return writing((events) =>
    events.map((event) => {
      if (event.type === "agent.slung") {
        const [agent, attempt] = [event.agent ?? "", event.attempt ?? 0];
        slung.set(attempt, {
          ...{ agent, attempt, messageId: "m_0", urgency: "fyi" },
          node: `${event.goalId}/${event.nodeId}`,
        });
      }
      if (event.type === "learning.found") finders.set(event.data.learningId, event.attempt ?? 0);
      if (event.type !== "learning.relayed") return event;
      const { learningId, to } = event.data;
      const all = { finder: slung.get(finders.get(learningId) ?? 0), slung: [...slung.values()] };
      return { ...event, data: { learningId, to: to.flatMap((one) => [one, ...more(learningId, one, all)]) } };
    }),
  );
}

/** The same world, in which nobody may be silent for long. */
function lessPatient(world: World): World {
  const config = async () => {
    const real = await world.config();
    return { ...real, recovery: { ...real.recovery, silentAfter: 2 * 60_000 } };
  };
  return { ...world, config };
}

/** Whoever decides by thresholds sees an agent, and what belongs to it, in another way. */
function seeingBlindly(change: (seen: SeenBlindly) => object): (real: Store) => Store {
  return seeing("fleet", (seen) => ("recovery" in seen ? change(seen as unknown as SeenBlindly) : {}));
}

interface SeenBlindly {
  readonly attempt: Attempt | undefined;
  readonly assignments: readonly Assignment[];
  readonly node: WorkNode | undefined;
}

type Told = EventOf<"learning.relayed">["data"]["to"][number];
interface AllToldOf {
  readonly finder: Told | undefined;
  readonly slung: readonly Told[];
}

export const PLANTED: readonly PlantedBug[] = [
  {
    name: "a task that is cleared away before it is stored",
    from: 15,
    auto: true,
    often: ["store-busy", "pool-death"],
    subject: { turnPool: (world, memory) => turnPool(clearingFirst(world), memory) },
    breaks: ["every task that the pool gave away becomes one goal, or is openly repeated"],
  },
  {
    name: "an answer of the pool that is taken again after a death",
    from: 36,
    auto: true,
    often: ["pool-death"],
    subject: { store: storingTasks((auto) => ({ ...auto, lastPull: null })) },
    breaks: ["every task that the pool gave away becomes one goal, or is openly repeated"],
  },
  {
    name: "a repeated task that is done twice",
    auto: true,
    often: ["pool-repeats"],
    subject: { store: storingTasks((auto) => ({ ...auto, open: [] })) },
    breaks: ["every task that the pool gave away becomes one goal, or is openly repeated"],
  },
  {
    name: "a pool that does not look whether it is paused",
    auto: true,
    often: ["auto-paused"],
    subject: { store: overlookingPause },
    breaks: ["no task is taken while auto mode is paused or held back"],
  },
  {
    name: "a worker's name for whom a plan has named",
    auto: true,
    subject: { store: writing(namingAfterWorkers) },
    breaks: [
      "a worker's name is for what auto mode dispatches, and for all of it",
      "no more agents work under workers' names than there are workers, and no two under one",
    ],
  },
  {
    name: "more workers than were wanted",
    auto: true,
    subject: {
      config: (real) => ({ ...real, auto: { ...real.auto, concurrency: real.auto.concurrency + 2 } }),
    },
    breaks: ["no more agents work under workers' names than there are workers, and no two under one"],
  },
  {
    name: "an end of a task that is recorded twice",
    auto: true,
    subject: {
      store: writing((events) => [...events, ...events.filter(({ type }) => type === "pool.ended")]),
    },
    breaks: ["a task of the pool ends once"],
  },
  {
    name: "an end of a task that nobody records",
    auto: true,
    subject: { store: losing((event) => event.type === "pool.ended") },
    breaks: ["a task of the pool ends once"],
  },

  {
    name: "parts under ids that were used before",
    replanning: true,
    subject: { store: writing(addingTwice) },
    breaks: ["no id of a node is used twice"],
  },
  {
    name: "a split that changes what is done",
    from: 7,
    replanning: true,
    subject: { store: (real) => rewritingDone()(real) },
    breaks: ["what has ended stays as it is"],
  },
  {
    name: "parts that wait for what waits for them",
    replanning: true,
    subject: {
      store: writing(splitting(({ dependsOn }, waiting) => ({ dependsOn: [...dependsOn, ...waiting] }))),
    },
    breaks: ["no plan goes in a circle"],
  },
  {
    name: "splits without a bound",
    replanning: true,
    subject: {
      config: (real) => {
        const steps = { ...real.recovery.steps, hints: 0, interrupts: 0, splits: 20 };
        const planner = { ...real.planner, replansPerNode: 20, diagnoseStalls: false };
        return { ...real, planner, recovery: { ...real.recovery, steps } };
      },
    },
    breaks: ["work is split no oftener than it may be"],
  },
  {
    name: "dependents of split work that nobody tells",
    replanning: true,
    subject: { store: losing((event) => event.type === "work.redefined") },
    breaks: ["what waited for work that was split waits for all of its parts"],
  },
  {
    name: "a split that ends the node and brings no parts",
    replanning: true,
    subject: { store: losing((event) => event.type === "work.added" && event.data.splitFrom !== undefined) },
    breaks: [
      "no plan goes in a circle",
      "everything comes to its end",
      "every open node has a next actor, and a person who is one has been told",
      "a parent is done when its children are, and not before",
    ],
  },

  {
    name: "a removed dedupe",
    from: 22,
    often: ["death"],
    subject: { registry: { ...REGISTRY, deliver: deliverWithoutDedupe } },
    breaks: ["nobody is told the same message twice"],
  },
  {
    name: "a clock read",
    subject: {
      store: (real) => ({
        ...real,
        commit: (request) => real.commit({ ...request, at: Math.floor(performance.timeOrigin) }),
      }),
    },
    breaks: ["every event is of its own time"],
  },
  {
    name: "an exemption that is forgotten when the agent is started",
    subject: {
      store: writing((events) =>
        events.map((event) => {
          if (event.type !== "agent.slung") return event;
          const { exempt: _forgotten, ...data } = event.data;
          return { ...event, data };
        }),
      ),
    },
    breaks: ["nothing is said to one that is exempt from nudges, and nothing done to one that is not supervised"],
  },
  {
    name: "a dropped budget",
    subject: {
      config: (real) => {
        const steps = { ...real.recovery.steps, hints: 1_000, warnings: 0, lastWarnings: 0 };
        return { ...real, recovery: { ...real.recovery, steps } };
      },
    },
    breaks: ["nudges, restarts and questions are bounded"],
  },
  {
    name: "a lost row of the outbox",
    subject: {
      drain: (parts, registry, options = {}) =>
        drain(parts, registry, {
          ...options,
          only: (action) => action.kind !== "notify" && (options.only?.(action) ?? true),
        }),
    },
    breaks: ["everything comes to its end"],
  },
  {
    name: "a wait until a clock has caught up that was set back",
    subject: {
      drain: (parts, registry, options = {}) =>
        drain(parts, registry, {
          ...options,
          only: (action) => action.dueAt <= parts.clock.now() && (options.only?.(action) ?? true),
        }),
    },
    breaks: ["everything comes to its end", "every open node has a next actor, and a person who is one has been told"],
  },
  {
    name: "done before it is written down",
    subject: { tick: (world, observer, reason) => tick(actingFirst(world), observer, reason) },
    breaks: ["nothing is done that was not asked for, and nothing twice"],
  },
  {
    name: "an attempt that is not checked",
    often: ["runner-dies", "late-report"],
    subject: {
      // Whoever works on the node now is taken for the speaker.
      async say(world, number, update) {
        const store = await world.writer();
        const { spoke } = await store.read({ spoke: attemptByNumber(number) });
        const { all } = await store.read({ all: attemptsOfNode(spoke?.goalId ?? "", spoke?.workNodeId ?? "") });
        return takeFields(world, all.find(isLiving)?.attempt ?? number, update);
      },
    },
    breaks: ["an attempt that has ended changes nothing"],
  },
  {
    name: "a kill on one sign",
    subject: { observer: killingOnOneSign },
    breaks: ["nothing is killed without proof or a word"],
  },
  {
    name: "a roll-up that is off by one",
    subject: { store: writing(rollingUpEarly) },
    breaks: ["a parent is done when its children are, and not before"],
  },
  {
    name: "a restart that takes any name",
    subject: { store: writing(renamingRestarts) },
    breaks: ["an agent that is started again keeps its name"],
  },
  {
    name: "a mass death that is forgotten",
    subject: { store: forgetting("mass-death") },
    breaks: ["those that died together are one loss, and come back in stages"],
  },
  {
    name: "a mass death for each death that is noticed",
    often: ["all-runners-die"],
    subject: { store: writing((events) => events.map(forgetProbe)) },
    breaks: ["those that died together are one loss, and come back in stages"],
  },
  {
    name: "a commit that is reported again and never checked again",
    from: 22,
    subject: { store: (real) => checkingOnce()(real) },
    breaks: ["every open node has a next actor, and a person who is one has been told"],
  },
  {
    name: "a review that nobody is told of",
    from: 3,
    subject: { store: losing((event) => event.type === "landing.waiting" && event.because === "review-due") },
    breaks: ["every open node has a next actor, and a person who is one has been told"],
  },
  {
    name: "work that nobody gets when its agent has ended",
    subject: { store: losing((event) => event.type === "work.requeued" && event.because === "attempt-ended") },
    breaks: ["every open node has a next actor, and a person who is one has been told"],
  },
  {
    name: "a failing provider that is forgotten",
    often: ["provider-fails"],
    subject: { store: forgetting("provider") },
    breaks: ["a failing provider is one condition, and a person is asked about it once"],
  },
  {
    name: "an agent that is blamed for its provider",
    often: ["provider-fails"],
    subject: { store: blamingTheAgent },
    breaks: ["one that waits for a person, a quota or its provider is not stalled"],
  },
  {
    name: "an agent that needs a person, and nobody looks",
    from: 4,
    subject: { store: overlookingBlockers },
    breaks: [
      "one that waits for a person, a quota or its provider is not stalled",
      "every open node has a next actor, and a person who is one has been told",
    ],
  },
  {
    name: "a person who is asked again about what they have answered",
    from: 4,
    subject: { store: forgettingAnswers },
    breaks: ["what only a person can solve is asked of one, once"],
  },
  {
    name: "starts that all fail, each time a new condition",
    often: ["no-start"],
    subject: { store: forgetting("start") },
    breaks: ["what is in the way of every start is one condition, asked about once, and no task is given up for it"],
  },
  {
    name: "starts that all fail, and nobody is told",
    from: 6,
    often: ["no-start"],
    subject: {
      store: losing(
        ({ type, because, data }) => type === "action.decided" && because === "cannot-start" && data.kind === "ask",
      ),
    },
    breaks: ["every open node has a next actor, and a person who is one has been told"],
  },
  {
    name: "tasks that are given up because no agent starts",
    often: ["no-start"],
    subject: { store: writing(givingUpStarts) },
    breaks: ["what is in the way of every start is one condition, asked about once, and no task is given up for it"],
  },
  {
    name: "a full disk that is forgotten",
    often: ["disk-low"],
    subject: { store: forgetting("disk") },
    breaks: ["a disk that is nearly full starts nobody, and a person is asked about it once, until there is room"],
  },
  {
    name: "a full disk that nobody is asked about",
    often: ["disk-low"],
    subject: {
      store: losing(
        ({ type, because, data }) => type === "action.decided" && because === "disk-nearly-full" && data.kind === "ask",
      ),
    },
    breaks: ["a disk that is nearly full starts nobody, and a person is asked about it once, until there is room"],
  },
  {
    name: "a question about a disk that has room again",
    often: ["disk-low"],
    subject: { store: losing(({ type }) => type === "disk.enough") },
    breaks: ["a disk that is nearly full starts nobody, and a person is asked about it once, until there is room"],
  },
  {
    name: "agents that start on a full disk",
    often: ["disk-low"],
    subject: { config: (real) => ({ ...real, capacity: { ...real.capacity, minDisk: 0, minDiskPercent: 0 } }) },
    breaks: ["a disk that is nearly full starts nobody, and a person is asked about it once, until there is room"],
  },
  {
    name: "files that are everybody's",
    subject: { store: forgettingFiles },
    breaks: ["no two agents have files that overlap"],
  },
  {
    name: "a spent budget that nobody is asked about",
    from: 9,
    subject: {
      store: losing(
        ({ type, because, data }) => type === "action.decided" && because === "budget-spent" && data.kind === "ask",
      ),
    },
    breaks: ["every open node has a next actor, and a person who is one has been told"],
  },
  {
    name: "a raised budget that is forgotten",
    from: 9,
    subject: { store: forgetting("allowance") },
    breaks: ["every open node has a next actor, and a person who is one has been told"],
  },
  {
    name: "a session for whoever asks",
    from: 6,
    subject: { store: forgettingSessions },
    breaks: ["a session is never in two living attempts"],
  },
  {
    name: "a restart in a worktree that is broken",
    often: ["worktree-breaks", "runner-dies"],
    subject: { store: overlookingBroken, registry: { ...REGISTRY, restart: restartBlindly } },
    breaks: ["nobody is started in a worktree that is broken"],
  },
  {
    name: "fresh worktrees without end",
    often: ["worktree-breaks"],
    subject: { store: forgettingBroken },
    breaks: ["nudges, restarts and questions are bounded"],
  },
  {
    name: "settings that nobody asks for",
    often: ["settings-away"],
    subject: {
      isLaneHeld: async () => false,
      tick: (world, observer, reason) => tick(underAnySettings(world), observer, reason),
      drain: (parts, registry, options) => drain(underAnySettings(parts), registry, options),
    },
    breaks: ["nothing is started, checked or landed while the settings are missing"],
  },
  {
    name: "a learning that is told again",
    subject: { store: tellingMore((_id, told) => [told]) },
    breaks: ["nobody is told a learning twice"],
  },
  {
    name: "a learning that goes back to whoever found it",
    subject: { store: tellingMore((_id, _told, { finder }) => (finder ? [finder] : [])) },
    breaks: ["a learning is not told to whoever found it"],
  },
  {
    name: "a learning for everybody",
    subject: {
      store: tellingMore((_id, told, { slung }) => {
        const [goal] = told.node.split("/");
        return slung.filter(({ node }) => !node.startsWith(`${goal}/`)).slice(0, 1);
      }),
    },
    breaks: ["a learning is told only to those it concerns", "nobody is told a learning twice"],
  },
  {
    name: "learnings without a rate",
    subject: { config: (real) => ({ ...real, sync: { ...real.sync, rate: { ...real.sync.rate, max: 100 } } }) },
    breaks: ["nobody is told more learnings than the rate allows"],
  },
  {
    name: "a hint for whoever cannot be judged",
    from: 3,
    subject: { config: (real) => ({ ...real, watch: { ...real.watch, staleAfter: 0 } }) },
    breaks: ["degraded mode touches nobody who waits, works, is paused or exempt"],
  },
  {
    name: "thresholds that overlook who waits for a person",
    from: 3,
    subject: {
      store: seeingBlindly(({ assignments, node }) => ({
        questions: [],
        assignments: assignments.map((one) => ({ ...one, status: "active" })),
        node: node && { ...node, status: "in_progress" },
      })),
    },
    breaks: ["degraded mode touches nobody who waits, works, is paused or exempt"],
  },
  {
    name: "an exemption that thresholds do not know",
    from: 111,
    subject: { store: seeingBlindly(({ attempt }) => ({ attempt: attempt && { ...attempt, exempt: undefined } })) },
    breaks: ["degraded mode touches nobody who waits, works, is paused or exempt"],
  },
  {
    name: "degraded mode that nobody ends",
    from: 3,
    subject: { store: losing(({ type }) => type === "watch.restored") },
    breaks: ["degraded mode ends by itself"],
  },
  {
    name: "a watch with a measure of its own",
    from: 3,
    subject: { rounds: (real) => ({ ...real, look: (world) => real.look(lessPatient(world)) }) },
    breaks: ["health never contradicts the tick's judgement"],
  },
];
