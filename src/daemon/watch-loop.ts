/** When the watch has its turns (engine/watch-turns.ts): every so often, as configured now, and soon after it was woken. */

import { WatchTurns, type WatchTurnsOptions } from "#engine/watch-turns.ts";
import type { Loop } from "./loops.ts";

/** Looks begin at least this far apart, however much happens. */
const SPACING_MS = 1_000;

export interface WatchLoopOptions extends WatchTurnsOptions {
  /** As configured now; asked each time. */
  settings(): { readonly enabled: boolean; readonly every: number };
}

export class WatchLoop extends WatchTurns {
  private readonly settings: WatchLoopOptions["settings"];

  constructor(options: WatchLoopOptions) {
    super(options);
    this.settings = options.settings;
  }

  /** `care` sees to what the store may be short of. */
  asLoop(care: (work: () => Promise<void>) => Promise<void>): Loop {
    const { settings } = this;
    return {
      name: "watch",
      everyMs: () => settings().every,
      get spacingMs() {
        return Math.min(SPACING_MS, settings().every);
      },
      run: () => care(() => this.turnIfEnabled()),
    };
  }

  private async turnIfEnabled(): Promise<void> {
    if (this.settings().enabled) await this.turn();
  }
}
