import { expect, test } from "bun:test";
import { REFUSED } from "#domain/permit/hook-moments.ts";
import { errorClass } from "./error-class.ts";

const rows: [text: string, kind: string][] = [
  [`${REFUSED}README.md is outside your files`, "denied"],
  ["Permission to use Bash has been denied.", "denied"],
  ["[Request interrupted by user for tool use]", "interrupted"],
  ["Command timed out after 2m 0.0s", "timeout"],
  ["Exit code 1\nError: Cannot find module", "exit-1"],
  ["ENOENT: no such file or directory", "enoent"],
  ["sh: foo: command not found", "command-not-found"],
  ["TypeError: x is not a function", "typeerror"],
  ["File has not been read yet.", "error"],
];
test.each(rows)("HOOK-2: %j is the failure %s", (text, kind) => expect(errorClass(text)).toBe(kind));
