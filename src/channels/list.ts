/** Every channel. */
import type { Channel } from "./channel.ts";
import { command } from "./command.ts";
import { desktop } from "./desktop.ts";
import { email } from "./email.ts";
import { ntfy } from "./ntfy.ts";
import { session } from "./session.ts";
import { slack } from "./slack.ts";
import { terminal } from "./terminal.ts";
import { webhook } from "./webhook.ts";

export const CHANNELS: readonly Channel[] = [session, terminal, command, webhook, desktop, slack, ntfy, email];
