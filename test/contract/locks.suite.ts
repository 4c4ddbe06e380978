/** What every kind of lock keeps to; another one joins by adding a line to locks.test.ts. */
import { describe, expect, test } from "bun:test";
import type { Locks } from "#sys/locks.ts";

export interface LockSubject {
  readonly locks: Locks;
  /** Another process that holds the lock; undefined when it did not get it. */
  holdElsewhere(path: string): Promise<{ die(): Promise<void> } | undefined>;
}

export function locksSuite(name: string, make: () => { readonly subject: LockSubject; readonly path: string }): void {
  describe(`locks contract: ${name}`, () => {
    test("whoever has it, has it alone, also within one process, until it gives it back", () => {
      const { subject, path } = make();
      const lock = subject.locks.take(path);
      expect(lock).toBeDefined();
      expect(subject.locks.take(path)).toBeUndefined();
      subject.locks.take(`${path}.other`)?.release();
      lock?.release();
      const next = subject.locks.take(path);
      expect(next).toBeDefined();
      // Given back a second time, the first one frees nothing that is another's by now.
      lock?.release();
      expect(subject.locks.take(path)).toBeUndefined();
      next?.release();
    });

    test("between processes too, and it is free when its holder dies", async () => {
      const { subject, path } = make();
      const other = await subject.holdElsewhere(path);
      expect(subject.locks.take(path)).toBeUndefined();
      await other?.die();
      const own = subject.locks.take(path);
      expect(own).toBeDefined();
      expect(await subject.holdElsewhere(path)).toBeUndefined();
      own?.release();
    });
  });
}
