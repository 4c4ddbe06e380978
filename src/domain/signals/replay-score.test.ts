/** How right the rules were: one row per situation, and a mistake that is planted and found. */
import { describe, expect, test } from "bun:test";
import type { Fired, WordsReading } from "./reflex-replay.ts";
import type { WindowLabel } from "./replay-label.ts";
import { GRACE_STEPS, type ScoredFile, scoreReplay } from "./replay-score.ts";

/** Forty calls, one in each step. */
const CALLS = Array.from({ length: 40 }, (_, at) => ({ ordinal: at + 1, id: `c${at + 1}`, step: at + 1 }));

const said = (anomaly: Fired["anomaly"], step: number): Fired => ({
  ...{ anomaly, step, at: 0, text: `said ${anomaly}` },
  call: { ordinal: step, id: `c${step}` },
  evidence: [],
});
const read = (kind: WordsReading["class"], step: number): WordsReading => ({
  ...{ class: kind, step, at: 0, words: "?" },
  call: { ordinal: step, id: `c${step}` },
});
const label = (anomaly: string, from: number, to: number, more: Partial<WindowLabel> = {}): WindowLabel => ({
  ...{ what: "window", file: "f", runtime: "codex", anomaly, sure: true, wrong: false, note: "" },
  ...{ from: { id: `c${from}`, ordinal: null }, to: { id: null, ordinal: to } },
  ...more,
});
const fileOf = (
  fired: readonly Fired[],
  windows: readonly WindowLabel[],
  { readings = [] as readonly WordsReading[], screened = true, hours = 10 as number | null } = {},
): ScoredFile => ({
  file: "f",
  runtime: "codex",
  sessions: [{ name: "", runtime: "codex", fired, readings, calls: CALLS, workMs: 20 * 3_600_000 }],
  windows,
  screened: screened ? { what: "screened", file: "f", runtime: "codex", calls: 40, hours } : null,
});

type Row = [why: string, file: ScoredFile, sentences: string, windows: string];
const rows: Row[] = [
  ["said in its window", fileOf([said("loop", 12)], [label("loop", 10, 14)]), "right", "noticed"],
  [
    "said at its last step of grace",
    fileOf([said("loop", 14 + GRACE_STEPS)], [label("loop", 10, 14)]),
    "right",
    "noticed",
  ],
  ["said too late", fileOf([said("loop", 15 + GRACE_STEPS)], [label("loop", 10, 14)]), "false", "missed"],
  ["said before it", fileOf([said("loop", 9)], [label("loop", 10, 14)]), "false", "missed"],
  ["a context that is announced", fileOf([said("context", 5)], [label("context", 35, 38)]), "right", "noticed"],
  [
    "a word about the climb before",
    fileOf([said("context", 5)], [label("context", 8, 10), label("context", 35, 38)]),
    "right",
    "noticed,missed",
  ],
  [
    "a word in the grace of the climb before",
    fileOf([said("context", 11)], [label("context", 8, 10), label("context", 35, 38)]),
    "right",
    "noticed,missed",
  ],
  [
    "an early word that a person called wrong",
    fileOf([said("context", 5)], [label("context", 5, 5, { wrong: true }), label("context", 35, 38)]),
    "false",
    "noticed",
  ],
  ["another word for being stuck", fileOf([said("stall", 12)], [label("loop", 10, 14)]), "right", "noticed"],
  ["emergency where it is stuck", fileOf([said("emergency", 12)], [label("oscillation", 10, 14)]), "right", "noticed"],
  ["another family", fileOf([said("cascade", 12)], [label("loop", 10, 14)]), "false", "missed"],
  [
    "an urgent word about the context",
    fileOf([said("context-urgent", 12)], [label("context", 10, 14)]),
    "right",
    "noticed",
  ],
  [
    "maybe counts neither way",
    fileOf([said("loop", 12)], [label("loop", 10, 14, { sure: false })]),
    "neither",
    "neither",
  ],
  ["nobody looked", fileOf([said("loop", 30)], [], { screened: false }), "neither", ""],
  ["somebody looked and it was well", fileOf([said("loop", 30)], []), "false", ""],
  [
    "a person called it wrong",
    fileOf([said("loop", 12)], [label("loop", 12, 12, { wrong: true })], { screened: false }),
    "false",
    "",
  ],
  ["nothing was said", fileOf([], [label("loop", 10, 14)]), "", "missed"],
  [
    "words read as a question",
    fileOf([], [label("last-words", 12, 12)], { readings: [read("waiting-on-human", 12)] }),
    "right",
    "noticed",
  ],
  [
    "words read as a failure",
    fileOf([], [label("provider", 12, 12)], { readings: [read("failed", 12)] }),
    "right",
    "noticed",
  ],
  [
    "words before the first call",
    fileOf([], [], { readings: [{ ...read("failed", 0), call: { ordinal: 0, id: "" } }] }),
    "neither",
    "",
  ],
  ["something slow is no finding", fileOf([], [], { readings: [read("slow", 12)] }), "", ""],
];

describe("ANOM-1…5: how right a sentence was", () => {
  test.each(rows)("%s", (_, file, sentences, windows) => {
    const score = scoreReplay([file]);
    expect(score.sentences.map(({ verdict }) => verdict).join()).toBe(sentences);
    expect(score.windows.map(({ verdict }) => verdict).join()).toBe(windows);
  });
});

describe("the sum", () => {
  const files = [
    fileOf([said("loop", 12), said("loop", 30)], [label("loop", 10, 14)]),
    fileOf([said("cascade", 20)], [label("cascade", 19, 20), label("loop", 30, 33)], { hours: 30 }),
  ];

  test("precision, recall, false sentences in ten hours, and how early", () => {
    const { rows: all, hours, screened } = scoreReplay(files);
    expect({ hours, screened }).toEqual({ hours: 40, screened: 2 });
    const loop = all.find(({ anomaly, runtime }) => anomaly === "loop" && runtime === null);
    expect(loop).toMatchObject({ right: 1, wrong: 1, windows: 2, noticed: 1, missed: 1, precision: 0.5, recall: 0.5 });
    expect(loop).toMatchObject({ falsePer10Hours: 0.25, stepsAfterBegin: 2, stepsBeforeEnd: 2 });
    expect(all.find(({ anomaly, runtime }) => anomaly === null && runtime === "codex")).toMatchObject({
      right: 2,
      wrong: 1,
    });
  });

  test("a planted mistake is found: one more false sentence, one more miss", () => {
    const before = scoreReplay(files).rows.find(({ anomaly, runtime }) => anomaly === null && runtime === null);
    const planted = [...files, fileOf([said("stall", 5)], [label("cascade", 10, 12)], { hours: 10 })];
    const after = scoreReplay(planted);
    const total = after.rows.find(({ anomaly, runtime }) => anomaly === null && runtime === null);
    expect(total).toMatchObject({ wrong: (before?.wrong ?? 0) + 1, missed: (before?.missed ?? 0) + 1 });
    expect(after.sentences.filter(({ verdict }) => verdict === "false").map(({ anomaly }) => anomaly)).toContain(
      "stall",
    );
  });

  test("what was read from last words was said to nobody", () => {
    const { rows: all } = scoreReplay([fileOf([], [], { readings: [read("waiting-on-human", 12)] })]);
    expect(all.find(({ anomaly, runtime }) => anomaly === null && runtime === null)).toMatchObject({ wrong: 0 });
    expect(all.find(({ anomaly }) => anomaly === "last-words")).toMatchObject({ wrong: 1 });
  });

  test("labels that fit nowhere, and files with other calls, are named; hours that nobody gave are measured", () => {
    const lost = label("loop", 10, 14, { from: { id: "nobody", ordinal: null }, to: { id: "nobody", ordinal: null } });
    const odd = fileOf([], [lost], { hours: null });
    const score = scoreReplay([
      { ...odd, screened: { what: "screened", file: "f", runtime: "codex", calls: 41, hours: null } },
    ]);
    expect(score.unplaced).toEqual([lost]);
    expect(score.otherCalls).toEqual([{ file: "f", labelled: 41, found: 40 }]);
    expect(score.hours).toBe(20);
  });
});
