/**
 * What has landed on its way to the remote: asked for in the decision that lands it, so that no crash forgets it, and
 * tried until the remote has it. Where it does not get there a person is asked, once, and hears no more of it when it
 * has got there after all. The landing itself stands, whatever becomes of the push.
 */

import type { Moment } from "#domain/core/actor.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { actionDecided } from "#domain/model/action.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { PushWish } from "#domain/model/merge.ts";
import type { Question } from "#domain/model/question.ts";
import { endQuestion } from "#domain/model/question.ts";

/** Nobody's in particular: the work behind it is done, and what ends with that must not end this. */
export function pushDecided({ target, commit }: Omit<PushWish, "remote">, moment: Moment): NewEvent {
  const request = {
    actionId: `push:${target}:${commit}`,
    kind: "push",
    because: "landed",
    notBefore: moment.now,
    payload: { target, commit },
  } as const;
  return actionDecided(request, { now: moment.now, actor: "overseer" });
}

export type PushEnd =
  /** `already`: somebody else has brought it there. */
  { readonly kind: "pushed"; readonly already: boolean } | { readonly kind: "failed"; readonly detail: string };

/** What follows from a try, for the log and for people. */
export function afterPush(wish: PushWish, end: PushEnd, open: readonly Question[], moment: Moment): NewEvent[] {
  const { remote, target, commit } = wish;
  const asked = open.filter((question) => isAbout(question, wish));
  if (end.kind === "pushed") {
    const gone = asked.flatMap((question) => {
      const ended = endQuestion(question, question.questionId, { to: "withdrawn", reason: "it is there now" }, moment);
      return ended.ok ? ended.events : [];
    });
    const data = { remote, target, commit };
    return end.already && gone.length === 0
      ? []
      : [{ type: "remote.pushed", actor: moment.actor, because: "landed", data }, ...gone];
  }
  if (asked.length > 0) return [];
  const questionId = deriveId("q_", "push", remote, target, commit, moment.now);
  const text = `${opening(wish)}: ${end.detail}. It has landed here and stays so. Fix what is in the way; the push is retried automatically.`;
  return [
    { type: "remote.refused", actor: moment.actor, because: "push-failed", data: { ...wish, detail: end.detail } },
    {
      type: "question.asked",
      actor: moment.actor,
      because: "push-failed",
      data: { questionId, text, options: [] },
    },
  ];
}

function isAbout(question: Question, wish: PushWish): boolean {
  return question.status === "open" && question.workNodeId === null && question.text.startsWith(`${opening(wish)}:`);
}

function opening({ remote, target }: Pick<PushWish, "remote" | "target">): string {
  return `${target} could not be pushed to ${remote}`;
}
