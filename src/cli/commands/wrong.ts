/** `overseer wrong`: a person's word that a steering was wrong, and the labels that come of it. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, plural } from "#cli/text.ts";
import { presentPlain } from "#control/present.ts";
import { exportWrong, judgeWrong } from "#control/wrong.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "wrong",
  summary: "Say that a steering was wrong; metrics count it.",
  details: `The steering itself cannot be taken back: the agent has heard it. What you say is an event in the log;
\`overseer metrics\` shows how often steerings were wrong, by anomaly, and --labels writes them down for
\`overseer replay --score\`.`,
  args: [
    {
      name: "steering",
      summary: "Its id, as `why --all` and `events` show it, or an agent for its last one.",
      optional: true,
    },
  ],
  options: [
    { name: "reason", value: "text", summary: "Why it was wrong; kept in the log." },
    { name: "labels", value: "file", summary: "Append a label for every steering that was called wrong to this file." },
  ],
  examples: [
    { line: 'overseer wrong builder-1 --reason "It waited for the build."', why: "the last steering of that agent" },
    { line: "overseer wrong 1234", why: "the steering with that id" },
    { line: "overseer wrong --labels labels.ndjson", why: "keep them for replay --score" },
  ],
  async run(call, parts) {
    const word = call.optionalArg("steering");
    const path = call.text("labels");
    if (word === undefined && path === undefined) {
      const hint = "Say `overseer wrong <steering or agent>`, or --labels <file> to write them down.";
      throw new OverseerError("usage", "STEERING_MISSING", "Which steering was wrong?", hint);
    }
    const world = await parts.world();
    const refuted = word === undefined ? null : await judgeWrong(world, word, call.text("reason") ?? null);
    const exported = path === undefined ? null : await exportWrong(world, path);
    if (call.json) return call.out.json(presentPlain({ ...refuted, exported }));
    if (refuted) {
      const about = `steering ${refuted.steering} of ${refuted.agent}#${refuted.attempt} (${refuted.anomaly}: ${refuted.fact})`;
      call.out.line(inert(refuted.already ? `Kept before: ${about} was wrong.` : `Kept: ${about} was wrong.`));
    }
    if (exported !== null) call.out.line(`${plural(exported, "label")} added to ${path}.`);
  },
};

export default command;
