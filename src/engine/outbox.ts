/**
 * Doing what was decided. Each action is taken under a lease and carried out by whoever knows its kind, and its outcome
 * is committed; a failure is recorded, backed off and tried again, and never stops the others. Killed at any point, the
 * next drain takes up what was left: the holder of the lease is gone, and every executor looks first whether the world
 * is already so. What each kind does is not known here.
 */

import type { ActParts } from "#act/parts.ts";
import type { Moment } from "#domain/core/actor.ts";
import { followGivenUp } from "#domain/landing/after-command.ts";
import type { Action, ActionKind, ActionOutcome } from "#domain/model/action.ts";
import { closeAction, isActionDue, takeAction } from "#domain/model/action.ts";
import { accept } from "#domain/model/decision.ts";
import { isDispatch } from "#domain/model/ladder-state.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { actionByKey, dueActions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import type { Store } from "#store/store.ts";

/** Carries out one action. May throw: an OverseerError says by its kind whether trying again can help. */
export type Executor<K extends ActionKind, P> = (action: Action<K>, parts: P) => Promise<ActionOutcome>;

/** Who carries out what; a kind that nobody knows fails, and says so. */
export type Registry<P> = { readonly [K in ActionKind]?: Executor<K, P> };

export interface DrainOptions {
  /** How many at most in one go; the rest waits for the next. */
  readonly limit?: number;
  /** How many subjects at the same time; what concerns one agent or node is done in order. */
  readonly parallel?: number;
  readonly only?: (action: Action) => boolean;
  /**
   * Resolves when there may be more. What is due by then is begun while the rest is still being done: a start that
   * takes its time holds up no other.
   */
  readonly awaitMore?: () => Promise<void>;
}

export interface Drained {
  readonly done: number;
  readonly failed: number;
  /** When the next one is due that was not done now; null when there is none. */
  readonly nextDueAt: number | null;
}

type OutboxParts = Pick<ActParts, "writer" | "clock" | "processes">;

/** How many are looked through, for those that are wanted and for the next one that is due. */
const LOOKED_AHEAD = 1_000;
/** Longer than anything takes; a holder that dies is noticed at once all the same. */
const LEASE_MS = 20 * 60_000;

export async function drain<P extends OutboxParts>(
  parts: P,
  registry: Registry<P>,
  options: DrainOptions = {},
): Promise<Drained> {
  const store = await parts.writer();
  const tally = { done: 0, failed: 0 };
  const most = options.parallel ?? 4;
  const atWork = new Map<string, Promise<void>>();
  const begin = (subject: string, line: readonly Action[]) => {
    const work = async () => {
      for (const action of line) {
        const outcome = await carryOut(parts, registry, action);
        if (outcome) tally[outcome.ok ? "done" : "failed"] += 1;
      }
    };
    atWork.set(
      subject,
      work().finally(() => atWork.delete(subject)),
    );
  };
  let lines = await readLines(parts, options);
  for (;;) {
    for (const [subject, line] of lines) {
      if (atWork.size >= most) break;
      if (atWork.has(subject)) continue;
      lines.delete(subject);
      begin(subject, line);
    }
    if (atWork.size === 0) break;
    const woken = options.awaitMore?.().then(() => true);
    const news = await Promise.race([
      ...[...atWork.values()].map((one) => one.then(() => false)),
      ...(woken ? [woken] : []),
    ]);
    if (news) lines = await readLines(parts, options);
  }
  const { later } = await store.read({ later: dueActions(Number.MAX_SAFE_INTEGER, LOOKED_AHEAD) });
  const next = later.find((action) => action.status !== "taken" && (options.only?.(action) ?? true));
  return { ...tally, nextDueAt: next?.dueAt ?? null };
}

/** What is wanted and due now, by subject. */
async function readLines<P extends OutboxParts>(parts: P, options: DrainOptions): Promise<Map<string, Action[]>> {
  const store = await parts.writer();
  const { open } = await store.read({ open: dueActions(Number.MAX_SAFE_INTEGER, LOOKED_AHEAD) });
  const now = parts.clock.now();
  const due = open.filter((action) => isActionDue(action, now));
  return bySubject(due.filter(options.only ?? (() => true)).slice(0, options.limit ?? 100));
}

/** What concerns the same agent or node stays in order. */
function bySubject(actions: readonly Action[]): Map<string, Action[]> {
  const lines = new Map<string, Action[]>();
  for (const action of actions) {
    const { goalId, workNodeId, actionId } = action;
    const subject = goalId !== null && workNodeId !== null ? `${goalId}/${workNodeId}` : actionId;
    const line = lines.get(subject);
    if (line) line.push(action);
    else lines.set(subject, [action]);
  }
  return lines;
}

/** Undefined when somebody else has it, or it has ended. */
async function carryOut<P extends OutboxParts>(
  parts: P,
  registry: Registry<P>,
  { actionId }: Action,
): Promise<ActionOutcome | undefined> {
  const store = await parts.writer();
  const busy = atIt.get(store) ?? new Set<string>();
  atIt.set(store, busy);
  const key = `${holderOf(parts)} ${actionId}`;
  if (busy.has(key)) return undefined;
  busy.add(key);
  try {
    return await carryOutOn(store, parts, registry, actionId);
  } finally {
    busy.delete(key);
  }
}

/** What this process is at now, whatever the clock says of its lease: that lapses when the clock is set back. */
const atIt = new WeakMap<Store, Set<string>>();

async function carryOutOn<P extends OutboxParts>(
  store: Store,
  parts: P,
  registry: Registry<P>,
  actionId: string,
): Promise<ActionOutcome | undefined> {
  const by = holderOf(parts);
  const reads = { action: actionByKey(actionId) };
  const began = momentOf(parts);
  const isHolderGone = (holder: string) => isGone(parts, holder);
  const taken = await store.commit({
    at: began.now,
    reads,
    decide: ({ action }) => takeAction(action, { by, leaseMs: LEASE_MS, gone: isHolderGone }, began),
  });
  if (!taken.ok || !taken.value) return undefined;
  const outcome = await attempt(parts, registry, taken.value);
  const ended = momentOf(parts);
  await store.commit({
    at: ended.now,
    reads: { ...reads, open: openQuestions() },
    decide: ({ action, open }) => {
      const closed = closeAction(action, by, outcome, ended);
      return closed.ok
        ? accept([...closed.events, ...followGivenUp(action, closed.events, open, ended)], closed.value)
        : closed;
    },
  });
  return outcome;
}

function momentOf(parts: OutboxParts): Moment {
  return { now: parts.clock.now(), actor: "overseer" };
}

async function attempt<P>(parts: P, registry: Registry<P>, action: Action): Promise<ActionOutcome> {
  const executor = registry[action.kind] as Executor<ActionKind, P> | undefined;
  if (!executor) return { ok: false, problem: `no executor for ${action.kind}`, retry: "backoff" };
  try {
    return await executor(action, parts);
  } catch (error) {
    return outcomeOf(error, action.kind);
  }
}

/** Refusals that say the world is already so, or that it is no longer wanted. */
const ALREADY_SO: ReadonlySet<string> = new Set(["NODE_TAKEN", "NODE_NOT_READY", "GOAL_NOT_ACTIVE", "NODE_UNKNOWN"]);
/** Refusals that only say not yet. */
const NOT_YET: ReadonlySet<string> = new Set([
  ...["FLEET_FULL", "NO_ROOM", "SCOPE_TAKEN", "NAME_TAKEN"],
  ...["CONFIG_AWAY", "CONFIG_UNCONFIRMED"],
]);
const NOT_YET_MS = 30_000;
/** What is wrong with what one task has left, and with no other. */
const OF_ONE_TASK: ReadonlySet<string> = new Set([
  ...["WORKTREE_BROKEN", "WORKTREE_LEFT_BEHIND", "CWD_MISSING"],
  ...["WORK_NOT_SAVED", "NOT_KEPT_WHOLE", "PROCESSES_LEFT", "LAUNCH_TOO_LARGE"],
]);

/** A start that the machine or the repository is in the way of is none of its task's doing (domain/tick/start-failure.ts). */
export function outcomeOf(error: unknown, of?: ActionKind): ActionOutcome {
  const problem = messageOf(error);
  if (!(error instanceof OverseerError)) return { ok: false, problem, retry: "backoff" };
  if (ALREADY_SO.has(error.code)) return { ok: true, result: `not needed: ${problem}` };
  if (NOT_YET.has(error.code)) return { ok: false, problem, retry: { afterMs: NOT_YET_MS } };
  const isStart = of !== undefined && isDispatch(of);
  if (isStart && error.kind === "environment" && !OF_ONE_TASK.has(error.code))
    return { ok: false, problem, retry: "always", cause: error.code };
  const hopeless = error.kind === "usage" || error.kind === "not-found" || error.kind === "config";
  return { ok: false, problem, retry: hopeless ? "never" : "backoff" };
}

/** Who holds a lease: this very process. */
function holderOf(parts: OutboxParts): string {
  const { pid, start } = parts.processes.self();
  return `${pid}@${start}`;
}

function isGone(parts: OutboxParts, holder: string): boolean {
  const at = holder.indexOf("@");
  return !parts.processes.alive({ pid: Number(holder.slice(0, at)), start: holder.slice(at + 1) });
}
