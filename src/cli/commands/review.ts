/** `overseer review`: what is finished and has not landed; with a name, its whole change and the receipts of its checks. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, inertLines, moment, plural, table } from "#cli/text.ts";
import { presentReview, presentReviews } from "#control/present.ts";
import type { Review } from "#control/review.ts";
import { review, reviews } from "#control/review.ts";

const command: Command<Parts> = {
  name: "review",
  summary: "Review finished work: what it changes, and what the checks say.",
  details:
    "Without a name it lists everything reported done that has not landed. What only a person may let through comes first: files outside the agent's scope, Overseer's own files, and those that checks depend on.",
  args: [{ name: "what", summary: "An agent's name, or a node.", optional: true }],
  options: [
    { name: "goal", value: "id", summary: "The goal, if several have that node." },
    { name: "stat", summary: "Only which files change, not how." },
  ],
  examples: [{ line: "overseer review builder-1", why: "read what it did, then accept, reject or pick it" }],
  async run(call, parts) {
    const world = await parts.world();
    const what = call.optionalArg("what");
    if (what !== undefined) {
      const found = await review(world, { what, goal: call.text("goal") });
      return call.json ? call.out.json(presentReview(found)) : print(call, found);
    }
    const rows = await reviews(world);
    if (call.json) return call.out.json(presentReviews(rows));
    if (rows.length === 0) return call.out.line("Nothing waits for a review.");
    table(
      call.out,
      rows.map((row) => [row.node, row.agent, row.state, row.commit.slice(0, 10), moment(row.claimedAt), row.name]),
    );
  },
};

const ONLY_YOU = {
  protected: "FILES THAT ONLY YOU MAY LET THROUGH",
  outside_scope: "OUTSIDE OF ITS SCOPE",
  dropped_side: "ONE SIDE OF A CONFLICT IS GONE",
} as const;

function print(call: Call, found: Review): void {
  const { out } = call;
  out.line(`${found.node}  ${inert(found.name)}`);
  out.line(`by ${found.agent}, commit ${found.commit.slice(0, 12)}, onto ${inert(found.target)}: ${found.state}`);
  if (found.detail) out.line(`  ${inert(found.detail)}`);
  if (found.overreach) {
    out.line(`${ONLY_YOU[found.overreach.kind]}: ${inert(found.overreach.files.join(", "))}`);
  }
  if (found.takenBack.length > 0) {
    const named = found.takenBack.map(({ commit, subject }) => `${commit.slice(0, 10)} ${subject}`);
    out.line(`BRINGS BACK WHAT WAS TAKEN OUT OF ${inert(found.target)}: ${inert(named.join(", "))}`);
  }
  if (found.conflict) {
    const { files, tier } = found.conflict;
    out.line(
      `conflicted with ${inert(found.target)} in ${inert(files.join(", "))}${tier ? `, resolved by: ${tier}` : ""}`,
    );
  }
  if (found.summary.trim() !== "") out.line(inertLines(found.summary.trim()));
  for (const { name, on, verdict, why, durationMs, logPath, flaky } of found.receipts) {
    const notes = `${why ? `: ${why}` : ""}${flaky ? ", flaky: it failed first" : ""}`;
    out.line(`check ${name} on ${on}: ${verdict}${inert(notes)} (${durationMs} ms, ${inert(logPath)})`);
  }
  if (found.missing.length > 0) out.line(`not checked yet: ${found.missing.join(", ")}`);
  out.line(`${plural(found.changes.length, "file")} changed`);
  for (const { kind, path } of found.changes) out.line(`  ${kind} ${inert(path)}`);
  if (!call.has("stat") && found.diff !== "") out.line(inertLines(found.diff.trimEnd()));
  out.remark(`Then: overseer accept ${found.node}, reject ${found.node} --reason "…", or pick ${found.node}`);
}

export default command;
