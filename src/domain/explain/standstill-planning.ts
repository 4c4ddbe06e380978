/** Plans that a model was asked for, where that waits for a person or for time. */
import { isoTime } from "#domain/core/iso-time.ts";
import type { Goal, Planning } from "#domain/model/goal.ts";
import type { FleetFacts, PlanningFact, Standstill } from "./standstill.ts";
import { standstill } from "./standstill.ts";

export function toPlanningFact({ goalId, title }: Goal, planning: Planning): PlanningFact {
  const { status, since, detail, until, proposal } = planning;
  return { goalId, title, status, since, detail, until, nodeCount: proposal?.nodeCount ?? null };
}

export function explainPlannings({ plannings }: FleetFacts): Standstill[] {
  return plannings.flatMap((one) => explainPlanning(one) ?? []);
}

function explainPlanning(one: PlanningFact): Standstill | undefined {
  const { goalId, title, status, since: sinceAt, until, nodeCount } = one;
  const name = `${goalId} ${title}`;
  const why = withoutStop(one.detail ?? "no reason is known");
  const place = { about: [goalId], sinceAt };
  const command = `overseer goal plan ${goalId}`;
  switch (status) {
    case "wanted":
      return undefined;
    case "proposed": {
      const size = nodeCount === null ? "" : `, ${nodeCount} ${nodeCount === 1 ? "node" : "nodes"}`;
      const text = `PLAN: the plan of ${name} waits for you${size} (${command} --show, then --accept)`;
      return standstill("plan-proposed", { text, command: `${command} --show`, ...place });
    }
    case "waits": {
      const when = until === null ? "" : `, until ${isoTime(until)}`;
      const text = `NOT PLANNED: planning of ${name} waits: ${why}${when} (${command} --show)`;
      return standstill("plan-waits", { text, command: `${command} --show`, ...place, turn: "itself", nextAt: until });
    }
    case "failed": {
      const text = `PLANNING FAILED: ${name}: ${why} (${command} --with-model, or by hand: ${command} --file plan.yaml)`;
      return standstill("plan-failed", { text, command: `${command} --with-model`, ...place });
    }
  }
}

function withoutStop(text: string): string {
  return text.trim().replace(/\s+/g, " ").replace(/\.+$/, "");
}
