/** What would have been said, for a person who sees it for the first time: the sum first, then a few of each, then what was not read. */
import type { Call } from "#cli/command.ts";
import { inert, moment, plural, table } from "#cli/text.ts";
import { READS_LINES_UP_TO_MB, type ReadingReport, type ReplayResult } from "#control/replay.ts";
import { listSentences, type ShownSentence } from "#control/replay-label.ts";
import { megabytes } from "./progress.ts";

/** How many of each kind are shown without --all. */
const SHOWN = 2;
const UNREAD_SHOWN = 5;
const EVIDENCE_WIDTH = 140;

const MEANINGS: Readonly<Record<string, string>> = {
  emergency: "many failures, or many steps that led nowhere",
  "context-urgent": "the context is nearly exhausted",
  context: "the context is filling up",
  cascade: "several different tools fail",
  oscillation: "back and forth between two failing calls",
  loop: "the same call again with the same result",
  contingent: "far from the plan; another method is due",
  churn: "the same error round after round",
  hunt: "searching for what is not there",
  polling: "asking again and again whether a job has ended",
  blocked: "something only a person can solve",
  stall: "many steps without progress",
};

export function printSaid(call: Call, result: ReplayResult): void {
  const { out } = call;
  const { traces } = result;
  const said = listSentences(traces);
  const all = call.has("all");
  out.line(summarise(result));
  if (traces.length === 0) {
    printUnread(call, result, all);
    out.remark("No agent's work was found; `overseer replay --traces <dir>` names where recorded sessions lie.");
    return;
  }
  const hours = hoursOf(result);
  const told = new Set(said.map(({ session }) => session));
  const often = hours >= 1 && said.length > 0 ? `, ${((10 * said.length) / hours).toFixed(1)} in 10 hours` : "";
  out.line(
    said.length === 0
      ? "Overseer would have said nothing to these agents."
      : `Overseer would have spoken ${plural(said.length, "time")} in ${told.size} of ${plural(traces.length, "session")}${often}:`,
  );
  const kinds = [...Map.groupBy(said, ({ anomaly }) => anomaly)].toSorted((a, b) => b[1].length - a[1].length);
  table(
    out,
    kinds.map(([anomaly, own]) => [
      `  ${anomaly}`,
      `${own.length}×`,
      `in ${plural(new Set(own.map(({ session }) => session)).size, "session")}`,
      MEANINGS[anomaly] ?? "",
    ]),
  );
  printReadings(call, result);
  for (const [, own] of kinds) {
    out.line();
    for (const one of all ? own : own.slice(0, SHOWN)) printSentence(call, one);
    if (!all && own.length > SHOWN) out.line(`  … ${own.length - SHOWN} more of these; --all shows them.`);
  }
  out.line();
  printTally(call, result);
  printUnread(call, result, all);
  out.remark("Nothing was changed: replay only reads.");
}

/** The calls before a sentence, the newest last: what a person judges it by. */
export function printEvidence({ out }: Call, { evidence }: ShownSentence): void {
  out.line();
  for (const { ordinal, tool, args, ok, result } of evidence) {
    out.line(`  #${ordinal} ${inert(tool)} ${firstWords(args)}`);
    const end = ok === null ? "no result yet" : ok ? "ok" : "failed";
    out.line(`      ${end}${result.trim() === "" ? "" : `: ${firstWords(result)}`}`);
  }
}

function firstWords(text: string): string {
  const words = inert(text.replace(/\s+/g, " ").trim());
  return words.length > EVIDENCE_WIDTH ? `${words.slice(0, EVIDENCE_WIDTH - 1)}…` : words;
}

export function printSentence({ out }: Call, { session, id, step, at, call, anomaly, text }: ShownSentence): void {
  const when = at > 0 ? `  ${moment(at)} UTC` : "";
  out.line(
    `${anomaly}  ${id}  ${inert(session.name)} (${session.runtime})  step ${step}, call #${call.ordinal}${when}`,
  );
  out.line(`  ${inert(text)}`);
}

function summarise(result: ReplayResult): string {
  const { files, bytes, calls, traces } = result;
  const runtimes = [...new Set(traces.map(({ runtime }) => runtime))].toSorted().join(", ");
  const subs = traces.filter(({ sub }) => sub).length;
  const sessions = `${plural(traces.length, "session")}${subs > 0 ? ` (${subs} of sub-agents)` : ""}`;
  const work = `${plural(calls, "call")}, ${hoursOf(result).toFixed(1)} h of work`;
  const whose = runtimes === "" ? "" : ` of ${runtimes}`;
  return `Read ${plural(files, "file")} (${megabytes(bytes)}): ${sessions}${whose}, ${work}.`;
}

function hoursOf({ traces }: ReplayResult): number {
  return traces.reduce((sum, { workMs }) => sum + workMs, 0) / 3_600_000;
}

function printReadings({ out }: Call, { traces }: ReplayResult): void {
  const readings = traces.flatMap((trace) => trace.readings);
  const count = (kind: string) => readings.filter((one) => one.class === kind).length;
  const parts = [
    [count("waiting-on-human"), "with a question to a person"],
    [count("slow"), "waiting for something slow"],
    [count("failed"), "because the provider failed"],
  ] as const;
  const told = parts.filter(([number]) => number > 0).map(([number, how]) => `${number} ${how}`);
  if (told.length > 0) out.line(`By their last words, turns ended: ${told.join(", ")}.`);
}

function printTally({ out }: Call, { tally }: ReplayResult): void {
  if (!tally) return;
  table(
    out,
    tally.scores.map((score) => [
      score.anomaly,
      `${score.episodes} episodes`,
      `${score.noticed} noticed`,
      `${score.missed} missed`,
      `${score.falseAlarms} false`,
      `precision ${score.precision.toFixed(2)}`,
      `recall ${score.recall.toFixed(2)}`,
    ]),
  );
  out.line(
    `${plural(tally.healthy, "healthy trace")}, ${tally.healthyHours.toFixed(1)} h: ${plural(tally.healthyAlarms, "false alarm")}, ${tally.falseAlarmsPerHour.toFixed(2)} an hour.`,
  );
}

/** Nothing is passed over in silence. */
export function printUnread({ out }: Call, report: ReadingReport, all: boolean): void {
  const { nothing, broken, dropped, others, lostResults, openCalls } = report;
  for (const [why, files] of Map.groupBy(nothing, (one) => one.why)) {
    out.line(`${plural(files.length, "file")} gave nothing: ${inert(why)}.`);
    for (const { file } of all ? files : files.slice(0, UNREAD_SHOWN)) out.line(`  ${inert(file)}`);
    if (!all && files.length > UNREAD_SHOWN) out.line(`  … ${files.length - UNREAD_SHOWN} more; --all names them.`);
  }
  if (broken.length > 0) {
    const lines = broken.reduce((sum, one) => sum + one.lines, 0);
    out.line(`${plural(lines, "line")} could not be read, in ${plural(broken.length, "file")}:`);
    for (const one of all ? broken : broken.slice(0, UNREAD_SHOWN))
      out.line(`  ${inert(one.file)}: ${one.lines}${tellTooLong(one.tooLong)}`);
    if (!all && broken.length > UNREAD_SHOWN) out.line(`  … ${broken.length - UNREAD_SHOWN} more; --all names them.`);
  }
  if (dropped.length > 0) {
    const calls = dropped.reduce((sum, one) => sum + one.calls, 0);
    out.line(`${plural(calls, "call")} left out (a name twice at one time, or too many sessions in one file):`);
    for (const one of all ? dropped : dropped.slice(0, UNREAD_SHOWN)) out.line(`  ${inert(one.file)}: ${one.calls}`);
    if (!all && dropped.length > UNREAD_SHOWN) out.line(`  … ${dropped.length - UNREAD_SHOWN} more; --all names them.`);
  }
  if (lostResults > 0)
    out.line(`${plural(lostResults, "result")} had no call in ${lostResults === 1 ? "its file" : "their files"}.`);
  if (openCalls > 0) out.line(`${plural(openCalls, "call")} never got a result.`);
  const names = Object.entries(others).map(([end, count]) => `${count} ${inert(end)}`);
  if (names.length > 0) out.line(`Not looked at, by their names: ${names.join(", ")}.`);
}

function tellTooLong(lines: number): string {
  return lines === 0 ? "" : ` (${lines === 1 ? "one is" : `${lines} are`} longer than ${READS_LINES_UP_TO_MB} MB)`;
}
