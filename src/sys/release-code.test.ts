/** Which parts of a process are program text of files, read from its map. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { codeRanges } from "./release-code.ts";

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

test.skipIf(process.platform !== "linux")(
  "the pages of its text are given back, and a process continues as before",
  () => {
    const script = `
    const { codeRanges, releaseCode } = await import(${JSON.stringify(join(import.meta.dir, "release-code.ts"))});
    const { readFileSync } = await import("node:fs");
    const held = () => {
      const from = new Set(codeRanges(readFileSync("/proc/self/maps", "utf8")).map((range) => range.from));
      let inside = false;
      let kilobytes = 0;
      for (const line of readFileSync("/proc/self/smaps", "utf8").split("\\n")) {
        const start = /^([0-9a-f]+)-/.exec(line)?.[1];
        if (start !== undefined) inside = from.has(Number.parseInt(start, 16));
        const [, size] = /^Rss: +(\\d+) kB/.exec(line) ?? [];
        if (inside && size !== undefined) kilobytes += Number(size);
      }
      return kilobytes;
    };
    const before = held();
    releaseCode();
    console.log(JSON.stringify({ before, after: held(), works: [3, 1, 2].toSorted() }));
  `;
    const child = Bun.spawnSync([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
    expect(child.stderr.toString()).toBe("");
    const { before, after, works } = JSON.parse(child.stdout.toString());
    expect(works).toEqual([1, 2, 3]);
    expect(before).toBeGreaterThan(10_000);
    expect(after).toBeLessThan(before / 2);
  },
);
