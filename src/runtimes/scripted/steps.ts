/**
 * The steps a scripted agent can be told to take: the nouns of the script language, as types. As written, a step is an
 * object with one key, its verb, and most verbs have a short form:
 *
 *     - say: I begin.
 *     - edit: {file: a.txt, content: "1\n"}
 *     - loop: {times: 3, steps: [{run: bun test}]}
 *     - on: {message: hurry, do: [{say: Hurrying.}]}
 *     - die: mid-commit
 *
 * `grammar.ts` reads that form, `language.ts` finds and writes it in texts, `walk.ts` unrolls it.
 */

export const SCRIPTED_STATUSES = ["todo", "queued", "in_progress", "blocked", "done", "cancelled"] as const;
export type ScriptedStatus = (typeof SCRIPTED_STATUSES)[number];

export const DEATHS = ["now", "mid-edit", "mid-commit"] as const;
export const DEATH_SIGNALS = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGSEGV"] as const;

/** Happens the first time only: in this worktree, or with "anywhere" in this repository, whoever plays it. */
export type Once = boolean | "anywhere";

/** The fields of the status update that an agent may send; all but the status are optional and merged by the reader. */
export interface Update {
  readonly status: ScriptedStatus;
  readonly goalId?: string;
  readonly workNodeId?: string;
  readonly summary?: string;
  readonly next?: string;
  readonly blockers?: readonly string[];
  readonly evidence?: {
    readonly filesTouched?: readonly string[];
    readonly testsRun?: readonly string[];
    readonly commits?: readonly string[];
  };
}

export type EditStep =
  | { readonly kind: "edit"; readonly file: string; readonly content: string }
  | { readonly kind: "edit"; readonly file: string; readonly append: string }
  | { readonly kind: "edit"; readonly file: string; readonly replace: string; readonly with: string };

/** What every count of tokens is from here on; a field left out keeps its value. */
export interface UsageStep {
  readonly kind: "usage";
  /** Tokens the model reads for each message: this is the fill of its context. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly contextWindow?: number;
  /** Per message. */
  readonly costUsd?: number;
}

/** Steps that are played one by one. Everything else in the language unrolls into these. */
export type PlainStep =
  | { readonly kind: "say"; readonly text: string }
  /** The model is silent for a while: no tool runs. */
  | { readonly kind: "think"; readonly ms: number }
  | { readonly kind: "read"; readonly file: string }
  | EditStep
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "commit"; readonly message: string }
  | ({ readonly kind: "report" /** Also told by this command. */; readonly cli?: readonly string[] } & Update)
  /** With `ms` a tool runs that long; without, the turn ends and the next message continues with the script. */
  | { readonly kind: "wait"; readonly ms?: number }
  /** The turn fails; with an exit code the process leaves too. */
  | { readonly kind: "fail"; readonly message: string; readonly exitCode?: number; readonly once?: Once }
  /** For ever: in thought (nothing is heard of the agent) or in a tool that never returns. */
  | { readonly kind: "hang"; readonly in: "thought" | "tool"; readonly once?: Once }
  /** So many lines of so many bytes, as text of the agent or as noise on stderr. */
  | { readonly kind: "flood"; readonly lines: number; readonly bytes: number; readonly to: "text" | "stderr" }
  /** From here on: hear messages and do nothing about them; "deaf" does not even take them. */
  | { readonly kind: "ignore"; readonly messages: "none" | "content" | "deaf" }
  /** The provider refuses `attempts` times, `retryAfterMs` apart; then it works again, or the turn gives up. */
  | {
      readonly kind: "quota";
      readonly attempts: number;
      readonly retryAfterMs: number;
      readonly givesUp: boolean;
      /** Wall clock, as the provider would print it. */
      readonly resetsAt?: string;
      readonly once?: Once;
    }
  | {
      readonly kind: "die";
      readonly at: (typeof DEATHS)[number];
      readonly signal: (typeof DEATH_SIGNALS)[number];
      /** Dies the first time only: a new life in the same place goes past it. */
      readonly once?: Once;
    }
  /** Leaves a child in a session of its own, deaf to SIGHUP. It lives a bounded time, whatever the speed. */
  | { readonly kind: "orphan"; readonly seconds: number; readonly bareEnvironment?: boolean }
  | UsageStep;

export type Step =
  | PlainStep
  /** Without `times`: for ever. */
  | { readonly kind: "loop"; readonly times?: number; readonly steps: readonly Step[] }
  /** One file, back and forth between two contents. */
  | {
      readonly kind: "oscillate";
      readonly file: string;
      readonly between: readonly [string, string];
      readonly times?: number;
    }
  /** Reports done, with evidence that does not exist. */
  | { readonly kind: "lie"; readonly summary: string; readonly commits?: readonly string[] }
  /** Puts a question (by `cli`, or else by `overseer ask`) and ends the turn until somebody answers. */
  | {
      readonly kind: "ask";
      readonly question: string;
      readonly options?: readonly string[];
      readonly cli?: readonly string[];
    }
  /** Holds for the whole script, wherever it stands. The pattern is plain text, or /a regular expression/i. */
  | { readonly kind: "on"; readonly message: string; readonly do: readonly Step[] };

export type StepKind = Step["kind"];
export type Script = { readonly steps: readonly Step[] };
export type ScriptError = { readonly error: string };
