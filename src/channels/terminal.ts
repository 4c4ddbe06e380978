/** The terminal: `status` and `questions` show whatever is open, so there is nothing to send. */
import type { Channel } from "./channel.ts";
import { SENT } from "./channel.ts";

export const terminal: Channel = {
  name: "terminal",
  evenOnHold: true,
  isConfigured: (settings) => settings.terminal,
  send: async () => SENT,
};
