/**
 * Hands messages to the agent and keeps their receipts. Handed is written in the store before the message is on the
 * pipe: what was on the pipe and not in the store could be given twice. Seen is written when there is proof: the agent's
 * own stream echoes what it was given, or its transcript has the message's id. What was handed to a process that is
 * gone and left no trace is put back into the queue, and only then.
 */

import { takeForAttempt } from "#act/messages/take-messages.ts";
import { idsInText, traceMessages } from "#act/messages/trace-messages.ts";
import type { Actor } from "#domain/core/actor.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import { expiryEvents, overdue } from "#domain/inbox/mailing.ts";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Message } from "#domain/model/message.ts";
import type { Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";
import type { AttemptRecord } from "./attempt-record.ts";

export interface DeliveryParts {
  readonly store: Pick<Store, "commit" | "read">;
  readonly clock: Clock;
  readonly record: AttemptRecord;
  /** LOG-1: what was said to the agent stands in the log of its session. */
  readonly note: (text: string) => void;
  /** Writes what the agent has done so far. */
  readonly keepSignals: () => Promise<void>;
}

export interface DeliveryOf {
  readonly attempt: number;
  readonly session: string;
  /** Most bytes put before the agent at once. */
  readonly injectionCap: number;
  /** Where the session is written down, once it is. */
  readonly transcript: () => string | undefined;
}

/** One line for the agent, under the id that its stream will echo. */
export interface Handed {
  readonly id: string;
  readonly text: string;
}

/** What somebody else took for the agent (a hook, a command) and is found nowhere after this long is lost. */
const LEASE_MS = 60_000;

export class Delivery {
  private readonly echoes: string[] = [];
  private readonly heardIds: string[] = [];
  /** Ids under which this runner handed something to the process that runs now. */
  private own = new Set<string>();

  constructor(
    private readonly parts: DeliveryParts,
    private readonly of: DeliveryOf,
  ) {}

  /** A message of a person's, typed into the view. False when the attempt has ended. */
  async queueTyped(messageId: string, body: string, from: Actor): Promise<boolean> {
    return this.parts.record.commit((attempt) => {
      const data = { messageId, kind: "instruction", from, body, dispatchId: null } as const;
      return accept([attemptEvent(attempt, from, "message.queued", "typed", data)], null);
    });
  }

  /** Takes what waits, as one text within the cap, written down as handed; undefined when there is nothing to hand. */
  async take(midTurn: boolean): Promise<Handed | undefined> {
    const id = crypto.randomUUID();
    const { text, handed } = await takeForAttempt(this.parts.store, this.of.attempt, {
      handedAs: id,
      because: "at-a-boundary",
      capBytes: this.of.injectionCap,
      now: this.parts.clock.now(),
      midTurn,
    });
    if (handed.length === 0) return undefined;
    this.own.add(id);
    for (const message of handed) {
      if (message.dispatchId === null) this.parts.note(describeMessage(message));
    }
    return { id, text };
  }

  /** Something reached the model as somebody's words: a message is recognised by its id. */
  noteHeardText(text: string): void {
    this.heardIds.push(...idsInText(text));
  }

  /** The agent's stream says that it has what was handed under this id. */
  noteEcho(handedAs: string): void {
    this.echoes.push(handedAs);
  }

  /** What is proven to have been taken is seen; the first of it proves that the assignment is under way. */
  async settle(): Promise<void> {
    const [echoes, ids] = [this.echoes.splice(0), this.heardIds.splice(0)];
    if (echoes.length === 0 && ids.length === 0) return;
    const { waiting } = await this.parts.record.now();
    const seen = waiting.filter(
      (message) =>
        message.status === "handed" && (echoes.includes(message.handedAs ?? "") || ids.includes(message.messageId)),
    );
    if (seen.length === 0) return;
    // First the turn it begins, then that it was seen: with neither in the store the agent would pass for one that is silent.
    await this.parts.keepSignals();
    const because = echoes.length > 0 ? "echoed" : "found-in-transcript";
    await this.parts.record.commit((attempt, { assignment, waiting: now }) => {
      // Somebody may have read one of them by itself meanwhile.
      const still = seen.filter((one) => now.some((other) => other.messageId === one.messageId));
      const events: NewEvent[] = still.flatMap((message) => {
        const receipt = attemptEvent(attempt, "overseer", "message.seen", because, { messageId: message.messageId });
        if (message.dispatchId === null) return [receipt];
        const data = { dispatchId: message.dispatchId, result: "ok", runId: this.of.session, notes: "" } as const;
        return [receipt, attemptEvent(attempt, "overseer", "assignment.delivered", because, data)];
      });
      if (assignment?.status === "dispatched") {
        events.push(attemptEvent(attempt, "overseer", "assignment.active", "agent-answered", { reason: null }));
      }
      return accept(events, null);
    });
  }

  /** The time of some has ended. */
  async expire(): Promise<void> {
    await this.parts.record.commit((_attempt, { waiting }) =>
      accept(expiryEvents(overdue(waiting, this.parts.clock.now())), null),
    );
  }

  /** The process that things were handed to is gone: what it took is in its transcript, the rest waits again. */
  async legEnded(): Promise<void> {
    await this.settle();
    this.own = new Set();
    await this.trace("the process it was handed to ended", () => true);
  }

  /** What others took for the agent long ago: found, or lost. */
  async checkLeases(waiting: readonly Message[]): Promise<void> {
    const now = this.parts.clock.now();
    const old = (message: Message) =>
      message.status === "handed" &&
      !this.own.has(message.handedAs ?? "") &&
      hasPassed(message.handedAt ?? now, LEASE_MS, now);
    if (waiting.some(old)) await this.trace("whoever took it never put it before the agent", old);
  }

  private async trace(reason: string, lost: (message: Message) => boolean): Promise<void> {
    const { transcript, attempt } = this.of;
    await traceMessages(this.parts.store, attempt, {
      now: this.parts.clock.now(),
      transcript: transcript(),
      isLost: lost,
      reason,
    });
  }
}

function describeMessage(message: Message): string {
  const about = message.subject || message.body;
  const line = about.length > 120 ? `${about.slice(0, 119)}…` : about;
  return `received ${message.kind} ${message.messageId} from ${message.from}: ${line}`;
}
