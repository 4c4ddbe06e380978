/** CONF-2, SAFE-1: whatever stands where a file of the settings should be, reading it ends, and it is told. */
import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemFiles } from "#sys/files.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { makeSettingsReader } from "./settings-reader.ts";

const makePipe = (path: string) => void Bun.spawnSync(["mkfifo", path]);

test.each<[what: string, make: (path: string) => void, says: string]>([
  ["a pipe", makePipe, "is a pipe, a socket or a device"],
  ["a link to a device", (path) => symlinkSync("/dev/zero", path), "is a pipe, a socket or a device"],
  [
    "a link to a pipe",
    (path) => {
      makePipe(`${path}.pipe`);
      symlinkSync(`${path}.pipe`, path);
    },
    "is a pipe, a socket or a device",
  ],
  ["a link to itself", (path) => symlinkSync(path, path), "leads in a circle"],
  ["a link to nothing", (path) => symlinkSync("gone", path), "leads nowhere"],
  ["a directory", (path) => mkdirSync(path), "is a directory"],
  ["a file of a megabyte", (path) => writeFileSync(path, "x".repeat(1024 * 1024)), "is larger than 256 KB"],
])("CONF-2, SAFE-1: %s is a mistake in the settings", async (_what, make, says) => {
  const project = tempDir("settings-");
  const path = join(project, "plan-goal.md");
  make(path);
  const reading = makeSettingsReader(systemFiles(), { project }).read(path);
  await expect(reading).rejects.toMatchObject({ kind: "config", code: "CONFIG_NOT_A_FILE" });
  await expect(reading).rejects.toThrow(`plan-goal.md is `);
  await expect(reading).rejects.toThrow(says);
  await expect(reading).rejects.toMatchObject({ hint: expect.stringContaining("overseer config accept") });
});

test("CONF-2: a plain file is read, also by a link, and what is not there is not there", async () => {
  const project = tempDir("settings-");
  const reader = makeSettingsReader(systemFiles(), { project });
  writeFileSync(join(project, "a.md"), "text");
  symlinkSync("a.md", join(project, "b.md"));
  expect(await reader.read(join(project, "a.md"))).toBe("text");
  expect(await reader.read(join(project, "b.md"))).toBe("text");
  expect(await reader.read(join(project, "c.md"))).toBeUndefined();
  expect(await reader.read(join(project, "a.md/c.md"))).toBeUndefined();
});
