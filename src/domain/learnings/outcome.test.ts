import { describe, expect, test } from "bun:test";
import type { Learning } from "#domain/model/learning.ts";
import type { Message } from "#domain/model/message.ts";
import { learningWith, recipientWith } from "../../../test/support/learnings.ts";
import { T0 } from "../../../test/support/samples.ts";
import type { HeardCall } from "./hear.ts";
import { judgeRecipients } from "./outcome.ts";

const SEEN = { status: "seen", attempt: 2, handedAt: T0 + 10, endedAt: T0 + 90 } as Message;

function call(at: number, command: string, failing: string | null = null): HeardCall {
  return { at: T0 + at, ok: failing === null, command, failing, args: JSON.stringify({ command }) };
}

const FIX = "npm test -- --db";
const FACT: Partial<Learning> = { kind: "fact", failing: null, fix: null, paths: ["scripts/db.sh"] };

type Row = [
  what: string,
  learning: Partial<Learning>,
  message: Partial<Message> | undefined,
  calls: readonly HeardCall[],
  ended: boolean,
  verdict: [outcome: string, seen: boolean, saved: boolean] | undefined,
];

const ROWS: Row[] = [
  ["the remedy is run", {}, SEEN, [call(20, FIX)], false, ["used", true, true]],
  ["the remedy is run before something else", {}, SEEN, [call(20, `${FIX} && make all`)], false, ["used", true, true]],
  ["the remedy is run after something else", {}, SEEN, [call(20, `ls ; ${FIX}`)], false, ["used", true, true]],
  ["a longer command than the remedy is another", {}, SEEN, [call(20, `${FIX} --x`)], false, undefined],
  ["it fails the same way again", {}, SEEN, [call(95, "npm test", "npm test ! 1")], false, ["repeated", true, false]],
  ["it fails in another way", {}, SEEN, [call(95, "npm test", "npm test ! 2")], false, undefined],
  [
    "what it began after the handing over and before it saw it fails",
    {},
    { ...SEEN, handedAt: T0 + 1_000, endedAt: T0 + 4_000 },
    [call(2_000, "npm test", "npm test ! 1")],
    false,
    undefined,
  ],
  [
    "that fails, and then the remedy is run",
    {},
    { ...SEEN, handedAt: T0 + 1_000, endedAt: T0 + 4_000 },
    [call(2_000, "npm test", "npm test ! 1"), call(6_000, FIX)],
    false,
    ["used", true, true],
  ],
  [
    "what it began before it saw it works by itself",
    {},
    { ...SEEN, handedAt: T0 + 1_000, endedAt: T0 + 4_000 },
    [call(2_000, "npm test")],
    true,
    ["unused", true, false],
  ],
  [
    "it fails again, and then the remedy is run",
    {},
    SEEN,
    [call(95, "npm test", "npm test ! 1"), call(99, FIX)],
    false,
    ["repeated", true, false],
  ],
  ["the remedy itself fails", {}, SEEN, [call(20, FIX, `${FIX} ! 3`)], true, ["unused", true, false]],
  ["what it began before it was told says nothing", {}, SEEN, [call(5, "npm test", "npm test ! 1")], false, undefined],
  ["it goes on with other things", {}, SEEN, [call(20, "ls")], false, undefined],
  ["it ends without either", {}, SEEN, [call(20, "ls")], true, ["unused", true, false]],
  ["it ends, and the command worked by itself", {}, SEEN, [call(95, "npm test")], true, ["unused", true, true]],
  [
    "the proof came after the call, which came after the handing over",
    {},
    { ...SEEN, endedAt: T0 + 500 },
    [call(20, FIX)],
    false,
    ["used", true, true],
  ],
  ["its successor has seen it", {}, { ...SEEN, attempt: 5 }, [call(20, FIX)], false, undefined],
  ["it waits in the inbox", {}, { status: "queued", attempt: 2 }, [call(20, FIX)], true, undefined],
  [
    "it was handed over, without proof yet",
    {},
    { status: "handed", attempt: 2, handedAt: T0 },
    [call(20, FIX)],
    false,
    undefined,
  ],
  ["nobody saw it in time", {}, { status: "expired", attempt: 2 }, [call(20, FIX)], false, ["unknown", false, false]],
  ["nobody was left to see it", {}, { status: "dead_lettered", attempt: 2 }, [], true, ["unknown", false, false]],
  ["its message is gone", {}, undefined, [], false, ["unknown", false, false]],
  ["a fact, and what it names is touched", FACT, SEEN, [call(20, "sh scripts/db.sh")], false, ["used", true, false]],
  ["a fact that names nothing", { ...FACT, paths: [] }, SEEN, [call(20, "ls")], true, ["unknown", true, false]],
  [
    "a person said that it fails, not how",
    { failing: "npm test ! *" },
    SEEN,
    [call(95, "npm test", "npm test ! 7")],
    false,
    ["repeated", true, false],
  ],
];

describe("what came of it", () => {
  test.each(ROWS)("LEARN-1: %s", (_what, learning, message, calls, ended, verdict) => {
    const told = learningWith({ ...learning, recipients: [recipientWith(2)] });
    const [judged] = judgeRecipients(told, {
      message: () => message as Message | undefined,
      calls: (attempt) => (attempt === 2 ? calls : []),
      hasEnded: (attempt) => attempt === 2 && ended,
    });
    expect(judged && [judged.outcome, judged.seen, judged.saved]).toEqual(verdict as never);
  });

  test("LEARN-1: what was offered with the context counts from that moment, and what is judged stays so", () => {
    const offered = recipientWith(2, { how: "offered", messageId: null, seen: true });
    const scene = { message: () => undefined, calls: () => [call(20, FIX)], hasEnded: () => false };
    expect(judgeRecipients(learningWith({ recipients: [offered] }), scene)).toEqual([
      { attempt: 2, outcome: "used", seen: true, saved: true },
    ]);
    expect(judgeRecipients(learningWith({ recipients: [{ ...offered, outcome: "unused" }] }), scene)).toEqual([]);
  });
});
