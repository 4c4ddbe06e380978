/**
 * `npm run bench`: measures the rows of the speed table (aims.ts), prints each with aim, floor, figure and verdict, says
 * why those that fall short do, and adds the run to bench/history.ndjson. It judges but never fails for being slow: a
 * busy machine is no broken build. A row that cannot be measured is an error. Nothing about the machine is recorded but
 * its cores, its memory and its load.
 */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { version as product } from "../../package.json" with { type: "json" };
import { ROWS, type RowName, type RowOf } from "./aims.ts";
import { clearAfterwards } from "./clear.ts";
import { type Run, runForThePage, runsIn } from "./history.ts";
import { makeFresh } from "./made.ts";
import { MEASURES } from "./measures.ts";
import { compare, comparedText, oursBeside } from "./peer.ts";
import type { Measured, Options } from "./row.ts";
import { benchmarksPage, explanations, terminalTable } from "./table.ts";
import { disturbance, type Result, resultOf, tally } from "./verdict.ts";

const project = join(import.meta.dir, "../..");
const HISTORY = join(project, "bench/history.ndjson");
const PAGE = join(project, "docs/benchmarks.md");
/** A whole run waits so long for a machine that has been busy until now. */
const SETTLE_S = 180;
/** A row that ignores its limit for so long is given up. */
const GRACE_S = 60;

const USAGE = `npm run bench -- [--only <name or aim>] [--quick] [--json] [--keep] [--write]
                 [--peer '<command>' [--against '<words of ours>']]
  --only     rows whose names begin so, or of one aim: ${[...new Set(ROWS.map(({ of }) => of))].join(", ")}
  --quick    fewer turns, rougher figures
  --json     the run as data on stdout, everything else on stderr
  --keep     leave bench/history.ndjson as it is
  --write    make docs/benchmarks.md again from the history
  --peer     also a command of somebody else's, turn about with ours; --only peer: nothing else`;

const { values: asked } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    peer: { type: "string" },
    against: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const say = (line: string) => (asked.json ? console.error(line) : console.log(line));

if (asked.help) {
  console.log(USAGE);
  process.exit(0);
}
const rows: readonly RowOf<RowName>[] = ROWS.filter(
  ({ name, of }) => name.startsWith(asked.only ?? "") || of === asked.only,
);
const peerAlone = asked.peer !== undefined && asked.only === "peer";
if (rows.length === 0 && !peerAlone) {
  console.error(`No row begins with "${asked.only}". There are: ${ROWS.map(({ name }) => name).join(", ")}\n${USAGE}`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), "ov-bench-"));
let undone: (() => unknown)[] = [];
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, () => {
    console.error("Clearing away what was started.");
    clearAfterwards(scratch);
    process.exit(code);
  });
}
let failed = false;
try {
  if (!peerAlone) failed = await wholeTable();
  if (asked.peer !== undefined) besideAPeer(asked.peer);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

async function wholeTable(): Promise<boolean> {
  makeFresh(rows, say);
  const { quick } = asked;
  const [cores, memoryGb] = [availableParallelism(), Math.round(totalmem() / 2 ** 30)];
  if (rows.length === ROWS.length && !quick) await quietened(cores);
  const loadBefore = load();
  say(
    `${cores} cores, ${memoryGb} GB, Overseer ${product} on Bun ${Bun.version}, load ${loadBefore.toFixed(2)} before`,
  );
  const table = terminalTable(rows);
  say(table.head);
  const results: Result[] = [];
  for (const row of rows) {
    const result = resultOf(row, await measured(row, quick));
    results.push(result);
    say(table.line(row, result));
  }
  const loadAfter = load();
  const disturbed = disturbance({ cores, before: loadBefore, after: loadAfter });
  const complete = rows.length === ROWS.length;
  const at = new Date().toISOString();
  const machine = { cores, memoryGb, loadBefore, loadAfter, disturbed };
  const run: Run = { run: 1, at, product, bun: Bun.version, ...machine, quick, complete, rows: results };
  const why = explanations(rows, results);
  if (why.length > 0) say(`\n${why.join("\n")}`);
  say(`\n${tally(results)}; load ${loadAfter.toFixed(2)} after`);
  if (disturbed !== null) say(`DISTURBED: ${disturbed}. Take the figures as sizes, not as marks.`);
  if (asked.json) console.log(JSON.stringify(run));
  keep(run);
  return results.some(({ verdict }) => verdict === "failed");
}

/** Until the load has come down, for a while; whether it has is judged like every run. */
async function quietened(cores: number): Promise<void> {
  const until = performance.now() + SETTLE_S * 1000;
  const busy = () => disturbance({ cores, before: load(), after: 0 });
  if (busy() !== null) say(`load ${load().toFixed(2)}: waiting up to ${SETTLE_S} s for the machine to come to rest`);
  while (busy() !== null && performance.now() < until) await Bun.sleep(1_000);
}

/** What a row gives, or why it gave nothing; whatever it left running is ended. */
async function measured(row: RowOf<RowName>, quick: boolean): Promise<Measured | Error> {
  const place = join(scratch, row.of);
  mkdirSync(place, { recursive: true });
  const options = optionsOf(place, row.limitS, quick);
  let timer: Timer | undefined;
  const tooLong = new Promise<Error>((resolve) => {
    const seconds = row.limitS + GRACE_S;
    timer = setTimeout(() => resolve(new Error(`gave nothing within ${seconds} s.`)), seconds * 1000);
  });
  try {
    return await Promise.race([MEASURES[row.name](options), tooLong]);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearTimeout(timer);
    await undoAll();
  }
}

function optionsOf(place: string, limitS: number, quick: boolean): Options {
  const until = performance.now() + limitS * 1000;
  return { quick, scratch: place, until, atEnd: (undo) => undone.unshift(undo) };
}

async function undoAll(): Promise<void> {
  const todo = undone;
  undone = [];
  for (const undo of todo) {
    try {
      await undo();
    } catch (error) {
      console.error(`Could not be cleared away: ${error}`);
    }
  }
}

function besideAPeer(command: string): void {
  if (peerAlone) makeFresh([], say);
  const peer = { command, cwd: process.cwd(), words: oursBeside(command, asked.against ?? null) };
  const compared = compare(peer, optionsOf(scratch, 120, asked.quick));
  for (const line of comparedText(peer, compared)) say(line);
  if (asked.json) console.log(JSON.stringify({ peer: command, words: peer.words, ...compared }));
}

function keep(run: Run): void {
  if (!asked.keep) {
    mkdirSync(join(HISTORY, ".."), { recursive: true });
    appendFileSync(HISTORY, `${JSON.stringify(run)}\n`);
  }
  if (asked.write) writeFileSync(PAGE, benchmarksPage(runForThePage(runsIn(readFileSync(HISTORY, "utf8")))));
}

function load(): number {
  return Number((loadavg()[0] ?? 0).toFixed(2));
}
