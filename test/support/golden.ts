/** Texts that a person has read and found good. OVERSEER_TEST_GOLDEN=write keeps what the program says now. */
import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function expectGolden(name: string, text: string): void {
  const path = join(import.meta.dir, "../golden", name);
  if (process.env.OVERSEER_TEST_GOLDEN === "write") writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, "utf8"));
}
