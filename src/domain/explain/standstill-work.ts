/** Work that waits for somebody, as sentences: questions, reviews, landings, blocks, stalls, what can never begin. */
import { isoTime } from "#domain/core/iso-time.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Claim } from "#domain/model/claim.ts";
import type { Recovery, Rung } from "#domain/model/ladder-state.ts";
import { newRecovery, nextRung, nextStepAt, stepsFor } from "#domain/model/ladder-state.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { AgentFact, FleetFacts, QuestionFact, Standstill } from "./standstill.ts";
import { standstill } from "./standstill.ts";

export function explainWork(facts: FleetFacts): Standstill[] {
  return [
    ...facts.questions.map(explainQuestion),
    ...explainReviews(facts),
    ...explainLandings(facts),
    ...explainBlocked(facts),
    ...explainNeverReady(facts),
    ...explainGoals(facts),
    ...facts.stalled.map((one) => explainStalled(facts, one)),
    ...facts.agents.flatMap((one) => explainAgent(facts, one) ?? []),
  ];
}

const keyOf = ({ goalId, workNodeId }: Pick<WorkNode, "goalId" | "workNodeId">) => nodeKey(goalId, workNodeId);

/** So many are named; the rest is counted. */
const NAMED = 5;

function nameSome(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `${names.slice(0, NAMED).join(", ")}${more}`;
}

function explainQuestion({ questionId, goalId, workNodeId, text, askedAt, unreached }: QuestionFact): Standstill {
  const place = goalId !== null && workNodeId !== null ? nodeKey(goalId, workNodeId) : goalId;
  const command = `overseer answer ${questionId} <choice or text>`;
  const nobody = unreached === null ? "" : ` NOBODY WAS REACHED (${unreached}).`;
  return standstill("question", {
    text: `ASKED since ${isoTime(askedAt)}${place ? ` about ${place}` : ""} and not answered: ${withStop(clipWords(text))}${nobody} (${command})`,
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
  return [
    standstill("review", {
      text: `YOUR REVIEW: ${nameSome(names)} ${one ? "is" : "are"} done and ${one ? "waits" : "wait"} for you since ${isoTime(waitingSince(first))} (overseer review ${one ? names[0] : "<task>"}; then ${one ? command : "overseer accept <task>"} or reject)`,
      ...{ command, about: names, sinceAt: waitingSince(first) },
    }),
  ];
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
        text: `NOT LANDED: ${keyOf(node)} waits since ${isoTime(wait.since)}: ${withoutStop(wait.detail)}${files}${again}`,
        ...{ command: null, about: [keyOf(node)], sinceAt: wait.since, nextAt },
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
        ...{ command: "overseer merge", about: [one.branch], sinceAt: one.updatedAt },
      }),
    ),
  ];
}

/** Where a question is open about it, that says it. */
function explainBlocked({ nodes, questions }: FleetFacts): Standstill[] {
  const asked = new Set(questions.map(({ goalId, workNodeId }) => nodeKey(goalId ?? "", workNodeId ?? "")));
  return nodes
    .filter((node) => node.status === "blocked" && !asked.has(keyOf(node)))
    .map((node) => {
      const { stopped, needs: said } = node.blockedReason ?? {};
      // A person stopped its agent, and was told how it continues.
      if (stopped !== undefined) return explainReserved(node, said ?? "");
      const command = `overseer work unblock ${keyOf(node)}`;
      const needs = node.blockedReason?.needs ? ` What would help: ${withStop(node.blockedReason.needs)}` : "";
      return standstill("blocked", {
        text: `BLOCKED: ${keyOf(node)} since ${isoTime(node.updatedAt)}: ${withStop(node.blockedReason?.detail ?? "")}${needs} (${command})`,
        ...{ command, about: [keyOf(node)], sinceAt: node.updatedAt },
      });
    });
}

function explainReserved(node: WorkNode, needs: string): Standstill {
  const detail = withStop(node.blockedReason?.detail ?? "");
  return standstill("blocked", {
    text: `YOURS: ${keyOf(node)} since ${isoTime(node.updatedAt)}: ${detail} ${withStop(needs)}`,
    ...{ command: null, about: [keyOf(node)], sinceAt: node.updatedAt },
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

function explainGoals({ goals }: FleetFacts): Standstill[] {
  return goals.flatMap(({ goalId, title, status, nodes, progress }): Standstill[] => {
    if (status === "paused") {
      const command = `overseer goal resume ${goalId}`;
      return [standstill("goal-paused", { text: `PAUSED: ${goalId} ${title} (${command})`, command, about: [goalId] })];
    }
    const isEmptied = nodes > 0 && progress?.total === 0;
    if (status !== "active" || (nodes > 0 && !isEmptied)) return [];
    const command = `overseer goal plan ${goalId} --file plan.yaml`;
    if (isEmptied) {
      const text = `NOTHING LEFT: every task of ${goalId} ${title} was cancelled (overseer goal cancel ${goalId}, or ${command})`;
      return [standstill("no-plan", { text, command: `overseer goal cancel ${goalId}`, about: [goalId] })];
    }
    return [standstill("no-plan", { text: `NO PLAN: ${goalId} ${title} (${command})`, command, about: [goalId] })];
  });
}

/** What the ladder does next, for whoever waits for it. */
const STEPS: Readonly<Record<Rung, string>> = {
  hint: "it gets a hint",
  warning: "it gets a warning",
  critical: "it gets an urgent warning",
  resend: "it is interrupted and its instruction given again",
  replan: "its work is split",
  reassign: "its work is given to a fresh agent",
  pause: "it is paused",
  ask: "a person is asked",
};

function explainStalled(facts: FleetFacts, assignment: Assignment): Standstill {
  const { ladder, recoveries, patienceMs } = facts;
  const known = recoveries.find((one) => keyOf(one) === keyOf(assignment));
  const recovery = stepsFor(known ?? newRecovery(assignment.goalId, assignment.workNodeId), assignment.assignmentId);
  const patience = patienceMs.get(assignment.assignmentId) ?? ladder?.patienceMs ?? 0;
  const nextAt = Math.max(nextStepAt(recovery, patience) ?? 0, facts.daemon.nextTickAt ?? 0) || null;
  const rung = ladder ? STEPS[nextRung(passReplan(recovery), assignment.recoveryPolicy, ladder)] : "it is looked at";
  const cause = (assignment.statusReason ?? "no activity").replaceAll("-", " ");
  const when = nextAt === null ? "next" : nextAt > facts.now ? `at ${isoTime(nextAt)}` : "at the next look";
  return standstill("stalled", {
    text: `STALLED: ${assignment.target.agentId} on ${keyOf(assignment)} since ${isoTime(assignment.updatedAt)} (${cause}); ${when} ${rung}`,
    ...{ command: null, about: [keyOf(assignment)], sinceAt: assignment.updatedAt, nextAt },
    turn: "itself",
  });
}

/** Nobody splits work yet (domain/tick/ladder.ts): that rung is passed over. */
function passReplan(recovery: Recovery): Recovery {
  return { ...recovery, steps: { ...recovery.steps, replan: Number.MAX_SAFE_INTEGER } };
}

function explainAgent(facts: FleetFacts, one: AgentFact): Standstill | undefined {
  const { agent, attempt, goalId, workNodeId, seen, waitingOn, pausedBecause = null, lastAt } = one;
  const who = `${agent}#${attempt} on ${nodeKey(goalId, workNodeId)}`;
  const about = [`${agent}#${attempt}`, nodeKey(goalId, workNodeId)];
  if (seen === "waiting") {
    return standstill("agent-waits", {
      text: `WAITS: ${who} for ${waitingOn ?? "a message"} since ${isoTime(lastAt)}`,
      ...{ command: null, about, sinceAt: lastAt },
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
      text: `PAUSED: ${who} was stuck, and nothing has helped${until}`,
      ...{ command: `overseer resume ${agent}`, about, nextAt },
      turn: "itself",
    });
  }
  const command = `overseer resume ${agent}`;
  return standstill("agent-paused", { text: `PAUSED: ${who} by a person (${command})`, command, about });
}

/** A question may be a page long; the command shows all of it. */
const MOST_WORDS = 300;

function clipWords(text: string): string {
  const said = text.replace(/\s+/g, " ").trim();
  return said.length > MOST_WORDS ? `${said.slice(0, MOST_WORDS)}…` : said;
}

function withStop(text: string): string {
  const said = text.trim();
  return /[.!?]$/.test(said) || said === "" ? said : `${said}.`;
}

function withoutStop(text: string): string {
  return text.trim().replace(/\.+$/, "");
}
