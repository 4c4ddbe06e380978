/** The terminal: `status`, `questions` and `report` show whatever is open or happened, so there is nothing to send. */
import type { Channel } from "./channel.ts";
import { SENT } from "./channel.ts";

export const terminal: Channel = { kind: "terminal", evenOnHold: true, send: async () => SENT };
