/** `overseer sling`: puts an agent to work on a task, in a worktree of its own. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { presentAttempt, presentSlingPlan } from "#control/present.ts";
import { slingAgent } from "#control/sling.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "sling",
  summary: "Start an agent on a task, in its own worktree.",
  details:
    "Claims the task, creates a worktree and a branch, writes the agent's instructions, and starts it under a runner. If a step fails, the steps before it are undone. Depth and parent follow from the caller.",
  args: [{ name: "task", summary: "T1.1 or goal_x/T1.1; leave it out with --prompt.", optional: true }],
  options: [
    { name: "name", value: "name", summary: "What to call the agent (default: capability and a number)." },
    { name: "capability", value: "role", summary: "Which role it plays (default builder)." },
    {
      name: "role",
      value: "role",
      summary: "Supervise it by another role's rules; none turns supervision off.",
    },
    { name: "runtime", value: "name", summary: "Which agent CLI runs it." },
    { name: "model", value: "name", summary: "Which model, as the runtime calls it." },
    { name: "prompt", value: "text", summary: "Create a task from this text." },
    { name: "goal", value: "id", summary: "The goal the task belongs to." },
    { name: "spec", value: "file", summary: "The specification (default: derived from the task)." },
    { name: "files", value: "path", summary: "Paths that only this agent may write.", repeat: true },
    { name: "tags", value: "word", summary: "Labels.", repeat: true },
    { name: "parent", value: "agent", summary: "Who it reports to." },
    { name: "depth", value: "n", summary: "Checked against the derived depth." },
    { name: "base", value: "branch", summary: "The branch it starts from (default: the target branch)." },
    {
      name: "interactive",
      summary: "Give the agent its own screen instead of driving it; see it with 'overseer attach'.",
    },
    { name: "keep", summary: "Keep its worktree after it has landed." },
    { name: "dry-run", summary: "Print what would be done, and do nothing." },
  ],
  examples: [
    { line: "overseer sling T1.1 --files src/parser", why: "a builder with exclusive files" },
    { line: 'overseer sling --prompt "Find out why start-up is slow" --capability scout', why: "no plan needed" },
  ],
  async run(call, parts) {
    const task = call.optionalArg("task");
    const prompt = call.text("prompt");
    if ((task === undefined) === (prompt === undefined)) {
      throw new OverseerError(
        "usage",
        "TASK_MISSING",
        task === undefined ? "Nothing to do was named." : "Both a task and a prompt were given.",
        'Name a task (overseer sling T1.1) or say what to do (--prompt "…").',
      );
    }
    const spec = call.text("spec");
    const world = await parts.world();
    const slung = await slingAgent(
      world,
      {
        task,
        goal: call.text("goal"),
        prompt,
        name: call.text("name"),
        capability: call.text("capability") ?? "builder",
        role: call.text("role"),
        runtime: call.text("runtime"),
        model: call.text("model"),
        spec: spec === undefined ? undefined : await parts.readText(spec),
        files: call.list("files").flatMap((value) => value.split(",")),
        tags: call.list("tags").flatMap((value) => value.split(",")),
        parent: call.text("parent"),
        depth: call.number("depth"),
        base: call.text("base"),
        interactive: call.has("interactive"),
        keep: call.has("keep"),
        dryRun: call.has("dry-run"),
      },
      (sentence) => call.json || call.out.remark(inert(sentence)),
    );
    if (call.json) {
      call.out.json(slung.dryRun ? presentSlingPlan(slung.plan) : presentAttempt(slung.attempt));
      return;
    }
    if (slung.dryRun) {
      const { plan } = slung;
      call.out.line(
        `Would start ${plan.agent} (${plan.capability} on ${plan.runtime}) on ${plan.goalId}/${plan.workNodeId} from ${plan.base.slice(0, 10)} of ${plan.targetBranch}${plan.scope ? `, alone in ${plan.scope.join(", ")}` : ""}.`,
      );
      return;
    }
    const { attempt } = slung;
    call.out.line(
      `${attempt.agent}#${attempt.attempt} is at work on ${attempt.goalId}/${attempt.workNodeId}, branch ${attempt.branch}.`,
    );
    call.out.remark(`Look: overseer peek ${attempt.agent} --follow`);
  },
};

export default command;
