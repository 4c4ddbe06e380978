/**
 * Tells people what happened: reads the log for each who is to be told, sends what is due by their channel, and writes
 * down what came of it. What is news and when it is told is domain/reports/news.ts. Safe to repeat: a crash between the
 * message and its event sends it once more under the same key.
 */
import type { NewsNotice } from "#channels/channel.ts";
import { isQuietFor, listRecipients, type Recipient } from "#channels/recipients.ts";
import type { Config } from "#config/schema.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { KeptNews, NewsCondition } from "#domain/model/news.ts";
import {
  findNaming,
  type News,
  newsOf,
  newsOfWaiting,
  planNews,
  renderNews,
  safeModeNews,
} from "#domain/reports/news.ts";
import { configChanges, newsAfter, newsConditions } from "#store/news.ts";
import type { Store } from "#store/store.ts";
import { endOfLog } from "#store/tick.ts";
import { nodesAtStandstill } from "#store/work.ts";
import { nameOf } from "#sys/paths.ts";
import type { ActParts } from "./parts.ts";
import { safeModeIn } from "./safe-mode.ts";
import { sendNotice } from "./send-notice.ts";

export interface ToldPerson {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly subjects: readonly string[];
}

/** Read at once; the rest follows in the next turn. */
const NEWS_AT_ONCE = 500;
/** How far the log may run ahead of what was read for somebody who hears nothing. */
const FAR_BEHIND = 1_000;

export async function tellPeople(parts: ActParts): Promise<readonly ToldPerson[]> {
  const config = await parts.config();
  // The terminal shows it to whoever looks.
  const recipients = listRecipients(config.channels).filter(({ via }) => via !== "terminal");
  if (recipients.length === 0) return [];
  const told = await tellSafeMode(parts, config, recipients);
  const store = await parts.writer();
  const { conditions, end } = await store.read({ conditions: newsConditions(), end: endOfLog() });
  for (const recipient of recipients) {
    const known = conditions.find(({ channel }) => channel === recipient.name);
    const one = await tellOne(parts, store, config, recipient, known ?? (await begin(store, recipient, end)), end);
    if (one) told.push(one);
  }
  return told;
}

/** Something else got through to them: what was kept because nothing did is told without waiting for its next try. */
export async function tellKept(parts: ActParts, names: ReadonlySet<string>): Promise<void> {
  const store = await parts.writer();
  const { conditions, end } = await store.read({ conditions: newsConditions(), end: endOfLog() });
  const failing = conditions.filter(({ channel, failures }) => failures > 0 && names.has(channel));
  if (failing.length === 0) return;
  const config = await parts.config();
  const recipients = listRecipients(config.channels);
  for (const known of failing) {
    const recipient = recipients.find(({ name }) => name === known.channel);
    if (recipient) await tellOne(parts, store, config, recipient, { ...known, failures: 0 }, end);
  }
}

type KnownSoFar = Pick<NewsCondition, "cursor" | "kept" | "told" | "failures" | "updatedAt"> & {
  /** What is told from the table and not from the log. */
  readonly first?: readonly News[];
};

/** What happened before somebody was named to be told is no news to them, except what waits for a person still. */
async function begin(store: Store, { name }: Recipient, end: number): Promise<KnownSoFar> {
  const { changed, nodes } = await store.read({ changed: configChanges(), nodes: nodesAtStandstill() });
  const cursor = Math.min(end, findNaming(changed, name) ?? end);
  const first = nodes.flatMap((node) => newsOfWaiting(node) ?? []);
  return { cursor, kept: [], told: {}, failures: 0, updatedAt: 0, first };
}

const NOTHING_TOLD = { ok: true, detail: "", subjects: [] } as const;

async function tellOne(
  parts: ActParts,
  store: Store,
  config: Config,
  recipient: Recipient,
  known: KnownSoFar,
  end: number,
): Promise<ToldPerson | undefined> {
  const { name } = recipient;
  const { events } = await store.read({ events: newsAfter(known.cursor, NEWS_AT_ONCE) });
  const cursor = events.length < NEWS_AT_ONCE ? Math.max(end, known.cursor) : (events.at(-1)?.seq ?? known.cursor);
  const isKnown = (subject: string) =>
    known.told[subject] !== undefined || known.kept.some((one) => one.subject === subject);
  const all = [...(known.first ?? []), ...events.flatMap((event) => newsOf(event) ?? [])];
  // Most of what ends was never told of.
  const fresh = all.filter(
    ({ ends, subject }) => !ends || isKnown(subject) || all.some((one) => one.subject === subject && !one.ends),
  );
  const now = parts.clock.now();
  const policy = { hears: recipient.hears, bundleMs: config.channels.bundle, quiet: isQuietFor(recipient, now) };
  const { send, keep } = planNews(known, fresh, policy, now);
  if (send.length === 0) {
    const isNew = keep.length !== known.kept.length || fresh.some(({ topic }) => recipient.hears.has(topic));
    if (known.first !== undefined) {
      await record(parts, store, "first-look", { ...NOTHING_TOLD, channel: name, cursor, kept: keep });
    } else if (isNew || cursor - known.cursor >= FAR_BEHIND) {
      await record(parts, store, "kept-for-later", { ...NOTHING_TOLD, channel: name, cursor, kept: keep });
    }
    return undefined;
  }
  const { ok, detail } = await sendNotice(parts, recipient, noticeOf(parts, config, `${name}/${cursor}`, send));
  const subjects = send.map(({ subject }) => subject);
  const kept = ok ? keep : [...send, ...keep];
  await record(parts, store, ok ? "told" : "not-told", { channel: name, cursor, ok, detail, subjects, kept });
  return { name, ok, detail, subjects };
}

function noticeOf(parts: ActParts, config: Config, key: string, news: readonly KeptNews[]): NewsNotice {
  const { title, body } = renderNews(news);
  return { type: "news", key, project: config.project.name ?? nameOf(parts.root.project), title, text: body, news };
}

async function record(
  parts: ActParts,
  store: Store,
  because: string,
  data: EventOf<"news.told">["data"],
): Promise<void> {
  const event = { type: "news.told", actor: "overseer", because, data } as const;
  await store.commit({ at: parts.clock.now(), reads: {}, decide: () => accept([event], null) });
}

/** While the store is in doubt nothing is written to it: who was told stands in a file beside the one that says so. */
async function tellSafeMode(parts: ActParts, config: Config, recipients: readonly Recipient[]): Promise<ToldPerson[]> {
  const { root, files } = parts;
  const safeMode = safeModeIn(root.state);
  if (!safeMode) return [];
  const path = `${root.state}/run/safe-mode-told`;
  const known = ((await files.read(path)) ?? "").split("\n");
  const told = new Set(known[0] === safeMode.since ? known.slice(1) : []);
  const outcomes: ToldPerson[] = [];
  for (const recipient of recipients) {
    const { name, hears } = recipient;
    if (told.has(name) || !hears.has("safe-mode")) continue;
    const news = [safeModeNews(safeMode, parts.clock.now())];
    const { ok, detail } = await sendNotice(
      parts,
      recipient,
      noticeOf(parts, config, `${name}/${safeMode.since}`, news),
    );
    if (ok) told.add(name);
    outcomes.push({ name, ok, detail, subjects: ["safe-mode"] });
  }
  if (outcomes.some(({ ok }) => ok)) {
    await files.write(path, [safeMode.since, ...told, ""].join("\n"), { mode: 0o600 });
  }
  return outcomes;
}
