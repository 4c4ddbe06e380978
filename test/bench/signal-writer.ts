/**
 * One of many that write signals at once: opens the database, says "ready", waits for a line, writes, and prints how
 * many milliseconds of CPU it took. `log` writes through the signal log, `raw` inserts the same rows with nothing around.
 *
 * bun test/bench/signal-writer.ts <database> <attempt> <log|raw> <count> <ms between two>
 */
import { Database } from "bun:sqlite";
import type { Signal } from "#domain/signals/signal.ts";
import { openSignalLog } from "#store/open.ts";

const [path = "", attemptText = "", kind = "", count = "", pause = ""] = Bun.argv.slice(2);
const attempt = Number(attemptText);
const write = kind === "raw" ? rawWriter() : logWriter();
console.log("ready");
for await (const _line of console) break;
const before = process.cpuUsage();
const begun = performance.now();
for (let number = 0; number < Number(count); number += 1) {
  // By the clock, not after the last: whoever falls behind catches up, and the rate is what was asked for.
  const early = begun + number * Number(pause) - performance.now();
  if (early > 0) await Bun.sleep(early);
  write(number);
}
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);

function signal(number: number): Signal {
  const data = { tool: "Bash", ok: true, errorClass: null, ms: 12, result: `line ${number} of what a test printed\n` };
  return { kind: "tool.ended", source: `t-${number}`, phase: "end", at: Date.now(), data };
}

function logWriter(): (number: number) => void {
  const log = openSignalLog(path);
  return (number) => {
    if (!log.record(attempt, `agent-${attempt}`, [signal(number)])) throw new Error("fenced");
  };
}

function rawWriter(): (number: number) => void {
  const db = new Database(path, { readwrite: true });
  db.run("pragma busy_timeout = 15000");
  db.run("pragma synchronous = normal");
  const insert = db.query(
    "insert into signals (attempt, source, phase, at, kind, data) values (?1, ?2, ?3, ?4, ?5, ?6)",
  );
  return (number) => {
    const { source, phase, at, kind: what, data } = signal(number);
    insert.run(attempt, source, phase, at, what, JSON.stringify(data));
  };
}
