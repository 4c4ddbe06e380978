/**
 * What a model may advise about an agent that is stuck (PLAN-4): a few things that the ladder does anyway, in its own words
 * and within its own budgets. Nothing else can be said, so nothing else can be done.
 */

export type Advice =
  | { readonly do: "nudge"; readonly message: string }
  | { readonly do: "resend" }
  | { readonly do: "reassign" }
  | { readonly do: "replan" }
  | { readonly do: "escalate"; readonly question: string; readonly options: readonly string[] }
  | { readonly do: "wait"; readonly minutes: number };

export const MOST_ADVICE = 3;
export const LONGEST_WAIT_MINUTES = 30;

/** Whose failure it is that an agent keeps dying or failing, as a model classifies it (WATCH-2). */
export const FAILURE_OWNERS = ["agent", "task", "environment", "provider", "unclear"] as const;
type FailureOwner = (typeof FAILURE_OWNERS)[number];

/** What it recommends: the same agent again, a fresh one, or that a person decides. */
export const AFTER_FAILURE = ["restart", "fresh", "person"] as const;

export interface Triage {
  readonly failure: FailureOwner;
  readonly recommend: (typeof AFTER_FAILURE)[number];
}

/** As clauses, for people. */
export function describeTriage({ failure, recommend }: Triage): string {
  const whose = failure === "unclear" ? "whose failure it is cannot be seen" : `it is a failure of the ${failure}`;
  const what = { restart: "starting it again", fresh: "a fresh agent", person: "asking a person" }[recommend];
  return `${whose}, and ${what} is recommended`;
}

/** Where the advice about one stall, or about one failure, stands. */
export interface Diagnosis {
  /** Whose stall it is; another assignment is another stall. */
  readonly assignmentId: string;
  readonly askedAt: number;
  /** In one sentence; null until there is one. */
  readonly said: string | null;
  /** What is left of it, in order. */
  readonly left: readonly Advice[];
  /** Why there is none; null while it is awaited, and where there is one. */
  readonly failed: string | null;
  /** Of a failure: what it was classified as; absent for a stall, and until it was. */
  readonly triage?: Triage;
}

/** As a clause, for people. */
export function describeAdvice(advice: Advice): string {
  switch (advice.do) {
    case "nudge":
      return "a word to the agent";
    case "resend":
      return "interrupting its turn and sending the instruction again";
    case "reassign":
      return "a fresh agent";
    case "replan":
      return "splitting its work";
    case "escalate":
      return "asking a person";
    default:
      return `waiting ${advice.minutes} ${advice.minutes === 1 ? "minute" : "minutes"}`;
  }
}
