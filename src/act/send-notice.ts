/** Sends one notice to one recipient, under the settings as they are; what came of it is an outcome, never an error. */
import type { AnyNotice, NoticeOutcome } from "#channels/channel.ts";
import { notSent } from "#channels/channel.ts";
import { CHANNELS } from "#channels/list.ts";
import type { Recipient } from "#channels/recipients.ts";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { isSession } from "#domain/plans/goal-agents.ts";
import { livingAttempts } from "#store/attempts.ts";
import { filterEnvironment, wakeRunner } from "./attempt-files.ts";
import type { ActParts } from "./parts.ts";

export async function sendNotice(
  parts: ActParts,
  { via, to }: Pick<Recipient, "via" | "to">,
  notice: AnyNotice,
): Promise<NoticeOutcome> {
  const channel = CHANNELS.find(({ kind }) => kind === via);
  if (!channel) return notSent("there is no such channel");
  const { hold } = await parts.settings();
  if (hold && !channel.evenOnHold) return notSent(hold.message);
  const config = await parts.config();
  return channel.send(notice, to, {
    ...{ root: parts.root, env: parts.env, clock: parts.clock, ids: parts.ids, files: parts.files, exec: parts.exec },
    programEnv: filterEnvironment(parts.env, config.agents.passEnv),
    timeoutMs: config.channels.timeout,
    post: (session, text) => post(parts, session, text),
  });
}

/** Into the inbox of the agent with that session; false where none lives. */
async function post(parts: ActParts, session: string, body: string): Promise<boolean> {
  const messageId = parts.ids.next("m_");
  const told = await (await parts.writer()).commit({
    at: parts.clock.now(),
    reads: { living: livingAttempts() },
    decide: ({ living }): Decision<number | null> => {
      const one = living.find((attempt) => isSession(attempt, session));
      if (!one) return accept([], null);
      const data = { messageId, kind: "instruction", from: "overseer", body, dispatchId: null } as const;
      return accept([attemptEvent(one, "overseer", "message.queued", "question-for-its-session", data)], one.attempt);
    },
  });
  if (!told.ok || told.value === null) return false;
  await wakeRunner(parts, told.value);
  return true;
}
