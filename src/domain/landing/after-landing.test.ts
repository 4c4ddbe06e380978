import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TakenBack } from "#domain/model/claim.ts";
import type { Merge } from "#domain/model/merge.ts";
import { applyToNode, type WorkNode } from "#domain/model/work.ts";
import {
  attemptWith,
  COMMIT,
  claimWith,
  FAILED,
  RETURNS,
  receiptWith,
  SILENT,
  seenWith,
} from "../../../test/support/claims.ts";
import { ADA } from "../../../test/support/samples.ts";
import { allowed, placed, refused, typesOf } from "../../../test/support/tree.ts";
import { afterBrought, afterLanding, prepareLanding } from "./after-landing.ts";
import { consentTo, type LandingEnd } from "./landing-end.ts";
import { landingMessage } from "./landing-message.ts";
import { approveLanding, mayLand, refuseOtherCommit } from "./may-land.ts";
import { limitsBehindLinks, overreach } from "./overreach.ts";
import { claimEvent } from "./report-done.ts";

const checked = (node: Partial<WorkNode> = {}) => seenWith({ claim: claimWith({ verdict: "pass" }), ...node });

const MAY: [why: string, node: Partial<WorkNode>, mode: "review" | "auto", answer: string][] = [
  ["a checked claim lands by itself under auto", {}, "auto", "ok"],
  ["and waits under review", {}, "review", "review"],
  ["until a person lets it", { claim: claimWith({ verdict: "pass", approvedBy: "human:ada" }) }, "review", "ok"],
  ["an unverified one lands too: there is no check", { claim: claimWith({ verdict: "unverified" }) }, "auto", "ok"],
  [
    "what a person sent back, and gets once more, waits for one under auto too",
    { claim: claimWith({ verdict: "pass", unchanged: { words: "No", by: "human:ada", at: 1 } }) },
    "auto",
    "review",
  ],
  ["an unchecked one does not", { claim: claimWith() }, "auto", "unchecked"],
  ["what is not claimed does not", { claim: undefined }, "auto", "no-claim"],
  ["a blocked node does not", { status: "blocked" }, "auto", "blocked"],
  [
    "without a branch there is nothing to land",
    { claim: claimWith({ verdict: "pass", branch: null }) },
    "auto",
    "nothing-to-land",
  ],
];
test.each(MAY)("REV-1: %s", (_why, node, mode, answer) => {
  const may = mayLand(checked(node).node, mode);
  expect(may.ok ? "ok" : may.why).toBe(answer);
});

type FilesRow = [why: string, files: string[], scope: string[] | null, guarded: string[], answer: unknown];
const FILES: FilesRow[] = [
  ["free without a scope", ["a", "b/c"], null, [], undefined],
  ["inside of it", ["src/a.ts"], ["src"], [], undefined],
  ["outside of it", ["src/a.ts", "docs/b.md"], ["src"], [], { kind: "outside_scope", files: ["docs/b.md"] }],
  [
    "Overseer's own, scope or not",
    [".overseer/config.yaml"],
    null,
    [],
    { kind: "protected", files: [".overseer/config.yaml"] },
  ],
  ["what the checks depend on", ["ci/run.sh", "a"], null, ["ci/**"], { kind: "protected", files: ["ci/run.sh"] }],
  [
    "a protected file by name",
    ["package.json"],
    ["package.json"],
    ["package.json"],
    { kind: "protected", files: ["package.json"] },
  ],
  ...(
    [
      ["a whole directory, written with a slash", "ci/run.sh", "ci/"],
      ["written as a path from here", "ci/run.sh", "./ci/run.sh"],
      ["written as a path from the top", "ci/run.sh", "/ci/*.sh"],
      ["a kind of file, wherever it stands", "src/deep/a.test.ts", "*.test.ts"],
      ["the directory itself, turned into something else", "ci", "ci/**"],
      ["a name that some file systems take for it", "CI/Run.sh", "ci/run.sh"],
    ] as const
  ).map(([why, file, pattern]): FilesRow => [why, [file], null, [pattern], { kind: "protected", files: [file] }]),
  [
    "Overseer's own by a name that some file systems take for it",
    [".Overseer/config.yaml"],
    null,
    [],
    { kind: "protected", files: [".Overseer/config.yaml"] },
  ],
  ...[
    ".claude/settings.json",
    "a/.claude/settings.local.json",
    ".mcp.json",
    ".codex/hooks.json",
    "opencode.json",
    ".Claude",
  ].map(
    (file): FilesRow => ["what sets up agents, scope or not", [file], [file], [], { kind: "protected", files: [file] }],
  ),
  ["plain instructions for agents", ["AGENTS.md", "CLAUDE.md"], null, [], undefined],
  ["what a check's command names", ["check.sh"], ["check.sh"], [], { kind: "protected", files: ["check.sh"] }],
  ["the same name elsewhere is another file", ["docs/check.sh"], null, [], undefined],
  ["a name with a backslash is a file like any other", ["a\\b"], null, [], undefined],
  ["and outside of every scope", ["a\\b"], ["src"], [], { kind: "outside_scope", files: ["a\\b"] }],
  ["a reader may land nothing", ["a"], [], [], { kind: "outside_scope", files: ["a"] }],
];
test.each(FILES)("SCOPE-1: %s", (_why, files, scope, guarded, answer) => {
  expect(overreach(files, { scope, protected: guarded, judges: ["check.sh"] })).toEqual(answer as never);
});

const LINKS = new Map([
  [".overseer/config.yaml", "../ov.yaml"],
  [".claude", "shared"],
  ["tests", "spec"],
  ["tools", "scripts"],
]);
const BEHIND: [why: string, file: string, free: boolean][] = [
  ["the settings behind a link of .overseer", "ov.yaml", false],
  ["what stands in an agent's directory by a link", "Shared/deep/settings.json", false],
  ["what a pattern means behind a link", "spec/unit/a.sh", false],
  ["and nothing else there", "spec/unit/a.txt", true],
  ["the link that such a pattern names", "tests", false],
  ["the link on the way to a file that a check names", "tools", false],
  ["and not all that it leads to", "scripts/other.sh", true],
];
test.each(BEHIND)("SCOPE-1: behind links: %s", (_why, file, free) => {
  const named = { scope: null, protected: ["tests/**/*.sh"], judges: ["scripts/check.sh"], linked: ["tools"] };
  expect(overreach([file], limitsBehindLinks(named, LINKS)) === undefined).toBe(free);
});

const moved = { target: "main", from: "f", to: "t", strategy: "merge" as const, already: false };
const ENDS: [why: string, end: LandingEnd, node: Partial<WorkNode>, kind: string, events: string[]][] = [
  [
    "landed closes node, assignment and claim, stops the agent and has its worktree reaped",
    { kind: "landed", ...moved, receipts: [] },
    {},
    "done",
    ["landing.landed", "work.done", "assignment.done", "agent.stop_requested", "action.decided"],
  ],
  [
    "what a person blocked while it landed is done all the same: it is in the target",
    { kind: "landed", ...moved, receipts: [] },
    { status: "blocked" },
    "done",
    [
      "landing.landed",
      "work.unblocked",
      "work.started",
      "work.done",
      "assignment.done",
      "agent.stop_requested",
      "action.decided",
    ],
  ],
  ["a target that kept moving is tried again", { kind: "moved", target: "main" }, {}, "again", []],
  [
    "a checkout that is not clean is waited for",
    { kind: "dirty", target: "main", checkout: "/r", detail: "d", files: ["a"] },
    {},
    "waiting",
    ["landing.waiting"],
  ],
  [
    "a conflict goes back to its author",
    { kind: "conflict", target: "main", onto: "o", files: ["a"] },
    {},
    "returned",
    ["landing.refused", "work.returned", "message.queued"],
  ],
  [
    "a conflict in the last round asks a person",
    { kind: "conflict", target: "main", onto: "o", files: ["a"] },
    { rounds: 2 },
    "asked",
    ["landing.refused", "work.returned", "question.asked", "work.blocked"],
  ],
  [
    "a failed gate goes back to its author",
    { kind: "gate", target: "main", receipts: [FAILED] },
    {},
    "returned",
    ["landing.refused", "work.returned", "message.queued"],
  ],
  [
    "a gate that could not run blocks, and the claim stays",
    { kind: "gate", target: "main", receipts: [SILENT] },
    {},
    "blocked",
    ["landing.refused", "work.blocked"],
  ],
  [
    "files it must not touch ask a person",
    { kind: "overreach", target: "main", over: { kind: "protected", files: ["ci"] } },
    {},
    "asked",
    ["landing.refused", "question.asked", "work.blocked"],
  ],
  [
    "what was taken out of the target asks a person, whoever accepted the work",
    { kind: "taken-back", target: "main", commits: [{ commit: "t".repeat(40), subject: "a key" }] },
    { claim: claimWith({ verdict: "pass", approvedBy: "human:ada" }) },
    "asked",
    ["landing.refused", "question.asked", "work.blocked"],
  ],
  [
    "a commit that is gone goes back to its author",
    { kind: "missing", target: "main" },
    {},
    "returned",
    ["landing.refused", "work.returned", "message.queued"],
  ],
  ["a claim that went away is left alone", { kind: "moved", target: "main" }, { claim: undefined }, "stale", []],
  ["a cancelled node is left alone", { kind: "landed", ...moved, receipts: [] }, { status: "cancelled" }, "stale", []],
];
test.each(ENDS)("WORK-3: %s", (_why, end, node, kind, events) => {
  const decision = afterLanding(checked(node), COMMIT, end, RETURNS, ADA);
  expect(typesOf(decision)).toEqual(events as never);
  expect(decision.ok && decision.value.kind).toBe(kind as never);
});

const TAKEN = ["x", "y"].map((commit) => ({ commit, subject: "s" }));
const CONSENTS: [why: string, takenBack: TakenBack | undefined, consent: string | undefined][] = [
  ["nobody was asked", undefined, undefined],
  ["asked, and not answered", { commits: ["x", "y"], consent: null }, undefined],
  ["answered about these", { commits: ["y", "x", "z"], consent: "own" }, "own"],
  ["answered about fewer: one was dropped since", { commits: ["x"], consent: "all" }, undefined],
];
test.each(CONSENTS)("MERGE-4: what was taken back comes back by a word about it: %s", (_why, takenBack, consent) => {
  const claim = claimWith(takenBack ? { takenBack } : {});
  expect(consentTo(claim, TAKEN)).toBe(consent as never);
});

test("MERGE-4: a word about what was taken back is none about files it must not touch, nor the other way round", () => {
  const asked = checked({ claim: claimWith({ takenBack: { commits: ["x"], consent: null } }) }).node;
  const event = (takenBack?: "own") =>
    placed(claimEventOf(asked, { commit: COMMIT, reason: null, ...(takenBack ? { takenBack } : {}) }));
  expect(applyToNode(asked, event("own"))?.claim).toMatchObject({ approvedBy: null, takenBack: { consent: "own" } });
  expect(applyToNode(asked, event())?.claim).toMatchObject({ approvedBy: "human:ada", takenBack: { consent: null } });
});

function claimEventOf(node: WorkNode, data: { commit: string; reason: null; takenBack?: "own" }) {
  return claimEvent(node, node.claim ?? claimWith(), "landing.approved", "a-person-answered", data, ADA);
}

test("WORK-5: what landed carries both commits and every receipt once", () => {
  const done = receiptWith({ checkId: "K_done" });
  const seen = checked({ claim: claimWith({ verdict: "pass", receipts: [done, FAILED] }) });
  const gate = receiptWith({ checkId: "K_land", on: "land", tree: "m" });
  const end = { kind: "landed", ...moved, to: "merge", receipts: [done, gate] } as const;
  const event = allowed(afterLanding(seen, COMMIT, end, RETURNS, ADA)).find(({ type }) => type === "work.done");
  if (event?.type !== "work.done") throw new Error("not done");
  expect(event.data.evidence.commits).toEqual([COMMIT, "merge"]);
  expect(event.data.evidence.testsRun).toHaveLength(2);
  expect(event.data.unverified).toBe(false);
});

test("FENCE-1: nothing is prepared for a claim that does not stand any more", () => {
  const prepared = { target: "main", from: "f", to: "t", tree: "x", strategy: "merge" } as const;
  expect(typesOf(prepareLanding(checked().node, COMMIT, prepared, ADA))).toEqual(["landing.prepared"]);
  for (const node of [
    checked({ claim: undefined }).node,
    checked({ claim: claimWith() }).node,
    checked({ status: "blocked" }).node,
    undefined,
  ]) {
    expect(refused(prepareLanding(node, COMMIT, prepared, ADA)).code).toBe("CLAIM_GONE");
  }
  expect(refused(prepareLanding(checked().node, "another", prepared, ADA)).code).toBe("CLAIM_GONE");
});

test.each([
  [undefined, undefined],
  [COMMIT, undefined],
  [COMMIT.slice(0, 7), undefined],
  [COMMIT.slice(0, 6), "COMMIT_UNCLEAR"],
  ["0000000", "CLAIM_CHANGED"],
] as const)("REV-1: a word about commit %p", (shown, code) => {
  expect(refuseOtherCommit(checked().node, shown)?.refusal.code).toBe(code);
  expect(refuseOtherCommit(checked({ claim: undefined }).node, shown)).toBeUndefined();
});

describe("a person lets it land", () => {
  test("a blocked one continues, and asking twice changes nothing", () => {
    expect(typesOf(approveLanding(checked({ status: "blocked" }).node, null, ADA))).toEqual([
      "work.unblocked",
      "work.started",
      "landing.approved",
    ]);
    const approved = claimWith({ verdict: "pass", approvedBy: "human:ada" });
    expect(typesOf(approveLanding(checked({ claim: approved }).node, null, ADA))).toEqual([]);
  });
  test("what is not claimed or not checked is refused", () => {
    expect(refused(approveLanding(checked({ claim: undefined }).node, null, ADA)).code).toBe("NOTHING_TO_LAND");
    expect(refused(approveLanding(checked({ claim: claimWith() }).node, null, ADA)).code).toBe("NOT_CHECKED");
  });
});

test("WORK-3: whatever happens while landing, the node is done only when it is in the target", () => {
  const ends = fc.constantFrom<LandingEnd>(...ENDS.map(([, end]) => end));
  fc.assert(
    fc.property(ends, fc.integer({ min: 0, max: 4 }), fc.boolean(), (end, rounds, alive) => {
      const attempt = attemptWith(alive ? {} : { status: "ended" });
      const decision = afterLanding({ ...checked({ rounds }), attempt }, COMMIT, end, RETURNS, ADA);
      expect(typesOf(decision).includes("work.done")).toBe(end.kind === "landed");
    }),
  );
});

const ENTRY = { mergeId: "M_1", target: "main", branch: "topic", status: "waiting", looks: 1 } as Merge;
const POLICY = { lookAgain: { base: 1_000, max: 60_000, tries: 3 }, push: true };
const DIRTY = { kind: "dirty", target: "main", checkout: "/r", detail: "d", files: ["a"] } as const;
const BROUGHT: [why: string, end: LandingEnd, entry: Partial<Merge>, kind: string, events: [string, unknown][]][] = [
  [
    "landed is pushed where that is configured",
    { kind: "landed", ...moved, receipts: [] },
    {},
    "done",
    [
      ["merge.landed", { from: "f", to: "t", tier: "clean-merge" }],
      ["action.decided", { kind: "push" }],
    ],
  ],
  ["what is in the way is waited for", DIRTY, {}, "waiting", [["merge.waiting", { notBefore: ADA.now + 2_000 }]]],
  ["and not for ever", DIRTY, { looks: 2 }, "waiting", [["merge.parked", { detail: "d" }]]],
  [
    "two histories are a person's to bring together",
    { kind: "remote", target: "main", detail: "d", diverged: true },
    {},
    "blocked",
    [["merge.ended", { to: "refused", detail: "d" }]],
  ],
  [
    "a conflict ends it with the reason",
    { kind: "conflict", target: "main", onto: "o", files: ["a"] },
    {},
    "blocked",
    [["merge.ended", { to: "refused", detail: "it conflicts with the target in a" }]],
  ],
  ["what has ended stays as it is", DIRTY, { status: "landed" }, "stale", []],
];
test.each(BROUGHT)("MERGE-1: a branch that a person brought: %s", (_why, end, entry, kind, events) => {
  const decision = afterBrought({ ...ENTRY, ...entry }, end, POLICY, ADA);
  expect(decision.ok && decision.value.kind).toBe(kind as never);
  expect(allowed(decision).map(({ type, data }) => [type, data])).toMatchObject(events as never);
});

test("ACC-2: the entry in the queue counts the looks for its claim, and one that a model's budget puts off does not count", () => {
  const policy = { ...RETURNS, lookAgain: POLICY.lookAgain };
  const after = (end: LandingEnd, looks: number) =>
    afterLanding({ ...checked(), merge: { ...ENTRY, looks } }, COMMIT, end, policy, ADA);
  expect(allowed(after(DIRTY, 1)).at(-1)?.data).toMatchObject({ notBefore: ADA.now + 2_000 });
  expect(typesOf(after(DIRTY, 2))).toEqual(["landing.waiting", "question.asked", "work.blocked", "merge.parked"]);
  const held = { kind: "held", target: "main", detail: "no budget", until: ADA.now + 7 } as const;
  expect(allowed(after(held, 2)).at(-1)?.data).toMatchObject({ notBefore: ADA.now + 7, looks: 2 });
});

test("the message of a landing has a short title, what was achieved, and the trailer", () => {
  const node = { goalId: "goal_A", workNodeId: "T1", name: "Parse\ndates" };
  const summary = "It parses.\n\nCo-Authored-By: Claude <x@y>\n🤖 Generated with Claude Code";
  expect(landingMessage(node, { summary }, { strategy: "squash", stripAttribution: true })).toBe(
    "Parse dates\n\nIt parses.\n\nOverseer-Work: goal_A/T1\n",
  );
  expect(landingMessage(node, { summary: "" }, { strategy: "merge", stripAttribution: true })).toBe(
    "Merge Parse dates\n\nOverseer-Work: goal_A/T1\n",
  );
  expect(
    landingMessage(
      { ...node, name: "x".repeat(200) },
      { summary: "" },
      { strategy: "squash", stripAttribution: true },
    ).split("\n")[0],
  ).toHaveLength(72);
});
