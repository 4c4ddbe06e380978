/**
 * The limits of one agent, resolved in one place: the fleet's (config.yaml), over them those of its role
 * (`roles/<capability>.yaml`), over both those of its node (the plan). Whoever judges an agent asks for these, never for
 * the fleet's own; a new limit per role or node is a field here and a line in config/agent-limits.ts.
 */

/** null is no limit. */
export interface Allowance {
  readonly tokens: number | null;
  readonly cost: number | null;
  readonly timeMs: number | null;
}

/** By its name in a budget, the field of an allowance. */
export const ALLOWANCE_KEYS = { tokens: "tokens", cost: "cost", time: "timeMs" } as const;
export type Spendable = keyof typeof ALLOWANCE_KEYS;

/** Who said the limit that is spent: the plan's node, its role, the configuration, or a person who has raised it since. */
export type BudgetOrigin = "node" | "role" | "fleet" | "goal" | "day" | "person";

/** With at least as much as a person has granted beside it; what has no limit stays without one. */
function raiseAllowance(set: Allowance, raised: Partial<Allowance> | undefined): Allowance {
  if (raised === undefined) return set;
  const more = (key: keyof Allowance) => {
    const [one, other] = [set[key], raised[key]];
    return one === null || other === undefined ? one : other === null ? null : Math.max(one, other);
  };
  return { tokens: more("tokens"), cost: more("cost"), timeMs: more("timeMs") };
}

/** As a person has limited it, where they have, and with at least as much as they have granted since. */
export function resolveAllowance(
  set: Allowance,
  granted: { readonly raised: Partial<Allowance>; readonly limit?: Partial<Allowance> } | undefined,
): Allowance {
  return raiseAllowance({ ...set, ...granted?.limit }, granted?.raised);
}

/** Whose word an agent's limit is, of those that resolveLimits puts over one another. */
export function findBudgetOrigin(what: Spendable, role?: OwnLimits, node?: OwnLimits): BudgetOrigin {
  const key = ALLOWANCE_KEYS[what];
  if (node?.budget?.[key] !== undefined) return "node";
  return role?.budget?.[key] === undefined ? "fleet" : "role";
}

export interface AgentLimits {
  /** Silent for this long with nothing in flight, it counts as stalled. */
  readonly idleAfterMs: number;
  /** From its start to its first sign of life. */
  readonly startingLimitMs: number;
  /** Without progress for this long after one step of recovery, the next is taken. */
  readonly patienceMs: number;
  /** A tool call whose processes neither compute nor read or write for this long hangs. */
  readonly toolLimitMs: number;
  readonly budget: Allowance;
  /** It says how it gets on at least this often, or is asked to; not at all when absent. */
  readonly dueEveryMs?: number;
}

/** What a role or a node says for itself; whatever it leaves out is as above it. */
export interface OwnLimits extends Partial<Omit<AgentLimits, "budget">> {
  readonly budget?: Partial<Allowance>;
}

export function resolveLimits(fleet: AgentLimits, role?: OwnLimits, node?: OwnLimits): AgentLimits {
  if (role === undefined && node === undefined) return fleet;
  return { ...fleet, ...role, ...node, budget: { ...fleet.budget, ...role?.budget, ...node?.budget } };
}
