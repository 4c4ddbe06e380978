import { expect, test } from "bun:test";
import { judgeRunners, type RunnerFacts } from "./runners.ts";

const ada: RunnerFacts = { agent: "ada", label: "ada#1", pid: 41, answers: true, kept: 0 };
const bob: RunnerFacts = { ...ada, agent: "bob", label: "bob#2", pid: 42 };

test("RPC-2: doctor names each runner that answers nothing, what waits for it, and the next step", () => {
  expect(judgeRunners([])).toEqual({ check: "runners", ok: true, detail: "no agent is at work" });
  expect(judgeRunners([ada, { ...bob, kept: 1 }])).toEqual({
    ...{ check: "runners", ok: true },
    detail: "each answers its agent (2); bob#2 has 1 kept report that waits for it",
  });
  const finding = judgeRunners([ada, { ...bob, answers: false, kept: 2 }]);
  expect(finding).toMatchObject({
    ok: false,
    detail: "at its socket nothing answers: bob#2 (process 42); bob#2 has 2 kept reports that wait for it",
  });
  expect(finding.next).toContain("kill -CONT 42");
  expect(finding.next).toContain("overseer restart bob");
});
