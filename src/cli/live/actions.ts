/**
 * Does what a person wants in the live view, exactly as the command of the same name would: the only part of the view that
 * changes anything. Each answers with a sentence; a refusal is a sentence too, with its next step.
 */
import { isFineLanding, landingLine } from "#cli/landing-line.ts";
import { stopLine } from "#cli/stop-line.ts";
import { findAgent, findReservation, resumeAgent, stopAgent } from "#control/agents.ts";
import { resumeGoal } from "#control/goals.ts";
import { nudge } from "#control/mail/send.ts";
import { giveAnswer } from "#control/questions.ts";
import { restart } from "#control/restart.ts";
import { acceptWork, rejectLanding } from "#control/review.ts";
import { unblockWork } from "#control/work.ts";
import type { World } from "#control/world.ts";
import { diskError, messageOf, OverseerError } from "#errors.ts";
import type { WorkContinuation } from "./continuation.ts";
import type { LiveIntent } from "./state.ts";

export type LiveDeed = Exclude<LiveIntent, { readonly kind: "leave" | "open" }>;

export interface DeedOutcome {
  readonly text: string;
  readonly isTrouble: boolean;
}

/** Never throws: what goes wrong is told. */
export async function performDeed(world: World, deed: LiveDeed): Promise<DeedOutcome> {
  try {
    return await perform(world, deed);
  } catch (error) {
    return { text: tellFailure(error), isTrouble: true };
  }
}

async function perform(world: World, deed: LiveDeed): Promise<DeedOutcome> {
  switch (deed.kind) {
    case "answer": {
      const { questionId, answer, toldAgent, unblocked } = await giveAnswer(world, deed.question, deed.words);
      const then = toldAgent !== null ? ` ${toldAgent} is told.` : unblocked ? " The work is in the queue again." : "";
      return fine(`Answered ${questionId}: ${answer}.${then}`);
    }
    case "accept": {
      const landed = await acceptWork(world, { what: deed.node, commit: deed.commit });
      if (isFineLanding(landed)) return fine(landingLine(landed));
      return { text: `${landingLine(landed)} Press w on it: it says what comes next.`, isTrouble: true };
    }
    case "reject": {
      const { outcome, node } = await rejectLanding(world, { what: deed.node, commit: deed.commit }, deed.reason);
      return fine(
        `${outcome === "returned" ? "Sent back to its agent:" : "Its agent has ended; dispatched again:"} ${node}.`,
      );
    }
    case "write": {
      const { to, attempt } = await nudge(world, deed.agent, { text: deed.text, severity: "hint" });
      return fine(`Your note waits for ${to}#${attempt}, which reads it at its next step.`);
    }
    case "continue":
      return fine(await letContinue(world, deed.continuation));
    case "stop": {
      const after = world.actor.startsWith("human:") ? "reserve" : "queue";
      await findAgent(world, `${deed.agent}#${deed.attempt}`); // settles what a killed command left, as 'stop' does
      const ended = await stopAgent(world, deed.attempt, null, after);
      return fine(stopLine(ended, await findReservation(world, ended)));
    }
  }
}

/** As the command of its sentence does. */
async function letContinue(world: World, { how, what }: WorkContinuation): Promise<string> {
  switch (how) {
    case "unblock":
      return `Unblocked ${await unblockWork(world, { node: what })}.`;
    case "restart": {
      const { agent, attempt, continues } = await restart(world, what, null);
      return `${agent}#${attempt} continues where #${continues} had ended.`;
    }
    case "resume": {
      const { agent, attempt } = await findAgent(world, what);
      await resumeAgent(world, attempt, null);
      return `Resumed ${agent}#${attempt}.`;
    }
    case "resume-goal":
      return `Resumed ${await resumeGoal(world, what)}.`;
  }
}

const fine = (text: string): DeedOutcome => ({ text, isTrouble: false });

/** The sentence and its next step. */
export function tellFailure(error: unknown): string {
  if (error instanceof OverseerError && error.code === "STORE_BUSY") {
    return "The database is held by another process; nothing was written. Try again.";
  }
  const known = error instanceof OverseerError ? error : diskError(error);
  return known
    ? `${known.message} ${known.hint}`
    : `${messageOf(error)} This is a fault in overseer; please report it.`;
}
