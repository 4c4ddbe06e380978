/** GUARD-3: what a remediation is started with is read whole, or refused in a sentence. */
import { expect, test } from "bun:test";
import { type RemedyContext, readRemedyContext } from "./remedy-context.ts";

const CONTEXT: RemedyContext = {
  v: 1,
  failure: { kind: "exited", detail: "The daemon ended with exit code 6.", at: 1_700_000_000_000 },
  registration: { pid: 47, instance: "d_1" },
  guard: { pid: 46, since: 1_699_999_000_000 },
  try: 1,
};
const text = JSON.stringify(CONTEXT);

test("GUARD-3: a whole context is read as it was written; a field of a later version does no harm", () => {
  expect(readRemedyContext(text)).toEqual({ ok: true, context: CONTEXT });
  const more = JSON.stringify({ ...CONTEXT, registration: null, later: true });
  expect(readRemedyContext(more)).toEqual({ ok: true, context: { ...CONTEXT, registration: null } });
});

test("GUARD-3: a context that was cut off anywhere is refused", () => {
  for (let end = 0; end < text.length; end += 1) {
    expect(readRemedyContext(text.slice(0, end))).toMatchObject({
      ok: false,
      problem: expect.stringContaining("cut off"),
    });
  }
});

test.each<[what: string, change: Record<string, unknown>, says: string]>([
  ["of another version", { v: 2 }, "version 2, and this program reads version 1"],
  ["of no version", { v: undefined }, "version none"],
  ["without a failure", { failure: undefined }, "no kind, detail and time"],
  ["whose failure says nothing", { failure: { kind: "", detail: "x", at: 1 } }, "no kind, detail and time"],
  ["whose failure has no time", { failure: { kind: "x", detail: "x", at: "now" } }, "no kind, detail and time"],
  ["with a list for a registration", { registration: [] }, "neither an object nor null"],
  ["without a registration", { registration: undefined }, "neither an object nor null"],
  ["without a guard", { guard: null }, "which guard"],
  ["of a third try", { try: 3 }, "neither 1 nor 2"],
])("GUARD-3: a context %s is refused", (_what, change, says) => {
  const reading = readRemedyContext(JSON.stringify({ ...CONTEXT, ...change }));
  expect(reading).toMatchObject({ ok: false, problem: expect.stringContaining(says) });
});

test.each(["null", "[]", "1", '"text"'])("GUARD-3: %s is no context", (one) => {
  expect(readRemedyContext(one)).toMatchObject({ ok: false });
});
