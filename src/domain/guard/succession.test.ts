import { describe, expect, test } from "bun:test";
import type { Intent } from "#domain/health/daemon-life.ts";
import {
  adviseAboutDaemon,
  GUARD_DOWN_REASON,
  isOlderVersion,
  isOwnDown,
  judgeFoundDaemon,
  judgeOtherGuard,
} from "./succession.ts";

describe("GUARD-1: who gives way to whom", () => {
  test.each([
    // there, here, older?
    ["0.1.0", "0.1.0", false],
    ["0.1.0", "0.1.1", true],
    ["0.1.1", "0.1.0", false],
    ["0.9.0", "0.10.0", true],
    ["0.10.0", "0.9.9", false],
    ["1.0.0-rc.1", "1.0.0", true],
    ["1.0.0", "1.0.0-rc.1", false],
    ["1.0.0-rc.2", "1.0.0-rc.10", true],
    ["1.0.0-rc.2", "1.0.0-rc.2", false],
    ["v1.0.0", "1.0.1+build.7", true],
    ["?", "0.1.0", false],
    ["0.1.0", "dev", false],
    ["", "0.1.0", false],
  ])("%s there, %s here: older %p", (there, here, older) => {
    expect(isOlderVersion(there, here)).toBe(older);
    expect(judgeOtherGuard(there, here)).toBe(older ? "take-over" : "refuse");
    expect(judgeFoundDaemon({ version: there, auto: false }, { version: here, flags: [] })).toBe(
      older ? "renew" : "adopt",
    );
    expect(adviseAboutDaemon(there, here).includes("then 'overseer up'")).toBe(older);
  });

  test("of two versions at most one is the older", () => {
    const all = ["0.1.0", "0.1.1", "1.0.0-rc.1", "1.0.0-rc.2", "1.0.0", "x", "2.0.0"];
    for (const one of all)
      for (const other of all) expect(isOlderVersion(one, other) && isOlderVersion(other, one)).toBe(false);
  });
});

describe("GUARD-6: whose wish it was that the daemon is down", () => {
  const intent = (more: Partial<Intent>): Intent => ({
    ...{ want: "down", at: 1_000, by: "ada", reason: GUARD_DOWN_REASON },
    ...more,
  });
  test.each([
    ["the guard's own, when it was stopped", { endsDaemonAt: 900 }, intent({}), true],
    ["in the same moment", { endsDaemonAt: 1_000 }, intent({}), true],
    ["a person's, afterwards", { endsDaemonAt: 900 }, intent({ at: 2_000, reason: null }), false],
    ["a person's, with a reason", { endsDaemonAt: 900 }, intent({ reason: "lunch" }), false],
    ["that of an earlier stop", { endsDaemonAt: 1_001 }, intent({}), false],
    ["the guard was not stopped", { endsDaemonAt: null }, intent({}), false],
    ["wanted up", { endsDaemonAt: 900 }, intent({ want: "up" }), false],
    ["frozen", { endsDaemonAt: 900 }, intent({ want: "frozen" }), false],
    ["nobody said anything", { endsDaemonAt: 900 }, undefined, false],
    ["no guard was ever here", undefined, intent({}), false],
  ] as const)("%s", (_name, before, said, own) => {
    expect(isOwnDown(before, said)).toBe(own);
  });
});

test("GUARD-1: a guard of auto mode wants a daemon that takes tasks", () => {
  const own = { version: "1.0.0", flags: ["--auto"] };
  expect(judgeFoundDaemon({ version: "1.0.0", auto: false }, own)).toBe("renew");
  expect(judgeFoundDaemon({ version: "1.0.0", auto: true }, own)).toBe("adopt");
});
