/** The agent or session that wanted the goal: the question goes into its inbox. Chosen by the goal's origin alone. */
import { inline, renderFenced } from "#domain/core/quote.ts";
import type { Channel, QuestionNotice } from "./channel.ts";
import { notSent, SENT } from "./channel.ts";

export const session: Channel = {
  kind: "session",
  evenOnHold: true,
  async send(notice, _to, { post }) {
    if (notice.type !== "question") return notSent("a session hears of its questions only");
    const to = notice.origin?.deliveryContext?.session ?? notice.origin?.session;
    return to !== undefined && (await post(to, render(notice))) ? SENT : notSent("the session is gone");
  },
};

function render(notice: QuestionNotice): string {
  const about = notice.workNodeId ? ` about ${inline(`${notice.goalId}/${notice.workNodeId}`)}` : "";
  const options = notice.options.map((option, index) => `${index + 1}. ${option}`).join("\n");
  return [
    `${notice.round > 0 ? "Still open: " : ""}${inline(notice.askedBy, 60)} has a question${about} for whoever wanted this goal (${notice.questionId}):`,
    renderFenced([notice.text, options].filter(Boolean).join("\n\n"), 4_000) ?? "",
    `A person answers with \`${notice.answer}\`; pass it on.`,
  ].join("\n\n");
}
