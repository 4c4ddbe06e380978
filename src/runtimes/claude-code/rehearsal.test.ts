import { expect, test } from "bun:test";
import { REHEARSED_CALL, rehearsalAnswer } from "./rehearsal.ts";

const asked = (...messages: object[]) => JSON.stringify({ tools: [{ name: "Bash" }], messages });
const result = (is_error: boolean) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: REHEARSED_CALL, content: "", is_error }],
});

test.each<[why: string, request: string, calls: boolean, ran: boolean]>([
  ["has a command run", asked({ role: "user", content: "x" }), true, false],
  ["ends after it ran", asked({ role: "user", content: [] }, result(false)), false, true],
  ["ends after it was refused", asked(result(true)), false, false],
  ["answers a helper without tools", JSON.stringify({ messages: [] }), false, false],
  ["answers nonsense", "{", false, false],
])("HOOK-3: the model of a rehearsal %s", (_why, request, calls, ran) => {
  const answer = rehearsalAnswer(request);
  expect([answer.text.includes(`"tool_use","id":"${REHEARSED_CALL}"`), answer.ran]).toEqual([calls, ran]);
  expect(answer.text).toEndWith('data: {"type":"message_stop"}\n\n');
});
