/** What is read of a file whose place somebody else has named: its end, and nothing of what is no regular file. */
import { expect, test } from "bun:test";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../../test/support/temp.ts";
import { readLast, readTail } from "./read-tail.ts";

const place = tempDir("read-tail-");
writeFileSync(join(place, "file"), "one\ntwo\nthr");
writeFileSync(join(place, "sparse"), "");
truncateSync(join(place, "sparse"), 8 * 1024 ** 3);
mkdirSync(join(place, "directory"));
Bun.spawnSync(["mkfifo", join(place, "pipe")]);

test.each([
  ["file", 100, "one\ntwo\nthr"],
  ["file", 5, "o\nthr"],
  ["sparse", 3, "\0\0\0"],
  ["pipe", 100, ""],
  ["directory", 100, ""],
  ["missing", 100, ""],
  ["file/below", 100, ""],
  ["n".repeat(300), 100, ""],
])("RCPT-1: the last of %p, at most %d bytes", (name, most, text) => {
  expect(readLast(join(place, name), most)).toBe(text);
});

test("RCPT-1: what was added since is read by whole lines, and of a pipe nothing", () => {
  expect(readTail(join(place, "file"), 4, 100)).toEqual({ text: "two\n", next: 8 });
  expect(readTail(join(place, "file"), 99, 100)).toEqual({ text: "one\ntwo\n", next: 8 });
  expect(readTail(join(place, "pipe"), 0, 100)).toEqual({ text: "", next: 0 });
});
