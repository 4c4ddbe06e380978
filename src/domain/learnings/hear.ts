/**
 * From what agents are seen to do (signals, reports) to what the extractor hears: a call is heard when it has ended, with
 * the words it began with. A **hearing** is what is remembered of one attempt between two looks: its ear, the calls that
 * are under way, its last calls (by which outcome.ts tells whether a learning helped), what fails for it just now, and
 * where it wrote lately. Plain data, bounded.
 */
import type { ToolUse } from "#domain/core/tools.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { CANCELLED } from "#domain/signals/signal.ts";
import type { Discovery, Ear, Overheard } from "./extract.ts";
import { commandKey, failureKey, listen, NEW_EAR, rememberTold, shellCommandIn } from "./extract.ts";

/** A call that has ended, as later judgements need it. */
export interface HeardCall {
  /** When it began: what was said to the agent meanwhile had no part in it. */
  readonly at: number;
  readonly ok: boolean;
  /** As commandKey names it; empty where it was no command. */
  readonly command: string;
  /** As failureKey names it; null where it did not fail. */
  readonly failing: string | null;
  /** The beginning of its arguments. */
  readonly args: string;
}

interface OpenCall {
  readonly source: string;
  readonly at: number;
  readonly tool: string;
  readonly does: ToolUse;
  readonly args: string;
}

export interface Hearing {
  readonly ear: Ear;
  readonly open: readonly OpenCall[];
  readonly calls: readonly HeardCall[];
  /** Failures of its commands that no success has followed. */
  readonly failing: readonly string[];
  /** Files it wrote lately, as it named them. */
  readonly touched: readonly string[];
  /** When it found something, the last times. */
  readonly finds: readonly number[];
}

export const NEW_HEARING: Hearing = { ear: NEW_EAR, open: [], calls: [], failing: [], touched: [], finds: [] };

const MOST_OPEN = 20;
const MOST_CALLS = 30;
const MOST_FAILING = 8;
const MOST_TOUCHED = 20;
const ARGS_KEPT = 400;
/** EDGE-4: one attempt finds so much in an hour; whoever finds more makes noise. */
const MOST_FINDS = 10;
const HOUR_MS = 60 * 60_000;

export interface AfterHearing {
  readonly hearing: Hearing;
  readonly found: readonly Discovery[];
}

export function hearSignal(hearing: Hearing, signal: Signal): AfterHearing {
  switch (signal.kind) {
    case "tool.started": {
      const { tool, does = "other", args } = signal.data;
      const call = { source: signal.source, at: signal.at, tool, does, args };
      const open = [...hearing.open, call].slice(-MOST_OPEN);
      return { hearing: { ...hearing, open }, found: [] };
    }
    case "tool.ended": {
      const began = hearing.open.find(({ source }) => source === signal.source);
      const rest = { ...hearing, open: hearing.open.filter((one) => one !== began) };
      if (!began || signal.data.errorClass === CANCELLED) return { hearing: rest, found: [] };
      return hearCall(rest, began, signal);
    }
    case "file.changed":
      return { hearing: { ...hearing, touched: addLast(hearing.touched, signal.data.path, MOST_TOUCHED) }, found: [] };
    case "said":
      return hearAny(hearing, { kind: "said", at: signal.at, id: signal.source, text: signal.data.text });
    case "turn.ended": {
      const { at, source: id, data } = signal;
      return hearAny(hearing, { kind: "said", at, id, text: data.text });
    }
    default:
      return { hearing, found: [] };
  }
}

/** Kinds of signal that are heard. */
export const HEARD_KINDS = ["tool.started", "tool.ended", "file.changed", "said", "turn.ended"] as const;

export function hearReport(hearing: Hearing, event: EventOf<"crystallization.recorded">): AfterHearing {
  const { crystallizationId, summary, currentState, decisions, knownBlockers } = event.data;
  const text = [
    summary,
    currentState,
    ...decisions.map(({ decision, rationale }) => [decision, rationale].filter((part) => part !== "").join(": ")),
    ...knownBlockers,
  ]
    .filter((part) => part !== "")
    .join("\n");
  return hearAny(hearing, { kind: "report", at: event.at, id: crystallizationId, text });
}

function hearCall(hearing: Hearing, began: OpenCall, { at, data }: Signal<"tool.ended">): AfterHearing {
  const { source: id, tool, does, args } = began;
  const words = does === "shell" ? shellCommandIn(args) : undefined;
  const command = words === undefined ? "" : commandKey(words);
  const failing = words === undefined || data.ok ? null : failureKey(words, data.result);
  const call: HeardCall = { at: began.at, ok: data.ok, command, failing, args: args.slice(0, ARGS_KEPT) };
  const fails = hearing.failing.filter((one) => !one.startsWith(`${command} `) || command === "");
  const next = {
    ...hearing,
    calls: [...hearing.calls, call].slice(-MOST_CALLS),
    failing: failing === null ? fails : addLast(fails, failing, MOST_FAILING),
  };
  return hearAny(next, { kind: "call", at, id, tool, does, args, ok: data.ok, result: data.result });
}

/** It was told this by others: repeated in its own words, it is no discovery of its own. */
export function hearTold(hearing: Hearing, text: string): Hearing {
  return { ...hearing, ear: rememberTold(hearing.ear, text) };
}

function hearAny(hearing: Hearing, heard: Overheard): AfterHearing {
  const own = heard.kind === "call" ? heard : { ...heard, text: withoutQuoted(heard.text) };
  const { ear, found } = listen(hearing.ear, own);
  if (found.length === 0) return { hearing: { ...hearing, ear }, found };
  const finds = hearing.finds.filter((at) => at > heard.at - HOUR_MS);
  const kept = found.slice(0, Math.max(0, MOST_FINDS - finds.length));
  return { hearing: { ...hearing, ear, finds: [...finds, ...kept.map(() => heard.at)] }, found: kept };
}

const QUOTED = /\blearning L_|\bL_[0-9A-Z]{10}\b/;

/** What an agent repeats of a learning, with its id, is not its own: the line, and the one above that such a line is about. */
function withoutQuoted(text: string): string {
  if (!QUOTED.test(text)) return text;
  const lines = text.split("\n");
  const isAbout = (line = "") => /^\W*learning L_/.test(line);
  return lines.filter((line, index) => !QUOTED.test(line) && !isAbout(lines[index + 1])).join("\n");
}

function addLast(list: readonly string[], item: string, most: number): readonly string[] {
  return [...list.filter((one) => one !== item), item].slice(-most);
}
