/** Roles, runtimes and checks that a plan names have to be there: found out at dispatch, at night, it would be too late. */
import { nearest } from "#domain/core/nearest.ts";
import type { Role } from "#domain/model/role.ts";
import { matchRole } from "#domain/model/role.ts";
import type { PlannedNode, PlanProblem } from "./plan.ts";

export interface KnownNames {
  readonly roles: ReadonlyMap<string, Role>;
  readonly runtimes: readonly string[];
  readonly checks: readonly string[];
}

export function problemsOfNames(
  nodes: readonly PlannedNode[],
  known: KnownNames,
  above: PlanProblem["node"] = [],
): PlanProblem[] {
  return nodes.flatMap(({ hints, children }, position) => {
    const node = [...above, position];
    const { capability, runtime, checks = [] } = hints;
    const found: PlanProblem[] = [];
    if (capability !== undefined && matchRole(known.roles, capability).kind !== "found") {
      const where = "A new one is a file in .overseer/roles/.";
      found.push({ node, field: "capability", text: unknownName("role", capability, [...known.roles.keys()], where) });
    }
    if (runtime !== undefined && !known.runtimes.includes(runtime)) {
      found.push({ node, field: "runtime", text: unknownName("runtime", runtime, known.runtimes, "") });
    }
    for (const [index, check] of checks.entries()) {
      if (known.checks.includes(check)) continue;
      const where = "A new one goes under `checks` in .overseer/config.yaml.";
      found.push({ node, field: "checks", index, text: unknownName("check", check, known.checks, where) });
    }
    return [...found, ...problemsOfNames(children, known, node)];
  });
}

function unknownName(what: string, name: string, known: readonly string[], where: string): string {
  const meant = nearest(name, known);
  const there = known.length === 0 ? "There is none yet." : `There is ${known.slice(0, 10).join(", ")}.`;
  const said = `There is no ${what} "${name.slice(0, 80)}".`;
  return meant === undefined ? `${said} ${there} ${where}`.trim() : `${said} Did you mean ${meant}?`;
}
