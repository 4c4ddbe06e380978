/**
 * What main hands to commands: the world of the repository they stand in, built only when they ask for it, and the
 * machine they may touch. A command that needs something new gets it here, and wiring.ts, which alone knows how to
 * build it, stops compiling until it does.
 */
import type { LoadedConfig } from "#config/load.ts";
import type { SettingsChange } from "#control/trust.ts";
import type { World } from "#control/world.ts";
import type { RemedyResult } from "#domain/guard/remedy-context.ts";
import type { AutoFlags, WatchingOnly } from "#domain/health/daemon-life.ts";
import type { Clock } from "#sys/clock.ts";
import type { Exec } from "#sys/exec.ts";
import type { Processes } from "#sys/processes.ts";

export interface MachinePorts {
  readonly clock: Clock;
  readonly exec: Exec;
  readonly processes: Processes;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Parts {
  readonly version: string;
  /** Finds the repository and its state; throws when there is none. */
  world(): Promise<World>;
  /** The same anew, under the settings as they are now: for a command that stays. */
  worldNow(): Promise<World>;
  /** The text of a file a person named, or of standard input for `-`. Throws a clear error when it cannot be read. */
  readText(path: string): Promise<string>;
  /** The configuration in effect and the file it comes from. */
  loadConfig(): Promise<LoadedConfig>;
  /** Takes the settings as they are now, by this person's word. */
  acceptSettings(): Promise<SettingsChange>;
  /** What starts the daemon as a process of its own. */
  readonly daemonCommand: readonly string[];
  /** What starts the guard as a process of its own. */
  readonly guardCommand: readonly string[];
  /** What calls this very program again, for a command that uses others as a person would. */
  readonly program: readonly string[];
  /** The machine without a repository. */
  machine(): MachinePorts;
  /** Is the daemon, in this process, until it is told to stop. */
  runDaemon(options: {
    readonly supervision: boolean;
    readonly auto: boolean;
    readonly flags?: AutoFlags;
    readonly watching?: WatchingOnly;
  }): Promise<void>;
  /** Has an agent repair what the file says has failed, until its turn ends or a signal tells us to stop. */
  remediate(contextFile: string): Promise<RemedyResult>;
}
