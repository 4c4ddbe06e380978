/** Which parts of a process are program text of files, read from its map. */
import { expect, test } from "bun:test";
import { codeRanges, releaseCode } from "./release-code.ts";

test("only executable text of files is given back: no data, no stack, no code made at run time", () => {
  const maps = `00200000-00300000 r--p 00000000 fd:00 1234 /opt/bun
00300000-00500000 r-xp 00100000 fd:00 1234 /opt/bun
00500000-00600000 rw-p 00300000 fd:00 1234 /opt/bun
7f0000000000-7f0000100000 rwxp 00000000 00:00 0
7f0000100000-7f0000200000 r-xp 00000000 00:00 0
7f1000000000-7f1000010000 r-xp 00000000 fd:00 99                         /usr/lib/libc.so.6
7ffe00000000-7ffe00002000 r-xp 00000000 00:00 0                          [vdso]
`;
  expect(codeRanges(maps)).toEqual([
    { from: 0x300000, bytes: 0x200000 },
    { from: 0x7f1000000000, bytes: 0x10000 },
  ]);
});

test("a process continues as before after giving its text back", () => {
  releaseCode();
  expect([3, 1, 2].toSorted()).toEqual([1, 2, 3]);
});
