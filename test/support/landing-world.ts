/**
 * A real repository with work that is claimed to be done: a store, a plan, attempts that are at work as far as the
 * store knows, and branches with real commits. No agent runs; what an agent would do, the test does with git. Used by
 * tests, by the harness that kills itself, and by the bench.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { decideClaim } from "#act/checks/claim-store.ts";
import { type ReportedCommits, readClaimedWork } from "#act/checks/claimed-work.ts";
import type { ActParts } from "#act/parts.ts";
import { type Config, schema } from "#config/schema.ts";
import { admit } from "#domain/agents/admission.ts";
import { refuse } from "#domain/core/refusal.ts";
import { type ClaimResult, claimDone, type DoneReport } from "#domain/landing/report-done.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { beginStart, confirmStart } from "#domain/model/attempt.ts";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { PlannedNode } from "#domain/plans/plan.ts";
import { keepClaimed } from "#git/claim-refs.ts";
import { gitRunner } from "#git/git.ts";
import { NO_SETTINGS, runtimeNamed } from "#runtimes/list.ts";
import { attemptByNumber, lastAttemptNumber } from "#store/attempts.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import { sqliteLocks } from "#store/sqlite/locks.ts";
import type { Store } from "#store/store.ts";
import { nodeById } from "#store/work.ts";
import { systemClock } from "#sys/clock.ts";
import { type Exec, systemExec } from "#sys/exec.ts";
import { type Files, systemFiles } from "#sys/files.ts";
import { systemIds } from "#sys/ids.ts";
import { systemProcesses } from "#sys/processes.ts";
import { wakeSocket } from "#sys/wake-socket.ts";
import { gitIn } from "./git-in.ts";
import { testEnvironment } from "./git-tools.ts";
import { ADA, addGoal, addPlan, planned } from "./samples.ts";

export const GOAL = "goal_LANDING001";

export interface LandingParts {
  readonly config?: unknown;
  /** The same, parsed already. */
  readonly parsed?: Config;
  /** Beside this test's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Wraps a port, for harnesses that count or fail its calls. */
  readonly wrap?: <T extends object>(port: string, real: T) => T;
}

export interface LandingWorld {
  readonly parts: ActParts;
  readonly store: Store;
  readonly repo: string;
  node(id: string): Promise<WorkNode>;
  /** An agent's life on a node, with a branch and a worktree of its own. */
  attempt(id: string, more?: AttemptWish): Promise<Attempt>;
  /** Commits these files in the attempt's worktree (null removes one) and returns the commit. */
  commit(attempt: Attempt, files: Readonly<Record<string, string | null>>): string;
  report(attempt: Attempt, more?: Partial<DoneReport>, said?: Partial<ReportedCommits>): Promise<ClaimResult>;
  close(): Promise<void>;
}

export interface AttemptWish {
  readonly scope?: readonly string[];
  /** The agent that put it to work. */
  readonly parent?: Attempt;
}

const TASKS_PER_PHASE = 7;

/** The tasks T1 … Tn in as few phases as a plan may have, each after the one before when `chained`. */
export function tasks(count: number, chained = false): PlannedNode[] {
  const children = Array.from({ length: count }, (_, index) =>
    planned(`T${index + 1}`, chained && index > 0 ? { deps: [`T${index}`] } : {}),
  );
  const phases = Math.ceil(children.length / TASKS_PER_PHASE);
  return Array.from({ length: phases }, (_, index) =>
    planned(`P${index + 1}`, { children: children.slice(index * TASKS_PER_PHASE, (index + 1) * TASKS_PER_PHASE) }),
  );
}

/** Where the state of a repository lies, bare or not. */
function stateOf(repo: string): string {
  return existsSync(join(repo, ".git")) ? join(repo, ".git/overseer") : join(repo, "overseer");
}

/** Prepares the store of a repository and gives it a plan. Done once; `landingWorld` opens it as often as needed. */
export async function foundLanding(repo: string, phases: readonly PlannedNode[] = tasks(3)): Promise<void> {
  const state = stateOf(repo);
  mkdirSync(state, { recursive: true });
  if (existsSync(join(repo, ".git"))) hideUserDir(join(repo, ".overseer"));
  await prepareStore({ address: join(state, "overseer.db"), backupDir: join(state, "backups"), now: 0 });
  const store = await openForWriting({ address: join(state, "overseer.db") });
  await addGoal(store, GOAL);
  await addPlan(store, GOAL, phases);
  await store.close();
}

/** As `init` does it. */
function hideUserDir(path: string): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, ".gitignore"), "*\n");
}

export async function landingWorld(repo: string, options: LandingParts = {}): Promise<LandingWorld> {
  const wrap = options.wrap ?? (<T extends object>(_port: string, real: T) => real);
  const state = stateOf(repo);
  const store = await openForWriting({ address: join(state, "overseer.db") });
  const config: Config = options.parsed ?? schema.parse(options.config ?? {});
  const [exec, files]: [Exec, Files] = [wrap("exec", systemExec()), wrap("files", systemFiles())];
  const [clock, ids, env] = [systemClock(), systemIds(), { ...testEnvironment(), ...options.env }];
  const counted = wrap("store", store);
  const none = (): never => {
    throw new Error("This world has no agents.");
  };
  const bare = gitIn(repo, "rev-parse", "--is-bare-repository") === "true";
  const parts: ActParts = {
    root: {
      project: repo,
      userDir: bare ? state : join(repo, ".overseer"),
      state,
      gitCommonDir: bare ? repo : join(repo, ".git"),
    },
    env,
    clock,
    ids,
    files,
    exec,
    processes: systemProcesses(),
    git: { git: gitRunner({ exec, clock, env }), exec, files, clock, ids },
    writer: async () => counted,
    config: async () => config,
    settings: async () => ({ config, files, hold: null, keep: async () => undefined }),
    terminal: none,
    runtime: async (name) => runtimeNamed(name, { state, env, exec, settings: config.runtimes[name] ?? NO_SETTINGS }),
    socketDir: async () => join(state, "run"),
    wakeSocket: wakeSocket,
    runnerCommand: [],
    hookCommand: [],
    permitCommand: [],
    takeLock: sqliteLocks.take,
    room: none,
  };
  const node = async (id: string): Promise<WorkNode> => {
    const { found } = await store.read({ found: nodeById(GOAL, id) });
    if (!found) throw new Error(`no node ${id}`);
    return found;
  };
  return {
    parts,
    store,
    repo,
    node,
    attempt: (id, more = {}) => addAttempt(parts, store, id, more),
    commit: commitIn,
    report: async (attempt, more = {}, said = {}) => {
      const work = await readClaimedWork(parts, attempt, { named: [], readOnly: false, ...said });
      if (work.kind === "commit") {
        await keepClaimed(parts.git, parts.root.gitCommonDir, attempt.assignmentId, work.commit);
      }
      const report: DoneReport = {
        attempt: attempt.attempt,
        work,
        summary: `${attempt.workNodeId} works`,
        evidence: { ...NO_EVIDENCE, externalRefs: ["a test"] },
        crystallizationId: null,
        noChangeReason: null,
        checks: Object.entries(config.checks).flatMap(([name, check]) => (check.on.includes("done") ? [name] : [])),
        ...more,
      };
      const place = { goalId: attempt.goalId, nodeId: attempt.workNodeId };
      return decideClaim(parts, place, attempt, (seen, moment) => claimDone(seen, report, moment));
    },
    close: () => store.close(),
  };
}

const NO_LIMITS = { maxConcurrent: 10_000, maxDepth: 2, startsPerMinute: 100_000, staggerMs: 0 };
const ROOM = { load: 0, maxLoad: 1, memoryBytes: 1, minMemoryBytes: 0, diskBytes: 1, minDiskBytes: 0 };

async function addAttempt(
  parts: ActParts,
  store: Store,
  nodeId: string,
  { scope = null, parent }: { readonly scope?: readonly string[] | null; readonly parent?: Attempt },
): Promise<Attempt> {
  const { project: repo, state } = parts.root;
  const base = gitIn(repo, "rev-parse", "main");
  const owner = parts.processes.self();
  const slung = await store.commit({
    at: ADA.now,
    reads: { node: nodeById(GOAL, nodeId), lastAttempt: lastAttemptNumber() },
    decide: ({ node, lastAttempt }) => {
      if (!node) return refuse("conflict", "NO_NODE", "There is no task.", "None.");
      const places = (attempt: number) => ({
        branch: `overseer/a-${attempt}/${nodeId}`,
        worktree: `${state}/worktrees/a-${attempt}`,
        logDir: `${state}/logs/a-${attempt}`,
      });
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
      const wanted = {
        plan: {
          agent: `a-${lastAttempt + 1}`,
          capability: "builder",
          role: "builder",
          runtime: "scripted",
          model: null,
          permissionMode: "acceptEdits",
          parent: parent ? { agent: parent.agent, attempt: parent.attempt } : null,
          depth: parent ? 1 : 0,
          tags: [],
          scope,
          base,
          interactive: false,
          keep: false,
          slinger: owner,
        },
        assignmentId: `A_${lastAttempt + 1}`,
        dispatchId: `D_${lastAttempt + 1}`,
        messageId: `m_${lastAttempt + 1}`,
        instruction: "Work",
        instructionHash: "h",
        idleAfterMs: 600_000,
      };
      return admit(seen, wanted, NO_LIMITS, ROOM, places, ADA);
    },
  });
  if (!slung.ok || !slung.value.admitted) throw new Error(JSON.stringify(slung));
  const number = slung.value.attempt;
  for (const rule of [beginStart, confirmStart]) {
    await store.commit({
      at: ADA.now,
      reads: { now: attemptByNumber(number) },
      decide: ({ now }) =>
        rule === beginStart ? beginStart(now, number, ADA) : confirmStart(now, number, { runner: owner }, ADA),
    });
  }
  const { attempt } = await store.read({ attempt: attemptByNumber(number) });
  if (!attempt) throw new Error("no attempt");
  gitIn(repo, "worktree", "add", "--quiet", "-b", attempt.branch, attempt.worktree, base);
  return attempt;
}

function commitIn(attempt: Attempt, files: Readonly<Record<string, string | null>>): string {
  for (const [name, text] of Object.entries(files)) {
    const path = join(attempt.worktree, name);
    mkdirSync(dirname(path), { recursive: true });
    if (text === null) rmSync(path, { recursive: true });
    else writeFileSync(path, text);
  }
  gitIn(attempt.worktree, "add", "--all");
  gitIn(attempt.worktree, "commit", "--quiet", "--allow-empty", "--message", `Work on ${attempt.workNodeId}`);
  return gitIn(attempt.worktree, "rev-parse", "HEAD");
}
