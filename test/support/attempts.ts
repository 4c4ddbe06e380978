/** Attempts that are at work as far as the store knows, without a process of their own: for benches and telemetry. */
import { mkdirSync, writeFileSync } from "node:fs";
import { admit, type Wanted } from "#domain/agents/admission.ts";
import { refuse } from "#domain/core/refusal.ts";
import { beginStart, confirmStart, type ProcessMark } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { goalFromPrompt } from "#domain/plans/prompt-goal.ts";
import { attemptByNumber, lastAttemptNumber } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { hashOfToken, makeToken } from "#sys/attempt-token.ts";
import { ADA } from "./samples.ts";

const NO_LIMITS = { maxConcurrent: 10_000, maxDepth: 2, startsPerMinute: 100_000, staggerMs: 0 };
const ROOM = { load: 0, maxLoad: 1, memoryBytes: 1, minMemoryBytes: 0, diskBytes: 1, minDiskBytes: 0 };

/** Each on a goal of its own, made from a prompt. `owner` is the process that counts as its runner; `from`: how many there are. */
export async function addRunning(store: Store, count: number, owner: ProcessMark, from = 0): Promise<number[]> {
  const numbers: number[] = [];
  for (let index = from; index < from + count; index += 1) numbers.push(await addOne(store, index, owner));
  return numbers;
}

async function addOne(store: Store, index: number, owner: ProcessMark): Promise<number> {
  const goalId = `goal_RUNNING${String(index).padStart(3, "0")}`;
  const slung = await store.commit({
    at: ADA.now,
    reads: { taken: goalById(goalId), lastAttempt: lastAttemptNumber() },
    decide: ({ taken, lastAttempt }) => {
      const made = goalFromPrompt(taken, { goalId, prompt: "Work", tags: [] }, ADA);
      const node = made.ok ? made.value.nodes.find((one) => one.workNodeId === "T1") : undefined;
      if (!made.ok || !node) return refuse("conflict", "NO_NODE", "There is no task.", "None.");
      const seen = {
        node,
        history: [],
        living: [],
        atWork: 0,
        promised: [],
        workers: [],
        recent: [],
        lastAttempt,
        earlier: [],
        later: [],
        unseen: [],
      };
      const places = (attempt: number) => ({
        branch: `b/${attempt}`,
        worktree: `/w/${attempt}`,
        logDir: `/l/${attempt}`,
      });
      const judged = admit(seen, wanted(index, owner), NO_LIMITS, ROOM, places, ADA);
      if (!judged.ok) return judged;
      return accept([...made.events, ...judged.events], lastAttempt + 1);
    },
  });
  if (!slung.ok) throw new Error(slung.refusal.message);
  const number = slung.value;
  for (const rule of [beginStart, confirmStart]) {
    const outcome = await store.commit({
      at: ADA.now,
      reads: { now: attemptByNumber(number) },
      decide: ({ now }) =>
        rule === beginStart ? beginStart(now, number, ADA) : confirmStart(now, number, { runner: owner }, ADA),
    });
    if (!outcome.ok) throw new Error(outcome.refusal.message);
  }
  return number;
}

/** The variables by which the agent of such an attempt is known, and the file that says so. */
export function provenAttempt(state: string, attempt: number, agent: string): Record<string, string> {
  const token = makeToken();
  const directory = `${state}/run/attempts/${attempt}`;
  mkdirSync(directory, { recursive: true });
  writeFileSync(`${directory}/policy.json`, JSON.stringify({ v: 1, attempt, agent, tokenHash: hashOfToken(token) }));
  return { OVERSEER_ATTEMPT: String(attempt), OVERSEER_AGENT: agent, OVERSEER_TOKEN: token };
}

/** What is wanted of an agent that is to be started. */
export function startPlan(parts: Partial<Wanted["plan"]> = {}): Wanted["plan"] {
  return {
    agent: "builder-1",
    capability: "builder",
    role: "builder",
    runtime: "scripted",
    model: null,
    permissionMode: "acceptEdits",
    parent: null,
    depth: 0,
    tags: [],
    scope: null,
    base: "0".repeat(40),
    interactive: false,
    keep: false,
    slinger: { pid: 1, start: "1" },
    ...parts,
  };
}

function wanted(index: number, slinger: ProcessMark) {
  return {
    plan: startPlan({ agent: `agent-${index}`, slinger }),
    assignmentId: `A_RUNNING${index}`,
    dispatchId: `D_RUNNING${index}`,
    messageId: `m_RUNNING${index}`,
    instruction: "Work",
    instructionHash: "h",
    idleAfterMs: 600_000,
  };
}
