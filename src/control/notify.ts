/** Who is told what, and whether it gets through; and a word to each of them to try it. */
import { sendNotice } from "#act/send-notice.ts";
import { tellKept } from "#act/tell-people.ts";
import { listRecipients, type Recipient } from "#channels/recipients.ts";
import type { Topic } from "#domain/model/news.ts";
import { type FailingChannel, listFailingChannels } from "#domain/reports/question-notice.ts";
import { OverseerError } from "#errors.ts";
import { openQuestions } from "#store/assignments.ts";
import { newsConditions } from "#store/news.ts";
import { nameOf } from "#sys/paths.ts";
import { clipWord } from "./id-word.ts";
import type { World } from "./world.ts";

export interface RecipientView {
  readonly name: string;
  readonly via: Recipient["via"];
  readonly hears: readonly Topic[];
  /** Minutes of the day, local time; null where there are none. */
  readonly quietHours: Recipient["quietHours"];
  /** What is kept for them, by subject. */
  readonly waiting: readonly string[];
  readonly lastToldAt: number | null;
  /** Since when nothing gets through, and why; null where it does. */
  readonly failingAt: number | null;
  readonly problem: string | null;
}

export async function recipients(world: World): Promise<RecipientView[]> {
  const config = await world.config();
  const { conditions, open } = await (await world.reader()).read({
    conditions: newsConditions(),
    open: openQuestions(),
  });
  const failing = listFailingChannels(open);
  return listRecipients(config.channels).map(({ name, via, hears, quietHours }) => {
    const known = conditions.find(({ channel }) => channel === name);
    const times = Object.values(known?.told ?? {});
    return {
      ...{ name, via, hears: [...hears], quietHours, waiting: known?.kept.map(({ subject }) => subject) ?? [] },
      lastToldAt: times.length === 0 ? null : Math.max(...times),
      ...(known?.failingSince ? { failingAt: known.failingSince, problem: known.problem } : failureOf(failing, name)),
    };
  });
}

function failureOf(failing: readonly FailingChannel[], name: string) {
  const one = failing.find(({ channel }) => channel === name);
  return { failingAt: one?.sinceAt ?? null, problem: one ? `a question: ${one.problem}` : null };
}

export interface TestOutcome {
  readonly name: string;
  readonly via: Recipient["via"];
  readonly ok: boolean;
  readonly detail: string;
}

/** A message to one of them, or to all; quiet hours do not count, since somebody asked for it. */
export async function tryRecipients(world: World, name?: string): Promise<TestOutcome[]> {
  const config = await world.config();
  const all = listRecipients(config.channels);
  const chosen = all.filter((one) => name === undefined || one.name === name);
  if (chosen.length === 0) {
    const message = name === undefined ? "Nobody is to be told." : `Nobody is called ${clipWord(name)} here.`;
    const names = all.map((one) => one.name).join(", ") || "nobody";
    throw new OverseerError(
      "not-found",
      "NO_RECIPIENT",
      message,
      `There is ${names}; see channels in .overseer/config.yaml.`,
    );
  }
  const project = config.project.name ?? nameOf(world.root.project);
  const text = "This is a test: messages of Overseer arrive here.";
  const outcomes: TestOutcome[] = [];
  for (const one of chosen) {
    const key = `test/${world.ids.next("")}/${one.name}`;
    const { ok, detail } = await sendNotice(world, one, {
      type: "news",
      key,
      project,
      title: "a test",
      text,
      news: [],
    });
    outcomes.push({ name: one.name, via: one.via, ok, detail });
  }
  await tellKept(world, new Set(outcomes.flatMap((one) => (one.ok ? [one.name] : []))));
  return outcomes;
}
