/**
 * An inbox: what waits in it, one message whole, and waiting for one. Looking writes nothing; a receipt is written only
 * when the one whose box it is takes something out of it (READ-1).
 */

import type { World } from "#control/world.ts";
import { beginWaiting, markSeen } from "#domain/inbox/mailing.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { Message } from "#domain/model/message.ts";
import { isUnseen } from "#domain/model/message.ts";
import { ORCHESTRATOR_ADDRESS, PERSON_ADDRESS } from "#domain/model/protocol.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { attemptByNumber } from "#store/attempts.ts";
import type { MessageFilter } from "#store/messages.ts";
import {
  livingNames,
  messagesByIds,
  messagesLike,
  unseenInBox,
  waitingCount,
  waitingMessages,
} from "#store/messages.ts";
import { LOOK_EVERY_MS, messageNamed, noteInLog, type Speaker, speaker, threadOf } from "./speaker.ts";

/** Whose inbox is meant: the one named, else the caller's own. */
export function boxNamed(
  world: World,
  agent: string | undefined,
): { readonly name: string; readonly own: Speaker | null } {
  const own = speaker(world);
  const name = agent?.replace(/#\d+$/, "") ?? own.name;
  return { name, own: name === own.name ? own : null };
}

/** The name of somebody's box as a person may type it: an agent's label or task; undefined is one's own. */
export async function resolveBox(world: World, word: string | undefined): Promise<string | undefined> {
  const name = word?.replace(/#\d+$/, "");
  if (word === undefined || name === speaker(world).name) return name;
  if (name === PERSON_ADDRESS || name === ORCHESTRATOR_ADDRESS) return name;
  const { resolveAgent } = await import("#control/names.ts");
  return (await resolveAgent(await world.reader(), word)).agent;
}

export interface InboxView {
  readonly agent: string;
  readonly messages: readonly Message[];
  readonly unread: number;
}

/** Most that one look shows. */
const LOOK_LIMIT = 200;

/** What waits in a box. Writes nothing: seeing a list is not seeing what is in it. */
export async function check(world: World, agent?: string): Promise<InboxView> {
  const { name, own } = boxNamed(world, agent);
  const store = await world.reader();
  const { messages, count } = await store.read({
    messages: own && own.attempt > 0 ? waitingMessages(own.attempt, LOOK_LIMIT) : unseenInBox(name, LOOK_LIMIT),
    count: own && own.attempt > 0 ? waitingCount({ attempt: own.attempt }) : waitingCount({ agent: name }),
  });
  return { agent: name, messages, unread: count.queued + count.handed };
}

/** The first question of every hook, and mostly the last. */
export async function anyWaits(world: World, agent?: string): Promise<boolean> {
  const { name, own } = boxNamed(world, agent);
  const store = await world.reader();
  const { count } = await store.read({ count: waitingCount(own && own.attempt > 0 ? own : { agent: name }) });
  return count.queued > 0;
}

export async function list(world: World, filter: MessageFilter): Promise<readonly Message[]> {
  const store = await world.reader();
  const thread = filter.thread === undefined ? undefined : await threadOf(world, filter.thread);
  return (await store.read({ found: messagesLike({ ...filter, thread }) })).found;
}

export interface Letterbox {
  readonly message: Message;
  /** The whole conversation, oldest first. */
  readonly thread: readonly Message[];
}

/** One message whole. When its recipient reads it, it has been seen; anybody else only looks. */
export async function read(world: World, id: string): Promise<Letterbox> {
  const found = await messageNamed(world, id);
  const own = speaker(world);
  const mine = found.agent === own.name && found.attempt === own.attempt;
  const message = mine && isUnseen(found) ? await takeOut(world, found) : found;
  const threadId = message.threadId ?? message.messageId;
  const store = await world.reader();
  const { thread } = await store.read({ thread: messagesLike({ thread: threadId, limit: 50 }) });
  return { message, thread: thread.toReversed() };
}

async function takeOut(world: World, message: Message): Promise<Message> {
  const store = await world.writer();
  const ids = [message.messageId];
  orThrow(
    await store.commit({
      at: world.clock.now(),
      reads: { now: messagesByIds(ids) },
      decide: ({ now }): Decision<null> => accept(markSeen(now, world.actor, "read-by-itself"), null),
    }),
  );
  await noteInLog(world, [`read mail ${message.messageId} from ${message.from}`]);
  return (await store.read({ now: messagesByIds(ids) })).now[0] ?? message;
}

export type Waited =
  | { readonly waits: true; readonly on: readonly string[] }
  | { readonly waits: false; readonly inbox: InboxView };

/** WAIT-1: the agent says what it waits for and ends its turn; the runner gives it a new one when that arrives. */
export async function waitFor(world: World, on: readonly string[]): Promise<Waited> {
  const own = speaker(world);
  const store = await world.writer();
  const decided = orThrow(
    await store.commit({
      at: world.clock.now(),
      reads: { attempt: attemptByNumber(own.attempt), count: waitingCount(own), living: livingNames() },
      decide: ({ attempt, count, living }) =>
        beginWaiting(
          attempt,
          own.attempt,
          // What was handed over is before it, or about to be: only its proof may still be missing.
          { on, unseen: count.queued, living },
          { now: world.clock.now(), actor: world.actor },
        ),
    }),
  );
  return decided.waits ? { waits: true, on } : { waits: false, inbox: await check(world) };
}

/** Waits until something lies in a box; throws `unconfirmed` when nothing came in time. */
export async function awaitMail(world: World, agent: string | undefined, timeoutMs: number): Promise<InboxView> {
  for (const until = world.clock.now() + timeoutMs; ; ) {
    const inbox = await check(world, agent);
    if (inbox.unread > 0) return inbox;
    if (world.clock.now() >= until) {
      throw new OverseerError(
        "unconfirmed",
        "NO_MAIL",
        `No message arrived for ${inbox.agent} in time.`,
        "Try again, or give a longer --timeout.",
      );
    }
    await world.clock.sleep(LOOK_EVERY_MS);
  }
}
