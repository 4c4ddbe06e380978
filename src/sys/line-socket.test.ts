import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../test/support/any-text.ts";
import { LineReader, LineWriter } from "./line-socket.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("reading", () => {
  test("whatever the pieces, the lines are the same", () => {
    fc.assert(
      fc.property(fc.array(anyText()), fc.integer({ min: 1, max: 7 }), (texts, size) => {
        const lines = texts.map((text) => text.replaceAll("\n", " ").replaceAll("\ufeff", " "));
        const all = bytes(lines.map((line) => `${line}\n`).join(""));
        const reader = new LineReader();
        const read: string[] = [];
        for (let at = 0; at < all.length; at += size) read.push(...reader.take(all.subarray(at, at + size)));
        expect(read).toEqual(lines.map((line) => new TextDecoder().decode(bytes(line))));
      }),
    );
  });

  test("a line without an end is refused before it fills the memory", () => {
    const reader = new LineReader(10);
    expect(reader.take(bytes("short\n123"))).toEqual(["short"]);
    expect(() => reader.take(bytes("45678901"))).toThrow(RangeError);
  });
});

describe("writing", () => {
  test("what the socket does not take waits, in order, and is counted", () => {
    let room = 5;
    let arrived = "";
    const writer = new LineWriter({
      write(data) {
        const text = new TextDecoder().decode(data as Uint8Array).slice(0, room);
        room -= text.length;
        arrived += text;
        return text.length;
      },
    });
    writer.line({ a: 1 });
    writer.line({ b: 2 });
    expect({ arrived, backlog: writer.backlog }).toEqual({ arrived: '{"a":', backlog: 11 });
    room = 100;
    writer.flush();
    expect({ arrived, backlog: writer.backlog }).toEqual({ arrived: '{"a":1}\n{"b":2}\n', backlog: 0 });
  });

  test("a closed socket takes nothing, and that is no error", () => {
    const writer = new LineWriter({ write: () => -1 });
    writer.line("x");
    expect(writer.backlog).toBe(4);
  });
});
