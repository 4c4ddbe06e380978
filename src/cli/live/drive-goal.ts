/**
 * A goal from wherever it stands to its end, for `overseer do` and `goal follow`: the plan is awaited, reviewed and
 * accepted, the daemon is started where none runs, and the work is followed. Where it stands is read from the log each
 * time, so whoever was killed or left comes back to exactly that, and nothing is asked for or begun twice.
 */
import type { Call } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { planLinesOf } from "#cli/proposal-lines.ts";
import { tellWhen, withShortTimes } from "#cli/short-time.ts";
import { breakSentences, inert } from "#cli/text.ts";
import { launchDaemon, livingDaemon } from "#control/daemon.ts";
import { acceptProposal, nameSeen, readProposal } from "#control/planning.ts";
import { presentGoal } from "#control/present.ts";
import { takeBackGoal } from "#control/sentence-goal.ts";
import { goal as viewGoal } from "#control/views.ts";
import type { World } from "#control/world.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import type { Goal, Planning } from "#domain/model/goal.ts";
import { awaitProposal } from "#engine/await-proposal.ts";
import { OverseerError } from "#errors.ts";
import { awaitInterrupt, followGoal, tellComeBack, tellGoalEnd } from "./follow-goal.ts";
import { openProgressLine } from "./progress-line.ts";
import { reviewPlan } from "./review-plan.ts";
import { reviewWork } from "./review-work.ts";

export interface Drive {
  /** Accepts what is proposed without asking. */
  readonly yes: boolean;
  /** Shows the plan and takes everything back. */
  readonly dryRun: boolean;
}

export async function driveGoal(call: Call, parts: Parts, world: World, goalId: string, drive: Drive): Promise<void> {
  for (;;) {
    const { goal, planning } = await readProposal(world, goalId);
    if (planning?.status === "wanted" || planning?.status === "waits") {
      const settled = await awaitPlan(call, world, goal, planning);
      if (settled === "left") return leavePlanning(world, goalId, drive);
      if (settled?.status === "waits") throw await describeHeld(world, goalId, settled, drive);
      if (settled === null && !call.json) await tellUnasked(call, world, goalId);
      continue;
    }
    if (planning?.status === "failed") throw await describeFailed(world, goalId, planning, drive);
    if (planning?.status !== "proposed") break;
    if (!call.json) await showPlan(call, world, goal);
    if (drive.dryRun) return endDryRun(call, world, goal);
    if (drive.yes) {
      await acceptProposal(world, goalId, nameSeen(planning));
      continue;
    }
    if (call.json || !call.out.interactive) throw await describeProposed(call, world, goalId);
    const reviewed = await reviewPlan(call, world, goal);
    if (reviewed === "dropped") return;
    if (reviewed === "left") throw describeWaiting(goalId);
  }
  await startWork(call, parts, world, goalId);
}

async function showPlan({ out }: Call, world: World, goal: Goal): Promise<void> {
  const notes = goal.planning?.proposal?.notes ?? [];
  const lines = [
    ...(await planLinesOf(out, world, goal)),
    ...notes.flatMap((note) => breakSentences(out, inert(note))),
  ];
  for (const line of ["", ...lines, ""]) out.line(line);
}

/** Nobody was asked: planner.accept says so, or somebody else has decided meanwhile. */
async function tellUnasked({ out }: Call, world: World, goalId: string): Promise<void> {
  const { goal, planning } = await readProposal(world, goalId);
  if (planning !== null || goal.plan.length === 0) return;
  out.remark(`The plan of ${goalId} is accepted; look at it: overseer goal show ${goalId}`);
}

/** A wait that ends so soon is waited for here. */
const SHORT_WAIT_MS = 60_000;
const LOOK_EVERY_MS = 300;

async function awaitPlan(
  call: Call,
  world: World,
  { goalId }: Goal,
  planning: Planning,
): Promise<Planning | null | "left"> {
  const { out } = call;
  const line = openProgressLine(out.interactive && !call.json, out.width);
  const abort = new AbortController();
  const interrupt = awaitInterrupt();
  const stop = interrupt.stop.then((word) => {
    abort.abort();
    return word;
  });
  const onProgress = (text: string) => line.say(capital(inert(text)), true);
  if (!out.interactive && !call.json) out.remark("Asking the model for a plan …");
  let told = "";
  try {
    for (let now: Planning | null = planning; now?.number === planning.number; ) {
      if (now.status !== "waits" || isDue(now, world.clock.now())) {
        const asked: ReturnType<typeof awaitProposal> = awaitProposal(world, goalId, planning.number, {
          ...{ onProgress, signal: abort.signal },
        });
        const settled = await Promise.race([asked, stop]);
        if (settled === "stop" || abort.signal.aborted) {
          // Where it is asked here, the model is ended first: an answer that nobody reads would only cost.
          await asked.catch(() => null);
          return "left";
        }
        if (settled?.status !== "waits") return settled;
        now = settled;
      }
      if (!endsSoon(now, world.clock.now())) return now;
      const why = `No plan yet: ${withoutStop(now.detail ?? "no model can be asked")}.`;
      if (why !== told && !call.json) {
        line.clear();
        const again = `It is tried again ${tellWhen(now.until ?? 0, world.clock.now())}.`;
        for (const part of breakSentences(out, inert(`${withShortTimes(why, world.clock.now())} ${again}`))) {
          out.remark(part);
        }
      }
      told = why;
      line.say(`Trying again ${tellWhen(now.until ?? 0, world.clock.now())}`);
      if ((await Promise.race([world.clock.sleep(LOOK_EVERY_MS), stop])) === "stop") return "left";
      now = (await readProposal(world, goalId)).planning;
    }
    return null;
  } finally {
    interrupt.close();
    line.end();
  }
}

function endsSoon({ until }: Planning, now: number): boolean {
  return (until ?? 0) - now <= SHORT_WAIT_MS;
}

function isDue({ until }: Planning, now: number): boolean {
  return until === null || until <= now;
}

async function startWork(call: Call, parts: Parts, world: World, goalId: string): Promise<void> {
  const goal = await viewGoal(world, goalId);
  if (goal.work.length > 0 && goal.status === "active" && !livingDaemon(world)) {
    const { daemonCommand: command, version } = parts;
    const { pid } = await launchDaemon(world, { command, version, supervision: true, auto: false });
    if (!call.json) call.out.remark(`Started the daemon (pid ${pid}); 'overseer down' stops it.`);
  }
  const decides = call.out.interactive && !call.json;
  const putOff = new Set<string>();
  for (let after: number | undefined; ; ) {
    const from = { ...(after === undefined ? {} : { after }), ...(decides ? { putOff } : {}) };
    const { end, last } = await followGoal(call, world, goalId, from);
    after = last;
    const node = end.kind === "waits" && decides ? end.review : null;
    const reviewed = node === null ? "left" : await reviewWork(call, world, node);
    if (node === null || reviewed === "left") return tellGoalEnd(call, world, goalId, end);
    if (reviewed === "later") putOff.add(node);
  }
}

async function endDryRun(call: Call, world: World, goal: Goal): Promise<void> {
  if (call.json) call.out.json(presentGoal(await viewGoal(world, goal.goalId)));
  await takeBackGoal(world, goal.goalId, "it was a dry run");
  if (!call.json) call.out.remark("A dry run: nothing was begun, and the goal is put away again.");
}

async function leavePlanning(world: World, goalId: string, { dryRun }: Drive): Promise<never> {
  if (dryRun) {
    await takeBackGoal(world, goalId, "the dry run was left");
    throw new OverseerError("unconfirmed", "LEFT", "Left; nothing of it stays.", 'Again: overseer do --dry-run "…"');
  }
  const goesOn = livingDaemon(world) !== undefined;
  throw new OverseerError(
    "unconfirmed",
    "STILL_PLANNED",
    goesOn ? `The daemon goes on with the plan of ${goalId}.` : `${goalId} is kept; its plan is not made yet.`,
    `${tellComeBack(goalId)}; drop it: overseer goal cancel ${goalId}`,
  );
}

/** No terminal to ask at: the proposal waits. */
async function describeProposed(call: Call, world: World, goalId: string): Promise<OverseerError> {
  if (call.json) call.out.json(presentGoal(await viewGoal(world, goalId)));
  return describeWaiting(goalId);
}

function describeWaiting(goalId: string): OverseerError {
  return new OverseerError(
    "unconfirmed",
    "PLAN_PROPOSED",
    `The plan of ${goalId} waits for you; nothing is begun.`,
    `Accept it: overseer goal plan ${goalId} --accept\n${tellComeBack(goalId)}`,
    { details: { goalId } },
  );
}

async function describeHeld(world: World, goalId: string, planning: Planning, drive: Drive): Promise<OverseerError> {
  const now = world.clock.now();
  const why = withoutStop(planning.detail ?? "no model can be asked");
  const when = planning.until === null ? "" : `, until ${withShortTimes(isoTime(planning.until), now)}`;
  if (drive.dryRun) {
    await takeBackGoal(world, goalId, "it was a dry run");
    return new OverseerError("unconfirmed", "PLAN_WAITS", `No plan now: ${why}${when}.`, "Try again then.");
  }
  const again = livingDaemon(world) ? "the daemon asks again then" : "it is asked again when you come back";
  return new OverseerError(
    "unconfirmed",
    "PLAN_WAITS",
    withShortTimes(`No plan yet: ${why}${when}. ${goalId} stays, and ${again}.`, now),
    `${tellComeBack(goalId)}; or plan it by hand: overseer goal plan ${goalId} --file plan.yaml`,
    { details: { goalId } },
  );
}

async function describeFailed(world: World, goalId: string, planning: Planning, drive: Drive): Promise<OverseerError> {
  const why = withoutStop(planning.detail ?? "there is no plan that holds");
  if (drive.dryRun) await takeBackGoal(world, goalId, "it was a dry run");
  return new OverseerError(
    "conflict",
    "PLAN_FAILED",
    `No plan came of it: ${why}.`,
    drive.dryRun
      ? "Say it differently, and try again."
      : `Ask again: overseer goal plan ${goalId} --with-model; by hand: overseer goal plan ${goalId} --file plan.yaml; what was answered: overseer why ${goalId}`,
    { details: { goalId } },
  );
}

function withoutStop(text: string): string {
  return text.trim().replace(/\.+$/, "");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
