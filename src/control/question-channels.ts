/** Which channels a question is meant for, from the configuration, its goal's origin and who lives. It only reads. */
import type { Config } from "#config/schema.ts";
import type { Question } from "#domain/model/question.ts";
import { isSession } from "#domain/plans/goal-agents.ts";
import type { ChannelChoice, Reach } from "#domain/reports/question-notice.ts";
import { channelsFor, reachOf } from "#domain/reports/question-notice.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";

export interface QuestionView extends Question {
  readonly channels: readonly ChannelChoice[];
  /** Whether anybody can have seen it. */
  readonly reach: Reach;
}

export async function questionView(
  store: Store,
  config: Pick<Config, "channels">,
  question: Question,
): Promise<QuestionView> {
  const channels = await choicesFor(store, config, question);
  return { ...question, channels, reach: reachOf(question, channels) };
}

export async function choicesFor(
  store: Store,
  config: Pick<Config, "channels">,
  question: Question,
): Promise<readonly ChannelChoice[]> {
  const { goal, living } = await store.read({ goal: goalById(question.goalId ?? ""), living: livingAttempts() });
  const { terminal, command, webhook } = config.channels;
  const configured = { terminal, command: command !== null, webhook: webhook !== null };
  return channelsFor(goal?.origin, configured, (session) => living.some((one) => isSession(one, session)));
}
