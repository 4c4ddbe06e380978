/** `overseer goal …`: what somebody wants, and the plan for it. */

import { tellAccepted, tellShared } from "#cli/accepted-plan.ts";
import { askYes } from "#cli/ask-yes.ts";
import type { Call, Command, Option } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, plural, table } from "#cli/text.ts";
import * as goals from "#control/goals.ts";
import * as plans from "#control/plans.ts";
import { presentGoal, presentGoals, presentPlan } from "#control/present.ts";
import type { GoalRow } from "#control/status.ts";
import * as views from "#control/views.ts";
import { GOAL_STATUSES, PRIORITIES, type Priority, type Risk } from "#domain/model/goal.ts";
import { LEAVES_OUT, type Pruned } from "#domain/plans/left-out.ts";
import { countAll, listLost } from "#domain/plans/rollup.ts";
import { OverseerError } from "#errors.ts";
import { redact } from "#telemetry/redact.ts";
import { BUDGET_OPTIONS, readRaise } from "./budget-options.ts";
import { showPlanDiff } from "./goal-diff.ts";
import { followCommand } from "./goal-follow.ts";
import { ASKING, askForPlan, findStep, PROPOSAL_OPTIONS, runStep } from "./goal-proposal.ts";
import show from "./goal-show.ts";

const DEFINITION: readonly Option[] = [
  { name: "title", value: "text", summary: "One line that names the goal." },
  { name: "priority", value: "level", summary: "How urgent it is.", choices: PRIORITIES },
  { name: "tag", value: "word", summary: "A label, inherited by its work.", repeat: true },
  { name: "problem", value: "text", summary: "What problem to solve, and why." },
  { name: "success", value: "text", summary: "How to tell that it is reached.", repeat: true },
  { name: "non-goal", value: "text", summary: "What is out of scope.", repeat: true },
  { name: "constraint", value: "text", summary: "A limit that any solution must respect.", repeat: true },
  { name: "assumption", value: "text", summary: "What is taken to be true.", repeat: true },
  { name: "risk", value: "risk|impact|mitigation", summary: "What may go wrong, in three parts.", repeat: true },
  { name: "owner", value: "name", summary: "Who is responsible." },
  { name: "stakeholder", value: "name", summary: "Who else cares.", repeat: true },
];

const GOAL_ARG = { name: "goal", summary: "The goal's id, or a unique prefix of it." };
const REASON: Option = { name: "reason", value: "text", summary: "The reason; kept in the log." };

function definition(call: Call) {
  return {
    title: call.text("title"),
    priority: call.text("priority") as Priority | undefined,
    tags: some(call.list("tag")),
    problemStatement: call.text("problem"),
    successCriteria: some(call.list("success")),
    nonGoals: some(call.list("non-goal")),
    constraints: some(call.list("constraint")),
    assumptions: some(call.list("assumption")),
    risks: some(call.list("risk").map(parseRisk)),
    owner: call.text("owner"),
    stakeholders: some(call.list("stakeholder")),
  };
}

function some<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length > 0 ? items : undefined;
}

/** Redacted before it is cut: a secret may hold the sign that separates the parts. */
function parseRisk(text: string): Risk {
  const [risk = "", impact = "", mitigation = ""] = redact(text)
    .split("|")
    .map((part) => part.trim());
  return { risk, impact, mitigation };
}

const create: Command<Parts> = {
  name: "create",
  summary: "Record a new goal.",
  details:
    "The title may be given as the argument, with --title, or stand in the plan, as criteria and constraints may (goal: {title, successCriteria, constraints}); what is said here goes first. A goal has no work until it is given a plan.",
  args: [{ name: "title", summary: "One line that names the goal.", optional: true }],
  options: [
    ...DEFINITION,
    {
      name: "plan",
      value: "file",
      summary: "Also set its plan, as 'goal plan --file' does; - reads standard input.",
    },
    { name: "plan-with-model", summary: "Also ask a model for its plan, as 'goal plan --with-model' does." },
    ...ASKING,
    { name: "from-session", value: "agent", summary: "The agent or session that asked; its questions go there." },
  ],
  examples: [
    { line: 'overseer goal create "Parse dates in every locale"', why: "the shortest way" },
    {
      line: 'overseer goal create "Faster start" --priority high --success "cold start under 50 ms" --tag perf',
      why: "with a success criterion",
    },
  ],
  async run(call, parts) {
    const given = definition(call);
    const title = call.optionalArg("title") ?? given.title;
    const file = call.text("plan");
    if (title === undefined && file === undefined) {
      throw new OverseerError(
        "usage",
        "TITLE_MISSING",
        "The goal has no title.",
        'Give one: overseer goal create "…"; or --plan with a file that has one (goal: {title: …}).',
      );
    }
    const byModel = call.has("plan-with-model");
    if (byModel && file !== undefined) {
      const message = "--plan and --plan-with-model do not go together.";
      throw new OverseerError("usage", "TWO_WAYS", message, "Give the plan, or have a model make one.");
    }
    const text = file === undefined ? undefined : await parts.readText(file);
    const world = await parts.world();
    const wanted = { ...given, title, fromSession: call.text("from-session") };
    const planned =
      file === undefined || text === undefined
        ? undefined
        : await goals.createWithPlan(world, wanted, { name: file, text });
    const goalId = planned?.goalId ?? (await goals.create(world, { ...wanted, title: title ?? "" }));
    if (byModel) {
      if (!call.json) call.out.line(`Created ${goalId}.`);
      return askForPlan(call, world, goalId, { remark: null });
    }
    if (call.json) return call.out.json(presentGoal(await views.goal(world, goalId)));
    call.out.line(`Created ${goalId}.`);
    if (planned) call.out.line(`It has a plan: ${plural(planned.added, "node")}.`);
    else call.out.remark(`Give it a plan: overseer goal plan ${goalId} --with-model, or --file plan.yaml`);
    if (planned) tellShared(call, planned);
  },
};

const list: Command<Parts> = {
  name: "list",
  summary: "List goals with their progress.",
  options: [
    { name: "all", summary: "Include archived goals." },
    { name: "status", value: "status", summary: "Only with this status.", choices: GOAL_STATUSES },
  ],
  async run(call, parts) {
    const rows = await views.goals(await parts.world(), { all: call.has("all"), status: call.text("status") });
    if (call.json) return call.out.json(presentGoals(rows));
    if (rows.length === 0) return call.out.line('No goals yet. Record one: overseer goal create "…".');
    printGoals(call, rows);
  },
};

export function printGoals(call: Call, rows: readonly GoalRow[]): void {
  table(
    call.out,
    rows.map((row) => [
      row.goalId,
      row.status,
      row.priority,
      `${row.progress.percent} %`,
      `${row.progress.done}/${countAll(row.progress)}`,
      listLost(row.progress).join(", "),
      row.blocked > 0 ? `${row.blocked} blocked` : "",
      row.unchanged > 0 ? `${row.unchanged} without changes` : "",
      row.title,
    ]),
  );
}

const update: Command<Parts> = {
  name: "update",
  summary: "Change a goal's description.",
  details: "A list option replaces the whole list.",
  args: [GOAL_ARG],
  options: DEFINITION,
  examples: [{ line: "overseer goal update goal_7ZK3 --priority urgent", why: "an id may be shortened" }],
  async run(call, parts) {
    const world = await parts.world();
    const goalId = await goals.update(world, call.arg("goal"), compact(definition(call)));
    if (call.json) return call.out.json(presentGoal(await views.goal(world, goalId)));
    call.out.line(`Updated ${goalId}.`);
  },
};

function compact<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Partial<T>;
}

/** The four verbs that only move a goal differ in nothing but their words. */
function mover(
  name: string,
  summary: string,
  said: string,
  act: (world: Awaited<ReturnType<Parts["world"]>>, goal: string, reason?: string) => Promise<string>,
): Command<Parts> {
  return {
    name,
    summary,
    args: [GOAL_ARG],
    options: [REASON],
    async run(call, parts) {
      const world = await parts.world();
      const goalId = await act(world, call.arg("goal"), call.text("reason"));
      if (call.json) return call.out.json(presentGoal(await views.goal(world, goalId)));
      call.out.line(`${said} ${goalId}.`);
    },
  };
}

const budget: Command<Parts> = {
  name: "budget",
  summary: "Raise what may be spent on a goal; agents that are paused for it continue.",
  details: "At least this much from now on, whatever budgets.goal in the configuration says.",
  args: [GOAL_ARG],
  options: BUDGET_OPTIONS,
  examples: [{ line: "overseer goal budget goal_7ZK3 --cost 50", why: "fifty dollars for all of it" }],
  async run(call, parts) {
    const world = await parts.world();
    const goalId = await goals.raiseGoalBudget(world, call.arg("goal"), readRaise(call));
    if (call.json) return call.out.json(presentGoal(await views.goal(world, goalId)));
    call.out.line(`Raised the budget of ${goalId}.`);
  },
};

const plan: Command<Parts> = {
  name: "plan",
  summary: "Set a goal's plan, or a new revision of it, from a file or by a model.",
  details: `The file is YAML or JSON:

  planVersion: 1
  goal: { title: Dates, successCriteria: [all samples parse], constraints: [no new dependency] }   # may be left out
  phases:
    - id: P1
      name: First things
      objective: The parser reads every date we meet.
      acceptance: [all samples parse]
      tasks:
        - id: T1.1
          name: Grammar
          outcome: A grammar for the formats in docs/dates.md
          acceptance: [grammar tests pass]
          deps: []
          subtasks:
            - { id: S1.1.1, name: ISO dates, acceptance: [ISO tests pass] }

Each node may also say what its agent needs; what a phase says holds for its tasks, unless they say otherwise:

          files: [src/dates]          # its alone until it has landed; tasks with files in common are done one by one
          capability: builder         # the role it is given to
          runtime: claude-code
          model: opus
          checks: [unit]              # of the configured checks, those that judge it when it is reported done
          idleAfter: 20m              # and startingLimit, patience, toolLimit, budget: {tokens, cost, time}
          dueEvery: 30m               # it is asked how it gets on when it has not said so for that long
          recoveryPolicy: reassign    # the first step when it is stuck: nudge, resend_last, replan, reassign, escalate

A plan of yours may have 1,000 nodes; one that an agent writes is held to planner.maxPhases and its siblings.

Ids are yours and stay stable. A second plan is a revision: new ids are added, changed ones redefined, open ones that
are missing cancelled; finished work is never touched. What would be cancelled is named, and you are asked; a script
says --prune. One more task is 'overseer work add'. --file - reads standard input. docs/plans.md has all of it.

--with-model asks a model for the plan. It sees a summary of the repository, never the files that are ignored, and may
only propose: you look (--show, --diff), change (--edit), accept (--accept), ask for another (--with-model --remark) or
drop (--drop). planner.accept: auto in the configuration accepts what cancels nothing.`,
  args: [GOAL_ARG],
  options: [
    { name: "file", value: "path", summary: "The plan, or - for standard input." },
    { name: "change", value: "text", summary: "Why there is a new revision." },
    { name: "prune", summary: "Cancel open nodes that the plan leaves out, without asking." },
    { name: "diff", summary: "Show what the file, or the plan that is proposed, would change; nothing is stored." },
    { name: "full", summary: "With --diff and --show: cut and leave out nothing." },
    ...PROPOSAL_OPTIONS,
  ],
  examples: [
    { line: "overseer goal plan goal_7ZK3 --file plan.yaml", why: "use a plan written by hand" },
    { line: "overseer goal plan goal_7ZK3 --file plan.yaml --diff", why: "see first what it would change" },
    { line: "overseer goal plan goal_7ZK3 --with-model", why: "have a model make one, and look at it" },
    { line: "overseer goal plan goal_7ZK3 --accept", why: "make what is proposed the plan" },
  ],
  async run(call, parts) {
    if (call.has("diff")) return showPlanDiff(call, parts);
    const step = findStep(call);
    if (step !== undefined) return runStep(step, call, parts);
    const file = call.text("file");
    if (file === undefined) {
      const hint = "Give it with --file plan.yaml, or have a model make one: --with-model.";
      throw new OverseerError("usage", "FILE_MISSING", "No plan file was named.", hint);
    }
    const text = await parts.readText(file);
    const world = await parts.world();
    const wanted = { name: file, text, change: call.text("change") };
    const accepted = await planOrAsk(call, world, wanted, call.has("prune") ? "all" : []);
    if (!accepted) return call.out.line("Nothing was changed.");
    if (call.json) return call.out.json(presentPlan(accepted));
    tellAccepted(call, accepted);
  },
};

/** Undefined when the plan would cancel something, and the person did not want that. */
async function planOrAsk(
  call: Call,
  world: Awaited<ReturnType<Parts["world"]>>,
  file: plans.PlanFile,
  prune: Pruned,
): Promise<Awaited<ReturnType<typeof plans.plan>> | undefined> {
  try {
    return await plans.plan(world, call.arg("goal"), { ...file, prune });
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== LEAVES_OUT) throw error;
    const yes = await askYes(call, error.message.split("\n").map(inert), "Cancel them?");
    if (yes === undefined) throw error;
    if (!yes) return undefined;
    // Exactly what was shown: what has come to be open meanwhile is asked about again.
    return planOrAsk(call, world, file, error.details?.leftOut as readonly string[]);
  }
}

const command: Command<Parts> = {
  name: "goal",
  summary: "Record goals and their plans.",
  subcommands: [
    create,
    list,
    show,
    plan,
    followCommand,
    update,
    budget,
    mover("pause", "Dispatch nothing of a goal until it is resumed.", "Paused", goals.pauseGoal),
    mover("resume", "Resume a paused goal.", "Resumed", goals.resumeGoal),
    mover("cancel", "End a goal and everything open under it.", "Cancelled", goals.cancelWholeGoal),
    mover("archive", "Hide a finished goal; nothing is deleted.", "Archived", goals.archiveGoal),
  ],
};

export default command;
