/**
 * The labelled corpus of what agents see and say (test/samples/learnings), and how an extraction is scored against it. It
 * was written and labelled by others, before any pattern was; a third of it was held out while patterns were written.
 * Every text is cut and redacted as it would be on its way into the store, because that is what production listens to.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Discovery, type Ear, listen, NEW_EAR, type Overheard } from "#domain/learnings/extract.ts";
import { DEFAULT_SIGNAL_CAPS } from "#store/signal-log.ts";
import { clip } from "#telemetry/bounds.ts";
import { redact } from "#telemetry/redact.ts";

export interface CorpusItem {
  /** Seconds since the session began. */
  readonly t: number;
  readonly kind: "tool" | "said" | "report";
  readonly tool?: string;
  readonly does?: "shell" | "edit" | "read" | "search" | "other";
  readonly args?: unknown;
  readonly ok?: boolean;
  readonly result?: string;
  readonly text?: string;
}

export interface CorpusLabel {
  readonly id: string;
  /** The items from which it could rightly be taken. */
  readonly at: readonly number[];
  /** What a useful rendering of it has to contain. */
  readonly must: readonly string[];
  readonly kind: string;
  readonly gist: string;
}

export interface CorpusSession {
  readonly session: string;
  readonly about: string;
  readonly items: readonly CorpusItem[];
  readonly learnings: readonly CorpusLabel[];
}

export const TUNED_ON = ["real-a", "real-b", "noise"] as const;
export const HELD_OUT = ["real-a-heldout", "real-b-heldout", "noise-heldout"] as const;

export function readCorpus(names: readonly string[]): CorpusSession[] {
  return names.flatMap((name) =>
    readFileSync(join(import.meta.dir, "../samples/learnings", `${name}.ndjson`), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line) as CorpusSession),
  );
}

/** How much of a call is recorded by a runtime's reader. */
const CALL_BYTES = 1_000;

function cut(text: string, bytes: number): string {
  return clip(redact(text), bytes);
}

export function heardOf(item: CorpusItem, index: number): Overheard {
  const [at, id] = [item.t * 1_000, String(index)];
  if (item.kind !== "tool")
    return { kind: item.kind, at, id, text: cut(item.text ?? "", DEFAULT_SIGNAL_CAPS.saidBytes) };
  return {
    ...{ kind: "call" as const, at, id, tool: item.tool ?? "", does: item.does ?? "other", ok: item.ok !== false },
    args: cut(JSON.stringify(item.args ?? {}), CALL_BYTES),
    result: cut(item.result ?? "", CALL_BYTES),
  };
}

export interface Taken {
  readonly session: string;
  readonly index: number;
  readonly finding: Discovery;
  /** The label it renders; undefined for noise, and for one that was taken already. */
  readonly label: CorpusLabel | undefined;
}

export interface Score {
  readonly items: number;
  readonly worthwhile: number;
  readonly taken: readonly Taken[];
  readonly missed: readonly { readonly session: string; readonly label: CorpusLabel }[];
  readonly precision: number;
  readonly recall: number;
}

export interface Rate {
  readonly minScore: number;
  readonly max: number;
  readonly perMs: number;
}

/** What would be relayed of it: nothing twice, nothing below the score, no more than the rate from one agent. */
export function scoreCorpus(sessions: readonly CorpusSession[], rate: Rate): Score {
  const taken: Taken[] = [];
  const missed: { session: string; label: CorpusLabel }[] = [];
  let items = 0;
  let worthwhile = 0;
  for (const one of sessions) {
    items += one.items.length;
    worthwhile += one.learnings.length;
    const kept = takeFrom(one, rate);
    taken.push(...kept);
    const had = new Set(kept.flatMap(({ label }) => (label ? [label.id] : [])));
    missed.push(...one.learnings.filter(({ id }) => !had.has(id)).map((label) => ({ session: one.session, label })));
  }
  const right = taken.filter(({ label }) => label !== undefined).length;
  return {
    ...{ items, worthwhile, taken, missed },
    precision: taken.length === 0 ? 0 : right / taken.length,
    recall: worthwhile === 0 ? 0 : right / worthwhile,
  };
}

function takeFrom(session: CorpusSession, rate: Rate): Taken[] {
  const taken: Taken[] = [];
  const keys = new Set<string>();
  const labels = new Set<string>();
  const times: number[] = [];
  let ear: Ear = NEW_EAR;
  session.items.forEach((item, index) => {
    const heard = listen(ear, heardOf(item, index));
    ear = heard.ear;
    for (const finding of heard.found) {
      if (finding.score < rate.minScore || keys.has(finding.key)) continue;
      const at = item.t * 1_000;
      if (times.filter((other) => at - other < rate.perMs).length >= rate.max) continue;
      times.push(at);
      keys.add(finding.key);
      const label = session.learnings.find(
        (other) => !labels.has(other.id) && other.at.includes(Number(finding.id)) && renders(finding.text, other.must),
      );
      if (label) labels.add(label.id);
      taken.push({ session: session.session, index: Number(finding.id), finding, label });
    }
  });
  return taken;
}

function renders(text: string, must: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return must.every((word) => lower.includes(word.toLowerCase()));
}
