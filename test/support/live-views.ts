/** Views of made-up fleets, for tests of what the live view draws and what its keys mean. */
import type { View } from "#cli/live/view.ts";
import type { AgentStatus, Status } from "#control/status.ts";
import type { Standstill } from "#domain/explain/standstill.ts";
import { newPulse } from "#domain/signals/pulse.ts";

export const LIVE_NOW = 65_000;

/** The third of them is dead; the others work for a minute. */
export function liveAgent(attempt: number, more: Partial<AgentStatus> = {}): AgentStatus {
  return {
    ...{ agent: `builder-${attempt}`, attempt, goalId: "goal_X", workNodeId: `T${attempt}`, status: "running" },
    ...{ capability: "builder", runtime: "scripted", parent: null, depth: 0, inTurn: true, turns: 1, waitingOn: null },
    ...{
      exempt: null,
      pausedBecause: null,
      lastAt: 0,
      turnAt: 5_000,
      doingAt: 5_000,
      task: `Task ${attempt}`,
      costUsd: 0,
    },
    ...{ contextTokens: 40_000, contextWindow: 100_000, phase: "working", freshness: "fresh" },
    seen: attempt === 3 ? "dead" : "working",
    doing: attempt === 3 ? "dead" : "working",
    ...more,
  };
}

export function liveStill(text: string, more: Partial<Standstill> = {}): Standstill {
  return {
    kind: "not-done",
    turn: "person",
    text,
    command: "overseer why",
    about: [],
    sinceAt: null,
    nextAt: null,
    ...more,
  };
}

export function liveQuestion(text: string, options: readonly string[] = []): Status["questions"][number] {
  const asked = {
    questionId: "q_1",
    goalId: "goal_X",
    workNodeId: "T1",
    text,
    options,
    askedAt: 0,
    status: "open",
    number: 7,
  };
  return asked as unknown as Status["questions"][number];
}

export function liveStatus(agents: number, more: Partial<Status> = {}): Status {
  const status = {
    ...{ project: "日本 project", root: "/r", goals: [], unreadMail: [], questions: [], away: null, safeMode: null },
    ...{
      configProblem: null,
      notStarted: [],
      standstills: [],
      next: null,
      hold: null,
      frozen: null,
      off: [],
      unchecked: null,
      expertise: null,
    },
    mergeQueue: { waiting: 0, testing: 0, parked: 0, oldest: null, entries: [] },
    ...{ target: "main", costUsd: 0, ready: [], landings: [] },
    agents: Array.from({ length: agents }, (_, index) => liveAgent(index + 1)),
    daemon: { state: "running", tickProblem: null, troubles: [], rings: [] },
    ...more,
  };
  return status as unknown as Status;
}

export function liveView(agents: number, more: Partial<Status> = {}): View {
  const status = liveStatus(agents, more);
  const pulses = status.agents.map(({ attempt, agent }) => ({
    ...newPulse(attempt, agent),
    ...{ model: "m", lastText: `said by \u001b[31m${agent}` },
  }));
  const log = Array.from({ length: 40 }, (_, at) => ({
    seq: 40 - at,
    text: `Event ${40 - at} \u0007.`,
    about: "",
  }));
  return {
    ...{ status, windows: {}, work: [], merges: [], log, last: 40, now: LIVE_NOW },
    pulses: new Map(pulses.map((pulse) => [pulse.attempt, pulse])),
  };
}
