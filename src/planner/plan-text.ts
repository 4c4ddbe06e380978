/** A plan as text: as it is stored, and as people like to read and change it, which is YAML. */
import { formatDuration } from "#config/units.ts";
import type { OwnLimits } from "#domain/model/limits.ts";
import type { PlannedNode } from "#domain/plans/plan.ts";
import { toPlanValues } from "#domain/plans/planned-nodes.ts";
import type { ParsedPlan } from "./plan-file.ts";

/** What a model answered is JSON, and becomes YAML; what a person wrote stays as it is, comments included. */
export function renderPlanText(raw: string): string {
  if (!raw.trimStart().startsWith("{")) return raw;
  return `${Bun.YAML.stringify(JSON.parse(raw), null, 2)}\n`;
}

/** Everything that the plan says, what only people set included; read back it is the same plan. */
export function writePlanText(phases: readonly PlannedNode[], goal: ParsedPlan["goal"]): string {
  return JSON.stringify(toPlanValues(phases, goal, listPersonsValues));
}

function listPersonsValues(node: PlannedNode): Readonly<Record<string, unknown>> {
  const { hints, tags, blocks } = node;
  const { capability: _role, checks: _checks, files: _files, runtime, model, ...set } = hints;
  const { recoveryPolicy, supervision, limits, ...own } = set;
  const written = limits === undefined ? {} : writeLimits(limits);
  const isBelowToo = node.children.every((child) => hasAll(child.hints.limits, limits));
  // Written at the node itself they hold for what is below as well.
  const rest = isBelowToo || limits === undefined ? own : { ...own, limits: written };
  return {
    ...(runtime === undefined ? {} : { runtime }),
    ...(model === undefined ? {} : { model }),
    ...(recoveryPolicy === undefined ? {} : { recoveryPolicy }),
    ...(supervision === undefined ? {} : { supervision }),
    ...(isBelowToo ? written : {}),
    ...(Object.keys(rest).length === 0 ? {} : { hints: rest }),
    ...(blocks.length === 0 ? {} : { blocks }),
    ...(tags.length === 0 ? {} : { tags }),
  };
}

function hasAll(below: OwnLimits = {}, above: OwnLimits = {}): boolean {
  const keys = ({ budget = {}, ...limits }: OwnLimits) => [
    ...Object.keys(limits),
    ...Object.keys(budget).map((key) => `budget.${key}`),
  ];
  return keys(above).every((key) => keys(below).includes(key));
}

/** As config/agent-limits.ts reads them. */
function writeLimits({ budget, ...limits }: OwnLimits): Readonly<Record<string, unknown>> {
  const times = Object.entries(limits).map(([key, ms]) => [key.replace(/Ms$/, ""), formatDuration(ms)]);
  const { timeMs, ...amounts } = budget ?? {};
  const time = timeMs === undefined ? {} : { time: timeMs === null ? null : formatDuration(timeMs) };
  return { ...Object.fromEntries(times), ...(budget === undefined ? {} : { budget: { ...amounts, ...time } }) };
}
