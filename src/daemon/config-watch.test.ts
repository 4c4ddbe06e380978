import { expect, test } from "bun:test";
import type { Settings } from "#act/settings/settings.ts";
import { parseConfig } from "#config/load.ts";
import { readingTexts } from "#config/settings-files.ts";
import { type Hold, holdForGone } from "#domain/health/settings.ts";
import { ConfigWatch } from "./config-watch.ts";

const GROUND = { project: "/r", userDir: "/r/.overseer" };

function watched(first: string) {
  let [text, hold] = [first, null as Hold | null];
  let kept = 0;
  const settings = (): Settings => ({
    config: parseConfig(text, "c.yaml"),
    files: readingTexts({ "c.yaml": text }, GROUND),
    hold,
    keep: async () => {
      kept += 1;
    },
  });
  const watch = new ConfigWatch(settings(), async () => settings());
  const write = (next: string, held: Hold | null = null) => {
    [text, hold] = [next, held];
  };
  return { watch, write, kept: () => kept };
}

test("CONF-2: an untouched file is no news", async () => {
  const { watch } = watched("agents: {maxConcurrent: 3}\n");
  expect(await watch.look()).toEqual({ kind: "same" });
});

test("CONF-2: a valid change takes effect once, with what differs, and is confirmed by that", async () => {
  const { watch, write, kept } = watched("");
  write("agents: {maxConcurrent: 3}\n");
  expect(await watch.look()).toMatchObject({
    kind: "changed",
    changes: [{ key: "agents.maxConcurrent", from: 5, to: 3 }],
  });
  expect(watch.current.agents.maxConcurrent).toBe(3);
  expect(kept()).toBe(1);
  expect(await watch.look()).toEqual({ kind: "same" });
});

test("CONF-2: an invalid one is told once and keeps the old; fixing it ends the problem", async () => {
  const { watch, write } = watched("agents: {maxConcurrent: 3}\n");
  write("agents: {maxConcurent: 4}\n");
  expect(await watch.look()).toMatchObject({ kind: "refused", because: "not-valid" });
  expect(await watch.look()).toEqual({ kind: "same" });
  expect(watch.problem).toContain("maxConcurent");
  expect(watch.current.agents.maxConcurrent).toBe(3);
  write("agents: {maxConcurrent: 3}\n# as before\n");
  expect(await watch.look()).toEqual({ kind: "same" });
  expect(watch.problem).toBeNull();
});

test("CONF-2: while a file is away the settings before it stay in effect, told once; back again, it has ended", async () => {
  const { watch, write, kept } = watched("agents: {maxConcurrent: 3}\n");
  write("", holdForGone([{ name: ".overseer/config.yaml", how: "missing" }]));
  expect(await watch.look()).toMatchObject({ kind: "refused", because: "away" });
  expect(await watch.look()).toEqual({ kind: "same" });
  expect(watch.hold?.code).toBe("CONFIG_AWAY");
  expect((await watch.settingsNow()).hold?.code).toBe("CONFIG_AWAY");
  expect(watch.current.agents.maxConcurrent).toBe(3);
  expect(kept()).toBe(0);
  write("agents: {maxConcurrent: 3}\n");
  expect(await watch.look()).toEqual({ kind: "same" });
  expect(watch.hold).toBeNull();
});

test("CONF-2, MERGE-1: who asks between two looks is answered by the file as it is, and the change is told all the same", async () => {
  const { watch, write } = watched("agents: {maxConcurrent: 3}\n");
  write("", holdForGone([{ name: ".overseer/config.yaml", how: "missing" }]));
  expect((await watch.settingsNow()).hold?.code).toBe("CONFIG_AWAY");
  expect(await watch.look()).toMatchObject({ kind: "refused", because: "away" });
  write("agents: {maxConcurrent: 4}\n");
  expect(await watch.settingsNow()).toMatchObject({ hold: null, config: { agents: { maxConcurrent: 4 } } });
  expect(watch.current.agents.maxConcurrent).toBe(4);
  expect(await watch.look()).toMatchObject({ kind: "changed", changes: [{ key: "agents.maxConcurrent" }] });
  expect(await watch.look()).toEqual({ kind: "same" });
});
