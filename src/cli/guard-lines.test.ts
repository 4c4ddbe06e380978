import { describe, expect, test } from "bun:test";
import type { GuardStatus } from "#control/guard.ts";
import { guardLines } from "./guard-lines.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const guard = (more: Partial<GuardStatus> = {}): GuardStatus => ({
  ...{ pid: 7, instance: "g_1", version: "0.1.0", since: NOW - 60_000, phase: "running", at: NOW, alive: true },
  daemon: { pid: 8, instance: "d_1", since: NOW - 30_000 },
  ...{ flags: [], remediation: null, endsDaemonAt: null, gaveUp: null },
  words: [1, 2, 3].map((number) => ({ at: NOW, tone: "plain", text: `word ${number}` })),
  ...more,
});

describe("STATUS-1: how the guard is, in lines", () => {
  test.each<[string, Partial<GuardStatus>, RegExp]>([
    ["it watches", {}, /^Guard: running \(pid 7, version 0\.1\.0\), daemon pid 8 up for 30 s$/],
    ["it stands by", { phase: "standing-by", daemon: null }, /^Guard: standing by \(pid 7/],
    ["it was ended", { alive: false, phase: "terminated" }, /^Guard: not running$/],
    ["it died", { alive: false }, /^Guard: DIED$/],
    ["it gave up", { alive: false, gaveUp: { code: "SPIRAL", why: "twice" } }, /^Guard: TERMINATED by itself$/],
  ])("%s", (_name, more, first) => {
    expect(guardLines(guard(more), NOW)[0]).toMatch(first);
  });

  test.each([
    [0, []],
    [2, ["word 2", "word 3"]],
    [9, ["word 1", "word 2", "word 3"]],
  ])("its last %p words", (shown, words) => {
    const lines = guardLines(guard(), NOW, shown).slice(1);
    expect(lines.map((line) => line.replace(/^.* {2}/, ""))).toEqual([...words]);
  });
});
