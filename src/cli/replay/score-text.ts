/** How right the rules were on labelled work: one table, then every miss and every false sentence. */
import type { Call } from "#cli/command.ts";
import { inert, plural, table } from "#cli/text.ts";
import type { ScoreResult } from "#control/replay-score.ts";
import { CONTEXT_LEAD_STEPS, GRACE_STEPS, type ScoreRow } from "#domain/signals/replay-score.ts";

const SHOWN = 10;

export function printScore(call: Call, result: ScoreResult): void {
  const { out } = call;
  const all = call.has("all");
  out.line(
    `${plural(result.files, "labelled file")}, ${result.screened} of them looked through (${result.hours.toFixed(1)} h); a sentence up to ${GRACE_STEPS} steps after its window counts as in it, one about the context also up to ${CONTEXT_LEAD_STEPS} before.`,
  );
  const head = ["anomaly", "runtime", "right", "false", "maybe", "precision", "windows", "missed", "recall"];
  const more = ["false in 10 h", "steps after begin", "before end"];
  table(out, [[...head, ...more], ...result.rows.map(cellsOf)]);
  out.line(
    "context-urgent stands under context; last-words and provider are said to nobody, so not among all sentences.",
  );
  const wrong = result.sentences.filter(({ verdict }) => verdict === "false");
  listSome(call, `${plural(wrong.length, "false sentence")}:`, wrong, all, (one) => [
    `${one.anomaly}  ${inert(one.file)} ${inert(one.session)} (${inert(one.runtime)})  step ${one.step}, call #${one.call.ordinal}`,
    `  ${inert(one.text)}`,
  ]);
  const missed = result.windows.filter(({ verdict }) => verdict === "missed");
  listSome(call, `${plural(missed.length, "missed window")}:`, missed, all, ({ label, file, session, runtime }) => [
    `${inert(label.anomaly)}  ${inert(file)} ${inert(session)} (${inert(runtime)})  calls #${label.from.ordinal ?? "?"}–#${label.to.ordinal ?? "?"}${label.note === "" ? "" : `  ${inert(label.note)}`}`,
  ]);
  listSome(call, "Labels whose calls are not in their file, left out:", result.unplaced, all, (label) => [
    `${inert(label.anomaly)}  ${inert(label.file)}  #${label.from.ordinal ?? "?"} ${inert(label.from.id ?? "")}`,
  ]);
  listSome(call, "Files with other calls than were labelled:", result.otherCalls, all, (one) => [
    `${inert(one.file)}  ${one.found} calls, labelled with ${one.labelled}`,
  ]);
  listSome(call, "Files that gave nothing:", result.unread, all, ({ file, why }) => [`${inert(file)}: ${inert(why)}`]);
  listSome(call, "Lines that are no labels:", result.badLines, all, ({ line, why }) => [`line ${line}: ${inert(why)}`]);
}

function listSome<T>(
  { out }: Call,
  title: string,
  items: readonly T[],
  all: boolean,
  describe: (item: T) => readonly string[],
): void {
  if (items.length === 0) return;
  out.line();
  out.line(title);
  for (const item of all ? items : items.slice(0, SHOWN)) for (const line of describe(item)) out.line(`  ${line}`);
  if (!all && items.length > SHOWN) out.line(`  … ${items.length - SHOWN} more; --all lists them.`);
}

function cellsOf(row: ScoreRow): string[] {
  const share = (value: number | null) => (value === null ? "–" : value.toFixed(2));
  const steps = (value: number | null) => (value === null ? "–" : String(value));
  return [
    row.anomaly ?? "all sentences",
    row.runtime ?? "all",
    String(row.right),
    String(row.wrong),
    String(row.neither),
    share(row.precision),
    String(row.windows),
    String(row.missed),
    share(row.recall),
    share(row.falsePer10Hours),
    steps(row.stepsAfterBegin),
    steps(row.stepsBeforeEnd),
  ];
}
