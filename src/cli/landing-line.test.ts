import { expect, test } from "bun:test";
import type { Landed } from "#control/landing.ts";
import { presentLandings } from "#control/present.ts";
import type { Call } from "./command.ts";
import { tellLandings } from "./landing-line.ts";

const NODE = "goal_A/T1";
const NOT: Landed = { node: NODE, outcome: "stale", detail: null, agent: null, commit: null, target: null };

function told(landed: readonly Landed[], json = false): { readonly lines: string[]; readonly error: unknown } {
  const lines: string[] = [];
  const out = { line: (text: string) => lines.push(text), json: (value: unknown) => lines.push(JSON.stringify(value)) };
  try {
    tellLandings({ json, out } as unknown as Call, landed, presentLandings(landed));
    return { lines, error: null };
  } catch (error) {
    return { lines, error };
  }
}

test("REV-1: what has landed names commit and target, and what waits its reason; both are fine", () => {
  const done = { ...NOT, outcome: "done", commit: "0123456789abcdef", target: "main" } as const;
  expect(told([done])).toEqual({ lines: [`Landed ${NODE} on main as 0123456789.`], error: null });
  const waits = { ...NOT, outcome: "waiting", detail: "there are uncommitted changes" } as const;
  expect(told([waits])).toEqual({ lines: [`Not yet landed ${NODE}. there are uncommitted changes.`], error: null });
});

test.each(["returned", "requeued", "asked", "blocked", "stale", "nothing"] as const)(
  "REV-1: what did not land (%s) is an error, for scripts too",
  (outcome) => {
    const one = { ...NOT, outcome };
    const error = { kind: "conflict", code: "NOT_LANDED", message: expect.stringContaining("Not landed") };
    expect(told([one])).toMatchObject({ lines: [], error });
    expect(told([one], true)).toMatchObject({ lines: [JSON.stringify([one])], error });
    expect(told([{ ...NOT, outcome: "done" }, one]).error).toMatchObject({ message: "1 of 2 did not land." });
  },
);
