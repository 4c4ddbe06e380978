/** STATUS-1: what is asked of the person can be read and chosen in the smallest window. */
import { expect, test } from "bun:test";
import { liveQuestion, liveView } from "../../../test/support/live-views.ts";
import { makeFooter } from "./footer-frame.ts";
import { readLine } from "./line.ts";
import { beginEdit } from "./line-edit.ts";
import { FIRST_STATE } from "./state.ts";

const LONG = "Which of the two calendars shall be used everywhere, and from which day on? ".repeat(5);
const HOW = "A number or your own words; Enter sends, Esc leav…";
const prompt = { kind: "answer", question: "q_1", edit: beginEdit("") } as const;

test.each([
  ["each on a line", ["Gregorian", "Julian ".repeat(20)], [/^Which /, / …$/, "  1. Gregorian", /^ {2}2\. Julian .*…$/]],
  ["counted where they are many", ["a", "b", "c", "d", "e"], [/^Which .* …$/, "  1. a", "  2. b", "  … 3 more"]],
])("STATUS-1: at 50 × 10 the choices of a long question are seen, %s", (_how, options, expected) => {
  const view = liveView(3, { questions: [liveQuestion(LONG, options)] });
  const lines = makeFooter({ ...FIRST_STATE, prompt }, view, { columns: 50, rows: 10 }).lines.map(readLine);
  expect(lines).toHaveLength(6);
  for (const [at, one] of [...expected, HOW].entries()) {
    if (typeof one === "string") expect(lines[at]).toBe(one);
    else expect(lines[at]).toMatch(one);
  }
});
