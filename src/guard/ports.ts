/** What the guard touches: the machine, this repository's files, and this very program, which it starts as a person would. */
import type { Clock } from "#sys/clock.ts";
import type { Exec } from "#sys/exec.ts";
import type { Files } from "#sys/files.ts";
import type { Ids } from "#sys/ids.ts";
import type { Locks } from "#sys/locks.ts";
import type { Processes } from "#sys/processes.ts";
import type { Root } from "#sys/root.ts";

export interface GuardPorts {
  readonly root: Root;
  readonly env: Readonly<Record<string, string>>;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly files: Files;
  readonly exec: Exec;
  readonly processes: Processes;
  readonly takeLock: Locks["take"];
  /** What calls this very program; its words follow. */
  readonly program: readonly string[];
  /** One line for whoever looks. */
  print(text: string): void;
  readonly colour: boolean;
}
