/** Reads a small file that somebody else may have put there: a pipe would wait for ever, and a device has no end. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { systemCode } from "#errors.ts";

/** The text of a regular file of at most so many bytes; undefined for anything else. Links are not followed. */
export async function readSmallFile(path: string, mostBytes: number): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const facts = await file.stat();
      if (!facts.isFile() || facts.size > mostBytes) return undefined;
      const bytes = Buffer.alloc(mostBytes);
      let length = 0;
      for (let read = -1; read !== 0 && length < mostBytes; length += read) {
        read = (await file.read(bytes, length, mostBytes - length, length)).bytesRead;
      }
      return bytes.toString("utf8", 0, length);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
