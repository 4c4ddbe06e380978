import { expect, test } from "bun:test";
import { refuseToAgents } from "./seat-belt.ts";

const cases: [command: string, sub: string, allowed: boolean][] = [
  ["status", "", true],
  ["work", "show", true],
  ["work", "report", true],
  ["work", "done", false],
  ["work", "cancel", false],
  ["goal", "list", true],
  ["goal", "cancel", false],
  ["sling", "", true],
  ["stop", "", false],
  ["nuke", "", false],
  ["doctor", "", false],
  ["store", "import", false],
  ["worktree", "clean", false],
  ["init", "", false],
  ["config", "get", true],
  ["config", "set", false],
  ["config", "edit", false],
];

test.each(cases)("POL-1: an agent that runs `overseer %s %s` is allowed: %p", (command, sub, allowed) => {
  expect(refuseToAgents(command, sub) === undefined).toBe(allowed);
});
