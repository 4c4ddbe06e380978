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
    ["an offer is no question", [ended("Done with the parser. Let me know if you want more.")], undefined],
    ["a polite offer neither", [ended("All green. Please let me know if anything is off.")], undefined],
    ["a question with a word after it", [ended("Want me to add a test? It takes a minute.")], "waiting-on-human"],
    [
      "a question with its choices after it",
      [ended("Which approach?\n\n1. A table, which is quick\n2. A tree, which is small")],
      "waiting-on-human",
    ],
    [
      "choices, one paragraph each",
      [ended("Two ways. Which one?\n\n- Keep it as it is\n\n- Take it away")],
      "waiting-on-human",
    ],
    ["a question in Chinese", [ended("配置已生效。还有别的需要帮忙的吗？")], "waiting-on-human"],
    ["a plea in Chinese", [ended("完成。\n\n请告诉我测试结果！")], "waiting-on-human"],
    ["a question in Japanese", [ended("変更しました。コミットしますか。")], "waiting-on-human"],
    ["plain words in Japanese", [ended("変更をコミットしました。")], undefined],
    ["a list without a question", [ended("Done:\n\n- the parser\n- the tests")], undefined],
    ["your call", [ended("Both work. The first is smaller; your call.")], "waiting-on-human"],
    [
      "choices in a table",
      [ended("| A | two |\n| B | three |\n\nYou can reply with the letter, or say yes.")],
      "waiting-on-human",
    ],
    ["which one to take", [ended("Let me know which one to take.")], "waiting-on-human"],
    ["a question that answers itself", [ended("Why? Because the cache was stale. It is fixed.")], undefined],
    ["a question mark in code", [ended("The parser reads `a ? b : c` and `x?` now.")], undefined],
    ["an address with a question mark", [ended("It answers at http://localhost/?page=2 now.")], undefined],
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
