/**
 * The command that the user wants run on the target after each landing: asked for in the decision that lands, so that no
 * crash forgets it. Where it fails nothing more lands by itself on that target until a person has answered, or until the
 * command passes on a later commit. The landing itself stands. The open question is the hold: it outlives every restart,
 * reaches people, and there is nothing beside it that could disagree with it.
 */
import type { Moment } from "#domain/core/actor.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { type Action, actionDecided, HELD_BACK } from "#domain/model/action.ts";
import type { Receipt } from "#domain/model/check.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import type { Question } from "#domain/model/question.ts";
import { endQuestion } from "#domain/model/question.ts";

export interface LandedNow {
  readonly target: string;
  /** What the target has become by it. */
  readonly commit: string;
  /** What has landed, as people know it: a node, or a branch. */
  readonly landing: string;
}

/** Nobody's in particular, as a push: the work behind it is done. */
export function afterLandDecided(landed: LandedNow, moment: Moment): NewEvent {
  const request = {
    actionId: afterLandKey(landed),
    kind: "afterLand",
    because: "landed",
    notBefore: moment.now,
    payload: landed,
  } as const;
  return actionDecided(request, { now: moment.now, actor: "overseer" });
}

export const AFTER_LAND_OPTIONS = ["go on landing"] as const;

/** How it ended; what it printed, where it was run at all. */
type Ran = Pick<Receipt, "verdict" | "why"> & Partial<Pick<Receipt, "excerpt" | "logPath">>;

/** What follows from its end, for the log and for people. */
export function concludeAfterLand(
  { target, commit, landing }: LandedNow,
  receipt: Ran,
  open: readonly Question[],
  moment: Moment,
  key: "landing.afterLand" | "auto.postAcceptCommand" = "landing.afterLand",
): NewEvent[] {
  const asked = open.filter((question) => isHold(question, target));
  if (receipt.verdict === "pass") {
    const end = { to: "withdrawn", reason: `${key} passes on ${commit.slice(0, 10)}` } as const;
    return asked.flatMap((question) => {
      const ended = endQuestion(question, question.questionId, end, moment);
      return ended.ok ? ended.events : [];
    });
  }
  if (asked.length > 0) return [];
  const failed = receipt.verdict === "fail" ? "failed" : "could not be run";
  const text = `${opening(target)}: ${key} ${failed} on ${commit.slice(0, 10)}, which ${landing} has made of it (${receipt.why ?? "no reason known"}).${quoteOutput(receipt)} The landing stands. Fix or revert it on ${target}, then answer; what is finished waits.`;
  const questionId = deriveId("q_", "afterLand", target, commit, moment.now);
  return [
    {
      type: "question.asked",
      actor: moment.actor,
      because: "after-landing-failed",
      data: { questionId, text, options: [...AFTER_LAND_OPTIONS] },
    },
  ];
}

/**
 * What follows when an action was given up: whether the target is well after that landing is not known, so a person is
 * asked as if the command had failed. Nothing for actions that are tried in vain without such a promise.
 */
export function followGivenUp(
  action: Action | undefined,
  decided: readonly NewEvent[],
  open: readonly Question[],
  moment: Moment,
): NewEvent[] {
  if (action?.kind !== "afterLand") return [];
  return decided.flatMap((event) =>
    event.type === "action.dropped"
      ? concludeAfterLand(action.payload, { verdict: "did_not_run", why: event.data.reason }, open, moment)
      : [],
  );
}

const QUOTED_CHARS = 300;

/** The end of it, where most tools say what went wrong, and where all of it is. */
function quoteOutput({ verdict, excerpt = "", logPath = "" }: Ran): string {
  // Of one that never ran, the excerpt is the reason.
  const words = verdict === "did_not_run" ? "" : excerpt.replace(/\s+/g, " ").trim();
  const end = words.length > QUOTED_CHARS ? `…${words.slice(-QUOTED_CHARS)}` : words;
  const said = end === "" ? "" : ` It said: "${end}".`;
  return logPath === "" ? said : `${said} Its output: ${logPath}.`;
}

/** Why nothing lands there by itself now; undefined when it may. */
export function holdOn(target: string, open: readonly Question[], actions: readonly Action[]): string | undefined {
  const held = open.find((question) => isHold(question, target));
  if (held) return `${opening(target)} until ${held.questionId} is answered: a landing broke it`;
  const runs = actions.some((action) => action.kind === "afterLand" && action.payload.target === target);
  return runs ? `${opening(target)} until landing.afterLand has ended` : undefined;
}

/** The question that holds landings on some target because the command failed there; undefined where none is open. */
export function findHold(open: readonly Question[]): Question | undefined {
  return open.find(isHoldOnAny);
}

/** What `why` says of the command after a landing: where it ran, how it ended, what it holds and how that ends. */
export function describeAfterLand(action: Action | undefined, open: readonly Question[]): string[] {
  if (action?.kind !== "afterLand") return [];
  const { target, commit } = action.payload;
  const where = `on ${commit.slice(0, 10)}, which this landing has made of ${target}`;
  if (action.status === "dropped")
    return [`landing.afterLand was not run ${where}: ${action.problem ?? ""}`, ...describeHold(target, open)];
  if (action.status !== "done") {
    const problem = action.problem === null ? "" : ` (the last try: ${action.problem})`;
    return [`landing.afterLand is run ${where}${problem}; ${opening(target).toLowerCase()} until it has ended.`];
  }
  switch (action.result) {
    case "pass":
      return [`landing.afterLand ran ${where}, and passed.`];
    case "fail":
      return [`landing.afterLand ran ${where}, and failed; the landing stands.`, ...describeHold(target, open)];
    case "did_not_run":
      return [`landing.afterLand could not be run ${where}; the landing stands.`, ...describeHold(target, open)];
    default:
      return [];
  }
}

/** What is finished and waits for the end of somebody else's command, in the words of whoever asks about it. */
export function describeHeldLanding(actions: readonly Action[], open: readonly Question[]): string[] {
  const held = actions.find(({ kind, problem }) => kind === "land" && problem?.startsWith(HELD_BACK));
  if (!held) return [];
  const target = open.flatMap(({ text }) =>
    text.startsWith(HELD_BACK) ? [text.slice(HELD_BACK.length + 1).split(":")[0] ?? ""] : [],
  )[0];
  return [`Its landing waits: ${held.problem ?? ""}.`, ...(target === undefined ? [] : describeHold(target, open))];
}

function describeHold(target: string, open: readonly Question[]): string[] {
  const held = open.find((question) => isHold(question, target));
  if (!held) return ["Landings go on since then."];
  const { questionId } = held;
  return [
    `${opening(target)} until ${questionId} is answered ('overseer answer ${questionId} "${AFTER_LAND_OPTIONS[0]}"'), or until the command passes on a later commit of ${target}.`,
  ];
}

/** The action that runs it after that landing. */
export function afterLandKey({ target, commit }: Pick<LandedNow, "target" | "commit">): string {
  return `${AFTER_LAND}${target}:${commit}`;
}

/** Events after which a landing that was held back may go on. */
export function mayEndHold({ type, data }: EventOf): boolean {
  if (type === "question.answered" || type === "question.withdrawn") return true;
  return (type === "action.done" || type === "action.dropped") && data.actionId.startsWith(AFTER_LAND);
}

const AFTER_LAND = "afterLand:";

function isHoldOnAny({ status, workNodeId, text, options }: Question): boolean {
  if (status !== "open" || workNodeId !== null || options.join() !== AFTER_LAND_OPTIONS.join()) return false;
  return text.startsWith(HELD_BACK);
}

function isHold(question: Question, target: string): boolean {
  return isHoldOnAny(question) && question.text.startsWith(`${opening(target)}:`);
}

function opening(target: string): string {
  return `${HELD_BACK} ${target}`;
}
