/**
 * Accounts: whose quota and login agents share. What closes one closes it for all of its agents; how each kind of closing
 * is noticed and ended is quota.ts and provider.ts.
 */

import { deriveId } from "#domain/core/derived-id.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { TickStep } from "./draft.ts";
import { byText, type Scene } from "./scene.ts";
import type { AgentSeen } from "./snapshot.ts";

/** Why nothing of an account is started, and until when that is known. */
export interface Closing {
  readonly until: number;
  /** As a clause. */
  readonly why: string;
}

/** The accounts that are closed; those that are open are not in it. */
export type Closed = ReadonlyMap<string, Closing>;

/** Runtime and profile; there is one profile for now. */
export function accountOf(runtime: string): string {
  return `${runtime}/default`;
}

/** The agents of each account, in order; accounts that nobody uses any more are there while a condition holds for them. */
export function groupByAccount(scene: Scene, kind: "quota" | "provider"): readonly (readonly [string, AgentSeen[]])[] {
  const byAccount = new Map<string, AgentSeen[]>();
  for (const seen of scene.agents) {
    const list = byAccount.get(seen.account);
    if (list) list.push(seen);
    else byAccount.set(seen.account, [seen]);
  }
  for (const condition of scene.snapshot.conditions) {
    if (condition.kind === kind && condition.active && !byAccount.has(condition.account)) {
      byAccount.set(condition.account, []);
    }
  }
  return [...byAccount].sort(([a], [b]) => byText(a, b));
}

/** The cause of a tick that a person has asked for. */
const ASKED = "asked";

/** A person asked for this tick: what would be tried later is tried now. */
export function isAskedFor({ snapshot }: Scene): boolean {
  return snapshot.reason.split(", ").includes(ASKED);
}

/** When an agent met something. Never before it was there: then the clock was set back for a while, and forward again. */
export function dateMeeting(at: number | null | undefined, { createdAt }: Attempt, now: number): number {
  if (at === null || at === undefined) return Number.NEGATIVE_INFINITY;
  return Math.min(now, createdAt <= now ? Math.max(at, createdAt) : at);
}

export interface Comeback {
  readonly condition: string;
  readonly because: string;
  readonly body: string;
  readonly notBefore: number;
}

/** An agent whose turn was given up continues when it is told. */
export function tellToContinue(
  scene: Scene,
  seen: AgentSeen,
  { condition, because, body, notBefore }: Comeback,
): TickStep {
  const { agent, attempt, goalId, workNodeId, assignmentId } = seen.attempt;
  const messageId = deriveId("m_", condition, seen.account, attempt, scene.now);
  return {
    ...{ goalId, nodeId: workNodeId, assignmentId, agent, attempt },
    actionId: `deliver:${messageId}`,
    kind: "deliver",
    because,
    notBefore,
    payload: { messageId, dispatchId: null, body, kind: "instruction", severity: null },
  };
}
