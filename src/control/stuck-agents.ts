/** By what agents that are stuck are judged: what was tried, and how long each step has its time. Loaded when one is. */
import { limitsOf } from "#config/limits.ts";
import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import type { Config } from "#config/schema.ts";
import type { FleetFacts, SplitForecast } from "#domain/explain/standstill.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { type Condition, providerId, quotaId } from "#domain/model/condition.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { resolveLimits } from "#domain/model/limits.ts";
import type { Role } from "#domain/model/role.ts";
import { isSpared } from "#domain/model/supervision.ts";
import { reasonAgainstSplit } from "#domain/plans/split-node.ts";
import { accountOf } from "#domain/tick/account.ts";
import { waitsForProvider } from "#domain/tick/provider.ts";
import { agentLimits, type Limits, type SessionSeen } from "#domain/tick/snapshot.ts";
import { OverseerError } from "#errors.ts";
import { openRecoveries } from "#store/actions.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import type { Store } from "#store/store.ts";
import { nodesAtStandstill, nodesOfGoal } from "#store/work.ts";
import type { World } from "./world.ts";

/** Its node's limits over its role's over the fleet's, as the tick has them. */
export async function readLadder(
  world: World,
  store: Store,
  config: Config,
  conditions: readonly Condition[],
): Promise<
  Pick<FleetFacts, "recoveries" | "ladder" | "patienceMs" | "quietSince" | "waitForAccount" | "spared" | "splits">
> {
  const { recoveries, living, nodes, pulses } = await store.read({
    recoveries: openRecoveries(),
    living: livingAttempts(),
    pulses: pulsesOfLiving(),
    nodes: nodesAtStandstill(),
  });
  const limits = limitsOf(config);
  const roles = await readRoles(world, config);
  const patienceMs = new Map(
    living.map(({ assignmentId, role, goalId, workNodeId }) => {
      const own = nodes.find((node) => node.goalId === goalId && node.workNodeId === workNodeId)?.hints.limits;
      return [assignmentId, resolveLimits(agentLimits(limits), roles.get(role)?.limits, own).patienceMs];
    }),
  );
  const quietSince = new Map(
    living.map(({ assignmentId, attempt, startedAt, createdAt }) => {
      const acted = pulses.find((pulse) => pulse.attempt === attempt)?.lastActAt;
      return [assignmentId, acted ?? startedAt ?? createdAt];
    }),
  );
  const waitForAccount = new Set(
    living.flatMap((attempt) => {
      const pulse = pulses.find((one) => one.attempt === attempt.attempt) ?? null;
      return waitsForAccount({ attempt, pulse }, conditions) ? [attempt.assignmentId] : [];
    }),
  );
  const splits = await forecastSplits(store, { living, recoveries }, limits.planner, roles);
  const spared = new Set(living.filter(isSpared).map(({ assignmentId }) => assignmentId));
  return { recoveries, ladder: limits.ladder, patienceMs, quietSince, waitForAccount, spared, splits };
}

/** What the rung between resending and another agent would do for each of them, as domain/tick/replan.ts decides. */
async function forecastSplits(
  store: Store,
  { living, recoveries }: { readonly living: readonly Attempt[]; readonly recoveries: readonly Recovery[] },
  { off, replansPerNode }: Limits["planner"],
  roles: ReadonlyMap<string, Role>,
): Promise<FleetFacts["splits"]> {
  const found = new Map<string, SplitForecast>();
  for (const { goalId, workNodeId, steps, strengthened } of recoveries) {
    const attempt = living.find((one) => one.goalId === goalId && one.workNodeId === workNodeId);
    if (!attempt || Object.values(steps).every((count) => count === 0)) continue;
    const model = roles.get(attempt.capability)?.strongerModel;
    if (model !== undefined && model !== attempt.model && !strengthened) {
      found.set(attempt.assignmentId, { by: "stronger-model", model });
      continue;
    }
    if (off !== null) continue;
    const { goal, nodes } = await store.read({ goal: goalById(goalId), nodes: nodesOfGoal(goalId) });
    const node = nodes.find((one) => one.workNodeId === workNodeId);
    if (!goal || !node || reasonAgainstSplit(goal, node, nodes, replansPerNode) !== undefined) continue;
    found.set(attempt.assignmentId, { by: "split" });
  }
  return found;
}

function waitsForAccount(seen: SessionSeen, conditions: readonly Condition[]): boolean {
  const account = accountOf(seen.attempt.runtime);
  const isClosed = (conditionId: string) => conditions.some((one) => one.conditionId === conditionId && one.active);
  if (isClosed(quotaId(account)) && (seen.pulse?.quotaAt ?? null) !== null) return true;
  return isClosed(providerId(account)) && waitsForProvider(seen);
}

/** Roles that cannot be read set no limits; `doctor` says what is wrong with them. */
export async function readRoles({ root, files }: World, config: Config): Promise<ReadonlyMap<string, Role>> {
  try {
    return (await loadRoles(files, roleSources(root, config))).byCapability;
  } catch (error) {
    if (error instanceof OverseerError && error.kind === "config") return new Map();
    throw error;
  }
}
