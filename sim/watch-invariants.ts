/**
 * What must hold of the watch: what it does blind is held against what is true of the agents, when it sees again against
 * what is spoiled, and what it tells of them against how the tick judged them in the same moment.
 */
import type { Config } from "#config/schema.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { OwnSupervision } from "#domain/model/supervision.ts";
import { nodeKey } from "#domain/model/work.ts";
import { type Judgement, TOOL_HANGS } from "#domain/tick/liveness.ts";
import { QUIET_BY_THRESHOLD } from "#domain/watch/degraded.ts";
import type { AgentHealth } from "#domain/watch/health.ts";
import type { VirtualAgent } from "./agents.ts";
import type { Machine } from "./machine.ts";

/** Their names, each a sentence. */
export const WATCH_INVARIANTS = [
  "degraded mode touches nobody who waits, works, is paused or exempt",
  "degraded mode ends by itself",
  "health never contradicts the tick's judgement",
] as const;
export type WatchInvariant = (typeof WATCH_INVARIANTS)[number];

type Report = (invariant: WatchInvariant, detail: string) => void;

/** It may last so many steps longer than what spoiled it: nobody looks while a loop stands still. */
const STEPS_TO_SEE_AGAIN = 20;
/** What takes a tick to find out: signs of death, and that a tool does nothing. The watch hears of it from the tick. */
const BY_SIGNS: ReadonlySet<string> = new Set<Judgement["state"]>(["dead", "detecting"]);
const BY_TOOL: ReadonlySet<string> = new Set(["tool-in-flight", TOOL_HANGS, "not-supervised"]);

export class WatchInvariants {
  private degraded = false;
  private stepsDegraded = 0;
  private readonly paused = new Set<number>();
  private readonly exempt = new Map<string, OwnSupervision>();
  /** What the watch told last, and what the tick that followed at once thinks of the same agents. */
  private told: readonly AgentHealth[] = [];
  private judged: ReadonlyMap<number, Judgement> = new Map();

  constructor(
    private readonly machine: Machine,
    private readonly agents: ReadonlyMap<number, VirtualAgent>,
    private readonly config: Config,
    private readonly report: Report,
  ) {}

  noteTold(health: readonly AgentHealth[]): void {
    this.told = health;
    this.judged = new Map();
  }

  noteJudged(judged: ReadonlyMap<number, Judgement>): void {
    this.judged = judged;
  }

  lookAtEvent(event: EventOf): void {
    const { attempt = 0 } = event;
    switch (event.type) {
      case "work.added":
        if (event.data.hints.supervision)
          this.exempt.set(nodeKey(event.goalId ?? "", event.nodeId ?? ""), event.data.hints.supervision);
        return;
      case "agent.paused":
        this.paused.add(attempt);
        return;
      case "agent.resumed":
        this.paused.delete(attempt);
        return;
      case "watch.degraded":
        this.degraded = true;
        return;
      case "watch.restored":
        this.degraded = false;
        return;
      case "assignment.nudged":
      case "assignment.parked":
        if (event.because === QUIET_BY_THRESHOLD) this.lookAtStep(event);
        return;
      default:
        return;
    }
  }

  /** After a step, with what was written in it. */
  look(events: readonly EventOf[]): void {
    this.stepsDegraded = this.degraded && this.machine.spoiledPulse === null ? this.stepsDegraded + 1 : 0;
    if (this.stepsDegraded > STEPS_TO_SEE_AGAIN)
      this.report("degraded mode ends by itself", `nothing is spoiled for ${this.stepsDegraded} steps`);
    this.compare(events);
  }

  lookAtEnd(): void {
    if (this.degraded) this.report("degraded mode ends by itself", "all has ended, and it has not");
  }

  private lookAtStep(event: EventOf<"assignment.nudged" | "assignment.parked">): void {
    const why = this.findObjection(event);
    if (why === undefined) return;
    const detail = `${event.type} for ${event.agent}#${event.attempt}, which ${why}`;
    this.report("degraded mode touches nobody who waits, works, is paused or exempt", detail);
  }

  /** Why it should not have been touched; undefined where it may. */
  private findObjection({ type, goalId = "", nodeId = "", attempt = 0 }: EventOf): string | undefined {
    const exempt = this.exempt.get(nodeKey(goalId, nodeId));
    if (exempt?.enabled === false || (exempt?.nudge === false && type === "assignment.nudged")) return "is exempt";
    if (this.paused.has(attempt)) return "is paused";
    const agent = this.agents.get(attempt);
    if (!agent?.alive) return undefined;
    const { asking, blocked, failedByProvider, parkedUntil, lastActAt } = agent.truth;
    const now = this.machine.clock.monotonic();
    if (asking || blocked) return "waits for a person";
    if (failedByProvider || (parkedUntil !== null && now < parkedUntil)) return "waits for its provider";
    if (agent.isInCall) return "runs a tool";
    const { watch, recovery } = this.config;
    const least = type === "assignment.parked" ? recovery.silentAfter : watch.staleAfter;
    return now - lastActAt < least ? `acted ${now - lastActAt} ms ago` : undefined;
  }

  /** But for those about whom the tick has only just decided something, and what only its own look finds out. */
  private compare(events: readonly EventOf[]): void {
    const decidedAbout = new Set(
      events.flatMap(({ type, attempt, goalId = "", nodeId = "" }) =>
        type === "action.decided" ? [`#${attempt}`, nodeKey(goalId, nodeId)] : [],
      ),
    );
    for (const { attempt, agent, goalId, workNodeId, status, because } of this.told) {
      const judgement = this.judged.get(attempt);
      if (!judgement || decidedAbout.has(`#${attempt}`) || decidedAbout.has(nodeKey(goalId, workNodeId))) continue;
      if (judgement.state === status && judgement.because === because) continue;
      if (BY_SIGNS.has(status) || BY_SIGNS.has(judgement.state)) continue;
      if (BY_TOOL.has(because) && BY_TOOL.has(judgement.because)) continue;
      const detail = `${agent}#${attempt} is ${status} (${because}), and the tick says ${judgement.state} (${judgement.because})`;
      this.report("health never contradicts the tick's judgement", detail);
    }
    this.told = [];
  }
}
