/**
 * The contract of a channel, kept by every entry of the list: a name of its own, and an outcome instead of an error
 * whatever stands in its way.
 */
import { describe, expect, test } from "bun:test";
import type { ChannelParts, NewsNotice, QuestionNotice } from "#channels/channel.ts";
import { CHANNELS } from "#channels/list.ts";
import { listConfigured, listRecipients } from "#channels/recipients.ts";
import { parseConfig } from "#config/load.ts";
import { memoryStore } from "#store/memory.ts";
import { systemExec } from "#sys/exec.ts";
import { worldOn } from "../support/world.ts";

const NOTICE: QuestionNotice = {
  ...{
    type: "question",
    key: "q_1/0/x",
    round: 0,
    project: "p",
    questionId: "q_1",
    goalId: "goal_A",
    workNodeId: "T1",
  },
  ...{ text: "Which?", options: ["a", "b"], askedBy: "agent:a#1", askedAt: "2026-01-05T09:00:00.000Z" },
  ...{ origin: { kind: "session", session: "lead" }, answer: "overseer answer q_1 <choice or text>" },
  token: null,
};

const NEWS: NewsNotice = {
  type: "news",
  key: "x/1",
  project: "p",
  title: "a goal",
  text: "Goal X is reached.",
  news: [],
};

/** Addresses and programs that do not work, for whoever needs one. */
const NOWHERE: Readonly<Record<string, string>> = {
  ...{ command: "/no/such/program", email: "/no/such/program" },
  ...{ webhook: "http://127.0.0.1:1/", slack: "http://127.0.0.1:1/", ntfy: "http://127.0.0.1:1/" },
};

function partsFor(post: ChannelParts["post"]): ChannelParts {
  const { root, clock, ids, files } = worldOn(memoryStore());
  return {
    ...{ root: { ...root, project: "/" }, env: { PATH: "/no/such/place" }, programEnv: {}, timeoutMs: 5_000 },
    ...{ clock, ids, files, exec: systemExec(), post },
  };
}

test("ESC-2 NOTIFY-1: every kind is one channel, and who is told is named once, the old keys first", () => {
  expect(new Set(CHANNELS.map(({ kind }) => kind)).size).toBe(CHANNELS.length);
  const people =
    "{ada: {via: slack, to: 'http://127.0.0.1:1/', hears: [goal]}, bob: {via: desktop, quietHours: '22:00-07:00'}}";
  const { channels } = parseConfig(
    `channels: {terminal: true, command: x, webhook: 'http://127.0.0.1:1/', quietHours: '13:00-14:30', people: ${people}}`,
    "test.yaml",
  );
  const all = listRecipients(channels);
  expect(all.map(({ name, via }) => `${name} ${via}`)).toEqual([
    ...["terminal terminal", "command command", "webhook webhook", "ada slack", "bob desktop"],
  ]);
  expect(all.map(({ quietHours }) => quietHours)).toEqual([
    ...[null, { from: 780, to: 870 }, { from: 780, to: 870 }, { from: 780, to: 870 }, { from: 1320, to: 420 }],
  ]);
  expect(listConfigured(channels)).toEqual(["terminal", "command", "webhook", "bob"]);
});

test.each([
  "{ada: {via: slack}}",
  "{ada: {via: ntfy, to: nowhere}}",
  "{ada: {via: email}}",
  "{webhook: {via: desktop}}",
])("NOTIFY-1: people: %s is refused when it is read", (people) => {
  expect(() => parseConfig(`channels: {people: ${people}}`, "test.yaml")).toThrow(/channels\.people/);
});

describe.each(CHANNELS.map((channel) => [channel.kind, channel] as const))(
  "ESC-1 NOTIFY-1: the channel %s",
  (kind, channel) => {
    test("answers with an outcome where nothing is configured and nobody is there", async () => {
      const parts = partsFor(async () => false);
      for (const notice of [NOTICE, NEWS]) {
        const { ok, detail } = await channel.send(notice, null, parts);
        expect(detail).toEqual(ok ? "" : expect.stringMatching(/^.{1,300}$/));
      }
    });

    test("answers with one line where the other side does not work, however often it is tried", async () => {
      const parts = partsFor(async () => false);
      const to = NOWHERE[kind] ?? null;
      for (const notice of [NOTICE, NOTICE, NEWS]) {
        expect(await channel.send(notice, to, parts)).toEqual({
          ok: kind === "terminal",
          detail: kind === "terminal" ? "" : expect.stringMatching(/^.{1,300}$/),
          acknowledged: false,
        });
      }
    });
  },
);

test("GOAL-4: a session gets the question, its options and how it is answered", async () => {
  const posted: string[] = [];
  const parts = partsFor(async (session, text) => posted.push(`${session}: ${text}`) > 0);
  const session = CHANNELS.find(({ kind }) => kind === "session");
  expect(await session?.send({ ...NOTICE, round: 1 }, null, parts)).toMatchObject({ ok: true });
  for (const words of ["lead: Still open: ", "Which?", "2. b", NOTICE.answer]) expect(posted[0]).toContain(words);
});
