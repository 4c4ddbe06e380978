/**
 * What must hold of auto mode, beside all that holds of every fleet: held against what the pool knows it gave away, and
 * against the log in its order, so that what people said a moment too late blames nobody.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import { autoNames, isAutoName } from "#domain/model/auto.ts";
import type { EventOf } from "#domain/model/event.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Machine } from "./machine.ts";
import type { PoolPlan } from "./pool.ts";

/** Their names, each a sentence. */
export const AUTO_INVARIANTS = [
  "every task that the pool gave away becomes one goal, or is openly repeated",
  "a task of the pool ends once",
  "no more agents work under workers' names than there are workers, and no two under one",
  "no task is taken while auto mode is paused or held back",
  "a worker's name is for what auto mode dispatches, and for all of it",
] as const;
export type AutoInvariant = (typeof AUTO_INVARIANTS)[number];

type Report = (invariant: AutoInvariant, detail: string) => void;

/** What keeps tasks from being taken, as the log has it. */
interface Halts {
  readonly paused: boolean;
  readonly frozen: boolean;
  /** Questions about a landing that broke its target. */
  readonly broken: ReadonlySet<string>;
}

function followHalts(halts: Halts, event: EventOf): Halts {
  switch (event.type) {
    case "auto.paused":
    case "auto.resumed":
      return { ...halts, paused: event.type === "auto.paused" };
    case "fleet.frozen":
    case "fleet.thawed":
      return { ...halts, frozen: event.type === "fleet.frozen" };
    case "question.asked":
      if (event.because !== "after-landing-failed") return halts;
      return { ...halts, broken: new Set([...halts.broken, event.data.questionId]) };
    case "question.answered":
    case "question.withdrawn":
      if (!halts.broken.has(event.data.questionId)) return halts;
      return { ...halts, broken: new Set([...halts.broken].filter((one) => one !== event.data.questionId)) };
    default:
      return halts;
  }
}

function sayHalts({ paused, frozen, broken }: Halts): string | undefined {
  if (paused) return "auto mode is paused";
  if (frozen) return "the fleet is frozen";
  const [question] = broken;
  return question === undefined ? undefined : `${question} is open`;
}

export class AutoInvariants {
  private halts: Halts = { paused: false, frozen: false, broken: new Set() };
  /** Goals of the pool's tasks that are open, by what each is known by; and all there ever were. */
  private readonly open = new Map<string, string>();
  private readonly goals = new Map<string, "open" | "ended">();
  /** Askings whose answer is in the log. */
  private readonly answered = new Set<string>();
  private readonly keys = new Set<string>();
  /** Nodes that name their agent. */
  private readonly named = new Set<string>();

  constructor(
    private readonly machine: Machine,
    /** Null where auto mode never runs. */
    private readonly plan: PoolPlan | null,
    private readonly report: Report,
  ) {}

  /** Nobody who waits in a session asked for what the pool gave. */
  isOfPool(goalId: string | undefined): boolean {
    return this.goals.has(goalId ?? "");
  }

  isWorker(agent: string): boolean {
    return isAutoName(agent) || (this.plan !== null && agent === this.plan.standing);
  }

  /** The pool is asked now: what was written in this step and not looked at yet counts too. */
  lookAtAsking(pull: string): void {
    this.lookAtTaking(this.machine.fresh.reduce(followHalts, this.halts), `${pull} is asked`);
  }

  private lookAtTaking(halts: Halts, what: string): void {
    const halted = sayHalts(halts) ?? (this.machine.hold === null ? undefined : "the settings are missing");
    if (halted !== undefined)
      this.report("no task is taken while auto mode is paused or held back", `${what}, and ${halted}`);
  }

  lookAtEvent(event: EventOf): void {
    switch (event.type) {
      case "work.added":
        if (event.data.hints.suggestedAgentId !== undefined)
          this.named.add(nodeKey(event.goalId ?? "", event.nodeId ?? ""));
        return;
      case "pool.taken":
        this.lookAtTaken(event);
        return;
      case "pool.repeated":
        this.lookAtRepeated(event);
        return;
      case "pool.refused":
        if (this.machine.pool?.given.some(({ pull }) => pull === event.data.key) === true)
          this.reportGiven(`${event.data.key} was given, and is refused: ${event.data.problem}`);
        return;
      case "pool.ended":
        this.lookAtEnded(event);
        return;
      case "agent.slung":
        this.lookAtSlung(event);
        return;
      default:
        this.halts = followHalts(this.halts, event);
    }
  }

  private reportGiven(detail: string): void {
    this.report("every task that the pool gave away becomes one goal, or is openly repeated", detail);
  }

  private lookAtTaken({ goalId = "", seq, data: { source, key, pull } }: EventOf<"pool.taken">): void {
    const before = this.open.get(key);
    if (before !== undefined) this.reportGiven(`${key} is ${before}, and ${goalId} too`);
    if (this.goals.has(goalId)) this.reportGiven(`${goalId} is two tasks`);
    if (pull !== null) this.lookAtAnswer(pull, key);
    else if (source === "directory") this.lookAtTaking(this.halts, `#${seq} takes ${key}`);
    this.open.set(key, goalId);
    this.keys.add(key);
    this.goals.set(goalId, "open");
  }

  private lookAtRepeated({ goalId = "", data: { pull } }: EventOf<"pool.repeated">): void {
    const key = this.machine.pool?.given.find((one) => one.pull === pull)?.key ?? "";
    this.lookAtAnswer(pull, key);
    if (this.open.get(key) !== goalId) this.reportGiven(`${pull} is said to repeat ${goalId}, which is not open`);
  }

  private lookAtAnswer(pull: string, key: string): void {
    if (this.answered.has(pull)) this.reportGiven(`${pull} was answered once, and counts twice`);
    if (this.machine.pool?.given.some((one) => one.pull === pull && one.key === key) !== true)
      this.reportGiven(`${key} was never given in answer to ${pull}`);
    this.answered.add(pull);
  }

  private lookAtEnded({ goalId = "", data: { outcome } }: EventOf<"pool.ended">): void {
    const before = this.goals.get(goalId);
    if (before !== "open")
      this.report("a task of the pool ends once", `${goalId} is ${before ?? "no task of it"}, and ends as ${outcome}`);
    this.goals.set(goalId, "ended");
    for (const [key, of] of this.open) if (of === goalId) this.open.delete(key);
  }

  private lookAtSlung({ goalId, nodeId, agent = "", attempt }: EventOf<"agent.slung">): void {
    const key = nodeKey(goalId ?? "", nodeId ?? "");
    const isForWorkers = this.plan !== null && !this.named.has(key);
    if (isForWorkers === this.isWorker(agent)) return;
    this.report("a worker's name is for what auto mode dispatches, and for all of it", `${agent}#${attempt} on ${key}`);
  }

  lookAtLiving(living: readonly Attempt[]): void {
    const names = this.plan === null ? [] : [...autoNames(this.plan.workers), this.plan.standing];
    const seen = new Set<string>();
    const report = (detail: string) =>
      this.report("no more agents work under workers' names than there are workers, and no two under one", detail);
    for (const { agent, attempt } of living) {
      if (!this.isWorker(agent)) continue;
      if (seen.has(agent)) report(`two are ${agent}`);
      if (!names.includes(agent)) report(`${agent}#${attempt}, and there are ${this.plan?.workers ?? 0}`);
      seen.add(agent);
    }
  }

  /** When everything has come to its end. */
  lookAtEnd(): void {
    const { pool } = this.machine;
    if (!pool) return;
    const lost = pool.given.find(({ pull }) => !this.answered.has(pull));
    if (lost) this.reportGiven(`${lost.key} was given in answer to ${lost.pull}, and nothing became of it`);
    const overlooked = pool.listKeys().find((key) => !this.keys.has(key));
    if (overlooked !== undefined) this.reportGiven(`${overlooked} lies in the directory, and nobody took it`);
    for (const [goalId, state] of this.goals)
      if (state === "open") this.report("a task of the pool ends once", `${goalId} is over, and nothing says so`);
  }
}
