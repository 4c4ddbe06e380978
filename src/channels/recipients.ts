/**
 * Who is told, of what and how, from the settings: the terminal, the program and the address that `channels` names
 * itself, and everybody under `channels.people`. The log keeps a recipient by name.
 */
import type { Config } from "#config/schema.ts";
import type { Topic } from "#domain/model/news.ts";
import { TOPICS } from "#domain/model/news.ts";
import type { ChannelName } from "#domain/model/question.ts";
import { isQuiet, parseQuietHours, type QuietHours } from "#domain/reports/news.ts";
import type { ChannelKind } from "./channel.ts";

export interface Recipient {
  readonly name: ChannelName;
  readonly via: ChannelKind;
  /** The address or program; null where the channel needs none. */
  readonly to: string | null;
  readonly hears: ReadonlySet<Topic>;
  readonly quietHours: QuietHours | null;
}

/** In the order in which they are told. A session is chosen by the origin of a goal, never here. */
export function listRecipients(settings: Config["channels"]): readonly Recipient[] {
  const { terminal, command, webhook, people } = settings;
  const quietHours = parseQuietHours(settings.quietHours);
  const everything = { hears: new Set(TOPICS), quietHours };
  const own: Recipient[] = [
    ...(terminal
      ? [{ name: "terminal", via: "terminal", to: null, hears: everything.hears, quietHours: null } as const]
      : []),
    ...(command === null ? [] : [{ name: "command", via: "command", to: command, ...everything } as const]),
    ...(webhook === null ? [] : [{ name: "webhook", via: "webhook", to: webhook, ...everything } as const]),
  ];
  const others = Object.entries(people).map(([name, one]) => ({
    ...{ name, via: one.via, to: one.to, hears: new Set(one.hears) },
    quietHours: parseQuietHours(one.quietHours) ?? quietHours,
  }));
  return [...own, ...others];
}

/** Whether it is quiet for them now, by the clock on this machine's wall. */
export function isQuietFor({ quietHours }: Pick<Recipient, "quietHours">, now: number): boolean {
  const at = new Date(now);
  return isQuiet(quietHours, at.getHours() * 60 + at.getMinutes());
}

/** The names of those who hear of questions. */
export function listConfigured(settings: Config["channels"]): readonly ChannelName[] {
  return listRecipients(settings)
    .filter(({ hears }) => hears.has("question"))
    .map(({ name }) => name);
}
