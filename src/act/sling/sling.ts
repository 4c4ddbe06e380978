/**
 * Putting an agent to work: claim, worktree, set-up, files, terminal, runner. Each step is written down before it is
 * begun and after it is done. When one fails, the earlier ones are undone in reverse; when this process is killed
 * half-way, the next command that touches the fleet does the same (end-attempt.ts).
 */

import { dirname } from "node:path";
import { noteSteps, undoSling } from "#act/attempt-end/end-attempt.ts";
import {
  type AgentMarks,
  agentEnvironment,
  attemptDir,
  attemptSocket,
  branchName,
  launchFilePath,
  markOf,
  RUNNER_MARK,
  runnerSocket,
  wipLimits,
} from "#act/attempt-files.ts";
import type { ActParts } from "#act/parts.ts";
import { recordPlace } from "#act/place.ts";
import { measureRoom } from "#act/room.ts";
import { makeSerenaProject } from "#act/serena.ts";
import { resolveConfigured } from "#config/places.ts";
import type { Admission, FleetLimits, Places, Wanted } from "#domain/agents/admission.ts";
import { admit } from "#domain/agents/admission.ts";
import { takesPlace } from "#domain/agents/places.ts";
import { namesOfRestarts } from "#domain/agents/promised-names.ts";
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { shellCommand } from "#domain/core/shell-words.ts";
import type { Attempt, Usage } from "#domain/model/attempt.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import { isPlaceName, type Worker } from "#domain/model/auto.ts";
import type { Condition } from "#domain/model/condition.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { Goal } from "#domain/model/goal.ts";
import { noSuchGoal } from "#domain/model/goal.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import { listAgentFiles } from "#domain/permit/agent-files.ts";
import { HEARD, listOwnPaths, type UserHook, WAKE_PIPE } from "#domain/permit/hook-moments.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import type { PromptWish } from "#domain/plans/prompt-goal.ts";
import { goalFromPrompt, PROMPTED_NODE } from "#domain/plans/prompt-goal.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { ReflexFile } from "#domain/signals/reflex-file.ts";
import { REFLEX_FILE } from "#domain/signals/reflex-file.ts";
import { accountOf } from "#domain/tick/account.ts";
import { traceParentOf } from "#domain/trace/span.ts";
import { messageOf, OverseerError, orThrow } from "#errors.ts";
import type { GitTools } from "#git/git.ts";
import { branchExists, userIdentity } from "#git/repository.ts";
import { noteSetUp, setupWorktree } from "#git/worktree-setup.ts";
import { addWorktree } from "#git/worktrees.ts";
import type { HookWiring } from "#runtimes/hook-dialect.ts";
import { NO_SETTINGS } from "#runtimes/list.ts";
import type { PreparedFile } from "#runtimes/runtime.ts";
import { openActions, presentConditions } from "#store/actions.ts";
import { assignmentsOfNode } from "#store/assignments.ts";
import {
  attemptByNumber,
  attemptsNamedLike,
  attemptsOfGoalAfter,
  attemptsSince,
  lastAttemptNumber,
  livingAttempts,
} from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import { unseenAtNode } from "#store/messages.ts";
import { addressIn } from "#store/open.ts";
import { capsOf } from "#store/seal.ts";
import { signalCapsOf } from "#store/signal-log.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import { nodeById, nodesOfLiving } from "#store/work.ts";
import { hashOfToken } from "#sys/attempt-token.ts";
import { PLAINLY_COMPILED } from "#sys/plain-compiler.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { placeOfProgram } from "#sys/self.ts";
import { redact, redactDeep } from "#telemetry/redact.ts";
import { sessionName } from "#terminals/terminal-name.ts";
import { clearLocks } from "./git-locks.ts";
import { hideWorktrees } from "./worktree-place.ts";

/** Everything about the new agent that was settled before the claim. */
export interface SlingOrder extends Wanted {
  readonly goalId: string;
  readonly nodeId: string;
  /** The task does not exist yet: it is made from a prompt, together with the claim. */
  readonly prompted?: PromptWish;
  readonly allowTools: readonly string[];
  readonly denyTools: readonly string[];
  /** It may put others to work. */
  readonly spawns: boolean;
  /** What is to be done, as a file that outlives the attempt. */
  readonly spec: { readonly path: string; readonly text: string };
  /** What the agent is told about itself, given its number and branch; made once those are known. */
  readonly systemPrompt: (attempt: Attempt) => string;
  /** The short form of it, which the agent is given again after its context was compacted. */
  readonly prime: (attempt: Attempt) => string;
  /** Its role changes nothing. */
  readonly readOnly: boolean;
  /** What its reflex goes by; undefined when it has no role, and then nothing of it runs. */
  readonly reflex: (attempt: Attempt) => ReflexFile | undefined;
  /** What the agent's CLI said of itself when it was asked whether it is ready. */
  readonly cliVersion: string;
  /** Hooks of the user's, beside ours. */
  readonly userHooks: readonly UserHook[];
  /** Set when it continues with an earlier attempt instead of beginning again. */
  readonly continues?: Continuation;
  /** Set when it begins in a session that has done other work before. */
  readonly follows?: Pick<Continuation, "session" | "spent">;
  readonly moment: Moment;
}

/** What a restarted agent takes over. */
export interface Continuation extends Pick<Attempt, "attempt" | "branch" | "worktree"> {
  /** The session to be resumed; null when it is not there any more. */
  readonly session: string | null;
  /** What earlier attempts took in that session. */
  readonly spent: Usage;
  /** What the CLI's own meter showed last, of one on its own screen. */
  readonly meterUsd?: number;
}

/** Tells whoever waits what happens; nothing depends on it. */
export type SlingProgress = (sentence: string) => void;

export async function sling(parts: ActParts, order: SlingOrder, tell: SlingProgress = () => {}): Promise<Attempt> {
  const number = await claim(parts, order, tell);
  try {
    const attempt = await attemptNow(parts, number);
    await (order.continues ? takeOver(parts, attempt, tell) : makeWorktree(parts, attempt, tell));
    const withoutProject = await makeSerenaProject(parts, attempt);
    if (withoutProject !== null) tell(withoutProject);
    const launchHash = await writeFiles(parts, attempt, order);
    return await launch(parts, attempt, launchHash, tell);
  } catch (error) {
    return await giveUp(parts, number, error, tell);
  }
}

/**
 * Takes everything back and throws what went wrong. A failure on the way must not hide the first one, which is what
 * matters; the next command that touches the fleet continues from there. Should the runner have said hello meanwhile,
 * the agent is up after all.
 */
async function giveUp(parts: ActParts, number: number, first: unknown, tell: SlingProgress): Promise<Attempt> {
  try {
    const now = await attemptNow(parts, number);
    if (now.runner) return now;
    tell(`It failed (${messageOf(first)}); undoing every step.`);
    await undoSling(parts, now, messageOf(first));
  } catch (second) {
    if (second instanceof OverseerError && second.code === "ATTEMPT_STARTED") return attemptNow(parts, number);
    tell(`Undoing it failed too (${messageOf(second)}); the next command that touches the fleet retries.`);
  }
  throw first;
}

/** How many places of the fleet are taken, those of workers aside. */
function countAtWork(
  {
    living,
    theirs,
    pulses,
  }: { readonly living: readonly Attempt[]; readonly theirs: readonly WorkNode[]; readonly pulses: readonly Pulse[] },
  conditions: readonly Condition[],
  workers: readonly Worker[],
): number {
  const nodes = new Map(theirs.map((node) => [nodeKey(node.goalId, node.workNodeId), node]));
  const closed = new Set(
    conditions.flatMap((one) => ((one.kind === "quota" || one.kind === "provider") && one.active ? [one.account] : [])),
  );
  const cutOff = new Set(
    pulses.flatMap((pulse) => (pulse.quotaAt === null && !pulse.providerFailure ? [] : [pulse.attempt])),
  );
  return living.filter((attempt) => {
    if (isPlaceName(attempt.agent, workers)) return false;
    const node = nodes.get(nodeKey(attempt.goalId, attempt.workNodeId));
    return takesPlace({ attempt, node, cutOff: cutOff.has(attempt.attempt) && closed.has(accountOf(attempt.runtime)) });
  }).length;
}

/** Commits the claim, waiting its turn when agents are started too fast. */
async function claim(parts: ActParts, order: SlingOrder, tell: SlingProgress): Promise<number> {
  const { agents, capacity, worktree } = await parts.config();
  const limits: FleetLimits = {
    maxConcurrent: agents.maxConcurrent,
    maxDepth: agents.maxDepth,
    startsPerMinute: agents.startsPerMinute,
    staggerMs: agents.stagger,
  };
  const places: Places = (attempt, earlier) => ({
    branch:
      order.continues?.branch ?? branchName(agents.branchPrefix, order.plan.agent, order.nodeId, attempt, earlier),
    worktree:
      order.continues?.worktree ?? `${resolveConfigured(parts.root, worktree.dir).path}/${order.plan.agent}-${attempt}`,
    logDir: `${parts.root.state}/logs/${order.plan.agent}/${stampOf(parts.clock.now())}-${attempt}`,
  });
  const store = await parts.writer();
  for (;;) {
    const room = measureRoom(await parts.room(), { capacity });
    const moment = { now: parts.clock.now(), actor: order.moment.actor };
    const outcome = await store.commit({
      at: moment.now,
      reads: {
        goal: goalById(order.goalId),
        node: nodeById(order.goalId, order.nodeId),
        history: assignmentsOfNode(order.goalId, order.nodeId),
        living: livingAttempts(),
        theirs: nodesOfLiving(),
        pulses: pulsesOfLiving(),
        conditions: presentConditions(),
        actions: openActions(),
        recent: attemptsSince(moment.now - 60_000),
        lastAttempt: lastAttemptNumber(),
        earlier: attemptsNamedLike(order.goalId, order.nodeId, order.plan.agent),
        later: attemptsOfGoalAfter(order.goalId, order.plan.follows?.attempt ?? Number.MAX_SAFE_INTEGER),
        unseen: unseenAtNode(order.goalId, order.nodeId),
      },
      decide: ({ goal, node, actions, conditions, ...fleet }) => {
        const promised = namesOfRestarts(actions);
        const workers = conditions.find((one) => one.kind === "workers")?.workers ?? [];
        const atWork = countAtWork(fleet, conditions, workers);
        const judge = (known: WorkNode) =>
          admit({ ...fleet, workers, atWork, promised, node: known }, order, limits, room, places, moment);
        if (order.prompted) return admitPrompted(goal, order.prompted, judge, moment);
        if (!goal) return noSuchGoal(order.goalId);
        if (goal.status !== "active") {
          return refuse(
            "conflict",
            "GOAL_NOT_ACTIVE",
            `Goal ${order.goalId} is ${goal.status}; nothing of it is dispatched.`,
            goal.status === "paused"
              ? `Run 'overseer goal resume ${order.goalId}' first.`
              : "Choose work of another goal.",
          );
        }
        if (!node) return refuse("not-found", "NODE_UNKNOWN", `There is no node ${order.nodeId}.`, "Check the id.");
        return judge(node);
      },
    });
    const admission: Admission = orThrow(outcome);
    if (admission.admitted) return admission.attempt;
    tell(`Waiting ${Math.ceil(admission.waitMs / 100) / 10} s: ${admission.because}.`);
    await parts.clock.sleep(admission.waitMs);
  }
}

/** The goal and its task are made in the same breath as the claim: a refused sling leaves no goal behind (SLING-4). */
function admitPrompted(
  taken: Goal | undefined,
  wish: PromptWish,
  judge: (node: WorkNode) => Decision<Admission>,
  moment: Moment,
): Decision<Admission> {
  const made = goalFromPrompt(taken, wish, moment);
  if (!made.ok) return made;
  const node = made.value.nodes.find((one) => one.workNodeId === PROMPTED_NODE);
  if (!node)
    return refuse("conflict", "NODE_UNKNOWN", "The prompt did not produce a task.", "Write it as a plan instead.");
  const judged = judge(node);
  return judged.ok && judged.value.admitted ? accept([...made.events, ...judged.events], judged.value) : judged;
}

/** The worktree, set up if the project asks for it; ends with the files begun. */
async function makeWorktree(parts: ActParts, attempt: Attempt, tell: SlingProgress): Promise<void> {
  await assertPlaceFree(parts, attempt);
  await noteSteps(parts, attempt.attempt, [{ step: "worktree", state: "begun" }]);
  await hideWorktrees(parts, dirname(attempt.worktree));
  await recordPlace(parts);
  await addWorktree(markGit(parts, attempt.attempt), {
    repository: parts.root.gitCommonDir,
    path: attempt.worktree,
    branch: attempt.branch,
    base: attempt.base,
  });
  await parts.files.makeDir(attempt.logDir, { mode: 0o700 });
  const made = { step: "worktree", state: "done" } as const;
  const filesBegun = { step: "files", state: "begun" } as const;
  const { worktree, agents } = await parts.config();
  const { setup: command } = worktree;
  if (command === null) return noteSteps(parts, attempt.attempt, [made, filesBegun]);
  tell(`Setting up the worktree: ${command}`);
  await noteSteps(parts, attempt.attempt, [made, { step: "setup", state: "begun" }]);
  await setupWorktree(parts, {
    worktree: attempt.worktree,
    command,
    timeoutMs: worktree.setupTimeout,
    env: agentEnvironment(
      parts.env,
      agents.passEnv,
      marksOf(parts, attempt, { token: null, socket: null, traceParent: null }),
      FALLBACK_IDENTITY,
    ),
    logFile: `${attempt.logDir}/setup.log`,
  });
  await noteSetUp(parts.git, attempt.worktree);
  await noteSteps(parts, attempt.attempt, [{ step: "setup", state: "done" }, filesBegun]);
}

/** The worktree is there and stays as it is, also if this start fails: making it was somebody else's step. */
async function takeOver(parts: ActParts, attempt: Attempt, tell: SlingProgress): Promise<void> {
  for (const sentence of await clearLocks(parts, attempt)) tell(sentence);
  await parts.files.makeDir(attempt.logDir, { mode: 0o700 });
  await noteSteps(parts, attempt.attempt, [{ step: "files", state: "begun" }]);
}

/** Looked at before anything is begun: what is begun may be taken back, and this is somebody else's. */
async function assertPlaceFree(parts: ActParts, attempt: Attempt): Promise<void> {
  if ((await parts.files.facts(attempt.worktree)) !== undefined) {
    throw new OverseerError(
      "conflict",
      "WORKTREE_EXISTS",
      `${attempt.worktree} already exists, and it is not Overseer's.`,
      "Move it out of the way, or choose another --name.",
    );
  }
  if (!(await branchExists(parts.git, parts.root.gitCommonDir, attempt.branch))) return;
  throw new OverseerError(
    "conflict",
    "BRANCH_EXISTS",
    `The branch ${attempt.branch} already exists, and no agent made it.`,
    `Choose another --name, or see what is on it: git log ${attempt.branch}`,
  );
}

/** Git with the attempt's mark in its environment: should we be killed, whoever comes next finds and ends it. */
function markGit(parts: ActParts, attempt: number): GitTools {
  const mark = { [RUNNER_MARK]: markOf(parts.root, attempt) };
  const { git } = parts.git;
  return {
    ...parts.git,
    git: {
      run: (args, options) => git.run(args, { ...options, env: { ...options.env, ...mark } }),
      attempt: (args, options) => git.attempt(args, { ...options, env: { ...options.env, ...mark } }),
      probe: () => git.probe(),
    },
  };
}

const FALLBACK_IDENTITY = { name: "Overseer", email: "overseer@localhost" };

type OwnMarks = Pick<AgentMarks, "token" | "socket" | "traceParent">;

function marksOf(parts: ActParts, attempt: Attempt, own: OwnMarks): AgentMarks {
  const { agent, attempt: number, role, worktree } = attempt;
  const program = placeOfProgram(parts.runnerCommand);
  return {
    root: parts.root.project,
    worktree,
    agent,
    attempt: number,
    role,
    mark: markOf(parts.root, number),
    program,
    ...own,
  };
}

/** The hash of what its runner is started with: files can be changed by any agent before it reads them, the log cannot. */
async function writeFiles(parts: ActParts, attempt: Attempt, order: SlingOrder): Promise<string> {
  const directory = attemptDir(parts, attempt.attempt);
  const { agents, runtimes, wip, store, inbox, telemetry } = await parts.config();
  const traceParent = telemetry.otel.enabled ? traceParentOf(attempt.goalId, attempt.attempt) : null;
  const runtime = await parts.runtime(attempt.runtime);
  const systemPromptFile = `${directory}/system-prompt.md`;
  const identity = await userIdentity(parts.git.git, parts.root.project);
  const token = parts.ids.secret();
  const socket = await attemptSocket(parts, attempt.attempt);
  const { session = null, spent = NO_USAGE } = order.continues ?? order.follows ?? {};
  const launchRequest = {
    worktree: attempt.worktree,
    directory,
    session: session ?? makeSessionId(parts.ids.secret()),
    resume: session !== null,
    model: attempt.model,
    permissionMode: attempt.permissionMode,
    allowTools: order.allowTools,
    denyTools: order.denyTools,
    systemPromptFile,
    ...(agents.mcp ? { toolServer: toolServerOf(parts, order) } : {}),
    env: agentEnvironment(parts.env, agents.passEnv, marksOf(parts, attempt, { token, socket, traceParent }), identity),
  };
  await parts.files.makeDir(`${directory}/${HEARD}`, { mode: 0o700 });
  await parts.files.makeDir(dirname(order.spec.path), { mode: 0o700 });
  const policy = await policyOf(parts, attempt, order, {
    tokenHash: hashOfToken(token),
    signalCaps: signalCapsOf(store),
  });
  const hooks = hookWiring(parts, order, directory, attempt);
  const terminal = await parts.terminal();
  const launchFile = {
    ...launchRequest,
    spentBefore: spent,
    attempt: attempt.attempt,
    agent: attempt.agent,
    goalId: attempt.goalId,
    nodeId: attempt.workNodeId,
    assignmentId: attempt.assignmentId,
    root: parts.root,
    database: addressIn(parts.root.state),
    logDir: attempt.logDir,
    socket: await runnerSocket(parts, attempt.attempt),
    attemptSocket: socket,
    hooks,
    cliVersion: order.cliVersion,
    runtime: attempt.runtime,
    runtimeSettings: runtimes[attempt.runtime] ?? NO_SETTINGS,
    view: terminal.kind === "tmux",
    turnDeadlineMs: agents.turnDeadline,
    idleEndMs: runtimes[attempt.runtime]?.idleEnd ?? 30 * 60_000,
    stopGraceMs: agents.stopGrace,
    injectionCap: inbox.injectionCap,
    wipEveryMs: wip.every,
    wipLimits: wipLimits({ wip }),
    caps: capsOf(store),
    signalCaps: signalCapsOf(store),
  };
  const texts = { policy: `${JSON.stringify(policy)}\n`, launch: `${JSON.stringify(launchFile)}\n` };
  const written: readonly PreparedFile[] = [
    // What the store has taken a secret out of is not kept whole beside it, and the agent is told the same by both.
    { path: order.spec.path, text: redact(order.spec.text), mode: 0o600 },
    { path: systemPromptFile, text: redact(order.systemPrompt(attempt)), mode: 0o600 },
    { path: `${directory}/prime.md`, text: redact(order.prime(attempt)), mode: 0o600 },
    { path: `${directory}/policy.json`, text: texts.policy, mode: 0o600 },
    ...reflexFiles(order.reflex(attempt), directory),
    ...runtime.prepare({ ...launchRequest, hooks }),
    { path: launchFilePath(parts, attempt.attempt), text: texts.launch, mode: 0o600 },
  ];
  // All at once: each waits for the disk. All are waited for, so that nothing is written behind an undo.
  const outcomes = await Promise.allSettled(
    written.map(({ path, text, mode }) => parts.files.write(path, text, { mode })),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return hashOfToken(texts.launch + texts.policy);
}

/** A name such as CLIs take for a session (a UUID), from chance that a simulation can repeat. */
function makeSessionId(secret: string): string {
  const hex = secret.slice(-32);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function reflexFiles(reflex: ReflexFile | undefined, directory: string): PreparedFile[] {
  if (!reflex) return [];
  return [{ path: `${directory}/${REFLEX_FILE}`, text: `${JSON.stringify(redactDeep(reflex))}\n`, mode: 0o600 }];
}

/** What the permit before the agent's writing tools goes by. */
async function policyOf(
  parts: ActParts,
  attempt: Attempt,
  order: SlingOrder,
  given: Pick<PermitPolicy, "tokenHash" | "signalCaps">,
): Promise<PermitPolicy> {
  const scratch: string[] = [];
  for (const path of [parts.env.TMPDIR ?? "/tmp", "/tmp", "/var/tmp"]) {
    if (await parts.files.facts(path)) scratch.push(await parts.files.realPath(path));
  }
  return {
    v: 1,
    attempt: attempt.attempt,
    agent: attempt.agent,
    worktree: await parts.files.realPath(attempt.worktree),
    scope: attempt.scope,
    readOnly: order.readOnly,
    mainCheckout: parts.root.project,
    gitCommonDir: parts.root.gitCommonDir,
    state: parts.root.state,
    scratch: [...new Set(scratch)],
    interactive: attempt.interactive,
    ...given,
    heard: `${attemptDir(parts, attempt.attempt)}/${HEARD}`,
    ...(order.continues?.meterUsd === undefined ? {} : { meterUsd: order.continues.meterUsd }),
  };
}

function hookWiring(parts: ActParts, order: SlingOrder, directory: string, attempt: Attempt): HookWiring {
  const { worktree, interactive } = attempt;
  return {
    hookCommand: shellCommand(parts.hookCommand),
    permitCommand: shellCommand([...parts.permitCommand, `${directory}/policy.json`]),
    userHooks: order.userHooks,
    deniedPaths: [...listOwnPaths(parts.root), ...listAgentFiles(worktree)],
    wakePipe: interactive ? `${directory}/${WAKE_PIPE}` : null,
    steered: order.reflex(attempt) !== undefined,
  };
}

function toolServerOf({ runnerCommand }: ActParts, { spawns }: SlingOrder): readonly string[] {
  return [`${placeOfProgram(runnerCommand)}/overseer`, "mcp", ...(spawns ? ["--spawns"] : [])];
}

/** Starts the runner and waits for its hello. */
async function launch(parts: ActParts, attempt: Attempt, launchHash: string, tell: SlingProgress): Promise<Attempt> {
  const terminal = await parts.terminal();
  const ready = [
    { step: "files", state: "done" },
    { step: "terminal", state: "begun" },
  ] as const;
  await noteSteps(parts, attempt.attempt, ready, { starting: { launchHash } });
  const handle = await terminal.open({
    name: sessionName(attempt.attempt),
    cwd: parts.root.project,
    argv: [...parts.runnerCommand, launchFilePath(parts, attempt.attempt)],
    env: runnerEnvironment(parts.env, markOf(parts.root, attempt.attempt)),
    log: `${attempt.logDir}/runner.log`,
  });
  await noteSteps(parts, attempt.attempt, [{ step: "terminal", state: "done", terminal: handle }]);
  tell(`Started ${attempt.agent}#${attempt.attempt}; waiting for its runner.`);
  return await awaitRunner(parts, attempt, handle.pid);
}

/** How long a runner that shows no process may stay silent before it counts as lost. */
const SILENT_WITHOUT_PROCESS_MS = 1_000;

async function awaitRunner(parts: ActParts, attempt: Attempt, opened: ProcessIdentity): Promise<Attempt> {
  const { recovery } = await parts.config();
  const store = await parts.writer();
  const begun = parts.clock.now();
  for (let nextLook = begun + SILENT_WITHOUT_PROCESS_MS; parts.clock.now() < begun + recovery.firstSignWithin; ) {
    const { now } = await store.read({ now: attemptByNumber(attempt.attempt) });
    if (now && now.status !== "starting" && now.status !== "preparing") return now;
    if (parts.clock.now() >= nextLook) {
      // Looking at every process is dear; a runner that ended at once is noticed a second later.
      nextLook = parts.clock.now() + SILENT_WITHOUT_PROCESS_MS;
      if (!isRunnerThere(parts, attempt, opened)) break;
    }
    await parts.clock.sleep(15);
  }
  const { late } = await store.read({ late: attemptByNumber(attempt.attempt) });
  if (late && late.status !== "starting" && late.status !== "preparing") return late;
  throw new OverseerError(
    "environment",
    "RUNNER_SILENT",
    `The runner of ${attempt.agent}#${attempt.attempt} did not start.`,
    `Look into ${attempt.logDir}, and run 'overseer doctor'.`,
  );
}

/** What its terminal started lives; or what came of that: a program between two others shows no environment for a moment. */
function isRunnerThere(parts: ActParts, { attempt }: Attempt, opened: ProcessIdentity): boolean {
  if (parts.processes.alive(opened)) return true;
  return parts.processes.withEnvironment(RUNNER_MARK, markOf(parts.root, attempt)).length > 0;
}

/**
 * How often Bun looks whether a runner's memory wants tidying, in ms. Left alone it looks every second, which is most of
 * what an idle runner costs (IDLE-1); one that is busy tidies by how much it makes, whatever this says.
 */
const TIDY_EVERY_MS = "30000";

/** The runner is ours: it keeps the person's environment, without the marks of an agent and with its own. */
function runnerEnvironment(env: Readonly<Record<string, string>>, mark: string): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(OVERSEER_(ATTEMPT|AGENT|ROLE|TOKEN|ROOT|MARK)|TMUX.*)$/.test(name),
  );
  return {
    BUN_GC_TIMER_INTERVAL: TIDY_EVERY_MS,
    // What it does for a tool call is little and soon done: this saves it 7 MB and an eighth of its CPU time.
    ...PLAINLY_COMPILED,
    ...Object.fromEntries(kept),
    [RUNNER_MARK]: mark,
  };
}

async function attemptNow(parts: ActParts, number: number): Promise<Attempt> {
  const { now } = await (await parts.writer()).read({ now: attemptByNumber(number) });
  if (!now) throw new OverseerError("internal", "GONE", `Attempt #${number} vanished.`, "Run 'overseer doctor'.");
  return now;
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "");
}
