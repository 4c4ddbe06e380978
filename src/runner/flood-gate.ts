/**
 * Keeps an agent that floods from filling the store and the logs: of each kind of line so many pass in a second, and
 * the rest is counted. What the agent does (turns, calls, usage) always passes; only what it says can be too much.
 */
export const PASSING_PER_SECOND = 50;

export class FloodGate {
  private second = 0;
  private passed = new Map<string, number>();
  private dropped = 0;

  /** True when this line may pass; `now` in ms. */
  passes(kind: string, now: number): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.second) {
      this.second = second;
      this.passed.clear();
    }
    const count = (this.passed.get(kind) ?? 0) + 1;
    this.passed.set(kind, count);
    if (count <= PASSING_PER_SECOND) return true;
    this.dropped += 1;
    return false;
  }

  /** How many were left out since this was last asked. */
  takeDropped(): number {
    const { dropped } = this;
    this.dropped = 0;
    return dropped;
  }
}
