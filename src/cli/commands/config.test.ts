/** `overseer config` as a user meets it. */
import { describe, expect, test } from "bun:test";
import { parseConfig } from "#config/load.ts";
import { exampleYaml } from "#config/render.ts";
import type { World } from "#control/world.ts";
import { heardCall } from "../../../test/support/heard-call.ts";
import command from "./config.ts";

const path = ".overseer/config.yaml";
const text = "watch:\n  every: 10s\nchecks:\n  tests:\n    command: npm test\n";

async function run(name: string, given: { key?: string; json?: boolean; text?: string; world?: unknown } = {}) {
  const { key, json } = given;
  const { call, lines, values, remarks } = heardCall({ key, json });
  const subcommand = command.subcommands?.find((sub) => sub.name === name);
  await subcommand?.run?.(call, {
    loadConfig: async () => ({
      config: parseConfig(given.text ?? "", path),
      path,
      ...(given.text === undefined ? {} : { text: given.text }),
    }),
    world: async () => {
      if (given.world === undefined) throw new Error("looking needs no world");
      return given.world as World;
    },
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
    expect(shown.remarks).toEqual([`From ${path} and the defaults.`]);
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

describe("CONF-1: config get", () => {
  test("a key prints its value, and beside it whether that is the default", async () => {
    expect(await run("get", { key: "watch.every", text })).toMatchObject({ text: "10s", remarks: [] });
    const usual = await run("get", { key: "watch.every" });
    expect(usual).toMatchObject({ text: "30s", remarks: [expect.stringContaining("That is the default.")] });
  });

  test("how work lands is what is in effect, where the file leaves it open", async () => {
    const world = {
      config: async () => parseConfig("", path),
      root: { state: "/s" },
      files: { read: async () => undefined },
    };
    const shown = await run("get", { key: "landing.mode", world });
    expect(shown.text).toBe("review");
    expect(shown.remarks).toEqual([expect.stringMatching(/That is the default.*auto under `up --auto`/)]);
  });

  test("a group shows what is set, under the names that were chosen", async () => {
    expect((await run("get", { key: "checks", text })).text).toContain("checks.tests.command: npm test\n");
    expect((await run("get", { key: "checks", text })).text).not.toContain("<name>");
    expect((await run("get", { key: "checks.tests.timeout", text })).text).toBe("15m");
    expect(await run("get", { key: "checks" })).toMatchObject({ text: "", remarks: ["Nothing is set below checks."] });
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
      ].join("\n"),
    );
  });

  test("a group shows its keys, no key shows them all", async () => {
    expect((await run("explain", { key: "recovery.backoff" })).text).toContain("recovery.backoff.max: ");
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
