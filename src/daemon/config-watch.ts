/**
 * The settings in effect and those on disk. Asked at every tick: a changed configuration that is valid takes effect, with
 * what differs; one that is not leaves everything as it was, and why is told once and shown until it is mended (CONF-2).
 * So do files that are away, or that git brought and nobody confirmed: then the fleet is held back, too.
 */
import type { Settings } from "#act/settings.ts";
import type { Difference } from "#config/difference.ts";
import { differencesOf } from "#config/difference.ts";
import type { Config } from "#config/schema.ts";
import type { Hold } from "#domain/settings.ts";
import { OverseerError } from "#errors.ts";

export type ConfigNews =
  | { readonly kind: "same" }
  | { readonly kind: "changed"; readonly changes: readonly Difference[] }
  | { readonly kind: "refused"; readonly because: "not-valid" | "away" | "not-confirmed"; readonly problem: string };

const BECAUSE: Readonly<Record<Hold["code"], "away" | "not-confirmed">> = {
  CONFIG_AWAY: "away",
  CONFIG_UNCONFIRMED: "not-confirmed",
};

export class ConfigWatch {
  problem: string | null = null;

  /** `settings` are those found at the start; `lookNow` finds them anew. */
  constructor(
    private inEffect: Settings,
    private readonly lookNow: () => Promise<Settings>,
  ) {}

  get current(): Config {
    return this.inEffect.config;
  }

  get settings(): Settings {
    return this.inEffect;
  }

  get hold(): Hold | null {
    return this.inEffect.hold;
  }

  async look(): Promise<ConfigNews> {
    const before = this.inEffect;
    let now: Settings;
    try {
      now = await this.lookNow();
    } catch (error) {
      if (!(error instanceof OverseerError) || error.kind !== "config") throw error;
      if (error.message === this.problem) return { kind: "same" };
      this.problem = error.message;
      return { kind: "refused", because: "not-valid", problem: error.message };
    }
    this.problem = null;
    const { hold } = now;
    if (hold) {
      // Those who could not be confirmed are not taken over: this process stays under what it knows.
      this.inEffect = { ...before, hold };
      if (hold.message === before.hold?.message) return { kind: "same" };
      return { kind: "refused", because: BECAUSE[hold.code], problem: hold.message };
    }
    await now.keep();
    this.inEffect = now;
    const changes = differencesOf(before.config, now.config);
    return changes.length === 0 ? { kind: "same" } : { kind: "changed", changes };
  }
}
