/** Finished work as lines to read before one accepts it: what only a person may let through first, then checks, then the change. Pure. */
import { inert } from "#cli/text.ts";
import type { Review } from "#control/review.ts";
import { EMPTY_LINE, type Line, makeLine, type Tone, toLines } from "./line.ts";

const ONLY_YOU = {
  protected: "Files that only you may let through",
  outside_scope: "Outside of its scope",
  dropped_side: "One side of a conflict is gone",
} as const;

export function listReviewLines(found: Review): Line[] {
  const { overreach, takenBack, conflict, receipts, missing, changes } = found;
  const target = inert(found.target);
  const lines = [
    makeLine(inert(found.name), "title"),
    makeLine(`by ${inert(found.agent)}, commit ${found.commit.slice(0, 12)}, onto ${target}: ${found.state}`),
  ];
  if (found.unchanged !== null) lines.push(makeLine(`Nothing is new: ${inert(found.unchanged)}`, "trouble"));
  else if (found.detail) lines.push(makeLine(inert(found.detail)));
  if (overreach) lines.push(makeLine(`${ONLY_YOU[overreach.kind]}: ${inert(overreach.files.join(", "))}`, "trouble"));
  if (takenBack.length > 0) {
    const named = takenBack.map(({ commit, subject }) => `${commit.slice(0, 10)} ${subject}`).join(", ");
    lines.push(makeLine(`Brings back what was taken out of ${target}: ${inert(named)}`, "trouble"));
  }
  if (conflict) {
    const by = conflict.tier ? `, resolved by: ${conflict.tier}` : "";
    lines.push(makeLine(`Conflicted with ${target} in ${inert(conflict.files.join(", "))}${by}`, "attention"));
  }
  if (found.summary.trim() !== "") lines.push(EMPTY_LINE, ...toLines(found.summary.trim()));
  lines.push(EMPTY_LINE, makeLine("Checks", "title"), ...listChecks(receipts, missing));
  lines.push(EMPTY_LINE, makeLine(`${changes.length} ${changes.length === 1 ? "file" : "files"} changed`, "title"));
  for (const { kind, path } of changes) lines.push(makeLine(`  ${kind} ${inert(path)}`));
  if (found.diff !== "") lines.push(EMPTY_LINE, ...listDiffLines(found.diff.trimEnd()));
  return lines;
}

function listChecks(receipts: Review["receipts"], missing: Review["missing"]): Line[] {
  const ran = receipts.map(({ name, on, verdict, why, durationMs, flaky }) => {
    const notes = `${why ? `: ${why}` : ""}${flaky ? ", flaky: it failed first" : ""}`;
    const tone: Tone = verdict === "pass" ? "good" : "trouble";
    return makeLine(`  ${inert(name)} on ${inert(on)}: ${verdict}${inert(notes)} (${durationMs} ms)`, tone);
  });
  const open = missing.length > 0 ? [makeLine(`  not run yet: ${inert(missing.join(", "))}`, "attention")] : [];
  return ran.length + open.length > 0 ? [...ran, ...open] : [makeLine("  none is configured", "faint")];
}

function listDiffLines(diff: string): Line[] {
  return diff.split("\n").map((one) => {
    const [line = makeLine("")] = toLines(one, toneOfDiff(one));
    return line;
  });
}

function toneOfDiff(line: string): Tone {
  if (line.startsWith("diff --git") || line.startsWith("+++") || line.startsWith("---")) return "title";
  if (line.startsWith("@@")) return "attention";
  return line.startsWith("+") ? "good" : line.startsWith("-") ? "trouble" : "plain";
}
