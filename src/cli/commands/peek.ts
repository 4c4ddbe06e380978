/** `overseer peek`: what an agent was asked, says and does, without disturbing it; also after its end. */

import type { Call, Command } from "#cli/command.ts";
import { type ConversationLook, conversationLines, paintLine } from "#cli/conversation-lines.ts";
import { pageLines } from "#cli/pager.ts";
import type { Parts } from "#cli/parts.ts";
import { shortTime } from "#cli/short-time.ts";
import { inertLines } from "#cli/text.ts";
import { peekAgent } from "#control/agents.ts";
import { type ConversationCursor, readConversation } from "#control/conversation.ts";
import { presentPeek } from "#control/present.ts";
import type { World } from "#control/world.ts";
import type { Attempt } from "#domain/model/attempt.ts";

const LOOK_EVERY_MS = 300;
const LINES = 40;
const RAW_LINES = 30;

const command: Command<Parts> = {
  name: "peek",
  summary: "Show what an agent was asked, says and does; --follow stays.",
  details:
    "Also for agents on their own screen, and after the end. What is long is shortened: --full shows everything, in your pager (PAGER).",
  args: [{ name: "agent", summary: "Its name, label (builder-1#4) or task." }],
  options: [
    { name: "lines", short: "n", value: "n", summary: `How many of the last (default ${LINES}).` },
    { name: "full", summary: "Everything from its beginning, nothing shortened." },
    { name: "raw", summary: "The runner's log as it was written instead, with exact times." },
    {
      name: "follow",
      short: "f",
      summary: "Follow: full screen until q, or as lines in a pipe until it has ended.",
    },
  ],
  examples: [
    { line: "overseer peek builder-1", why: "what it does now" },
    { line: "overseer peek builder-1 --full", why: "the whole conversation, in a pager" },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const name = call.arg("agent");
    if (call.has("follow") && call.out.interactive && !call.json) {
      const { followAgent } = await import("#cli/live/follow.ts");
      return followAgent(world, name, call.out);
    }
    const first = await peekAgent(world, name, call.number("lines") ?? RAW_LINES);
    if (call.json) {
      const whole = call.has("full");
      const { parts } = await readConversation(world, first.attempt.attempt, { whole });
      return call.out.json(presentPeek({ ...first, parts }));
    }
    if (call.has("raw")) return showRaw(call, world, first);
    if (call.has("full")) return pageLines(call.out, everyLine(call, world, first.attempt.attempt));
    return showConversation(call, world, first.attempt.attempt);
  },
};

async function showConversation(call: Call, world: World, number: number): Promise<void> {
  const { out } = call;
  const look = lookOf(call, world);
  const first = await readConversation(world, number);
  const lines = conversationLines(first.parts, look);
  const shown = lines.slice(-(call.number("lines") ?? LINES));
  if (lines.length === 0) out.remark("It has said and done nothing yet.");
  for (const line of shown) out.line(paintLine(line, out.colour));
  if (call.has("follow")) return follow(call, world, number, first.cursor);
  if (first.earlier || shown.length < lines.length) out.remark("There is more before this; --full shows everything.");
}

async function follow(call: Call, world: World, number: number, from: ConversationCursor): Promise<void> {
  call.out.live?.();
  const look = lookOf(call, world);
  for (let cursor = from; ; ) {
    await world.clock.sleep(LOOK_EVERY_MS);
    const next = await readConversation(world, number, { after: cursor });
    for (const line of conversationLines(next.parts, look)) call.out.line(paintLine(line, call.out.colour));
    // Whatever it said last was written before its end was.
    if (next.attempt.status === "ended" && next.parts.length === 0) return;
    cursor = next.cursor;
  }
}

async function* everyLine(call: Call, world: World, number: number): AsyncGenerator<string> {
  const look = { ...lookOf(call, world), full: true };
  for (let after: ConversationCursor | undefined; ; ) {
    const page = await readConversation(world, number, { whole: true, from: "start", ...(after ? { after } : {}) });
    for (const line of conversationLines(page.parts, look)) yield paintLine(line, call.out.colour);
    if (!page.more) return;
    after = page.cursor;
  }
}

function lookOf({ out }: Call, world: World): ConversationLook {
  const columns = (out.cuts ?? out.interactive) ? out.width : WIDE;
  return { columns, time: (ms) => shortTime(ms, world.clock.now()) };
}

/** In a pipe lines are broken where they are too long to be read, and nowhere else. */
const WIDE = 200;

async function showRaw(
  call: Call,
  world: World,
  first: { readonly attempt: Attempt; readonly text: string },
): Promise<void> {
  call.out.line(inertLines(first.text));
  if (!call.has("follow")) return;
  call.out.live?.();
  const path = `${first.attempt.logDir}/session.log`;
  for (let from = Bun.file(path).size; ; ) {
    await world.clock.sleep(LOOK_EVERY_MS);
    const now = Bun.file(path);
    if (now.size > from) {
      const text = await now.slice(from).text();
      const whole = text.slice(0, text.lastIndexOf("\n") + 1);
      from += Buffer.byteLength(whole);
      if (whole) call.out.line(inertLines(whole.trimEnd()));
    } else if ((await peekAgent(world, first.attempt.agent, 1)).attempt.status === "ended") return;
  }
}

export default command;
