/** What Claude Code says in the model's name, and when it says that a limit ends: one row each. */
import { expect, test } from "bun:test";
import { causeOfNotice, isNotice, resetIn } from "./api-failure.ts";

test.each<[text: string, cause: string]>([
  ["You've hit your session limit · resets 7:20pm (UTC)", "quota"],
  ["You've hit your limit · resets 3am (Europe/Berlin)", "quota"],
  ["Claude AI usage limit reached|1760000000", "quota"],
  ["5-hour limit reached ∙ resets 2pm", "quota"],
  ["Please run /login · API Error: 401 OAuth token has expired", "auth"],
  ["Invalid API key · Please run /login", "auth"],
  ["Credit balance is too low", "billing"],
  ["Prompt is too long", "too_long"],
  ['API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}', "overloaded"],
  ["API Error: 500 Internal server error", "overloaded"],
  ["API Error: Connection error.", "network"],
  ["API Error (Request timed out.)", "network"],
  ["API Error: something else", "unknown"],
])("QUOTA-1: %p is the CLI's own word: %s", (text, cause) => {
  expect(isNotice(text)).toBe(true);
  expect(causeOfNotice(text)).toBe(cause as ReturnType<typeof causeOfNotice>);
});

test.each([
  "The API Error handling is done.",
  "I have fixed the session limit.",
  "Please run /login in the app to see it.\n\nThen you've hit your target.".slice(30),
  "",
])("QUOTA-1: an agent's own words are none of these: %p", (text) => {
  expect(isNotice(text)).toBe(false);
});

const NOON = Date.UTC(2026, 10, 18, 12, 0);
test.each<[text: string, at: number | null]>([
  ["resets 7:20pm (UTC)", Date.UTC(2026, 10, 18, 19, 20)],
  ["resets 7am (UTC)", Date.UTC(2026, 10, 19, 7, 0)],
  ["resets 12am (UTC)", Date.UTC(2026, 10, 19, 0, 0)],
  ["resets 3pm (Europe/Berlin)", Date.UTC(2026, 10, 18, 14, 0)],
  ["resets 1pm (Europe/Berlin)", Date.UTC(2026, 10, 19, 12, 0)],
  ["resets Nov 20, 3am (UTC)", Date.UTC(2026, 10, 20, 3, 0)],
  ["resets Jan 2 at 3am (UTC)", Date.UTC(2027, 0, 2, 3, 0)],
  ["reset at 1760000000", 1_760_000_000_000],
  ["resets soon", null],
])("QUOTA-1: %p, said at noon", (text, at) => {
  expect(resetIn(text, NOON)).toBe(at);
});
