/** Which channels a question is meant for, from the settings, its goal's origin and who lives. It only reads. */
import { listConfigured } from "#channels/recipients.ts";
import type { Config } from "#config/schema.ts";
import type { Question } from "#domain/model/question.ts";
import { isSession } from "#domain/plans/goal-agents.ts";
import type { ChannelChoice } from "#domain/reports/question-notice.ts";
import { channelsFor } from "#domain/reports/question-notice.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";

export async function choicesFor(
  store: Store,
  config: Pick<Config, "channels">,
  question: Question,
): Promise<readonly ChannelChoice[]> {
  const { goal, living } = await store.read({ goal: goalById(question.goalId ?? ""), living: livingAttempts() });
  return channelsFor(goal?.origin, listConfigured(config.channels), (session) =>
    living.some((one) => isSession(one, session)),
  );
}
