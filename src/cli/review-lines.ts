/**
 * Finished work as lines for whoever decides about it: what the checks say first, then what only a person may let through,
 * the author's words, which files change by how much, and the change itself. Pure; `paintLine` colours a line.
 */
import type { Review } from "#control/review.ts";
import type { ConversationLine, ConversationTone } from "./conversation-lines.ts";
import { inert, plural } from "./text.ts";

const ONLY_YOU = {
  protected: "FILES THAT ONLY YOU MAY LET THROUGH",
  outside_scope: "OUTSIDE OF ITS SCOPE",
  dropped_side: "ONE SIDE OF A CONFLICT IS GONE",
} as const;

export function reviewLines(found: Review, withDiff: boolean): ConversationLine[] {
  const rows: ConversationLine[] = [];
  const add = (text: string, tone: ConversationTone = "plain") => rows.push({ text, tone });
  add(`${found.node}  ${inert(found.name)}`, "command");
  const by = `by ${found.agent}, commit ${found.commit.slice(0, 12)}, onto ${inert(found.target)}`;
  const detail = found.unchanged === null ? found.detail : null;
  add(`${by}: ${found.state}${detail ? `: ${inert(detail)}` : ""}`);
  if (found.unchanged !== null) add(`NOTHING IS NEW: ${inert(found.unchanged)}`, "failed");
  for (const line of checkLines(found)) rows.push(line);
  for (const line of warnings(found)) add(line, "failed");
  for (const line of found.summary.trim().split("\n")) if (found.summary.trim() !== "") add(inert(line));
  const counts = countChanges(found.diff);
  const sum = [...counts.values()].reduce((all, one) => [all[0] + one[0], all[1] + one[1]] as const, [0, 0] as const);
  add("");
  add(`${plural(found.changes.length, "file")} changed, +${sum[0]} -${sum[1]}`, "command");
  for (const { kind, path } of found.changes) {
    const [added, removed] = counts.get(path) ?? [0, 0];
    add(`  ${kind} ${inert(path)}${added + removed > 0 ? `  +${added} -${removed}` : ""}`);
  }
  if (!withDiff || found.diff === "") return rows;
  add("");
  return [...rows, ...diffLinesOf(found.diff)];
}

/** A failed check, or one that said nothing yet, is what one has to know first. */
function checkLines({ receipts, missing, state }: Review): ConversationLine[] {
  const said = receipts.map(({ name, on, verdict, why, durationMs, logPath, flaky }): ConversationLine => {
    const notes = `${why ? `: ${why}` : ""}${flaky ? ", flaky: it failed first" : ""}`;
    const tone = verdict === "pass" ? "added" : "failed";
    return { text: `check ${name} on ${on}: ${verdict}${inert(notes)} (${durationMs} ms, ${inert(logPath)})`, tone };
  });
  const unsaid: ConversationLine[] =
    missing.length > 0 ? [{ text: `not checked yet: ${missing.join(", ")}`, tone: "failed" }] : [];
  if (said.length + unsaid.length > 0 || state !== "unverified") return [...said, ...unsaid];
  return [{ text: "no check is configured: it stands on its author's word", tone: "failed" }];
}

function warnings({ overreach, takenBack, conflict, target }: Review): string[] {
  const named = takenBack.map(({ commit, subject }) => `${commit.slice(0, 10)} ${subject}`);
  return [
    ...(overreach ? [`${ONLY_YOU[overreach.kind]}: ${inert(overreach.files.join(", "))}`] : []),
    ...(named.length > 0 ? [`BRINGS BACK WHAT WAS TAKEN OUT OF ${inert(target)}: ${inert(named.join(", "))}`] : []),
    ...(conflict
      ? [
          `conflicted with ${inert(target)} in ${inert(conflict.files.join(", "))}${conflict.tier ? `, resolved by: ${conflict.tier}` : ""}`,
        ]
      : []),
  ];
}

/** Lines added and taken out, by file. */
function countChanges(diff: string): ReadonlyMap<string, readonly [number, number]> {
  const counts = new Map<string, readonly [number, number]>();
  let path = "";
  let inHunk = false;
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) inHunk = false;
    else if (line.startsWith("@@")) inHunk = true;
    else if (!inHunk && (line.startsWith("+++ b/") || line.startsWith("--- a/")))
      path = line.slice(6).replace(/\t$/, "");
    else if (inHunk && (line.startsWith("+") || line.startsWith("-"))) {
      const [added, removed] = counts.get(path) ?? [0, 0];
      counts.set(path, line.startsWith("+") ? [added + 1, removed] : [added, removed + 1]);
    }
  }
  return counts;
}

function diffLinesOf(diff: string): ConversationLine[] {
  let inHunk = false;
  return diff
    .trimEnd()
    .split("\n")
    .map((line) => {
      if (line.startsWith("diff --git ")) inHunk = false;
      else if (line.startsWith("@@")) inHunk = true;
      return { text: inert(line), tone: toneOfDiff(line, inHunk) };
    });
}

function toneOfDiff(line: string, inHunk: boolean): ConversationTone {
  if (!inHunk) return line.startsWith("diff --git ") ? "command" : "faint";
  if (line.startsWith("@@")) return "prompt";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "plain";
}
