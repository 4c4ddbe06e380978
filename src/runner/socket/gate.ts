/** Lets so many pass at once; the next ones wait in the order they came, and beyond a bound nobody is let wait. */
export class Gate {
  private inside = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly atOnce: number,
    private readonly mostWaiting: number,
  ) {}

  /** What is to be called when done; undefined when too many wait already. */
  async enter(): Promise<(() => void) | undefined> {
    if (this.inside >= this.atOnce) {
      if (this.waiting.length >= this.mostWaiting) return undefined;
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else this.inside += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      // The place goes to the next one; nobody who comes just now gets it first.
      const next = this.waiting.shift();
      if (next) next();
      else this.inside -= 1;
    };
  }
}
