import { expect, test } from "bun:test";
import { asksRunner, isLetFinish, isReport, isWaiting, listOwnInputs, needsRunner } from "./verbs.ts";

const split = (text: string) => text.split(" ").filter(Boolean);

test.each([
  ["status", true],
  ["mail check --inject", true],
  ["work report --status done", true],
  ["goal create x", true],
  ["--json status", true],
  ["config show", true],
  ["nonsense", true],
  ["", false],
  ["help", false],
  ["help work", false],
  ["work report --help", false],
  ["mail -h", false],
  ["--version", false],
  ["mail --help --json", false],
  ["mail -h list", false],
  ["ask -- --help", true],
  ["--root . help", false],
  ["--json --version", false],
  ["--json", false],
  ["--root . --json status", true],
  ["--root=. goal create x", true],
  ["--root help status", true],
  ["completions bash", false],
  ["config schema", false],
  ["config explain", false],
  ["--json config explain guard", false],
  ["config accept", true],
  ["config example", false],
  ["hook Stop", false],
  ["log Stop", false],
  ["__job", false],
])("'overseer %s' is carried out by the runner: %p", (text, expected) => {
  expect(needsRunner(split(text))).toBe(expected);
});

test.each([
  [{ OVERSEER_ATTEMPT: "3", OVERSEER_SOCKET: "/s" }, true],
  [{ OVERSEER_ATTEMPT: "3" }, false],
  [{ OVERSEER_SOCKET: "/s" }, false],
  [{ OVERSEER_ATTEMPT: "0", OVERSEER_SOCKET: "/s" }, false],
  [{ OVERSEER_ATTEMPT: "-1", OVERSEER_SOCKET: "/s" }, false],
  [{ OVERSEER_ATTEMPT: "1e3", OVERSEER_SOCKET: "/s" }, false],
  [{ OVERSEER_ATTEMPT: "3", OVERSEER_SOCKET: "" }, false],
])("an environment of %p asks a runner: %p", (env, expected) => {
  expect(asksRunner(["status"], env)).toBe(expected);
});

test("what waits, what is let finish and what is a report are known by their words", () => {
  expect(
    ["mail send --wait", "events --follow", "peek a -f", "status -w"].map((text) => isWaiting(split(text))),
  ).toEqual([true, true, true, true]);
  expect(["mail send --body wait", "status"].map((text) => isWaiting(split(text)))).toEqual([false, false]);
  expect(
    ["sling x", "ask y", "--json work report", "--root x work report", "mail send"].every((text) =>
      isLetFinish(split(text)),
    ),
  ).toBe(true);
  expect(["status", "events", "work list"].some((text) => isLetFinish(split(text)))).toBe(false);
  expect(
    ["ask y", "work report a", "--root /x work report", "--root=x ask y"].every((text) => isReport(split(text))),
  ).toBe(true);
  expect(["mail send", "work show", "sling", "--root ask status"].some((text) => isReport(split(text)))).toBe(false);
});

test.each([
  ["mail send --file -", ["-"]],
  ["work report --json-file=-", ["-"]],
  ["mail send --file /dev/stdin", ["/dev/stdin"]],
  ["goal create --plan=/dev/fd/63 --file /proc/self/fd/0", ["/dev/fd/63", "/proc/self/fd/0"]],
  ["--json mail reply m_1 --file=-", ["-"]],
  ["--root x work report --json-file - --status done", ["-"]],
  ["sling g_1/W_1 --spec -", ["-"]],
  ["ask a-", []],
  ["ask -", []],
  ["ask Which --option -", []],
  ["work report --next - --file -", []],
  ["mail send --subject=- --body -", []],
  ["mail send -- --file -", []],
  ["mail send --file", []],
  ["status -", []],
  ["mail send --file /dev/stdin2 --body /proc/self/fd", []],
])("RPC-2: 'overseer %s' reads what only its caller can: %p", (text, paths) => {
  expect(listOwnInputs(split(text))).toEqual(paths);
});
