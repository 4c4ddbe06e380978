/** NOTIFY-1: people are told by real programs and a real server on this machine, and their answers come back, once. */
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ANSWER_SECRET, ANSWER_WITHIN_MS, signAnswerToken } from "#act/answer-token.ts";
import { notifyDue } from "#act/notify.ts";
import { enterSafeMode } from "#act/safe-mode.ts";
import { tellPeople } from "#act/tell-people.ts";
import type { NewsNotice, QuestionNotice } from "#channels/channel.ts";
import { readSecret } from "#channels/secret.ts";
import { parseConfig } from "#config/load.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import { askQuestion } from "#domain/model/question.ts";
import { memoryStore } from "#store/memory.ts";
import { systemExec } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import { addGoal, addPlan, planned } from "../../test/support/samples.ts";
import { tempDir } from "../../test/support/temp.ts";
import { worldOn } from "../../test/support/world.ts";
import { answerByToken, takeReturnedAnswer } from "./answer-by-token.ts";
import * as goals from "./goals.ts";
import { recipients, tryRecipients } from "./notify.ts";
import * as questions from "./questions.ts";
import { readFleetStatus } from "./status.ts";
import type { World } from "./world.ts";

const MINUTE = 60_000;

/** A world on a real directory under these channels; whoever is told has been met already. */
async function worldWith(channels: object) {
  const store = memoryStore();
  const base = worldOn(store);
  const config = parseConfig(`channels: ${JSON.stringify(channels)}`, "test.yaml");
  const dir = tempDir("people-");
  const files = systemFiles();
  const world = {
    ...base,
    ...{ exec: systemExec(), files, env: { PATH: process.env.PATH ?? "" }, config: async () => config },
    settings: async () => ({ config, files, hold: null, keep: async () => undefined }),
    root: { ...base.root, project: dir, state: `${dir}/state` },
    readNow: (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : undefined),
  };
  mkdirSync(`${dir}/state/run`, { recursive: true });
  await tellPeople(world);
  const log = async (type: string) => (await store.log({ after: 0, limit: 1_000 })).filter((one) => one.type === type);
  return { world, store, log };
}

/** The same world under other channels. */
function under<T extends Pick<World, "config" | "settings" | "files">>(world: T, channels: object): T {
  const config = parseConfig(`channels: ${JSON.stringify(channels)}`, "test.yaml");
  const { files } = world;
  return {
    ...world,
    config: async () => config,
    settings: async () => ({ config, files, hold: null, keep: async () => undefined }),
  };
}
type Ground = Awaited<ReturnType<typeof worldWith>>;

async function reached({ world, store }: Ground, title: string): Promise<string> {
  const goalId = await goals.create(world, { title });
  const event = { type: "goal.completed", actor: "overseer", goalId, because: "x", data: { reason: null } } as const;
  await store.commit({ at: world.clock.now(), reads: {}, decide: () => accept([event], null) });
  return goalId;
}

async function ask({ world, store }: Ground, questionId = "q_1"): Promise<void> {
  const moment = { now: world.clock.now(), actor: "agent:builder-1#4" } as const;
  const wanted = { questionId, text: `Which calendar (${questionId})?`, options: ["Gregorian", "Julian"] };
  await store.commit({ at: moment.now, reads: {}, decide: () => askQuestion(undefined, wanted, moment) });
}

function program(lines: string): { readonly path: string; said(): string } {
  const dir = tempDir("told-");
  const path = join(dir, "tell");
  writeFileSync(path, `#!/bin/sh\n${lines.replaceAll("OUT", `'${dir}/out'`)}\n`);
  chmodSync(path, 0o755);
  return { path, said: () => (existsSync(`${dir}/out`) ? readFileSync(`${dir}/out`, "utf8") : "") };
}

const servers: { stop(force: boolean): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

function address(answer: (text: string, count: number) => Response) {
  const received: { readonly path: string; readonly headers: Headers; readonly text: string }[] = [];
  const server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request) {
      const text = await request.text();
      received.push({ path: new URL(request.url).pathname, headers: request.headers, text });
      return answer(text, received.length);
    },
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${server.port}`, received };
}

describe("NOTIFY-1: news", () => {
  test("go out once, together, by every kind of channel to whoever hears of them", async () => {
    const { url, received } = address(() => new Response("ok"));
    const mail = program("cat >> OUT");
    const ground = await worldWith({
      ...{ terminal: true, webhook: `${url}/hook` },
      people: {
        sly: { via: "slack", to: `${url}/slack` },
        nat: { via: "ntfy", to: `${url}/topic` },
        eve: { via: "email", to: mail.path },
        bo: { via: "ntfy", to: `${url}/budget`, hears: ["budget"] },
      },
    });
    const first = await reached(ground, "Dates");
    const second = await reached(ground, "Times");
    await tellPeople(ground.world);
    await tellPeople(ground.world);
    expect(received.map(({ path }) => path)).toEqual(["/hook", "/slack", "/topic"]);
    const [hook, slack, ntfy] = received;
    const notice = JSON.parse(hook?.text ?? "") as NewsNotice;
    expect(notice).toMatchObject({ type: "news", title: expect.stringContaining("2 news") });
    expect(notice.news.map(({ subject }) => subject)).toEqual([`goal ${first}`, `goal ${second}`]);
    expect(JSON.parse(slack?.text ?? "").text).toContain(`Goal ${first} is reached.\nGoal ${second} is reached.`);
    expect(ntfy?.text).toContain(`Goal ${second} is reached.`);
    expect(mail.said()).toMatch(/^Subject: .*2 news: .*\nContent-Type: text\/plain; charset=utf-8\n\nGoal /);
    expect((await readFleetStatus(ground.world)).standstills.filter(({ kind }) => kind === "channel")).toEqual([]);
  });

  test("of one subject wait for the quiet time; a channel that fails is tried again and seen to fail", async () => {
    const { url, received } = address((_text, count) => new Response("", { status: count === 2 ? 503 : 200 }));
    const ground = await worldWith({ webhook: url });
    const { world, store } = ground;
    const at = () => world.clock.now();
    const tripped = { account: "a/default", until: at() + MINUTE, trips: 1 };
    const about = { actor: "overseer", because: "x" } as const;
    const commit = (event: NewEvent) => store.commit({ at: at(), reads: {}, decide: () => accept([event], null) });
    await commit({ ...about, type: "quota.tripped", data: tripped });
    await tellPeople(world);
    await commit({ ...about, type: "quota.restored", data: { account: "a/default", attempts: [] } });
    await tellPeople(world);
    expect(received).toHaveLength(1);
    expect((await recipients(world)).find(({ name }) => name === "webhook")?.waiting).toEqual(["quota a/default"]);
    await world.clock.advance(10 * MINUTE);
    await tellPeople(world); // answered 503
    expect(received).toHaveLength(2);
    const failing = await readFleetStatus(world);
    expect(failing.standstills).toMatchObject([{ kind: "channel", text: expect.stringContaining("answered 503") }]);
    await tellPeople(world);
    expect(received).toHaveLength(2);
    await world.clock.advance(MINUTE);
    await tellPeople(world);
    expect(received[2]?.text).toContain("The quota of a/default is back.");
    expect((await readFleetStatus(world)).standstills).toEqual([]);
  });

  test("somebody who is named later hears what happened since, and what waits for a person then", async () => {
    const { url, received } = address(() => new Response("ok"));
    const ground = await worldWith({ terminal: false });
    const before = await reached(ground, "Before");
    await addGoal(ground.store, "goal_R");
    await addPlan(ground.store, "goal_R", [planned("P1", { children: [planned("T1")] })]);
    const about = { actor: "overseer", because: "x", goalId: "goal_R", nodeId: "T1" } as const;
    const claimed = { commit: "c0ffee", base: "0", branch: null, noChangeReason: null, summary: "" };
    const waiting = { commit: "c0ffee", for: "review", detail: "waiting for review", files: [] } as const;
    const ntfy = { via: "ntfy", to: url };
    const changes = [{ key: "channels.people", from: {}, to: { ada: ntfy } }];
    const commit = (event: NewEvent) =>
      ground.store.commit({ at: ground.world.clock.now(), reads: {}, decide: () => accept([event], null) });
    await commit({ ...about, type: "work.started", data: { reason: null } });
    const word = { ...claimed, evidence: {}, crystallizationId: null };
    await commit({ ...about, type: "work.claimed", data: word as unknown as EventOf<"work.claimed">["data"] });
    await commit({ ...about, type: "landing.waiting", data: waiting });
    await commit({ type: "config.changed", actor: "overseer", because: "file-changed", data: { changes } });
    const world = under(ground.world, { terminal: false, people: { ada: ntfy } });
    const since = await reached(ground, "Since");
    await tellPeople(world);
    expect(received).toHaveLength(1);
    expect(received[0]?.text).toContain(`Goal ${since} is reached.`);
    expect(received[0]?.text).toContain("goal_R/T1 waits for your review");
    expect(received[0]?.text).not.toContain(before);
  });

  test("NOTIFY-1: what gets through, a question or a test, brings what was kept at once; who is named no more is not missed", async () => {
    let works = false;
    const { url, received } = address(() => new Response("", { status: works ? 200 : 503 }));
    const ground = await worldWith({ terminal: false, webhook: url });
    const { world } = ground;
    const missed = async (one: typeof world) =>
      (await readFleetStatus(one)).standstills.flatMap(({ kind, text }) => (kind === "channel" ? [text] : []));
    const goalId = await reached(ground, "Dates");
    await tellPeople(world);
    expect(await missed(world)).toEqual([expect.stringContaining("(try it: overseer notify test webhook)")]);
    expect(await missed(under(world, { terminal: false }))).toEqual([]);
    works = true;
    await ask(ground);
    await notifyDue(world);
    expect(received.at(-1)?.text).toContain(`Goal ${goalId} is reached.`);
    expect(await missed(world)).toEqual([]);
    works = false;
    const again = await reached(ground, "Times");
    await tellPeople(world);
    expect(await missed(world)).toHaveLength(1);
    works = true;
    await tryRecipients(world, "webhook");
    expect(received.at(-1)?.text).toContain(`Goal ${again} is reached.`);
    expect(await missed(world)).toEqual([]);
  });

  test("safe mode is told once to each, although nothing may be written then", async () => {
    const { path, said } = program("cat >> OUT");
    const { world } = await worldWith({ command: `'${path}'` });
    await enterSafeMode(world, "The database is damaged.");
    await tellPeople(world);
    await tellPeople(world);
    expect(said().trim().split("\n")).toHaveLength(1);
    expect(said()).toContain("The database is damaged.");
  });

  test("a desktop is told by notify-send, its text never a command", async () => {
    const bin = tempDir("bin-");
    writeFileSync(join(bin, "notify-send"), `#!/bin/sh\nprintf '%s|' "$@" > '${bin}/out'\n`);
    chmodSync(join(bin, "notify-send"), 0o755);
    const { world } = await worldWith({ terminal: false, people: { ada: { via: "desktop" } } });
    const desk = { ...world, env: { PATH: `${bin}:${process.env.PATH}` } };
    expect(await tryRecipients(desk, "ada")).toMatchObject([{ name: "ada", ok: true }]);
    expect(readFileSync(`${bin}/out`, "utf8")).toMatch(/^--app-name=Overseer\|--\|.*a test\|This is a test/);
    await expect(tryRecipients(desk, "bob")).rejects.toMatchObject({ code: "NO_RECIPIENT" });
  });
});

describe("NOTIFY-1 ESC-1: an answer comes back", () => {
  const back = (ground: Ground) => notifyDue(ground.world, (answer) => takeReturnedAnswer(ground.world, answer));

  test("in the response of the webhook, with the token of its question", async () => {
    const { url } = address((text) => {
      const { token } = JSON.parse(text) as QuestionNotice;
      return Response.json({ answer: 2, token });
    });
    const ground = await worldWith({ terminal: false, webhook: url });
    await ask(ground);
    await back(ground);
    expect(await ground.log("question.answered")).toMatchObject([
      { actor: "human:webhook", data: { questionId: "q_1", answer: "Julian" } },
    ]);
  });

  test("from what the program says, and nobody else is asked then", async () => {
    const { path } = program(
      `token=$(sed 's/.*"token":"\\([^"]*\\)".*/\\1/'); echo "{\\"answer\\": \\"Gregorian\\", \\"token\\": \\"$token\\"}"`,
    );
    const { url, received } = address(() => new Response("ok"));
    const ground = await worldWith({ terminal: false, command: `'${path}'`, webhook: url });
    await ask(ground);
    await back(ground);
    expect(await ground.log("question.answered")).toMatchObject([
      { actor: "human:command", data: { answer: "Gregorian" } },
    ]);
    expect(received).toEqual([]);
  });

  test("by answer --token once; forged, expired, used or of another question it is refused, and that is told", async () => {
    const other = "q_2";
    const { url, received } = address((text) => {
      const notice = JSON.parse(text) as QuestionNotice | NewsNotice;
      return notice.type === "news" ? new Response("ok") : Response.json({ answer: "1", token: "made up" });
    });
    const ground = await worldWith({ terminal: false, webhook: url });
    const { world } = ground;
    await ask(ground);
    await ask(ground, other);
    await back(ground);
    expect(await ground.log("question.answered")).toEqual([]);
    const secret = await readSecret(world, ANSWER_SECRET);
    const sign = (questionId: string, inMs: number) => signAnswerToken(secret, questionId, world.clock.now() + inMs);
    const good = sign("q_1", ANSWER_WITHIN_MS);
    const say = (token: string, questionId?: string) =>
      answerByToken(world, { token, words: "1", via: "answer --token", ...(questionId ? { questionId } : {}) });
    await expect(say(`${good.slice(0, -1)}${good.endsWith("0") ? "1" : "0"}`)).rejects.toMatchObject({
      code: "TOKEN_FORGED",
    });
    await expect(say(good.replace("q_1", other))).rejects.toMatchObject({ code: "TOKEN_FORGED" });
    await expect(say(sign("q_1", -1))).rejects.toMatchObject({ code: "TOKEN_EXPIRED" });
    await expect(say(good, other)).rejects.toMatchObject({ code: "TOKEN_FOR_ANOTHER" });
    expect(await say(good)).toMatchObject({ questionId: "q_1", answer: "Gregorian" });
    await expect(say(good)).rejects.toMatchObject({ code: "TOKEN_USED" });
    expect((await ground.log("answer.refused")).map(({ data }) => "code" in data && data.code)).toEqual([
      ...["TOKEN_FORGED", "TOKEN_FORGED", "TOKEN_FORGED", "TOKEN_FORGED"],
      ...["TOKEN_EXPIRED", "TOKEN_FOR_ANOTHER", "TOKEN_USED"],
    ]);
    expect((await questions.questions(world)).map(({ questionId }) => questionId)).toEqual([other]);
    await tellPeople(world);
    expect(received.at(-1)?.text).toContain(
      "came by answer --token and was not taken: the question is answered already",
    );
    // No token is ever in the log.
    expect(JSON.stringify(await ground.store.log({ after: 0, limit: 1_000 }))).not.toContain(good.slice(-64));
  });

  test("an agent that is asked in its session is no person, and gets no token", async () => {
    const { path, said } = program("cat >> OUT");
    const ground = await worldWith({ terminal: false, people: { ada: { via: "email", to: path } } });
    await ask(ground);
    await back(ground);
    expect(said()).toContain("Answer: overseer answer q_1 <choice or text>");
    expect(said()).not.toMatch(/[0-9a-f]{64}/);
  });
});
