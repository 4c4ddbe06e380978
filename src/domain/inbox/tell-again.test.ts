/** RCPT-1: what is told again to an agent that continues in its old session. */
import { expect, test } from "bun:test";
import type { Message } from "#domain/model/message.ts";
import { listToTellAgain, WRITTEN_WITHIN_MS } from "./tell-again.ts";

const ENDED = 1_000_000;
const message = (change: Partial<Message>) =>
  ({ messageId: "m_1", dispatchId: null, handedAs: "uuid-1", status: "expired", endedAt: ENDED, ...change }) as Message;

test.each<[string, Partial<Message>, string | undefined, boolean]>([
  ["never handed over", { handedAs: null }, "uuid-1", true],
  ["handed over, and not in the session", {}, "something else", true],
  ["handed over, and in the session by the id of its handing", {}, "… uuid-1 …", false],
  ["handed over on a screen, and in the session by its own id", { handedAs: "screen" }, 'id="m_1"', false],
  ["handed over, and the session begins anew", {}, undefined, true],
  ["an instruction", { dispatchId: "D_1" }, "", false],
  ["seen, and in the session", { status: "seen" }, "uuid-1", false],
  ["seen just before it was killed, and not written down", { status: "seen" }, "", true],
  ["the same with a clock that was set back", { status: "seen", endedAt: ENDED + 5_000 }, "", true],
  [
    "seen long ago: a session may have been cut short",
    { status: "seen", endedAt: ENDED - WRITTEN_WITHIN_MS - 1 },
    "",
    false,
  ],
  ["seen, and the session begins anew with the handoff", { status: "seen" }, undefined, false],
])("RCPT-1: %s", (_name, change, transcript, expected) => {
  expect(listToTellAgain([message(change)], transcript, ENDED).length === 1).toBe(expected);
});
