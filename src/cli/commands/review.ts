/** `overseer review`: what is finished and has not landed; with a name, its whole change and the receipts of its checks. */

import type { Call, Command } from "#cli/command.ts";
import { paintLine } from "#cli/conversation-lines.ts";
import { pageLines } from "#cli/pager.ts";
import type { Parts } from "#cli/parts.ts";
import { reviewLines } from "#cli/review-lines.ts";
import { shortTime } from "#cli/short-time.ts";
import { inert, table } from "#cli/text.ts";
import { presentReview, presentReviews } from "#control/present.ts";
import type { Review } from "#control/review.ts";
import { review, reviews } from "#control/review.ts";

const command: Command<Parts> = {
  name: "review",
  summary: "Review finished work: what it changes, what the checks say.",
  details:
    "On a terminal in colour and in your pager (PAGER). Without a name it lists everything reported done that has not landed. What only a person may let through comes first: files outside the agent's scope, Overseer's own files, and those that checks depend on.",
  args: [{ name: "what", summary: "An agent (builder-1, builder-1#4), a task, or a landing (M_…).", optional: true }],
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
    const timeOf = (at: number) => shortTime(at, world.clock.now());
    table(
      call.out,
      rows.map((row) => [row.node, row.agent, row.state, row.commit.slice(0, 10), timeOf(row.claimedAt), row.name]),
    );
    for (const { node, unchanged } of rows) if (unchanged !== null) call.out.line(`${node} is ${inert(unchanged)}.`);
    call.out.remark(`Then: overseer review ${rows[0]?.node ?? "<task>"}`);
  },
};

async function print(call: Call, found: Review): Promise<void> {
  const { out } = call;
  const lines = reviewLines(found, !call.has("stat")).map((line) => paintLine(line, out.colour));
  await pageLines(out, lines);
  const seen = `--commit ${found.commit.slice(0, 12)}`;
  out.remark(`Then: overseer accept ${found.node} ${seen}, reject ${found.node} --reason "…", or pick ${found.node}`);
}

export default command;
