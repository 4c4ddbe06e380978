/**
 * Asks a model for the plan of a goal, and writes down what came of it: a proposal, why there is none, or until when it
 * waits. A proposal is written by compare-and-set: it is for one asking and one revision, and what has been overtaken
 * meanwhile changes nothing. Killed anywhere before that, it is simply asked again.
 */
import { type Asked, askWithinBudget, type ModelCall } from "#act/ask-model.ts";
import { momentNow } from "#act/checks/claim-store.ts";
import { landingTip, withWriter } from "#act/landing/target-branch.ts";
import type { ActParts } from "#act/parts.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import type { Config } from "#config/schema.ts";
import type { Moment } from "#domain/core/actor.ts";
import type { ActionOutcome } from "#domain/model/action.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { Goal, Proposal } from "#domain/model/goal.ts";
import { countNodes } from "#domain/plans/planned-nodes.ts";
import {
  acceptProposed,
  dropOutdated,
  type FailedPlan,
  failPlan,
  findOutdated,
  type HeldPlan,
  holdPlan,
  proposePlan,
  waitAfterNoAnswer,
} from "#domain/plans/planning.ts";
import { messageOf, OverseerError, orThrow } from "#errors.ts";
import { writePlanText } from "#planner/plan-text.ts";
import { eventsMatching } from "#store/events.ts";
import { goalTreeOf, goalTreeReads, type ReadTree } from "#store/goal-tree.ts";
import { clip } from "#telemetry/bounds.ts";
import { exploreRepository } from "./explore.ts";
import {
  composeQuestion,
  type JudgedAnswer,
  judgeAnswer,
  type PlanTopic,
  readKnownNames,
  roomForRepository,
  valuesFor,
} from "./plan-question.ts";
import { askScouts } from "./scouts.ts";

/** `signal`: whoever waits for it here and now has left; it is asked again by the next who does. */
export async function planGoal(
  parts: ActParts,
  goalId: string,
  number: number,
  signal?: AbortSignal,
): Promise<ActionOutcome> {
  const { goal } = await (await parts.writer()).read(goalTreeReads(goalId));
  const outdated = findOutdated(goal, number, goal?.plan.length ?? 0);
  if (!goal || outdated !== undefined) return { ok: true, result: `not needed: ${outdated ?? "its goal is gone"}` };
  try {
    const { config } = await standOnSettings(parts);
    if (!config.planner.enabled) return await fail(parts, goal, number, toFailure(PLANNING_OFF));
    return await ask(parts, goal, number, config, signal);
  } catch (error) {
    if (!(error instanceof OverseerError)) return waitForAnswer(parts, goal, number, "unreached", toFailure(error));
    // Settings that nobody confirmed hold everything back, and say so themselves.
    if (error.kind === "conflict") throw error;
    // What only a person can put right is told now; the rest of the machine may be in order again in a while.
    const isTheirs = ["config", "usage", "not-found"].includes(error.kind) || error.code === "SETTINGS_LINKED";
    return isTheirs
      ? fail(parts, goal, number, toFailure(error))
      : waitForAnswer(parts, goal, number, "unreached", toFailure(error));
  }
}

function toFailure(error: unknown): FailedPlan {
  const hint = typeof error === "object" && error !== null && "hint" in error ? ` ${error.hint}` : "";
  return { problems: [`${messageOf(error)}${hint}`], rejected: [], logPath: "" };
}

/** Said where planning by a model is switched off. */
export const PLANNING_OFF = new OverseerError(
  "conflict",
  "PLANNING_OFF",
  "Planning by a model is off (planner.enabled is false).",
  "Turn it on with 'overseer config set planner.enabled true', or write the plan yourself: overseer goal plan --help",
);

async function ask(
  parts: ActParts,
  goal: Goal,
  number: number,
  config: Config,
  signal: AbortSignal | undefined,
): Promise<ActionOutcome> {
  const { planner } = config;
  const call: ModelCall = {
    purpose: "plan",
    model: planner.model,
    ...(planner.runtime === null ? {} : { runtime: planner.runtime }),
    timeoutMs: planner.timeout,
    about: { goalId: goal.goalId },
    // A person asks for it and may be waiting: the share of a tick is for what Overseer asks by itself.
    first: false,
    ...(signal === undefined ? {} : { signal }),
  };
  let topic = await gatherTopic(parts, goal, config);
  for (;;) {
    const said = await askWithinBudget(parts, composeQuestion(topic), call);
    if (signal?.aborted) return LEFT;
    if (said.kind === "held") return hold(parts, goal, number, said);
    if (said.kind === "unanswered") {
      const { problems, rejected, logPath, unreached } = said;
      const failed = { problems, rejected, logPath };
      return unreached === null
        ? fail(parts, goal, number, failed)
        : waitForAnswer(parts, goal, number, unreached, failed);
    }
    const judged = judgeAnswer(topic, said.answer);
    if (judged.plan) return propose(parts, topic, number, judged.plan, said);
    const { base, tracked, repository } = topic;
    const given = { parts, base, tracked, repository, maxInputBytes: planner.maxInput, call };
    const findings = await askScouts(given, judged.questions ?? []);
    if (signal?.aborted) return LEFT;
    if (typeof findings !== "string") return hold(parts, goal, number, findings);
    const informed: PlanTopic = { ...topic, findings, asks: "no", repository: "" };
    topic = { ...informed, repository: clip(repository, roomForRepository(informed)) };
  }
}

/** Whoever waited for it has gone; it is still wanted. */
const LEFT: ActionOutcome = { ok: false, problem: "whoever waited for the plan has left", retry: { afterMs: 0 } };

async function gatherTopic(parts: ActParts, goal: Goal, config: Config): Promise<PlanTopic> {
  const { nodes } = await (await parts.writer()).read(goalTreeReads(goal.goalId));
  const { planning } = goal;
  if (!planning) throw new Error("a plan that nobody wants");
  const [known, { commit: base }] = await Promise.all([readKnownNames(parts), landingTip(withWriter(parts))]);
  const unseen = { base, tracked: [], repository: "", findings: "" };
  const asks = planning.scout ? ("first" as const) : ("may" as const);
  const topic: PlanTopic = { ...unseen, goal, planning, nodes, config, known, asks };
  const sentence = [goal.title, goal.problemStatement, planning.remark ?? ""].join("\n");
  const { text, paths } = await exploreRepository(parts, { base, sentence, maxBytes: roomForRepository(topic) });
  return { ...topic, repository: text, tracked: paths };
}

/** What is kept of one piece that the model was given; all of it is in the log beside the event. */
const MOST_INPUT_BYTES = 8 * 1024;

async function propose(
  parts: ActParts,
  topic: PlanTopic,
  number: number,
  { phases, notes, goal: head }: NonNullable<JudgedAnswer["plan"]>,
  { prompt, promptHash, rejected, logPath }: Asked,
): Promise<ActionOutcome> {
  const { goal, planning, config, base, nodes } = topic;
  const inputs = Object.entries({ ...valuesFor(topic), base, log: logPath });
  const proposal: Proposal = {
    source: "model",
    model: nameModel(config),
    promptId: prompt.id,
    promptHash,
    ...(prompt.own ? { ownPrompt: prompt.own } : {}),
    inputs: Object.fromEntries(inputs.map(([name, text]) => [name, clip(text, MOST_INPUT_BYTES)])),
    rejected,
    ...(notes.length === 0 ? {} : { notes }),
    change: planning.remark ?? (nodes.length === 0 ? "first plan" : "planned again by a model"),
    nodeCount: countNodes(phases),
    raw: writePlanText(phases, head),
    base: goal.plan.length,
  };
  return conclude(parts, goal.goalId, (now, seen, moment) => {
    const outdated = findOutdated(now, number, proposal.base);
    if (!now || outdated !== undefined)
      return accept(dropOutdated(now, number, outdated, moment), `not needed: ${outdated}`);
    const proposed = proposePlan(now.goalId, number, proposal, moment);
    if (planning.accept === "person") return accept([proposed], "proposed");
    return acceptProposed(goalTreeOf(now, seen), proposed, proposal, phases, config.planner, moment);
  });
}

/** Which model it was, as far as that is known here. */
function nameModel({ planner, model, runtime }: Config): string {
  if (model.command !== null) return "model.command";
  return planner.model ?? `the default of ${planner.runtime ?? runtime}`;
}

async function fail(parts: ActParts, goal: Goal, number: number, failed: FailedPlan): Promise<ActionOutcome> {
  return conclude(parts, goal.goalId, (now, _seen, moment) => {
    const outdated = findOutdated(now, number, now?.plan.length ?? 0);
    if (outdated !== undefined) return accept([], `not needed: ${outdated}`);
    return accept([failPlan(goal.goalId, number, failed, moment)], "no plan that holds");
  });
}

async function waitForAnswer(
  parts: ActParts,
  goal: Goal,
  number: number,
  how: "unreached" | "too-slow",
  failed: FailedPlan,
): Promise<ActionOutcome> {
  const filter = { type: "plan.waits", goalId: goal.goalId, limit: 100, newest: true } as const;
  const { waits } = await (await parts.writer()).read({ waits: eventsMatching(filter) });
  const before = waits.filter(
    (event) => event.type === "plan.waits" && event.data.number === number && event.because === "no-answer",
  ).length;
  const afterMs = waitAfterNoAnswer(how, before);
  if (afterMs === undefined) return fail(parts, goal, number, failed);
  const detail = withoutEnd(failed.problems[0] ?? "nobody answered");
  return hold(parts, goal, number, { detail, until: parts.clock.now() + afterMs, because: "no-answer" });
}

/** A sentence as a clause. */
function withoutEnd(sentence: string): string {
  return sentence.replace(/\.$/, "").replace(/^The model/, "the model");
}

async function hold(parts: ActParts, goal: Goal, number: number, held: HeldPlan): Promise<ActionOutcome> {
  const { detail, until, because } = held;
  const outcome = await conclude(parts, goal.goalId, (now, _seen, moment) => {
    const outdated = findOutdated(now, number, now?.plan.length ?? 0);
    if (outdated !== undefined) return accept([], `not needed: ${outdated}`);
    const told = { detail, until, ...(because === undefined ? {} : { because }) };
    return accept([holdPlan(goal.goalId, number, told, moment)], WAITS);
  });
  const afterMs = Math.max(SOONEST_MS, until - parts.clock.now());
  return outcome.ok && outcome.result !== WAITS ? outcome : { ok: false, problem: detail, retry: { afterMs } };
}

const WAITS = "waits";
const SOONEST_MS = 1_000;

async function conclude(
  parts: ActParts,
  goalId: string,
  decide: (goal: Goal | undefined, seen: ReadTree, moment: Moment) => Decision<string>,
): Promise<ActionOutcome> {
  const moment = momentNow(parts);
  const outcome = await (await parts.writer()).commit({
    at: moment.now,
    reads: goalTreeReads(goalId),
    decide: ({ goal, ...seen }) => decide(goal, seen, moment),
  });
  return { ok: true, result: orThrow(outcome) };
}
