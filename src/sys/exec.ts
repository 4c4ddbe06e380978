/**
 * The one door through which other programs are run to their end. Arguments are a list, never a shell string; every
 * run has a deadline and a cap on what it may print.
 */
export interface ExecOptions {
  readonly cwd?: string;
  /** The complete environment of the child; nothing is inherited beside it. Default: this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Default 60 s. On expiry the child's whole process group is ended, and `timedOut` is true. */
  readonly timeoutMs?: number;
  /** Cap per stream, default 16 MiB; what is beyond is dropped and `truncated` is true. */
  readonly maxBytes?: number;
}

export interface ExecResult {
  /** Exit code, or null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly truncated: boolean;
}

export interface Exec {
  /**
   * Runs `argv` and waits for its end. A non-zero exit is a value, not an exception. Rejects with OverseerError
   * `environment`/`PROGRAM_MISSING` when there is no such program, `environment`/`CWD_MISSING` when cwd is gone.
   */
  run(argv: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}
