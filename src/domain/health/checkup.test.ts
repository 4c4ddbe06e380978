import { expect, test } from "bun:test";
import {
  type ClockFacts,
  isStaleLock,
  judgeClock,
  judgeDisk,
  judgeHooks,
  judgeLeftovers,
  judgeTried,
} from "./checkup.ts";

const GB = 1024 ** 3;
const NOW = 1_794_800_000_000;

const TRIED: [what: string, problems: (string | null)[], ok: boolean, detail: string, next: string | undefined][] = [
  ["everything works", [null, null], true, "git 2.45", undefined],
  ["it is not there", ["not on PATH", null], false, "it fails where it answers: not on PATH", "Install it."],
  ["it is there and does not work", [null, "exit 1"], false, "it fails where it works: exit 1", "Install it."],
  ["nothing works: the first thing is said", ["a", "b"], false, "it fails where it answers: a", "Install it."],
];
test.each(TRIED)("a check is what came of trying: %s", (_what, [first, second], ok, detail, next) => {
  const tried = [
    { what: "it answers", problem: first ?? null },
    { what: "it works", problem: second ?? null },
  ];
  expect(judgeTried("git", tried, "git 2.45", "Install it.")).toEqual({
    check: "git",
    ok,
    detail,
    ...(next === undefined ? {} : { next }),
  });
});

test("a failure that knows a better next step says it", () => {
  const tried = [{ what: "it answers", problem: "logged out", next: "Log in." }];
  expect(judgeTried("runtime", tried, "", "Install it.").next).toBe("Log in.");
});

const DISKS: [what: string, free: number, minBytes: number, minPercent: number, ok: boolean][] = [
  ["plenty", 50 * GB, 2 * GB, 5, true],
  ["less than is configured", 1 * GB, 2 * GB, 0, false],
  ["less than the share that is configured", 3 * GB, 0, 5, false],
  ["nearly full, whatever is configured", 0.1 * GB, 0, 0, false],
  ["little, and little is wanted", 0.6 * GB, 0, 0, true],
];
test.each(DISKS)("CAP-1: disk: %s", (_what, freeBytes, minBytes, minPercent, ok) => {
  const found = judgeDisk({ freeBytes, totalBytes: 100 * GB, minBytes, minPercent });
  expect([found.ok, found.next !== undefined]).toEqual([ok, !ok]);
});

const CLOCKS: [what: string, facts: Partial<ClockFacts>, detail: string | undefined][] = [
  ["as it should be", {}, undefined],
  ["no log yet", { newest: null }, undefined],
  ["another process a moment ahead", { newest: NOW + 4_000 }, undefined],
  ["set back by minutes", { newest: NOW + 600_000 }, "set back: the newest event in the log is of"],
  ["set back by days", { newest: NOW + 5 * 86_400_000 }, "5 days from now"],
  ["never set", { now: 12_345, newest: null }, "it shows 1970-01-01"],
  ["jumped forward while we looked", { wallMs: 3_600_000, bootMs: 2_000 }, "jumped forward by 60 min"],
  ["jumped back while we looked", { wallMs: -30_000, bootMs: 2_000 }, "jumped back by 32 s"],
];
test.each(CLOCKS)("the clock: %s", (_what, facts, detail) => {
  const found = judgeClock({ now: NOW, newest: NOW - 60_000, wallMs: 2_000, bootMs: 2_000, ...facts });
  expect(found.ok).toBe(detail === undefined);
  if (detail !== undefined) expect(found.detail).toContain(detail);
  if (detail !== undefined) expect(found.next).toContain("Set the clock");
});

const HOOKS: [
  what: string,
  arrived: string[] | undefined,
  refusal: string | null | undefined,
  harmless: string | null | undefined,
  problem: string | null,
][] = [
  ["both work", ["notified"], "/x lies outside", null, null],
  ["an older version's permit refuses in other words", ["notified"], "Stay in your worktree", null, null],
  ["recording does nothing", [], "/x lies outside", null, "recorded no signal"],
  ["recording hangs", undefined, "/x lies outside", null, "did not end in time"],
  ["the permit is gone", ["notified"], "It could not run", "It could not run", 'does nothing: "It could not run"'],
  ["the permit lets everything pass", ["notified"], null, null, "let a write outside the worktree pass"],
  ["the permit hangs", ["notified"], undefined, undefined, "did not answer in time"],
  ["the permit hangs over a command", ["notified"], "/x lies outside", undefined, "did not answer in time"],
];
test.each(HOOKS)("HOOK-1: hooks: %s", (_what, arrived, refusal, harmless, problem) => {
  const tried = judgeHooks({ whose: "ada#3", arrived, refusal, harmless });
  const found = tried.find((one) => one.problem !== null)?.problem ?? null;
  if (problem === null) expect(found).toBeNull();
  else expect(found).toContain(problem);
});

test("leftovers: none is fine, many are named and counted", () => {
  const words = { fine: "none", next: "Run 'overseer doctor --fix'." };
  expect(judgeLeftovers("sessions", [], words)).toEqual({ check: "sessions", ok: true, detail: "none" });
  const many = Array.from({ length: 8 }, (_, index) => `ov-${index}`);
  expect(judgeLeftovers("sessions", many, words)).toMatchObject({
    ok: false,
    detail: "left behind: ov-0, ov-1, ov-2, ov-3, ov-4 and 3 more",
    next: words.next,
  });
});

test("a lock is stale when it is old; one from the future is not", () => {
  expect(
    [11 * 60_000, 9 * 60_000, -60_000].map((age) => isStaleLock({ mtimeMs: NOW - age }, 10 * 60_000, NOW)),
  ).toEqual([true, false, false]);
});
