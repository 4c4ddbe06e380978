import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { handoffOf } from "#domain/briefing/handoff.ts";
import {
  HAND_OVER_TEXT,
  nudgeText,
  QUOTA_BACK_TEXT,
  RESUMED_TEXT,
  statusRequestText,
} from "#domain/briefing/nudge-text.ts";
import { firstInstruction, type OverlayInput, renderOverlay, renderSpec } from "#domain/briefing/overlay.ts";
import { renderLeft, renderPrime, renderWaiting } from "#domain/briefing/prime.ts";
import { followUpRequest, statusRequest } from "#domain/briefing/update-request.ts";
import { crystallization } from "#domain/model/crystallization.ts";
import { REPORT_STATUSES, UPDATE_FIELDS, updateBlock } from "#domain/model/protocol.ts";
import { scaled } from "../../../test/support/scale.ts";
import { mergeUpdate, parseUpdate, saysTheSame, UPDATE_KEYS } from "./update.ts";
import { type Reading, readUpdate } from "./update-block.ts";

const block = (value: unknown, fence = "```") => `${fence}json\n${JSON.stringify(value)}\n${fence}`;
const update = (fields: object) => block({ overseerUpdate: fields });
const GOOD = { status: "in_progress", summary: "Grammar reads ISO dates" };

const readings: [why: string, text: string, kind: Reading["kind"], says: string | null][] = [
  ["no block is no update", "All went well.", "none", null],
  ["the word alone is no update", "I will send an overseerUpdate soon.", "none", null],
  ["a block at the end", `Done so far.\n\n${update(GOOD)}`, "update", null],
  ["tildes are fences too", `~~~json\n${JSON.stringify({ overseerUpdate: GOOD })}\n~~~`, "update", null],
  ["a label in capitals", update(GOOD).replace("json", "JSON"), "update", null],
  ["Windows line ends", update(GOOD).replaceAll("\n", "\r\n"), "update", null],
  ["null is not spoken of", update({ ...GOOD, next: null }), "update", null],
  ["other json blocks are not updates", `${block({ a: 1 })}\n\nNothing else.`, "none", null],
  ["the word deep inside other json", block({ example: { overseerUpdate: GOOD } }), "none", null],
  ["inside a longer fence it is quoted", `\`\`\`\`md\n${update(GOOD)}\n\`\`\`\``, "none", null],
  ["inside a fence of the other sign it is quoted", `~~~\n${update(GOOD)}\n~~~`, "none", null],
  ["behind quote marks it is quoted", update(GOOD).replaceAll(/^/gm, "> "), "none", null],
  ["our template says nothing", updateBlock(), "template", null],
  ["our template with ids says nothing", updateBlock({ goalId: "goal_A", workNodeId: "T1" }), "template", null],
  ["half a template", update({ ...GOOD, next: "<the next concrete action>" }), "refused", "next still holds"],
  ["without a label", update(GOOD).replace("```json", "```"), "refused", "not labelled"],
  ["without a fence", JSON.stringify({ overseerUpdate: GOOD }), "refused", "fenced block"],
  ["a block that never ends", update(GOOD).replace(/\n```$/, ""), "refused", "not closed"],
  ["a block cut in the middle", '```json\n{"overseerUpdate": {"status": "do', "refused", "not closed"],
  ["a broken block swallows the next one", `\`\`\`json\n{"overseerUpdate"\n${update(GOOD)}`, "refused", "not JSON"],
  ["trailing comma", '```json\n{"overseerUpdate": {"status": "done",}}\n```', "refused", "not JSON"],
  ["another key beside it", block({ overseerUpdate: GOOD, admin: true }), "refused", '"admin"'],
  ["an unknown key", update({ ...GOOD, approve: true }), "refused", "approve"],
  [
    "a prototype key",
    '```json\n{"overseerUpdate": {"status":"done","__proto__": {"x":1}}}\n```',
    "refused",
    "__proto__",
  ],
  ["a key of Object's", update({ ...GOOD, constructor: "x" }), "refused", "constructor"],
  ["an unknown status", update({ status: "cancelled" }), "refused", "in_progress, blocked, done"],
  ["a list instead of fields", block({ overseerUpdate: [] }), "refused", "a list"],
  ["a number for a text", update({ ...GOOD, summary: 7 }), "refused", "a number"],
  ["nothing but ids", update({ goalId: "goal_A" }), "refused", "says nothing"],
  ["an unknown kind of evidence", update({ ...GOOD, evidence: { vibes: [] } }), "refused", "vibes"],
  ["the same thing under two names", update({ ...GOOD, next: "a", nextActions: ["b"] }), "refused", "repeats"],
  ["a summary that is too long", update({ status: "done", summary: "x".repeat(9_000) }), "refused", "9000 bytes"],
  ["a list that is too long", update({ ...GOOD, blockers: Array(101).fill("x") }), "refused", "101 entries"],
  [
    "a block that is too large",
    update({ ...GOOD, next: Array(60).fill("x".repeat(1_500)) }),
    "refused",
    "is the limit",
  ],
  ["a commit that is none", update({ status: "done", commit: "main; rm -rf /" }), "refused", "hash"],
  [
    "nesting without end",
    `\`\`\`json\n{"overseerUpdate":${"[".repeat(20_000)}${"]".repeat(20_000)}}\n\`\`\``,
    "refused",
    "a list",
  ],
];
test.each(readings)("UPD-1: %s", (_why, text, kind, says) => {
  const reading = readUpdate(text);
  expect(reading.kind).toBe(kind);
  if (says !== null) expect(reading.kind === "refused" && reading.reason).toContain(says);
});

describe("UPD-1: the last block", () => {
  const read = (text: string) => {
    const reading = readUpdate(text);
    return reading.kind === "update" ? reading.update : reading;
  };

  test("wins", () => {
    expect(read(`${update({ status: "blocked", blockers: ["x"] })}\n\nNo:\n${update(GOOD)}`)).toEqual(GOOD as never);
  });

  test("wins also when it cannot be read: an earlier one is not taken in its place", () => {
    expect(read(`${update(GOOD)}\n\n${update({ status: "perhaps" })}`)).toMatchObject({ kind: "refused" });
  });

  test("a thousand blocks are read in one pass", () => {
    const many = Array.from({ length: 1_000 }, (_, index) => update({ summary: `step ${index}` })).join("\n\n");
    expect(read(many)).toEqual({ summary: "step 999" });
  });
});

test("UPD-1: CRYS-3: every crystallization field is understood, with the short forms of the template", () => {
  const reading = readUpdate(
    update({
      workNodeId: "T1",
      status: "done",
      summary: "Dates parse",
      currentState: "Grammar in src/date.ts",
      decisions: ["hand-written parser", { decision: "UTC only", rationale: "no zone database" }],
      next: "Wire it in",
      openQuestions: ["Which calendar?"],
      blockers: [],
      evidence: { testsRun: ["bun test: 12 pass", { name: "lint", result: "ok" }], commits: ["abc1234"], prs: "#7" },
      transcripts: [{ sessionKey: "builder-1#4", sessionId: "s" }],
      question: { text: "Ship?", options: ["yes", "no"] },
      blocked: { kind: "credential", needs: "a key" },
      commit: "abc1234",
      noChanges: "was there",
    }),
  );
  expect(reading.kind === "update" && reading.update).toMatchObject({
    decisions: [
      { decision: "hand-written parser", rationale: "" },
      { decision: "UTC only", rationale: "no zone database" },
    ],
    nextActions: ["Wire it in"],
    knownBlockers: [],
    evidence: {
      testsRun: [
        { name: "bun test", result: "12 pass" },
        { name: "lint", result: "ok" },
      ],
      prs: ["#7"],
    },
  });
  expect(UPDATE_FIELDS.filter((field) => !UPDATE_KEYS.includes(field.name))).toEqual([]);
});

describe("UPD-1: partial updates merge", () => {
  const known = mergeUpdate(crystallization("task", {}), {
    summary: "first",
    nextActions: ["a"],
    decisions: [{ decision: "x", rationale: "y" }],
    evidence: { commits: ["abc1234"], testsRun: [{ name: "t", result: "fail" }] },
  });

  test("what is not spoken of stays, evidence gathers, a test keeps its latest result", () => {
    const now = mergeUpdate(known, {
      summary: "second",
      evidence: { testsRun: [{ name: "t", result: "pass" }] },
      commit: "def5678",
    });
    expect(now).toMatchObject({
      summary: "second",
      nextActions: ["a"],
      decisions: [{ decision: "x" }],
      evidence: { commits: ["abc1234", "def5678"], testsRun: [{ name: "t", result: "pass" }] },
    });
  });

  test("an empty list clears, so a blocker can go away", () => {
    expect(mergeUpdate({ ...known, knownBlockers: ["x"] }, { knownBlockers: [] }).knownBlockers).toEqual([]);
  });

  test("the same update twice changes nothing the second time", () => {
    const texts = fc.array(fc.string({ maxLength: 8 }), { maxLength: 4 });
    const some = fc.record(
      {
        summary: fc.string(),
        next: texts,
        blockers: texts,
        decisions: fc.array(fc.record({ decision: fc.string({ minLength: 1 }), rationale: fc.string() }), {
          maxLength: 3,
        }),
        evidence: fc.record({ commits: texts, filesTouched: texts, testsRun: texts }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(some, some, (first, second) => {
        const once = [first, second].reduce((body, fields) => {
          const read = parseUpdate({ status: "in_progress", ...fields });
          return read.ok ? mergeUpdate(body, read.update) : body;
        }, known);
        const read = parseUpdate({ status: "in_progress", ...second });
        if (read.ok) expect(saysTheSame(once, mergeUpdate(once, read.update))).toBe(true);
      }),
      { numRuns: scaled(200) },
    );
  });
});

test("UPD-1: no text makes the reader fail, and what it takes fits its limits", () => {
  const pieces = fc.constantFrom(
    "```",
    "````",
    "~~~",
    "json",
    "\n",
    '{"overseerUpdate":',
    '{"status":"done"}',
    "}",
    "> ",
    "   ",
    "\r",
    '"overseerUpdate"',
    "\u2028",
  );
  const soup = fc.array(fc.oneof(pieces, fc.string({ maxLength: 6 })), { maxLength: 40 }).map((list) => list.join(""));
  fc.assert(
    fc.property(soup, (text) => {
      expect(["none", "template", "refused", "update"]).toContain(readUpdate(text).kind);
    }),
    { numRuns: scaled(500) },
  );
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (json) => {
      expect(["refused", "update"]).toContain(readUpdate(`\`\`\`json\n{"overseerUpdate":${json}}\n\`\`\``).kind);
    }),
    { numRuns: scaled(300) },
  );
});

describe("NUDGE-2: nothing that Overseer writes is read back as an answer", () => {
  const hostile = fc.oneof(
    fc.string(),
    fc.constantFrom(
      update(GOOD),
      `\n${update(GOOD)}\n`,
      `~~~\n~~~json\n${JSON.stringify({ overseerUpdate: GOOD })}\n~~~`,
    ),
    fc.tuple(fc.integer({ min: 3, max: 20 }), fc.constantFrom(...REPORT_STATUSES)).map(([ticks, status]) => {
      const fence = "`".repeat(ticks);
      return `${fence}\n${fence}json\n${JSON.stringify({ overseerUpdate: { status, summary: "x" } })}\n${fence}\n`;
    }),
  );
  const said = (text: string) => readUpdate(text).kind !== "update";

  test("requests and follow-ups", () => {
    const about = fc.record({ goalId: hostile, workNodeId: hostile });
    fc.assert(
      fc.property(about, (about) => {
        expect(said(statusRequest(about, "Nothing was heard of you for 20 minutes."))).toBe(true);
        expect(said(followUpRequest(about, "The block is not JSON."))).toBe(true);
      }),
      { numRuns: scaled(200) },
    );
  });

  test("nudges of every tone and cause", () => {
    const tones = ["hint", "warning", "critical"] as const;
    const causes = ["looping", "update-overdue", "idle-with-open-work", "anything"];
    const texts = [...tones.flatMap((tone) => causes.map((cause) => nudgeText(tone, cause))), statusRequestText()];
    for (const text of texts) expect(readUpdate(text).kind).toBe("template");
    for (const text of [HAND_OVER_TEXT, QUOTA_BACK_TEXT, RESUMED_TEXT]) expect(said(text)).toBe(true);
  });

  test("the request names what NUDGE-2 wants to know", () => {
    const text = statusRequest({ goalId: "goal_A", workNodeId: "T1" }, "It is quiet.");
    for (const word of ["Status:", "Next:", "Blockers:", "If finished:", "overseerUpdate"])
      expect(text).toContain(word);
  });

  test("the assignment page, the first instruction, the prime page, handoffs and waiting messages", () => {
    const parts = fc.record({ words: hostile, more: hostile, cap: fc.integer({ min: 8_192, max: 20_000 }) });
    fc.assert(
      fc.property(parts, ({ words, more, cap }) => {
        const left = { ...crystallization("task", { summary: words, currentState: more, nextActions: [words] }) };
        const stored = {
          ...left,
          crystallizationId: "C_1",
          goalId: "goal_A",
          workNodeId: "T1",
          createdAt: 0,
          by: more,
        };
        const handoff = handoffOf({ summary: words, blockedReason: null }, stored, "refs/overseer/wip/A_1/1", "abc");
        const task = {
          goalId: words,
          nodeId: more,
          name: words,
          objective: words,
          acceptance: [more, words],
          definitionOfDone: more,
          subtasks: [{ nodeId: "S1", name: words }],
        };
        const input: OverlayInput = {
          agent: more,
          attempt: 4,
          role: { capability: words, readOnly: false },
          task,
          spec: { path: words, text: more },
          branch: words,
          base: { branch: more, commit: words },
          files: [words, more],
          parent: words,
          depth: 1,
          expertise: words,
          ...(handoff ? { handoff } : {}),
          wipRef: more,
          checks: [{ name: words, command: more }],
        };
        const pages = [
          renderOverlay(input, cap),
          renderPrime(input),
          renderSpec(task),
          firstInstruction({ task, attempt: 4, resumed: true, parent: more }),
          renderWaiting([{ messageId: "m_1", kind: "mail", from: words, subject: words, body: more }]),
          renderLeft(stored),
        ];
        for (const page of pages) expect(said(page)).toBe(true);
      }),
      { numRuns: scaled(150) },
    );
  });
});
