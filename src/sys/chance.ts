/** Chance as a port: jitter and sampling draw from here, so that one seed replays a whole run. */
export interface Chance {
  /** A number in [0, 1). */
  next(): number;
}

/** The machine's own chance. Good enough for jitter; ids and tokens draw from a cryptographic source instead. */
export function systemChance(): Chance {
  return { next: () => Math.random() };
}
