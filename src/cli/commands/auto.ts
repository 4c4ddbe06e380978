/** `overseer auto …`: how auto mode stands, no more tasks for now, and a failed task once more. */

import type { Command, Option } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { renderAuto } from "#cli/status-page.ts";
import { inert, roomOf } from "#cli/text.ts";
import * as auto from "#control/auto.ts";
import { presentAuto, presentPlain } from "#control/present.ts";

const REASON: Option = { name: "reason", value: "text", summary: "The reason; kept in the log." };

const status: Command<Parts> = {
  name: "status",
  summary: "Show workers, tasks, errors, and why no task is taken now.",
  options: [{ name: "plain", summary: "Sentences instead of columns and colours, for a screen reader." }],
  async run(call, parts) {
    const world = await parts.world();
    const view = await auto.readAuto(world);
    if (call.json) return call.out.json(presentAuto(view));
    if (view === null) {
      call.out.line("Auto mode was not used here yet.");
      return call.out.line("overseer up --auto --task-pool-command '<command that prints a task>' begins it.");
    }
    const { out } = call;
    const style = { plain: call.has("plain"), colour: out.colour, width: roomOf(out) };
    for (const line of renderAuto(view, world.clock.now(), style)) out.line(line);
  },
};

const pause: Command<Parts> = {
  name: "pause",
  summary: "Take no more tasks; what is begun is finished.",
  details: "It stays paused, also when the daemon restarts, until 'overseer auto resume'.",
  options: [REASON],
  async run(call, parts) {
    const { changed } = await auto.pause(await parts.world(), call.text("reason") ?? null);
    if (call.json) return call.out.json(presentPlain({ paused: true, changed }));
    call.out.line(
      changed
        ? "Auto mode is paused: no more tasks are taken; 'overseer auto resume' ends it."
        : "It was paused already.",
    );
  },
};

const resume: Command<Parts> = {
  name: "resume",
  summary: "Take tasks again.",
  options: [REASON],
  async run(call, parts) {
    const { changed } = await auto.resume(await parts.world(), call.text("reason") ?? null);
    if (call.json) return call.out.json(presentPlain({ paused: false, changed }));
    call.out.line(changed ? "Auto mode takes tasks again." : "It was not paused.");
  },
};

const retry: Command<Parts> = {
  name: "retry",
  summary: "Try a failed task of the pool again.",
  details:
    "A task that is blocked continues where it was, with all its tries again. One that was cancelled is done anew, from the same words, as a new goal.",
  args: [{ name: "task", summary: "The task's goal, or goal and node, as 'overseer auto' shows it." }],
  options: [REASON],
  async run(call, parts) {
    const { node, anew } = await auto.retry(await parts.world(), call.arg("task"), call.text("reason") ?? null);
    if (call.json) return call.out.json(presentPlain({ node, anew }));
    call.out.line(anew ? `Queued again as ${inert(node)}.` : `${inert(node)} is tried again.`);
  },
};

const command: Command<Parts> = {
  name: "auto",
  summary: "Show, pause and resume auto mode; try a failed task again.",
  details: "'overseer up --auto' begins auto mode, 'overseer down' ends it. docs/auto.md tells all of it.",
  subcommands: [status, pause, resume, retry],
  otherwise: "status",
};
export default command;
