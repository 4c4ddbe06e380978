/**
 * `attach` to an agent that has no screen of its own: its conversation as it goes on, and below it a line to type in. What
 * one types is a message to the agent, told with what becomes of it. Leaving disturbs nobody. The words are pure functions,
 * the rest is a terminal and `readline`.
 */
import { createInterface } from "node:readline";
import { type ConversationCursor, readConversation } from "#control/conversation.ts";
import { explainEnd, readReceipts, tellAgent } from "#control/talk.ts";
import type { World } from "#control/world.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import { messageOf } from "#errors.ts";
import { conversationLines, paintLine } from "./conversation-lines.ts";
import type { Output } from "./output.ts";
import { shortTime } from "./short-time.ts";
import { inert } from "./text.ts";

const LOOK_EVERY_MS = 300;
const FIRST_LINES = 30;
/** Lines that come together like this were pasted: nobody types so fast. */
const BURST_MS = 50;
const CLEAR_LINE = "\r\u001b[2K";

export function attachHelp(label: string): string[] {
  return [
    `What you type is a message to ${label}; it is told with its next step.`,
    "?, /help   these lines",
    "/quit      leave, as Ctrl-C and Ctrl-D do; the agent continues",
    `Elsewhere: overseer stop ${label}, overseer pause ${label}, overseer peek ${label} --full`,
  ];
}

/** What a typed line asks for. */
export function readTyped(line: string): "nothing" | "help" | "quit" | "message" {
  const word = line.trim();
  if (word === "") return "nothing";
  if (word === "?" || word === "/help") return "help";
  return word === "/quit" || word === "/exit" ? "quit" : "message";
}

export async function showAttached(world: World, attempt: Attempt, out: Output): Promise<void> {
  const label = attemptLabel(attempt);
  const line = createInterface({ input: process.stdin, output: process.stdout, prompt: `${label} ❯ ` });
  let left = false;
  const leave = () => {
    left = true;
  };
  line.on("SIGINT", leave);
  line.on("close", leave);
  const print = (text: string) => {
    process.stdout.write(`${CLEAR_LINE}${text}\n`);
    if (!left) line.prompt(true);
  };
  /** Messages that were not seen yet. */
  const open = new Map<string, string>();
  // A paste is one message, whatever its lines say; half of it would be another instruction.
  const burst: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  line.on("line", (typed) => {
    burst.push(typed);
    timer ??= setTimeout(takeBurst, BURST_MS);
  });
  const takeBurst = () => {
    timer = undefined;
    if (left) return;
    if (line.line !== "") return print(`— ${burst.length} lines were pasted; Enter sends them with this one`);
    const lines = burst.splice(0);
    const isPaste = lines.length > 1;
    const typed = lines.join("\n");
    const wish = isPaste && typed.trim() !== "" ? "message" : readTyped(typed);
    void takeWish(wish, typed).catch((error: unknown) => print(`— not sent: ${inert(messageOf(error))}`));
  };
  const takeWish = async (wish: ReturnType<typeof readTyped>, typed: string): Promise<void> => {
    if (wish === "quit") return leave();
    if (wish === "help") return attachHelp(label).forEach(print);
    if (wish === "nothing") return line.prompt();
    const id = await tellAgent(world, label, typed.trim());
    open.set(id, "queued");
    print(`— ${id}: queued, told at its next step`);
  };
  print(`— ${label}, ${inert(attempt.workNodeId)}: type to write to it, ? for help, Ctrl-C or Ctrl-D leaves`);
  let cursor: ConversationCursor | undefined;
  try {
    while (!left) {
      const seen = await readConversation(world, attempt.attempt, cursor ? { after: cursor } : {});
      const look = { columns: out.width, time: (ms: number) => shortTime(ms, world.clock.now()) };
      const lines = conversationLines(seen.parts, look);
      const shown = cursor ? lines : lines.slice(-FIRST_LINES);
      cursor = seen.cursor;
      if (shown.length > 0) print(shown.map((one) => paintLine(one, out.colour)).join("\n"));
      for (const { messageId, status } of await readReceipts(world, [...open.keys()])) {
        if (status === open.get(messageId)) continue;
        open.set(messageId, status);
        if (status !== "handed") open.delete(messageId);
        print(`— ${messageId}: ${status.replace("_", " ")}`);
      }
      const end = seen.parts.length === 0 ? await explainEnd(world, attempt.attempt) : null;
      if (end !== null) return print(`— ${inert(end)}`);
      await world.clock.sleep(LOOK_EVERY_MS);
    }
    print(`— you have left; ${label} continues`);
  } finally {
    left = true;
    clearTimeout(timer);
    line.close();
    process.stdout.write(CLEAR_LINE);
  }
}
