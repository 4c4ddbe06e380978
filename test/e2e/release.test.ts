/**
 * What is given away works where nothing of us is: the single binary, copied alone into an empty directory, shows the
 * whole demo; and the package installs from its archive into an empty prefix. Without network the second cannot fetch
 * Bun, so the one of this clone is put beside it, where npm would put it.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundled } from "../support/cli.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

setDefaultTimeout(240_000);
beforeAll(bundled);

const ROOT = join(import.meta.dir, "../..");

async function ran(argv: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(argv, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

const demosLeft = () => readdirSync(tmpdir()).filter((name) => name.startsWith("overseer-demo-"));

test("DEMO-1: the single binary, alone in an empty directory, runs the demo", async () => {
  const made = join(tempDir("build-"), "overseer");
  await ran(["sh", join(ROOT, "scripts/build.sh"), made], ROOT);
  const empty = tempDir("alone-");
  copyFileSync(made, join(empty, "overseer"));
  const said = await ran([join(empty, "overseer"), "demo", "--headless", "--speed", "10"], empty);
  expect(said).toContain("The goal is reached.");
  expect(readdirSync(empty)).toEqual(["overseer"]);
  expect(demosLeft()).toEqual([]);
});

test("the package, unpacked into an empty prefix, runs from there", async () => {
  const place = tempDir("pack-");
  const archive = (
    await ran(["npm", "pack", "--ignore-scripts", "--pack-destination", place, "--silent"], ROOT)
  ).trim();
  const prefix = join(place, "node_modules/overseer");
  mkdirSync(prefix, { recursive: true });
  await ran(["tar", "-xzf", join(place, archive), "-C", prefix, "--strip-components=1"], place);
  for (const name of ["bun", "yaml", "zod"])
    symlinkSync(join(ROOT, "node_modules", name), join(place, "node_modules", name));
  expect(existsSync(join(prefix, "dist/overseer.js"))).toBe(true);
  expect(await ran([join(prefix, "bin/overseer"), "--help"], place)).toContain("demo");
  const repo = tempRepo();
  await ran([join(prefix, "bin/overseer"), "init"], repo.path);
  expect(await ran([join(prefix, "bin/overseer"), "status"], repo.path)).toContain("No goals yet");
});
