/** What Overseer did to get work going again, and what holds for the fleet, as sentences; a part of `why`. */

import { nameOfActor } from "#domain/core/actor.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { describeAdvice, describeTriage } from "#domain/model/advice.ts";
import { describeAmount, describeOrigin, describeSpent } from "#domain/model/budget-words.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Allowance } from "#domain/model/limits.ts";
import { describeProviderFailure } from "#domain/model/provider-cause.ts";

/** Causes as clauses; they are phrases of domain/tick/liveness.ts and domain/tick/decide.ts. */
const CAUSES: Readonly<Record<string, string>> = {
  "no-activity": "nothing was heard of it for too long",
  "never-spoke": "it never said anything",
  "idle-with-open-work": "it stopped without finishing or asking",
  "update-overdue": "the update that was due did not come",
  "tool-hangs": "a tool call of it hung",
  looping: "it did the same thing again and again",
  died: "its agent died",
  failed: "its agent failed",
  finished: "its agent ended without finishing the work",
  failed_to_start: "its agent did not come up",
};

export function recoverySentence(event: EventOf): string | undefined {
  switch (event.type) {
    case "assignment.nudged":
      return `Overseer asked the agent for its status (${event.data.severity} ${event.data.number}), because ${cause(event)}; ${until(event)}.`;
    case "assignment.status_requested":
      return "Overseer asked the agent for the update that was due.";
    case "assignment.resent":
      return `Overseer interrupted the turn and sent the instruction again${event.data.rerun ? ", to be done once more" : ", since it had not been seen"}, because ${cause(event)}; ${until(event)}.`;
    case "assignment.replanning":
      return `Overseer asks a model how the work can be split into smaller pieces, because ${cause(event)}.`;
    case "assignment.strengthened":
      return `Overseer gives the work to a fresh agent with a stronger model (${event.data.model}), because ${cause(event)}; ${until(event)}.`;
    case "assignment.diagnosed": {
      const { diagnosis, actions, refused, triage } = event.data;
      if (triage) {
        return `A model was shown the end of its agent and says: "${diagnosis.replace(/\s+/g, " ").trim()}" As it sees it, ${describeTriage(triage)}.`;
      }
      const advised = actions.map(describeAdvice).join(", then ");
      const not = refused.map(({ advice, reason }) => `${describeAdvice(advice)} (${reason})`).join(", ");
      return `A model was shown the stall and says: "${diagnosis.replace(/\s+/g, " ").trim()}" It advises ${advised === "" ? "nothing that may be done" : advised}.${not === "" ? "" : ` Not done of its advice: ${not}.`}`;
    }
    case "assignment.diagnosis_failed":
      return `No model said what is the matter: ${event.data.reason}. The steps follow as without one.`;
    case "assignment.advised": {
      const { advice, refused, backoffUntil } = event.data;
      if (refused !== null) return `Overseer does not take the model's advice, ${describeAdvice(advice)}: ${refused}.`;
      const wait = backoffUntil === null ? "" : `; nothing follows before ${isoTime(backoffUntil)}`;
      return `Overseer takes the model's advice: ${describeAdvice(advice)}${wait}.`;
    }
    case "assignment.replan_skipped":
      return `Overseer did not split the work into smaller pieces: ${event.data.reason}.`;
    case "assignment.reassigning":
      return `Overseer gives the work to a fresh agent, because ${cause(event)}.`;
    case "assignment.parked":
      return `Overseer paused the agent, because ${cause(event)}; ${until(event)}.`;
    case "assignment.escalated":
      return `Overseer asks a person (${event.data.questionId}), because ${cause(event)}.`;
    case "assignment.restarting":
      return `Overseer starts the agent again (time ${event.data.number}), because ${cause(event)}.`;
    case "assignment.doubted":
      return `Overseer doubts that the agent lives: ${event.data.signs.join(", ")}.`;
    case "assignment.progressed":
      return `Overseer saw progress in the work (${event.data.source}).`;
    case "action.failed":
      return `Overseer could not do it yet (${event.data.actionId}): ${event.data.problem}`;
    case "action.hastened":
      return `What it waited for is there, so Overseer does it now (${event.data.actionId}).`;
    case "action.dropped":
      return `Overseer gave up ${event.data.actionId}: ${event.data.reason}`;
    default:
      return fleetSentence(event);
  }
}

function fleetSentence(event: EventOf): string | undefined {
  switch (event.type) {
    case "dispatch.deferred":
      return `Overseer gives nothing out for now: ${event.data.reason}.`;
    case "dispatch.resumed":
      return "Overseer gives work out again.";
    case "dispatch.failing":
      return `No agent can be started: ${event.data.problem}${event.data.questionId === null ? " It is tried again, since a person answered." : ` A person is asked (${event.data.questionId}).`}`;
    case "dispatch.works":
      return "Agents can be started again.";
    case "disk.short":
      return `The disk is nearly full, so nothing is started; a person is asked (${event.data.questionId}).`;
    case "disk.enough":
      return "The disk has room again.";
    case "watch.degraded":
      return `Agents are judged by thresholds alone for now: ${event.data.problem}`;
    case "watch.restored":
      return "Agents are judged in full again.";
    case "quota.tripped":
      return `The quota of ${event.data.account} is used up; its agents wait until ${isoTime(event.data.until)}.`;
    case "quota.probing":
      return `${event.agent ?? "One agent"} tries whether the quota of ${event.data.account} is back.`;
    case "quota.restored":
      return `The quota of ${event.data.account} is back.`;
    case "provider.failed": {
      const { account, cause, detail, until } = event.data;
      const said = detail === "" ? "" : ` ("${detail}")`;
      const asks = event.data.questionId === null ? "" : ` A person is asked (${event.data.questionId}).`;
      return `Overseer found that ${describeProviderFailure(account, cause, detail)}${said}; its agents wait, and one tries at ${isoTime(until)}.${asks}`;
    }
    case "provider.probing":
      return `${event.agent ?? "One agent"} tries whether the provider of ${event.data.account} works again.`;
    case "provider.restored":
      return `The provider of ${event.data.account} works again.`;
    case "fleet.mass_death":
      if (event.because === "died-with-them") return `${event.data.attempts.length} more died with them.`;
      return `${event.data.attempts.length} agents died at once; nothing is started until one of them is seen to live.`;
    case "fleet.restoring":
      return `Overseer starts ${event.data.nodes.length} of the dead agents again (stage ${event.data.stage}).`;
    case "fleet.restored":
      return "The fleet is restored.";
    case "budget.warned":
      return `Much of the budget of ${event.data.scope} is spent${describeSpent(event.data)}.`;
    case "budget.exceeded":
      return `The budget of ${event.data.scope} is spent${describeSpent(event.data)}, and ${describeOrigin(event.data)}; its agents have one turn to hand over.`;
    case "budget.paused": {
      const asks = event.data.questionId === undefined ? "" : ` A person is asked (${event.data.questionId}).`;
      return `The agents of ${event.data.scope} are paused: its budget is spent.${asks}`;
    }
    case "budget.raised":
      return `${nameOfActor(event.actor)} raised the budget of ${event.data.scope} to ${describeGrants(event.data.raised)}.`;
    case "budget.limited":
      return `${nameOfActor(event.actor)} limited what ${event.data.scope} may spend to ${describeGrants(event.data.limit)}.`;
    case "budget.cleared":
      return `The budget of ${event.data.scope} binds nobody any more.`;
    case "time.skipped":
      return `${Math.round(event.data.ms / 1000)} s were skipped; nobody is judged by them.`;
    default:
      return undefined;
  }
}

function describeGrants(granted: Partial<Allowance>): string {
  return Object.entries(granted)
    .flatMap(([key, value]) => (value === undefined ? [] : [describeGrant(key, value)]))
    .join(", ");
}

function describeGrant(key: string, value: number | null): string {
  const what = key === "timeMs" ? "time" : key === "cost" ? "cost" : "tokens";
  return value === null ? `no limit (${what})` : describeAmount(what, value);
}

function cause(event: { readonly data: { readonly cause: string } }): string {
  return CAUSES[event.data.cause] ?? event.data.cause;
}

function until(event: { readonly data: { readonly backoffUntil: number } }): string {
  return `nothing follows before ${isoTime(event.data.backoffUntil)}`;
}
