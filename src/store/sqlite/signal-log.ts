/**
 * The signal log on SQLite. The fence is in the statement itself, so a signal of an attempt that has ended changes
 * nothing. A hook opens it for a single signal, so as little as possible is asked and prepared.
 */
import { Database } from "bun:sqlite";
import type { Pulse } from "#domain/signals/pulse.ts";
import { beat, newPulse } from "#domain/signals/pulse.ts";
import { pulseIn } from "#domain/signals/pulse-shape.ts";
import { afterSteering } from "#domain/signals/reflex.ts";
import type { Signal } from "#domain/signals/signal.ts";
import type { SignalLog, SignalLogOptions } from "#store/signal-log.ts";
import { DEFAULT_SIGNAL_CAPS, sealSignal } from "#store/signal-log.ts";
import { newerStore, storeError } from "./errors.ts";
import { SCHEMA_VERSION } from "./migrations.ts";

/** Of one attempt the newest are kept; older ones live on in its pulse, and in its log files. */
export const SIGNALS_KEPT = 5_000;
/** How many are written before the old ones are looked for again. */
const COMPACT_EVERY = 500;

/** Whether it lives, its pulse, and whether this is a database we know. */
const LIVING = `select p.doc, p.beats, p.cost, (select user_version from pragma_user_version) as schema
  from attempts a left join pulses p on p.attempt = a.attempt where a.attempt = ?1 and a.status <> 'ended'`;
const KEPT = "select source, phase, at, kind, data from signals where attempt = ?1 order by id";
const INSERT = `insert into signals (attempt, source, phase, at, kind, data) values (?1, ?2, ?3, ?4, ?5, ?6)
  on conflict (attempt, source, phase) do nothing`;
const SAVE = `insert into pulses (attempt, agent, beats, updated_at, in_turn, turns, doc,
    cost, context_tokens, context_window, turn_since, metered) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?3)
  on conflict (attempt) do update set beats = excluded.beats, updated_at = excluded.updated_at,
    in_turn = excluded.in_turn, turns = excluded.turns, doc = excluded.doc, cost = excluded.cost,
    context_tokens = excluded.context_tokens, context_window = excluded.context_window,
    turn_since = excluded.turn_since, metered = excluded.metered`;
const COMPACT = `delete from signals where attempt = ?1 and at <
  (select at from signals where attempt = ?1 order by at desc limit 1 offset ${SIGNALS_KEPT})`;

const MILESTONES = `select min(id) from signals where attempt in (select distinct attempt from signals where at < ?1)
    group by attempt, kind
  union select max(id) from signals where attempt in (select distinct attempt from signals where at < ?1)
    group by attempt, kind`;
const COMPACT_OLD = `delete from signals where id in
  (select id from signals where at < ?1 and id not in (${MILESTONES}) limit ?2)`;

interface Living {
  readonly doc: string | null;
  readonly beats: number | null;
  readonly cost: number | null;
  readonly schema: number;
}

type KeptRow = Pick<Signal, "source" | "phase" | "at" | "kind"> & { readonly data: string };

/** Throws as SQLite does when there is no such file. */
export function openSqliteSignalLog(path: string, options: SignalLogOptions = {}): SignalLog {
  const { busyMs = 15_000, caps = DEFAULT_SIGNAL_CAPS } = options;
  const db = new Database(path, { readwrite: true, create: false });
  let settings = `pragma busy_timeout = ${busyMs}; pragma synchronous = normal; `;
  let sinceCompact = 0;
  const living = (attempt: number) => db.query<Living, [number]>(LIVING).get(attempt);
  const translateErrors = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (db.inTransaction) db.run("rollback");
      throw storeError(error, path);
    }
  };
  // By hand: Database.transaction prepares nine statements first. All in one call, because a hook makes one.
  const inTransaction = <T>(work: () => T): T => {
    db.run(`${settings}begin immediate`);
    settings = "";
    const result = work();
    db.run("commit");
    return result;
  };
  // DEGR-1: a pulse that cannot be used. What columns say of it still counts, so that neither beats nor costs go back.
  const beginAgain = (attempt: number, agent: string, { beats, cost }: Living): Pulse => {
    let pulse = newPulse(attempt, agent);
    for (const row of db.query<KeptRow, [number]>(KEPT).all(attempt)) pulse = beatIfReadable(pulse, row);
    const { usage } = pulse;
    const costUsd = Math.max(usage.costUsd, Number(cost) || 0);
    return { ...pulse, beats: Math.max(pulse.beats, Number(beats) || 0), usage: { ...usage, costUsd } };
  };
  const keep = (attempt: number, agent: string, signals: readonly Signal[]): Pulse | undefined => {
    const known = living(attempt);
    if (known === null) return undefined;
    if (known.schema > SCHEMA_VERSION) throw newerStore(path, known.schema, SCHEMA_VERSION);
    let pulse = known.doc === null ? newPulse(attempt, agent) : pulseIn(known.doc, attempt);
    pulse ??= beginAgain(attempt, agent, known);
    for (const raw of signals) {
      const { kind, source, phase, at, data } = sealSignal(raw, caps);
      const { changes } = db.query(INSERT).run(attempt, source, phase, at, kind, JSON.stringify(data));
      if (changes > 0) pulse = beat(pulse, { kind, source, phase, at, data } as Signal);
    }
    sinceCompact += signals.length;
    if (sinceCompact >= COMPACT_EVERY) {
      sinceCompact = 0;
      db.run(COMPACT, [attempt]);
    }
    const { beats, lastAt, inTurn, turns, usage, contextTokens, contextWindow, turnSince } = pulse;
    const columns = [attempt, agent, beats, lastAt ?? 0, inTurn ? 1 : 0, turns, JSON.stringify(pulse)] as const;
    db.query(SAVE).run(...columns, usage.costUsd, contextTokens, contextWindow, turnSince);
    return pulse;
  };
  return {
    async record(attempt, agent, signals) {
      return translateErrors(() => inTransaction(() => keep(attempt, agent, signals)));
    },
    async steer(attempt, at, judge) {
      const look = () => {
        const seen = living(attempt);
        const pulse = seen?.doc && seen.schema <= SCHEMA_VERSION ? pulseIn(seen.doc, attempt) : undefined;
        const steering = pulse && judge(pulse);
        return pulse && steering && { pulse, steering };
      };
      const say = () => {
        const found = look();
        if (!found) return undefined;
        const doc = JSON.stringify(afterSteering(found.pulse, found.steering, at));
        db.run("update pulses set doc = ?2 where attempt = ?1", [attempt, doc]);
        return found.steering;
      };
      return translateErrors(() => {
        if (settings !== "") db.run(settings);
        settings = "";
        // Looked at without a lock first: mostly there is nothing to say.
        return look() && inTransaction(say);
      });
    },
    async compact(before, most) {
      return translateErrors(() => inTransaction(() => db.query(COMPACT_OLD).run(before, most).changes));
    },
    close: () => db.close(),
  };
}

/** What spoiled the pulse may have spoiled a signal too: then it is as if it had not been heard. */
function beatIfReadable(pulse: Pulse, row: KeptRow): Pulse {
  try {
    return beat(pulse, { ...row, data: JSON.parse(row.data) } as Signal);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return pulse;
    throw error;
  }
}
