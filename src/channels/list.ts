/** Every channel, in the order in which a question is sent. */
import type { Config } from "#config/schema.ts";
import type { ChannelName } from "#domain/model/question.ts";
import type { Channel } from "./channel.ts";
import { command } from "./command.ts";
import { session } from "./session.ts";
import { terminal } from "./terminal.ts";
import { webhook } from "./webhook.ts";

export const CHANNELS: readonly Channel[] = [session, terminal, command, webhook];

export function listConfigured(settings: Config["channels"]): readonly ChannelName[] {
  return CHANNELS.filter((channel) => channel.isConfigured(settings)).map(({ name }) => name);
}
