/**
 * NOTIFY-1 ESC-1 under a real daemon: a question is answered by the configured program and in the response of a webhook,
 * a forged answer is refused and told, and people hear that their review is due, that the goal is reached, and that the
 * daemon was replaced.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NewsNotice, QuestionNotice } from "#channels/channel.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { say } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
const DOCS = join(import.meta.dir, "../../docs/answers.md");
beforeAll(bundled);

let fleet: Fleet;
let server: ReturnType<typeof Bun.serve> | undefined;
let hook: { kill(): void } | undefined;
afterEach(async () => {
  await fleet.end();
  await server?.stop(true);
  hook?.kill();
});

const seen = <T>(look: () => T | undefined | false, what: string) => eventually(look, () => `${what}\n${tail(fleet)}`);

test("NOTIFY-1 ESC-1 REPORT-1: answers come back by program, webhook and token, once, and people are told what happens", async () => {
  const dir = tempDir("people-");
  const heard: (QuestionNotice | NewsNotice)[] = [];
  const tokens = new Map<string, string>();
  server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request) {
      const notice = (await request.json()) as QuestionNotice | NewsNotice;
      heard.push(notice);
      if (notice.type === "news") return new Response("ok");
      tokens.set(notice.text, notice.token ?? "");
      // Left to the examples.
      if (notice.text.startsWith("Which")) return new Response("ok");
      return Response.json({ answer: "no", token: `${notice.questionId}.zzzzzzzz.${"0".repeat(64)}` });
    },
  });
  // Both examples of docs/answers.md, as they stand there.
  const examples = [...readFileSync(DOCS, "utf8").matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
  expect(examples).toHaveLength(2);
  examples.forEach((text, at) => {
    writeFileSync(join(dir, `example-${at}.mjs`), text);
  });
  const program = join(dir, "answer");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${dir}/example-0.mjs'\n`);
  chmodSync(program, 0o755);
  const secret = "known to both";
  const child = Bun.spawn([process.execPath, join(dir, "example-1.mjs")], {
    env: { ...process.env, OVERSEER_WEBHOOK_SECRET: secret, PORT: "0" },
    ...{ stdout: "pipe", stderr: "inherit" },
  });
  hook = child;
  const port = new TextDecoder().decode((await child.stdout.getReader().read()).value).trim();
  const more = `
landing: {mode: review}
reconcile: {tickEvery: 1s}
channels:
  command: "${program}"
  webhook: http://127.0.0.1:${server.port}/hook
  bundle: 0s
  people:
    docs: {via: webhook, to: "http://127.0.0.1:${port}/", hears: [question]}
    eve: {via: email, to: "/no/such/program", hears: [goal, question]}
`;
  fleet = await Fleet.make({ more, terminal: "detached", env: { OVERSEER_WEBHOOK_SECRET: secret } });
  await fleet.ok("up");
  await seen(() => fleet.all("news.told").length >= 4 && fleet.all("news.told"), "whoever is told to be met");
  const unsigned = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "{}" });
  expect(unsigned.status).toBe(401);

  const tested = await fleet.run("notify", "test");
  expect(tested.code).toBe(4);
  expect(tested.stdout).toContain("webhook (webhook): sent");
  expect(tested.stdout).toContain("eve (email): NOT SENT: ");

  const ask = (question: string) => ({ kind: "ask", question, cli: ["overseer", "ask", question] }) as const;
  const asker = await fleet.sling("asker", [
    ask("Which calendar?"),
    ask("Which port?"),
    ask("By token?"),
    say("I wait"),
  ]);
  const answers = () => fleet.all("question.answered").map(({ actor, data }) => `${actor}: ${data.answer}`);
  await seen(() => answers().length === 2 && tokens.has("By token?"), "two answers and the token of the third");
  expect(answers().toSorted()).toEqual(["human:command: the ISO one", "human:docs: 8080"]);
  await seen(() => fleet.all("answer.refused")[0], "the refusal of a forged answer");
  await seen(
    () => heard.some((one) => one.type === "news" && one.text.includes("its token was not made here")),
    "the news of it",
  );

  // Others were reached; that she was not is seen wherever one looks, and tried again.
  await seen(
    () => fleet.all("question.notified").some(({ data }) => data.channel === "eve" && !data.ok),
    "the question that eve is not told",
  );
  expect(await fleet.ok("questions")).toMatch(
    /By token\?\n +NOT TOLD by eve since .*, tried again: .*no\/such\/program/,
  );
  expect(await fleet.ok("status")).toMatch(/NOT TOLD: nothing gets through by eve since .*\/no\/such\/program/);
  expect(await fleet.ok("notify")).toMatch(/eve +email +goal, question.*FAILS since .*a question: /);

  const token = tokens.get("By token?") ?? "";
  expect(await fleet.ok("answer", "--token", token, "by", "token")).toContain(": by token");
  expect(await fleet.run("answer", "--token", token, "again")).toMatchObject({
    stderr: expect.stringContaining("the question is answered already"),
  });
  await seen(
    () => fleet.messages(asker.attempt).some(({ body }) => body.includes("by token")) && fleet.messages(asker.attempt),
    "the answer in the agent's inbox",
  );
  await fleet.ok("goal", "cancel", asker.goalId);

  // A review is due, the goal is reached, and eve cannot be told: that is seen.
  const inTheWay = `${fleet.repo.path}/a.txt`;
  writeFileSync(inTheWay, "mine\n");
  const done = await fleet.sling("builder", [
    { kind: "edit", file: "a.txt", content: "a\n" },
    { kind: "commit", message: "Add a" },
    { kind: "report", status: "done", summary: "a is there" },
  ]);
  const news = (text: string) => heard.some((one) => one.type === "news" && one.text.includes(text));
  const node = `${done.goalId}/${done.workNodeId}`;
  await seen(() => news(`${node} waits for your review: overseer review ${node}`), "the news of the review");
  await fleet.run("accept", node);
  await seen(() => news(`${node} is done and cannot land: `), "the news of the landing that is held up");
  expect(heard.filter((one) => one.type === "news" && one.text.includes("cannot land"))).toHaveLength(1);
  rmSync(inTheWay);
  await seen(() => news(`${node} is done.`), "the news of its landing");
  await seen(() => news(`Goal ${done.goalId} is reached.`), "the news of the goal");
  await seen(
    () => fleet.all("news.told").some(({ data }) => data.channel === "eve" && !data.ok),
    "what eve does not hear",
  );
  expect(await fleet.ok("status")).toMatch(/NOT TOLD: nothing gets through by eve since .*\/no\/such\/program/);
  expect(await fleet.ok("notify")).toMatch(/eve +email +goal, question +[12] waiting +FAILS since/);

  const report = await fleet.ok("report", "--since", "1h");
  expect(report).toMatch(
    new RegExp(`Goals reached\\n  ${done.goalId} .*\\n\\nLanded\\n  ${node} .*: [0-9a-f]{10} on main by builder\\n`),
  );
  expect(report).toContain("\n  3 asked, 3 answered");
  expect(JSON.parse(await fleet.ok("report", "--json"))).toMatchObject({
    landed: [{ what: node }],
    waitsForYou: [expect.stringContaining("NOT TOLD")],
  });
  expect((await fleet.run("report", "--since", "yesterday")).stderr).toContain("--since 12h");

  const { pid } = fleet.theDaemon();
  await fleet.kill(fleet.theDaemon());
  await fleet.ok("up");
  await seen(() => news(`The daemon was replaced: the one before (pid ${pid})`), "the news of the daemon");
  await fleet.ok("down");
  expect(readFileSync(`${fleet.state}/logs/report.md`, "utf8")).toMatch(/^# .*\n\n## Waits for you\n/);
});
