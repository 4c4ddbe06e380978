/**
 * The readable conversation of one attempt, from its beginning until after its end:
 *
 *   const first = await readConversation(world, 47);                       // the newest parts
 *   const next = await readConversation(world, 47, { after: first.cursor }); // what was added since
 *   readConversation(world, 47, { from: "start" })                          // the oldest; while `more`, go on with `after`
 *
 * It is read from what the agent's CLI keeps of its session (driven, on its own screen and scripted alike), a stretch at a
 * time however long that is; where that is gone, from the runner's own log. What happened around it comes from the log of
 * events. Reading disturbs nobody. Texts are redacted and bounded; whoever prints them makes them harmless (`inert`).
 */
import { logDirOf } from "#act/attempt-files.ts";
import type { ConversationPart } from "#domain/explain/conversation.ts";
import { sentence } from "#domain/explain/why.ts";
import { type Attempt, findSession } from "#domain/model/attempt.ts";
import type { EventOf, EventType } from "#domain/model/event.ts";
import { OverseerError } from "#errors.ts";
import { type ConversationBounds, ConversationEars } from "#runtimes/conversation-ears.ts";
import { type Json, jsonObject } from "#runtimes/json.ts";
import { findSessionFormat } from "#runtimes/read-session.ts";
import type { SessionFormat } from "#runtimes/session-format.ts";
import { attemptByNumber, attemptsOfNode } from "#store/attempts.ts";
import { eventsMatching } from "#store/events.ts";
import { messagesByIds } from "#store/messages.ts";
import { findTranscript } from "./sessions.ts";
import type { World } from "./world.ts";

/** Up to where somebody has read. Only `readConversation` looks into it. */
export interface ConversationCursor {
  /** The file; empty while there is none. */
  readonly path: string;
  readonly byte: number;
  /** The place in the log of events. */
  readonly seq: number;
  /** When the newest part was. */
  readonly at: number;
}

export interface ConversationOptions {
  /** Only what came after it. */
  readonly after?: ConversationCursor;
  /** Where a first look begins: the newest parts, unless told otherwise. */
  readonly from?: "start" | "end";
  /** How many parts the newest are (default 200). */
  readonly most?: number;
  /** Texts as long as they are, up to a megabyte each. */
  readonly whole?: boolean;
}

export interface AgentConversation {
  readonly attempt: Attempt;
  /** In the order they happened. */
  readonly parts: readonly ConversationPart[];
  readonly cursor: ConversationCursor;
  /** There is something before the first part, which was not read. */
  readonly earlier: boolean;
  /** There is something after the last one already: ask again. */
  readonly more: boolean;
}

const MOST_PARTS = 200;
const MOST_EVENTS = 500;
/** What is read of a file at once; a single line may need more, up to the longest. */
const STRETCH = 1024 * 1024;
const LONGEST_LINE = 16 * 1024 * 1024;
/** Within so many bytes a file says whose it is. */
const HEAD = 64 * 1024;
const SHORT: ConversationBounds = { words: 8_000, result: 4_000 };
const WHOLE: ConversationBounds = { words: 1_000_000, result: 1_000_000 };

export async function readConversation(
  world: World,
  number: number,
  options: ConversationOptions = {},
): Promise<AgentConversation> {
  const { attempt } = await (await world.reader()).read({ attempt: attemptByNumber(number) });
  if (!attempt) {
    const hint = "'overseer agents --all' lists them.";
    throw new OverseerError("not-found", "ATTEMPT_UNKNOWN", `There is no attempt #${number}.`, hint);
  }
  const { after, from = "end", most = MOST_PARTS } = options;
  const source = await openSource(world, attempt, options.whole ? WHOLE : SHORT);
  const isSame = after !== undefined && after.path === source.path;
  const read =
    after === undefined && from === "end"
      ? await source.readEnd(most)
      : await source.readFrom(isSame ? after.byte : 0, isSame ? 0 : (after?.at ?? 0));
  const around = await readAround(world, attempt, source.isTranscript, {
    after: after?.seq ?? 0,
    newest: after === undefined && from === "end",
    since: read.earlier ? (read.parts[0]?.at ?? 0) : 0,
    until: read.more ? (read.parts.at(-1)?.at ?? 0) : Number.POSITIVE_INFINITY,
  });
  const merged = sortByTime([...around.parts, ...read.parts]);
  const parts = after === undefined && from === "end" ? merged.slice(-most) : merged;
  return {
    attempt,
    parts,
    cursor: {
      path: source.path,
      byte: read.byte,
      seq: around.seq,
      at: Math.max(after?.at ?? 0, ...parts.slice(-50).map(({ at }) => at)),
    },
    earlier: read.earlier || parts.length < merged.length,
    more: read.more,
  };
}

/** What happened at the same time stays in the order it was told; a part without a time follows the one before it. */
function sortByTime(parts: readonly ConversationPart[]): ConversationPart[] {
  return parts.toSorted((one, other) => one.at - other.at);
}

interface Stretch {
  readonly parts: ConversationPart[];
  /** The first byte that was not read. */
  readonly byte: number;
  readonly earlier: boolean;
  readonly more: boolean;
}

/** One file with the conversation in it, read in stretches of whole lines. */
interface ConversationSource {
  readonly path: string;
  /** What it was asked is in it too. */
  readonly isTranscript: boolean;
  readEnd(most: number): Promise<Stretch>;
  /** `since`: only parts after that time. */
  readFrom(byte: number, since: number): Promise<Stretch>;
}

const NOTHING_THERE: ConversationSource = {
  path: "",
  isTranscript: false,
  readEnd: async () => ({ parts: [], byte: 0, earlier: false, more: false }),
  readFrom: async () => ({ parts: [], byte: 0, earlier: false, more: false }),
};

async function openSource(world: World, attempt: Attempt, bounds: ConversationBounds): Promise<ConversationSource> {
  const session = findSession(attempt);
  const transcript = session === null ? undefined : findTranscript(await world.runtime(attempt.runtime), session);
  const log = `${logDirOf(world.root, attempt)}/events.ndjson`;
  for (const path of transcript === undefined ? [log] : [transcript, log]) {
    const format = await recognise(path);
    if (format) return sourceOf(path, format, attempt, bounds, path === transcript);
  }
  return NOTHING_THERE;
}

/** Undefined also for a file that is not there, or has no whole line yet. */
async function recognise(path: string): Promise<SessionFormat | undefined> {
  const file = Bun.file(path);
  if (!(await file.exists())) return undefined;
  return findSessionFormat(valuesIn(await file.slice(0, HEAD).bytes()), path);
}

function valuesIn(bytes: Uint8Array): Json[] {
  return new TextDecoder()
    .decode(bytes)
    .split("\n")
    .map((line) => jsonObject(line.trim()))
    .filter((value) => value !== undefined);
}

function sourceOf(
  path: string,
  format: SessionFormat,
  attempt: Attempt,
  bounds: ConversationBounds,
  isTranscript: boolean,
): ConversationSource {
  // A session may have been another attempt's before, and become another's later.
  const [begin, end] = [attempt.createdAt, attempt.endedAt ?? Number.POSITIVE_INFINITY];
  const isOwn = ({ at }: ConversationPart) => !isTranscript || at === 0 || (at >= begin && at <= end);
  const listen = (bytes: Uint8Array): ConversationPart[] => {
    const ears = new ConversationEars(format.tools, attempt.worktree, bounds);
    const reader = format.read(ears);
    for (const value of valuesIn(bytes)) reader.take(value);
    reader.end?.();
    return ears.takeParts();
  };
  return {
    path,
    isTranscript,
    async readEnd(most) {
      const { size } = Bun.file(path);
      const parts: ConversationPart[] = [];
      let to = await lastLineEnd(path, size);
      const byte = to;
      while (to > 0 && parts.length < most) {
        const { bytes, from } = await readBefore(path, to);
        const heard = listen(bytes);
        parts.unshift(...heard.filter(isOwn));
        to = from;
        if (isTranscript && heard.some(({ at }) => at > 0 && at < begin)) to = 0;
      }
      return { parts: parts.slice(-most), byte, earlier: to > 0 || parts.length > most, more: false };
    },
    async readFrom(byte, since) {
      const { size } = Bun.file(path);
      // One that became shorter is another file by now.
      const from = byte > size ? size : byte;
      const { bytes, to } = await readAfter(path, from, size);
      const parts = listen(bytes).filter((part) => isOwn(part) && (since === 0 || part.at > since));
      return { parts, byte: to, earlier: from > 0, more: to > from && to < (await lastLineEnd(path, size)) };
    },
  };
}

async function readBytes(path: string, from: number, to: number): Promise<Uint8Array> {
  return Bun.file(path).slice(from, to).bytes();
}

/** Behind the last whole line: what follows is still being written. */
async function lastLineEnd(path: string, size: number): Promise<number> {
  for (let from = size, length = HEAD; from > 0 && length <= LONGEST_LINE; length *= 4) {
    from = Math.max(0, size - length);
    const end = (await readBytes(path, from, size)).lastIndexOf(LINE_FEED);
    if (end >= 0) return from + end + 1;
  }
  return 0;
}

const LINE_FEED = 10;

/** Whole lines that end at `to`; a line that is longer than anything is passed over. */
async function readBefore(path: string, to: number): Promise<{ readonly bytes: Uint8Array; readonly from: number }> {
  for (let length = STRETCH; ; length *= 4) {
    const from = Math.max(0, to - length);
    const bytes = await readBytes(path, from, to);
    if (from === 0) return { bytes, from };
    const start = bytes.indexOf(LINE_FEED) + 1;
    if (start > 0 && start < bytes.length) return { bytes: bytes.subarray(start), from: from + start };
    if (length >= LONGEST_LINE) return { bytes: new Uint8Array(), from };
  }
}

/** Whole lines from a byte on. */
async function readAfter(
  path: string,
  from: number,
  size: number,
): Promise<{ readonly bytes: Uint8Array; readonly to: number }> {
  for (let length = STRETCH; ; length *= 4) {
    const to = Math.min(size, from + length);
    const bytes = await readBytes(path, from, to);
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) return { bytes: bytes.subarray(0, end), to: from + end };
    if (to === size) return { bytes: new Uint8Array(), to: from };
    if (length >= LONGEST_LINE) return { bytes: new Uint8Array(), to };
  }
}

/** What is told of the log of events; `true`: it is no good news. */
const NOTED: ReadonlyMap<EventType, boolean> = new Map<EventType, boolean>([
  ["agent.slung", false],
  ["agent.paused", false],
  ["agent.resumed", false],
  ["agent.stop_requested", false],
  ["agent.interrupt_requested", false],
  ["agent.waiting", false],
  ["agent.woken", false],
  ["agent.blocked", true],
  ["agent.unguarded", true],
  ["agent.ended", false],
  ["update.taken", false],
  ["update.refused", true],
  ["question.asked", false],
  ["question.answered", false],
  ["work.claimed", false],
  ["work.checked", false],
  ["work.returned", true],
  ["landing.landed", false],
  ["landing.refused", true],
]);

interface AroundWish {
  readonly after: number;
  readonly newest: boolean;
  readonly since: number;
  readonly until: number;
}

/** What happened around it; where the file does not hold what it was asked, that too. */
async function readAround(
  world: World,
  attempt: Attempt,
  isTranscript: boolean,
  wish: AroundWish,
): Promise<{ readonly parts: ConversationPart[]; readonly seq: number }> {
  const { goalId, workNodeId: nodeId } = attempt;
  const store = await world.reader();
  const { events, others } = await store.read({
    events: eventsMatching({ goalId, nodeId, after: wish.after, limit: MOST_EVENTS, newest: wish.newest }),
    others: attemptsOfNode(goalId, nodeId),
  });
  const next = others.filter((one) => one.attempt > attempt.attempt).map(({ createdAt }) => createdAt);
  const until = Math.min(Number.POSITIVE_INFINITY, ...next);
  const isOwn = (event: EventOf) =>
    event.attempt === undefined ? event.at >= attempt.createdAt && event.at < until : event.attempt === attempt.attempt;
  const due = events.filter(({ at }) => at <= wish.until);
  const own = due.filter((event) => isOwn(event) && event.at >= wish.since);
  const notes = own.flatMap((event): ConversationPart[] => {
    const bad = NOTED.get(event.type);
    const text = bad === undefined ? undefined : sentence(event);
    return text === undefined || bad === undefined
      ? []
      : [{ kind: "note", at: event.at, text, bad: bad || isBadEnd(event) }];
  });
  const prompts = isTranscript ? [] : await readPrompts(world, own);
  return { parts: [...notes, ...prompts], seq: due.at(-1)?.seq ?? wish.after };
}

function isBadEnd(event: EventOf): boolean {
  return event.type === "agent.ended" && event.data.cause !== "finished" && event.data.cause !== "stopped";
}

async function readPrompts(world: World, events: readonly EventOf[]): Promise<ConversationPart[]> {
  const seen = new Map(events.flatMap((one) => (one.type === "message.seen" ? [[one.data.messageId, one.at]] : [])));
  if (seen.size === 0) return [];
  const { messages } = await (await world.reader()).read({ messages: messagesByIds([...seen.keys()]) });
  return messages.map(({ messageId, from, body, subject, handedAt }) => ({
    kind: "prompt",
    at: handedAt ?? seen.get(messageId) ?? 0,
    from,
    text: (subject === "" ? body : `${subject}: ${body}`).slice(0, SHORT.words),
    left: Math.max(0, body.length - SHORT.words),
  }));
}
