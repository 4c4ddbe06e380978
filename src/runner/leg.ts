/**
 * One life of the agent's CLI inside an attempt, and how it is spoken to. Two kinds share this shape: driven.ts speaks a
 * protocol on the CLI's pipes, screen.ts has the CLI on its own screen and hears of it by hooks and transcript.
 */

import type { CallEnd } from "#domain/reports/unpermitted.ts";
import type { Signal } from "#domain/signals/signal.ts";
import type { ProcessIdentity } from "#sys/processes.ts";

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Where the CLI is in its turns, as far as the runner knows. */
export interface TurnState {
  inTurn: boolean;
  turnSince: number;
  idleSince: number;
  /** When the running turn was interrupted; null when it was not. */
  interruptedAt: number | null;
  /** When an idle CLI was last told that something waits for it; null once it has begun a turn. */
  wokenAt: number | null;
}

export interface Leg {
  readonly process: ProcessIdentity;
  readonly exited: Promise<Exit>;
  readonly turn: TurnState;
  /** We told it to end. */
  asked: boolean;
  exit: Exit | null;
  /** Gives one message that was written down as handed. False when it cannot be given any more. */
  give(message: { readonly id: string; readonly text: string }): Promise<boolean>;
  /** Makes an idle CLI begin a turn, in which its hooks hand it what waits. Where messages go by hooks. */
  wake(): Promise<void>;
  /** Breaks the running turn off; the session stays. */
  interrupt(): Promise<void>;
  /** Asks it to end by itself. */
  close(): void;
  /** Looks for what does not come by itself. */
  look(): Promise<void>;
}

/** What a leg tells its runner. */
export interface LegEars {
  signal(signal: Signal): void;
  /** A tool call has ended. */
  callEnded(id: string, call: CallEnd): void;
  /** A line of its error output. */
  errorLine(text: string): void;
  /** Something for a person to read. */
  note(text: string): void;
  turnStarted(): void;
  turnEnded(): void;
}

export function newTurnState(now: number): TurnState {
  return { inTurn: false, turnSince: now, idleSince: now, interruptedAt: null, wokenAt: null };
}
