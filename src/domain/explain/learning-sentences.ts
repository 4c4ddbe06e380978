/** What happened to learnings, as sentences; the part of `why` and `events` that speaks of them. */
import { nameOfActor } from "#domain/core/actor.ts";
import type { EventOf } from "#domain/model/event.ts";

const FORGOTTEN: Readonly<Record<string, string>> = {
  "never-helped": "those who saw it had no use for it",
  "too-old": "it is old and has helped nobody",
};

export function learningSentence(event: EventOf): string | undefined {
  const label = event.attempt === undefined ? nameOfActor(event.actor) : `${event.agent}#${event.attempt}`;
  switch (event.type) {
    case "learning.found":
      return `${label} learned (${event.data.learningId}): "${event.data.text}"`;
    case "learning.confirmed":
      return `${label} found the same as ${event.data.learningId}.`;
    case "learning.relayed": {
      const { learningId, to } = event.data;
      const [first] = to;
      const who = to.length === 1 && first ? `${first.agent}#${first.attempt}` : `${to.length} agents`;
      return `${learningId} was passed on to ${who}.`;
    }
    case "learning.offered":
      return `${label} was shown ${event.data.learningId} with its context.`;
    case "learning.judged": {
      const { learningId, verdicts } = event.data;
      const told = verdicts.map(({ attempt, outcome }) => `#${attempt} ${outcome}`).join(", ");
      return `What came of ${learningId}: ${told}.`;
    }
    case "learning.forgotten": {
      const why = FORGOTTEN[event.because];
      const reason = event.data.reason === null ? "" : `: "${event.data.reason}"`;
      return why === undefined
        ? `${nameOfActor(event.actor)} dropped ${event.data.learningId}${reason}.`
        : `${event.data.learningId} was dropped: ${why}.`;
    }
    default:
      return undefined;
  }
}
