/** Locks of simulated processes: a lock dies with its holder. */
import type { Locks } from "#sys/locks.ts";

export class VirtualLocks {
  private readonly holders = new Map<string, { readonly isDead: () => boolean }>();

  /** As the process sees them that `isDead` speaks of. */
  viewFrom(isDead: () => boolean): Locks {
    return {
      take: (path) => {
        const holder = this.holders.get(path);
        if (holder && !holder.isDead()) return undefined;
        const own = { isDead };
        this.holders.set(path, own);
        return {
          release: () => {
            if (this.holders.get(path) === own) this.holders.delete(path);
          },
        };
      },
    };
  }
}
