/** The conversation of one agent as lines, read on from where it was read last: looking again costs what was added. */
import { type ConversationTone, conversationLines } from "#cli/conversation-lines.ts";
import { shortTime } from "#cli/short-time.ts";
import { type ConversationCursor, readConversation } from "#control/conversation.ts";
import type { World } from "#control/world.ts";
import type { ConversationPart } from "#domain/explain/conversation.ts";
import { type Line, makeLine, type Tone } from "./line.ts";

/** Of a longer one the newest are shown; `peek --full` has all. */
const MOST_PARTS = 1_000;

const TONES: Readonly<Record<ConversationTone, Tone>> = {
  ...{ prompt: "attention", words: "plain", command: "title", result: "faint", failed: "trouble" },
  ...{ added: "good", removed: "trouble", faint: "faint", plain: "plain" },
};

interface Heard {
  readonly attempt: number;
  readonly columns: number;
  readonly parts: readonly ConversationPart[];
  readonly cursor: ConversationCursor;
  readonly lines: Line[];
}

export type SaidReader = (world: World, attempt: number, columns: number) => Promise<Line[]>;

export function makeSaidReader(): SaidReader {
  let heard: Heard | undefined;
  return async (world, attempt, columns) => {
    const before = heard?.attempt === attempt ? heard : undefined;
    const next = await readConversation(world, attempt, before ? { after: before.cursor } : {});
    if (before && next.parts.length === 0 && before.columns === columns) return before.lines;
    const parts = [...(before?.parts ?? []), ...next.parts].slice(-MOST_PARTS);
    const now = world.clock.now();
    const lines = conversationLines(parts, { columns, time: (ms) => shortTime(ms, now) });
    const shown = lines.map(({ text, tone }) => makeLine(text, TONES[tone]));
    if (shown.length === 0) shown.push(makeLine("It has said and done nothing yet.", "faint"));
    heard = { attempt, columns, parts, cursor: next.cursor, lines: shown };
    return shown;
  };
}
