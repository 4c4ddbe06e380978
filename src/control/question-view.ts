/** A question as people see it: which channels are meant for it, and whether anybody can have seen it. It only reads. */
import { choicesFor } from "#act/channel-choices.ts";
import type { Config } from "#config/schema.ts";
import type { Question } from "#domain/model/question.ts";
import type { ChannelChoice, Reach } from "#domain/reports/question-notice.ts";
import { reachOf } from "#domain/reports/question-notice.ts";
import { questionNumber } from "#store/assignments.ts";
import type { Store } from "#store/store.ts";

export interface QuestionView extends Question {
  /** Its own for ever, in the order of asking; `answer <number>` means it. */
  readonly number: number;
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
  const { number } = await store.read({ number: questionNumber(question) });
  return { ...question, number, channels, reach: reachOf(question, channels) };
}
