/** `overseer config` as a user meets it. */
import { describe, expect, test } from "bun:test";
import type { Call } from "#cli/command.ts";
import { parseConfig } from "#config/load.ts";
import { exampleYaml } from "#config/render.ts";
import command from "./config.ts";

const path = ".overseer/config.yaml";
const text = "watch:\n  every: 10s\nchecks:\n  tests:\n    command: npm test\n";

async function run(name: string, given: { key?: string; json?: boolean; text?: string } = {}) {
  const lines: string[] = [];
  const values: unknown[] = [];
  const remarks: string[] = [];
  const call: Call = {
    arg: () => given.key ?? "",
    optionalArg: () => given.key,
    restArgs: () => [],
    text: () => undefined,
    list: () => [],
    has: () => false,
    number: () => undefined,
    json: given.json ?? false,
    out: {
      line: (line = "") => lines.push(line),
      json: (value) => values.push(value),
      remark: (remark) => remarks.push(remark),
      colour: false,
      width: 80,
      interactive: false,
    },
  };
  const subcommand = command.subcommands?.find((sub) => sub.name === name);
  await subcommand?.run?.(call, {
    loadConfig: async () => ({
      config: parseConfig(given.text ?? "", path),
      path,
      ...(given.text === undefined ? {} : { text: given.text }),
    }),
    acceptSettings: async () => ({ isNew: false, gone: [], changed: [], brought: [] }),
  });
  return { text: lines.join("\n"), values, remarks };
}

describe("config show", () => {
  test("prints every key as YAML and marks what differs", async () => {
    const shown = await run("show", { text });
    expect(shown.text).toContain("  every: 10s # default: 30s");
    expect(shown.text).toContain("    command: npm test\n");
    expect(shown.text).toContain("  tickEvery: 2m\n");
    expect(parseConfig(shown.text, path)).toEqual(parseConfig(text, path));
    expect(shown.remarks).toEqual([
      `From ${path} and the defaults.`,
      "watch.every changes nothing: the regular health check is not built yet.",
    ]);
  });

  test("without a file it says that these are the defaults", async () => {
    const shown = await run("show");
    expect(shown.remarks).toEqual([`There is no ${path}: these are the defaults.`]);
    expect(shown.text).not.toContain("# default");
  });

  test("--json is one object with the changed keys listed", async () => {
    const { values, text: nothing } = await run("show", { text, json: true });
    expect(nothing).toBe("");
    expect(values).toHaveLength(1);
    expect(values[0]).toMatchObject({
      path,
      exists: true,
      changed: [
        { key: "checks.tests.command", value: "npm test" },
        { key: "watch.every", value: "10s", default: "30s" },
      ],
      config: { watch: { every: "10s" } },
    });
  });
});

describe("config explain", () => {
  test("one key", async () => {
    expect((await run("explain", { key: "watch.every", text })).text).toBe(
      [
        "watch.every: How often every agent is checked when no signal asks for it earlier.",
        "  value   10s (config.yaml)",
        "  default 30s",
        "  takes   a duration such as 500ms, 2m or 1h30m",
        "  allowed at least 100ms",
        "  note    Not built yet: it belongs to the regular health check, and setting it changes nothing.",
      ].join("\n"),
    );
  });

  test("a group shows its keys, no key shows them all", async () => {
    expect((await run("explain", { key: "reconcile.backoff" })).text).toContain("reconcile.backoff.max: ");
    expect((await run("explain")).text.split("\n").length).toBeGreaterThan(100);
  });

  test("a key that must be given says so", async () => {
    expect((await run("explain", { key: "checks.<name>.command" })).text).toContain("default none, it must be given");
  });

  test("an unknown key is not found", () => {
    expect(run("explain", { key: "watch.evry" })).rejects.toMatchObject({ kind: "not-found", exitCode: 3 });
  });

  test("--json is the explanation itself", async () => {
    expect((await run("explain", { key: "terminal", json: true })).values).toMatchObject([
      { key: "terminal", value: "auto" },
    ]);
  });
});

test("config schema prints the JSON Schema", async () => {
  expect((await run("schema")).values).toMatchObject([{ type: "object", additionalProperties: false }]);
});

test("config example prints the documented file", async () => {
  expect(`${(await run("example")).text}\n`).toBe(exampleYaml());
});
