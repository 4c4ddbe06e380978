import { expect, test } from "bun:test";
import { isAllowedElsewhere } from "./steered-elsewhere.ts";

test.each<[string, readonly string[], boolean]>([
  ["an empty list", [], false],
  ["its name", ["ada"], true],
  ["everybody", ["*"], true],
  ["its name where it reports", ["one/ada"], true],
  ["its name elsewhere", ["two/ada"], false],
  ["all that report there", ["one/*"], true],
  ["a part of its name", ["ad"], false],
  ["another one", ["bob", "two/*"], false],
])("POL-1: whom the allowlist lets an overseer steer elsewhere: %s", (_what, allowed, expected) => {
  expect(isAllowedElsewhere(allowed, "one", "ada")).toBe(expected);
});
