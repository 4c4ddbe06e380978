import { expect, test } from "bun:test";
import type { Landed } from "#control/landing.ts";
import { presentLandings } from "#control/present.ts";
import type { Call } from "./command.ts";
import { tellLandings } from "./landing-line.ts";

const NODE = "goal_A/T1";
const NOT: Landed = {
  node: NODE,
  outcome: "stale",
  detail: null,
  agent: null,
  commit: null,
  target: null,
  claimed: null,
};

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

const CLAIMED = { commit: "fedcba9876543210", agent: "builder-1#4" };

test("REV-1: what has landed names the agent's commit as such, and what the target has become", () => {
  const done = { ...NOT, outcome: "done", commit: "0123456789abcdef", target: "main", claimed: CLAIMED } as const;
  const line = `Landed ${NODE} (the agent's commit fedcba9876, by builder-1#4) on main as 0123456789.`;
  expect(told([done])).toEqual({ lines: [line], error: null });
  const unpushed = { ...done, claimed: null, detail: "it has landed here and is not pushed yet: no route" };
  expect(told([unpushed]).lines).toEqual([
    `Landed ${NODE} on main as 0123456789. It has landed here and is not pushed yet: no route.`,
  ]);
});

test.each(["waiting", "again"] as const)(
  "REV-1: what has not landed yet (%s) is no success, and says its reason",
  (outcome) => {
    const waits = { ...NOT, outcome, detail: "there are uncommitted changes" };
    const error = {
      kind: "unconfirmed",
      code: "NOT_LANDED_YET",
      message: expect.stringContaining("There are uncommitted"),
    };
    expect(told([waits])).toMatchObject({ lines: [], error });
    expect(told([{ ...NOT, outcome: "done" }, waits]).error).toMatchObject({
      message: "1 of 2 wait and have not landed yet.",
    });
  },
);

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
