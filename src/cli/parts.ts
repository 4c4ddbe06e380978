/** What commands are handed by main.ts: the world of the repository they stand in, built only when they ask for it. */
import type { World } from "#control/world.ts";

export interface Parts {
  readonly version: string;
  /** Finds the repository and its state; throws when there is none. */
  world(): Promise<World>;
  /** The text of a file a person named, or of standard input for `-`. Throws a clear error when it cannot be read. */
  readText(path: string): Promise<string>;
}
