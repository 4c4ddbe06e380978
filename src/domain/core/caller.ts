/**
 * Who speaks (FENCE-1): whoever names an attempt shows that attempt's secret, and a process that an agent or a check of
 * ours started is not the person because it has taken the name off. What it cannot know is said in docs/safety.md: the
 * secret of another agent can be read by whoever runs as the same user.
 */

/** What a process says about itself by its environment. */
export interface Claimed {
  readonly attempt: number;
  readonly agent: string | undefined;
  /** Of the secret it shows; undefined when it shows none. */
  readonly tokenHash: string | undefined;
}

/** What was written down when the attempt was started. */
export interface RecordedAttempt {
  readonly attempt: number;
  readonly agent: string;
  /** Undefined for one that was started before attempts had secrets: it continues until it ends. */
  readonly tokenHash?: string;
}

export interface NotTheCaller {
  /** For the log, as a clause. */
  readonly what: string;
  readonly message: string;
  readonly hint: string;
  /** It may well be its own process; its time is over. */
  readonly tooLate?: true;
}

const HINT =
  "Run it from the agent itself, with the environment it was started with; a person unsets OVERSEER_ATTEMPT.";

/** Why it is not the attempt it says it is; undefined when it is. */
export function judgeClaim(claimed: Claimed, recorded: RecordedAttempt | undefined): NotTheCaller | undefined {
  const { attempt } = claimed;
  const no = (what: string, why: string): NotTheCaller => ({
    what,
    message: `This is not attempt #${Number.isSafeInteger(attempt) ? attempt : "?"} speaking: ${why}.`,
    hint: HINT,
  });
  if (!Number.isSafeInteger(attempt) || attempt <= 0) return no("not a number", "OVERSEER_ATTEMPT names none");
  if (recorded?.attempt !== attempt) return no("an attempt that has no files", "there is no such attempt here");
  if (recorded.tokenHash !== undefined) {
    if (claimed.tokenHash === undefined) return no("a process without its secret", "OVERSEER_TOKEN is missing");
    if (claimed.tokenHash !== recorded.tokenHash)
      return no("a process with another secret", "OVERSEER_TOKEN is not its own");
  }
  if (claimed.agent !== undefined && claimed.agent !== recorded.agent) {
    return no("a process under another name", `it is ${recorded.agent}'s, and OVERSEER_AGENT says otherwise`);
  }
  return undefined;
}

/** An agent speaks in the repository it works for alone; in another it is whoever is at the keyboard, or nobody. */
export function refuseElsewhere(attempt: number, project: string): NotTheCaller {
  return {
    what: "an agent of another repository",
    message: `Attempt #${attempt} works for another repository, and is nobody in ${project}.`,
    hint: "For your own, leave --root and OVERSEER_ROOT as they were; to try Overseer out here, unset OVERSEER_ATTEMPT and OVERSEER_ROOT.",
  };
}

/** What the log says of the attempt that somebody claims to be. */
export interface LoggedAttempt {
  /** Its runner has spoken. */
  readonly isUp: boolean;
  readonly hasEnded: boolean;
  /** By what its words are known; undefined for one that an older version started. */
  readonly seals: { readonly agent: string; readonly runner: string } | undefined;
}

/**
 * May this process speak for the attempt past its runner? One that the runner started and vouches for may, and whoever
 * belongs to an attempt whose runner answers no agent, because an older version started it: that one is judged by its
 * files (judgeClaim). `vouched` is the hash of what the runner vouched with.
 */
export function judgeWay(
  claimed: Claimed,
  logged: LoggedAttempt | undefined,
  vouched: string | undefined,
): NotTheCaller | "by-files" | undefined {
  const no = (what: string, why: string): NotTheCaller => ({
    what,
    message: `This is not attempt #${claimed.attempt} speaking: ${why}.`,
    hint: HINT,
  });
  const seals = logged?.seals;
  if (vouched !== undefined) {
    return seals?.runner === vouched
      ? undefined
      : no("a process its runner did not start", "its runner knows nothing of it");
  }
  if (logged && !logged.isUp && !logged.hasEnded) return no("a process before its start", "its runner is not up yet");
  if (!seals) return "by-files";
  if (logged?.hasEnded) {
    return {
      tooLate: true,
      what: "it ran a command",
      message: `Attempt #${claimed.attempt} has ended; what it says no longer counts.`,
      hint: "Nothing to do: another attempt has taken over, or it was stopped.",
    };
  }
  return no("a process past its runner", "its runner was not asked (OVERSEER_SOCKET)");
}

/** The attempt, or the place of a check, that a mark in an environment names, and whose it is. */
export interface Mark {
  readonly number: number;
  readonly state: string;
}

/** `<number>@<state directory>`; undefined for anything else. */
export function readMark(text: string | undefined): Mark | undefined {
  const match = /^(\d{1,15})@(\/.*)$/s.exec(text ?? "");
  return match ? { number: Number(match[1]), state: match[2] ?? "" } : undefined;
}

/** Whether these words started our tmux server at that socket: whatever it starts, no person did. */
export function startsServer(words: readonly string[], socket: string): boolean {
  const at = words.indexOf("-S");
  return /(^|\/)tmux$/.test(words[0] ?? "") && at > 0 && words[at + 1] === socket;
}

/** Commands that change nothing and speak for nobody: these may be run from anywhere. */
const ONLY_LOOKS: ReadonlySet<string> = new Set([
  ...[
    "status",
    "why",
    "events",
    "agents list",
    "agents show",
    "peek",
    "metrics",
    "health",
    "diagnoses",
    "stats",
    "goal list",
    "goal show",
    "work list",
  ],
  ...["work show", "questions list", "worktree list", "config show", "config get", "config explain"],
  ...["config schema", "config example", "completions", "hook", "log"],
]);

/** Does this command, run without an attempt, count as a person's word? */
export function speaksForPerson(called: string): boolean {
  return !ONLY_LOOKS.has(called);
}

/** What a remediating agent may run besides: without options these change nothing, and its permit lets none of theirs pass. */
export function remedyMayLook(called: string): boolean {
  return called === "doctor" || called === "report";
}

/** What a process is told that an agent or a check started, and that named no attempt. */
export function notThePerson(called: string, by: "agent" | "check"): NotTheCaller {
  const whose = by === "agent" ? "An agent's process" : "What a check starts";
  return {
    what: `'overseer ${called}' without an attempt`,
    message: `${whose} is not a person: it may not run 'overseer ${called}' by hiding its attempt.`,
    hint: "Report what you need with 'overseer work report' or 'overseer ask'; a person can run it.",
  };
}
