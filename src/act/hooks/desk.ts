/**
 * What an answer to a hook is made with. Two keep such a desk: the hook that is a program of its own opens what it needs
 * and closes it again (hook/file-desk.ts), the runner has it open (runner/hooks/desk.ts). What is answered is the same.
 */
import type { PermitPolicy } from "#domain/permit/permit.ts";
import type { Query } from "#store/query.ts";
import type { SignalLog } from "#store/signal-log.ts";

export type HookLog = Pick<SignalLog, "record" | "steer">;

export interface HookDesk {
  readonly state: string;
  /** The attempt's own directory. */
  readonly directory: string;
  readonly attempt: number;
  readonly agent: string;
  /** Its rules; undefined when they are not to be had. */
  readonly policy: PermitPolicy | undefined;
  readonly interactive: boolean;
  /** Asks the store one question. Rejects when it cannot be read within that time. */
  ask<T>(query: Query<T>, busyMs: number): Promise<T>;
  /** Has the signal log for this work. Rejects when the store will not have it at once. */
  withLog<T>(work: (log: HookLog) => Promise<T>): Promise<T>;
  /** Where what the agent does is gathered before it is written: has it looked at before a step is judged. */
  catchUp?(): Promise<void>;
}
