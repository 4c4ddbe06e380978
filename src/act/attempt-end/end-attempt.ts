/**
 * Ending an attempt from outside: what a half-finished sling left is undone in reverse, and a runner that died is
 * cleaned up after. Safe to repeat at any point: each step looks first whether there is still something to do, and the
 * record that it has ended is written last.
 */

import {
  AGENT_MARK,
  attemptDir,
  attemptSocket,
  birthplaceOf,
  dropLaunchFile,
  markOf,
  RUNNER_MARK,
  readLaunchToken,
  runnerSocket,
  wipLimits,
} from "#act/attempt-files.ts";
import { traceMessages } from "#act/messages/trace-messages.ts";
import type { ActParts } from "#act/parts.ts";
import { followMove } from "#act/place.ts";
import { forgetSerenaProjects } from "#act/serena.ts";
import { isKeptName } from "#act/updates/kept-report.ts";
import type { Attempt, EndCause, SlingStep, StepState } from "#domain/model/attempt.ts";
import { beginStart, recordStep } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { messageOf, OverseerError, orThrow } from "#errors.ts";
import { abandonWorktree } from "#git/worktrees.ts";
import { spoolDir } from "#runtimes/hook-spool.ts";
import { attemptByNumber, livingAttempts } from "#store/attempts.ts";
import { addressIn, openSignalLog } from "#store/open.ts";
import { signalCapsOf } from "#store/signal-log.ts";
import { hashOfToken } from "#sys/attempt-token.ts";
import { endTree } from "#sys/process-tree.ts";
import { inTurn } from "#sys/turn.ts";
import type { TerminalHandle } from "#terminals/terminal.ts";
import { sessionName } from "#terminals/terminal-name.ts";
import { foldSpool } from "./fold-spool.ts";
import { findBroken, keepUncommitted, recordBroken, type SavedWork } from "./keep-work.ts";
import { recordEnd } from "./record-end.ts";
import { endStrays, findStrays, tenantsOf } from "./strays.ts";

/**
 * Takes back what was made for an attempt that never came to life, and closes it as failed to start. A step that
 * somebody else has undone is looked at again all the same: its maker may have been in the middle of it. Throws
 * conflict/ATTEMPT_STARTED, with nothing changed, when its runner came up meanwhile.
 */
export async function undoSling(parts: ActParts, attempt: Attempt, detail: string): Promise<void> {
  const { steps } = attempt;
  if (steps.terminal !== undefined) await fenceRunner(parts, attempt.attempt);
  const undo = async (step: SlingStep, work: () => Promise<void>) => {
    if (steps[step] === undefined) return;
    await work();
    await noteUndone(parts, attempt.attempt, step);
  };
  // Whoever was killed half-way may have left a git, a set-up command or a runner that still works on it.
  if (Object.keys(steps).length > 0) await endProcesses(parts, attempt);
  let left = "";
  await undo("terminal", async () => {
    left = await closeTerminal(parts, attempt);
  });
  await undo("files", () => parts.files.remove(attemptDir(parts, attempt.attempt)));
  let kept = "";
  await undo("worktree", async () => {
    kept = await takeBackWorktree(parts, attempt);
    await forgetSerenaProjects(parts);
  });
  await recordEnd(parts, attempt, "failed_to_start", `${detail}${left}${kept}`, null);
}

/** From here on a runner that is only just coming is turned away. Throws when one has been let in already. */
async function fenceRunner(parts: ActParts, attempt: number): Promise<void> {
  await noteUndone(parts, attempt, "terminal");
  const { now } = await (await parts.writer()).read({ now: attemptByNumber(attempt) });
  if (!now?.runner) return;
  throw new OverseerError(
    "conflict",
    "ATTEMPT_STARTED",
    `${now.agent}#${attempt} started after all.`,
    `Use it, or stop it: overseer stop ${now.agent}`,
  );
}

/** No agent has worked in it, so nothing in it is anybody's; only commits are never thrown away. Says what stays. */
async function takeBackWorktree(parts: ActParts, attempt: Attempt): Promise<string> {
  try {
    await abandonWorktree(parts.git, {
      repository: parts.root.gitCommonDir,
      path: attempt.worktree,
      branch: attempt.branch,
      base: attempt.base,
      evenChanged: true,
    });
    return "";
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== "WORKTREE_IN_USE") throw error;
    return ` The worktree stays: ${error.message}`;
  }
}

/**
 * The runner is gone, or what it drives is: ends what it left running, keeps what was not committed, and records the
 * death. A runner that is still there could not tell it from being asked to stop, so it gets no word in it.
 */
export async function buryDead(parts: ActParts, attempt: Attempt, cause: EndCause, detail: string): Promise<void> {
  if (attempt.runner && cause === "died") parts.processes.signal(attempt.runner, "SIGKILL");
  await endProcesses(parts, attempt);
  const left = await closeTerminal(parts, attempt);
  await foldLeftReports(parts, attempt);
  await foldLeftSpool(parts, attempt);
  await traceLeft(parts, attempt);
  await dropLaunchFile(parts, attempt.attempt);
  const { wip, broken } = await keepWork(parts, attempt);
  if (broken) await recordBroken(parts, attempt.attempt, broken);
  await recordEnd(parts, attempt, cause, `${detail}${left}`, wip);
  await parts.files.remove(await runnerSocket(parts, attempt.attempt));
  await parts.files.remove(await attemptSocket(parts, attempt.attempt));
}

/**
 * Looks after attempts whose owner is gone: a sling that was killed half-way is undone, a dead runner is buried. Every
 * command that changes the fleet begins with this. Returns what it did, as sentences.
 */
export function settleLeftovers(parts: ActParts): Promise<string[]> {
  // Several starts at once all look for leftovers; taking back the same one twice at a time spoils both.
  return inTurn(parts.processes, `settle ${parts.root.state}`, () => settleAll(parts));
}

async function settleAll(parts: ActParts): Promise<string[]> {
  const store = await parts.writer();
  const done = await followMove(parts);
  const { living } = await store.read({ living: livingAttempts() });
  for (const attempt of living) {
    const owner = attempt.runner ?? attempt.slinger;
    if (parts.processes.alive(owner)) continue;
    const label = `${attempt.agent}#${attempt.attempt}`;
    try {
      if (attempt.runner) {
        await buryDead(parts, attempt, "died", "Its runner died.");
        done.push(`${label}: its runner had died; its processes were ended and its work kept`);
      } else if (!runnerIsComing(parts, attempt)) {
        await undoSling(parts, attempt, "The process that started it was killed.");
        done.push(`${label}: its start was interrupted; every step was undone`);
      }
    } catch (error) {
      // One that cannot be looked after yet stays as it is, and must not keep everybody else from working.
      if (!(error instanceof OverseerError)) throw error;
      if (error.code === "ATTEMPT_STARTED") continue;
      done.push(`${label}: it is dead, and cleaning up failed: ${error.message} ${error.hint}`);
    }
  }
  return done;
}

/** A runner was launched and has not said hello yet: it will, or its process is gone. */
function runnerIsComing(parts: ActParts, attempt: Attempt): boolean {
  if (attempt.status !== "starting") return false;
  return parts.processes.withEnvironment(RUNNER_MARK, markOf(birthplaceOf(attempt), attempt.attempt)).length > 0;
}

/** Ends the runner and everything that carries the attempt's mark. Throws when something will not die. */
async function endProcesses(parts: ActParts, attempt: Attempt): Promise<void> {
  const value = markOf(birthplaceOf(attempt), attempt.attempt);
  const runners = parts.processes.withEnvironment(RUNNER_MARK, value);
  const roots = [
    ...runners,
    ...(attempt.runner ? [attempt.runner] : []),
    ...(attempt.process ? [attempt.process] : []),
  ];
  const spare = [parts.processes.self().pid];
  for (const name of [RUNNER_MARK, AGENT_MARK]) {
    const tree = { roots, mark: { name, value }, apart: { name: RUNNER_MARK, value }, spare };
    const { left } = await endTree(parts, tree, 2_000);
    if (left.length > 0) {
      throw new OverseerError(
        "environment",
        "PROCESSES_LEFT",
        `${attempt.agent}#${attempt.attempt} still has processes that cannot be ended: ${left.map(({ pid }) => pid).join(", ")}.`,
        "They may hang in the kernel (for example on a dead network disk). Run the command again when they are gone.",
      );
    }
  }
  await endItsStrays(parts, attempt);
}

/** What it left with a bare environment carries no mark; it still stands in its worktree. */
async function endItsStrays(parts: ActParts, attempt: Attempt): Promise<void> {
  const { living } = await (await parts.writer()).read({ living: livingAttempts() });
  const others = living.filter((one) => one.attempt !== attempt.attempt);
  const tenants = tenantsOf([attempt, ...others.filter((one) => one.worktree === attempt.worktree)], [attempt.attempt]);
  await endStrays(parts, await findStrays(parts, tenants, others));
}

/** Its processes have ended before. Says what stays: a session on another tmux server is not ours to close. */
async function closeTerminal(parts: ActParts, attempt: Attempt): Promise<string> {
  const terminal = await parts.terminal();
  const open = (await terminal.list()).find((one) => one.name === sessionName(attempt.attempt));
  const handle = open?.handle ?? (attempt.terminal as TerminalHandle | null);
  if (!handle || handle.kind !== terminal.kind) return "";
  try {
    await terminal.kill(handle);
    return "";
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== "TERMINAL_ELSEWHERE") throw error;
    return ` ${error.message}`;
  }
}

/**
 * What it reported while its runner did not answer counts as long as the attempt does. Its secret is in the launch file,
 * which anybody can write; the log says which one it is.
 */
async function foldLeftReports(parts: ActParts, attempt: Attempt): Promise<void> {
  const names = (await parts.files.list(spoolDir(parts.root.state, attempt.attempt))) ?? [];
  if (!names.some(isKeptName)) return;
  const token = await readLaunchToken(parts, attempt.attempt);
  const isOurs = token !== undefined && attempt.seals !== undefined && hashOfToken(token) === attempt.seals.agent;
  // Seldom there, and what it takes to judge a report is much.
  const { foldKept } = await import("#act/updates/fold-kept.ts");
  await foldKept(parts, { attempt: attempt.attempt, token: isOurs ? token : undefined });
}

/** What its hooks had spooled is recorded while the attempt can still be recorded for. */
async function foldLeftSpool(parts: ActParts, attempt: Attempt): Promise<void> {
  const { state } = parts.root;
  const names = (await parts.files.list(spoolDir(state, attempt.attempt))) ?? [];
  if (names.length === 0) return parts.files.remove(spoolDir(state, attempt.attempt));
  const signals = openSignalLog(addressIn(state), { caps: signalCapsOf((await parts.config()).store) });
  try {
    const { agent, attempt: number, interactive } = attempt;
    const { problems } = await foldSpool(
      { files: parts.files, signals },
      { state, agent, attempt: number, interactive },
    );
    if (problems.length === 0) await parts.files.remove(spoolDir(state, number));
  } finally {
    signals.close();
  }
}

/** What the agent took before it was cut off is in its transcript; only the rest goes to whoever continues. */
async function traceLeft(parts: ActParts, attempt: Attempt): Promise<void> {
  if (attempt.session === null) return;
  const runtime = await parts.runtime(attempt.runtime);
  await traceMessages(await parts.writer(), attempt.attempt, {
    now: parts.clock.now(),
    transcript: runtime.sessionFile(attempt.session),
    isLost: () => false, // the end itself puts them back
    reason: "",
  });
}

/** It is dead: whether the next one can work in its worktree is looked at with it. */
async function keepWork(parts: ActParts, attempt: Attempt): Promise<SavedWork> {
  const place = { ...attempt, commonDir: parts.root.gitCommonDir, limits: wipLimits(await parts.config()) };
  try {
    const kept = await keepUncommitted(parts.git, place);
    const broken = kept.broken ?? (await findBroken(parts.git, place));
    return { wip: kept.wip ?? broken?.wip ?? null, ...(broken ? { broken } : {}) };
  } catch (error) {
    if (error instanceof OverseerError && (error.code === "WORKTREE_MISSING" || error.code === "NOT_THE_WORKTREE")) {
      return { wip: null }; // there is nothing left to keep
    }
    throw new OverseerError(
      "environment",
      "WORK_NOT_SAVED",
      `The uncommitted work of ${attempt.agent}#${attempt.attempt} could not be saved: ${messageOf(error)}.`,
      `Look into ${attempt.worktree} before anything else; nothing was removed.`,
      { cause: error },
    );
  }
}

/** Like noteSteps; an attempt that somebody else has closed meanwhile needs no note any more. */
async function noteUndone(parts: ActParts, attempt: number, step: SlingStep): Promise<void> {
  try {
    await noteSteps(parts, attempt, [{ step, state: "undone" }]);
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== "ATTEMPT_FENCED") throw error;
  }
}

export interface StepNote {
  readonly step: SlingStep;
  readonly state: StepState;
  readonly terminal?: unknown;
}

/**
 * Writes down what was begun, done or undone, all of it in one commit: what is done and what is begun next are one
 * moment, and each commit waits for the disk. `starting` says as well that its runner is being launched, with which files.
 */
export async function noteSteps(
  parts: ActParts,
  attempt: number,
  notes: readonly StepNote[],
  options: { readonly starting?: { readonly launchHash: string } } = {},
): Promise<void> {
  const store = await parts.writer();
  const moment = { now: parts.clock.now(), actor: "overseer" as const };
  const outcome = await store.commit({
    at: moment.now,
    reads: { now: attemptByNumber(attempt) },
    decide: ({ now }) => {
      const decisions = notes.map(({ step, state, terminal }) =>
        recordStep(now, attempt, step, state, moment, terminal),
      );
      if (options.starting) decisions.push(beginStart(now, attempt, moment, options.starting.launchHash));
      const refused = decisions.find((decision) => !decision.ok);
      return (
        refused ??
        accept(
          decisions.flatMap((decision) => (decision.ok ? decision.events : [])),
          null,
        )
      );
    },
  });
  orThrow(outcome);
}
