/** What a silent agent's last words mean: one row per message, and properties of the rule. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FINGERPRINT_MESSAGES, fingerprintOf } from "./fingerprint.ts";
import type { Signal } from "./signal.ts";

const said = (text: string): Signal => ({ kind: "said", source: "1", phase: "", at: 1, data: { text } });
const ended = (text: string, ok = true, reason = "completed"): Signal => ({
  kind: "turn.ended",
  source: "1",
  phase: "",
  at: 1,
  data: { ok, reason, text, costUsd: null },
});
const retry: Signal = {
  kind: "api.retry",
  source: "1",
  phase: "",
  at: 1,
  data: { attempt: 1, cause: "overloaded", delayMs: 1 },
};
const failed: Signal = {
  kind: "api.failed",
  source: "1",
  phase: "",
  at: 1,
  data: { cause: "network", detail: "", resetsAt: null },
};

describe("LIVE-1: the last messages of a stale assignment are classed by rule", () => {
  test.each<[string, readonly Signal[], string | undefined]>([
    ["a question at the end", [ended("There are two ways.\n\nWhich one should it be?")], "waiting-on-human"],
    ["a question in bold", [said("**Shall I continue?**")], "waiting-on-human"],
    ["a plea", [ended("I have stopped here. Please confirm that the table may be dropped.")], "waiting-on-human"],
    ["it waits for approval", [ended("Waiting for your approval before I push.")], "waiting-on-human"],
    ["it needs credentials", [ended("I need credentials for the registry to continue.")], "waiting-on-human"],
    ["an offer", [ended("Done with the parser. Let me know if you want more.")], "waiting-on-human"],
    ["a question that was answered by continuing", [ended("Which one?"), said("I take the first.")], undefined],
    ["a question before the last words", [ended("Is it odd? No.\n\nIt is even.")], undefined],
    ["a question inside a block", [ended('Reported.\n\n```json\n{"a": "why?"}\n```')], undefined],
    ["a build that runs", [said("The build is still running.")], "slow"],
    ["tests it waits for", [ended("I am waiting for the tests in another terminal.")], "slow"],
    [
      "the model's host is asked again, which is no word of the agent's",
      [said("It may take a while."), retry],
      undefined,
    ],
    ["a failed turn", [said("Looking."), ended("", false, "api_error")], "failed"],
    ["a failed call of the model", [ended("Fine."), failed], "failed"],
    ["a turn that was interrupted", [ended("", false, "aborted")], undefined],
    ["interrupted while it asked", [said("Which one?"), ended("", false, "aborted")], "waiting-on-human"],
    ["plain words", [ended("The parser reads dates now.")], undefined],
    ["no words", [], undefined],
  ])("%s", (_what, recent, expected) => {
    expect(fingerprintOf(recent)?.class).toBe(expected as never);
  });

  test("only the last twenty messages are looked at", () => {
    const empty = Array.from({ length: FINGERPRINT_MESSAGES }, () => said(""));
    expect(fingerprintOf([said("Which one?"), ...empty.slice(1)])?.class).toBe("waiting-on-human");
    expect(fingerprintOf([said("Which one?"), ...empty])).toBeUndefined();
  });

  test("it never throws, keeps its words short, and does not depend on what lies further back", () => {
    const any = fc.array(
      fc.oneof(
        fc.string().map(said),
        fc.string().map((text) => ended(text)),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(any, any, (older, recent) => {
        const found = fingerprintOf(recent);
        if (found?.class === "waiting-on-human") expect(found.words.length).toBeLessThanOrEqual(500);
        if (found) expect(fingerprintOf([...older, ...recent])).toEqual(found);
      }),
    );
  });
});
