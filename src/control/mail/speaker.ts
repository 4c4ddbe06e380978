/** What sending and reading mail share: who speaks, which message is meant, and the line in the session's log. */

import { resolveId } from "#control/id-word.ts";
import type { World } from "#control/world.ts";
import type { Message } from "#domain/model/message.ts";
import { ORCHESTRATOR_ADDRESS, PERSON_ADDRESS } from "#domain/model/protocol.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { messagesWithPrefix } from "#store/messages.ts";

/** How often a waiting person's command looks. */
export const LOOK_EVERY_MS = 100;

/** Who speaks: an agent for its attempt, the person, or the person's own agent that leads. */
export interface Speaker {
  readonly name: string;
  /** 0 outside of any attempt. */
  readonly attempt: number;
}

export function speaker(world: Pick<World, "env">): Speaker {
  const attempt = Number(world.env.OVERSEER_ATTEMPT ?? 0);
  const name = world.env.OVERSEER_AGENT ?? "";
  if (attempt > 0) return { name, attempt };
  return { name: name === ORCHESTRATOR_ADDRESS ? ORCHESTRATOR_ADDRESS : PERSON_ADDRESS, attempt: 0 };
}

export async function threadOf(world: World, id: string): Promise<string> {
  const one = await messageNamed(world, id);
  return one.threadId ?? one.messageId;
}

export async function messageNamed(world: World, word: string): Promise<Message> {
  const store = await world.reader();
  return resolveId(word, {
    noun: "message",
    fixed: "m_",
    code: "MESSAGE",
    list: "'overseer mail list' shows them.",
    read: async (beginning, limit) => (await store.read({ found: messagesWithPrefix(beginning, limit) })).found,
    idOf: ({ messageId }) => messageId,
  });
}

/** LOG-1: what an agent sends and reads stands in the log of its session, beside what it received. */
export async function noteInLog(world: World, lines: readonly string[]): Promise<void> {
  const own = speaker(world);
  if (own.attempt === 0) return;
  const store = await world.reader();
  const { attempt } = await store.read({ attempt: attemptByNumber(own.attempt) });
  if (!attempt) return;
  const at = new Date(world.clock.now()).toISOString();
  try {
    const text = lines.map((line) => `${at} → ${line}\n`).join("");
    await world.files.append(`${attempt.logDir}/session.log`, text, { mode: 0o600 });
  } catch (error) {
    // The message is sent; a log that cannot be written is no reason to say otherwise.
    if (!(error instanceof Error)) throw error;
  }
}
