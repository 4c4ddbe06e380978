/**
 * How decided actions are carried out, for the kinds that need nothing but what is here: putting agents to work,
 * speaking to them, holding and ending them, keeping and clearing away their work. Each looks first whether the world is
 * already so, because it may be done twice. Restarting, reassigning, checking, landing, asking and telling come from
 * whoever knows them; they are handed in beside these.
 */

import { buryDead, settleLeftovers, undoSling } from "#act/attempt-end/end-attempt.ts";
import { wakeRunner, wipLimits } from "#act/attempt-files.ts";
import { stopAgent } from "#control/agents.ts";
import { freeNames, slingAgent } from "#control/sling.ts";
import { clean } from "#control/worktrees.ts";
import type { World } from "#control/world.ts";
import { orThrow, speakingAs } from "#control/world.ts";
import type { Moment } from "#domain/core/actor.ts";
import type { Action, ActionOutcome, Words } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent, isLiving, pauseAttempt, requestInterrupt, resumeAttempt } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Letter, Message } from "#domain/model/message.ts";
import { NUDGE_SEVERITIES } from "#domain/model/message.ts";
import type { Registry } from "#engine/outbox.ts";
import { snapshotWip } from "#git/wip.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { waitingMessages } from "#store/messages.ts";
import { messageByKey } from "#store/tick.ts";
import { wasGivenOut } from "./given-out.ts";

const DONE: ActionOutcome = { ok: true };
const OVER: ActionOutcome = { ok: true, result: "its agent has ended" };

/** The executors that are known here; `more` adds the others, and wins. */
export function executors(more: Registry<World> = {}): Registry<World> {
  return {
    spawn: (action, world) => spawn(speakingAs(world, "overseer"), action),
    deliver: (action, world) => deliver(world, action),
    interrupt: (action, world) => interrupt(world, action),
    resend: (action, world) => resend(world, action),
    pause: (action, world) => pause(world, action),
    resume: (action, world) => resume(world, action),
    stop: (action, world) => end(speakingAs(world, "overseer"), action),
    snapshot: (action, world) => snapshot(world, action),
    clean: (action, world) => clear(speakingAs(world, "overseer"), action),
    ...more,
  };
}

async function spawn(world: World, action: Action<"spawn">): Promise<ActionOutcome> {
  const { goalId, workNodeId, payload } = action;
  if (goalId === null || workNodeId === null) return { ok: false, problem: "it names no node", retry: "never" };
  await settleLeftovers(world);
  const { dispatchId } = payload;
  if (await wasGivenOut(world, { goalId, workNodeId, dispatchId })) return { ok: true, result: "it is at work" };
  const isFree = await freeNames(world, { goalId, workNodeId });
  const named = payload.name !== null && isFree(payload.name);
  const slung = await slingAgent(world, {
    task: workNodeId,
    goal: goalId,
    ...(named && payload.name !== null ? { name: payload.name } : {}),
    capability: payload.capability,
    dispatchId,
    files: [],
    tags: [],
    interactive: false,
    keep: false,
    dryRun: false,
  });
  return { ok: true, result: slung.dryRun ? "nothing" : `${slung.attempt.agent}#${slung.attempt.attempt}` };
}

/** Words for an agent, as the inbox keeps them. */
function words(attempt: Attempt, { messageId, dispatchId, body }: Words, nature: Nature): NewEvent {
  const data = { messageId, from: "overseer", body, dispatchId, ...nature };
  return attemptEvent(attempt, "overseer", "message.queued", "decided", data);
}

type Nature = Pick<Letter, "kind" | "tone" | "expiresAt">;
const INSTRUCTION: Nature = { kind: "instruction" };

/** A nudge that is not seen in time is past its moment; an instruction stays. */
async function deliver(world: World, action: Action<"deliver">): Promise<ActionOutcome> {
  const { inbox } = await world.config();
  const { kind, severity } = action.payload;
  const tone = NUDGE_SEVERITIES.find((one) => one === severity) ?? "hint";
  const nudge: Nature = { kind: "nudge", tone, expiresAt: world.clock.now() + inbox.nudgeExpiry };
  const nature = kind === "nudge" || kind === "status" ? nudge : INSTRUCTION;
  return speak(world, action, (attempt, known) => (known ? [] : [words(attempt, action.payload, nature)]));
}

type Speaking = Action<"deliver"> | Action<"resend">;

/** Commits what is to be said to a living agent, once, and tells its runner to look. */
async function speak(
  world: World,
  action: Speaking,
  say: (attempt: Attempt, known: Message | undefined, waiting: readonly Message[]) => readonly NewEvent[],
): Promise<ActionOutcome> {
  const number = action.attempt ?? 0;
  const moment = momentOf(world);
  const said = await commit(world, moment, number, action.payload.messageId, (attempt, known, waiting) =>
    accept(say(attempt, known, waiting), true),
  );
  return said ? DONE : OVER;
}

async function commit(
  world: World,
  moment: Moment,
  number: number,
  messageId: string,
  rule: (attempt: Attempt, known: Message | undefined, waiting: readonly Message[]) => Decision<boolean>,
): Promise<boolean> {
  const store = await world.writer();
  const done = orThrow(
    await store.commit({
      at: moment.now,
      reads: { attempt: attemptByNumber(number), known: messageByKey(messageId), waiting: waitingMessages(number) },
      decide: ({ attempt, known, waiting }) =>
        attempt && isLiving(attempt) ? rule(attempt, known, waiting) : accept([], false),
    }),
  );
  if (done) await wakeRunner(world, number);
  return done;
}

async function interrupt(world: World, action: Action<"interrupt">): Promise<ActionOutcome> {
  const moment = momentOf(world);
  const done = await commit(world, moment, action.attempt ?? 0, "", (attempt) =>
    interruptOnce(attempt, action, action.payload.reason, moment),
  );
  return done ? DONE : OVER;
}

/** Asked for once per action, however often that is carried out. */
function interruptOnce(attempt: Attempt, action: Action, reason: string, moment: Moment): Decision<boolean> {
  if ((attempt.interruptRequestedAt ?? 0) >= action.decidedAt) return accept([], true);
  const asked = requestInterrupt(attempt, attempt.agent, reason, moment);
  return asked.ok ? accept(asked.events, true) : asked;
}

/** The turn is interrupted first. What still waits in the inbox is not written a second time; interrupting hands it over. */
async function resend(world: World, action: Action<"resend">): Promise<ActionOutcome> {
  const moment = momentOf(world);
  return speak(world, action, (attempt, known, waiting) => {
    const broken = interruptOnce(attempt, action, "Its instruction is given again.", moment);
    const { rerun, dispatchId } = action.payload;
    const lies = !rerun && waiting.some((message) => message.dispatchId === dispatchId);
    return [
      ...(broken.ok ? broken.events : []),
      ...(known || lies ? [] : [words(attempt, action.payload, INSTRUCTION)]),
    ];
  });
}

async function pause(world: World, action: Action<"pause">): Promise<ActionOutcome> {
  const moment = momentOf(world);
  const { now, reason, cause } = action.payload;
  const done = await commit(world, moment, action.attempt ?? 0, "", (attempt) => {
    if (attempt.status === "paused") return accept([], true);
    const paused = pauseAttempt(attempt, attempt.agent, { now, reason, because: cause }, moment);
    return paused.ok ? accept(paused.events, true) : paused;
  });
  return done ? DONE : OVER;
}

async function resume(world: World, action: Action<"resume">): Promise<ActionOutcome> {
  const moment = momentOf(world);
  const { reason, messageId } = action.payload;
  const done = await commit(world, moment, action.attempt ?? 0, messageId, (attempt, known) => {
    if (attempt.status !== "paused" || known) return accept([], true);
    const resumed = resumeAttempt(attempt, attempt.agent, { reason, messageId }, moment);
    return resumed.ok ? accept(resumed.events, true) : resumed;
  });
  return done ? DONE : OVER;
}

/** Ends it and waits until it has ended; one that is dead is only cleaned up after. */
async function end(world: World, action: Action<"stop">): Promise<ActionOutcome> {
  const { reason, cause } = action.payload;
  await settleLeftovers(world);
  const attempt = await attemptOf(world, action);
  if (!attempt || !isLiving(attempt)) return OVER;
  if (cause === "asked") {
    await stopAgent(world, attempt.attempt, reason);
    return DONE;
  }
  const asked = attempt.stopRequested !== null;
  if (attempt.runner) await buryDead(world, attempt, asked ? "stopped" : "died", reason);
  else await undoSling(world, attempt, reason);
  return DONE;
}

async function snapshot(world: World, action: Action<"snapshot">): Promise<ActionOutcome> {
  const attempt = await attemptOf(world, action);
  if (!attempt) return OVER;
  const kept = await snapshotWip(world.git, {
    worktree: attempt.worktree,
    assignment: attempt.assignmentId,
    expectedCommonDir: world.root.gitCommonDir,
    limits: wipLimits(await world.config()),
  });
  return { ok: true, result: kept.kind === "clean" ? "there was nothing to keep" : kept.ref };
}

async function clear(world: World, action: Action<"clean">): Promise<ActionOutcome> {
  if (action.agent === null) return { ok: false, problem: "it names no agent", retry: "never" };
  const { kept } = await clean(world, { name: action.agent, force: false });
  const stays = kept.find((one) => action.attempt === null || one.attempt === action.attempt);
  return stays ? { ok: true, result: `it stays: ${stays.because}` } : DONE;
}

async function attemptOf(world: World, action: Action): Promise<Attempt | undefined> {
  const { one } = await (await world.writer()).read({ one: attemptByNumber(action.attempt ?? 0) });
  return one;
}

function momentOf(world: World): Moment {
  return { now: world.clock.now(), actor: "overseer" };
}
