/** DONE-1: a fleet without a check is told so, wherever somebody looks. */
import { expect, test } from "bun:test";
import { judgeChecks, tellUnchecked } from "./unchecked.ts";

test.each([
  [["tests"], false, null, true],
  [["tests"], true, null, true],
  [[], false, /^NO CHECK is configured: .* at their word \('overseer config checks' finds some\)\.$/, true],
  [[], true, /at their word, and it lands without anybody looking/, false],
] as const)("DONE-1: checks %p, landing by itself %p", (checks, landsByItself, said, ok) => {
  const told = tellUnchecked({ checks, landsByItself });
  if (said === null) expect(told).toBeNull();
  else expect(told).toMatch(said);
  const finding = judgeChecks({ checks, landsByItself });
  expect(finding).toMatchObject({ check: "checks", ok });
  expect(finding.next).toBe(checks.length > 0 ? undefined : "'overseer config checks' finds what this repository has.");
});
