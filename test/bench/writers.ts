/**
 * Fifty long-lived processes writing what they see, a thousand signals a second between them: how much more of the
 * processor that costs than the bare inserts, whether they keep up, and whether all of it arrived.
 */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openForWriting, prepareStore } from "#store/open.ts";
import { addRunning } from "../support/attempts.ts";
import { T0 } from "../support/samples.ts";
import { type Measure, type Options, type Turns, turnAbout } from "./row.ts";

const WRITERS = 50;
const EACH = 100;
/** The pause comes on top of the writing: with fifty of them, 40 ms offers some 1,200 a second, and 1,000 are asked for. */
const PAUSE_MS = 40;

async function database(directory: string): Promise<{ path: string; attempts: number[] }> {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "overseer.db");
  await prepareStore({ address: path, backupDir: join(directory, "backups"), now: T0 });
  const store = await openForWriting({ address: path });
  const attempts = await addRunning(store, WRITERS, { pid: process.pid, start: "0" });
  await store.close();
  return { path, attempts };
}

/** All at once; the CPU they took together, and how fast it went. Throws when one failed or something is missing. */
async function fifty(
  scratch: string,
  kind: "log" | "raw",
  turn: number,
): Promise<{ cpuMs: number; perSecond: number }> {
  const { path, attempts } = await database(join(scratch, `writers-${kind}-${turn}`));
  const writer = join(import.meta.dir, "signal-writer.ts");
  const children = attempts.map((attempt) =>
    Bun.spawn([process.execPath, writer, path, String(attempt), kind, String(EACH), String(PAUSE_MS)], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    }),
  );
  const readers = children.map((child) => child.stdout.getReader());
  const text = new TextDecoder();
  for (const reader of readers) await reader.read();
  const begun = performance.now();
  for (const child of children) {
    child.stdin.write("go\n");
    child.stdin.flush();
  }
  const costs = await Promise.all(readers.map(async (reader) => Number(text.decode((await reader.read()).value))));
  const seconds = (performance.now() - begun) / 1000;
  for (const child of children) {
    if ((await child.exited) !== 0) throw new Error(await child.stderr.text());
  }
  const db = new Database(path, { readonly: true });
  const { kept } = db.query<{ kept: number }, []>("select count(*) as kept from signals").get() ?? { kept: 0 };
  db.close();
  if (kept !== WRITERS * EACH) throw new Error(`${WRITERS * EACH - kept} signals were lost`);
  return { cpuMs: costs.reduce((sum, cost) => sum + cost, 0), perSecond: kept / seconds };
}

interface Written {
  readonly turns: Turns;
  /** In the slowest turn. */
  readonly perSecond: number;
}

let written: Promise<Written> | undefined;

/** Measured once for both rows. */
function allWritten(options: Options): Promise<Written> {
  written ??= writeAll(options);
  return written;
}

async function writeAll({ quick, scratch, until }: Options): Promise<Written> {
  let turn = 0;
  let perSecond = Number.POSITIVE_INFINITY;
  const one = async (kind: "log" | "raw") => {
    turn += 1;
    const done = await fifty(scratch, kind, turn);
    if (kind === "log") perSecond = Math.min(perSecond, done.perSecond);
    return done.cpuMs;
  };
  const turns = await turnAbout(
    { turns: quick ? 1 : 3, until },
    () => one("log"),
    () => one("raw"),
  );
  return { turns, perSecond };
}

export const rate: Measure = async (options) => {
  const { turns, perSecond } = await allWritten(options);
  return { value: perSecond, turns: turns.turns, note: "the slowest turn; some 1,200 /s are offered" };
};

export const cost: Measure = async (options) => (await allWritten(options)).turns;
