/**
 * `npm run bench`: measures the rows of the speed table that exist so far, prints them, and adds them to
 * bench/history.ndjson. `-- --only <name>` takes those whose name begins so, `--quick` fewer turns, `--keep` writes no
 * history. It judges but never fails: a busy machine is no broken build. Nothing about the machine is recorded but its
 * number of cores and its load.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { version as product } from "../../package.json" with { type: "json" };
import { decides } from "./decide.ts";
import { twenty } from "./fleet.ts";
import { hooks } from "./hook.ts";
import { idle } from "./idle.ts";
import { landing } from "./landing.ts";
import { mail } from "./mail.ts";
import { rebuilds } from "./rebuild.ts";
import { reflex } from "./reflex.ts";
import { restart } from "./restart.ts";
import type { Measured, Row } from "./row.ts";
import { status, version } from "./start.ts";
import { writers } from "./writers.ts";

const ROWS: readonly Row[] = [
  version,
  status,
  twenty,
  writers,
  ...decides,
  ...rebuilds,
  ...hooks,
  reflex,
  ...mail,
  ...landing,
  ...idle,
  restart,
];
const HISTORY = join(import.meta.dir, "../../bench/history.ndjson");

const words = Bun.argv.slice(2);
const only = words.includes("--only") ? (words[words.indexOf("--only") + 1] ?? "") : "";
const quick = words.includes("--quick");
const rows = ROWS.filter((row) => row.name.startsWith(only));
if (rows.length === 0) {
  console.error(`No row begins with "${only}". There are: ${ROWS.map((row) => row.name).join(", ")}`);
  process.exit(2);
}

const load = () => (loadavg()[0] ?? 0).toFixed(2);
console.log(`${availableParallelism()} cores, load ${load()}; CPU time, medians of alternating turns`);
const scratch = mkdtempSync(join(tmpdir(), "ov-bench-"));
try {
  for (const row of rows) show(row, await row.measure({ quick, scratch }));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`load at the end ${load()}`);

function show(row: Row, { workMs, floorMs, turns, note }: Measured): void {
  const ratio = workMs / floorMs;
  const verdict = ratio <= row.aim ? "holds" : "TOO SLOW";
  const times = (number: number) => `${number.toFixed(2)} ×`;
  console.log(
    [
      verdict.padEnd(9),
      row.work.padEnd(46),
      `${times(ratio)} of ${row.floor}`,
      `(aim ≤ ${row.aim} ×; ${workMs.toFixed(1)} ms to ${floorMs.toFixed(1)} ms, ${turns} turns${note ? `, ${note}` : ""})`,
    ].join(" "),
  );
  if (words.includes("--keep")) return;
  mkdirSync(join(HISTORY, ".."), { recursive: true });
  const { name, aim } = row;
  const cores = availableParallelism();
  const record = {
    at: new Date().toISOString(),
    product,
    bun: Bun.version,
    cores,
    load: Number(load()),
    name,
    aim,
    ratio: Number(ratio.toFixed(3)),
    quick,
  };
  appendFileSync(HISTORY, `${JSON.stringify(record)}\n`);
}
