/** Reports and questions on their way, as sentences; the part of `why` that speaks of them. */
import { nameOfActor } from "#domain/core/actor.ts";
import type { EventOf } from "#domain/model/event.ts";

/** By why a session leads. */
const LEADS: Readonly<Record<string, string>> = {
  resumed: ", as before",
  "in-its-place": ", in the place of the one its process had before",
  "the-other-is-gone": ", because the one before is gone",
};

const PLACES: Readonly<Record<string, string>> = {
  session: "the session that wanted the goal",
  terminal: "status and 'overseer questions'",
  command: "the configured program",
  webhook: "the configured address",
};

const CHOSEN: Readonly<Record<string, string>> = {
  origin: "that is where the goal came from",
  "origin-is-gone": "the session that wanted the goal is gone",
  configured: "it is configured",
};

/** One event as a sentence; undefined for those that only an engineer would miss. */
export function reportSentence(event: EventOf): string | undefined {
  const who = nameOfActor(event.actor);
  switch (event.type) {
    case "question.notified": {
      const place = PLACES[event.data.channel] ?? event.data.channel;
      if (!event.data.ok) return `The question did not get through to ${place}: ${withFullStop(event.data.detail)}`;
      return `The question went to ${place}, because ${CHOSEN[event.because] ?? event.because}.`;
    }
    case "question.acknowledged":
      return `${who} has seen the question (${event.data.via}).`;
    case "question.escalated":
      return `${who} raised the question again, because ${withFullStop(event.data.reason)}`;
    case "answer.refused":
      return `An answer${event.data.question ? ` to ${event.data.question}` : ""} came by ${event.data.via} and was not taken: ${withFullStop(event.data.reason)}`;
    case "news.told": {
      const { channel, ok, subjects, detail } = event.data;
      if (subjects.length === 0) return undefined;
      return ok
        ? `${channel} was told about ${subjects.join(", ")}.`
        : `${channel} could not be told about ${subjects.join(", ")}: ${withFullStop(detail)}`;
    }
    case "lead.on":
      return `${who} lets their own sessions lead here.`;
    case "lead.off":
      return `${who} lets no session lead here any more.`;
    case "lead.taken":
      return `Session ${event.data.session} leads from now on${LEADS[event.because] ?? ""}.`;
    case "lead.released":
      return `Session ${event.data.session}, which led, has ended.`;
    case "lead.read": {
      const { letters } = event.data;
      return letters === 0 ? undefined : `${letters} letters were written to the session that leads.`;
    }
    case "update.taken":
      return event.data.status
        ? `${who} reported ${event.data.status.replace("_", " ")}.`
        : `${who} reported without a status.`;
    case "update.refused":
      return `A report of ${who} was not taken: ${withFullStop(event.data.reason)}${event.data.askedAgain ? " It was asked again." : ""}`;
    default:
      return undefined;
  }
}

function withFullStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
