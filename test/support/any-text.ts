/**
 * Text of any code points, for properties that hold for whatever somebody writes. The same alphabet as fast-check's own
 * unit "binary" (everything but halves of surrogate pairs), which takes most of a second to build in every file that
 * asks for it; this one takes nothing.
 */
import fc from "fast-check";

const SURROGATES = 0xd800;
const HOW_MANY = 0x800;

/** One character; small numbers, so the plain ones, come up and are shrunk to first. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - HOW_MANY })
  .map((at) => String.fromCodePoint(at < SURROGATES ? at : at + HOW_MANY), placeOf);

/** Where it stands; what is not one whole character has no place, which is how fast-check wants it told. */
function placeOf(text: unknown): number {
  const point = typeof text === "string" ? text.codePointAt(0) : undefined;
  if (point === undefined || text !== String.fromCodePoint(point) || !text.isWellFormed()) {
    throw new Error("Not one character.");
  }
  return point < SURROGATES ? point : point - HOW_MANY;
}

export const anyText = (length: fc.ArrayConstraints = {}): fc.Arbitrary<string> =>
  fc.string({ ...length, unit: anyCharacter });
