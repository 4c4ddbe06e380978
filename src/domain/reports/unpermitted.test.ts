import { expect, test } from "bun:test";
import type { WorkNode } from "#domain/model/work.ts";
import { attemptWith } from "../../../test/support/claims.ts";
import { type CallEnd, findUnpermitted, hasRun } from "./unpermitted.ts";

test.each<[why: string, call: CallEnd, ran: boolean]>([
  ["a command that ended well", { tool: "Bash", does: "shell", ok: true, errorClass: null }, true],
  ["one that failed", { tool: "Bash", does: "shell", ok: false, errorClass: "exit-3" }, true],
  ["one that took too long", { tool: "Bash", does: "shell", ok: false, errorClass: "timeout" }, true],
  ["a file that was written", { tool: "Write", does: "edit", ok: true, errorClass: null }, true],
  ["one that was refused", { tool: "Write", does: "edit", ok: false, errorClass: "denied" }, false],
  ["one that was interrupted", { tool: "Bash", does: "shell", ok: false, errorClass: "interrupted" }, false],
  ["one that was not understood", { tool: "Write", does: "edit", ok: false, errorClass: "error" }, false],
  ["a tool that the permit is not asked about", { tool: "Read", does: "read", ok: true, errorClass: null }, false],
])("HOOK-3: has it run? %s", (_why, call, ran) => {
  expect(hasRun(call)).toBe(ran);
});

const attempt = attemptWith({});
const call = { tool: "Bash", id: "toolu_1" };
const moment = { now: 1, actor: "overseer" } as const;

test.each(["in_progress", "blocked", "done"] as const)(
  "HOOK-3: a node that is %s is held only while it runs",
  (status) => {
    const node = { status } as WorkNode;
    const decision = findUnpermitted({ attempt, node, questions: [] }, call, "q_1", moment);
    if (!decision.ok) throw new Error(decision.refusal.message);
    const types = decision.events.map(({ type }) => type);
    const held = status === "in_progress" ? ["work.blocked"] : [];
    expect(types).toEqual(["agent.unguarded", "question.asked", ...held] as typeof types);
  },
);
