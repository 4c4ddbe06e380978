/**
 * The answer to "why is it so?": the events that led here, each as a sentence a person who was not there understands,
 * and what stands now. Pure, so the same log always tells the same story; times are given to a formatter, because
 * only the door knows how its reader likes them.
 */
import { nameOfActor } from "./actor.ts";
import type { Assignment } from "./assignment.ts";
import type { EventOf } from "./event.ts";
import type { Goal } from "./goal.ts";
import type { Question } from "./question.ts";
import { waitsFor } from "./readiness.ts";
import { progressOfGoal } from "./rollup.ts";
import type { WorkNode } from "./work.ts";
import { nodeKey } from "./work.ts";

export interface Sentence {
  readonly seq: number;
  readonly at: number;
  readonly text: string;
}

export interface Explanation {
  /** What it is and how it stands, in one line. */
  readonly headline: string;
  readonly story: readonly Sentence[];
  /** What holds now and what would change it. */
  readonly now: readonly string[];
}

/** Reasons as clauses: `because` phrases are for searching, these are for reading. */
const CLAUSES: Readonly<Record<string, string>> = {
  "dependencies-met": "everything it depends on is done",
  "nothing-to-wait-for": "it has nothing to wait for",
  "child-started": "work on a part of it began",
  "all-children-done": "all its parts are done",
  "all-children-cancelled": "all its parts were cancelled",
  "all-phases-done": "all its phases are done",
  "parent-cancelled": "the node above it was cancelled",
  "parent-overridden": "the node above it was declared done",
  "goal-cancelled": "its goal was cancelled",
  "left-out-of-the-plan": "the new plan no longer has it",
  "given-out": "it was given to a worker",
  reassigned: "it was given to another worker",
  "finished-by-hand": "it was finished by hand",
  "overridden-by-hand": "the rules were overridden by hand",
};

export function whyNode(node: WorkNode, nodes: readonly WorkNode[], events: readonly EventOf[]): Explanation {
  const byId = new Map(nodes.map((one) => [one.workNodeId, one]));
  return {
    headline: `${node.kind} ${nodeKey(node.goalId, node.workNodeId)} "${node.name}" is ${said(node.status)}.`,
    story: story(events),
    now: nodeNow(node, byId),
  };
}

export function whyGoal(goal: Goal, nodes: readonly WorkNode[], events: readonly EventOf[]): Explanation {
  const progress = progressOfGoal(nodes, goal.status === "completed");
  const now: string[] = [];
  if (nodes.length === 0)
    now.push(`It has no plan yet: 'overseer goal plan ${goal.goalId} --file plan.yaml' gives it one.`);
  else now.push(`${progress.done} of ${progress.total} pieces of work are done (${progress.percent} %).`);
  if (goal.status === "paused") now.push("It is paused: nothing of it is given out until it is resumed.");
  const blocked = nodes.filter((node) => node.status === "blocked");
  for (const node of blocked)
    now.push(`${node.workNodeId} is blocked: ${node.blockedReason?.detail ?? "no reason kept"}.`);
  return {
    headline: `goal ${goal.goalId} "${goal.title}" is ${goal.status}${goal.statusReason ? ` (${goal.statusReason})` : ""}.`,
    story: story(events.filter((event) => event.nodeId === undefined || isMilestone(event))),
    now,
  };
}

export function whyAssignment(assignment: Assignment, events: readonly EventOf[]): Explanation {
  const last = assignment.dispatches.at(-1);
  const now: string[] = [
    last
      ? `Its last instruction (${last.dispatchId}) was ${last.result ? `answered with ${last.result}` : "not confirmed yet"}.`
      : "Nothing was sent to the worker yet.",
  ];
  if (assignment.status === "stalled") now.push(`It is stalled: ${assignment.statusReason ?? "no reason kept"}.`);
  if (assignment.blockedReason)
    now.push(`It waits for ${assignment.blockedReason.on}: ${assignment.blockedReason.detail}.`);
  return {
    headline: `assignment ${assignment.assignmentId} of ${nodeKey(assignment.goalId, assignment.workNodeId)} to ${assignment.target.agentId} is ${assignment.status}.`,
    story: story(events),
    now,
  };
}

export function whyQuestion(question: Question, events: readonly EventOf[]): Explanation {
  return {
    headline: `question ${question.questionId} is ${question.status}: ${question.text}`,
    story: story(events),
    now: question.status === "open" ? [`It waits for a person's answer.`] : [],
  };
}

function story(events: readonly EventOf[]): Sentence[] {
  return events.flatMap((event) => {
    const text = sentence(event);
    return text === undefined ? [] : [{ seq: event.seq, at: event.at, text }];
  });
}

/** In a goal's own story the moves of phases are told, those of single tasks are not. */
function isMilestone(event: EventOf): boolean {
  return event.type === "work.blocked" || event.type === "work.unblocked" || event.type === "work.overridden";
}

function nodeNow(node: WorkNode, byId: ReadonlyMap<string, WorkNode>): string[] {
  switch (node.status) {
    case "todo": {
      const waiting = waitsFor(node, byId).map((id) => `${id} (${said(byId.get(id)?.status ?? "todo")})`);
      const dead = waitsFor(node, byId).filter((id) => byId.get(id)?.status === "cancelled");
      return [
        `It waits for ${waiting.join(", ")}.`,
        ...dead.map(
          (id) => `${id} was cancelled, so it will not become ready by itself: cancel it too, or override it.`,
        ),
      ];
    }
    case "queued":
      return ["It is ready and waits to be given to a worker."];
    case "in_progress":
      return ["It is being worked on."];
    case "blocked":
      return [
        `It cannot go on: ${node.blockedReason?.detail ?? "no reason kept"}.`,
        ...(node.blockedReason?.needs ? [`It needs: ${node.blockedReason.needs}.`] : []),
        `'overseer work unblock ${nodeKey(node.goalId, node.workNodeId)}' lets it go on.`,
      ];
    case "done":
      return [
        ...(node.override ? [`It was declared done by ${actorName(node.override.by)}: ${node.override.reason}.`] : []),
        ...(node.unverified ? ["No check of ours has seen it; it stands on the word of whoever reported it."] : []),
        ...evidenceOf(node),
      ];
    case "cancelled":
      return [node.statusReason ? `It was cancelled: ${node.statusReason}.` : "It was cancelled; no reason was given."];
  }
}

function evidenceOf(node: WorkNode): string[] {
  const evidence = node.evidence;
  if (!evidence) return [];
  const parts = [
    ...evidence.commits.map((commit) => `commit ${commit}`),
    ...evidence.testsRun.map((test) => `test ${test.name}: ${test.result}`),
    ...evidence.filesTouched.map((file) => `file ${file}`),
    ...evidence.commandsRun.map((command) => `command ${command}`),
    ...evidence.prs.map((pr) => `pull request ${pr}`),
    ...evidence.issues.map((issue) => `issue ${issue}`),
    ...evidence.externalRefs,
  ];
  return parts.length > 0 ? [`Evidence: ${parts.join("; ")}.`] : [];
}

/** One event as a sentence; undefined for events that say nothing by themselves. */
export function sentence(event: EventOf): string | undefined {
  const who = nameOfActor(event.actor);
  const clause = CLAUSES[event.because];
  const why = clause ? `, because ${clause}` : "";
  switch (event.type) {
    case "goal.created":
      return `${who} created the goal "${event.data.title}".`;
    case "goal.updated":
      return `${who} changed ${Object.keys(event.data.changes).join(", ")}.`;
    case "goal.paused":
      return `${who} paused the goal${reason(event.data.reason)}.`;
    case "goal.resumed":
      return `${who} resumed the goal${reason(event.data.reason)}.`;
    case "goal.completed":
      return `${who} marked the goal completed${why}.`;
    case "goal.cancelled":
      return `${who} cancelled the goal${reason(event.data.reason)}.`;
    case "goal.archived":
      return `${who} archived the goal${reason(event.data.reason)}.`;
    case "plan.accepted":
      return `${who} gave the goal its plan, revision ${event.data.revision} with ${event.data.nodeCount} nodes (${event.data.change}).`;
    case "work.added":
      return `${who} added it to the plan (revision ${event.data.revision})${dependencies(event.data.dependsOn)}.`;
    case "work.redefined":
      return `${who} changed its definition (revision ${event.data.revision}).`;
    case "work.queued":
      return `${who} queued it${why}${reason(event.data.reason)}.`;
    case "work.started":
      return `${who} started it${why}${reason(event.data.reason)}.`;
    case "work.requeued":
      return `${who} put it back into the queue${why}${reason(event.data.reason)}.`;
    case "work.blocked":
      return `${who} blocked it (${event.data.blocked.kind}): ${event.data.blocked.detail}${event.data.blocked.needs ? `; needed: ${event.data.blocked.needs}` : ""}.`;
    case "work.unblocked":
      return `${who} unblocked it${reason(event.data.reason)}.`;
    case "work.done":
      return `${who} marked it done${why}: ${event.data.summary}.`;
    case "work.cancelled":
      return `${who} cancelled it${why}${reason(event.data.reason)}.`;
    case "work.overridden":
      return `${who} overrode the rules to make it ${event.data.to}: ${event.data.reason}.`;
    case "crystallization.recorded":
      return undefined;
    default:
      return otherSentence(event, who, why);
  }
}

function otherSentence(event: EventOf, who: string, why: string): string | undefined {
  switch (event.type) {
    case "assignment.created":
      return `${who} gave it to ${event.data.target.agentId}${why}.`;
    case "checkout.changed":
      return `The main checkout changed during a turn of ${event.agent ?? "an agent"}: ${event.data.what.join(", ")}.`;
    case "assignment.dispatched":
      return `${who} sent the instruction ${event.data.dispatchId} (${event.data.mode}).`;
    case "assignment.delivered":
      return `The instruction ${event.data.dispatchId} was ${deliveryWord(event.data.result)}${event.data.notes ? `: ${event.data.notes}` : ""}.`;
    case "assignment.active":
      return `${who} saw progress${reason(event.data.reason)}.`;
    case "assignment.stalled":
      return `${who} found it stalled${reason(event.data.reason)}.`;
    case "assignment.blocked":
      return `${who} found it waiting for ${event.data.blocked.on}: ${event.data.blocked.detail}.`;
    case "assignment.done":
      return `${who} closed the assignment as done${why}${reason(event.data.reason)}.`;
    case "assignment.cancelled":
      return `${who} ended the assignment${why}${reason(event.data.reason)}.`;
    case "question.asked":
      return `${who} asked: ${event.data.text}${event.data.options.length > 0 ? ` (${event.data.options.join(" / ")})` : ""}`;
    case "question.answered":
      return `${who} answered: ${event.data.answer}`;
    case "question.withdrawn":
      return `${who} withdrew the question: ${event.data.reason}.`;
    case "overseer.initialised":
      return `${who} initialised Overseer ${event.data.version} in this repository.`;
    case "overseer.store.corrupt":
      return `${who} found the database damaged (${event.data.problem}) and moved it aside.`;
    case "overseer.store.recovered":
      return `${who} recovered ${event.data.events} events from ${event.data.from}; ${event.data.lost} were lost.`;
    case "overseer.store.imported":
      return `${who} imported ${event.data.events} events.`;
    default:
      return undefined;
  }
}

function reason(text: string | null): string {
  return text ? `: ${text}` : "";
}

function dependencies(ids: readonly string[]): string {
  return ids.length > 0 ? `, to be done after ${ids.join(", ")}` : "";
}

function deliveryWord(result: string): string {
  return (
    { accepted: "handed over", ok: "seen", timeout: "never seen in time", error: "not delivered" }[result] ?? result
  );
}

function actorName(text: string): string {
  return text.startsWith("human:") ? text.slice("human:".length) : text;
}

function said(status: string): string {
  return status.replace("_", " ");
}
