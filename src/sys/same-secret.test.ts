import { describe, expect, test } from "bun:test";
import { isSameSecret } from "./same-secret.ts";

describe("isSameSecret", () => {
  test.each([
    ["", "", true],
    ["a1", "a1", true],
    ["ä€", "ä€", true],
    ["a1", "a2", false],
    ["b1", "a1", false],
    ["a", "a1", false],
    ["a1", "a", false],
    ["", "a", false],
    ["a", "", false],
    ["a\0", "a", false],
    ["a", "a\0", false],
  ])("%j beside %j: %p", (shown, secret, same) => {
    expect(isSameSecret(shown, secret)).toBe(same);
  });
});
