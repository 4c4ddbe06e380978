/** Questions on their way to people: real programs, a real server on this machine, and what is recorded of it. */
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { notifyDue } from "#act/notify.ts";
import type { QuestionNotice } from "#channels/channel.ts";
import { SECRET_VARIABLE, SIGNATURE_HEADER, signatureOf, webhookSecret } from "#channels/webhook.ts";
import { parseConfig } from "#config/load.ts";
import { accept } from "#domain/model/decision.ts";
import { askPerson } from "#domain/reports/answer.ts";
import { openQuestions } from "#store/assignments.ts";
import { memoryStore } from "#store/memory.ts";
import { systemExec } from "#sys/exec.ts";
import { tempDir } from "../../test/support/temp.ts";
import { worldOn } from "../../test/support/world.ts";
import * as goals from "./goals.ts";
import * as questions from "./questions.ts";
import { readFleetStatus } from "./status.ts";

const HOUR = 3_600_000;

/** A world with one open question, under this configuration. */
async function asked(channels: string, env: Record<string, string> = {}) {
  const store = memoryStore();
  const base = worldOn(store);
  const config = parseConfig(`channels: ${channels}`, "test.yaml");
  const world = {
    ...base,
    exec: systemExec(),
    env: { PATH: process.env.PATH ?? "", ...env },
    config: async () => config,
    root: { ...base.root, project: tempDir("notify-") },
  };
  const goalId = await goals.create(world, { title: "Parse dates" });
  const wanted = { questionId: "q_1", goalId, text: "Which calendar?", options: ["Gregorian", "Julian"] };
  await store.commit({
    at: world.clock.now(),
    reads: { open: openQuestions() },
    decide: ({ open }) => {
      const decision = askPerson(open, wanted, { now: world.clock.now(), actor: "agent:builder-1#4" });
      return decision.ok ? accept(decision.events, null) : decision;
    },
  });
  const open = async () => (await questions.questions(world))[0];
  return { world, store, open };
}

/** A program that keeps what it is told. */
function program(lines: string): { readonly path: string; readonly said: () => string } {
  const dir = tempDir("channel-");
  const path = join(dir, "tell me");
  writeFileSync(path, `#!/bin/sh\n${lines.replaceAll("OUT", `'${dir}/out'`)}\n`);
  chmodSync(path, 0o755);
  return { path, said: () => readFileSync(`${dir}/out`, "utf8") };
}

const servers: { stop(force: boolean): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

interface Received {
  readonly headers: Headers;
  readonly text: string;
}

function address(answer: (count: number) => Response) {
  const received: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      received.push({ headers: request.headers, text: await request.text() });
      return answer(received.length);
    },
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${server.port}/hook`, received };
}

describe("ESC-1: the program", () => {
  test("gets the question as JSON on its standard input, its words as arguments and never through a shell", async () => {
    const { path, said } = program('printf "%s|" "$@" > OUT; cat >> OUT');
    const { world, open } = await asked(
      JSON.stringify({ terminal: false, command: `'${path}' --to "ops team" $(id)` }),
    );
    const { sent } = await notifyDue(world);
    expect(sent).toMatchObject([{ channel: "command", ok: true, key: "q_1/0/command", because: "configured" }]);
    const [words, json] = [said().slice(0, said().indexOf("{")), said().slice(said().indexOf("{"))];
    expect(words).toBe("--to|ops team|$(id)|");
    expect(JSON.parse(json) as QuestionNotice).toMatchObject({
      type: "question",
      questionId: "q_1",
      text: "Which calendar?",
      options: ["Gregorian", "Julian"],
      origin: { kind: "cli" },
    });
    expect((await open())?.reach).toEqual({ state: "reached", by: ["command"] });
  });

  test("that fails, hangs or is missing is an outcome, seen by everybody who looks", async () => {
    const { path } = program("echo no network >&2; exit 3");
    const { world, open } = await asked(JSON.stringify({ terminal: false, command: `'${path}'` }));
    await notifyDue(world);
    expect((await open())?.reach).toEqual({ state: "unreached", why: "command: it ended with 3: no network" });
    const missing = await asked("{terminal: false, command: /no/such/program}");
    await notifyDue(missing.world);
    expect((await missing.open())?.reach.state).toBe("unreached");
    const slow = program("exec sleep 30");
    const hung = await asked(JSON.stringify({ terminal: false, command: `'${slow.path}'`, timeout: "1s" }));
    expect((await notifyDue(hung.world)).sent).toMatchObject([{ ok: false, detail: "it took longer than 1000 ms" }]);
  });

  test("can say that a person has it", async () => {
    const { path } = program(`cat > OUT; echo '{"acknowledged": true}'`);
    const { world, open } = await asked(JSON.stringify({ terminal: false, command: `'${path}'` }));
    await notifyDue(world);
    expect(await open()).toMatchObject({ acknowledgedBy: "overseer" });
    await world.clock.advance(99 * HOUR);
    expect((await notifyDue(world)).sent).toEqual([]);
  });
});

describe("ESC-1: the address", () => {
  test("gets it once, signed over time and body", async () => {
    const { url, received } = address(() => new Response("ok"));
    const { world, open } = await asked(`{terminal: false, webhook: '${url}'}`, { [SECRET_VARIABLE]: "s3cret" });
    await notifyDue(world);
    await notifyDue(world);
    expect(received).toHaveLength(1);
    const { headers, text } = received[0] as Received;
    const timestamp = headers.get("x-overseer-timestamp") ?? "";
    expect(headers.get(SIGNATURE_HEADER)).toBe(`sha256=${signatureOf("s3cret", timestamp, text)}`);
    expect(headers.get("x-overseer-delivery")).toBe("q_1/0/webhook");
    expect((await open())?.reach).toEqual({ state: "reached", by: ["webhook"] });
  });

  test("is tried again with growing waits, under the same key, until it answers", async () => {
    const { url, received } = address((count) => new Response("", { status: count < 3 ? 503 : 204 }));
    const { world, open } = await asked(`{terminal: false, webhook: '${url}'}`);
    const first = await notifyDue(world);
    expect(first.sent).toMatchObject([{ ok: false, detail: "the address answered 503" }]);
    await notifyDue(world);
    expect(received).toHaveLength(1);
    await world.clock.advance(60_000);
    await notifyDue(world);
    await world.clock.advance(120_000);
    await notifyDue(world);
    expect(received.map(({ headers }) => headers.get("x-overseer-delivery"))).toEqual(Array(3).fill("q_1/0/webhook"));
    expect((await open())?.reach.state).toBe("reached");
  });

  test("that sends us elsewhere is not followed", async () => {
    const elsewhere = address(() => new Response("ok"));
    const { url } = address(() => Response.redirect(elsewhere.url, 307));
    const { world } = await asked(`{terminal: false, webhook: '${url}'}`);
    expect((await notifyDue(world)).sent).toMatchObject([{ ok: false, detail: "the address answered 307" }]);
    expect(elsewhere.received).toEqual([]);
  });

  test("without a secret of the user's, this repository has one of its own, for this user only", async () => {
    const { world } = await asked("{}");
    const made = await webhookSecret(world);
    expect(made).toMatch(/^[0-9A-Z]{40}$/);
    expect(await webhookSecret(world)).toBe(made);
    expect((await world.files.facts(`${world.root.state}/run/webhook-secret`))?.mode).toBe(0o600);
  });
});

test("ESC-1: nobody reacts for hours: it is raised again, twice at the most, until somebody has seen it", async () => {
  const { path, said } = program("cat >> OUT");
  const { world, open } = await asked(JSON.stringify({ terminal: false, command: `'${path}'` }));
  await notifyDue(world);
  for (let round = 0; round < 4; round += 1) {
    await world.clock.advance(4 * HOUR);
    await notifyDue(world);
  }
  const keys = said()
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as QuestionNotice).key);
  expect(keys).toEqual(["q_1/0/command", "q_1/1/command", "q_1/2/command"]);
  expect((await open())?.round).toBe(2);
  await questions.acknowledge(world, "q_1");
  expect(await open()).toMatchObject({ acknowledgedBy: "human:ada" });
});

test("ESC-2: the terminal of a goal from the command line is its origin, and the choice is recorded", async () => {
  const { world, store } = await asked("{}");
  await notifyDue(world);
  const log = await store.log({ after: 0, limit: 100 });
  expect(log.filter((event) => event.type === "question.notified")).toMatchObject([
    { because: "origin", data: { channel: "terminal", ok: true, round: 0 } },
  ]);
});

test("ESC-1: with no channel at all, status and questions say that nobody was reached", async () => {
  const { world, open } = await asked("{terminal: false}");
  expect((await notifyDue(world)).sent).toEqual([]);
  expect((await open())?.reach).toEqual({ state: "unreached", why: "no channel is configured" });
  expect((await readFleetStatus(world)).questions).toMatchObject([
    { questionId: "q_1", reach: { state: "unreached" } },
  ]);
});
