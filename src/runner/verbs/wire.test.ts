import { expect, test } from "bun:test";
import fc from "fast-check";
import { encodeFrame, type FrameKind, FrameReader, readJob, readRefusal, readRequest } from "./wire.ts";

const kinds: readonly FrameKind[] = ["taken", "alive", "out", "err", "exit"];

test("frames come out as they were put in, however the bytes are cut", () => {
  const frame = fc.record({ kind: fc.constantFrom(...kinds), bytes: fc.uint8Array({ maxLength: 40 }) });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(20), { minLength: 1 }), (frames, cuts) => {
      const all = Buffer.concat(frames.map(({ kind, bytes }) => encodeFrame(kind, bytes)));
      const reader = new FrameReader();
      const back = [];
      for (let at = 0, turn = 0; at < all.length; turn += 1) {
        const next = at + 1 + (cuts[turn % cuts.length] ?? 0);
        back.push(...reader.take(new Uint8Array(all.subarray(at, next))));
        at = next;
      }
      expect(back.map(({ kind, bytes }) => ({ kind, bytes: [...bytes] }))).toEqual(
        frames.map(({ kind, bytes }) => ({ kind, bytes: [...bytes] })),
      );
    }),
  );
});

test("a frame of a kind that is not known yet is passed over", () => {
  const later = encodeFrame("out", new Uint8Array([1, 2]));
  later[0] = 99;
  const known = encodeFrame("exit", new Uint8Array([48]));
  expect(new FrameReader().take(Buffer.concat([later, known])).map(({ kind }) => kind)).toEqual(["exit"]);
});

const whole = { v: 1, salt: "s", until: 1, attempt: 1, words: ["status"], cwd: "/", colour: false, width: 80 };

test.each([
  ["", undefined],
  ["null", undefined],
  ["[]", undefined],
  [JSON.stringify({ ...whole, v: 2 }), undefined],
  [JSON.stringify({ ...whole, words: "status" }), undefined],
  [JSON.stringify({ ...whole, words: [1] }), undefined],
  [JSON.stringify({ ...whole, cwd: "elsewhere" }), undefined],
  [JSON.stringify({ ...whole, inputs: { "-": 1 } }), undefined],
  [JSON.stringify({ ...whole, until: "soon" }), undefined],
  [JSON.stringify(whole), "s"],
])("a request that says %p is read as one: %p", (text, salt) => {
  expect(readRequest(text)?.salt).toBe(salt as string);
});

test("a job and a refusal are read only when they are whole", () => {
  expect(readJob('{"v":1,"key":"k","words":["status"]}')?.key).toBe("k");
  expect(readJob('{"v":1,"words":["status"]}')).toBeUndefined();
  expect(readJob("garbage")).toBeUndefined();
  expect(readRefusal('{"kind":"conflict","code":"C","message":"m","hint":"h"}')?.code).toBe("C");
  expect(readRefusal("<html>")).toBeUndefined();
});
