/** Work that waits for somebody, as sentences: questions, reviews, landings, blocks, stalls, what can never begin. */
import { nudgeHash } from "#domain/briefing/nudge-text.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { type Claim, tellUnchanged } from "#domain/model/claim.ts";
import type { LadderLimits, Recovery, Rung } from "#domain/model/ladder-state.ts";
import { NUDGE_NAMES, newRecovery, nextRung, nextStepAt, sayableFrom, stepsFor } from "#domain/model/ladder-state.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { AgentFact, FleetFacts, QuestionFact, SplitForecast, Standstill } from "./standstill.ts";
import { commandToAnswer, findCommand, standstill, tellAnswer } from "./standstill.ts";

export function explainWork(facts: FleetFacts): Standstill[] {
  return [
    ...listOwnQuestions(facts).map(explainQuestion),
    ...explainReviews(facts),
    ...explainLandings(facts),
    ...explainReturned(facts),
    ...explainBlocked(facts),
    ...explainNeverReady(facts),
    ...explainGoals(facts),
    ...facts.stalled
      .filter(({ assignmentId }) => !facts.waitForAccount.has(assignmentId))
      .map((one) => explainStalled(facts, one)),
    ...explainDead(facts),
    ...facts.agents.flatMap((one) => explainAgent(facts, one) ?? []),
  ];
}

const keyOf = ({ goalId, workNodeId }: Pick<WorkNode, "goalId" | "workNodeId">) => nodeKey(goalId, workNodeId);

/** So many are named; the rest is counted. */
const NAMED = 5;

export function nameSome(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `${names.slice(0, NAMED).join(", ")}${more}`;
}

/** What is asked about a budget is told with the budget. */
function listOwnQuestions({ questions, conditions }: FleetFacts): readonly QuestionFact[] {
  const budgets = new Set(
    conditions.flatMap((one) =>
      one.kind === "budget" && one.active && one.phase !== "warned" ? [one.questionId] : [],
    ),
  );
  return questions.filter(({ questionId }) => !budgets.has(questionId));
}

function explainQuestion(question: QuestionFact): Standstill {
  const { questionId, goalId, workNodeId, text, askedAt, unreached } = question;
  const place = goalId !== null && workNodeId !== null ? nodeKey(goalId, workNodeId) : goalId;
  const command = commandToAnswer(questionId);
  const nobody = unreached === null ? "" : ` NOBODY WAS REACHED (${unreached}).`;
  return standstill("question", {
    text: `ASKED since ${isoTime(askedAt)}${place ? ` about ${place}` : ""} and not answered: ${withStop(clipWords(text))}${nobody} (${tellAnswer(question)})`,
    ...{ command, about: place ? [place] : [], sinceAt: askedAt },
  });
}

function isReviewDue(node: WorkNode): node is WorkNode & { readonly claim: Claim } {
  return node.status === "in_progress" && node.claim?.waiting?.for === "review" && node.claim.approvedBy === null;
}

/** All of them in one line: eight finished tasks are one visit. */
function explainReviews({ nodes }: FleetFacts): Standstill[] {
  const due = nodes.filter(isReviewDue).toSorted((a, b) => waitingSince(a) - waitingSince(b));
  const [first] = due;
  if (!first) return [];
  const names = due.map(keyOf);
  const command = `overseer accept ${names[0]}`;
  const one = due.length === 1;
  const again = due.flatMap((node) => {
    const { unchanged } = node.claim;
    return unchanged ? [`; ${one ? "it" : keyOf(node)} is ${tellUnchanged(unchanged)}`] : [];
  });
  return [
    standstill("review", {
      text: `YOUR REVIEW: ${nameSome(names)} ${one ? "is" : "are"} done and ${one ? "waits" : "wait"} for you since ${isoTime(waitingSince(first))}${nameAgain(again)} (overseer review ${one ? names[0] : "<task>"}; then ${one ? command : "overseer accept <task>"} or reject)`,
      ...{ command, about: names, sinceAt: waitingSince(first) },
    }),
  ];
}

function nameAgain(again: readonly string[]): string {
  const more = again.length > NAMED ? ` and ${again.length - NAMED} more` : "";
  return `${again.slice(0, NAMED).join("")}${more}`;
}

function waitingSince({ claim, updatedAt }: WorkNode): number {
  return claim?.waiting?.since ?? updatedAt;
}

/** Checked work that is in nobody's fault not in the target yet, and branches that only a person can let through. */
function explainLandings({ nodes, merges, questions, now }: FleetFacts): Standstill[] {
  const waiting = nodes.flatMap((node) => {
    const wait = node.status === "in_progress" ? node.claim?.waiting : undefined;
    if (!wait || wait.for === "review") return [];
    const merge = merges.find((one) => one.goalId === node.goalId && one.workNodeId === node.workNodeId);
    const nextAt = merge && merge.notBefore > now ? merge.notBefore : null;
    const again = nextAt === null ? "" : `; looked at again at ${isoTime(nextAt)} at the latest`;
    const files = wait.files.length === 0 ? "" : ` (${nameSome(wait.files)})`;
    return [
      standstill("landing", {
        text: `NOT LANDED: ${keyOf(node)} waits since ${isoTime(wait.since)}: ${withoutStop(wait.detail)}${files}${again} (what waits: overseer merge)`,
        ...{ command: "overseer merge", about: [keyOf(node)], sinceAt: wait.since, nextAt },
        turn: wait.for === "checkout" ? "person" : "itself",
      }),
    ];
  });
  const asked = new Set(questions.map(({ goalId, workNodeId }) => nodeKey(goalId ?? "", workNodeId ?? "")));
  const parked = merges.filter(
    (one) => one.status === "parked" && !asked.has(nodeKey(one.goalId ?? "", one.workNodeId ?? "")),
  );
  return [
    ...waiting,
    ...parked.map((one) =>
      standstill("landing", {
        text: `NOT LANDED: ${one.branch} cannot land without you: ${withoutStop(one.detail ?? "it was parked")} (overseer merge)`,
        ...{ command: "overseer merge", about: [one.branch, ...keysOf(one)], sinceAt: one.updatedAt },
      }),
    ),
  ];
}

/** A report of done that did not hold: its author is at it again, until its rounds are used up. */
function explainReturned({ nodes, agents, fixRounds }: FleetFacts): Standstill[] {
  return nodes
    .filter(({ status, claim, rounds = 0 }) => status === "in_progress" && claim === undefined && rounds > 0)
    .map((node) => {
      const author = agents.find((one) => nodeKey(one.goalId, one.workNodeId) === keyOf(node));
      const who = author ? `${author.agent}#${author.attempt} is at it again` : "another agent gets it";
      const of = fixRounds === null ? "" : ` of ${fixRounds}`;
      const command = `overseer why ${keyOf(node)}`;
      return standstill("returned", {
        text: `SENT BACK: ${keyOf(node)} since ${isoTime(node.updatedAt)}, round ${node.rounds}${of}: ${withoutStop(node.statusReason ?? "it did not hold")}; ${who} (${command})`,
        ...{ command, about: [keyOf(node)], sinceAt: node.updatedAt, turn: "itself" as const },
      });
    });
}

function keysOf({ goalId, workNodeId }: Merge): string[] {
  return goalId === null || workNodeId === null ? [] : [nodeKey(goalId, workNodeId)];
}

/** Where a question is open about it, that says it. One cause outside of the work is one line, however many wait for it. */
function explainBlocked({ nodes, questions }: FleetFacts): Standstill[] {
  const asked = new Set(questions.map(({ goalId, workNodeId }) => nodeKey(goalId ?? "", workNodeId ?? "")));
  const blocked = nodes.filter((node) => node.status === "blocked" && !asked.has(keyOf(node)));
  const byCause = Map.groupBy(blocked, (node) => {
    const { kind, detail, stopped } = node.blockedReason ?? {};
    return kind === "environment" && stopped === undefined ? `same ${detail}` : keyOf(node);
  });
  return [...byCause.values()].flatMap((all) => {
    const [first] = all.toSorted((a, b) => a.updatedAt - b.updatedAt);
    if (!first) return [];
    // A person stopped its agent, and was told how it continues.
    const { stopped, needs: said } = first.blockedReason ?? {};
    return [stopped === undefined ? explainHindered(first, all.map(keyOf)) : explainReserved(first, said ?? "")];
  });
}

function explainHindered(node: WorkNode, names: readonly string[]): Standstill {
  const command = `overseer work unblock ${keyOf(node)}`;
  const { detail = "", needs: said } = node.blockedReason ?? {};
  const needs = said ? ` What would help: ${withStop(said)}` : "";
  // What would help may name the command already.
  const then = names.length > 1 ? `${command}, and so for each` : command;
  const how = names.length === 1 && needs.includes(command) ? "" : ` (${then})`;
  return standstill("blocked", {
    text: `BLOCKED: ${nameSome(names)} since ${isoTime(node.updatedAt)}: ${withStop(detail)}${needs}${how}`,
    ...{ command, about: names, sinceAt: node.updatedAt },
  });
}

function explainReserved(node: WorkNode, needs: string): Standstill {
  const detail = withStop(node.blockedReason?.detail ?? "");
  return standstill("blocked", {
    text: `YOURS: ${keyOf(node)} since ${isoTime(node.updatedAt)}: ${detail} ${withStop(needs)}`,
    ...{ command: findCommand(needs) ?? `overseer why ${keyOf(node)}`, about: [keyOf(node)], sinceAt: node.updatedAt },
  });
}

/** What waits for something that was cancelled, or for what itself waits for that, never begins by itself. */
function explainNeverReady({ nodes, questions }: FleetFacts): Standstill[] {
  const byKey = new Map(nodes.map((node) => [keyOf(node), node]));
  const todo = nodes.filter(({ status }) => status === "todo");
  const never = new Map<string, string>();
  for (let before = -1; before < never.size; ) {
    before = never.size;
    for (const node of todo) {
      const dead = never.has(keyOf(node)) ? undefined : findDead(node, byKey, never);
      if (dead !== undefined) never.set(keyOf(node), dead);
    }
  }
  const asked = new Set(questions.map(({ goalId, workNodeId }) => nodeKey(goalId ?? "", workNodeId ?? "")));
  const silent = [...never].filter(([key]) => !asked.has(key));
  const [first] = silent;
  if (!first) return [];
  const names = silent.map(([key]) => key);
  const command = `overseer work cancel ${names[0]}`;
  return [
    standstill("never-ready", {
      text: `NEVER READY: ${nameSome(names)} ${silent.length === 1 ? "depends" : "depend"} on ${first[1]}, which was cancelled (${command}, or change the plan: overseer goal plan)`,
      ...{ command, about: names },
    }),
  ];
}

/** The cancelled node it waits for, directly or by what it waits for; a parent that goes on waits no more. */
function findDead(
  node: WorkNode,
  byKey: ReadonlyMap<string, WorkNode>,
  never: ReadonlyMap<string, string>,
): string | undefined {
  const { goalId } = node;
  for (let at: WorkNode | undefined = node; at; at = byKey.get(nodeKey(goalId, at.parentId ?? ""))) {
    if (at !== node && at.status !== "todo") break;
    for (const id of at.dependsOn) {
      const key = nodeKey(goalId, id);
      if (byKey.get(key)?.status === "cancelled") return key;
      const root = never.get(key);
      if (root !== undefined) return root;
    }
  }
  return undefined;
}

function explainGoals({ goals, plannings }: FleetFacts): Standstill[] {
  const isPlanned = (goalId: string) => plannings.some((one) => one.goalId === goalId);
  return goals.flatMap(({ goalId, title, status, nodes, progress, unchanged = 0 }): Standstill[] => {
    if (status === "paused") {
      const command = `overseer goal resume ${goalId}`;
      return [standstill("goal-paused", { text: `PAUSED: ${goalId} ${title} (${command})`, command, about: [goalId] })];
    }
    const isEmptied = nodes > 0 && progress?.total === 0;
    // A plan that is asked for, proposed or failed is told as that.
    if (status !== "active" || isPlanned(goalId) || (nodes > 0 && !isEmptied)) return [];
    const command = `overseer goal plan ${goalId} --file plan.yaml`;
    if (isEmptied) {
      const how =
        unchanged === 0
          ? `every task of ${goalId} ${title} was cancelled`
          : `no task of ${goalId} ${title} is open, ${unchanged} ended without changes: nothing had to be changed`;
      const text = `NOTHING LEFT: ${how} (overseer goal cancel ${goalId}, or under a new id: ${command})`;
      return [standstill("no-plan", { text, command: `overseer goal cancel ${goalId}`, about: [goalId] })];
    }
    return [
      standstill("no-plan", {
        text: `NO PLAN: ${goalId} ${title} (${command}, or by a model: overseer goal plan ${goalId} --with-model)`,
        command,
        about: [goalId],
      }),
    ];
  });
}

/** What the ladder does next, for whoever waits for it. */
const STEPS: Readonly<Record<Rung, string>> = {
  hint: `it gets a ${NUDGE_NAMES.hint}`,
  warning: `it gets a ${NUDGE_NAMES.warning}`,
  critical: `it gets a ${NUDGE_NAMES.critical}`,
  resend: "it is interrupted and its instruction given again",
  replan: "its work is split into smaller pieces by a model, or else given to a fresh agent",
  reassign: "its work is given to a fresh agent",
  pause: "it is paused",
  ask: "a person is asked",
};

function explainStalled(facts: FleetFacts, assignment: Assignment): Standstill {
  const { ladder, recoveries, patienceMs } = facts;
  const known = recoveries.find((one) => keyOf(one) === keyOf(assignment));
  const recovery = stepsFor(known ?? newRecovery(assignment.goalId, assignment.workNodeId), assignment.assignmentId);
  const patience = patienceMs.get(assignment.assignmentId) ?? ladder?.patienceMs ?? 0;
  const split = facts.splits.get(assignment.assignmentId);
  const bars = { isSpared: facts.spared.has(assignment.assignmentId), isWatching: facts.off.includes("dispatch") };
  const next = ladder && nextRung(split ? recovery : passReplan(recovery), assignment.recoveryPolicy, ladder, bars);
  const waits = ladder && next ? waitForWords(recovery, assignment, next, ladder) : 0;
  const dueAt = Math.max(nextStepAt(recovery, patience) ?? 0, waits);
  // Whatever happens in the fleet brings the next look forward and moves the one after it; what is due stays due.
  const { nextTickAt, nextLookAt = Number.POSITIVE_INFINITY } = facts.daemon;
  const nextAt = dueAt > facts.now ? dueAt : nextTickAt && Math.min(nextTickAt, nextLookAt);
  const rung = next ? tellStep(next, split) : "it is looked at";
  const cause = (assignment.statusReason ?? "no activity").replaceAll("-", " ");
  const since =
    (cause === "looping" ? undefined : facts.quietSince.get(assignment.assignmentId)) ?? assignment.updatedAt;
  const at = nextAt === null ? "next" : nextAt > facts.now ? `at ${isoTime(nextAt)}` : "at the next look";
  const when = dueAt > facts.now ? `at the first look after ${isoTime(dueAt)}` : at;
  const command = `overseer peek ${assignment.target.agentId}`;
  const follows = tellAsked(facts, assignment) ?? `${when} ${rung}`;
  return standstill("stalled", {
    text: `STALLED: ${assignment.target.agentId} on ${keyOf(assignment)} since ${isoTime(since)} (${cause}); ${follows}${tellDiagnosis(recovery, assignment)} (${command})`,
    ...{ command, about: [keyOf(assignment)], sinceAt: since, nextAt },
    turn: "itself",
  });
}

/** The same words are not said again for a while, also where the steps began anew (domain/tick/ladder.ts). */
function waitForWords(recovery: Recovery, assignment: Assignment, rung: Rung, ladder: LadderLimits): number {
  const { statusReason, instructionHash, lastDispatchAt } = assignment;
  if (rung === "hint" || rung === "warning" || rung === "critical") {
    return sayableFrom(recovery, nudgeHash(rung, statusReason ?? ""), ladder) ?? 0;
  }
  if (rung !== "resend") return 0;
  const said = instructionHash === null ? null : sayableFrom(recovery, instructionHash, ladder);
  return Math.max(said ?? 0, lastDispatchAt === null ? 0 : lastDispatchAt + ladder.minResendIntervalMs);
}

function tellStep(rung: Rung, split: SplitForecast | undefined): string {
  if (rung !== "replan" || split?.by !== "stronger-model") return STEPS[rung];
  return `its work is given to a fresh agent with a stronger model (${split.model})`;
}

/** A model is being asked about it: nothing else follows until it has answered, or for too long not. */
function tellAsked({ actions }: FleetFacts, { goalId, workNodeId }: Assignment): string | undefined {
  const asked = actions.find(
    (one) =>
      (one.kind === "replan" || one.kind === "diagnose") && one.goalId === goalId && one.workNodeId === workNodeId,
  );
  if (!asked) return undefined;
  const what = asked.kind === "replan" ? "how its work can be split" : "what is the matter";
  return `a model is asked ${what} since ${isoTime(asked.decidedAt)}`;
}

/** What a model said about this stall. */
function tellDiagnosis({ diagnosis }: Recovery, { assignmentId }: Assignment): string {
  if (diagnosis?.assignmentId !== assignmentId || diagnosis.said === null) return "";
  return `; a model says: "${clipWords(diagnosis.said)}"`;
}

/** Where its work is not split (domain/tick/replan.ts), that rung is passed over. */
function passReplan(recovery: Recovery): Recovery {
  return { ...recovery, steps: { ...recovery.steps, replan: Number.MAX_SAFE_INTEGER } };
}

/**
 * All of them in one line: what killed one has often killed others. In a copy they are somebody else's, and nobody is started
 * again for work that has ended.
 */
function explainDead({ agents, nodes, daemon, isCopy }: FleetFacts): Standstill[] {
  const open = new Set(nodes.filter(({ status }) => status !== "cancelled").map(keyOf));
  const dead = isCopy ? [] : agents.filter((one) => one.seen === "dead" && open.has(keyOf(one)));
  const [first] = dead;
  if (!first) return [];
  const names = dead.map(
    ({ agent, attempt, goalId, workNodeId }) => `${agent}#${attempt} on ${nodeKey(goalId, workNodeId)}`,
  );
  const isLooked = daemon.state === "running";
  const it = dead.length === 1 ? "it is" : "they are";
  const command = isLooked ? `overseer why ${nodeKey(first.goalId, first.workNodeId)}` : "overseer up";
  const then = isLooked
    ? `${it} started again after the next look (${command})`
    : `nothing starts ${dead.length === 1 ? "it" : "them"} again (${command}; one alone: overseer restart ${first.agent})`;
  return [
    standstill("agent-dead", {
      text: `DEAD: ${nameSome(names)}: ${dead.length === 1 ? "its process is" : "their processes are"} gone; ${then}`,
      ...{ command, turn: isLooked ? "itself" : "person", nextAt: isLooked ? daemon.nextTickAt : null },
      about: dead.flatMap(({ agent, attempt, goalId, workNodeId }) => [
        `${agent}#${attempt}`,
        nodeKey(goalId, workNodeId),
      ]),
    }),
  ];
}

function explainAgent(facts: FleetFacts, one: AgentFact): Standstill | undefined {
  const { agent, attempt, goalId, workNodeId, seen, waitingOn, pausedBecause = null, lastAt } = one;
  const who = `${agent}#${attempt} on ${nodeKey(goalId, workNodeId)}`;
  const about = [`${agent}#${attempt}`, nodeKey(goalId, workNodeId)];
  if (seen === "not-answering") {
    const command = `overseer restart ${agent}`;
    return standstill("not-answering", {
      text: `NOT ANSWERING: the runner of ${who} is held by a signal since ${isoTime(lastAt)} or later; nothing its agent does is recorded, and nothing reaches it (let the process continue, overseer doctor names it; or ${command})`,
      ...{ command, about, sinceAt: lastAt },
    });
  }
  if (seen === "waiting") {
    return standstill("agent-waits", {
      text: `WAITS: ${who} for ${waitingOn ?? "a message"} since ${isoTime(lastAt)} (overseer peek ${agent})`,
      ...{ command: `overseer peek ${agent}`, about, sinceAt: lastAt },
      turn: "itself",
    });
  }
  // What its goal or a budget holds is said there.
  if (seen !== "paused" || pausedBecause === "goal-paused" || pausedBecause === "budget") return undefined;
  if (pausedBecause === "recovery") {
    const recovery = facts.recoveries.find((known) => keyOf(known) === nodeKey(goalId, workNodeId));
    const nextAt = recovery?.backoffUntil ?? null;
    const until = nextAt === null ? "" : `; it is resumed at ${isoTime(nextAt)}`;
    return standstill("agent-paused", {
      text: `PAUSED: ${who} was stuck, and nothing has helped${until} (overseer resume ${agent})`,
      ...{ command: `overseer resume ${agent}`, about, nextAt },
      turn: "itself",
    });
  }
  const command = `overseer resume ${agent}`;
  return standstill("agent-paused", { text: `PAUSED: ${who} by a person (${command})`, command, about });
}

/** A question may be a page long; the command shows all of it. */
const MOST_WORDS = 1_000;

function clipWords(text: string): string {
  const said = text.replace(/\s+/g, " ").trim();
  return said.length > MOST_WORDS ? `${said.slice(0, MOST_WORDS)}…` : said;
}

function withStop(text: string): string {
  const said = text.trim();
  return /[.!?]$/.test(said) || said === "" ? said : `${said}.`;
}

export function withoutStop(text: string): string {
  return text.trim().replace(/\.+$/, "");
}
