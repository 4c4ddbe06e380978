/**
 * Processes, known by pid and start time together: a pid alone is reused by the kernel, and signalling a stranger
 * is the one mistake that cannot be undone.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** The kernel's own start stamp (clock ticks since boot on Linux); opaque, only compared. */
  readonly start: string;
}

export type SignalName = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP" | "SIGSTOP" | "SIGCONT" | "SIGUSR1";

export interface ProcessFacts extends ProcessIdentity {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Ended but not yet collected by its parent; it runs nothing any more. */
  readonly zombie: boolean;
  readonly command: string;
}

export interface Processes {
  /** This process. */
  self(): ProcessIdentity;
  /** Who has that pid now; undefined when nobody does. */
  identify(pid: number): ProcessIdentity | undefined;
  /** True while that very process runs (a zombie does not). */
  alive(identity: ProcessIdentity): boolean;
  /** Signals that very process. False, with nothing sent, when it is gone or the pid belongs to another. */
  signal(identity: ProcessIdentity, signal: SignalName): boolean;
  /** Every process that can be seen now. */
  list(): ProcessFacts[];
  /** Processes whose environment at start held `NAME=value`. Only this user's can be read. */
  withEnvironment(name: string, value: string): ProcessIdentity[];
}
