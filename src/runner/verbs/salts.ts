/** Requests that were asked already: each counts once, for as long as it could be asked again. */
export class Salts {
  private readonly seen = new Map<string, number>();

  isNew(salt: string, until: number, now: number): boolean {
    // In the order they came, which is nearly the order in which they are past.
    for (const [old, end] of this.seen) {
      if (end >= now) break;
      this.seen.delete(old);
    }
    if (this.seen.has(salt)) return false;
    this.seen.set(salt, until);
    return true;
  }
}
