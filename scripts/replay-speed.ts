/**
 * How fast replay reads: repeats the sessions below a directory in a temporary one until there are so many megabytes, runs
 * the program over them, and says what it took: time, processor time, most memory. The sessions are whoever's runs it.
 * `node_modules/.bin/bun scripts/replay-speed.ts ~/.claude/projects 600`.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const [source = "", wanted = "600"] = process.argv.slice(2);
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
  (name) => /\.(?:jsonl|ndjson|json)$/.test(name) && statSync(join(source, name)).isFile(),
);
if (files.length === 0) throw new Error(`There are no sessions below ${source}.`);

const place = mkdtempSync(join(tmpdir(), "replay-speed-"));
try {
  let bytes = 0;
  for (let round = 0; bytes < Number(wanted) * 1_000_000; round += 1) {
    for (const name of files) {
      if (bytes >= Number(wanted) * 1_000_000) break;
      const to = join(place, String(round), name);
      mkdirSync(dirname(to), { recursive: true });
      cpSync(join(source, name), to);
      bytes += statSync(to).size;
    }
  }
  const began = performance.now();
  const program = join(import.meta.dir, "../src/main.ts");
  const child = Bun.spawn([process.execPath, program, "replay", "--traces", place], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const said = await child.stdout.text();
  await child.exited;
  const used = child.resourceUsage();
  console.log(said.split("\n").slice(0, 2).join("\n"));
  console.log(
    [
      `${Math.round(bytes / 1_000_000)} MB in ${((performance.now() - began) / 1000).toFixed(1)} s`,
      `${(Number(used?.cpuTime.user ?? 0) / 1_000_000).toFixed(1)} s of user time`,
      `${Math.round((used?.maxRSS ?? 0) / 1024 / 1024)} MB at most`,
    ].join(", "),
  );
} finally {
  rmSync(place, { recursive: true, force: true });
}
