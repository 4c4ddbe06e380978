/** What a fleet without a single check is told: nothing proves what its agents report. One sentence, wherever it is said. */
import type { Finding } from "./checkup.ts";

export interface CheckFacts {
  /** The names of the configured checks. */
  readonly checks: readonly string[];
  /** Finished work lands without a person's word. */
  readonly landsByItself: boolean;
}

/** The command that finds some. */
export const FIND_CHECKS = "overseer config checks";

/** Null where there is a check. */
export function tellUnchecked({ checks, landsByItself }: CheckFacts): string | null {
  if (checks.length > 0) return null;
  const lands = landsByItself ? ", and it lands without anybody looking" : "";
  return `NO CHECK is configured: what agents report as done is taken at their word${lands} ('${FIND_CHECKS}' finds some).`;
}

/** Where a person accepts each landing they are the check; where nobody does, the ground is not sound. */
export function judgeChecks(facts: CheckFacts): Finding {
  const { checks, landsByItself } = facts;
  if (checks.length > 0) return { check: "checks", ok: true, detail: `configured: ${checks.join(", ")}` };
  const detail = landsByItself
    ? "NONE is configured, and work lands without a review: what agents report as done is taken at their word"
    : "NONE is configured: your review is the only look at what agents report as done";
  return { check: "checks", ok: !landsByItself, detail, next: `'${FIND_CHECKS}' finds what this repository has.` };
}
