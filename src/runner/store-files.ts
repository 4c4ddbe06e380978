/** Which files a store consists of now: whoever keeps one open opens it again when another took the place of one of them. */
import { statSync } from "node:fs";

/** The -wal too: what is written into one that was removed, nobody else can read. */
export function markStoreFiles(database: string): string {
  return ["", "-wal"].map((part) => statSync(`${database}${part}`, { throwIfNoEntry: false })?.ino ?? "").join(" ");
}
