/** A goal made from a prompt: one task, ready to be dispatched, whose objective is the prompt. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { ADA } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import { goalOf, refused } from "../../../test/support/tree.ts";
import { goalFromPrompt, PROMPTED_NODE } from "./prompt-goal.ts";
import { advance, settle } from "./settle.ts";

function treeOf(prompt: string, tags: readonly string[] = []) {
  const made = goalFromPrompt(undefined, { goalId: "goal_P", prompt, tags }, ADA);
  if (!made.ok) throw new Error(made.refusal.message);
  return { tree: made.value, events: made.events };
}

describe("a prompt", () => {
  test.each([
    ["one line", "Fix the login", "Fix the login"],
    ["blank lines before it", "\n\n  Fix it  \nand more", "Fix it"],
    ["a very long line", "x".repeat(500), "x".repeat(120)],
    ["control characters", "Fix\u0007 it\tnow", "Fix  it now"],
  ])("SLING-4: %s gives the goal its title, and the task the whole of it", (_what, prompt, title) => {
    const { tree } = treeOf(prompt, ["urgent"]);
    expect(tree.goal).toMatchObject({ goalId: "goal_P", title, status: "active" });
    expect(tree.nodes.map((node) => [node.workNodeId, node.kind, node.status])).toEqual([
      ["P1", "phase", "queued"],
      [PROMPTED_NODE, "task", "queued"],
    ]);
    expect(tree.nodes[1]).toMatchObject({ objective: prompt, name: title });
    expect(tree.goal.tags).toEqual(["urgent"]);
  });

  test("SLING-4: what stands in it beside its words is no part of the title", () => {
    const wish = { goalId: "goal_P", prompt: "Say hi @@SCRIPT[…]@@END", tags: [], words: "Say hi" };
    const made = goalFromPrompt(undefined, wish, ADA);
    expect(made.ok && made.value.goal.title).toBe("Say hi");
    expect(made.ok && made.value.nodes[1]).toMatchObject({ name: "Say hi", objective: wish.prompt });
  });

  test.each(["", "   ", "\n\t\n"])("SLING-4: %p is refused", (prompt) => {
    expect(refused(goalFromPrompt(undefined, { goalId: "goal_P", prompt, tags: [] }, ADA))).toMatchObject({
      kind: "usage",
      code: "PROMPT_EMPTY",
    });
  });

  test("SLING-4: an id that is taken is refused", () => {
    const taken = goalOf();
    expect(refused(goalFromPrompt(taken, { goalId: taken.goalId, prompt: "x", tags: [] }, ADA)).kind).toBe("conflict");
  });

  test("SLING-4: whatever it says, the goal is at rest and what is answered is what the events make", () => {
    fc.assert(
      fc.property(anyText({ minLength: 1 }), (prompt) => {
        if (prompt.trim() === "") return;
        const { tree, events } = treeOf(prompt);
        expect(settle(tree, ADA)).toEqual([]);
        expect(tree.goal.title.trim()).not.toBe("");
        const again = events.slice(1).reduce((known, event) => advance(known, event, ADA.now), {
          goal: treeOf(prompt).tree.goal,
          nodes: [] as typeof tree.nodes,
        });
        expect(again.nodes).toEqual(tree.nodes);
      }),
      { numRuns: scaled(100) },
    );
  });
});
