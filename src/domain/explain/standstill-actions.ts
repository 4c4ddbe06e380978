/**
 * What was decided and could not be done at its last try, as sentences: landings, checks, pushes, messages. A start that
 * fails is told with its cause by `notStarted`, a landing that waits in the queue by its entry there.
 */
import { isoTime } from "#domain/core/iso-time.ts";
import { type Action, type ActionKind, HELD_BACK } from "#domain/model/action.ts";
import { isDispatch } from "#domain/model/ladder-state.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { FleetFacts, Standstill } from "./standstill.ts";
import { standstill } from "./standstill.ts";
import { nameSome, withoutStop } from "./standstill-work.ts";

/** What only waits for its turn is told when it has waited this long. */
const TURN_MS = 60_000;

/** The same trouble of many is one sentence. While everything is held nothing is tried. */
export function explainActions(facts: FleetFacts, isHeld: boolean): Standstill[] {
  const alike = new Map<string, Action[]>();
  for (const action of facts.actions.filter((one) => isInTrouble(facts, one))) {
    const key = `${UNDONE[action.kind]} ${action.problem}`;
    alike.set(key, [...(alike.get(key) ?? []), action]);
  }
  return [...alike.values()].flatMap((actions) => explainTrouble(facts, actions, isHeld) ?? []);
}

function isInTrouble({ nodes, now }: FleetFacts, action: Action): boolean {
  const { kind, status, problem, goalId, workNodeId, decidedAt } = action;
  // What holds the landings back behind the command after another is a question, and told as that.
  // A plan that waits for a model says so itself.
  if (problem === null || isDispatch(kind) || kind === "plan" || problem.startsWith(HELD_BACK)) return false;
  const failures = action.tries - (status === "taken" ? 1 : 0);
  if (failures <= 0 && (kind === "land" || now - decidedAt < TURN_MS)) return false;
  return kind !== "land" || !nodes.some((node) => isSame(node, goalId, workNodeId) && isWaiting(node));
}

function isSame(node: FleetFacts["nodes"][number], goalId: string | null, workNodeId: string | null): boolean {
  return node.goalId === goalId && node.workNodeId === workNodeId;
}

/** Its wait has a sentence of its own. A review that waits is another's turn, and one that is over says nothing any more. */
function isWaiting({ status, claim }: FleetFacts["nodes"][number]): boolean {
  return status === "in_progress" && claim?.waiting != null && claim.waiting.for !== "review";
}

function explainTrouble({ now }: FleetFacts, actions: readonly Action[], isHeld: boolean): Standstill | undefined {
  const [first] = actions;
  if (!first) return undefined;
  const about = [...new Set(actions.flatMap(placeOf))];
  const sinceAt = Math.min(...actions.map(({ decidedAt }) => decidedAt));
  const nextAt = isHeld ? null : Math.max(now, Math.min(...actions.map(({ dueAt }) => dueAt)));
  const again = nextAt === null ? "" : nextAt === now ? "; tried again now" : `; tried again at ${isoTime(nextAt)}`;
  const place = about.length === 0 ? "" : `: ${nameSome(about)}`;
  const why = withoutStop((first.problem ?? "").replace(/\s+/g, " "));
  return standstill(first.kind === "land" ? "landing" : "not-done", {
    text: `${UNDONE[first.kind]}${place} since ${isoTime(sinceAt)}: ${why}${again} (put it right and it goes on; what is wrong: overseer doctor)`,
    ...{ command: "overseer doctor", about, sinceAt, nextAt },
    turn: "itself",
  });
}

function placeOf({ goalId, workNodeId, agent }: Action): string[] {
  if (goalId !== null && workNodeId !== null) return [nodeKey(goalId, workNodeId)];
  return agent === null ? [] : [agent];
}

const UNDONE: Readonly<Record<ActionKind, string>> = {
  spawn: "NOT STARTED",
  restart: "NOT STARTED",
  reassign: "NOT STARTED",
  replan: "NOT SPLIT",
  diagnose: "NOT DIAGNOSED",
  deliver: "NOT HANDED OVER",
  resend: "NOT HANDED OVER",
  check: "NOT CHECKED",
  land: "NOT LANDED",
  push: "NOT PUSHED",
  afterLand: "NOT RUN AFTER LANDING",
  ask: "NOT ASKED",
  pause: "NOT PAUSED",
  resume: "NOT RESUMED",
  stop: "NOT STOPPED",
  notify: "NOT TOLD",
  clean: "NOT TIDIED AWAY",
  plan: "NOT PLANNED",
};
