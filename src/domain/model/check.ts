/**
 * A check: a command of the user's that says whether work is really done, and what became of one run of it. There are
 * three answers, not two: a check that could not run has said nothing, and silence is never taken for consent. This
 * file judges how a run ended and picks the part of its output worth reading; running it is act/checks/check.ts.
 */

export const CHECK_MOMENTS = ["done", "land"] as const;
/** When a check runs: on the commit that is claimed to be done, or on the merged tree before it becomes the target. */
export type CheckMoment = (typeof CHECK_MOMENTS)[number];

export type CheckVerdict = "pass" | "fail" | "did_not_run";

export interface CheckSpec {
  readonly name: string;
  /** As it stands in the configuration; run verbatim by `sh -c`. */
  readonly command: string;
  readonly timeoutMs: number;
  readonly on: readonly CheckMoment[];
  /** What the output must match for the check to count as having run. */
  readonly expect: string | null;
  /** Files whose change lands only with a person's consent. */
  readonly protected: readonly string[];
  /** It does something (a deploy): a failure is not tried again to see whether it is flaky. */
  readonly once?: boolean;
}

/** How a run ended, as the machine saw it. */
export interface CheckEnd {
  readonly exit: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** Null when nothing was expected. */
  readonly expectFound: boolean | null;
  /** What it printed, where the shell may have said which command it did not find. */
  readonly output?: string;
}

/** The proof of one run. The verdict belongs to the tree: the same command on the same tree need not run again. */
export interface Receipt {
  readonly checkId: string;
  readonly name: string;
  readonly on: CheckMoment;
  readonly commit: string;
  readonly tree: string;
  readonly command: string;
  readonly verdict: CheckVerdict;
  /** Why it did not pass, as a clause; null when it did. */
  readonly why: string | null;
  readonly exit: number | null;
  readonly logPath: string;
  readonly durationMs: number;
  /** The part of the output that says what is wrong; empty when it passed. */
  readonly excerpt: string;
  /** It failed on this very tree first and passed when it was run again. */
  readonly flaky?: boolean;
}

/** The shell's own words for "cannot be run" and "not found"; and pytest's for "no tests were collected". */
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
const NO_TESTS_COLLECTED = 5;

/** Total: every end has exactly one verdict. */
export function judgeCheck(
  spec: Pick<CheckSpec, "command" | "expect" | "timeoutMs">,
  end: CheckEnd,
): { readonly verdict: CheckVerdict; readonly why: string | null } {
  const not = (why: string) => ({ verdict: "did_not_run" as const, why });
  if (end.timedOut) return not(`it had not finished after ${Math.round(spec.timeoutMs / 1000)} s`);
  if (end.signal !== null) return not(`it was ended by ${end.signal}`);
  if (end.exit === null) return not("its exit is unknown");
  if (end.exit === NOT_FOUND) return not(`${nameMissing(spec.command, end.output ?? "")} was not found (exit 127)`);
  if (end.exit === NOT_EXECUTABLE) return not("the command cannot be executed (exit 126)");
  // A shell reports a child that a signal ended as 128 and the number of the signal.
  if (end.exit > 128 && end.exit <= 128 + 64) return not(`it was ended by signal ${end.exit - 128}`);
  if (end.exit === NO_TESTS_COLLECTED && /\bpy\.?test\b/.test(spec.command)) {
    return not("pytest found no tests (exit 5)");
  }
  if (end.expectFound === false) return not(`its output does not match /${spec.expect ?? ""}/`);
  if (end.exit === 0) return { verdict: "pass", why: null };
  return { verdict: "fail", why: `exit ${end.exit}` };
}

/** By the shell's own last word about it ("sh: 1: vitest: not found"); else the whole command. */
function nameMissing(command: string, output: string): string {
  const said = [...output.matchAll(/([^\s:]+): (?:command )?not found\s*$/gm)].at(-1)?.[1];
  const clipped = command.length > 80 ? `${command.slice(0, 80)}…` : command;
  return said === undefined ? `a command of \`${clipped}\`` : `the command ${said} (of \`${clipped}\`)`;
}

/** One answer for several: what did not run blocks, whatever the others say. Nothing to run is no pass. */
export function verdictOf(receipts: readonly Pick<Receipt, "verdict">[]): CheckVerdict | "nothing_to_run" {
  if (receipts.length === 0) return "nothing_to_run";
  if (receipts.some(({ verdict }) => verdict === "did_not_run")) return "did_not_run";
  return receipts.some(({ verdict }) => verdict === "fail") ? "fail" : "pass";
}

/** A verdict that is already known for this very tree. What did not run is tried again; what ran is not. */
export function findReceipt(
  receipts: readonly Receipt[],
  wanted: { readonly name: string; readonly command: string; readonly tree: string },
): Receipt | undefined {
  return receipts.findLast(
    ({ name, command, tree, verdict }) =>
      name === wanted.name && command === wanted.command && tree === wanted.tree && verdict !== "did_not_run",
  );
}

const TROUBLE = /\b(fail(ed|ure|ing)?|error|not ok|assert|panic|exception|traceback|expected)\b|✗|✘/i;

/**
 * The part of a long output that says what is wrong: from the first line that sounds like trouble, and the end, where
 * most tools sum up. At most `maxChars`.
 */
export function excerptFailure(output: string, maxChars: number): string {
  const text = output.trimEnd();
  if (text.length <= maxChars) return text;
  const gap = "\n[…]\n";
  const endLength = Math.floor((maxChars - gap.length) / 2);
  const end = text.slice(text.length - endLength);
  const before = text.slice(0, text.length - endLength);
  const found = before.search(TROUBLE);
  if (found < 0) return text.slice(text.length - maxChars);
  const lineStart = before.lastIndexOf("\n", found) + 1;
  return `${before.slice(lineStart, lineStart + endLength)}${gap}${end}`;
}

/**
 * The checks that judge a node when it is reported done: those its plan names, else those of that moment. Where one that
 * it names is not configured any more, it is judged by all: fewer checks than somebody wanted would be no judgement.
 */
export function chooseChecks<C extends { readonly name: string; readonly on: readonly CheckMoment[] }>(
  configured: readonly C[],
  { hints }: { readonly hints: { readonly checks?: readonly string[] } },
): C[] {
  const named = hints.checks ?? [];
  const isThere = (name: string) => configured.some((one) => one.name === name);
  if (named.length > 0 && named.every(isThere)) return configured.filter(({ name }) => named.includes(name));
  return configured.filter(({ on }) => on.includes("done"));
}
