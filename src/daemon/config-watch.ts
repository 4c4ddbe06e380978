/**
 * The settings in effect and those on disk. Looked at every few seconds, and before anything is done under them: a changed configuration that is valid takes effect, with
 * what differs; one that is not leaves everything as it was, and why is told once and shown until it is fixed (CONF-2).
 * So do files that are away, or that git brought and nobody confirmed: then the fleet is held back, too.
 */
import type { Settings } from "#act/settings/settings.ts";
import type { Difference } from "#config/difference.ts";
import { differencesOf } from "#config/difference.ts";
import type { Config } from "#config/schema.ts";
import type { Hold } from "#domain/health/settings.ts";
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
  /** What was last told of; what is in effect may be ahead of it. */
  private told: { readonly config: Config; readonly hold: string | null; readonly problem: string | null };

  /** `settings` are those found at the start; `lookNow` finds them again. */
  constructor(
    private inEffect: Settings,
    private readonly lookNow: () => Promise<Settings>,
  ) {
    this.told = { config: inEffect.config, hold: inEffect.hold?.message ?? null, problem: null };
  }

  get current(): Config {
    return this.inEffect.config;
  }

  get hold(): Hold | null {
    return this.inEffect.hold;
  }

  /** As they are at this moment: what is about to land or to start must not stand on what a tick saw minutes ago. */
  async settingsNow(): Promise<Settings> {
    let now: Settings;
    try {
      now = await this.lookNow();
    } catch (error) {
      if (!(error instanceof OverseerError) || error.kind !== "config") throw error;
      this.problem = error.message;
      return this.inEffect;
    }
    this.problem = null;
    if (now.hold) {
      // Those who could not be confirmed are not taken over: this process stays under what it knows.
      this.inEffect = { ...this.inEffect, hold: now.hold };
      return this.inEffect;
    }
    await now.keep();
    this.inEffect = now;
    return now;
  }

  /** Looks, and says what there is to tell since the last time. */
  async look(): Promise<ConfigNews> {
    await this.settingsNow();
    const { told, problem } = this;
    const { config, hold } = this.inEffect;
    this.told = { config, hold: hold?.message ?? null, problem };
    if (problem !== null) {
      return problem === told.problem ? { kind: "same" } : { kind: "refused", because: "not-valid", problem };
    }
    if (hold) {
      return hold.message === told.hold
        ? { kind: "same" }
        : { kind: "refused", because: BECAUSE[hold.code], problem: hold.message };
    }
    const changes = differencesOf(told.config, config);
    return changes.length === 0 ? { kind: "same" } : { kind: "changed", changes };
  }
}
