/**
 * The contract of an agent CLI. An adapter knows how its program is started, spoken to and understood; it starts
 * nothing itself. The runner owns the process and the pipes, so every adapter is drained, recorded, interrupted and
 * ended the same way. Adding a CLI means a file here, a line in list.ts, and a run of test/contract/runtime.suite.ts.
 */

import type { Finding } from "#domain/health/checkup.ts";
import type { RuntimeTools } from "#domain/model/role.ts";
import type { CallEnd } from "#domain/reports/unpermitted.ts";
import type { Signal } from "#domain/signals/signal.ts";
import type { HookDialect, HookEndpoint, HookTrial, HookWiring } from "./hook-dialect.ts";

export interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export interface Totals extends Tokens {
  readonly costUsd: number;
}

export interface Capabilities {
  /** Can be driven by a structured protocol on its pipes. */
  readonly driven: boolean;
  /** Has a screen of its own that a person can use. */
  readonly interactive: boolean;
  /** A session that ended can be continued by its id. */
  readonly resume: boolean;
  /** A running turn can be interrupted without losing the session. */
  readonly interrupt: boolean;
  /** A message can be given while a turn runs. */
  readonly midTurn: boolean;
  readonly oneShot: boolean;
  readonly tools: RuntimeTools;
}

/** What can be said about the program before anything is started. */
export type Readiness =
  | { readonly ready: true; readonly program: string; readonly version: string }
  | {
      readonly ready: false;
      readonly reason: string;
      readonly hint: string;
      /** FOLDER_NOT_TRUSTED: not the program's fault, and only a person can say otherwise. */
      readonly code?: "FOLDER_NOT_TRUSTED";
    };

/** What an agent is wanted for, as far as it decides whether the program is fit for it. */
export interface Wish {
  readonly permissionMode: string;
  /** On its own screen, where dialogs would wait for a person. */
  readonly interactive: boolean;
  /** The person's own checkout. */
  readonly project: string;
  /** The environment the agent would have. */
  readonly env: Readonly<Record<string, string>>;
  /** How long one question to the program may take; the runtime knows a patient answer of its own. */
  readonly timeoutMs?: number;
}

/** The words of a task that holds more than words, for titles; or why the CLI could do nothing with it. */
type TaskReading = { readonly words: string } | { readonly error: string };

/** One start of the CLI. */
export interface LaunchRequest {
  readonly worktree: string;
  /** A directory of this attempt for files the CLI is pointed at; nothing is written into the user's tree. */
  readonly directory: string;
  /** The id the session has, or is to have. */
  readonly session: string;
  /** Go on with that session instead of beginning it. */
  readonly resume: boolean;
  readonly model: string | null;
  readonly permissionMode: string;
  readonly allowTools: readonly string[];
  readonly denyTools: readonly string[];
  /** What the agent is told about itself: role and assignment, as a file. */
  readonly systemPromptFile: string;
  /** The environment the agent may have, marks of its attempt included. */
  readonly env: Readonly<Record<string, string>>;
  /** The settings it is started with, where they are others than `prepare` has written. */
  readonly settingsFile?: string;
  /** What starts our own server of tools for it (MCP); nothing where it is to have none. A CLI that takes none ignores it. */
  readonly toolServer?: readonly string[];
}

/** What is known when an attempt's files are written; `launch` needs none of it, the files are there by then. */
export interface Preparation extends LaunchRequest {
  readonly hooks: HookWiring;
}

export interface Launch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface PreparedFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** Turns the lines of one leg into signals. Pure but for what it remembers of earlier lines. */
export interface Reader {
  /** Never throws: a line that is not understood is noise, or nothing. */
  read(line: string, at: number): readonly Signal[];
}

/** A piece of what a line says, whole. `turn` is the end of one; `noise` is what is no part of the conversation. */
export interface ToldPart {
  readonly kind: "session" | "words" | "thought" | "call" | "result" | "failure" | "turn" | "noise";
  readonly text: string;
}

export interface RehearsalRequest {
  /** For the files it is pointed at. */
  readonly directory: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hooks: HookWiring;
  readonly url: string;
}

export interface Rehearsal {
  readonly files: readonly PreparedFile[];
  readonly launch: Launch;
  /** What people call the CLI. */
  readonly title: string;
  /** The call it is made to make; the permit leaves its mark under this name. */
  readonly call: string;
  /** The model's answer to a request, and whether the request says that the call was made and not refused. */
  answer(request: string): { readonly text: string; readonly ran: boolean };
}

/** What is known when hooks are set up for a runner that answers them. */
export interface HttpPreparation {
  readonly directory: string;
  readonly hooks: HookWiring;
  readonly denyTools: readonly string[];
  /** The agent's. */
  readonly env: Readonly<Record<string, string>>;
  readonly endpoint: HookEndpoint;
  /** Of the CLI, as it said itself; null when that is not known. */
  readonly version: string | null;
  /** The texts of `listRivals`, as far as there are such files. */
  readonly texts: readonly string[];
}

/** For a CLI that can ask its hooks by HTTP. */
export interface HooksByHttp {
  /** Settings of others that may stand in the way of such hooks. */
  listRivals(worktree: string): readonly string[];
  /** The settings to start it with. What it would not ask safely this way stays a command. Pure. */
  prepare(request: HttpPreparation): PreparedFile;
}

export interface RuntimeHooks {
  readonly dialect: HookDialect;
  readonly http?: HooksByHttp;
  /** Where in an attempt's directory they stand. */
  readonly file: string;
  /** How what stands there is tried out; `path` is what is asked to be written. */
  trial(text: string, path: string): HookTrial;
}

export interface ProjectSettings {
  /** Its text, by the name of the file; what is not there is left out. */
  readonly files: Readonly<Record<string, string>>;
  /** Arguments that are configured for the CLI. */
  readonly args: readonly string[];
}

/** A request that has one answer: no session, no tools. */
export interface OneShot {
  readonly prompt: string;
  readonly model: string | null;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface OneShotAnswer {
  readonly text: string;
  readonly costUsd: number | null;
  /** What it read and wrote; null where the program does not say. */
  readonly tokens: Tokens | null;
}

/** No answer: the account has reached a limit. */
export interface OneShotLimit {
  readonly limited: { readonly resetsAt: number | null; readonly detail: string };
}

/** A line of the transcript: what it tells us, and what of it reached the model as somebody's words. */
export interface TranscriptLine {
  readonly signals: readonly Signal[];
  readonly heard: string;
  /** What the agent itself said to everybody. */
  readonly said: string;
  /** Tool calls that have ended; hooks tell them too, where they run. */
  readonly calls: readonly (CallEnd & { readonly id: string })[];
}

/** Turns the lines of one session's transcripts into signals. Remembers what was counted already; never throws. */
export interface TranscriptReader {
  read(line: string, ofSubagent: boolean): TranscriptLine;
}

/** An agent CLI that has its own screen: a person can use it, and we hear of it by hooks and transcript. */
export interface Screen {
  /** The command that starts or resumes it with its first message. Pure. */
  launch(request: LaunchRequest, prompt: string): Launch;
  /** Where it writes its conversation: the session's own file, and the directory of its sub-agents' files. */
  transcripts(request: LaunchRequest): { readonly own: string; readonly subs: string };
  transcriptReader(session: string): TranscriptReader;
}

export interface Runtime {
  readonly name: string;
  readonly capabilities: Capabilities;

  /** Is the program there and fit for this? Never throws, may be asked often, spends nothing. */
  probe(wish: Wish): Promise<Readiness>;

  /** For a CLI whose tasks hold more than words: read before anything is started. Pure. */
  readTask?(text: string): TaskReading;

  /** Whether a variable of the person's environment means something to the CLI that it is not given anyway. */
  knowsVariable?(name: string): boolean;

  /** How it speaks with its hooks and what it calls its tools; nothing for a CLI without hooks. */
  readonly hooks?: RuntimeHooks;

  /** Files of a project that set the CLI up, and what they would mean for an agent that works there. Pure. */
  readonly project?: { readonly files: readonly string[]; judge(settings: ProjectSettings): Finding };

  /** The files the CLI is pointed at (settings, hooks). Pure; the caller writes them. Same request, same files. */
  prepare(request: Preparation): readonly PreparedFile[];

  /** The command that starts or resumes the CLI, driven. Pure. */
  launch(request: LaunchRequest): Launch;

  /** How it runs on its own screen. Where capabilities.interactive. */
  readonly screen?: Screen;

  /** A message as one line for the CLI's standard input, newline included; `id` comes back when it was taken. */
  render(message: { readonly id: string; readonly text: string }): string;

  /** The line that breaks a running turn off. Throws when `capabilities.interrupt` is false. */
  interrupt(id: string): string;

  /**
   * A new reader for one leg; `leg` keeps the ids of different legs apart. `before` is what earlier attempts took in the
   * same session: the CLI may count it again.
   */
  reader(leg: number, before?: Totals): Reader;

  /** What a line says, for somebody who keeps all of it: nothing is cut, and nothing is redacted yet. Never throws. */
  tell(line: string): readonly ToldPart[];

  /** What a session left on disk, by which it can be resumed; undefined when there is nothing. */
  sessionFile(session: string): string | undefined;

  /**
   * Shows whether the CLI asks the permit where it stands: one short session with our own model at `url`, which has it run
   * one command. Where a CLI cannot be given another model, there is no rehearsal.
   */
  rehearse?(request: RehearsalRequest): Rehearsal;

  /** The command for a one-shot call, with the prompt on its standard input, and how its output is understood. */
  oneShot(request: OneShot): { readonly launch: Launch; readonly stdin: string };
  /** Throws OverseerError `environment`/ANSWER_UNREADABLE when the output is no answer. */
  answer(stdout: string): OneShotAnswer | OneShotLimit;
}
