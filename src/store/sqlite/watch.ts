/** Notices writes by the file that every one of them is appended to before it counts. */
import { watch } from "node:fs";
import { systemCode } from "#errors.ts";

/** Nothing is noticed where there is no such file, or the system has no more watches to give. */
export function watchSqlite(path: string, onWrite: () => void): () => void {
  try {
    const watcher = watch(`${path}-wal`, { persistent: false }, onWrite);
    // Taken away under us: the next look by the clock says what became of the store.
    watcher.on("error", () => watcher.close());
    return () => watcher.close();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return () => {};
  }
}
