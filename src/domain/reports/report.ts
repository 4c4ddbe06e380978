/**
 * What an agent's update does (UPD-1, UPD-2): it is about the node of the one assignment the agent has, or a part of
 * it, and about nothing else; its words become the node's handoff, once per change; blocked becomes a block and a
 * question to a person; done becomes a claim, which report-done.ts judges. A word from a life that has ended is recorded
 * and changes nothing (FENCE-1). What cannot be taken is refused with a reason that the agent is told.
 */

import { followUpRequest, MOST_FOLLOW_UPS } from "#domain/briefing/update-request.ts";
import type { Moment } from "#domain/core/actor.ts";
import { pathOfMoves } from "#domain/core/moves.ts";
import { type Refusal, refuse } from "#domain/core/refusal.ts";
import type { ClaimedWork, ClaimResult } from "#domain/landing/report-done.ts";
import { claimDone } from "#domain/landing/report-done.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { ASSIGNMENT_MOVES, isLive } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent, attemptLabel, isLiving } from "#domain/model/attempt.ts";
import type { Crystallization, CrystallizationBody } from "#domain/model/crystallization.ts";
import { crystallization } from "#domain/model/crystallization.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { ReportStatus } from "#domain/model/protocol.ts";
import { aboutQuestion, type Question } from "#domain/model/question.ts";
import type { BlockedReason, WorkNode } from "#domain/model/work.ts";
import { isOpen, liftBlock, nodeKey } from "#domain/model/work.ts";
import { askPerson } from "./answer.ts";
import type { AgentUpdate } from "./update.ts";
import { mergeUpdate, saysTheSame } from "./update.ts";

/** The goal the agent works for, as it stands in the same transaction. */
export interface ReportSeen {
  readonly attempt: Attempt | undefined;
  readonly goal: Goal | undefined;
  readonly nodes: readonly WorkNode[];
  /** Live ones of the goal. */
  readonly assignments: readonly Assignment[];
  readonly questions: readonly Question[];
  readonly crystallizations: readonly Crystallization[];
}

export interface ReportWay {
  /** The number of the attempt that speaks. */
  readonly attempt: number;
  readonly via: "block" | "command" | "kept";
  /** Which of its requests this is; undefined for the words of an answer. */
  readonly request?: string | undefined;
  /** What git says about its work; only needed for a report of done. */
  readonly work: ClaimedWork | null;
  /** Names of the checks that run on a report of done. */
  readonly checks: readonly string[];
  readonly crystallizationId: string;
  readonly questionId: string;
}

export interface Reported {
  readonly goalId: string;
  readonly workNodeId: string;
  readonly status: ReportStatus | null;
  /** The handoff says something new. */
  readonly changed: boolean;
  readonly questionId: string | null;
  /** What became of a report of done. */
  readonly claim: ClaimResult | null;
}

/** Pass the decision through `settled`: a claim may end the node. */
export function takeReport(seen: ReportSeen, update: AgentUpdate, way: ReportWay, moment: Moment): Decision<Reported> {
  const { attempt, goal } = seen;
  if (!attempt || !isLiving(attempt) || attempt.attempt !== way.attempt) return refuseFenced(way.attempt, attempt);
  if (!goal || goal.status === "cancelled" || goal.status === "archived") {
    return refuse(
      "conflict",
      "GOAL_ENDED",
      `Goal ${attempt.goalId} has ended.`,
      "Stop here; there is nothing left to do.",
    );
  }
  const target = targetOf(seen, attempt, update);
  if (!target.ok) return target;
  const node = target.value;
  const own: Own = { ...attempt, workNodeId: node.workNodeId };
  const assignment = seen.assignments.find((one) => one.assignmentId === attempt.assignmentId);
  const noted = handoffEvents(seen, own, node, update, way, moment);
  const moved = moveByStatus({ ...seen, node, own, assignment, attempt }, update, noted, way, moment);
  if (!moved.ok) return moved;
  const { questionId, claim } = moved.value;
  const events = [...noted.events, ...moved.events];
  const status = update.status ?? null;
  const changed = noted.events.length > 0;
  // What was kept lies in a file that can be put back: that it was taken is written down also where it said nothing new.
  if (events.length > 0 || way.via === "kept") {
    const data = { via: way.via, status, changed, ...requestOf(way) };
    events.push(attemptEvent(own, moment.actor, "update.taken", "reported", data));
  }
  return accept(events, { goalId: node.goalId, workNodeId: node.workNodeId, status, changed, questionId, claim });
}

function requestOf({ request }: Pick<ReportWay, "request">): { readonly request?: string } {
  return request === undefined ? {} : { request };
}

/** The attempt, speaking of one node: its own or a part of it. */
type Own = Attempt;

interface Around extends ReportSeen {
  readonly node: WorkNode;
  readonly own: Own;
  readonly attempt: Attempt;
  readonly assignment: Assignment | undefined;
}

/** UPD-2: ids that are missing are those of the one assignment; ids that are there must be its own, or a part's. */
function targetOf(seen: ReportSeen, attempt: Attempt, update: AgentUpdate): Decision<WorkNode> {
  const own = nodeKey(attempt.goalId, attempt.workNodeId);
  const given = update.workNodeId ?? attempt.workNodeId;
  const slash = given.indexOf("/");
  const goals = [update.goalId, slash > 0 ? given.slice(0, slash) : undefined];
  const nodeId = slash > 0 ? given.slice(slash + 1) : given;
  const hint = `You are at work on ${own}; leave the ids out, or name it or a part of it.`;
  const foreign = goals.find((goalId) => goalId !== undefined && goalId !== attempt.goalId);
  if (foreign !== undefined) {
    return refuse("conflict", "NOT_YOURS", `Your work belongs to ${attempt.goalId}, not to ${brief(foreign)}.`, hint);
  }
  const node = seen.nodes.find((one) => one.workNodeId === nodeId);
  if (!node) {
    return refuse("not-found", "NODE_UNKNOWN", `${attempt.goalId} has no node ${brief(nodeId)}.`, hint);
  }
  const label = nodeKey(node.goalId, node.workNodeId);
  const holder = seen.assignments.find((one) => isLive(one) && one.workNodeId === nodeId);
  const taken = holder !== undefined && holder.assignmentId !== attempt.assignmentId;
  if (taken || !node.path.split("/").includes(attempt.workNodeId)) {
    const whose = taken ? `${label} is with ${holder.target.agentId}` : `${label} is not part of your work`;
    return refuse("conflict", "NOT_YOURS", `${whose}.`, hint);
  }
  if (!isOpen(node)) {
    return refuse(
      "conflict",
      "NODE_ENDED",
      `${label} is already ${node.status}, and that is final.`,
      "Leave it as it is.",
    );
  }
  return accept([], node);
}

interface Noted {
  readonly body: CrystallizationBody;
  readonly crystallizationId: string | null;
  readonly events: NewEvent[];
}

/** The handoff as it is now; recorded when it says something new, with an anchor to where it was said. */
function handoffEvents(
  seen: ReportSeen,
  own: Own,
  node: WorkNode,
  update: AgentUpdate,
  way: ReportWay,
  moment: Moment,
): Noted {
  const last = seen.crystallizations.find((one) => one.crystallizationId === node.crystallizationId);
  const known = last ?? crystallization(node.kind, {});
  const anchor = { sessionKey: attemptLabel(own), ...(own.session ? { sessionId: own.session } : {}) };
  const body = mergeUpdate(known, update);
  if (saysTheSame(known, body)) return { body, crystallizationId: last?.crystallizationId ?? null, events: [] };
  const anchored = mergeUpdate(body, { transcripts: [anchor] });
  const { crystallizationId } = way;
  return {
    body: anchored,
    crystallizationId,
    events: [
      attemptEvent(own, moment.actor, "crystallization.recorded", "reported", { crystallizationId, ...anchored }),
    ],
  };
}

interface Moved {
  readonly questionId: string | null;
  readonly claim: ClaimResult | null;
}

function moveByStatus(
  around: Around,
  update: AgentUpdate,
  noted: Noted,
  way: ReportWay,
  moment: Moment,
): Decision<Moved> {
  switch (update.status) {
    case "done":
      return claimOnReport(around, update, noted, way, moment);
    case "blocked":
      return blockOnReport(around, update, way, moment);
    case "in_progress": {
      const goes = continueOnReport(around, moment);
      if (!goes.ok) return goes;
      const asked = askFromUpdate(around, update, way, moment);
      return asked.ok ? accept([...goes.events, ...asked.events], asked.value) : asked;
    }
    default:
      return askFromUpdate(around, update, way, moment);
  }
}

function askFromUpdate(
  { own, questions }: Around,
  update: AgentUpdate,
  way: ReportWay,
  moment: Moment,
): Decision<Moved> {
  if (!update.question) return accept([], { questionId: null, claim: null });
  const asked = askPerson(questions, questionOf(own, way, update.question), moment);
  if (!asked.ok) return asked;
  return accept(withSpeaker(own, asked.events), { questionId: asked.value.questionId, claim: null });
}

function questionOf(own: Own, way: ReportWay, asked: { readonly text: string; readonly options: readonly string[] }) {
  const { goalId, workNodeId: nodeId, assignmentId } = own;
  return { questionId: way.questionId, goalId, nodeId, assignmentId, text: asked.text, options: asked.options };
}

/** The same events, with whose they are. */
function withSpeaker({ agent, attempt }: Own, events: readonly NewEvent[]): NewEvent[] {
  return events.map((event) => ({ ...event, agent, attempt }));
}

/** It continues: a part is started, a block of its own is lifted with the questions that it had asked about it. */
function continueOnReport({ node, own, assignment, questions }: Around, moment: Moment): Decision<null> {
  const label = nodeKey(node.goalId, node.workNodeId);
  if (node.status === "todo") {
    return refuse("conflict", "NOT_READY", `${label} waits for other work.`, `'overseer why ${label}' says for which.`);
  }
  const isPart = assignment?.workNodeId !== node.workNodeId;
  const ownBlock = assignment?.status === "blocked" || isPart;
  if (node.status === "blocked" && !ownBlock) {
    const why = node.blockedReason?.detail ?? "no reason kept";
    return refuse("conflict", "NODE_BLOCKED", `${label} is blocked: ${why}.`, "Wait until it is resumed.");
  }
  const events: NewEvent[] = [];
  const because = "reported-in-progress";
  if (node.status === "blocked") {
    events.push(...liftBlock(node, because, "its agent continues", moment));
    for (const question of questions.filter((one) => isAbout(one, node) && one.askedBy === moment.actor)) {
      const data = { questionId: question.questionId, reason: "its agent continued without an answer" };
      events.push({ type: "question.withdrawn", actor: moment.actor, ...aboutQuestion(question), because, data });
    }
  }
  if (node.status === "queued" || (node.status === "blocked" && !node.claim)) {
    events.push(attemptEvent(own, moment.actor, "work.started", because, { reason: null }));
  }
  if (!isPart && assignment && assignment.status !== "active") {
    events.push(...assignmentSteps(own, assignment, "active", because, moment));
  }
  return accept(events, null);
}

function isAbout(question: Question, node: WorkNode): boolean {
  return question.status === "open" && question.goalId === node.goalId && question.workNodeId === node.workNodeId;
}

/** WORK-5: a block has a reason; and a person hears of it, because a block that nobody hears of lasts for ever. */
function blockOnReport(around: Around, update: AgentUpdate, way: ReportWay, moment: Moment): Decision<Moved> {
  const { node, own, assignment, questions } = around;
  const label = nodeKey(node.goalId, node.workNodeId);
  const detail = [...(update.knownBlockers ?? []), ...(update.question ? [update.question.text] : [])].join("; ");
  if (detail === "") {
    return refuse(
      "usage",
      "REASON_MISSING",
      `${label} cannot be blocked without a reason.`,
      "Name each thing in the way and what would clear it (blockers, --blocker), or put your question (question, --ask).",
    );
  }
  if (node.status === "todo") {
    return refuse(
      "conflict",
      "NOT_READY",
      `${label} has not begun; it waits for other work.`,
      "Report the node you work on.",
    );
  }
  const kind: BlockedReason["kind"] = update.blocked?.kind ?? (update.question ? "human" : "other");
  const needs = update.blocked?.needs;
  const because = "reported-blocked";
  const events: NewEvent[] = [];
  if (node.status !== "blocked" || node.blockedReason?.detail !== detail) {
    const reason = { kind, detail, ...(needs === undefined ? {} : { needs }) };
    events.push(attemptEvent(own, moment.actor, "work.blocked", because, { blocked: reason }));
  }
  if (assignment?.workNodeId === node.workNodeId && assignment.status !== "blocked") {
    const on = kind === "external" || kind === "dependency" || kind === "environment" ? "external" : "human";
    events.push(...assignmentSteps(own, assignment, "blocked", because, moment, { on, detail }));
  }
  const question = update.question ?? { text: `${label} is blocked: ${detail}. What should happen?`, options: [] };
  const asked = askPerson(questions, questionOf(own, way, question), moment);
  if (!asked.ok) return asked;
  events.push(...withSpeaker(own, asked.events));
  return accept(events, { questionId: asked.value.questionId, claim: null });
}

/** Along legal moves; one that nobody has seen at work yet is active on the way. */
function assignmentSteps(
  own: Own,
  assignment: Assignment,
  to: "active" | "blocked",
  because: string,
  moment: Moment,
  blockedOn?: { readonly on: "human" | "external"; readonly detail: string },
): NewEvent[] {
  const about: Own = { ...own, workNodeId: assignment.workNodeId };
  return (pathOfMoves(ASSIGNMENT_MOVES, assignment.status, to) ?? []).flatMap((step) => {
    if (step === "active") return [attemptEvent(about, moment.actor, "assignment.active", because, { reason: null })];
    if (step !== "blocked" || !blockedOn) return [];
    return [attemptEvent(about, moment.actor, "assignment.blocked", because, { blocked: blockedOn })];
  });
}

function claimOnReport(
  around: Around,
  update: AgentUpdate,
  noted: Noted,
  way: ReportWay,
  moment: Moment,
): Decision<Moved> {
  const { node, nodes, attempt, assignment } = around;
  const work = way.work ?? { kind: "nothing", base: attempt.base };
  const decision = claimDone(
    { node, nodes, attempt, assignment },
    {
      attempt: way.attempt,
      work,
      summary: update.summary ?? noted.body.summary,
      evidence: noted.body.evidence,
      crystallizationId: noted.crystallizationId,
      noChangeReason: update.noChanges ?? null,
      checks: way.checks,
    },
    moment,
  );
  if (!decision.ok) return decision;
  const started = decision.value.kind === "part" && node.status === "queued";
  const begun = started
    ? [attemptEvent(around.own, moment.actor, "work.started", "reported-done", { reason: null })]
    : [];
  return accept([...begun, ...decision.events], { questionId: null, claim: decision.value });
}

function refuseFenced(number: number, attempt: Attempt | undefined): Decision<never> {
  return refuse(
    "conflict",
    "ATTEMPT_FENCED",
    attempt ? `Attempt #${number} has ended; what it says no longer counts.` : `There is no attempt #${number}.`,
    "Nothing to do: another attempt has taken over, or it was stopped.",
  );
}

export interface RefusedWay extends Pick<ReportWay, "attempt" | "via" | "request"> {
  /** How many updates of this attempt were refused since the last one that was taken. */
  readonly refusedBefore: number;
  readonly messageId: string;
}

/**
 * A refusal, written down, and told to the agent where nobody else tells it (the command line answers by itself). An
 * agent is asked again a few times only: one that never learns is the ladder's to deal with.
 */
export function recordRefusal(
  attempt: Attempt | undefined,
  refusal: Pick<Refusal, "code" | "message" | "hint">,
  way: RefusedWay,
  moment: Moment,
): readonly NewEvent[] {
  if (!attempt) return [];
  if (refusal.code === "ATTEMPT_FENCED") {
    return [attemptEvent(attempt, moment.actor, "agent.fenced", "attempt-over", { what: "it sent an update" })];
  }
  const { via } = way;
  const asksAgain = via !== "command" && way.refusedBefore < MOST_FOLLOW_UPS;
  const reason = refusal.message;
  const events = [
    attemptEvent(attempt, moment.actor, "update.refused", "not-taken", {
      via,
      code: refusal.code,
      reason,
      askedAgain: asksAgain,
      ...requestOf(way),
    }),
  ];
  if (asksAgain) {
    events.push(
      attemptEvent(attempt, "overseer", "message.queued", "update-refused", {
        messageId: way.messageId,
        kind: "instruction",
        from: "overseer",
        body: followUpRequest(attempt, `${refusal.message} ${refusal.hint}`.trim()),
        dispatchId: null,
      }),
    );
  }
  return events;
}

function brief(text: string): string {
  return JSON.stringify(text.slice(0, 60)).slice(1, -1);
}
