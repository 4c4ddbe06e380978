/**
 * Every kind of event as one line of the log for people: its sentence, and whether it is one that everybody wants to read.
 * Ticks, steps, actions and receipts are how Overseer works inside; `events --all` shows them too. The compiler refuses a
 * kind that is missing here.
 */
import type { EventOf, EventType } from "#domain/model/event.ts";
import { isStepOnTheWay, sentence } from "./why.ts";

interface Telling<T extends EventType> {
  readonly isShown: (event: EventOf<T>) => boolean;
  /** Where `why` has no sentence for it. */
  readonly tell?: (event: EventOf<T>) => string;
}

const always = () => true;
const never = () => false;

function show<T extends EventType>(tell?: Telling<T>["tell"]): Telling<T> {
  return { isShown: always, ...(tell ? { tell } : {}) };
}

function hide<T extends EventType>(tell?: Telling<T>["tell"]): Telling<T> {
  return { isShown: never, ...(tell ? { tell } : {}) };
}

function showIf<T extends EventType>(isShown: Telling<T>["isShown"], tell?: Telling<T>["tell"]): Telling<T> {
  return { isShown, ...(tell ? { tell } : {}) };
}

const TELLINGS: { readonly [T in EventType]: Telling<T> } = {
  "goal.created": show(),
  "goal.updated": show(),
  "goal.paused": show(),
  "goal.resumed": show(),
  "goal.completed": show(),
  "goal.cancelled": show(),
  "goal.archived": show(),
  "plan.accepted": show(),
  "plan.wanted": show(),
  "plan.waits": show(),
  "plan.proposed": show(),
  "plan.failed": show(),
  "plan.dropped": show(),
  "work.added": hide(),
  "work.redefined": show(),
  "work.queued": showIf(isNoStep, () => "It went through the queue on its way."),
  "work.started": showIf(
    (event) => isNoStep(event) && event.because !== "given-out",
    () => "It was begun on its way.",
  ),
  "work.requeued": show(),
  "work.blocked": show(),
  "work.unblocked": show(),
  "work.done": show(),
  "work.cancelled": show(),
  "work.overridden": show(),
  "work.taken_back": show(),
  "work.given_anew": show(),
  "work.claimed": show(),
  "work.checked": show(),
  "work.returned": show(),
  "check.started": hide(({ data }) => `The check ${data.name} began on commit ${data.commit.slice(0, 10)}.`),
  "check.finished": showIf(({ data }) => data.verdict !== "pass"),
  "landing.prepared": hide(),
  "landing.landed": show(),
  "landing.refused": show(),
  "landing.waiting": show(),
  "landing.approved": show(),
  "landing.index_mended": show(),
  "landing.undone": show(),
  "remote.followed": show(({ data }) => `${data.target} caught up with ${data.remote}.`),
  "remote.pushed": show(({ data }) => `${data.target} was sent to ${data.remote}.`),
  "remote.refused": show(({ data }) => `${data.remote} did not take ${data.target}: ${data.detail}`),
  "merge.queued": hide(),
  "merge.testing": hide(),
  "merge.waiting": showIf(({ data }) => data.detail !== null),
  "merge.parked": show(),
  "merge.landed": hide(),
  "merge.ended": show(),
  "merge.resolved": show(),
  "model.asked": show(),
  "assignment.created": hide(),
  "assignment.dispatched": hide(),
  "assignment.delivered": hide(),
  "assignment.active": hide(),
  "assignment.stalled": show(),
  "assignment.blocked": show(),
  "assignment.done": hide(),
  "assignment.cancelled": show(),
  "assignment.nudged": show(),
  "assignment.status_requested": show(),
  "assignment.resent": show(),
  "assignment.replanning": show(),
  "assignment.replan_skipped": show(),
  "assignment.strengthened": show(),
  "assignment.diagnosed": show(),
  "assignment.diagnosis_failed": show(),
  "assignment.advised": show(),
  "assignment.reassigning": show(),
  "assignment.parked": show(),
  "assignment.escalated": show(),
  "assignment.restarting": show(),
  "assignment.doubted": hide(),
  "assignment.progressed": hide(),
  "agent.slung": show(),
  "agent.step": hide(({ data }) => `The step "${data.step}" of starting it is ${data.state}.`),
  "agent.starting": hide(() => "Its runner is started."),
  "agent.started": show(),
  "agent.leg": hide(({ data }) => `Its CLI was started (pid ${data.process.pid}).`),
  "agent.paused": show(),
  "agent.resumed": show(),
  "agent.stop_requested": show(),
  "agent.interrupt_requested": show(),
  "agent.relocated": show(),
  "agent.ended": show(),
  "agent.worktree_broken": show(),
  "agent.worktree_kept": show(),
  "agent.fenced": show(),
  "agent.unguarded": show(),
  "agent.steered": show(),
  "agent.steering_refuted": show(),
  "agent.pace": show(),
  "agent.blocked": show(),
  "agent.waiting": show(),
  "agent.woken": hide(({ data }) => `It was woken by ${data.by}.`),
  "agent.announced": hide(({ data }) => `It was told that ${data.left} more messages wait.`),
  "agent.terminal_regained": show(),
  "checkout.changed": show(),
  "message.queued": showIf(
    ({ data }) => data.dispatchId == null,
    ({ data }) => `An instruction for it was queued (${data.messageId}).`,
  ),
  "message.handed": hide(({ data }) => `The message ${data.messageId} was handed over.`),
  "message.seen": hide(({ data }) => `The message ${data.messageId} was seen.`),
  "message.requeued": hide(),
  "message.moved": hide(),
  "message.expired": show(),
  "message.dead_lettered": show(),
  "crystallization.recorded": hide(() => "Its handoff was written down."),
  "learning.found": show(),
  "learning.confirmed": show(),
  "learning.relayed": show(),
  "learning.offered": hide(),
  "learning.judged": hide(),
  "learning.forgotten": show(),
  "question.asked": show(),
  "question.answered": show(),
  "question.withdrawn": show(),
  "question.notified": showIf(({ data }) => !data.ok),
  "question.acknowledged": show(),
  "question.escalated": show(),
  "answer.refused": show(),
  "news.told": showIf(
    ({ data }) => !data.ok,
    ({ data }) => `The log is read for ${data.channel} from here on.`,
  ),
  "lead.on": show(),
  "lead.off": show(),
  "lead.taken": show(),
  "lead.released": show(),
  "lead.read": hide(({ data }) => `The log was read for the session that leads, up to event ${data.cursor}.`),
  "update.taken": show(),
  "update.refused": show(),
  "action.decided": hide(({ data }) => `Overseer decided: ${data.kind} (${data.actionId}).`),
  "action.taken": hide(({ data }) => `${data.by} began with ${data.actionId}.`),
  "action.done": hide(({ data }) => `${data.actionId} was carried out.`),
  "action.failed": hide(),
  "action.hastened": hide(),
  "action.dropped": hide(),
  "dispatch.deferred": show(),
  "dispatch.resumed": show(),
  "dispatch.failing": show(),
  "dispatch.works": show(),
  "disk.short": show(),
  "disk.enough": show(),
  "watch.degraded": show(),
  "watch.restored": show(),
  "quota.tripped": show(),
  "quota.probing": show(),
  "quota.restored": show(),
  "provider.failed": show(),
  "provider.probing": show(),
  "provider.restored": show(),
  "fleet.mass_death": show(),
  "fleet.restoring": show(),
  "fleet.restored": show(),
  "budget.warned": show(),
  "budget.exceeded": show(),
  "budget.paused": show(),
  "budget.raised": show(),
  "budget.limited": show(),
  "budget.cleared": show(),
  "time.skipped": show(),
  "overseer.tick": hide(
    ({ data }) => `A tick (${data.reason}): ${data.actions === 1 ? "1 action" : `${data.actions} actions`}.`,
  ),
  "auto.started": show(),
  "auto.paused": show(),
  "auto.resumed": show(),
  "auto.failed": show(),
  "pool.taken": show(),
  "pool.repeated": show(),
  "pool.refused": show(),
  "pool.empty": show(),
  "pool.forgotten": hide(),
  "pool.ended": show(),
  "worker.added": show(),
  "worker.removed": show(),
  "daemon.started": show(),
  "daemon.adopted": show(),
  "daemon.stopped": show(),
  "config.changed": show(),
  "config.refused": show(),
  "fleet.frozen": show(),
  "fleet.thawed": show(),
  "overseer.initialised": show(),
  "overseer.moved": show(),
  "overseer.store.corrupt": show(),
  "overseer.store.recovered": show(),
};

function isNoStep(event: EventOf): boolean {
  return !isStepOnTheWay(event);
}

/** `it`: what the event is about, where a line does not say that before. */
export function tellEvent(event: EventOf, it = "it"): string {
  const { tell } = TELLINGS[event.type] as Telling<EventType>;
  return sentence(event, it) ?? tell?.(event) ?? `It happened: ${event.because}.`;
}

/** How Overseer works inside: nothing that a person who reads the log would miss. */
export function isRoutineEvent(event: EventOf): boolean {
  return !(TELLINGS[event.type] as Telling<EventType>).isShown(event);
}
