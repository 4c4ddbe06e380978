import { expect, test } from "bun:test";
import fc from "fast-check";
import { readLines } from "./stream.ts";

async function linesIn(bytes: Uint8Array, cuts: readonly number[]): Promise<string[]> {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const [index, from] of places.slice(0, -1).entries())
        controller.enqueue(bytes.slice(from, places[index + 1]));
      controller.close();
    },
  });
  return Array.fromAsync(readLines(stream));
}

test("RUN-1: lines are the same however the bytes arrive, with or without a last newline", async () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => JSON.stringify({ text }));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.boolean(), fc.array(fc.nat()), async (lines, ends, cuts) => {
      const text = lines.join("\n") + (ends ? "\n" : "");
      expect(await linesIn(new TextEncoder().encode(text), cuts)).toEqual(lines);
    }),
  );
});

test("empty lines and carriage returns are no lines of their own", async () => {
  expect(await linesIn(new TextEncoder().encode('\n\r\n{"a":1}\r\n\n'), [])).toEqual(['{"a":1}']);
});
