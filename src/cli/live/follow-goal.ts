/**
 * `overseer do` and `goal follow`: what becomes of each task of a goal as lines, until all has landed, it waits for a
 * person or has ended. It only looks: leaving it leaves the agents at work.
 */
import type { Call } from "#cli/command.ts";
import { paragraph } from "#cli/demo/lines.ts";
import { shortSpan, shortTime, withShortTimes } from "#cli/short-time.ts";
import { renderLandings, tellCost } from "#cli/status-page.ts";
import { inert, plural, roomOf } from "#cli/text.ts";
import {
  type FollowedEnd,
  type GoalEnding,
  type GoalSight,
  observeFollowedGoal,
  readGoalEnding,
  readGoalSteps,
  readLatestGoalSteps,
} from "#control/followed-goal.ts";
import { presentFollowedEnd } from "#control/present.ts";
import type { World } from "#control/world.ts";
import { tellEvent } from "#domain/explain/event-line.ts";
import type { FollowedGoal } from "#domain/explain/followed-goal.ts";
import type { EventOf } from "#domain/model/event.ts";
import { countAll } from "#domain/plans/rollup.ts";
import { OverseerError } from "#errors.ts";
import { openProgressLine, type ProgressLine } from "./progress-line.ts";

const LOOK_EVERY_MS = 300;
/** Somebody who comes back sees so many of the last steps. */
const STEPS_AGAIN = 8;

type Waits = Extract<FollowedGoal, { kind: "waits" }>;
export type GoalEnd = Exclude<FollowedGoal, { kind: "goes-on" }> | { readonly kind: "left" };

export interface FollowedTo {
  readonly end: GoalEnd;
  /** Up to where the log was told. */
  readonly last: number;
}

export interface FollowFrom {
  /** From where in the log it is told; the last few steps where it does not say. */
  readonly after?: number;
  /** Ends at finished work that is not among these, so that it can be decided. */
  readonly putOff?: ReadonlySet<string>;
}

export async function followGoal(
  call: Call,
  world: World,
  goalId: string,
  { after, putOff }: FollowFrom = {},
): Promise<FollowedTo> {
  const { out } = call;
  out.live?.();
  const interrupt = awaitInterrupt();
  const isWatched = out.interactive && !call.json;
  const line = openProgressLine(isWatched, out.width);
  if (isWatched && after === undefined) out.remark("Ctrl-C leaves it running.");
  try {
    let steps = await (after === undefined
      ? readLatestGoalSteps(world, goalId, STEPS_AGAIN)
      : readGoalSteps(world, goalId, after));
    for (;;) {
      const sight = await observeFollowedGoal(world, goalId, putOff);
      // Read after it was judged: what happened before the end is shown before the end is told.
      const more = await readGoalSteps(world, goalId, steps.last);
      for (const event of [...steps.shown, ...more.shown]) tellStep(call, line, event, world.clock.now());
      steps = { shown: [], last: more.last };
      if (sight.followed.kind !== "goes-on") return { end: sight.followed, last: steps.last };
      line.say(tellSight(sight));
      if ((await Promise.race([world.clock.sleep(LOOK_EVERY_MS), interrupt.stop])) === "stop") {
        return { end: { kind: "left" }, last: steps.last };
      }
    }
  } finally {
    interrupt.close();
    line.end();
  }
}

export interface Interrupt {
  /** Settles at the first Ctrl-C; without it the process would end without a word. */
  readonly stop: Promise<"stop">;
  /** From here on Ctrl-C ends the process again. */
  close(): void;
}

export function awaitInterrupt(): Interrupt {
  const { promise, resolve } = Promise.withResolvers<"stop">();
  const stop = () => resolve("stop");
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, stop);
  return { stop: promise, close: () => signals.forEach((signal) => void process.off(signal, stop)) };
}

function tellStep(call: Call, line: ProgressLine, event: EventOf, now: number): void {
  if (call.json) return;
  const { out } = call;
  const text = inert(withShortTimes(tellEvent(event), now));
  const about = event.nodeId ?? "";
  const first = `${shortTime(event.at, now)}  ${about === "" ? "" : `${inert(about)}  `}`;
  line.clear();
  for (const part of paragraph(first, text, roomOf(out), " ".repeat(7))) out.line(part);
}

function tellSight({ agents, progress, costUsd, goal }: GoalSight): string {
  const all = countAll(progress);
  const cost = tellCost(costUsd);
  const working = agents.slice(0, 3).map(({ agent, workNodeId, doing }) => `${agent} on ${workNodeId} ${doing}`);
  const more = agents.length > working.length ? ` and ${agents.length - working.length} more` : "";
  const planning = goal.planning?.status === "wanted" ? "a model is asked for a plan" : "nobody at work yet";
  const who = working.length === 0 ? planning : `${working.join(", ")}${more}`;
  return inert(`${progress.done} of ${all} done; ${who}${cost === "" ? "" : `; ${cost}`}`);
}

/** What landed, by whom, how long it took and what it cost; or what it waits for, and how to come back. */
export async function tellGoalEnd(call: Call, world: World, goalId: string, end: GoalEnd): Promise<void> {
  const { out } = call;
  if (end.kind === "left") throw describeLeft(goalId);
  const now = world.clock.now();
  const ending = await readGoalEnding(world, goalId);
  const said = inert(withShortTimes(end.text, now));
  if (call.json) out.json(presentFollowedEnd({ ...ending, ...describeEnd(end) }));
  else {
    out.line();
    if (end.kind === "landed") out.line(said);
    if (ending.landings.length > 0) tellLanded(call, ending, now);
  }
  if (end.kind === "failed") {
    throw new OverseerError("conflict", "NOT_FINISHED", said, `Next: ${end.command}`);
  }
  if (end.kind === "waits") throw describeWaits(goalId, said, end);
}

function describeEnd(end: Exclude<GoalEnd, { kind: "left" }>): Pick<FollowedEnd, "outcome" | "text" | "command"> {
  return { outcome: end.kind, text: end.text, command: end.kind === "landed" ? null : end.command };
}

/** Every way out of a goal that goes on names the same way back. */
export function tellComeBack(goalId: string): string {
  return `Come back: overseer goal follow ${goalId}`;
}

function describeLeft(goalId: string): OverseerError {
  return new OverseerError(
    "unconfirmed",
    "STILL_AT_WORK",
    `${goalId} goes on without you.`,
    `${tellComeBack(goalId)}\nEnd one task of it: overseer work cancel ${goalId}/<task>; all of it: overseer goal cancel ${goalId}`,
  );
}

function describeWaits(goalId: string, said: string, { command, more }: Waits): OverseerError {
  const others = more === 0 ? "" : ` ${plural(more, "more thing waits", "more things wait")} for you: overseer status`;
  return new OverseerError(
    "unconfirmed",
    "WAITS_FOR_YOU",
    `${said}${others}`,
    `Next: ${command}\n${tellComeBack(goalId)}`,
  );
}

function tellLanded({ out }: Call, { landings, costUsd, tookMs }: GoalEnding, now: number): void {
  const stand = landings.filter(({ back }) => back === null);
  const target = [...new Set(landings.map((one) => one.target))].join(", ");
  const cost = tellCost(costUsd);
  const facts = [`in ${shortSpan(tookMs)}`, ...(cost === "" ? [] : [`for ${cost}`])].join(", ");
  out.line(`Landed on ${inert(target)}: ${plural(stand.length, "task")}, ${facts}`);
  for (const line of renderLandings(landings, now, { plain: false, colour: out.colour, width: roomOf(out) })) {
    out.line(line);
  }
}
