/**
 * Which session continues with a node that is ready (DISP-3: send), instead of a new one that knows nothing yet. Only the
 * session of an agent whose work is in the target: what may still be sent back belongs to its author, and what has not
 * landed is not in the worktree of whoever comes next. It is of the same goal, role, runtime and model, has room left,
 * and ended well or is idle. One session has one next piece: whoever was given it last is the only one to pass it on.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import { findSession, isLiving } from "#domain/model/attempt.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { accountOf } from "./account.ts";
import type { Outbox } from "./draft.ts";
import type { Scene } from "./scene.ts";
import type { SessionSeen } from "./snapshot.ts";

/** Of its context, beyond which a session is too full for another piece. */
const FULL_SHARE = 0.5;

/** What a fresh agent on a node would be. */
interface WantedAgent {
  readonly capability: string;
  readonly account: string;
}

export class FreeSessions {
  /** The newest first. */
  private readonly free: readonly Attempt[];
  private readonly given: Set<number>;

  constructor(
    private readonly scene: Scene,
    outbox: Outbox,
  ) {
    const actions = [...scene.actions, ...outbox.actions];
    this.given = new Set(actions.flatMap((one) => (one.kind === "spawn" ? (one.payload.follows ?? []) : [])));
    const newest = findNewest(scene.snapshot.sessions);
    this.free = scene.snapshot.sessions
      .filter((seen) => newest.has(seen.attempt.attempt) && isFree(scene, seen))
      .map(({ attempt }) => attempt)
      .toSorted((a, b) => b.attempt - a.attempt);
  }

  /** The attempt whose session it is; what the node builds on comes first. Nobody else gets it. */
  take(node: WorkNode, wanted: WantedAgent): number | undefined {
    const fitting = this.free.filter(
      (attempt) =>
        !this.given.has(attempt.attempt) &&
        this.mayTake(attempt, node) &&
        fits(attempt, this.scene.node(attempt), node, wanted),
    );
    const found = fitting.find(({ workNodeId }) => node.dependsOn.includes(workNodeId)) ?? fitting[0];
    if (found) this.given.add(found.attempt);
    return found?.attempt;
  }

  /** What names its agent is that agent's work, and continues in no session of another unless people allow it (POL-1). */
  private mayTake({ agent }: Attempt, { hints: { suggestedAgentId: named = agent } }: WorkNode): boolean {
    return named === agent || this.scene.limits.crossAgent;
  }
}

/** The last to have each session, as far as it was the last on its node too. */
function findNewest(sessions: readonly SessionSeen[]): ReadonlySet<number> {
  const bySession = new Map<string, number>();
  const byNode = new Map<string, number>();
  for (const { attempt: one } of sessions) {
    const session = findSession(one);
    const node = `${one.goalId}/${one.workNodeId}`;
    if (session !== null) bySession.set(session, Math.max(one.attempt, bySession.get(session) ?? 0));
    byNode.set(node, Math.max(one.attempt, byNode.get(node) ?? 0));
  }
  const last = new Set(byNode.values());
  return new Set([...bySession.values()].filter((attempt) => last.has(attempt)));
}

function isFree(scene: Scene, { attempt, pulse }: SessionSeen): boolean {
  const { capability, role, interactive, keep, parent } = attempt;
  if (!scene.limits.continuing.includes(capability) || role !== capability) return false;
  if (attempt.session === null || interactive || keep || parent !== null) return false;
  if (scene.node(attempt)?.status !== "done" || attempt.pace?.level === "emergency") return false;
  return hasRoom(pulse) && (isLiving(attempt) ? isIdle(scene, attempt, pulse) : hasEndedWell(attempt));
}

/** One that does not say how full it is counts as full. */
function hasRoom(pulse: Pulse | null): boolean {
  if (!pulse?.contextWindow || pulse.quotaAt !== null || pulse.providerFailure) return false;
  return pulse.contextTokens < pulse.contextWindow * FULL_SHARE;
}

/** Between two turns with nothing to hear; that it is being ended because its work is done is as good. */
function isIdle(scene: Scene, attempt: Attempt, pulse: Pulse | null): boolean {
  const waiting = scene.agent(attempt.attempt)?.waiting;
  if (attempt.status !== "running" || isStoppedByPerson(attempt)) return false;
  return pulse?.inTurn === false && waiting?.queued === 0 && waiting.handed === 0;
}

function hasEndedWell(attempt: Attempt): boolean {
  const cause = attempt.end?.cause;
  return (cause === "finished" || cause === "stopped") && !isStoppedByPerson(attempt);
}

/** Whoever stopped it may have had enough of it. */
function isStoppedByPerson({ stopRequested }: Attempt): boolean {
  return stopRequested?.by.startsWith("human:") === true;
}

function fits(attempt: Attempt, before: WorkNode | undefined, node: WorkNode, wanted: WantedAgent): boolean {
  return (
    attempt.goalId === node.goalId &&
    attempt.capability === wanted.capability &&
    accountOf(attempt.runtime) === wanted.account &&
    before?.hints.model === node.hints.model
  );
}
