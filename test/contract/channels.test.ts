/**
 * The contract of a channel, kept by every entry of the list: a name of its own, and an outcome instead of an error
 * whatever stands in its way.
 */
import { describe, expect, test } from "bun:test";
import type { ChannelParts, QuestionNotice } from "#channels/channel.ts";
import { CHANNELS, listConfigured } from "#channels/list.ts";
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
};

const EVERYTHING_FAILS = "{terminal: true, command: /no/such/program, webhook: 'http://127.0.0.1:1/', timeout: 5s}";

function partsFor(channels: string, post: ChannelParts["post"]): ChannelParts {
  const { root, clock, ids, files } = worldOn(memoryStore());
  const settings = parseConfig(`channels: ${channels}`, "test.yaml").channels;
  return {
    root: { ...root, project: "/" },
    env: {},
    programEnv: {},
    settings,
    clock,
    ids,
    files,
    exec: systemExec(),
    post,
  };
}

test("ESC-2: names are the channels' own, and a session is chosen by no setting", () => {
  expect(new Set(CHANNELS.map(({ name }) => name)).size).toBe(CHANNELS.length);
  const { channels } = parseConfig(`channels: ${EVERYTHING_FAILS}`, "test.yaml");
  expect(listConfigured(channels)).toEqual(["terminal", "command", "webhook"]);
});

describe.each(CHANNELS.map((channel) => [channel.name, channel] as const))(
  "ESC-1: the channel %s",
  (_name, channel) => {
    test("answers with an outcome where nothing is configured and nobody is there", async () => {
      const parts = partsFor("{terminal: false}", async () => false);
      const { ok, detail } = await channel.send(NOTICE, parts);
      expect(detail).toEqual(ok ? "" : expect.stringMatching(/^.{1,300}$/));
    });

    test("answers with one line where the other side does not work, however often it is tried", async () => {
      const parts = partsFor(EVERYTHING_FAILS, async () => false);
      for (const outcome of [await channel.send(NOTICE, parts), await channel.send(NOTICE, parts)]) {
        expect(outcome).toEqual({
          ok: channel.name === "terminal",
          detail: channel.name === "terminal" ? "" : expect.stringMatching(/^.{1,300}$/),
          acknowledged: false,
        });
      }
    });
  },
);

test("GOAL-4: a session gets the question, its options and how it is answered", async () => {
  const posted: string[] = [];
  const parts = partsFor("{}", async (session, text) => posted.push(`${session}: ${text}`) > 0);
  const session = CHANNELS.find(({ name }) => name === "session");
  expect(await session?.send({ ...NOTICE, round: 1 }, parts)).toMatchObject({ ok: true });
  for (const words of ["lead: Still open: ", "Which?", "2. b", NOTICE.answer]) expect(posted[0]).toContain(words);
});
