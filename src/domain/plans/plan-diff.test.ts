import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { WorkNode } from "#domain/model/work.ts";
import { planned, SMALL_PLAN } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import { attemptWith } from "../../../test/support/snapshots.ts";
import { finish, plan, treeOf } from "../../../test/support/tree.ts";
import type { PlannedNode } from "./plan.ts";
import { diffPlan, type PlanChanges } from "./plan-diff.ts";

/** The plan with one node replaced, or left out. */
function withNode(
  phases: readonly PlannedNode[],
  id: string,
  change: (node: PlannedNode) => PlannedNode | undefined,
): PlannedNode[] {
  return phases.flatMap((node) => {
    const after = node.id === id ? change(node) : node;
    return after ? [{ ...after, children: withNode(after.children, id, change) }] : [];
  });
}

const change = (id: string, parts: Partial<PlannedNode>) => withNode(SMALL_PLAN, id, (node) => ({ ...node, ...parts }));
const idsOf = ({ added, changed, leftOut, kept, finished, refused }: PlanChanges) => ({
  added: added.map(({ id }) => id).join(" "),
  changed: changed.map(({ node }) => node.workNodeId).join(" "),
  leftOut: leftOut.map(({ node }) => node.workNodeId).join(" "),
  kept: kept.join(" "),
  finished: finished.join(" "),
  refused: refused.map(({ node }) => node.workNodeId).join(" "),
});
const ALL = "P1 T1.1 S1.1.1 S1.1.2 T1.2 P2 T2.1";
const NOTHING = { added: "", changed: "", leftOut: "", kept: "", finished: "", refused: "" };
const without = (...ids: string[]) =>
  ALL.split(" ")
    .filter((id) => !ids.includes(id))
    .join(" ");

describe("GOAL-2: what a plan changes", () => {
  const { nodes } = treeOf();

  test("the same plan changes nothing", () => {
    expect(idsOf(diffPlan(nodes, SMALL_PLAN))).toEqual({ ...NOTHING, kept: ALL });
  });

  test("for a goal without work all of it is new", () => {
    expect(idsOf(diffPlan([], SMALL_PLAN))).toEqual({ ...NOTHING, added: ALL });
    expect(diffPlan([], SMALL_PLAN).added[1]).toEqual({ id: "T1.1", name: "Node T1.1", parentId: "P1" });
  });

  test("what stands at another place only because something was added before it is kept", () => {
    const added = withNode(SMALL_PLAN, "P1", (node) => ({ ...node, children: [planned("T1.0"), ...node.children] }));
    expect(idsOf(diffPlan(nodes, added))).toEqual({ ...NOTHING, added: "T1.0", kept: ALL });
  });

  test("a changed node says which fields, before and after", () => {
    const parts = {
      name: "Locales",
      acceptance: ["T1.2 is seen to work", "five languages"],
      deps: [],
      hints: { files: ["src/locales"], capability: "scout", limits: { idleAfterMs: 5 } },
    };
    const found = diffPlan(nodes, change("T1.2", parts));
    expect(idsOf(found)).toEqual({ ...NOTHING, changed: "T1.2", kept: without("T1.2") });
    expect(found.changed[0]?.fields).toEqual([
      { field: "name", before: ["Node T1.2"], after: ["Locales"] },
      {
        field: "acceptance",
        before: ["T1.2 is seen to work"],
        after: ["T1.2 is seen to work", "five languages"],
      },
      { field: "deps", before: ["T1.1"], after: [] },
      { field: "capability", before: [], after: ["scout"] },
      { field: "files", before: [], after: ["src/locales"] },
      { field: "limits", before: [], after: ['{"idleAfterMs":5}'] },
    ]);
  });

  test("an arrow that another node draws is a change of the one that waits", () => {
    const [one] = diffPlan(nodes, change("S1.1.1", { blocks: ["T2.1"] })).changed;
    expect(one).toMatchObject({
      node: { workNodeId: "T2.1" },
      fields: [{ field: "deps", before: [], after: ["S1.1.1"] }],
    });
  });

  test("a node under another parent is a change of that", () => {
    const moved = withNode(SMALL_PLAN, "T1.2", () => undefined).map((phase) =>
      phase.id === "P2" ? { ...phase, children: [...phase.children, planned("T1.2", { deps: ["T1.1"] })] } : phase,
    );
    expect(diffPlan(nodes, moved).changed).toMatchObject([
      { fields: [{ field: "parent", before: ["P1"], after: ["P2"] }] },
    ]);
  });

  test("what is left out would be cancelled, and what is in flight is named", () => {
    const plan = withNode(SMALL_PLAN, "T1.1", () => undefined).map((phase) =>
      phase.id === "P1" ? { ...phase, children: phase.children.map((task) => ({ ...task, deps: [] })) } : phase,
    );
    const claimed = nodes.map((node): WorkNode => (node.workNodeId === "S1.1.2" ? { ...node, claim: CLAIM } : node));
    const attempts = [
      attemptWith({ attempt: 4, agent: "ada", workNodeId: "T1.1" }),
      attemptWith({ attempt: 3, agent: "bob", workNodeId: "T1.1", status: "ended" }),
      attemptWith({ attempt: 5, agent: "eve", workNodeId: "S1.1.1", goalId: "goal_OTHER" }),
      attemptWith({ attempt: 6, agent: "joe", workNodeId: "T1.2" }),
    ];
    const found = diffPlan(claimed, plan, { attempts });
    expect(found.leftOut.map(({ node, inFlight }) => [node.workNodeId, inFlight])).toEqual([
      ["T1.1", "ada#4"],
      ["S1.1.1", null],
      ["S1.1.2", "reported done"],
    ]);
    expect(found.changed.map(({ node, inFlight }) => [node.workNodeId, inFlight])).toEqual([["T1.2", "joe#6"]]);
  });

  test("what is finished is untouched, named or not, and a plan that changes it is told", () => {
    const done = finish(finish(treeOf(), "S1.1.1"), "S1.1.2").nodes;
    const rest = without("T1.1", "S1.1.1", "S1.1.2");
    const finished = "T1.1 S1.1.1 S1.1.2";
    expect(idsOf(diffPlan(done, SMALL_PLAN))).toEqual({ ...NOTHING, kept: rest, finished });
    const shorter = withNode(SMALL_PLAN, "S1.1.2", () => undefined);
    expect(idsOf(diffPlan(done, shorter))).toEqual({ ...NOTHING, kept: rest, finished });
    const other = change("S1.1.1", { name: "Other" });
    const found = diffPlan(done, other);
    expect(idsOf(found)).toEqual({ ...NOTHING, kept: rest, finished: "T1.1 S1.1.2", refused: "S1.1.1" });
    // Tags follow from the goal and are no change of what is finished.
    expect(idsOf(diffPlan(done, SMALL_PLAN, { tags: ["new"] })).finished).toBe(finished);
  });

  test("what was cancelled before stays so", () => {
    const cancelled = nodes.map(
      (node): WorkNode => (node.workNodeId === "T1.2" ? { ...node, status: "cancelled" } : node),
    );
    expect(diffPlan(cancelled, SMALL_PLAN)).toMatchObject({ stayCancelled: ["T1.2"], finished: ["T1.2"] });
  });

  test("it counts as accepting the plan does", () => {
    const ids = ["T1.1", "S1.1.1", "S1.1.2", "T1.2"];
    const anyEdit = fc.record({ id: fc.constantFrom(...ids), edit: fc.constantFrom("drop", "rename", "files", "add") });
    fc.assert(
      fc.property(fc.array(anyEdit, { maxLength: 4 }), fc.boolean(), (edits, isBegun) => {
        const tree = isBegun ? finish(treeOf(), "S1.1.1") : treeOf();
        const wanted = edits.reduce<readonly PlannedNode[]>(
          (phases, { id, edit }, index) =>
            withNode(phases, id, (node) =>
              edit === "drop"
                ? undefined
                : edit === "rename"
                  ? { ...node, name: `${node.name}!` }
                  : edit === "files"
                    ? { ...node, hints: { files: [`src/${index}`] } }
                    : node.id.startsWith("T")
                      ? { ...node, children: [...node.children, planned(`N${index}`)] }
                      : node,
            ),
          SMALL_PLAN,
        );
        const decision = plan(tree, wanted);
        const found = diffPlan(tree.nodes, wanted);
        if (!decision.ok) return;
        expect(found.refused).toEqual([]);
        expect(found.added.length).toBe(decision.value.added);
        expect(found.leftOut.length).toBe(decision.value.cancelled);
        expect(found.changed.length).toBeLessThanOrEqual(decision.value.changed);
      }),
      { numRuns: scaled(100) },
    );
  });
});

const CLAIM = {
  assignmentId: "A_1",
  agent: "ada",
  attempt: 4,
} as WorkNode["claim"];
