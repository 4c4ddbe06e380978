/** `overseer work …`: the nodes of a plan, moved by hand. */

import type { Call, Command, Option } from "#cli/command.ts";
import { tellLandings } from "#cli/landing-line.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, moment, table } from "#cli/text.ts";
import { type AddedWork, addWork } from "#control/add-work.ts";
import { land as landNode } from "#control/landing.ts";
import { presentAddedWork, presentLanded, presentNode, presentWork } from "#control/present.ts";
import * as views from "#control/views.ts";
import * as work from "#control/work.ts";
import { type Actor, nameOfActor } from "#domain/core/actor.ts";
import type { Evidence } from "#domain/model/crystallization.ts";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import {
  BLOCKED_KINDS,
  type BlockedReason,
  WORK_STATUSES,
  type WorkNode,
  type WorkStatus,
} from "#domain/model/work.ts";
import { redact } from "#telemetry/redact.ts";
import { BUDGET_OPTIONS, readRaise } from "./budget-options.ts";
import { reportCommand } from "./work-report.ts";

const NODE_ARG = { name: "node", summary: "T1.1, or goal_x/T1.1 where several goals have it." };
const GOAL: Option = { name: "goal", value: "id", summary: "The goal the node belongs to." };
const REASON: Option = { name: "reason", value: "text", summary: "The reason; kept in the log." };

const words = (call: Call) => ({ node: call.arg("node"), goal: call.text("goal") });

const list: Command<Parts> = {
  name: "list",
  summary: "List work: open nodes of all goals by default.",
  options: [
    GOAL,
    { name: "status", value: "status", summary: "Only with this status.", choices: WORK_STATUSES },
    { name: "limit", value: "n", summary: "At most this many (default 200)." },
  ],
  async run(call, parts) {
    const nodes = await views.work(await parts.world(), {
      goal: call.text("goal"),
      status: call.text("status") as WorkStatus | undefined,
      limit: call.number("limit"),
    });
    if (call.json) return call.out.json(presentWork(nodes));
    if (nodes.length === 0) return call.out.line("No such work.");
    table(
      call.out,
      nodes.map((node) => [
        `${node.goalId}/${node.workNodeId}`,
        node.kind,
        node.takenBack ? "taken back" : node.status,
        node.name,
      ]),
    );
  },
};

const add: Command<Parts> = {
  name: "add",
  summary: "Add one task to a goal, in a sentence.",
  details:
    "It goes to the open goal; where there are several, --goal says to which, and where there is none it becomes a goal of its own. Nothing else of the plan changes: the task waits for what --after names and for nothing more, and the daemon gives it to an agent by itself. A later 'goal plan' that does not have it asks before it cancels it.",
  args: [{ name: "text", summary: "What is to be done; the first line is its name." }],
  options: [
    { name: "goal", value: "id", summary: "The goal it belongs to." },
    { name: "after", value: "task", summary: "What has to be done first.", repeat: true },
    { name: "files", value: "path", summary: "Paths that only its agent may write.", repeat: true },
    { name: "capability", value: "role", summary: "The role it is given to." },
    { name: "tags", value: "word", summary: "Labels.", repeat: true },
    { name: "dry-run", summary: "Say what would be added, and add nothing." },
  ],
  examples: [
    { line: 'overseer work add "Describe the date formats in docs/dates.md"', why: "to the only open goal" },
    { line: 'overseer work add "Measure the parser" --after T1.2 --files bench', why: "once T1.2 is done" },
  ],
  async run(call, parts) {
    const separate = (name: string) => call.list(name).flatMap((value) => value.split(","));
    const added = await addWork(await parts.world(), {
      text: call.arg("text"),
      goal: call.text("goal"),
      after: separate("after"),
      files: separate("files"),
      capability: call.text("capability"),
      tags: separate("tags"),
      dryRun: call.has("dry-run"),
    });
    if (call.json) return call.out.json(presentAddedWork(added));
    tellAdded(call, added);
  },
};

function tellAdded({ out }: Call, added: AddedWork): void {
  const { goalId, nodeId, isNewGoal, dryRun, waitsFor, shared } = added;
  const key = `${goalId}/${nodeId}`;
  const where = isNewGoal ? ", a goal of its own" : `, phase ${added.phaseId}`;
  out.line(`${dryRun ? "Would add" : "Added"} ${key}${where}.`);
  for (const { one, other } of shared) {
    out.remark(`It shares files with ${one === nodeId ? other : one}: they are done one after the other.`);
  }
  if (dryRun) return;
  if (added.goalStatus === "paused") out.remark(`The goal is paused: overseer goal resume ${goalId}`);
  else if (!added.isDaemonUp) {
    const orNow = waitsFor.length === 0 ? `, or give it to an agent yourself: overseer sling ${key}` : "";
    out.remark(`No daemon runs, so nobody takes it up by itself: overseer up${orNow}`);
  } else if (waitsFor.length > 0)
    out.remark(`It begins when ${waitsFor.join(", ")} ${waitsFor.length > 1 ? "are" : "is"} done.`);
  else out.remark(`The daemon gives it to an agent as soon as one is free: overseer why ${key}`);
}

const show: Command<Parts> = {
  name: "show",
  summary: "Show a node: what it is, its status, its handoff, who had it.",
  args: [NODE_ARG],
  options: [GOAL],
  async run(call, parts) {
    const node = await views.workNode(await parts.world(), words(call));
    if (call.json) return call.out.json(presentNode(node));
    const { out } = call;
    out.line(`${node.goalId}/${node.workNodeId}  ${inert(node.name)}`);
    out.line(
      `${node.kind}, ${node.status}, ${node.progress.percent} %${node.unverified ? ", unverified" : ""}${node.takenBack ? `, taken back from ${inert(node.takenBack.target)}` : ""}`,
    );
    const field = (name: string, value: string) => value && out.line(`${name}: ${inert(value)}`);
    field("objective", node.objective);
    field("outcome", node.expectedOutcome);
    field("done means", node.definitionOfDone);
    for (const criterion of node.acceptanceCriteria) out.line(`  - ${inert(criterion)}`);
    field("depends on", node.dependsOn.join(", "));
    field("waits for", node.waitsFor.join(", "));
    field("blocks", node.blocks.join(", "));
    field("tags", node.tags.join(", "));
    if (node.blockedReason) field(`blocked (${node.blockedReason.kind})`, node.blockedReason.detail);
    if (node.override) field(`overridden by ${nameOfActor(node.override.by as Actor)}`, node.override.reason);
    if (node.claim) field("reported done", claimLine(node.claim));
    printHandoff(call, node.crystallization);
    for (const item of node.assignments) {
      out.line(
        `${item.assignmentId}  ${item.status}  ${inert(item.target.agentId)}  since ${moment(item.createdAt)} UTC`,
      );
    }
    out.remark(`The whole story: overseer why ${node.goalId}/${node.workNodeId} --all`);
  },
};

function claimLine({ agent, commit, verdict, waiting }: NonNullable<WorkNode["claim"]>): string {
  const stands = verdict === null ? "not checked yet" : verdict === "pass" ? "checks passed" : "no check to pass";
  return `${commit.slice(0, 10)} by ${agent}, ${stands}${waiting ? `, ${waiting.detail}` : ""}`;
}

function printHandoff(call: Call, handoff: Awaited<ReturnType<typeof views.workNode>>["crystallization"]): void {
  if (!handoff) return;
  const { out } = call;
  out.line(`handoff of ${moment(handoff.createdAt)} UTC: ${inert(handoff.summary)}`);
  if (handoff.currentState) out.line(`  now: ${inert(handoff.currentState)}`);
  for (const { decision, rationale } of handoff.decisions)
    out.line(`  decided: ${inert(decision)} (${inert(rationale)})`);
  for (const next of handoff.nextActions) out.line(`  next: ${inert(next)}`);
  for (const question of handoff.openQuestions) out.line(`  open: ${inert(question)}`);
  for (const blocker of handoff.knownBlockers) out.line(`  blocked by: ${inert(blocker)}`);
  const { commits, testsRun, filesTouched } = handoff.evidence;
  for (const commit of commits) out.line(`  commit: ${inert(commit)}`);
  for (const test of testsRun) out.line(`  test: ${inert(test.name)} ${inert(test.result)}`);
  if (filesTouched.length > 0) out.line(`  files: ${filesTouched.map(inert).join(", ")}`);
}

function evidence(call: Call): Evidence {
  return {
    ...NO_EVIDENCE,
    filesTouched: call.list("file"),
    commandsRun: call.list("command"),
    testsRun: call.list("test").map(parseTest),
    commits: call.list("commit"),
    prs: call.list("pr"),
    issues: call.list("issue"),
    externalRefs: call.list("ref"),
  };
}

/** Redacted before it is cut in two: in `PASSWORD=…` each half alone looks harmless. */
function parseTest(given: string): { name: string; result: string } {
  const text = redact(given);
  const at = text.lastIndexOf("=");
  return at > 0 ? { name: text.slice(0, at), result: text.slice(at + 1) } : { name: text, result: "passed" };
}

/** Verbs answer with the node as it is now. */
async function answer(call: Call, parts: Parts, key: string, said: string): Promise<void> {
  if (!call.json) return call.out.line(`${said} ${key}.`);
  call.out.json(presentNode(await views.workNode(await parts.world(), { node: key })));
}

const done: Command<Parts> = {
  name: "done",
  summary: "Mark a node as done, with evidence.",
  details:
    "Done needs a summary or evidence. Open parts, unmet dependencies and a block prevent it; --override insists, and the reason is recorded.",
  args: [NODE_ARG],
  options: [
    GOAL,
    { name: "summary", value: "text", summary: "What was achieved." },
    { name: "commit", value: "id", summary: "A commit that holds it.", repeat: true },
    { name: "file", value: "path", summary: "A file that was touched.", repeat: true },
    { name: "test", value: "name=result", summary: "A test that was run.", repeat: true },
    { name: "command", value: "line", summary: "A command that was run.", repeat: true },
    { name: "pr", value: "id", summary: "A pull request.", repeat: true },
    { name: "issue", value: "id", summary: "An issue.", repeat: true },
    { name: "ref", value: "text", summary: "Any other pointer.", repeat: true },
    { name: "override", value: "reason", summary: "Insist although the rules refuse it, and say why." },
  ],
  examples: [
    { line: 'overseer work done S1.1.1 --summary "ISO dates parse" --commit 3f2a1c9', why: "with evidence" },
    { line: 'overseer work done P2 --override "moved to the next release"', why: "close a phase with open parts" },
  ],
  async run(call, parts) {
    const key = await work.finishWork(await parts.world(), words(call), {
      summary: call.text("summary"),
      evidence: evidence(call),
      override: call.text("override"),
    });
    await answer(call, parts, key, "Done:");
  },
};

const block: Command<Parts> = {
  name: "block",
  summary: "Block a node, and say why.",
  args: [NODE_ARG],
  options: [
    GOAL,
    REASON,
    { name: "kind", value: "kind", summary: "What is in the way (default other).", choices: BLOCKED_KINDS },
    { name: "needs", value: "text", summary: "What would unblock it." },
  ],
  examples: [
    {
      line: 'overseer work block T1.2 --kind credential --reason "no key for the mail API" --needs MAIL_API_KEY',
      why: "name what is missing, never its value",
    },
  ],
  async run(call, parts) {
    const blocked: BlockedReason = {
      kind: (call.text("kind") as BlockedReason["kind"] | undefined) ?? "other",
      detail: call.text("reason") ?? "",
      ...(call.text("needs") === undefined ? {} : { needs: call.text("needs") }),
    };
    await answer(call, parts, await work.blockWork(await parts.world(), words(call), blocked), "Blocked");
  },
};

const unblock: Command<Parts> = {
  name: "unblock",
  summary: "Unblock a node.",
  args: [NODE_ARG],
  options: [GOAL, REASON],
  async run(call, parts) {
    await answer(
      call,
      parts,
      await work.unblockWork(await parts.world(), words(call), call.text("reason")),
      "Unblocked",
    );
  },
};

const land: Command<Parts> = {
  name: "land",
  summary: "Accept a node that is reported done: check and land it.",
  details:
    "Checks run in Overseer's own worktree, the merged tree is checked again, and your checkout moves only forward and only when it is clean. Files outside the agent's scope, or that checks depend on, land too. If it neither lands nor waits for something temporary, the exit code is 4.",
  args: [NODE_ARG],
  options: [GOAL, REASON],
  async run(call, parts) {
    const landed = await landNode(await parts.world(), words(call), call.text("reason"));
    tellLandings(call, [landed], presentLanded(landed));
  },
};

const cancel: Command<Parts> = {
  name: "cancel",
  summary: "End a node and everything open below it.",
  args: [NODE_ARG],
  options: [GOAL, REASON],
  async run(call, parts) {
    const world = await parts.world();
    const key = await work.cancelWork(world, words(call), call.text("reason"));
    if (!call.json) {
      const { blocks } = await views.workNode(world, { node: key });
      if (blocks.length > 0) call.out.remark(`${blocks.join(", ")} waited for it and will not become ready by itself.`);
    }
    await answer(call, parts, key, "Cancelled");
  },
};

const budget: Command<Parts> = {
  name: "budget",
  summary: "Raise what may be spent on a node; an agent that is paused for it continues.",
  details:
    "At least this much from now on, whatever its plan, its role or the configuration say. Each agent on the node may spend it anew. An open question about the budget is withdrawn.",
  args: [NODE_ARG],
  options: [GOAL, ...BUDGET_OPTIONS],
  examples: [{ line: "overseer work budget T1.1 --tokens 2M", why: "two million tokens for whoever works on it" }],
  async run(call, parts) {
    const key = await work.raiseNodeBudget(await parts.world(), words(call), readRaise(call));
    await answer(call, parts, key, "Raised the budget of");
  },
};

const command: Command<Parts> = {
  name: "work",
  summary: "Show and change the nodes of a plan.",
  subcommands: [list, show, add, reportCommand, done, land, block, unblock, cancel, budget],
};

export default command;
