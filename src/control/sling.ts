/**
 * `sling`: from the words a person or a lead typed to an order that can be carried out. Everything that can be refused
 * without touching anything is refused here; what depends on the rest of the fleet is judged inside the claim.
 */

import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { filterEnvironment } from "#act/attempt-files.ts";
import { noteOffered, offerExpertise } from "#act/expertise.ts";
import { landingTip } from "#act/landing/target-branch.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import { refuseTracked } from "#act/settings/tracked-state.ts";
import type { Continuation, SlingOrder, SlingProgress } from "#act/sling/sling.ts";
import { sling as act } from "#act/sling/sling.ts";
import { loadDefinition } from "#config/definitions.ts";
import { loadUserHooks } from "#config/hooks.ts";
import { limitsOf } from "#config/limits.ts";
import { resolveConfigured, roleSources } from "#config/places.ts";
import { findRole, loadRoles } from "#config/roles.ts";
import type { Config } from "#config/schema.ts";
import { isPromised, listPromisedNames } from "#domain/agents/promised-names.ts";
import { pickPlace } from "#domain/auto/workers.ts";
import { handoffOf, reviewWordOf, splitHandoffOf } from "#domain/briefing/handoff.ts";
import type { OverlayInput, OverlayTask } from "#domain/briefing/overlay.ts";
import {
  firstInstruction,
  isWrittenByPerson,
  nextPieceNotice,
  renderOverlay,
  renderSpec,
  restartInstruction,
  WORKTREE_WAS_USED,
} from "#domain/briefing/overlay.ts";
import { renderPrime } from "#domain/briefing/prime.ts";
import { checkScope } from "#domain/core/scope.ts";
import type { Attempt, Usage } from "#domain/model/attempt.ts";
import { AGENT_NAME, attemptLabel, findKeptWork, isLiving } from "#domain/model/attempt.ts";
import { isAutoName, isPlaceName, type Worker } from "#domain/model/auto.ts";
import { chooseChecks } from "#domain/model/check.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import { resolveLimits } from "#domain/model/limits.ts";
import type { Message } from "#domain/model/message.ts";
import type { Role } from "#domain/model/role.ts";
import { maySpawn, toolsFor } from "#domain/model/role.ts";
import type { Exemptions, OwnSupervision } from "#domain/model/supervision.ts";
import { listSlungExemptions, resolveExemptions } from "#domain/model/supervision.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { PromptWish } from "#domain/plans/prompt-goal.ts";
import { goalFromPrompt, PROMPTED_NODE } from "#domain/plans/prompt-goal.ts";
import type { ReflexFile } from "#domain/signals/reflex-file.ts";
import { NO_ROLE, reflexFile } from "#domain/signals/reflex-file.ts";
import { agentLimits } from "#domain/tick/snapshot.ts";
import { messageOf, OverseerError, orThrow } from "#errors.ts";
import { findCommit, isMergedInto } from "#git/repository.ts";
import { isReadable } from "#git/worktree-look.ts";
import type { Readiness, Runtime } from "#runtimes/runtime.ts";
import { openActions, presentConditions } from "#store/actions.ts";
import { crystallizationById } from "#store/assignments.ts";
import { attemptByNumber, attemptsOfNode, livingAttempts } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import { contextWindows } from "#store/signals.ts";
import { lastAttemptsOfOpen } from "#store/tick.ts";
import { nodesOfGoal } from "#store/work.ts";
import { chooseGoalId } from "./goal-id.ts";
import { assertNotHalted } from "./halted.ts";
import { resolveAgent, resolveNode } from "./names.ts";
import type { World } from "./world.ts";
import { assertAllowed, assertFits } from "./world.ts";

export interface SlingInput {
  /** A task's id; or `prompt`, which makes one. */
  readonly task?: string;
  readonly goal?: string;
  readonly prompt?: string;
  readonly name?: string;
  /** The id of the dispatch, where it was decided before; else a new one. */
  readonly dispatchId?: string;
  /** Its role; where nobody says, that of the standing worker of that name, else builder. */
  readonly capability?: string;
  readonly role?: string;
  readonly runtime?: string;
  readonly model?: string;
  /** The specification's text, when a person hands one in; else the one they gave for this task before. */
  readonly spec?: string;
  readonly files: readonly string[];
  readonly tags: readonly string[];
  readonly parent?: string;
  readonly depth?: number;
  readonly base?: string;
  readonly interactive: boolean;
  readonly keep: boolean;
  /** From what it is exempt, whatever its role and node say. */
  readonly supervision?: OwnSupervision;
  readonly dryRun: boolean;
  /** Whose work it is and how deep, where it takes another's place; else who calls decides it. */
  readonly lineage?: Lineage;
  /** What a restart takes over from the attempt before it. */
  readonly restart?: Restart;
  /** The session it is to begin in, where it has done other work before. */
  readonly follows?: GivenSession;
  /** The one before it was stopped for it: its place is not given to anybody else. */
  readonly keepsPlace?: boolean;
}

/** Everything as it was asked for the first time, for whoever takes the place of that attempt: its lead too (SLING-3). */
export function copyInput(of: Attempt): SlingInput {
  return {
    task: nodeKey(of.goalId, of.workNodeId),
    capability: of.capability,
    role: of.role,
    runtime: of.runtime,
    ...(of.model === null ? {} : { model: of.model }),
    lineage: { parent: of.parent, depth: of.depth },
    files: of.scope ?? [],
    tags: of.tags,
    interactive: of.interactive,
    keep: of.keep,
    supervision: listSlungExemptions(of),
    dryRun: false,
  };
}

export interface Restart {
  readonly of: Attempt;
  readonly continues: Continuation;
  /** Messages that the attempt before it never saw. */
  readonly carried: readonly Pick<Message, "kind" | "from" | "body">[];
}

/** The session of finished work that is given its next piece. */
export interface GivenSession {
  readonly of: Attempt;
  readonly session: string;
  /** What was taken in it so far. */
  readonly spent: Usage;
}

export interface SlingPlan {
  readonly agent: string;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly capability: string;
  readonly runtime: string;
  readonly model: string | null;
  readonly permissionMode: string;
  readonly base: string;
  readonly targetBranch: string;
  readonly scope: readonly string[] | null;
  readonly depth: number;
  readonly parent: string | null;
  /** Absent where it is supervised like everybody. */
  readonly exempt?: Exemptions;
}

export type Slung =
  | { readonly dryRun: true; readonly plan: SlingPlan }
  | { readonly dryRun: false; readonly attempt: Attempt };

/** The goal of a prompt is called by its words: when somebody else takes the name in between, the next one is free. */
const MOST_NAMES_TRIED = 20;

export async function slingAgent(world: World, input: SlingInput, tell: SlingProgress = () => {}): Promise<Slung> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await slingOnce(world, input, tell);
    } catch (error) {
      const isTaken = error instanceof OverseerError && error.code === "GOAL_EXISTS";
      if (!isTaken || input.prompt === undefined || tried === MOST_NAMES_TRIED) throw error;
    }
  }
}

async function slingOnce(world: World, input: SlingInput, tell: SlingProgress): Promise<Slung> {
  await assertFits(world, { prompt: input.prompt, spec: input.spec, tags: input.tags, files: input.files });
  if (!input.dryRun) await assertNotHalted(world);
  // Also for a dry run: whether the agent CLI is ready is found out by starting what the configuration names.
  const { config, files } = await standOnSettings(world);
  await refuseTracked(world); // a pull may bring a link where worktrees are made
  for (const sentence of await settleLeftovers(world)) tell(sentence);
  const roles = await loadRoles(files, roleSources(world.root, config));
  const worker = await readStandingWorker(world, input.name);
  assertNotAutoName(input);
  const role = findRole(roles, input.capability ?? worker?.capability ?? USUAL_CAPABILITY);
  const doctrine = input.role === undefined ? role : input.role === NO_ROLE ? undefined : findRole(roles, input.role);
  const work = await resolveWork(world, input, role.runtime ?? config.runtime);
  // What the plan says of the task holds unless somebody says otherwise now; a restart says what it was started with.
  const { hints } = work.node;
  const runtimeName = input.runtime ?? worker?.runtime ?? hints.runtime ?? role.runtime ?? config.runtime;
  const runtime = await world.runtime(runtimeName);
  const isAuto = input.name !== undefined && isAutoName(input.name);
  const isPlace = isAuto || worker?.excluded === false;
  const { allowedTools, permissionMode, model } = config.defaults;
  // AUTO-10: workers of auto mode take the defaults, whatever their role says.
  const asked = withTools(isAuto ? { ...role, permissionMode } : role, allowedTools);
  const policy = toolsFor(asked, runtime.capabilities.tools);
  if (policy.unmet.length > 0) {
    throw new OverseerError(
      "conflict",
      "POLICY_UNMET",
      `A ${role.capability} cannot run on ${runtimeName} as its role says: ${policy.unmet.join("; ")}.`,
      `Change .overseer/roles/${role.capability}.yaml, or choose another --runtime.`,
    );
  }
  if (input.interactive && !runtime.capabilities.interactive) {
    throw new OverseerError(
      "conflict",
      "NOT_INTERACTIVE",
      `The runtime ${runtimeName} has no interactive screen.`,
      "Leave out --interactive; 'overseer attach' shows a driven agent too.",
    );
  }
  const ready = await runtime.probe({
    permissionMode: policy.permissionMode,
    interactive: input.interactive,
    project: world.root.project,
    env: filterEnvironment(world.env, config.agents.passEnv),
  });
  if (!ready.ready) throw notReady(ready);
  const terminal = await world.terminal(); // refuses where the configured kind is missing, before anything is made
  if (input.interactive && terminal.kind !== "tmux") {
    throw new OverseerError(
      "conflict",
      "NO_SCREEN",
      "An agent on its own screen needs tmux, and agents run detached here.",
      "Install tmux and set `terminal: auto` in .overseer/config.yaml, or leave out --interactive.",
    );
  }
  const wanted = input.files.length > 0 ? input.files : (hints.files ?? []);
  const scope = wanted.length > 0 ? checkScope(wanted) : null;
  if (scope && !scope.ok) assertAllowed(scope);
  const lineage = input.lineage ?? (await lineageOf(world, input, roles.byCapability, config.agents.maxDepth));
  const target = await landingTip(world, input.base);
  const base = input.restart?.of.base ?? (await baseCommit(world, work.earlier, target.commit));
  const exempt = resolveExemptions({
    role: doctrine?.supervision,
    node: hints.supervision,
    sling: input.supervision,
  });
  const plan: SlingPlan = {
    agent: input.name ?? (await freeName(world, { ...work.node, capability: role.capability })),
    goalId: work.node.goalId,
    workNodeId: work.node.workNodeId,
    capability: role.capability,
    runtime: runtimeName,
    model:
      input.model ??
      worker?.model ??
      hints.model ??
      (isAuto ? model : null) ??
      role.model ??
      config.runtimes[runtimeName]?.model ??
      model,
    permissionMode: policy.permissionMode,
    base,
    targetBranch: target.branch,
    scope: scope?.ok ? scope.scope : null,
    depth: lineage.depth,
    parent: lineage.parent ? attemptLabel(lineage.parent) : null,
    ...(exempt ? { exempt } : {}),
  };
  if (input.follows) assertSameKind(plan, input.follows.of);
  if (input.dryRun) return { dryRun: true, plan };
  return {
    dryRun: false,
    attempt: await start(
      ...([world, input] as const),
      { plan, isPlace, role, doctrine, work, lineage, policy, version: ready.version },
      tell,
    ),
  };
}

const USUAL_CAPABILITY = "builder";

/** AUTO-3: a person's work never gets the name of a worker of auto mode; what auto mode began may continue under it. */
function assertNotAutoName({ name, dispatchId, restart }: SlingInput): void {
  if (name === undefined || !isAutoName(name) || dispatchId !== undefined || restart !== undefined) return;
  throw new OverseerError(
    ...(["conflict", "AUTO_WORKER", `${name} is a worker of auto mode, which alone gives it work.`] as const),
    "Leave out --name, choose another, or set up a worker of your own: overseer worker add <name>",
  );
}

/** What a person set up for the worker of that name; undefined where there is none. */
async function readStandingWorker(world: World, name: string | undefined): Promise<Worker | undefined> {
  if (name === undefined || isAutoName(name)) return undefined;
  const { conditions } = await (await world.writer()).read({ conditions: presentConditions() });
  const known = conditions.find((one) => one.kind === "workers");
  return known?.workers.find((one) => one.name === name);
}

/** A session that was begun under other settings than its next piece would have. */
export const SESSION_UNFIT = "SESSION_UNFIT";

function assertSameKind(plan: SlingPlan, of: Attempt): void {
  const other = (["capability", "runtime", "model", "permissionMode"] as const).find((key) => plan[key] !== of[key]);
  if (other === undefined) return;
  throw new OverseerError(
    "conflict",
    SESSION_UNFIT,
    `${attemptLabel(of)} was started with ${other} ${of[other]}, and this is for ${plan[other]}.`,
    "Begin in a new session.",
  );
}

/** An agent's CLI that cannot be started here; why, and what to do about it. */
export function notReady({ code, reason, hint }: Extract<Readiness, { ready: false }>): OverseerError {
  return new OverseerError("environment", code ?? "RUNTIME_NOT_READY", reason, hint);
}

/**
 * A name we chose ourselves may be taken by somebody faster; then the next one is as good. A restart asks for the name it
 * had; should a person have given it to somebody else meanwhile, it continues under another rather than not at all. Whoever
 * works in a place of auto mode gets another place.
 */
async function start(world: World, input: SlingInput, made: Made, tell: SlingProgress): Promise<Attempt> {
  for (let { plan } = made; ; ) {
    try {
      const { order, told } = await orderFor(world, input, { ...made, plan });
      const attempt = await act(world, order, tell);
      await noteOffered(world, attempt.attempt, told);
      return attempt;
    } catch (error) {
      const chosen = input.name !== undefined && input.restart === undefined && input.follows === undefined;
      const isPlace = made.isPlace && (input.dispatchId !== undefined || input.restart !== undefined);
      if ((chosen && !isPlace) || !(error instanceof OverseerError) || error.code !== "NAME_TAKEN") throw error;
      const agent = isPlace ? (await freeNames(world, plan)).choose(plan.agent) : await freeName(world, plan);
      if (agent === undefined) throw error; // every worker has a task: it waits
      plan = { ...plan, agent };
    }
  }
}

interface Made {
  readonly plan: SlingPlan;
  /** Its name is that of a place of auto mode. */
  readonly isPlace: boolean;
  readonly role: Role;
  /** The role whose doctrine it follows; undefined for none. */
  readonly doctrine: Role | undefined;
  readonly work: TheWork;
  readonly lineage: Lineage;
  readonly policy: ReturnType<typeof toolsFor>;
  /** Of the agent's CLI. */
  readonly version: string;
}

/** Those that judge it when it is done, and those that every landing has to pass. */
function checksToMeet({ checks }: Config, node: WorkNode): { readonly name: string; readonly command: string }[] {
  const configured = Object.entries(checks).map(([name, { command, on }]) => ({ name, command, on }));
  const chosen = chooseChecks(configured, node);
  const wanted = configured.filter((check) => chosen.includes(check) || check.on.includes("land"));
  return wanted.map(({ name, command }) => ({ name, command }));
}

/** The tools that every agent has beside those of its role; what the role denies stays denied. */
function withTools(role: Role, more: readonly string[]): Role {
  return { ...role, tools: { ...role.tools, allow: [...role.tools.allow, ...more] } };
}

interface TheWork {
  readonly node: WorkNode;
  readonly nodes: readonly WorkNode[];
  readonly earlier: readonly Attempt[];
  readonly handoff: Crystallization | undefined;
  /** What the agent left whose work was split into this. */
  readonly source?: SplitSource;
  /** Set when the task does not exist yet. */
  readonly prompted?: PromptWish;
}

interface SplitSource {
  readonly node: WorkNode;
  readonly attempt: Attempt;
  readonly left: Crystallization | undefined;
  /** Its last commit, where it made one. */
  readonly commit: string | null;
}

export interface Lineage {
  readonly parent: { readonly agent: string; readonly attempt: number } | null;
  readonly depth: number;
}

async function orderFor(
  world: World,
  input: SlingInput,
  made: Made,
): Promise<{ readonly order: SlingOrder; readonly told: readonly string[] }> {
  const { plan, role, work, lineage, policy } = made;
  const { config, files } = await standOnSettings(world);
  const definition = await loadDefinition(role, files, resolveConfigured(world.root, config.agents.definitions));
  const task = overlayTask(work);
  const { windows } = await (await world.writer()).read({ windows: contextWindows() });
  const last = work.earlier.at(-1);
  const specPath = `${world.root.state}/specs/${nameSpec(plan)}`;
  const spec = input.spec ?? (await readSpec(world, specPath));
  const { restart, follows } = input;
  // Of one moment, messages are given in the order of their ids.
  const [messageId = "", ...more] = [null, ...(restart?.carried ?? [])].map(() => world.ids.next("m_")).sort();
  const instruction = restart?.continues.session
    ? restartInstruction(task, restart.of.end?.detail ?? "")
    : instructionFor(task, made, config.store.caps.instruction, addToFirst(input));
  const { source } = work;
  const left = last ?? source?.attempt;
  const wip = restart || !left ? null : findKeptWork(left);
  const lastCommit = last && plan.base !== last.base ? plan.base : null;
  const sentBack = reviewWordOf(work.node);
  const handoff = source
    ? splitHandoffOf(source.node, source.left, { wip, commit: source.commit, ...source.attempt })
    : handoffOf(work.node, work.handoff, wip, lastCommit, last);
  const limits = resolveLimits(agentLimits(limitsOf(config)), made.doctrine?.limits, work.node.hints.limits);
  const { goal } = await (await world.writer()).read({ goal: goalById(plan.goalId) });
  const expertise = await offerExpertise(world, {
    domains: [...new Set([...input.tags, ...work.node.tags, ...(goal?.tags ?? [])])],
    paths: plan.scope ?? [],
    node: nodeKey(plan.goalId, plan.workNodeId),
  });
  const overlayOf = (attempt: Attempt): OverlayInput => {
    const spawn = role.canSpawn
      ? maySpawn(role, { depth: attempt.depth, maxDepth: config.agents.maxDepth })
      : undefined;
    return {
      agent: attempt.agent,
      attempt: attempt.attempt,
      role,
      ...(spawn ? { spawn } : {}),
      task,
      spec: { path: specPath, ...(spec === undefined ? {} : { text: spec }) },
      branch: attempt.branch,
      base: { branch: plan.targetBranch, commit: plan.base },
      files: plan.scope ?? [],
      ...(lineage.parent ? { parent: lineage.parent.agent } : {}),
      depth: attempt.depth,
      expertise: expertise.text,
      ...(handoff ? { handoff } : {}),
      ...(sentBack ? { sentBack } : {}),
      ...(wip ? { wipRef: wip } : {}),
      checks: checksToMeet(config, work.node),
    };
  };
  const order: SlingOrder = {
    goalId: plan.goalId,
    nodeId: plan.workNodeId,
    ...(work.prompted ? { prompted: work.prompted } : {}),
    assignmentId: world.ids.next("A_"),
    dispatchId: input.dispatchId ?? world.ids.next("D_"),
    messageId,
    instruction,
    instructionHash: Bun.hash(instruction).toString(36),
    idleAfterMs: limits.idleAfterMs,
    ...(limits.dueEveryMs === undefined ? {} : { dueEveryMs: limits.dueEveryMs }),
    ...(restart ? { continues: restart.continues } : {}),
    ...(follows ? { follows } : {}),
    ...(input.keepsPlace ? { keepsPlace: true } : {}),
    carried: (restart?.carried ?? []).map((message, index) => ({ ...message, messageId: more[index] ?? "" })),
    allowTools: policy.allow,
    denyTools: policy.deny,
    spawns: maySpawn(role, { depth: lineage.depth, maxDepth: config.agents.maxDepth }).allowed,
    cliVersion: made.version,
    spec: { path: specPath, text: spec ?? renderSpec(task, plan.scope ?? []) },
    moment: { now: world.clock.now(), actor: world.actor },
    plan: {
      agent: plan.agent,
      capability: role.capability,
      role: made.doctrine?.capability ?? NO_ROLE,
      runtime: plan.runtime,
      model: plan.model,
      permissionMode: plan.permissionMode,
      parent: lineage.parent,
      depth: lineage.depth,
      tags: [...new Set([...work.node.tags, ...input.tags])],
      scope: plan.scope,
      base: plan.base,
      interactive: input.interactive,
      keep: input.keep,
      ...(plan.exempt ? { exempt: plan.exempt } : {}),
      slinger: world.processes.self(),
      ...(restart ? { continues: restart.of.attempt } : {}),
      ...(follows ? { follows: nameSession(follows) } : {}),
    },
    readOnly: role.readOnly,
    reflex: (attempt) => reflexOf(world, made.doctrine, config, { task, windows }, attempt),
    userHooks: await loadUserHooks(files, world.root.userDir),
    systemPrompt: (attempt) => `${definition.text.trimEnd()}\n\n${renderOverlay(overlayOf(attempt))}`,
    prime: (attempt) => renderPrime(overlayOf(attempt)),
  };
  return { order, told: expertise.learningIds };
}

/** Where goal and node are told apart: ids that were drawn have no dash, those made of words have single ones. */
function nameSpec({ goalId, workNodeId }: Pick<SlingPlan, "goalId" | "workNodeId">): string {
  return `${goalId}${/^goal_[0-9A-Z]+$/.test(goalId) ? "-" : "--"}${workNodeId}.md`;
}

/** What a person wrote for this task when it was dispatched before. */
async function readSpec(world: World, path: string): Promise<string | undefined> {
  const text = await world.files.read(path);
  return text !== undefined && isWrittenByPerson(text) ? text : undefined;
}

function reflexOf(
  world: World,
  doctrine: Role | undefined,
  { reflex, salute }: Config,
  { task, windows }: { readonly task: OverlayTask; readonly windows: ReflexFile["windows"] },
  attempt: Attempt,
): ReflexFile | undefined {
  const { agent, attempt: number, capability, goalId, workNodeId, runtime, worktree, branch, role } = attempt;
  const unit = {
    agent,
    attempt: number,
    role,
    capability,
    goalId,
    workNodeId,
    task: task.name,
    runtime,
    worktree,
    branch,
  };
  const shared = salute.sharedDir === null ? null : resolveConfigured(world.root, salute.sharedDir).path;
  const places = { keep: salute.keep, directory: `${world.root.userDir}/salute`, shared };
  return reflexFile(doctrine, reflex, { unit, windows, salute: places }, attempt.exempt);
}

function nameSession({ of: { agent, attempt }, session }: GivenSession) {
  return { agent, attempt, session };
}

/** What is said beside the task to whoever does not begin with nothing. */
function addToFirst({ restart, follows }: SlingInput): string | undefined {
  if (follows) return nextPieceNotice(nodeKey(follows.of.goalId, follows.of.workNodeId), follows.of.worktree);
  return restart ? WORKTREE_WAS_USED : undefined;
}

function instructionFor(
  task: OverlayTask,
  { work, lineage }: Made,
  capBytes: number,
  notice: string | undefined,
): string {
  const sentBack = reviewWordOf(work.node);
  const first = firstInstruction(
    {
      task,
      attempt: 0,
      resumed: work.handoff !== undefined,
      ...(lineage.parent ? { parent: lineage.parent.agent } : {}),
      ...(sentBack ? { sentBack } : {}),
    },
    capBytes,
  ).replace(/^Attempt #0: please/, "Please");
  return notice === undefined ? first : `${first}\n\n${notice}`;
}

function listHints({ estimatedEffort, riskLevel, requiredTools = [] }: WorkNode["hints"]): string[] {
  return [
    ...(estimatedEffort === undefined ? [] : [`Estimated effort: ${estimatedEffort}`]),
    ...(riskLevel === undefined ? [] : [`Risk: ${riskLevel === "med" ? "medium" : riskLevel}`]),
    ...(requiredTools.length === 0 ? [] : [`Tools it needs: ${requiredTools.join(", ")}`]),
  ];
}

function overlayTask(work: TheWork): OverlayTask {
  const { node, nodes } = work;
  return {
    goalId: node.goalId,
    nodeId: node.workNodeId,
    name: node.name,
    objective: node.objective || node.expectedOutcome || node.name,
    expectedOutcome: node.expectedOutcome,
    acceptance: node.acceptanceCriteria,
    definitionOfDone: node.definitionOfDone,
    hints: listHints(node.hints),
    subtasks: nodes
      .filter((child) => child.parentId === node.workNodeId)
      .map((child) => ({ nodeId: child.workNodeId, name: child.name, status: child.status })),
  };
}

/** Several words that name no task are what somebody wants done, and forgot to say so. */
function takesForPrompt(task: string, error: unknown): unknown {
  if (!(error instanceof OverseerError) || error.code !== "NODE_UNKNOWN" || !/\s/.test(task.trim())) return error;
  const hint = `Words are a prompt: overseer sling --prompt ${JSON.stringify(task.slice(0, 200))}`;
  return new OverseerError(error.kind, error.code, messageOf(error), hint, { cause: error });
}

/** The node to work on: one that exists, or one made on the fly from the prompt. */
async function resolveWork(world: World, input: SlingInput, usualRuntime: string): Promise<TheWork> {
  if (input.prompt !== undefined) {
    const words = wordsOf(input.prompt, await world.runtime(input.runtime ?? usualRuntime));
    return workFromPrompt(world, { prompt: input.prompt, tags: input.tags, words });
  }
  const store = await world.writer();
  const name = await resolveNode(store, input.task ?? "", input.goal).catch((error: unknown) => {
    throw takesForPrompt(input.task ?? "", error);
  });
  const { nodes, earlier } = await store.read({
    nodes: nodesOfGoal(name.goalId),
    earlier: attemptsOfNode(name.goalId, name.nodeId),
  });
  const node = nodes.find((one) => one.workNodeId === name.nodeId);
  if (!node) throw new OverseerError("not-found", "NODE_UNKNOWN", `There is no node ${name.nodeId}.`, "Check the id.");
  if (node.kind === "phase") {
    throw new OverseerError(
      "usage",
      "NOT_A_TASK",
      `${nodeKey(node.goalId, node.workNodeId)} is a phase; agents work on tasks.`,
      `Choose one of its tasks: 'overseer work list --goal ${node.goalId}'.`,
    );
  }
  const handoff = node.crystallizationId
    ? (await store.read({ one: crystallizationById(node.crystallizationId) })).one
    : undefined;
  const source = earlier.length === 0 ? await readSource(world, node, nodes) : undefined;
  return { node, nodes, earlier, handoff, ...(source ? { source } : {}) };
}

/** Its work was too much for one: what was made of it before is there to be taken over. */
async function readSource(
  world: World,
  { goalId, splitFrom }: WorkNode,
  nodes: readonly WorkNode[],
): Promise<SplitSource | undefined> {
  const node = nodes.find((one) => one.workNodeId === splitFrom?.at(-1));
  if (!node) return undefined;
  const store = await world.writer();
  const { attempts } = await store.read({ attempts: attemptsOfNode(goalId, node.workNodeId) });
  const attempt = attempts.at(-1);
  if (!attempt) return undefined;
  const left =
    node.crystallizationId === null
      ? undefined
      : (await store.read({ one: crystallizationById(node.crystallizationId) })).one;
  const tip = await findCommit(world.git.git, world.root.project, `refs/heads/${attempt.branch}`);
  return { node, attempt, left, commit: tip === undefined || tip === attempt.base ? null : tip };
}

/** What the title of a task from the pool is made of; one that its agent could not play has its own words. */
export async function titleOfTask(world: World, text: string): Promise<string> {
  const read = (await world.runtime((await world.config()).runtime)).readTask?.(text);
  return read && "words" in read && read.words.trim() !== "" ? read.words : text;
}

/** What a person would call it. Throws SCRIPT_UNREADABLE for what its agent could not play. */
function wordsOf(prompt: string, runtime: Runtime): string {
  const read = runtime.readTask?.(prompt) ?? { words: prompt };
  if ("words" in read) return read.words;
  throw new OverseerError(
    "usage",
    "SCRIPT_UNREADABLE",
    `The script in the prompt cannot be played: ${read.error}`,
    "docs/scripted.md lists the verbs and their fields.",
  );
}

/** The task as it will be; it is written together with the claim, so that a refusal leaves nothing behind. */
async function workFromPrompt(world: World, wish: Omit<PromptWish, "goalId">): Promise<TheWork> {
  const prompted: PromptWish = { goalId: await chooseGoalId(world, wish.words ?? wish.prompt), ...wish };
  const made = goalFromPrompt(undefined, prompted, { now: world.clock.now(), actor: world.actor });
  const { nodes } = orThrow(made);
  const node = nodes.find((one) => one.workNodeId === PROMPTED_NODE);
  if (!node)
    throw new OverseerError("internal", "NODE_UNKNOWN", "The prompt did not produce a task.", "Please report this.");
  return { node, nodes, earlier: [], handoff: undefined, prompted };
}

/** Depth and parent follow from who calls; a flag that says otherwise is refused (SLING-2). */
async function lineageOf(
  world: World,
  input: SlingInput,
  roles: ReadonlyMap<string, Role>,
  maxDepth: number,
): Promise<Lineage> {
  const store = await world.writer();
  const caller = Number(world.env.OVERSEER_ATTEMPT ?? 0);
  if (caller > 0) {
    const { own } = await store.read({ own: attemptByNumber(caller) });
    if (!own || !isLiving(own)) {
      throw new OverseerError(
        "conflict",
        "ATTEMPT_FENCED",
        `Attempt #${caller} has ended and can no longer start agents.`,
        "Nothing to do: another attempt has taken over.",
      );
    }
    if (Object.keys(input.supervision ?? {}).length > 0) {
      const hint = "Leave out --no-nudge and --no-supervision; a person may exempt it in its role or its plan.";
      throw new OverseerError("conflict", "NOT_YOURS_TO_EXEMPT", "Only people exempt agents from supervision.", hint);
    }
    if (input.parent !== undefined && input.parent !== own.agent) throw contradiction("--parent", own.agent);
    if (input.depth !== undefined && input.depth !== own.depth + 1)
      throw contradiction("--depth", String(own.depth + 1));
    const role = roles.get(own.capability);
    const verdict = role
      ? maySpawn(role, { depth: own.depth, maxDepth })
      : { allowed: false, because: "its role is unknown" };
    if (!verdict.allowed) {
      throw new OverseerError(
        "conflict",
        "MAY_NOT_SPAWN",
        `${attemptLabel(own)} may not start agents: ${"because" in verdict ? verdict.because : ""}.`,
        "Do the work yourself, or ask whoever started you.",
      );
    }
    return { parent: { agent: own.agent, attempt: own.attempt }, depth: own.depth + 1 };
  }
  if (input.parent === undefined) {
    if (input.depth !== undefined && input.depth !== 0) throw contradiction("--depth", "0, since a person starts it");
    return { parent: null, depth: 0 };
  }
  const parent = await resolveAgent(store, input.parent);
  if (!isLiving(parent)) {
    const message = `${attemptLabel(parent)} has ended, and nobody can report to it.`;
    throw new OverseerError("conflict", "AGENT_ENDED", message, "'overseer agents' lists those at work.");
  }
  if (input.depth !== undefined && input.depth !== parent.depth + 1)
    throw contradiction("--depth", String(parent.depth + 1));
  return { parent: { agent: parent.agent, attempt: parent.attempt }, depth: parent.depth + 1 };
}

function contradiction(flag: string, truth: string): OverseerError {
  return new OverseerError(
    "usage",
    "LINEAGE_CONTRADICTED",
    `${flag} contradicts what is derived: it is ${truth}.`,
    `Leave out ${flag}; it follows from who starts the agent.`,
  );
}

/** `builder-1`, `builder-2` …: the first that is free, and no place of auto mode. */
async function freeName(world: World, wish: Pick<SlingPlan, "capability" | "goalId" | "workNodeId">): Promise<string> {
  const stem = AGENT_NAME.test(wish.capability) && wish.capability !== "auto" ? wish.capability.slice(0, 26) : "agent";
  const names = await freeNames(world, wish);
  for (let number = 1; ; number += 1) {
    const name = `${stem}-${number}`;
    if (!names.isPlace(name) && names.choose(name) === name) return name;
  }
}

/** Names for whoever is put on a node. */
export interface FreeNames {
  isPlace(name: string): boolean;
  /**
   * That name, where it may be given: nobody carries it, and none that is to come back does. Another where it is a place that
   * is taken; undefined where none may be given.
   */
  choose(wanted: string): string | undefined;
}

export async function freeNames(world: World, node: Pick<Attempt, "goalId" | "workNodeId">): Promise<FreeNames> {
  const { living, actions, last, conditions } = await (await world.writer()).read({
    living: livingAttempts(),
    actions: openActions(),
    last: lastAttemptsOfOpen(),
    conditions: presentConditions(),
  });
  const workers = conditions.find((one) => one.kind === "workers")?.workers ?? [];
  const places = workers.filter(({ excluded }) => !excluded).map(({ name }) => name);
  const taken = new Set(living.map(({ agent }) => agent));
  const promised = listPromisedNames(actions, last);
  const isPlace = (name: string) => isPlaceName(name, workers);
  return {
    isPlace,
    choose: (wanted) => {
      if (!isPlace(wanted)) return taken.has(wanted) || isPromised(wanted, promised, node) ? undefined : wanted;
      const elsewhere = promised.filter(({ agent }) => isPromised(agent, promised, node)).map(({ agent }) => agent);
      return pickPlace(wanted, places, { living: taken, promised: new Set(elsewhere) });
    },
  };
}

/** An earlier attempt's last commit where it builds on the target; else the target itself. */
async function baseCommit(world: World, earlier: readonly Attempt[], head: string): Promise<string> {
  const { git } = world.git;
  const cwd = world.root.project;
  const last = earlier.at(-1);
  const previous = last && (await findCommit(git, cwd, `refs/heads/${last.branch}`));
  if (!previous || previous === last.base) return head;
  // What was dropped from the target may be gone for good by now; then nothing builds on it.
  const known = (await findCommit(git, cwd, last.base)) !== undefined;
  if (!known || !(await isMergedInto(git, cwd, last.base, previous))) return head;
  // What a broken worktree left may be broken itself; nobody could begin on it.
  const isUsable = !last.brokenWorktree || (await isReadable(world.git, cwd, previous, last.base));
  return isUsable ? previous : head;
}
