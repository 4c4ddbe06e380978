/**
 * One after the other within this process: whatever is asked for under the same key waits until what was asked for
 * before has ended, however that ended. Other processes know nothing of it; where they matter there is a lock as well.
 * `here` stands for the process, e.g. its view of the process table: simulated ones share their memory with others.
 */
const lines = new WeakMap<object, Map<string, Promise<unknown>>>();

export function inTurn<T>(here: object, key: string, work: () => Promise<T>): Promise<T> {
  const last = lines.get(here) ?? new Map<string, Promise<unknown>>();
  lines.set(here, last);
  const mine = (last.get(key) ?? Promise.resolve()).then(work);
  // Its failure is told to whoever asked for it; the next in line is not concerned.
  const over = mine.then(
    () => undefined,
    () => undefined,
  );
  last.set(key, over);
  void over.then(() => {
    if (last.get(key) === over) last.delete(key);
  });
  return mine;
}
