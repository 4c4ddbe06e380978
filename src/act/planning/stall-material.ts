/**
 * What a model is shown of an agent that is stuck: its task, what was tried, what it reported and did last, the end of its
 * log. Everything is redacted, bounded and cleaned of what could pose as a part of the prompt; agents write most of it.
 */
import { logDirOf } from "#act/attempt-files.ts";
import type { ActParts } from "#act/parts.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { cleanText } from "#domain/core/quote.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { Signal, SignalKind } from "#domain/signals/signal.ts";
import { crystallizationById } from "#store/assignments.ts";
import { lastSignals } from "#store/signals.ts";
import { clip } from "#telemetry/bounds.ts";
import { redact } from "#telemetry/redact.ts";

const TELLING = [
  ...["said", "turn.ended", "tool.started", "tool.ended", "file.changed", "committed", "api.retry", "api.failed"],
  ...["compacted", "notified"],
] as const satisfies readonly SignalKind[] as readonly SignalKind[];
const SIGNALS_SHOWN = 40;
const SIGNAL_BYTES = 300;
const PART_BYTES = 8_000;
const LOG_READ_BYTES = 16 * 1024;
const LOG_BYTES = 4_000;
const NOTHING = "(nothing)";

/** How the parts of a prompt are marked (prompts/models); what is shown cannot end its own part. */
const PROMPT_MARK = /^(\s*)-{3,}(?=\s*(?:BEGIN|END)\b)/gim;
/** What stands between these is played by the scripted runtime, also where it is asked in the place of a model. */
const SCRIPT_MARK = /@@(?=SCRIPT\b|END\b)/g;

/** As it stands in a prompt. Redacted before it is cut: half a secret is no longer known as one. */
export function toMaterial(text: string, maxBytes: number = PART_BYTES): string {
  const clean = cleanText(redact(text)).replace(PROMPT_MARK, "$1- - -").replace(SCRIPT_MARK, "@ @").trim();
  return clean === "" ? NOTHING : clip(clean, maxBytes);
}

export function describeTask(node: WorkNode): string {
  const { workNodeId, name, objective, expectedOutcome, acceptanceCriteria, definitionOfDone, hints } = node;
  const list = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `- ${item}`)];
  return toMaterial(
    [
      `${workNodeId}: ${name}`,
      `Objective: ${objective || name}`,
      ...(expectedOutcome === "" ? [] : [`Outcome: ${expectedOutcome}`]),
      ...list("Acceptance", acceptanceCriteria),
      ...(definitionOfDone === "" ? [] : [`Definition of done: ${definitionOfDone}`]),
      ...list("Its files", hints.files ?? []),
    ].join("\n"),
  );
}

/** Which steps were taken, as they count. */
export function describeStall(cause: string, { steps, restarts }: Recovery): string {
  const asked = steps.hint + steps.warning + steps.critical;
  return [
    `It counts as stuck: ${cause.replaceAll("-", " ")}.`,
    `It was asked for its status ${asked} times, its turn was interrupted ${steps.resend} times, it was started again`,
    `${restarts} times, and other agents took over ${Math.min(steps.reassign, 99)} times.`,
  ].join(" ");
}

/** The handoff and the last signals. */
export async function describeSigns(parts: ActParts, attempt: Attempt, node: WorkNode): Promise<string> {
  const store = await parts.writer();
  const { recent } = await store.read({ recent: lastSignals(attempt.attempt, TELLING, SIGNALS_SHOWN) });
  const left =
    node.crystallizationId === null
      ? undefined
      : (await store.read({ one: crystallizationById(node.crystallizationId) })).one;
  return toMaterial([...describeHandoff(left), "Its last signals:", ...recent.map(describeSignal)].join("\n"));
}

function describeHandoff(left: Crystallization | undefined): string[] {
  if (!left) return ["It has reported nothing."];
  const lists = [
    ...left.nextActions.map((one) => `Next: ${one}`),
    ...left.knownBlockers.map((one) => `Blocker: ${one}`),
    ...left.openQuestions.map((one) => `Open question: ${one}`),
  ];
  return [`It reported: ${left.summary}`, ...lists];
}

function describeSignal({ at, kind, data }: Signal): string {
  return `${isoTime(at)} ${kind} ${clip(redact(JSON.stringify(data)), SIGNAL_BYTES)}`;
}

/** The last whole lines; nothing where there is no log. */
export async function readLogTail(parts: ActParts, attempt: Attempt): Promise<string> {
  const path = `${logDirOf(parts.root, attempt)}/session.log`;
  if ((await parts.files.facts(path)) === undefined) return NOTHING;
  const { code, stdout } = await parts.exec.run(["tail", "-c", String(LOG_READ_BYTES), path], { timeoutMs: 5_000 });
  if (code !== 0) return NOTHING;
  const whole = stdout.length < LOG_READ_BYTES ? stdout : stdout.slice(stdout.indexOf("\n") + 1);
  const lines = cleanText(redact(whole)).split("\n");
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines.toReversed()) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > LOG_BYTES) break;
    kept.unshift(line);
  }
  return toMaterial(kept.join("\n"), LOG_BYTES);
}
