/**
 * Hands messages to the agent and keeps their receipts. Handed is written in the store before the message is on the
 * pipe: what was on the pipe and not in the store could be given twice. Seen is written when the agent's own stream
 * echoes it, and not before.
 */
import type { Actor } from "#domain/actor.ts";
import { attemptEvent } from "#domain/attempt.ts";
import type { NewEvent } from "#domain/event.ts";
import type { Message } from "#domain/message.ts";
import { accept } from "#domain/refusal.ts";
import type { AttemptRecord } from "./attempt-record.ts";

export class Delivery {
  private readonly taken: string[] = [];
  /** Handed to a CLI on its own screen and not yet found in its transcript, by message id. */
  private readonly handed = new Map<string, string>();

  constructor(
    private readonly record: AttemptRecord,
    private readonly session: string,
  ) {}

  /** A message of a person's, typed into the view. False when the attempt is over. */
  async typed(messageId: string, body: string, from: Actor): Promise<boolean> {
    return this.record.commit((attempt) => {
      const data = { messageId, kind: "instruction", from, body, dispatchId: null } as const;
      return accept([attemptEvent(attempt, from, "message.queued", "typed", data)], null);
    });
  }

  /** Writes that the message is being handed over now; undefined when the attempt is over. */
  async handing(message: Message): Promise<{ readonly id: string; readonly text: string } | undefined> {
    const id = crypto.randomUUID();
    const data = { messageId: message.messageId, handedAs: id };
    const done = await this.record.commit((attempt) =>
      accept([attemptEvent(attempt, "overseer", "message.handed", "at-a-boundary", data)], null),
    );
    return done ? { id, text: message.body } : undefined;
  }

  /** What a CLI on its own screen is started with, written down as handed; undefined when the attempt is over. */
  async opening(messages: readonly Message[]): Promise<string | undefined> {
    const texts: string[] = [];
    for (const message of messages) {
      const handed = await this.handing(message);
      if (!handed) return undefined;
      this.handed.set(message.messageId, handed.id);
      texts.push(`${handed.text}\n\n(message ${message.messageId})`);
    }
    return texts.join("\n\n");
  }

  /** Something reached the model as somebody's words: a message is recognised by its id. */
  heard(text: string): void {
    for (const [messageId, handedAs] of this.handed) {
      if (!text.includes(messageId)) continue;
      this.handed.delete(messageId);
      this.taken.push(handedAs);
    }
  }

  /** The agent's stream says that it has what was handed under this id. */
  echoed(handedAs: string): void {
    this.taken.push(handedAs);
  }

  /** Messages whose echo came back have been seen; the first of them proves that the assignment is under way. */
  async settle(): Promise<void> {
    const echoes = this.taken.splice(0);
    if (echoes.length === 0) return;
    const { waiting } = await this.record.now();
    const seen = waiting.filter((message) => message.handedAs !== null && echoes.includes(message.handedAs));
    if (seen.length === 0) return;
    await this.record.commit((attempt, { assignment }) => {
      const events: NewEvent[] = seen.flatMap((message) => {
        const receipt = attemptEvent(attempt, "overseer", "message.seen", "echoed", { messageId: message.messageId });
        if (message.dispatchId === null) return [receipt];
        const data = { dispatchId: message.dispatchId, result: "ok", runId: this.session, notes: "" } as const;
        return [receipt, attemptEvent(attempt, "overseer", "assignment.delivered", "echoed", data)];
      });
      if (assignment?.status === "dispatched") {
        events.push(attemptEvent(attempt, "overseer", "assignment.active", "agent-answered", { reason: null }));
      }
      return accept(events, null);
    });
  }
}
