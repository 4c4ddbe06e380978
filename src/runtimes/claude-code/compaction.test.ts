import { expect, test } from "bun:test";
import { reserveOf } from "./compaction.ts";

test.each<[version: string, reserve: number | undefined]>([
  ["1.0.128", 45_000],
  ["2.0.76", 45_000],
  ["2.1.20", 45_000],
  ["2.1.21", 33_000],
  ["2.1.325", 33_000],
  ["2.2.0", 33_000],
  ["3.0.0 (Claude Code)", 33_000],
  ["", undefined],
  ["next", undefined],
])("ANOM-3: version %p leaves %p tokens free", (version, reserve) => {
  expect(reserveOf(version).compactReserve).toBe(reserve);
});
