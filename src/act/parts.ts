/**
 * What actions touch: the machine's ports, the repository, the store, and the makers of terminals and runtimes. World
 * (control/world.ts) is one of these with a person or an agent in front of it; tests and the simulator hand in others.
 */
import type { Config } from "#config/schema.ts";
import type { GitTools } from "#git/git.ts";
import type { Runtime } from "#runtimes/runtime.ts";
import type { Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";
import type { Exec } from "#sys/exec.ts";
import type { Files } from "#sys/files.ts";
import type { Ids } from "#sys/ids.ts";
import type { Locks } from "#sys/locks.ts";
import type { Processes } from "#sys/processes.ts";
import type { Root } from "#sys/root.ts";
import type { Terminal } from "#terminals/terminal.ts";
import type { Settings } from "./settings/settings.ts";

export interface ActParts {
  readonly root: Root;
  /** The environment this process was started with; children get what is allowed of it. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly files: Files;
  readonly exec: Exec;
  readonly processes: Processes;
  readonly git: GitTools;
  /** The store, opened for writing. */
  writer(): Promise<Store>;
  /** The configuration in effect: the last good one while the file is away or not confirmed. */
  config(): Promise<Config>;
  /** All settings in effect, and whether anything may be done under them; see stand-on-settings.ts. */
  settings(): Promise<Settings>;
  /** Where agents run, as the configuration says. */
  terminal(): Promise<Terminal>;
  /** An agent CLI by its name, set up as the configuration says. */
  runtime(name: string): Promise<Runtime>;
  /** A short directory for sockets, this user's only. */
  socketDir(): Promise<string>;
  /** A hint to whoever listens on that socket; false when nobody does. */
  wakeSocket(socket: string): Promise<boolean>;
  /** The command that starts a runner; its launch file follows. */
  readonly runnerCommand: readonly string[];
  /** The command that an agent's recording hooks run; the event's name follows. */
  readonly hookCommand: readonly string[];
  /** The command of the permit before writing tools; its policy file follows. */
  readonly permitCommand: readonly string[];
  readonly takeLock: Locks["take"];
  /** Load, free memory and free disk now, beside what must stay free. */
  room(): Promise<MachineRoom>;
}

export interface MachineRoom {
  readonly load: number;
  readonly cores: number;
  readonly freeMemoryBytes: number;
  readonly totalMemoryBytes: number;
  readonly freeDiskBytes: number;
  readonly totalDiskBytes: number;
}
