/**
 * The configuration in effect and the one on disk. Asked at every tick: a changed file that is valid takes effect, with
 * what differs; one that is not leaves everything as it was, and why is told once and shown until it is mended (CONF-2).
 */
import { hashOfConfig } from "#config/checked-copy.ts";
import type { Difference } from "#config/difference.ts";
import { differencesOf } from "#config/difference.ts";
import { type LoadedConfig, parseConfig } from "#config/load.ts";
import type { Config } from "#config/schema.ts";
import { OverseerError } from "#errors.ts";

export type ConfigNews =
  | { readonly kind: "same" }
  | { readonly kind: "changed"; readonly changes: readonly Difference[]; readonly text: string | undefined }
  | { readonly kind: "refused"; readonly problem: string };

export class ConfigWatch {
  private hash: string;
  private readonly path: string;
  current: Config;
  problem: string | null = null;

  constructor(
    loaded: LoadedConfig,
    private readonly read: (path: string) => string | undefined,
  ) {
    this.current = loaded.config;
    this.path = loaded.path;
    this.hash = hashOfConfig(loaded.text);
  }

  look(): ConfigNews {
    const text = this.read(this.path);
    const hash = hashOfConfig(text);
    if (hash === this.hash) return { kind: "same" };
    this.hash = hash;
    try {
      const next = parseConfig(text ?? "", this.path);
      const changes = differencesOf(this.current, next);
      this.current = next;
      this.problem = null;
      return changes.length === 0 ? { kind: "same" } : { kind: "changed", changes, text };
    } catch (error) {
      if (!(error instanceof OverseerError)) throw error;
      this.problem = error.message;
      return { kind: "refused", problem: error.message };
    }
  }
}
