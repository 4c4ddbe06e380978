/**
 * What one may ask of agents and do to them. Verbs write an intent into the store and poke the runner; the runner does
 * it and says so. Where no runner is left to ask, the verb cleans up itself.
 */

import { buryDead, settleLeftovers, undoSling } from "#act/attempt-end/end-attempt.ts";
import { logDirOf, removalLimits, wakeRunner } from "#act/attempt-files.ts";
import { landingBranch } from "#act/landing/target-branch.ts";
import { type AgentIdentity, afterSession, newIdentity, type SessionOutcome } from "#domain/agents/identity.ts";
import type { SeenStatus } from "#domain/agents/seen.ts";
import { judgeSeenStatus } from "#domain/agents/seen.ts";
import { type AfterStop, stopAttempt } from "#domain/agents/stop-agent.ts";
import { refuse } from "#domain/core/refusal.ts";
import { tellDoing } from "#domain/explain/doing.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel, isLiving, pauseAttempt, resumeAttempt } from "#domain/model/attempt.ts";
import type { Decision } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { assertRemovable, type RemovalOutcome, type RemovalRequest, removeWorktree } from "#git/worktree-removal.ts";
import { nameAwaited } from "#store/agent-rows.ts";
import { attemptByNumber, attemptsOfNode, latestAttempts, livingAttempts } from "#store/attempts.ts";
import { pulseOf, pulsesOfLiving } from "#store/signals.ts";
import { nodeById, nodesAtStandstill } from "#store/work.ts";
import type { TerminalHandle } from "#terminals/terminal.ts";
import { type LifeWords, readLifeWords } from "./life-words.ts";
import { assertOneMeaning, resolveAgent } from "./names.ts";
import { forgetStarts, isLeased } from "./worktrees.ts";
import type { World } from "./world.ts";
import { assertAllowed } from "./world.ts";

export interface AgentView extends Attempt, LifeWords {
  readonly seen: SeenStatus;
  /** The same with what it waits for, in the words of `status`. */
  readonly doing: string;
  readonly pulse: Pulse | null;
}

export async function agents(world: World, filter: { all?: boolean; limit?: number } = {}): Promise<AgentView[]> {
  const first = await viewAgents(world, filter);
  // An agent says that it has ended before its process goes; whoever seems dead is read once more.
  return first.some(({ seen }) => seen === "dead") ? viewAgents(world, filter) : first;
}

async function viewAgents(world: World, filter: { all?: boolean; limit?: number }): Promise<AgentView[]> {
  const store = await world.reader();
  const { living, recent, pulses, nodes } = await store.read({
    living: livingAttempts(),
    recent: latestAttempts(filter.limit ?? 50),
    pulses: pulsesOfLiving(),
    nodes: nodesAtStandstill(),
  });
  const shown = filter.all ? recent.toReversed() : living;
  const words = await readLifeWords(world);
  return shown.map((attempt) =>
    viewOf(world, attempt, words(attempt), {
      pulse: pulses.find((pulse) => pulse.attempt === attempt.attempt),
      node: nodes.find(({ goalId, workNodeId }) => goalId === attempt.goalId && workNodeId === attempt.workNodeId),
    }),
  );
}

function viewOf(
  world: World,
  attempt: Attempt,
  words: LifeWords,
  { pulse, node }: { readonly pulse?: Pulse | undefined; readonly node?: WorkNode | undefined },
): AgentView {
  const seen = judgeSeen(world, attempt, pulse);
  const doing = tellDoing({ seen, waitingOn: nameAwaited(attempt.waiting), turns: pulse?.turns ?? 0 }, node);
  return { ...attempt, ...words, seen, doing, pulse: pulse ?? null };
}

function judgeSeen(world: World, attempt: Attempt, pulse: Pulse | undefined): SeenStatus {
  const owner = attempt.runner ?? attempt.slinger;
  return judgeSeenStatus(
    { status: attempt.status, inTurn: pulse?.inTurn ?? false, waits: attempt.waiting !== null },
    { lives: () => world.processes.alive(owner), isStopped: () => world.processes.isStopped(owner) },
  );
}

export interface AgentDetail {
  readonly name: string;
  readonly current: AgentView | null;
  readonly identity: AgentIdentity | null;
  readonly attempts: readonly Attempt[];
}

/** AGENT-3: one agent by name, with what it has done over all its sessions. */
export async function agent(world: World, word: string): Promise<AgentDetail> {
  const store = await world.reader();
  const { agent: name } = await resolveAgent(store, word);
  const { attempts } = await store.read({ attempts: latestAttempts(200, name) });
  const living = attempts.find(isLiving);
  const words = await readLifeWords(world);
  return {
    name,
    current: living ? viewOf(world, living, words(living), await readAround(world, living)) : null,
    identity: identityOf(attempts.toReversed()),
    attempts,
  };
}

/** The curriculum is folded from the attempts themselves; nothing is stored twice. */
function identityOf(oldestFirst: readonly Attempt[]): AgentIdentity | null {
  const first = oldestFirst[0];
  if (!first) return null;
  return oldestFirst
    .filter((attempt) => attempt.end && attempt.endedAt !== null)
    .reduce(
      (identity, attempt) =>
        afterSession(identity, {
          attempt: attempt.attempt,
          goalId: attempt.goalId,
          nodeId: attempt.workNodeId,
          outcome: outcomeOf(attempt),
          summary: attempt.end?.detail ?? "",
          startedAt: attempt.startedAt ?? attempt.createdAt,
          endedAt: attempt.endedAt ?? attempt.updatedAt,
          domains: attempt.scope ?? [],
        }),
      newIdentity(first.agent, first.capability, first.createdAt),
    );
}

function outcomeOf(attempt: Attempt): SessionOutcome {
  const causes: Record<string, SessionOutcome> = {
    finished: "done",
    failed: "failed",
    failed_to_start: "failed",
    died: "died",
    stopped: "stopped",
  };
  return causes[attempt.end?.cause ?? "died"] ?? "died";
}

/** Whom a word means: the agent at work under it, else the last that was. Throws AGENT_UNKNOWN. */
export async function readAgent(world: World, word: string): Promise<Attempt> {
  return resolveAgent(await world.reader(), word);
}

/**
 * Whom a word means, for a verb that changes it, once what a killed command or runner left is settled. The verb acts on the number
 * found here: the agent may end in between, and another may carry its name by then.
 */
export async function findAgent(
  world: World,
  name: string,
  tell: (sentence: string) => void = () => {},
): Promise<Attempt> {
  await assertOneMeaning(await world.reader(), name);
  for (const sentence of await settleLeftovers(world)) tell(sentence);
  return readAgent(world, name);
}

/** Everybody at work, for `--all`. */
export async function listLivingAgents(world: World): Promise<readonly Attempt[]> {
  await settleLeftovers(world);
  return (await (await world.writer()).read({ all: livingAttempts() })).all;
}

/** Changes one life, if it still is one. */
async function changeLiving(
  world: World,
  number: number,
  rule: (attempt: Attempt) => Decision<number>,
): Promise<number> {
  const store = await world.writer();
  const changed = orThrow(
    await store.commit({
      at: world.clock.now(),
      reads: { attempt: attemptByNumber(number) },
      decide: ({ attempt }) => (attempt && isLiving(attempt) ? rule(attempt) : refuseEnded(attempt, number)),
    }),
  );
  await wakeRunner(world, changed);
  return changed;
}

function refuseEnded(attempt: Attempt | undefined, number: number): Decision<never> {
  return refuse(
    "conflict",
    "AGENT_ENDED",
    `${attempt ? attemptLabel(attempt) : `#${number}`} has ended: ${attempt?.end?.detail ?? "nothing is known about it"}`,
    `Continue it in a new attempt: 'overseer restart ${attempt?.agent ?? "<agent>"}'.`,
  );
}

export async function pauseAgent(
  world: World,
  number: number,
  order: { now: boolean; reason: string | null },
): Promise<number> {
  return changeLiving(world, number, (attempt) => pauseAttempt(attempt, attempt.agent, order, momentOf(world)));
}

export async function resumeAgent(world: World, number: number, reason: string | null): Promise<number> {
  const order = { reason, messageId: world.ids.next("m_") };
  return changeLiving(world, number, (attempt) => resumeAttempt(attempt, attempt.agent, order, momentOf(world)));
}

/**
 * Stops an agent and waits until it has ended; what it had not committed is kept. Returns the ended attempt; one that
 * has ended meanwhile, or before, is as good as stopped. What becomes of its task is `after`.
 */
export async function stopAgent(
  world: World,
  number: number,
  reason: string | null,
  after: AfterStop = "queue",
): Promise<Attempt> {
  const store = await world.writer();
  const { one } = await store.read({ one: attemptByNumber(number) });
  const { goalId = "", workNodeId = "", agent: name = `#${number}` } = one ?? {};
  const outcome = await store.commit({
    at: world.clock.now(),
    reads: {
      attempt: attemptByNumber(number),
      node: nodeById(goalId, workNodeId),
      all: attemptsOfNode(goalId, workNodeId),
    },
    decide: ({ attempt, node, all }) => {
      const last = Math.max(0, ...all.map((other) => other.attempt));
      return stopAttempt({ attempt, node, last }, { name, reason, after }, momentOf(world));
    },
  });
  orThrow(outcome);
  await wakeRunner(world, number);
  return awaitEnd(world, number);
}

/** What a person says to let a task continue that they have stopped; null where it is not reserved for them. */
export async function findReservation(world: World, attempt: Attempt): Promise<string | null> {
  const { node } = await (await world.writer()).read({ node: nodeById(attempt.goalId, attempt.workNodeId) });
  const { blockedReason: blocked = null } = node ?? {};
  return blocked?.stopped === attempt.attempt ? (blocked.needs ?? null) : null;
}

/** Agents that were asked to stop by these events, once they have: their runners are told, and waited for. */
export async function awaitStopped(
  world: World,
  events: readonly Pick<EventOf, "type" | "attempt">[],
): Promise<readonly Attempt[]> {
  const numbers = events.flatMap((event) =>
    event.type === "agent.stop_requested" && event.attempt !== undefined ? [event.attempt] : [],
  );
  return Promise.all(
    numbers.map(async (number) => {
      await wakeRunner(world, number);
      return awaitEnd(world, number);
    }),
  );
}

/** Waits until it has ended and its runner gone; a runner that does not manage it in time is ended itself. */
async function awaitEnd(world: World, number: number): Promise<Attempt> {
  const { agents } = await world.config();
  const patience = agents.stopGrace * 2 + 10_000;
  for (const until = world.clock.now() + patience; world.clock.now() < until; ) {
    const now = await attemptNow(world, number);
    const gone = !now.runner || !world.processes.alive(now.runner);
    if (!isLiving(now) && gone) return now;
    if (now.runner && gone) break;
    await world.clock.sleep(25);
  }
  const now = await attemptNow(world, number);
  if (!isLiving(now)) return now;
  if (now.runner) await buryDead(world, now, "stopped", "Stopped; its runner did not exit in time and was killed.");
  else await undoSling(world, now, "Stopped while it was being started.");
  return attemptNow(world, number);
}

/**
 * Stops an agent and takes its worktree and branch away; unmerged and uncommitted work stays under recovery refs. What no
 * ref can keep is refused by name before anybody is stopped, unless `discard` lets it go.
 */
export async function nukeAgent(world: World, number: number, order: NukeOrder): Promise<NukeOutcome> {
  await assertRemovable(world.git, await removalOf(world, await attemptNow(world, number), order));
  const attempt = await stopAgent(world, number, order.reason ?? "nuked");
  const outcome = await removeWorktree(world.git, await removalOf(world, attempt, order));
  await forgetStarts(world, attempt.worktree);
  return { attempt, ...outcome };
}

export interface NukeOrder {
  readonly reason: string | null;
  /** Also what no ref can keep. */
  readonly discard: boolean;
}

export interface NukeOutcome extends RemovalOutcome {
  readonly attempt: Attempt;
}

async function removalOf(world: World, attempt: Attempt, { discard }: NukeOrder): Promise<RemovalRequest> {
  return {
    path: attempt.worktree,
    branch: attempt.branch,
    expectedCommonDir: world.root.gitCommonDir,
    target: await landingBranch(world),
    base: attempt.base,
    isLeased: () => isLeased(world, attempt.worktree),
    force: true,
    discard,
    ...removalLimits(await world.config()),
  };
}

/** What one look reads of a log that may be long. */
const TAIL_BYTES = 256 * 1024;

/** The last lines an agent showed, from its own log: the same with and without a terminal. */
export async function peekAgent(
  world: World,
  name: string,
  lines: number,
): Promise<{ attempt: Attempt; text: string }> {
  const attempt = await readAgent(world, name);
  const logDir = logDirOf(world.root, attempt);
  const log = Bun.file(`${logDir}/session.log`);
  const tail = (await log.exists()) ? await log.slice(-TAIL_BYTES).text() : "";
  return { attempt: { ...attempt, logDir }, text: tail.trimEnd().split("\n").slice(-lines).join("\n") };
}

/** The same with how it is seen now, for a view that stays: of an agent that was started again, the one that lives. */
export async function lookAt(
  world: World,
  name: string,
  lines: number,
): Promise<{ readonly agent: AgentView; readonly text: string }> {
  const { attempt, text } = await peekAgent(world, name, lines);
  const words = await readLifeWords(world);
  return { agent: viewOf(world, attempt, words(attempt), await readAround(world, attempt)), text };
}

/** What says how an agent is seen: its own last signs, and where its work stands. */
async function readAround(world: World, { attempt, goalId, workNodeId }: Attempt) {
  return (await world.reader()).read({ pulse: pulseOf(attempt), node: nodeById(goalId, workNodeId) });
}

/** The command that shows the agent's terminal. */
export async function attachCommand(world: World, name: string): Promise<string[]> {
  const one = await readAgent(world, name);
  if (!isLiving(one)) assertAllowed(refuseEnded(one, one.attempt));
  const terminal = await world.terminal();
  if (!one.terminal) {
    throw new OverseerError(
      "conflict",
      "NO_TERMINAL",
      `${attemptLabel(one)} has no terminal yet.`,
      "Try again in a moment.",
    );
  }
  return terminal.attachCommand(one.terminal as TerminalHandle);
}

async function attemptNow(world: World, number: number): Promise<Attempt> {
  const { now } = await (await world.writer()).read({ now: attemptByNumber(number) });
  if (!now) throw new OverseerError("internal", "GONE", `Attempt #${number} vanished.`, "Run 'overseer doctor'.");
  return now;
}

function momentOf(world: World) {
  return { now: world.clock.now(), actor: world.actor };
}
