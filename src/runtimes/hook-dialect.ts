/**
 * How a CLI speaks with its hooks: what it says (payload → fact), and what it reads from them (refuse a call, put words
 * before the model, keep a turn going). The hook programs know this interface and no CLI; which dialect is spoken, the
 * command in the CLI's settings says, and only that one is loaded (dialects.ts).
 */
import type { ToolVocabulary } from "#domain/core/tools.ts";
import type { HookMoment, UserHook } from "#domain/permit/hook-moments.ts";
import type { SignalData } from "#domain/signals/signal.ts";

export type HookPayload = Readonly<Record<string, unknown>>;

/** One tool call as a hook is told of it. */
export interface HookCall {
  /** Empty where the CLI gives its calls no names. */
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What came of it, where it has ended. */
  readonly result: unknown;
  /** In which way it failed (error-class.ts), or null. */
  readonly failed: string | null;
  readonly ms: number | null;
}

/** What a hook was told, in our words; what the moment does not say is empty. Texts are whole, and not redacted yet. */
export interface HookFact {
  readonly session: string;
  /** What began the session; `compact` when its context was replaced by a summary. */
  readonly source: string;
  /** The directory in which the agent stands; empty when it is not said. */
  readonly cwd: string;
  /** The sub-agent whose moment it is; empty for the agent itself. */
  readonly sub: string;
  readonly subType: string;
  /** Names the turn, where the CLI does. */
  readonly turn: string;
  readonly call: HookCall;
  /** At the end of a step: the calls of it. */
  readonly calls: readonly HookCall[];
  /** What was said: to the agent, by it, or about it. */
  readonly text: unknown;
  /** Why a session ended or a context was replaced, and of which kind a notification is. */
  readonly reason: string;
  /** The turn began by itself, because a job of the agent's own has ended. */
  readonly byTask: boolean;
  /** The turn seems over, and continues when agents of the agent's own are done. */
  readonly goesOn: boolean;
  /** The turn seems to have ended well, and the last words are the CLI's own: its provider failed. */
  readonly gaveUp?: boolean;
  /** Why the provider gave up. */
  readonly cause: SignalData["api.failed"]["cause"];
}

/** What a CLI's own meters show. */
export interface MeterFact {
  readonly session: string;
  readonly costUsd: number;
  readonly contextWindow: number | null;
}

export interface HookDialect {
  readonly name: string;
  readonly tools: ToolVocabulary;
  /** Never throws: what makes no sense is empty. */
  read(payload: HookPayload): HookFact;
  /** What the status line is told; undefined when that is no reading, and where a CLI has no such line. */
  readMeter(payload: HookPayload): MeterFact | undefined;
  /** When a limit ends, where the words about it say so; `at`: when they were said. */
  readReset?(text: string, at: number): number | null;
  /** The answer that refuses a tool call. */
  deny(reason: string): string;
  /** The answer that puts a text before the model. */
  context(moment: HookMoment, text: string): string;
  /** The answer by which a turn that wants to end continues with this text. */
  block(text: string): string;
}

/** What a runtime needs to know to have its CLI call our hooks. */
export interface HookWiring {
  /** Shell text that starts the recording hook; moment and dialect are appended. Made with shellCommand(). */
  readonly hookCommand: string;
  /** Shell text that starts the permit hook, policy file included; the dialect is appended. Made with shellCommand(). */
  readonly permitCommand: string;
  readonly userHooks: readonly UserHook[];
  /** Absolute patterns of files that the CLI itself is to refuse to write. */
  readonly deniedPaths: readonly string[];
  /** For an agent on its own screen: the pipe at which it can be woken when it is idle. Null for a driven one. */
  readonly wakePipe: string | null;
  /** It has a reflex, which speaks at the end of a step. */
  readonly steered: boolean;
  /** The permit is asked before every tool and not only before those that write: for one that has a list of what it may use. */
  readonly judgesEveryTool?: true;
}

/** Where a runner answers the hooks of its agent by HTTP. */
export interface HookEndpoint {
  /** Without a slash at the end; moments are asked at `/hook/<attempt>/<moment>`, the permit at `/permit/<attempt>`. */
  readonly url: string;
  readonly attempt: number;
  /** Shown with each request, in a header: a URL is told to the model when its hook fails. */
  readonly token: string;
}

/**
 * In front of both commands. Out of the worktree, because Bun obeys a bunfig.toml and an .env where it is started, and
 * an agent could write one that runs in its own permit. And without the compiler, which costs a program of ten
 * milliseconds more than it gives; only the first of its stages is turned off, since asking the C library needs the rest.
 * And with the engine's small heap: a process that ends at once has nothing to collect.
 */
export const STARTED_AS = "cd / && BUN_OPTIONS= BUN_JSC_useBaselineJIT=0 BUN_JSC_forceMiniVMMode=1";

/**
 * Behind both, where they could not run: a hook that ends before it has read its words has failed for the CLI, whatever
 * it printed, and a failed permit lets pass what it should refuse.
 */
export const TAKE_THE_REST = "cat >/dev/null";

/** Hooks as doctor tries them out: exactly the commands of a CLI's settings, with what the CLI would say to each. */
export interface HookTrial {
  /** Tells of a notification. */
  readonly recording: { readonly command: string; readonly payload: HookPayload };
  /** Asks for a write to the path. */
  readonly permit: { readonly command: string; readonly payload: HookPayload };
  /** Asks the same hook for a command that does nothing. */
  readonly harmless: HookPayload;
  /** The refusal in what the permit hook printed; null when it let the call pass. */
  refusalIn(printed: string): string | null;
}

/** What a CLI is started with whose hooks its runner answers: it holds their token, and goes with the attempt. */
export const HTTP_SETTINGS_FILE = "settings.http.json";
