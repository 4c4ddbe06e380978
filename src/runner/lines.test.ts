/** Lines out of any stream of bytes. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../test/support/scale.ts";
import { LONGEST_LINE, lines } from "./lines.ts";

async function taken(chunks: readonly Uint8Array[]): Promise<string[]> {
  const seen: string[] = [];
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  await lines(stream, (line) => seen.push(line));
  return seen;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const rows: [why: string, text: string, seen: string[]][] = [
  ["nothing", "", []],
  ["one line", "a\n", ["a"]],
  ["a last line without its newline", "a\nb", ["a", "b"]],
  ["an empty line is a line", "\n\na\n", ["", "", "a"]],
  ["half a line at the very end is still told", '{"type":"res', ['{"type":"res']],
];
test.each(rows)("RUN-1: %s", async (_why, text, seen) => {
  expect(await taken([bytes(text)])).toEqual(seen);
});

test("RUN-1: where the chunks are cut makes no difference, also inside a character", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.array(fc.nat(40)), async (text, cuts) => {
      const whole = bytes(text);
      const chunks: Uint8Array[] = [];
      let from = 0;
      for (const cut of cuts) {
        chunks.push(whole.slice(from, from + cut));
        from += cut;
      }
      chunks.push(whole.slice(from));
      expect(await taken(chunks)).toEqual(await taken([whole]));
    }),
    { numRuns: scaled(100) },
  );
});

test("RUN-1: bytes that are no text do no harm, and a line without end is kept to its beginning", async () => {
  expect(await taken([new Uint8Array([0xff, 0xfe, 10, 0xc3])])).toEqual(["��", "�"]);
  const chunk = new Uint8Array(4 * 1024 * 1024).fill(120);
  const [long, next] = await taken([...Array.from({ length: 9 }, () => chunk), bytes("\nnext\n")]);
  expect(long?.length).toBe(LONGEST_LINE);
  expect(next).toBe("next");
});
