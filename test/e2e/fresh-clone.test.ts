/**
 * What the README promises first, as a newcomer would find out: a fresh clone, an empty HOME, its first command and nothing
 * else. In the long lane `npm ci` fetches everything again; otherwise what this clone has installed stands in for the
 * network, without what only development needs, and the rest is the same. What the demo shows is looked at in demo.test.ts.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isLongLane } from "../support/scale.ts";
import { gitIn, tempDir } from "../support/temp.ts";

setDefaultTimeout(900_000);

const ROOT = join(import.meta.dir, "../..");

/** What would be committed now, as a repository of its own. */
function committed(): string {
  const repo = tempDir("fresh-");
  const files = gitIn(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0").filter(Boolean);
  for (const file of files) if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(repo, file));
  gitIn(repo, "init", "--quiet");
  gitIn(repo, "add", "--all");
  gitIn(repo, "commit", "--quiet", "--message", "All of it");
  return repo;
}

/** What `npm ci --omit=dev` installs, by the lock file: what only development needs is not there. */
function withoutDevelopment(): string {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const modules = join(tempDir("prod-"), "node_modules");
  const needed = Object.entries(packages).filter(
    // What lies inside of another package comes with it.
    ([path, { dev }]) =>
      path !== "" && dev !== true && !path.includes("/node_modules/") && existsSync(join(ROOT, path)),
  );
  for (const [path] of needed) {
    const place = join(modules, "..", path);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(ROOT, path), place);
  }
  expect(existsSync(join(modules, "bun"))).toBe(true);
  for (const name of ["typescript", "@biomejs", "@anthropic-ai"]) expect(existsSync(join(modules, name))).toBe(false);
  return modules;
}

/** A PATH on which `npm ci --omit=dev` brings what is installed here of it, and then does what npm does next. */
function withoutNetwork(): string {
  const bin = tempDir("bin-");
  const npm = `#!/bin/sh\n[ "$*" = 'ci --omit=dev' ] && ln -s '${withoutDevelopment()}' node_modules && exec sh scripts/bundle.sh\n`;
  writeFileSync(join(bin, "npm"), npm);
  chmodSync(join(bin, "npm"), 0o755);
  return `${bin}:${process.env.PATH}`;
}

test("DEMO-1: in a fresh clone with an empty HOME the README's first command ends with a finished demo", async () => {
  const argv = ["sh", join(committed(), "scripts/fresh-clone.sh"), "demo"];
  const env = { ...process.env, ...(isLongLane() ? {} : { PATH: withoutNetwork() }) };
  const child = Bun.spawn(argv, { cwd: ROOT, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ code, said: stdout + stderr }).toEqual({
    code: 0,
    said: expect.stringMatching(/The goal is reached[\s\S]*The README's first command held/),
  });
});

test("the script for a fresh clone takes its commands from the README, word for word", () => {
  const block = /## Two commands[\s\S]*?```sh\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8"))?.[1];
  const script = readFileSync(join(ROOT, "scripts/fresh-clone.sh"), "utf8");
  const [, reading = ""] = /^(sed -n .*) >"\$place\/commands"$/m.exec(script) ?? [];
  const read = Bun.spawnSync(["sh", "-c", reading], { cwd: ROOT });
  expect(read.stdout.toString()).toBe(block?.replace(/ *#.*/g, "") ?? "no such block");
});
