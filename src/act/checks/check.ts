/**
 * Running the user's checks on a commit, in a disposable worktree, and keeping the receipts. The command runs verbatim
 * under `sh -c` with a clean environment and a deadline; when it has ended, everything it left running is ended too. A
 * verdict belongs to a tree: one that is known for the same command and tree is used again, so a crash half-way, or a
 * merge that changes nothing, costs no second run. What could not be run is never taken for a pass.
 */

import { CHECK_PLACES, checkTenant, endStrays, findStrays } from "#act/attempt-end/strays.ts";
import { CHECK_MARK, filterEnvironment } from "#act/attempt-files.ts";
import { commandAfterLand } from "#act/landing/command-after-land.ts";
import type { ActParts } from "#act/parts.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import { hideWorktrees } from "#act/sling/worktree-place.ts";
import { resolveConfigured } from "#config/places.ts";
import type { Config } from "#config/schema.ts";
import type { AfterChecks, ClaimSeen, ReturnPolicy } from "#domain/landing/report-done.ts";
import { afterChecks, claimEvent } from "#domain/landing/report-done.ts";
import type { CheckMoment, CheckSpec, Receipt } from "#domain/model/check.ts";
import { chooseChecks, excerptFailure, findReceipt, judgeCheck } from "#domain/model/check.ts";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { prepareCheckWorktree, tidyCheckWorktree } from "#git/check-worktree.ts";
import * as snapshotArgs from "#git/snapshot-arguments.ts";
import { setupWorktree } from "#git/worktree-setup.ts";
import { verdictsOn } from "#store/merges.ts";
import type { Lock } from "#sys/locks.ts";
import { endTree } from "#sys/process-tree.ts";
import { redact } from "#telemetry/redact.ts";
import { decideClaim, momentNow, type NodeRef, noteClaim, readClaim } from "./claim-store.ts";

/** The checks of that moment, as the configuration has them. */
export function checksOf(config: Pick<Config, "checks">, on: CheckMoment): CheckSpec[] {
  return listChecks(config).filter((check) => check.on.includes(on));
}

function listChecks({ checks }: Pick<Config, "checks">): CheckSpec[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    command: check.command,
    timeoutMs: check.timeout,
    on: check.on,
    expect: check.expect,
    protected: check.protected,
  }));
}

export type CheckOutcome = AfterChecks | { readonly kind: "nothing" };

/**
 * Checks what is claimed for a node and records what follows. Repeatable: a claim that has its verdict, or does not
 * stand any more, is left as it is. Throws only when the machine or the repository does not let us look.
 */
export async function runChecks(parts: ActParts, place: NodeRef): Promise<CheckOutcome> {
  const seen = await readClaim(parts, place);
  const { claim } = seen?.node ?? {};
  if (!seen || !claim || claim.verdict !== null || seen.node.status !== "in_progress") return { kind: "nothing" };
  const { config } = await standOnSettings(parts);
  const specs = chooseChecks(listChecks(config), seen.node);
  const receipts = await judgeCommit(parts, seen, specs, "done", claim.commit);
  if (receipts === undefined) return { kind: "stale" };
  const policy = await returnPolicy(parts, config);
  return decideClaim(parts, place, claim, (now, moment) =>
    afterChecks(now, { commit: claim.commit, receipts }, policy, moment),
  );
}

export async function returnPolicy(
  parts: Pick<ActParts, "ids" | "config" | "root" | "files" | "processes">,
  config: Pick<Config, "landing" | "repo">,
): Promise<ReturnPolicy> {
  const { fixRounds: rounds, authorRounds, dirtyWait: lookAgain } = config.landing;
  const ids = { messageId: parts.ids.next("m_"), questionId: parts.ids.next("q_") };
  const afterLand = (await commandAfterLand(parts)) !== null;
  return { rounds, authorRounds, lookAgain, push: config.repo.remote === "push", afterLand, ...ids };
}

/**
 * Receipts for every check, run now or known already, whoever it was run for; undefined when the claim went away
 * meanwhile. Without a claim the checks speak about the tree alone: a batch, or the target itself. A gate that fails is
 * run once more on the same tree; one that then passes is flaky, and its receipt says so.
 */
export async function judgeCommit(
  parts: ActParts,
  seen: ClaimSeen | null,
  specs: readonly CheckSpec[],
  on: CheckMoment,
  commit: string,
  { begins = () => undefined, anew = false, signal }: JudgeOptions = {},
): Promise<Receipt[] | undefined> {
  if (specs.length === 0) return [];
  await standOnSettings(parts);
  const found = await parts.git.git.attempt(snapshotArgs.resolveTree(commit), { cwd: parts.root.gitCommonDir });
  const tree = found.stdout.trim();
  const { before } = await (await parts.writer()).read({ before: verdictsOn(tree) });
  const known = specs.map((spec) => (anew ? undefined : findReceipt(before, { ...spec, tree })));
  const complete = known.filter((receipt) => receipt !== undefined);
  if (complete.length === specs.length) return complete;
  const verdicts = known.filter((one) => one !== undefined);
  if (tree !== "" && verdicts.length === specs.length) return verdicts;
  const job: Job = { parts, seen, on, commit, tree, begins, signal };
  if (found.code !== 0 || tree === "") {
    return specs.map((spec) => didNotRun(job, spec, "the commit is not in the repository"));
  }
  return withCheckWorktree(parts, (place) => runAll(job, specs, known, place));
}

export interface JudgeOptions {
  /** Told what is run, for whoever has somebody waiting. */
  readonly begins?: (spec: CheckSpec) => void;
  /** What is known of the tree does not count: not the files may have changed since, but what is installed beside them. */
  readonly anew?: boolean;
  /** When it aborts, what runs is ended, and what has not begun does not run. */
  readonly signal?: AbortSignal | undefined;
}

/** One tree to be judged, for one claim or for nobody's. */
interface Job {
  readonly parts: ActParts;
  readonly seen: ClaimSeen | null;
  readonly on: CheckMoment;
  readonly commit: string;
  readonly tree: string;
  begins(spec: CheckSpec): void;
  readonly signal: AbortSignal | undefined;
}

interface CheckSlot {
  readonly path: string;
  readonly mark: { readonly name: string; readonly value: string };
}

async function runAll(
  job: Job,
  specs: readonly CheckSpec[],
  known: readonly (Receipt | undefined)[],
  place: CheckSlot,
): Promise<Receipt[] | undefined> {
  const made = await makeReady(job, place);
  if ("problem" in made) return specs.map((spec) => didNotRun(job, spec, made.problem));
  const receipts: Receipt[] = [];
  let { path } = made;
  let used = false;
  for (const [index, spec] of specs.entries()) {
    const before = known[index];
    if (before !== undefined) {
      receipts.push(before);
      continue;
    }
    if (job.signal?.aborted) {
      receipts.push(didNotRun(job, spec, "it was stopped"));
      continue;
    }
    job.begins(spec);
    const runs = job.on === "land" && spec.once !== true ? 2 : 1;
    let receipt: Receipt | undefined;
    for (let run = 1; run <= runs && (run === 1 || receipt?.verdict === "fail"); run += 1) {
      const ready = used ? await resetWorktree(job, place, path) : { path };
      if ("problem" in ready) {
        receipt = didNotRun(job, spec, ready.problem);
        break;
      }
      ({ path } = ready);
      used = true;
      receipt = await runOne(job, spec, { ...place, path }, run > 1);
      if (receipt === undefined) return undefined;
    }
    if (receipt) receipts.push(receipt);
  }
  return receipts;
}

type Ready = { readonly path: string } | { readonly problem: string };

async function makeReady({ parts, commit }: Job, place: CheckSlot): Promise<Ready> {
  const repository = parts.root.gitCommonDir;
  const { path } = await prepareCheckWorktree(parts.git, { repository, path: place.path, commit });
  const problem = await setUp(parts, path, place);
  return problem === undefined ? { path } : { problem };
}

/** After a run: what it wrote is taken back; where it took the worktree itself away, there is a new one. */
async function resetWorktree(job: Job, place: CheckSlot, path: string): Promise<Ready> {
  if (await tidyCheckWorktree(job.parts.git, { repository: job.parts.root.gitCommonDir, path, commit: job.commit })) {
    return { path };
  }
  return makeReady(job, place);
}

/** The project's own set-up, as for an agent's worktree. What went wrong, as a clause; undefined when it is ready. */
async function setUp(parts: ActParts, path: string, place: CheckSlot): Promise<string | undefined> {
  const config = await parts.config();
  const { setup: command, setupTimeout: timeoutMs } = config.worktree;
  if (command === null) return undefined;
  const env = checkEnvironment(parts, config, place);
  const logFile = `${await checkLogDir(parts)}/setup-${parts.ids.next("")}.log`;
  try {
    await setupWorktree(parts, { worktree: path, command, timeoutMs, env, logFile });
    return undefined;
  } catch (error) {
    if (!(error instanceof OverseerError) || !error.code.startsWith("SETUP_")) throw error;
    return `the worktree could not be set up: ${redact(messageOf(error))}`;
  }
}

/** At most this much of what a check prints is kept: both ends of it. */
const MOST_OUTPUT = 4 * 1024 * 1024;
const EXCERPT_CHARS = 4_000;

async function runOne(
  job: Job,
  spec: CheckSpec,
  place: CheckSlot,
  failedBefore: boolean,
): Promise<Receipt | undefined> {
  const { parts, seen, on, commit, tree } = job;
  const checkId = parts.ids.next("K_");
  const { name, command } = spec;
  const logPath = `${await checkLogDir(parts)}/${checkId}-${name}.log`;
  const begun = { checkId, name, on, commit, tree, command, logPath };
  if (!(await note(job, "check.started", begun))) return undefined;
  const startedAt = parts.clock.monotonic();
  const result = await parts.exec.run(["sh", "-c", 'exec 2>&1; exec sh -c "$1"', "sh", command], {
    cwd: place.path,
    env: checkEnvironment(parts, await parts.config(), place),
    timeoutMs: spec.timeoutMs,
    maxBytes: MOST_OUTPUT,
    keep: "ends",
    ...(job.signal ? { signal: job.signal } : {}),
  });
  await endLeftovers(parts, place);
  const durationMs = Math.max(0, Math.round(parts.clock.monotonic() - startedAt));
  const output = redact(result.stdout);
  const { code: exit, signal, timedOut } = result;
  const expectFound = spec.expect === null ? null : new RegExp(spec.expect, "m").test(result.stdout);
  const { verdict, why } = judgeCheck(spec, { exit, signal, timedOut, expectFound, output });
  const head = `$ ${redact(command)}\n# commit ${commit}, tree ${tree}, for ${seen === null ? "the queue" : `${seen.node.goalId}/${seen.node.workNodeId}`}\n`;
  await parts.files.write(
    logPath,
    `${head}${output}\n[${verdict}${why === null ? "" : `: ${why}`}; ${durationMs} ms]\n`,
  );
  const excerpt = verdict === "pass" ? "" : excerptFailure(output, EXCERPT_CHARS);
  const flaky = failedBefore && verdict === "pass" ? { flaky: true } : {};
  const receipt: Receipt = { ...begun, verdict, why, exit, durationMs, excerpt, ...flaky };
  return (await note(job, "check.finished", receipt)) ? receipt : undefined;
}

async function note<T extends "check.started" | "check.finished">(
  { parts, seen, on }: Job,
  type: T,
  data: Parameters<typeof claimEvent<T>>[4],
): Promise<boolean> {
  if (seen === null) return noteAlone(parts, type, on, data);
  const claim = seen.node.claim;
  if (!claim) return false;
  return noteClaim(parts, seen, claim.commit, ({ node }, moment) => [
    claimEvent(node, node.claim ?? claim, type, `checked-on-${on}`, data, moment),
  ]);
}

/** About a tree that is nobody's alone. */
async function noteAlone<T extends "check.started" | "check.finished">(
  parts: ActParts,
  type: T,
  on: CheckMoment,
  data: Parameters<typeof claimEvent<T>>[4],
): Promise<boolean> {
  const { now, actor } = momentNow(parts);
  const event = { type, actor, because: `checked-on-${on}`, data } as NewEvent;
  await (await parts.writer()).commit({ at: now, reads: {}, decide: () => accept([event], null) });
  return true;
}

/** A check that could not even be tried: nothing ran, and that is what the receipt says. */
function didNotRun({ on, commit, tree }: Job, spec: CheckSpec, why: string): Receipt {
  const { name, command } = spec;
  const nothing = { exit: null, logPath: "", durationMs: 0, excerpt: why };
  return { checkId: "", name, on, commit, tree, command, verdict: "did_not_run", why, ...nothing };
}

function checkEnvironment(parts: ActParts, config: Config, { mark }: CheckSlot): Record<string, string> {
  const { passEnv } = config.agents;
  return { ...filterEnvironment(parts.env, passEnv), GIT_TERMINAL_PROMPT: "0", [mark.name]: mark.value };
}

/** Whoever comes here holds the place: nothing that a check left in it is still wanted. */
async function endLeftovers(parts: ActParts, { mark, path }: CheckSlot): Promise<void> {
  const { left } = await endTree(parts, { roots: [], mark, apart: mark, spare: [parts.processes.self().pid] }, 1_000);
  if (left.length === 0) {
    await endStrays(parts, await findStrays(parts, new Map([[path, [checkTenant(true)]]]), []));
    return;
  }
  throw new OverseerError(
    "environment",
    "PROCESSES_LEFT",
    `A check left processes that cannot be ended: ${left.map(({ pid }) => pid).join(", ")}.`,
    "They may hang in the kernel (for example on a dead network disk). It is retried when they are gone.",
  );
}

async function checkLogDir(parts: ActParts): Promise<string> {
  const dir = `${parts.root.state}/logs/checks`;
  await parts.files.makeDir(dir, { mode: 0o700 });
  return dir;
}

/**
 * A worktree of the pool, for us alone while `work` runs. The lock dies with its holder, so a place is never lost; what
 * a killed holder left running there is ended before the place is used again.
 */
export async function withCheckWorktree<T>(parts: ActParts, work: (place: CheckSlot) => Promise<T>): Promise<T> {
  const config = await parts.config();
  const worktrees = resolveConfigured(parts.root, config.worktree.dir).path;
  await hideWorktrees(parts, worktrees);
  const { number, lock } = await freePlace(parts);
  const place: CheckSlot = {
    path: `${worktrees}/.checks/${number}`,
    mark: { name: CHECK_MARK, value: `${number}@${parts.root.state}` },
  };
  try {
    await endLeftovers(parts, place);
    return await work(place);
  } finally {
    lock.release();
  }
}

async function freePlace(parts: ActParts): Promise<{ readonly number: number; readonly lock: Lock }> {
  await parts.files.makeDir(`${parts.root.state}/run`);
  for (let number = 1; number <= CHECK_PLACES; number += 1) {
    const path = `${parts.root.state}/run/check-${number}.lock`;
    const lock = parts.takeLock(path);
    if (lock !== undefined) return { number, lock };
  }
  throw new OverseerError(
    "environment",
    "CHECKS_BUSY",
    `${CHECK_PLACES} checks are already running.`,
    "It is retried when one of them has ended.",
  );
}
