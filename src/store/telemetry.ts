/**
 * What agents are seen to do, beside the domain: signals, each kept once, and the pulse folded from them. Written by
 * the runner and by hooks in short transactions that need not be durable to the last millisecond; the fence
 * is in the statement itself, so a signal of an attempt that has ended changes nothing.
 */
import { Database } from "bun:sqlite";
import type { Config } from "#config/schema.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import { beat, newPulse } from "#domain/signals/pulse.ts";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import { OverseerError } from "#errors.ts";
import { clip, clipDeep } from "#telemetry/bounds.ts";
import { redactDeep } from "#telemetry/redact.ts";
import type { Query } from "./query.ts";
import { docs, firstDoc } from "./query.ts";
import { storeError } from "./sqlite/errors.ts";
import { SCHEMA_VERSION } from "./sqlite/migrations.ts";

export interface SignalCaps {
  /** One text inside a signal, in bytes. */
  readonly textBytes: number;
  /** What an agent says, in bytes: its last words are part of the pulse, which is read at every step. */
  readonly saidBytes: number;
}

export const DEFAULT_SIGNAL_CAPS: SignalCaps = { textBytes: 16 * 1024, saidBytes: 2 * 1024 };

export function signalCapsOf({ caps }: Pick<Config["store"], "caps">): SignalCaps {
  return { textBytes: caps.payload, saidBytes: caps.assistantText };
}

/** A signal as it is kept: without secrets, and small. */
export function sealSignal(raw: Signal, caps: SignalCaps): Signal {
  const bounds = { maxStringBytes: caps.textBytes, maxItems: 100, maxDepth: 6 };
  const signal = clipDeep(redactDeep(raw), bounds);
  if (signal.kind !== "said" && signal.kind !== "turn.ended") return signal;
  return { ...signal, data: { ...signal.data, text: clip(signal.data.text, caps.saidBytes) } } as Signal;
}

/** Of one attempt the newest are kept; older ones live on in its pulse, and in its log files. */
export const SIGNALS_KEPT = 5_000;
/** How many are written before the old ones are looked for again. */
const COMPACT_EVERY = 500;

export interface SignalLog {
  /**
   * Keeps the signals and folds those that are new. Returns the pulse after them; undefined when the attempt has ended,
   * and then nothing was kept. Safe to call twice with the same signals.
   */
  record(attempt: number, agent: string, signals: readonly Signal[]): Pulse | undefined;
  close(): void;
}

export function signalLog(
  path: string,
  options: { readonly busyMs?: number; readonly caps?: SignalCaps } = {},
): SignalLog {
  const { busyMs = 15_000, caps = DEFAULT_SIGNAL_CAPS } = options;
  const db = new Database(path, { readwrite: true, create: false });
  let statements: Statements | undefined;
  let sinceCompact = 0;
  const keep = (attempt: number, agent: string, signals: readonly Signal[]): Pulse | undefined => {
    statements ??= prepare(db);
    const known = statements.living.get(attempt);
    if (known === null) return undefined;
    if (known.schema > SCHEMA_VERSION) throw newer(path, known.schema);
    let pulse = known.doc === null ? newPulse(attempt, agent) : (JSON.parse(known.doc) as Pulse);
    for (const raw of signals) {
      const { kind, source, phase, at, data } = sealSignal(raw, caps);
      const { changes } = statements.insert.run(attempt, source, phase, at, kind, JSON.stringify(data));
      if (changes > 0) pulse = beat(pulse, { kind, source, phase, at, data } as Signal);
    }
    sinceCompact += signals.length;
    if (sinceCompact >= COMPACT_EVERY) {
      sinceCompact = 0;
      db.run(
        `delete from signals where attempt = ?1 and at <
           (select at from signals where attempt = ?1 order by at desc limit 1 offset ${SIGNALS_KEPT})`,
        [attempt],
      );
    }
    const { beats, lastAt, inTurn, turns } = pulse;
    statements.save.run(attempt, agent, beats, lastAt ?? 0, inTurn ? 1 : 0, turns, JSON.stringify(pulse));
    return pulse;
  };
  return {
    record(attempt, agent, signals) {
      try {
        // By hand: Database.transaction prepares nine statements first. All in one call, because a hook makes one.
        const settings = `pragma busy_timeout = ${busyMs}; pragma synchronous = normal; `;
        db.run(`${statements ? "" : settings}begin immediate`);
        const pulse = keep(attempt, agent, signals);
        db.run("commit");
        return pulse;
      } catch (error) {
        if (db.inTransaction) db.run("rollback");
        throw storeError(error, path);
      }
    },
    close: () => db.close(),
  };
}

type Statements = ReturnType<typeof prepare>;

/** A hook prepares each of them for a single signal, so what can be asked together is. */
function prepare(db: Database) {
  return {
    /** Whether it lives, its pulse, and whether this is a database we know. */
    living: db.query<{ doc: string | null; schema: number }, [number]>(
      `select p.doc, (select user_version from pragma_user_version) as schema
       from attempts a left join pulses p on p.attempt = a.attempt where a.attempt = ?1 and a.status <> 'ended'`,
    ),
    insert: db.query(
      `insert into signals (attempt, source, phase, at, kind, data) values (?1, ?2, ?3, ?4, ?5, ?6)
       on conflict (attempt, source, phase) do nothing`,
    ),
    save: db.query(
      `insert into pulses (attempt, agent, beats, updated_at, in_turn, turns, doc) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
       on conflict (attempt) do update set beats = excluded.beats, updated_at = excluded.updated_at,
         in_turn = excluded.in_turn, turns = excluded.turns, doc = excluded.doc`,
    ),
  };
}

function newer(path: string, schema: number): OverseerError {
  return new OverseerError(
    "environment",
    "STORE_NEWER",
    `${path} was written by a newer Overseer (schema ${schema}; this one knows ${SCHEMA_VERSION}).`,
    "Update Overseer; nothing was changed.",
  );
}

export function pulseOf(attempt: number): Query<Pulse | undefined> {
  return {
    sql: "select doc from pulses where attempt = ?1",
    args: [attempt],
    read: (rows) => firstDoc<Pulse>(rows),
    memory: (tables) => tables.pulses.get(attempt),
  };
}

export function pulsesOfLiving(): Query<Pulse[]> {
  return {
    sql: "select p.doc from pulses p join attempts a on a.attempt = p.attempt where a.status <> 'ended' order by p.attempt",
    args: [],
    read: (rows) => docs<Pulse>(rows),
    memory: (tables) =>
      [...tables.pulses.values()]
        .filter((pulse) => (tables.entities.attempt.get(String(pulse.attempt))?.status ?? "ended") !== "ended")
        .sort((a, b) => a.attempt - b.attempt),
  };
}

/** How much the contexts of models can hold, as agents have told it lately. */
export function contextWindows(): Query<Record<string, number>> {
  return {
    sql: "select doc from pulses order by attempt desc limit 50",
    args: [],
    read: (rows) => {
      const known = docs<Pulse>(rows).toReversed();
      return Object.fromEntries(
        known.flatMap(({ model, contextWindow }) => (model && contextWindow ? [[model, contextWindow]] : [])),
      );
    },
    memory: () => ({}),
  };
}

/** A signal and its place among all that were recorded; places grow in the order of recording. */
export interface PlacedSignal {
  readonly place: number;
  readonly signal: Signal;
}

/** What was recorded of an attempt after that place, by whomever; the oldest first. */
export function signalsAfter(attempt: number, place: number, limit: number): Query<PlacedSignal[]> {
  return {
    sql: "select id, source, phase, at, kind, data from signals where id > ?2 and attempt = ?1 order by id limit ?3",
    args: [attempt, place, limit],
    read: (rows) =>
      rows.map(({ id, ...row }) => ({
        place: Number(id),
        signal: { ...row, data: JSON.parse(String(row.data)) } as unknown as Signal,
      })),
    memory: (tables) =>
      (tables.signals.get(attempt) ?? [])
        .map((signal, index) => ({ place: index + 1, signal }))
        .filter((one) => one.place > place)
        .slice(0, limit),
  };
}

/** The last signals of these kinds, the oldest first. */
export function lastSignals(attempt: number, kinds: readonly SignalKind[], limit: number): Query<Signal[]> {
  return {
    sql: `select source, phase, at, kind, data from signals
      where attempt = ?1 and kind in (${kinds.map((_, index) => `?${index + 3}`).join(", ")}) order by id desc limit ?2`,
    args: [attempt, limit, ...kinds],
    read: (rows) => rows.map((row) => ({ ...row, data: JSON.parse(String(row.data)) }) as unknown as Signal).reverse(),
    memory: () => [],
  };
}

export function signalsOf(attempt: number, limit: number): Query<Signal[]> {
  return {
    sql: "select source, phase, at, kind, data from signals where attempt = ?1 order by id desc limit ?2",
    args: [attempt, limit],
    read: (rows) => rows.map((row) => ({ ...row, data: JSON.parse(String(row.data)) }) as unknown as Signal).reverse(),
    memory: (tables) => (tables.signals.get(attempt) ?? []).slice(-limit),
  };
}
