/** `overseer report`: what happened since you looked last, for the morning. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { parseSince, readMorningReport } from "#control/morning-report.ts";
import { presentMorning } from "#control/present.ts";
import { renderMorning, renderMorningMarkdown } from "#domain/explain/morning-text.ts";

const command: Command<Parts> = {
  name: "report",
  summary: "Report what landed, failed and cost, and what waits for you.",
  details:
    "Sessions count with all they have used, also where they began before. The daemon leaves one of its own life in logs/report.md below the state root when it stops.",
  options: [
    { name: "since", value: "time", summary: "A span such as 12h or 2d, or a date; 24h without it." },
    { name: "markdown", summary: "As Markdown, to be pasted elsewhere." },
  ],
  examples: [
    { line: "overseer report --since 12h", why: "what the night brought" },
    { line: "overseer report --since 7d --markdown", why: "for the others" },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const since = parseSince(call.text("since") ?? "24h", world.clock.now());
    const report = await readMorningReport(world, since);
    if (call.json) return call.out.json(presentMorning(report));
    const text = call.has("markdown") ? renderMorningMarkdown(report) : renderMorning(report);
    for (const line of text.trimEnd().split("\n")) call.out.line(inert(line));
  },
};

export default command;
