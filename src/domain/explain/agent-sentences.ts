/** What happened to an agent and its messages, as sentences; the part of `why` that speaks of attempts. */
import { nameOfActor } from "#domain/core/actor.ts";
import type { EventOf } from "#domain/model/event.ts";

const CAUSES: Readonly<Record<string, string>> = {
  finished: "It finished",
  failed: "It failed",
  died: "It died",
  stopped: "It was stopped",
  failed_to_start: "It did not start",
};

const STEPS: Readonly<Record<string, string>> = {
  worktree: "its worktree",
  setup: "setting up its worktree",
  files: "its files",
  terminal: "its terminal",
};

/** One event as a sentence; undefined for those that only an engineer would miss. */
export function agentSentence(event: EventOf): string | undefined {
  const who = nameOfActor(event.actor);
  const label = `${event.agent ?? "the agent"}#${event.attempt ?? "?"}`;
  switch (event.type) {
    case "agent.slung": {
      const { capability, runtime, branch, scope, parent, continues, follows } = event.data;
      const alone = scope ? `, alone in ${scope.join(", ")}` : "";
      const below = parent ? `, reporting to ${parent.agent}` : "";
      if (continues !== undefined) return `${who} restarted ${label} where #${continues} had ended, branch ${branch}.`;
      const session = follows ? `, in the session of ${follows.agent}#${follows.attempt}, whose work has landed` : "";
      return `${who} started ${label} as ${capability} on ${runtime}, branch ${branch}${alone}${below}${session}.`;
    }
    case "agent.step":
      return event.data.state === "undone"
        ? `${who} took back ${STEPS[event.data.step] ?? event.data.step}.`
        : undefined;
    case "agent.started":
      return `${label} came up.`;
    case "agent.leg":
      return event.because === "resumed-session" ? `${label} was resumed in its session.` : undefined;
    case "agent.paused":
      return `${who} paused ${label}${event.data.now ? " at once" : " after its turn"}${reason(event.data.reason)}.`;
    case "agent.resumed":
      return `${who} let ${label} continue${reason(event.data.reason)}.`;
    case "agent.relocated":
      return `${label} has its worktree at ${event.data.worktree} now.`;
    case "agent.stop_requested":
      return `${who} asked ${label} to stop${reason(event.data.reason)}.`;
    case "agent.ended":
      return describeEnd(event, label);
    case "agent.worktree_broken": {
      const kept =
        event.data.wip === null ? "nothing uncommitted could be kept" : `its work is kept as ${event.data.wip}`;
      return `${label} cannot go on: its worktree is broken (${event.data.detail}); ${kept}.`;
    }
    case "agent.worktree_kept":
      return `The worktree of ${label} stays: ${sentenceEnd(event.data.detail)}`;
    case "agent.fenced":
      if (event.because !== "attempt-over") {
        return `Somebody else spoke for ${label} (${event.data.what}); it was ignored.`;
      }
      return `${label} spoke after it had ended (${event.data.what}); it was ignored.`;
    case "agent.unguarded":
      return `${label} ran ${event.data.tool} and its permit hook was not asked, so it is stopped.`;
    case "agent.steered":
      return `${label} was steered: ${event.data.fact} (steering ${event.seq}).`;
    case "agent.steering_refuted":
      return `${who} said that steering ${event.data.steering} of ${label} was wrong (${event.data.anomaly})${reason(event.data.reason)}.`;
    case "agent.pace":
      return `${label} went from ${event.data.from} to ${event.data.to}.`;
    case "agent.blocked":
      return event.data.what === null
        ? `What ${label} needed a person for is past.`
        : `${label} needs a person: ${event.data.fact}.`;
    case "agent.waiting":
      return `${label} waits for ${event.data.on.join(", ") || "somebody to speak to it"}.`;
    case "message.queued":
      return event.data.dispatchId ? undefined : describeQueued(event);
    case "message.requeued":
      return `A message to ${label} waits again: ${sentenceEnd(event.data.reason)}`;
    case "message.moved":
      return `${label} continues the work and gets a message that its predecessor never saw.`;
    case "message.expired":
    case "message.dead_lettered":
      return `A message to ${recipient(event)} was never seen: ${sentenceEnd(event.data.reason)}`;
    case "agent.interrupt_requested":
      return `${who} asked ${label} to interrupt its turn${reason(event.data.reason)}.`;
    default:
      return undefined;
  }
}

function describeQueued(event: EventOf<"message.queued">): string {
  const { kind, from, subject, body } = event.data;
  const words = kind === "mail" && subject ? subject : body;
  return `${nameOf(from)} wrote to ${recipient(event)}: "${words}"`;
}

/** A person's box is no attempt's. */
function recipient(event: EventOf): string {
  return event.attempt === undefined ? (event.agent ?? "somebody") : `${event.agent}#${event.attempt}`;
}

function describeEnd(event: EventOf<"agent.ended">, label: string): string {
  const { cause, detail, wip } = event.data;
  const kept = wip ? ` What it had not committed is kept in ${wip}.` : "";
  return `${label} has ended. ${CAUSES[cause] ?? cause}: ${sentenceEnd(detail)}${kept}`;
}

function reason(text: string | null): string {
  return text ? `: "${text}"` : "";
}

function nameOf(from: string): string {
  if (from === "overseer") return "Overseer";
  return from.startsWith("human:") ? from.slice("human:".length) : from;
}

/** Text that ends a sentence, whether or not it already does. */
function sentenceEnd(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
