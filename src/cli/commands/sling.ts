/** `overseer sling`: puts an agent to work on a task, in a worktree of its own. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, plural } from "#cli/text.ts";
import { queuePrompt } from "#control/add-work.ts";
import { livingDaemon } from "#control/daemon.ts";
import { presentAttempt, presentPlain, presentSlingPlan } from "#control/present.ts";
import { type SlingInput, type SlingPlan, slingAgent } from "#control/sling.ts";
import { assertFits, type World } from "#control/world.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { describeExemption } from "#domain/model/supervision.ts";
import { readPromptList } from "#domain/plans/prompt-list.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { redact } from "#telemetry/redact.ts";

const command: Command<Parts> = {
  name: "sling",
  summary: "Start an agent on a task, in its own worktree.",
  details:
    "Claims the task, creates a worktree and a branch, writes the agent's instructions, and starts it under a runner. If a step fails, the steps before it are undone. Depth and parent follow from the caller. A prompt becomes a goal of its own, called by its words. In a list (--file) blank lines and lines that begin with # are skipped, a bad line refuses the whole, and what finds no free place waits for the daemon. With --follow the exit code is 0 when it has landed or waits for somebody, 4 when it ended without, 7 when you left it at work.",
  args: [{ name: "task", summary: "T1.1 or goal_x/T1.1; leave it out with --prompt.", optional: true }],
  options: [
    { name: "name", value: "name", summary: "What to call the agent (default: capability and a number)." },
    { name: "capability", value: "role", summary: "Which role it plays (default builder)." },
    {
      name: "role",
      value: "role",
      summary: "Supervise it by another role's rules; none: without a reflex of its own.",
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
    { name: "no-nudge", summary: "Never nudge it; where it is stuck, what would be done instead is done." },
    { name: "no-supervision", summary: "Leave it alone however long it is silent; only its death is noticed." },
    { name: "file", value: "file", summary: "Start one agent for each line of a list; - reads standard input." },
    {
      name: "follow",
      short: "f",
      summary: "Show what it does until it has landed, waits for you or has ended; Ctrl-C leaves it at work.",
    },
    { name: "dry-run", summary: "Print what would be done, and do nothing." },
  ],
  examples: [
    { line: "overseer sling T1.1 --files src/parser", why: "a builder with exclusive files" },
    { line: 'overseer sling --prompt "Find out why start-up is slow" --capability scout', why: "no plan needed" },
    { line: 'overseer sling --prompt "Add rate limiting" --follow', why: "watch it until it has landed" },
    { line: "overseer sling --file today.txt", why: "one sentence a line, one agent each" },
  ],
  async run(call, parts) {
    const task = call.optionalArg("task");
    const prompt = call.text("prompt");
    const list = call.text("file");
    assertOneKind(call, [task, prompt, list].filter((given) => given !== undefined).length);
    const spec = call.text("spec");
    const world = await parts.world();
    const input: SlingInput = {
      task,
      goal: call.text("goal"),
      prompt,
      name: call.text("name"),
      capability: call.text("capability"),
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
      supervision: {
        ...(call.has("no-nudge") ? { nudge: false } : {}),
        ...(call.has("no-supervision") ? { enabled: false } : {}),
      },
      dryRun: call.has("dry-run"),
    };
    if (list !== undefined) return slingList(call, world, input, { name: list, text: await parts.readText(list) });
    const slung = await slingAgent(world, input, (sentence) => call.json || call.out.remark(inert(sentence)));
    if (call.json) {
      call.out.json(slung.dryRun ? presentSlingPlan(slung.plan) : presentAttempt(slung.attempt));
      return;
    }
    if (slung.dryRun) return call.out.line(describePlan(slung.plan));
    tellStarted(call, slung.attempt);
    tellUnwatched(call, world, slung.attempt.agent);
    if (!call.has("follow")) return call.out.remark(`Look: overseer peek ${slung.attempt.agent} --follow`);
    const { followWork } = await import("#cli/live/follow-work.ts");
    return followWork(call, world, slung.attempt);
  },
};

function assertOneKind(call: Call, kinds: number): void {
  if (kinds !== 1) {
    throw new OverseerError(
      "usage",
      "TASK_MISSING",
      kinds === 0 ? "Nothing to do was named." : "A task, a prompt or a list: only one of them can be meant.",
      'Name a task (overseer sling T1.1) or say what to do (--prompt "…", --file list.txt).',
    );
  }
  const isOwnGoal = call.optionalArg("task") === undefined;
  if (isOwnGoal && call.text("goal") !== undefined) {
    throw new OverseerError(
      "usage",
      "GOAL_NOT_MEANT",
      "A prompt becomes a goal of its own; --goal says where a task is.",
      `To add it to that goal: overseer work add "…" --goal ${call.text("goal") ?? ""}`,
    );
  }
  if (call.has("follow") && call.json) {
    const hint = "Leave out one of them; 'overseer events --follow --json' tells everything.";
    throw new OverseerError("usage", "NOT_FOLLOWED", "--follow shows lines for people, --json is one value.", hint);
  }
  const single = ["name", "spec", "files", "follow"].find((one) => call.has(one) || call.list(one).length > 0);
  if (call.text("file") !== undefined && single !== undefined) {
    const hint = `Leave out --${single}, or sling that one alone with --prompt.`;
    throw new OverseerError(
      "usage",
      "ONE_AGENT_MEANT",
      `--${single} is for one agent, and a list starts several.`,
      hint,
    );
  }
}

function describePlan(plan: SlingPlan): string {
  return `Would start ${plan.agent} (${plan.capability} on ${plan.runtime}) on ${plan.goalId}/${plan.workNodeId} from ${plan.base.slice(0, 10)} of ${plan.targetBranch}${plan.scope ? `, alone in ${plan.scope.join(", ")}` : ""}${tellExempt(plan)}.`;
}

function tellExempt(of: Pick<Attempt, "exempt">): string {
  const exempt = describeExemption(of);
  return exempt === undefined ? "" : ` (${exempt})`;
}

function tellStarted({ out }: Call, attempt: Attempt): void {
  const { agent, goalId, workNodeId, branch } = attempt;
  out.line(
    `${agent}#${attempt.attempt} is at work on ${goalId}/${workNodeId}, branch ${branch}${tellExempt(attempt)}.`,
  );
}

function tellUnwatched({ out }: Call, world: World, whom: string): void {
  if (livingDaemon(world)) return;
  out.remark(
    `No daemon runs: nobody watches ${whom}, and what it does is not checked and does not land by itself. Start it: overseer up`,
  );
}

/** What says no to one more agent for now, and not to the work. */
const NO_PLACE = new Set(["FLEET_FULL", "NO_ROOM"]);

/** One agent for each line, as long as there is room; the rest waits for the daemon. Nothing starts if a line is bad. */
async function slingList(
  call: Call,
  world: World,
  input: SlingInput,
  file: { readonly name: string; readonly text: string },
): Promise<void> {
  const list = readPromptList(file.text, file.name === "-" ? "standard input" : file.name);
  if (!list.ok) return orThrow(list);
  const tell = (sentence: string) => call.json || call.out.remark(inert(sentence));
  // Whatever would refuse them all refuses here, and a text that is too long before the first has started.
  for (const { text } of list.prompts) await assertFits(world, { prompt: text });
  const [first] = list.prompts;
  const tried = await slingAgent(world, { ...input, prompt: first?.text ?? "", dryRun: true }, tell);
  if (input.dryRun) {
    if (call.json) return call.out.json(presentPlain({ lines: list.prompts }));
    return call.out.line(
      `Would start ${plural(list.prompts.length, "agent")}${tried.dryRun ? ` on ${tried.plan.runtime}` : ""}.`,
    );
  }
  const started: Attempt[] = [];
  const waiting: string[] = [];
  for (const { line, text } of list.prompts) {
    try {
      const slung = waiting.length > 0 ? undefined : await slingAgent(world, { ...input, prompt: text }, tell);
      if (slung && !slung.dryRun) {
        started.push(slung.attempt);
        if (!call.json) tellStarted(call, slung.attempt);
        continue;
      }
    } catch (error) {
      if (!(error instanceof OverseerError)) throw error;
      if (!NO_PLACE.has(error.code)) {
        const said = `Line ${line} was not started, nor what follows it: ${error.message}`;
        throw new OverseerError(error.kind, error.code, said, error.hint, { cause: error });
      }
    }
    const { capability, runtime, model, tags, supervision = {} } = input;
    const hints = {
      ...(Object.keys(supervision).length > 0 ? { supervision } : {}),
      ...(capability ? { capability } : {}),
      ...(runtime ? { runtime } : {}),
      ...(model ? { model } : {}),
    };
    waiting.push(await queuePrompt(world, { prompt: redact(text), tags, hints }));
    if (!call.json) call.out.line(`${waiting.at(-1)} waits for a free place: ${inert(text)}`);
  }
  if (call.json) {
    const agents = started.map(({ agent, attempt, goalId, workNodeId }) => ({ agent, attempt, goalId, workNodeId }));
    return call.out.json(presentPlain({ started: agents, waiting }));
  }
  const more = waiting.length > 0 ? `, ${waiting.length} waiting` : "";
  call.out.line(`${plural(started.length, "agent")} started${more}.`);
  tellUnwatched(call, world, "them");
  call.out.remark("Look: overseer status --watch");
}

export default command;
