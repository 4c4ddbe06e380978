/**
 * What the README promises first, as a newcomer would find out: a fresh clone, an empty HOME, its first command and nothing
 * else. `npm ci` fetches everything anew, so this is for the long lane; the demo itself is in demo.test.ts, and that the
 * script reads the right block of the README is looked at here in every lane.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isLongLane } from "../support/scale.ts";

setDefaultTimeout(900_000);

const ROOT = join(import.meta.dir, "../..");

if (isLongLane()) {
  test("DEMO-1: in a fresh clone with an empty HOME the README's first command ends with a finished demo", async () => {
    const argv = ["sh", join(ROOT, "scripts/fresh-clone.sh"), "demo"];
    const child = Bun.spawn(argv, { cwd: ROOT, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect({ code, said: stdout + stderr }).toEqual({
      code: 0,
      said: expect.stringMatching(/The goal is reached[\s\S]*The README's first command held/),
    });
  });
}

test("the script for a fresh clone takes its commands from the README, word for word", () => {
  const block = /## Two commands[\s\S]*?```sh\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8"))?.[1];
  const script = readFileSync(join(ROOT, "scripts/fresh-clone.sh"), "utf8");
  const [, reading = ""] = /^(sed -n .*) >"\$place\/commands"$/m.exec(script) ?? [];
  const read = Bun.spawnSync(["sh", "-c", reading], { cwd: ROOT });
  expect(read.stdout.toString()).toBe(block?.replace(/ *#.*/g, "") ?? "no such block");
});
