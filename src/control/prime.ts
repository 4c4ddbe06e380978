/**
 * `prime`: the context somebody needs to continue (PRIME-1). An agent gets its own assignment, what waits for it, what it
 * did last and what was left behind on its node; whoever leads gets where the fleet stands. To the agent itself its
 * messages are handed over here, with a receipt; to anybody else they are only named.
 */
import { attemptDir } from "#act/attempt-files.ts";
import { renderActivity, renderFleet, renderHad, renderLeft, renderWaiting } from "#domain/briefing/prime.ts";
import { offerLearnings } from "#domain/learnings/offer.ts";
import { partyOf } from "#domain/learnings/relate.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel, isLiving } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { nodeKey } from "#domain/model/work.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { crystallizationById, openQuestions } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import { listLearnings } from "#store/learnings.ts";
import { messagesLike, waitingMessages } from "#store/messages.ts";
import { signalsOf } from "#store/signals.ts";
import type { ReadResults } from "#store/store.ts";
import { nodeById } from "#store/work.ts";
import { agents } from "./agents.ts";
import { inject } from "./mail/inject.ts";
import { resolveAgent } from "./names.ts";
import { reviews } from "./review.ts";
import { goals } from "./views.ts";
import type { World } from "./world.ts";

export interface Prime {
  readonly agent: string | null;
  readonly attempt: number | null;
  readonly text: string;
}

/** Mail that is named again. */
const MAIL_HAD = 10;
/** So many of the highest rank are looked at. */
const BEST_LEARNINGS = 500;
/** How far back the last activity is looked for. */
const RECENT_SIGNALS = 200;

export async function prime(
  world: World,
  wish: { readonly agent?: string; readonly compact: boolean },
): Promise<Prime> {
  const attempt = await attemptMeant(world, wish.agent);
  if (!attempt) return { agent: null, attempt: null, text: await fleetText(world, wish.compact) };
  return { agent: attempt.agent, attempt: attempt.attempt, text: await agentText(world, attempt, wish.compact) };
}

/** The agent that asks, or the one a person named; undefined for whoever leads. */
async function attemptMeant(world: World, name: string | undefined): Promise<Attempt | undefined> {
  const store = await world.reader();
  if (name !== undefined) {
    const named = await resolveAgent(store, name);
    if (isLiving(named)) return named;
    const message = `${attemptLabel(named)} has ended; only an agent at work can be primed.`;
    throw new OverseerError("conflict", "AGENT_ENDED", message, "'overseer agents' lists those at work.");
  }
  const own = Number(world.env.OVERSEER_ATTEMPT ?? 0);
  if (own <= 0) return undefined;
  const { attempt } = await store.read({ attempt: attemptByNumber(own) });
  if (attempt && isLiving(attempt)) return attempt;
  throw new OverseerError(
    "conflict",
    "ATTEMPT_FENCED",
    `Attempt #${own} has ended; there is nothing to continue.`,
    "Nothing to do: another attempt has taken over, or it was stopped.",
  );
}

async function agentText(world: World, attempt: Attempt, compact: boolean): Promise<string> {
  const store = await world.reader();
  const own = Number(world.env.OVERSEER_ATTEMPT ?? 0) === attempt.attempt;
  const handed = own ? (await inject(world)).text : "";
  const { waiting, had, signals, node } = await store.read({
    waiting: waitingMessages(attempt.attempt),
    had: messagesLike({ to: attempt.agent, kind: "mail", limit: MAIL_HAD }),
    signals: signalsOf(attempt.attempt, RECENT_SIGNALS),
    node: nodeById(attempt.goalId, attempt.workNodeId),
  });
  const id = node?.crystallizationId;
  const left = id ? (await store.read({ one: crystallizationById(id) })).one : undefined;
  const page = await world.files.read(`${attemptDir(world, attempt.attempt)}/prime.md`);
  const parts = [
    page?.trimEnd() ?? `You are ${attemptLabel(attempt)} on ${nodeKey(attempt.goalId, attempt.workNodeId)}.`,
    handed === "" ? "" : `## Your messages\n\n${handed}`,
    await offerTo(world, attempt, own),
    renderWaiting(waiting.filter((message) => message.status === "queued")),
    renderHad(had.filter((message) => message.status === "seen" && message.attempt === attempt.attempt)),
    ...(compact ? [] : [renderActivity(signals), renderLeft(left)]),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/**
 * What others learned and it may need (SYNC-3). To the agent itself it is offered, and the log says so; anybody else only
 * sees what it would get.
 */
async function offerTo(world: World, attempt: Attempt, own: boolean): Promise<string> {
  const { sync } = await world.config();
  if (!sync.enabled) return "";
  const { goalId, workNodeId } = attempt;
  const reads = {
    node: nodeById(goalId, workNodeId),
    goal: goalById(goalId),
    learnings: listLearnings({ all: false, limit: BEST_LEARNINGS }),
  };
  const offer = ({ node, goal, learnings }: ReadResults<typeof reads>) =>
    offerLearnings(learnings, partyOf(attempt, node, goal), sync.minScore);
  const offered = offer(await (await world.reader()).read(reads));
  if (!own || offered.events.length === 0) return offered.text;
  const decide = (seen: ReadResults<typeof reads>) => {
    const { text, events } = offer(seen);
    return accept(events, text);
  };
  return orThrow(await (await world.writer()).commit({ at: world.clock.now(), reads, decide }));
}

async function fleetText(world: World, compact: boolean): Promise<string> {
  const rows = await goals(world);
  const living = await agents(world);
  const { questions } = await (await world.reader()).read({ questions: openQuestions() });
  return renderFleet(
    {
      goals: rows.map((row) => ({
        goalId: row.goalId,
        title: row.title,
        status: row.status,
        percent: row.progress.percent,
        blocked: row.blocked,
      })),
      agents: living.map((one) => ({
        label: attemptLabel(one),
        seen: one.seen,
        work: nodeKey(one.goalId, one.workNodeId),
      })),
      questions: questions.map(({ questionId, text }) => ({ questionId, text })),
      reviews: await reviews(world),
    },
    compact,
  );
}
