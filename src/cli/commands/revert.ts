/** `overseer revert`: a person takes landed work out of the target again. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { presentReverted } from "#control/present.ts";
import { type Reverted, takeBackLanding } from "#control/revert.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "revert",
  summary: "Take a landing back by a commit, through the same gate.",
  details:
    "The revert is made beside your checkout and gets into the target as work does: predicted conflicts, checks on the resulting tree, and your checkout moves only when it is clean. The node stays done and is marked as taken back; --reopen gives the same work anew. Where landed work depends on it, nothing is done without --force. If it is not taken back, nothing has changed and the exit code is 4; while it waits for your checkout, 7.",
  args: [{ name: "what", summary: "A node, or the agent that did it." }],
  options: [
    { name: "goal", value: "id", summary: "The goal, if several have that node." },
    { name: "reason", value: "text", summary: "The reason; kept in the log and in the commit." },
    { name: "reopen", summary: "Give the same work anew, with the reason, as a goal of its own." },
    { name: "force", summary: "Although landed work depends on it." },
  ],
  examples: [
    { line: 'overseer revert T1.2 --reason "breaks the import"', why: "take it out of the target" },
    { line: "overseer revert builder-1 --reopen", why: "and let it be done once more" },
  ],
  async run(call, parts) {
    const words = { what: call.arg("what"), goal: call.text("goal"), reason: call.text("reason") };
    const choice = { force: call.has("force"), reopen: call.has("reopen") };
    const outcome = await takeBackLanding(await parts.world(), { ...words, ...choice });
    if (call.json) call.out.json(presentReverted(outcome));
    else if (outcome.outcome === "taken-back") tellReverted(call, outcome);
    throwUnlessTakenBack(outcome);
  },
};

function tellReverted(call: Call, outcome: Reverted): void {
  const { node, target, landed, commit, detail, dependents, again } = outcome;
  const by = commit === null ? "; nothing of it was left there" : ` by ${commit.slice(0, 10)}`;
  call.out.line(`Taken back: ${node}, which landed as ${landed.slice(0, 10)}, is out of ${inert(target)} again${by}.`);
  if (detail) call.out.line(inert(detail));
  if (dependents.landed.length > 0) call.out.line(`Landed and depends on it: ${dependents.landed.join(", ")}.`);
  if (dependents.open.length > 0)
    call.out.line(
      `Open and depends on it: ${dependents.open.join(", ")}; 'overseer why <node>' says where each stands.`,
    );
  call.out.line(
    again === null ? `'overseer revert ${node} --reopen' gives the same work anew.` : `Given anew as ${again}.`,
  );
}

/** No script takes for taken back what is not. */
function throwUnlessTakenBack({ node, outcome, detail, landed, target }: Reverted): void {
  if (outcome === "taken-back") return;
  const why = inert(detail ?? "no reason is known");
  if (outcome === "waiting") {
    const message = `Not yet taken back: ${node} waits to leave ${inert(target)}: ${why}.`;
    const hint = "The daemon continues with it once that is out of the way; without one, run the same command again.";
    throw new OverseerError("unconfirmed", "NOT_TAKEN_BACK_YET", message, hint);
  }
  const id = landed.slice(0, 10);
  const prompt = `overseer sling --prompt "Take commit ${id} (${node}) back: make the revert fit what came after it"`;
  const hint = `Let an agent do it: ${prompt}; or by hand, on a branch of yours: git revert ${id} (with -m 1 where it is a merge), then 'overseer merge --branch <name>'.`;
  throw new OverseerError(
    "conflict",
    "NOT_TAKEN_BACK",
    `Nothing was changed: ${node} cannot be taken back: ${why}.`,
    hint,
  );
}

export default command;
