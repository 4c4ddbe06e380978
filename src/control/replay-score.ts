/** `replay --score`: the rules over labelled sessions, and how right they were. Reads only; the labels are a small file. */
import { dirname, resolve } from "node:path";
import type { Label } from "#domain/signals/replay-label.ts";
import { readLabel, withoutOvertaken } from "#domain/signals/replay-label.ts";
import type { ReplayScore, ScoredFile } from "#domain/signals/replay-score.ts";
import { scoreReplay } from "#domain/signals/replay-score.ts";
import { OverseerError } from "#errors.ts";
import type { Files } from "#sys/files.ts";
import type { ReplayInput, UnreadFile } from "./replay.ts";
import { readOneFile, replayFile, rulesByRole } from "./replay.ts";

export interface ScoreInput extends ReplayInput {
  /** No places: every file that is labelled. */
  readonly labels: string;
}

export interface ScoreResult extends ReplayScore {
  readonly files: number;
  /** Files that labels name and that gave nothing. */
  readonly unread: readonly UnreadFile[];
  /** Those of them that broke their reader. */
  readonly faults: readonly UnreadFile[];
  /** Lines of the labels that are none. */
  readonly badLines: readonly { readonly line: number; readonly why: string }[];
}

export async function scoreLabels(input: ScoreInput): Promise<ScoreResult> {
  const { labels: all, badLines } = await loadLabels(input.files, input.labels);
  const labels = all.filter(({ file }) => isBelow(resolve(dirname(input.labels), file), input.places));
  if (labels.length === 0) throw all.length === 0 ? noLabels(input.labels, badLines) : refuseElsewhere(input);
  const rules = rulesByRole(input, input.role);
  rules(null);
  const byFile = Map.groupBy(labels, ({ file }) => file);
  const unread: UnreadFile[] = [];
  const faults: UnreadFile[] = [];
  const scored: ScoredFile[] = [];
  let done = 0;
  for (const [file, own] of byFile) {
    input.progress?.({ files: done, of: byFile.size, bytes: 0, ofBytes: 0 });
    done += 1;
    const { open, sessions } = replayFile(file, (role) => [rules(role)], true);
    const report = readOneFile(resolve(dirname(input.labels), file), open);
    if (report.nothing !== null) unread.push({ file, why: report.nothing });
    if (report.fault) faults.push({ file, why: report.nothing ?? "" });
    if (report.fault) continue;
    scored.push({
      file,
      runtime: own.find(({ runtime }) => runtime !== "")?.runtime ?? report.runtime ?? "unknown",
      sessions: sessions().flatMap(({ replayed: [one], calls }) =>
        one === undefined ? [] : [{ ...one, name: one.key, calls }],
      ),
      windows: own.filter((label) => label.what === "window"),
      screened: own.find((label) => label.what === "screened") ?? null,
    });
  }
  input.progress?.({ files: done, of: done, bytes: 0, ofBytes: 0 });
  return { ...scoreReplay(scored), files: byFile.size, unread, badLines, faults };
}

function isBelow(path: string, places: readonly string[]): boolean {
  if (places.length === 0) return true;
  return places.some((place) => path === resolve(place) || path.startsWith(`${resolve(place)}/`));
}

function noLabels(path: string, badLines: ScoreResult["badLines"]): OverseerError {
  const [bad] = badLines;
  const why = bad === undefined ? "it is empty" : `line ${bad.line}: ${bad.why}`;
  const hint = "docs/replay.md shows what a label looks like; `overseer replay --label <file>` writes them.";
  return new OverseerError("usage", "LABELS_EMPTY", `There is no label in ${path}: ${why}.`, hint);
}

function refuseElsewhere({ labels, places }: ScoreInput): OverseerError {
  const hint = "Leave --traces out to score every file that is labelled.";
  return new OverseerError("usage", "LABELS_ELSEWHERE", `No label in ${labels} is about ${places.join(", ")}.`, hint);
}

export async function loadLabels(
  files: Files,
  path: string,
): Promise<{ readonly labels: readonly Label[]; readonly badLines: ScoreResult["badLines"] }> {
  const text = await files.read(path);
  if (text === undefined) {
    const hint = "Name the file with the labels; `overseer replay --label <file>` begins one.";
    throw new OverseerError("not-found", "LABELS_UNKNOWN", `There are no labels at ${path}.`, hint);
  }
  const labels: Label[] = [];
  const badLines: { line: number; why: string }[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const label = readLabel(line);
    if (typeof label === "string") badLines.push({ line: index + 1, why: label });
    else if (label !== undefined) labels.push(label);
  }
  return { labels: withoutOvertaken(labels), badLines };
}
