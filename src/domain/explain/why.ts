/**
 * The answer to "why is it so?": the events that led here, each as a sentence a person who was not there understands,
 * and what stands now. Pure, so the same log always tells the same story; times are given to a formatter, because
 * only the door knows how its reader likes them.
 */
import { type Actor, nameOfActor } from "#domain/core/actor.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { tellUnchanged } from "#domain/model/claim.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Goal, PlanRevision } from "#domain/model/goal.ts";
import type { Question } from "#domain/model/question.ts";
import { waitsFor } from "#domain/model/readiness.ts";
import type { BlockedReason, WorkNode } from "#domain/model/work.ts";
import { nodeKey, readSplit, tellHowAgain } from "#domain/model/work.ts";
import { countAll, listLost, progressOf, progressOfGoal } from "#domain/plans/rollup.ts";
import { agentSentence } from "./agent-sentences.ts";
import { autoSentence } from "./auto-sentences.ts";
import { causeOf, receiptKind, type Sentence, type ToldStep } from "./cause.ts";
import { claimSentence, repeatsLanding } from "./claim-sentences.ts";
import { learningSentence } from "./learning-sentences.ts";
import { recoverySentence } from "./recovery-sentences.ts";
import { reportSentence } from "./report-sentences.ts";

export interface Explanation {
  /** What it is and its status, in one line. */
  readonly headline: string;
  /** The step that made it so; null where the log tells none. */
  readonly cause: Sentence | null;
  readonly story: readonly Sentence[];
  /** The steps of the story that only confirm another, by their `seq`: what each is a receipt of. */
  readonly receipts: ReadonlyMap<number, string>;
  /** What holds now and what would change it. */
  readonly now: readonly string[];
}

/** Reasons as clauses: `because` phrases are for searching, these are for reading. */
const CLAUSES: Readonly<Record<string, string>> = {
  "dependencies-met": "everything it waited for is done",
  "nothing-to-wait-for": "it has nothing to wait for",
  "child-started": "work on a part of it began",
  "all-children-done": "all its parts have ended",
  "all-children-cancelled": "all its parts were cancelled",
  "all-phases-done": "all its phases have ended",
  "parent-cancelled": "the node above it was cancelled",
  "parent-overridden": "the node above it was declared done",
  "goal-cancelled": "the goal was cancelled",
  "given-out": "it was given to an agent",
  answered: "a person answered",
  "reported-blocked": "its agent is stuck",
  "reported-in-progress": "its agent continues",
  "claim-stands": "its agent's report still stands",
  "checks-passed": "its checks passed",
  "checks-failed": "its checks failed",
  "no-changes": "nothing was changed",
  landed: "its branch has landed",
  reassigned: "it was given to another agent",
};

/** What a kind of block means, for somebody who has not read the list. */
const OBSTACLES: Readonly<Record<BlockedReason["kind"], string>> = {
  human: "it waits for a person",
  credential: "a credential is missing",
  environment: "the environment does not allow it",
  dependency: "something it builds on is not there",
  external: "it waits for somebody outside",
  other: "something is in the way",
};

/** `questions`: those that are open about it. */
export function whyNode(
  node: WorkNode,
  nodes: readonly WorkNode[],
  events: readonly EventOf[],
  questions: readonly Question[] = [],
): Explanation {
  return {
    headline: `${capital(node.kind)} ${nodeKey(node.goalId, node.workNodeId)} "${node.name}" is ${spellStatus(node.status)}.`,
    ...tell(events, () => "it", node.status),
    now: nodeNow(node, nodes, questions, events).map(withoutDoubleStop),
  };
}

export function whyGoal(goal: Goal, nodes: readonly WorkNode[], events: readonly EventOf[]): Explanation {
  const byId = new Map(nodes.map((node) => [node.workNodeId, node]));
  const nameNode = (id: string) => `${id} "${byId.get(id)?.name ?? "?"}"`;
  return {
    headline: `Goal ${goal.goalId} "${goal.title}" is ${goal.status}.`,
    ...tell(
      events.filter((event) => isMilestone(event, byId)),
      (event) => (event.nodeId === undefined ? "it" : nameNode(event.nodeId)),
      goal.status,
    ),
    now: [
      ...goalNow(goal, nodes),
      ...nodes
        .filter((node) => node.status === "blocked")
        .map((node) =>
          withoutDoubleStop(
            `${nameNode(node.workNodeId)} is blocked: ${quoteWords(node.blockedReason?.detail ?? "")}.`,
          ),
        ),
    ],
  };
}

function goalNow(goal: Goal, nodes: readonly WorkNode[]): string[] {
  const progress = progressOfGoal(nodes, goal.status === "completed");
  const done =
    nodes.length === 0
      ? "It has no plan."
      : `${progress.done} of ${count(countAll(progress), "piece")} of work ${countAll(progress) === 1 ? "is" : "are"} done (${[`${progress.percent} %`, ...listLost(progress)].join("; ")}).`;
  switch (goal.status) {
    case "active": {
      if (nodes.length === 0 && goal.planning) return [done];
      if (nodes.length === 0)
        return [`${done} 'overseer goal plan ${goal.goalId} --file plan.yaml' gives it one, or --with-model.`];
      const ready = nodes.filter((node) => node.leaf && node.status === "queued").map((node) => node.workNodeId);
      return [done, ...(ready.length > 0 ? [`Ready to be worked on: ${ready.join(", ")}.`] : [])];
    }
    case "paused":
      return [done, `Nothing of it is dispatched until 'overseer goal resume ${goal.goalId}'.`];
    default:
      return [done];
  }
}

/** `doing`: how its agent does, where that was looked at (OBS-1). */
export function whyAssignment(
  assignment: Assignment,
  events: readonly EventOf[],
  doing: readonly string[] = [],
): Explanation {
  const last = assignment.dispatches.at(-1);
  const node = nodeKey(assignment.goalId, assignment.workNodeId);
  return {
    headline: `Assignment ${assignment.assignmentId}, which gives ${node} to ${assignment.target.agentId}, is ${assignment.status}.`,
    ...tell(
      events.filter((event) => event.type.startsWith("assignment.") || event.type.startsWith("update.")),
      () => node,
      assignment.status,
    ),
    now: [
      last
        ? `The last instruction, ${last.dispatchId}, ${last.result ? DELIVERIES[last.result] : "has not been confirmed yet"}.`
        : "Nothing was sent to the agent yet.",
      ...(assignment.blockedReason && assignment.status === "blocked"
        ? [
            withoutDoubleStop(
              `It waits for ${describeWait(assignment.blockedReason.on)}: ${quoteWords(assignment.blockedReason.detail)}.`,
            ),
          ]
        : []),
      ...doing,
    ],
  };
}

export function whyQuestion(question: Question, events: readonly EventOf[]): Explanation {
  return {
    headline: `Question ${question.questionId}, ${quoteWords(question.text)}, is ${question.status}.`,
    ...tell(events, () => "it", question.status),
    now:
      question.status === "open"
        ? [`It waits for a person's answer: 'overseer answer ${question.questionId} <choice or text>'.`]
        : [],
  };
}

function tell(
  events: readonly EventOf[],
  subject: (event: EventOf) => string,
  status: string,
): Pick<Explanation, "cause" | "story" | "receipts"> {
  const steps = stepsOf(events, subject);
  const story = steps.map(({ event: _event, ...told }) => told);
  const cause = causeOf(steps, status);
  return {
    cause: story[cause ? steps.indexOf(cause) : -1] ?? null,
    story,
    receipts: new Map(
      steps.flatMap(({ seq, event }) => {
        const kind = receiptKind(event);
        return kind === undefined ? [] : [[seq, kind] as const];
      }),
    ),
  };
}

function stepsOf(events: readonly EventOf[], subject: (event: EventOf) => string): ToldStep[] {
  const overrides = new Set<string>();
  let landing: EventOf | undefined;
  return events.flatMap((event) => {
    if (event.type.startsWith("landing.")) landing = event;
    if (repeatsLanding(event, landing)) return [];
    if (event.type === "work.overridden") overrides.add(`${event.nodeId} ${event.data.reason}`);
    // Without words of its own, the end of an overridden node would only repeat the override.
    if (event.type === "work.done" && overrides.has(`${event.nodeId} ${event.data.summary}`)) return [];
    const text = sentence(event, subject(event));
    return text === undefined ? [] : [{ seq: event.seq, at: event.at, text, event }];
  });
}

/** In a goal's own story: everything about itself, the ends of its phases, and where people stepped in. */
function isMilestone(event: EventOf, byId: ReadonlyMap<string, WorkNode>): boolean {
  if (event.nodeId === undefined || event.type.startsWith("question.")) return true;
  if (event.type === "work.done" || event.type === "work.cancelled") return byId.get(event.nodeId)?.kind === "phase";
  return event.type === "work.blocked" || event.type === "work.unblocked" || event.type === "work.overridden";
}

function nodeNow(
  node: WorkNode,
  nodes: readonly WorkNode[],
  questions: readonly Question[],
  events: readonly EventOf[],
): string[] {
  const byId = new Map(nodes.map((one) => [one.workNodeId, one]));
  const { done, total } = progressOf(node, nodes);
  const parts = node.leaf
    ? []
    : [`${done} of ${count(total, "piece")} of work below it ${total === 1 ? "is" : "are"} done.`];
  switch (node.status) {
    case "todo": {
      const waiting = waitsFor(node, byId);
      const dead = waiting.filter((id) => byId.get(id)?.status === "cancelled");
      return [
        `It waits for ${waiting.map((id) => `${id} (${spellStatus(byId.get(id)?.status ?? "todo")})`).join(", ")}.`,
        ...dead.map(
          (id) => `${id} was cancelled, so it will not become ready by itself: cancel it too, or override it.`,
        ),
        ...questions.map(describeOpen),
      ];
    }
    case "queued":
      return [node.leaf ? "It is ready and waits to be dispatched." : "It is ready: work on its parts may begin."];
    case "in_progress":
      return [...claimNow(node), ...parts, ...questions.map(describeOpen)];
    case "blocked":
      return [
        `It cannot continue: ${quoteWords(node.blockedReason?.detail ?? "")}.`,
        ...(node.blockedReason?.needs ? [`What would help: ${quoteWords(node.blockedReason.needs)}.`] : []),
        ...questions.map(describeOpen),
        `'overseer work unblock ${nodeKey(node.goalId, node.workNodeId)}' lets it continue.`,
      ];
    case "done":
      return [
        ...(node.override ? [`It counts as done because ${nameOfActor(node.override.by as Actor)} insisted.`] : []),
        ...(node.unverified ? [tellUnchecked(events)] : []),
        ...evidenceOf(node),
        "Done is final; rework is a new node in the plan.",
      ];
    case "cancelled": {
      const parts = readSplit(node.statusReason);
      if (parts)
        return [`Its work is done as ${parts.join(", ")}; see 'overseer why ${nodeKey(node.goalId, parts[0] ?? "")}'.`];
      return ["Cancelled is final; if it is needed after all, give it a new id in the plan."];
    }
  }
}

/** Where a person looked at what was claimed last and let it land, there is more than the report. */
function tellUnchecked(events: readonly EventOf[]): string {
  const claimed = events.findLastIndex(({ type }) => type === "work.claimed");
  const accepted = events
    .slice(claimed + 1)
    .findLast(
      (event) => event.type === "landing.approved" && event.actor.startsWith("human:") && !event.data.takenBack,
    );
  return accepted === undefined
    ? "Nothing has checked it: only the report says so."
    : `No check has seen it; ${nameOfActor(accepted.actor)} accepted it at ${isoTime(accepted.at)}.`;
}

/** The question that a person is asked about it, and the command that answers it. */
function describeOpen({ questionId, text, options }: Question): string {
  const choices = options.length > 0 ? ` (${options.map((option, at) => `${at + 1}. ${option}`).join(" / ")})` : "";
  return `${questionId} asks ${quoteWords(text)}${choices}: 'overseer answer ${questionId} <choice or text>' answers it.`;
}

/** A node in progress is being worked on, or its work is being judged. */
function claimNow({ claim, goalId, workNodeId }: WorkNode): string[] {
  if (!claim) return ["It is being worked on."];
  const commit = claim.commit.slice(0, 10);
  if (claim.verdict === null) return [`${claim.agent} says it is done; commit ${commit} waits for its checks.`];
  const checked = claim.verdict === "pass" ? "has passed its checks" : "has no check to pass";
  if (claim.waiting?.for === "review" && claim.approvedBy === null) {
    const node = nodeKey(goalId, workNodeId);
    const again = claim.unchanged ? `, ${tellUnchanged(claim.unchanged)}` : "";
    return [
      `Commit ${commit} of ${claim.agent} ${checked} and waits for your review${again}: 'overseer review ${node}', then 'overseer accept ${node}' or 'overseer reject ${node} --reason "…"'.`,
    ];
  }
  const wait = claim.waiting ? `waits: ${withoutFullStop(claim.waiting.detail)}` : "waits to be landed";
  return [`Commit ${commit} of ${claim.agent} ${checked} and ${wait}.`];
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

/** One event as a sentence about `it`; undefined for events that say nothing by themselves. */
export function sentence(event: EventOf, it = "it"): string | undefined {
  const text = describeEvent(event, it);
  return text === undefined ? undefined : withoutDoubleStop(text);
}

function describeEvent(event: EventOf, it: string): string | undefined {
  const who = nameOfActor(event.actor);
  const clause = CLAUSES[event.because];
  const why = clause ? `, because ${clause}` : "";
  switch (event.type) {
    case "goal.created":
      return `${who} created the goal "${event.data.title}".`;
    case "goal.updated":
      return `${who} changed ${Object.keys(event.data.changes).map(inWords).join(" and ")} of the goal.`;
    case "goal.paused":
      return `${who} paused the goal${saying(event, event.data.reason)}.`;
    case "goal.resumed":
      return `${who} resumed the goal${saying(event, event.data.reason)}.`;
    case "goal.completed":
      return `${who} marked the goal completed${why}.`;
    case "goal.cancelled":
      return `${who} cancelled the goal${saying(event, event.data.reason)}.`;
    case "goal.archived":
      return `${who} archived the goal${saying(event, event.data.reason)}.`;
    case "plan.accepted":
      if (event.data.source === "model") {
        const what = event.data.revision === 1 ? "as the first plan" : `as revision ${event.data.revision} of the plan`;
        return `${who} accepted what ${event.data.model ?? "a model"} proposed${tellPrompt(event.data)} ${what}, of ${count(event.data.nodeCount, "node")}.`;
      }
      return event.data.revision === 1
        ? `${who} gave the goal its first plan, of ${count(event.data.nodeCount, "node")}.`
        : `${who} revised the plan: revision ${event.data.revision}, of ${count(event.data.nodeCount, "node")} (${quoteWords(event.data.change)}).`;
    case "plan.wanted":
      return `${who} wanted a plan from a model${event.data.remark ? `, saying ${quoteWords(event.data.remark)}` : ""}.`;
    case "plan.waits":
      return `No model can be asked for the plan before ${isoTime(event.data.until)}: ${quoteWords(event.data.detail)}.`;
    case "plan.proposed":
      if (event.because === "edited") {
        return `${who} edited the proposed plan; it has ${count(event.data.nodeCount, "node")} now.`;
      }
      return `A plan of ${count(event.data.nodeCount, "node")} was proposed by ${event.data.model ?? "a model"}${tellPrompt(event.data)}${event.data.rejected.length > 0 ? `; ${count(event.data.rejected.length, "answer")} before it did not hold` : ""}.`;
    case "plan.failed":
      return `No plan came of it: ${quoteWords(event.data.problems[0] ?? "there was no answer that holds")}${event.data.logPath === "" ? "" : `; the answers are in ${event.data.logPath}`}.`;
    case "plan.dropped":
      return `${who} dropped the proposed plan${saying(event, event.data.reason)}.`;
    case "work.added": {
      const where =
        event.data.revision === 1 ? "put it into the plan" : `added it in revision ${event.data.revision} of the plan`;
      const whole = event.data.splitFrom?.at(-1);
      const part = whole === undefined ? "" : `, as a part of ${whole}`;
      return `${who} ${where}${part}${dependencies(event.data.dependsOn)}.`;
    }
    case "work.redefined":
      if (event.because === "answered") return `${who} let it wait no longer for what was cancelled.`;
      return `${who} changed its definition in revision ${event.data.revision} of the plan.`;
    case "work.queued":
      return isStepOnTheWay(event) ? undefined : `${who} put ${it} into the queue${why}.`;
    case "work.started":
      return isStepOnTheWay(event) ? undefined : `${who} started ${it}${why}.`;
    case "work.requeued":
      return `${who} put ${it} back into the queue${why}${saying(event, event.data.reason)}.`;
    case "work.blocked":
      return `${who} blocked ${it}, because ${OBSTACLES[event.data.blocked.kind]}: ${quoteWords(event.data.blocked.detail)}${event.data.blocked.needs ? `; what would help: ${quoteWords(event.data.blocked.needs)}` : ""}.`;
    case "work.unblocked":
      return `${who} unblocked ${it}${saying(event, event.data.reason)}; it went back into the queue.`;
    case "work.done":
      return clause
        ? `${who} marked ${it} done${why}.`
        : `${who} marked ${it} done: ${quoteWords(event.data.summary)}.`;
    case "work.cancelled":
      if (event.because === "split") return `${who} split ${it} into ${readSplit(event.data.reason)?.join(", ")}.`;
      return event.because === "left-out-of-the-plan"
        ? `${who} cancelled ${it}, because ${event.data.reason ?? "the latest revision"} of the plan no longer has it.`
        : `${who} cancelled ${it}${why}${saying(event, event.data.reason)}.${event.because === "no-changes" ? ` ${tellHowAgain(event.goalId ?? "")}.` : ""}`;
    case "work.overridden":
      return `${who} overrode the rules to declare ${it} ${event.data.to}, saying ${quoteWords(event.data.reason)}.`;
    case "crystallization.recorded":
      return undefined;
    default:
      return otherSentence(event, it);
  }
}

/** Finishing by hand walks the same legal moves as everybody; the steps on the way tell a reader nothing. */
export function isStepOnTheWay(event: EventOf): boolean {
  return event.because === "finished-by-hand" || event.because === "overridden-by-hand";
}

function otherSentence(event: EventOf, it: string): string | undefined {
  const who = nameOfActor(event.actor);
  switch (event.type) {
    case "assignment.created":
      return `${who} gave ${it} to ${event.data.target.agentId}.`;
    case "agent.terminal_regained":
      return `${event.agent ?? "An agent"} lost its terminal and kept working; Overseer gave it another, in which it can be watched.`;
    case "checkout.changed":
      return `The main checkout changed during a turn of ${event.agent ?? "an agent"}: ${event.data.what.join(", ")}.`;
    case "assignment.dispatched":
      return `${who} ${DISPATCHES[event.data.mode]} (${event.data.dispatchId}).`;
    case "assignment.delivered":
      return `The instruction ${event.data.dispatchId} ${DELIVERIES[event.data.result]}${event.data.notes ? ` (${withoutFullStop(event.data.notes)})` : ""}.`;
    case "assignment.active":
      return `${who} saw the agent make progress${saying(event, event.data.reason)}.`;
    case "assignment.stalled":
      return `${who} found the agent stalled${saying(event, event.data.reason)}.`;
    case "assignment.blocked":
      return `${who} found the agent waiting for ${describeWait(event.data.blocked.on)}: ${quoteWords(event.data.blocked.detail)}.`;
    case "assignment.done":
      return `${who} closed the assignment: the work is done${saying(event, event.data.reason)}.`;
    case "assignment.cancelled":
      return `${who} ended the assignment${endOfAssignment(event)}${saying(event, event.data.reason)}.`;
    case "question.asked":
      return `${who} asked ${quoteWords(event.data.text)}${event.data.options.length > 0 ? ` (${event.data.options.join(" / ")})` : ""}.`;
    case "question.answered":
      return `${who} answered ${quoteWords(event.data.answer)}.`;
    case "question.withdrawn":
      return `${who} withdrew the question, because ${withoutFullStop(event.data.reason)}.`;
    case "question.notified":
    case "question.acknowledged":
    case "question.escalated":
    case "answer.refused":
    case "news.told":
    case "lead.on":
    case "lead.off":
    case "lead.taken":
    case "lead.released":
    case "lead.read":
    case "update.taken":
    case "update.refused":
      return reportSentence(event);
    default:
      return claimSentence(event, it) ?? sentenceAboutOverseer(event, who);
  }
}

function sentenceAboutOverseer(event: EventOf, who: string): string | undefined {
  switch (event.type) {
    case "overseer.initialised":
      return `${who} set up Overseer ${event.data.version} in this repository.`;
    case "overseer.moved":
      return `The repository was moved from ${event.data.from} to ${event.data.to}.`;
    case "overseer.store.corrupt":
      return `${who} found the database damaged (${withoutFullStop(event.data.problem)}) and moved it aside.`;
    case "overseer.store.recovered":
      return `${who} recovered ${count(event.data.events, "event")} from ${event.data.from}; ${event.data.lost} were lost.`;
    case "daemon.started":
      return `Overseer ${event.data.version} began to run (pid ${event.data.pid})${event.data.previous ? "; the one before it had ended without a trace" : ""}.`;
    case "daemon.adopted": {
      const { agents, lost } = event.data;
      const gone = lost.length > 0 ? `, and missed ${lost.map(label).join(", ")}` : "";
      return `It found ${agents.length > 0 ? agents.map(label).join(", ") : "nobody"} at work${gone}.`;
    }
    case "daemon.stopped":
      return `Overseer stopped running (${withoutFullStop(event.data.reason)}).`;
    case "config.changed":
      return `A changed configuration took effect: ${event.data.changes.map(({ key }) => key).join(", ")}.`;
    case "config.refused":
      return `A changed configuration is invalid and was not applied: ${withoutFullStop(event.data.problem)}.`;
    case "fleet.frozen":
      return `${who} froze the fleet${saying(event, event.data.reason)}.`;
    case "fleet.thawed":
      return `${who} thawed the fleet${saying(event, event.data.reason)}.`;
    default:
      return agentSentence(event) ?? recoverySentence(event) ?? learningSentence(event) ?? autoSentence(event, who);
  }
}

function label({ agent, attempt }: { readonly agent: string; readonly attempt: number }): string {
  return `${agent}#${attempt}`;
}

function endOfAssignment(event: EventOf): string {
  if (event.because === "reassigned") return " to give the work to another";
  return event.because === "goal-cancelled" ? ", because the goal was cancelled" : "";
}

const DISPATCHES = {
  send: "sent the agent an instruction",
  spawn: "started the agent with an instruction",
  escalate: "turned to a person",
} as const;

const DELIVERIES = {
  accepted: "was handed over",
  ok: "was seen by the agent",
  timeout: "was not seen in time",
  error: "could not be delivered",
} as const;

function describeWait(on: "human" | "external"): string {
  return on === "human" ? "a person" : "something outside";
}

/** People and agents are quoted; what Overseer gives as its reason is in its own words. */
function saying(event: EventOf, reason: string | null): string {
  if (!reason) return "";
  return event.actor === "overseer" ? ` (${withoutFullStop(reason)})` : `, saying ${quoteWords(reason)}`;
}

/** Somebody's words. The sentence around them brings its own full stop. */
function quoteWords(text: string): string {
  return text.trim() === "" ? "(nothing was said)" : `"${withoutFullStop(text)}"`;
}

function withoutFullStop(text: string): string {
  return text.trim().replace(/\.+$/, "");
}

/** A quoted question ends the sentence by itself. */
function withoutDoubleStop(text: string): string {
  return text.replace(/([?!]")\.$/, "$1");
}

function dependencies(ids: readonly string[]): string {
  return ids.length > 0 ? `, to be done after ${ids.join(", ")}` : "";
}

/** `problemStatement` → `problem statement`. */
function inWords(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}

function spellStatus(status: string): string {
  return status.replace("_", " ");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** With which text it was asked for; a text of the user's own is told as such. */
function tellPrompt({
  promptId,
  promptHash,
  ownPrompt,
}: Pick<PlanRevision, "promptId" | "promptHash" | "ownPrompt">): string {
  if (promptId === undefined) return "";
  return ownPrompt
    ? `, asked with your own prompt ${promptId} (hash ${promptHash ?? "unknown"})`
    : ` (asked with ${promptId} ${promptHash ?? ""})`;
}
