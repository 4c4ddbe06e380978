/**
 * Writes letters to the session that leads, from the log, since they were last written: what happened and the place up to
 * which it was read are one commit, so that nothing is told twice and nothing is passed over, whoever does it and
 * however often. Done by the daemon and by the session itself; while none is open the letters wait in its box.
 */
import { queueEvent } from "#domain/inbox/mailing.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Letter } from "#domain/model/message.ts";
import { ORCHESTRATOR_ADDRESS } from "#domain/model/protocol.ts";
import { letterFor } from "#domain/reports/lead-letter.ts";
import { lettersAfter, theLead } from "#store/lead.ts";
import { messagesByIds, messagesLike } from "#store/messages.ts";
import type { Store } from "#store/store.ts";
import { endOfLog } from "#store/tick.ts";
import { nodeById, nodesOfGoal } from "#store/work.ts";

/** Read at once; the rest follows in the next turn. */
const AT_ONCE = 200;
/** How far the log may run ahead of what was read while nothing of it is worth a letter. */
const FAR_BEHIND = 1_000;
/** So many letters are looked through for the one by which an agent asked. */
const LATELY = 50;

/** How many were written. */
export async function postLetters(store: Pick<Store, "read" | "commit">, now: number): Promise<number> {
  let written = 0;
  for (;;) {
    const { lead } = await store.read({ lead: theLead() });
    if (!lead?.active) return written;
    // Of one state: an event that the end does not cover would be read again.
    const { end, events, mail } = await store.read({
      end: endOfLog(),
      events: lettersAfter(lead.cursor, AT_ONCE),
      mail: messagesLike({ to: ORCHESTRATOR_ADDRESS, kind: "mail", limit: LATELY }),
    });
    const whole = events.length < AT_ONCE;
    const cursor = whole ? Math.max(end, lead.cursor) : (events.at(-1)?.seq ?? lead.cursor);
    const findMailed = (text: string) =>
      mail.find(({ subject, body }) => text === (subject ? `${subject}\n\n${body}` : body))?.messageId;
    const letters = (await Promise.all(events.map((event) => toLetter(store, event, findMailed)))).flatMap(
      (letter) => letter ?? [],
    );
    if (letters.length === 0 && whole && cursor - lead.cursor < FAR_BEHIND) return written;
    const outcome = await store.commit({
      at: now,
      reads: { still: theLead(), there: messagesByIds(letters.map(({ messageId }) => messageId)) },
      decide: ({ still, there }): Decision<number> => {
        // Somebody else has read on meanwhile: what they made of it counts.
        if (!still?.active || still.cursor !== lead.cursor) return accept([], 0);
        // One that is there has gone its way; queued again, it would be refused, and all others with it.
        const known = new Set(there.map(({ messageId }) => messageId));
        const queued = letters
          .filter(({ messageId }) => !known.has(messageId))
          .map((letter) => queueEvent({ agent: ORCHESTRATOR_ADDRESS }, letter, "overseer", "happened"));
        const data = { cursor, letters: queued.length };
        return accept([...queued, { type: "lead.read", actor: "overseer", because: "looked", data }], queued.length);
      },
    });
    if (outcome.ok) written += outcome.value;
    if (whole) return written;
  }
}

async function toLetter(
  store: Pick<Store, "read">,
  event: EventOf,
  findMailed: (text: string) => string | undefined,
): Promise<Letter | undefined> {
  const { goalId = "", nodeId = "" } = event;
  const { node } = await store.read({ node: nodeById(goalId, nodeId) });
  const tasks = event.type === "goal.completed" ? await countTasks(store, goalId) : 0;
  return letterFor(event, { node, tasks, findMailed });
}

async function countTasks(store: Pick<Store, "read">, goalId: string): Promise<number> {
  const { nodes } = await store.read({ nodes: nodesOfGoal(goalId) });
  return nodes.filter(({ kind }) => kind === "task").length;
}
