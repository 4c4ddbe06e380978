import { expect, test } from "bun:test";
import { valueKeys } from "./keys.ts";
import { parseConfig } from "./load.ts";
import { isCommandKey, whatItDoes } from "./what-it-does.ts";

test("ISO-1: every key that speaks of a command or a program to start is shown as one", () => {
  const speaks = valueKeys().filter(({ description }) => /\b(command|program)s?\b/i.test(description));
  const about = /\.(timeout|setupTimeout|taskPoolTimeout|postAcceptTimeout|protected|hooks)$/;
  const missed = speaks.filter(({ name }) => !about.test(name) && !isCommandKey(name.replace("<name>", "x")));
  expect(missed.map(({ name }) => name)).toEqual([]);
  expect(speaks.length).toBeGreaterThan(7);
});

test("ISO-1: nothing that differs from the defaults is left out, and each stands once", () => {
  const config = parseConfig(
    'checks: {a: {command: "rm -rf /"}}\nagents: {passEnv: [TOKEN], maxConcurrent: 9}\nlanding: {mode: auto}\n',
    "c.yaml",
  );
  const hooks = [{ event: "PreToolUse", matcher: null, command: "sh own.sh", timeoutSeconds: null }] as const;
  const shown = whatItDoes({ config, texts: { "a.md": "x\ny" }, roles: [], hooks, definitions: ["a.md"] });
  expect(shown).toEqual({
    runs: [
      { where: "checks.a.command", what: "rm -rf /" },
      { where: ".overseer/hooks.yaml PreToolUse", what: "sh own.sh" },
    ],
    permits: [
      { where: "agents.passEnv", what: '["TOKEN"]' },
      { where: "landing.mode", what: "auto" },
    ],
    tells: [{ where: "a.md", what: "2 lines" }],
    sets: [{ where: "agents.maxConcurrent", what: "9" }],
  });
});
