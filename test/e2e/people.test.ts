/**
 * NOTIFY-1 ESC-1 under a real daemon: a question is answered by the configured program and in the response of a webhook,
 * a forged answer is refused and told, and people hear that their review is due, that the goal is reached, and that the
 * daemon was replaced.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NewsNotice, QuestionNotice } from "#channels/channel.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { tail } from "../support/nine-tasks.ts";
import { say } from "../support/steps.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

let fleet: Fleet;
let server: ReturnType<typeof Bun.serve> | undefined;
afterEach(async () => {
  await fleet.end();
  await server?.stop(true);
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
      if (notice.text === "By webhook?") return Response.json({ answer: "yes, by webhook", token: notice.token });
      return Response.json({ answer: "no", token: `${notice.questionId}.zzzzzzzz.${"0".repeat(64)}` });
    },
  });
  // It answers what is meant for it, with the token it was sent.
  const script = `let text = ""; for await (const part of process.stdin) text += part;
const notice = JSON.parse(text);
if (notice.text === "By program?") console.log(JSON.stringify({ answer: "yes, by program", token: notice.token }));`;
  writeFileSync(join(dir, "answer.mjs"), script);
  const program = join(dir, "answer");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${dir}/answer.mjs'\n`);
  chmodSync(program, 0o755);
  const more = `
landing: {mode: review}
reconcile: {tickEvery: 1s}
channels:
  command: "${program}"
  webhook: http://127.0.0.1:${server.port}/hook
  bundle: 0s
  people:
    eve: {via: email, to: "/no/such/program", hears: [goal]}
`;
  fleet = await Fleet.make({ more, terminal: "detached" });
  await fleet.ok("up");
  await seen(() => fleet.all("news.told").length >= 3 && fleet.all("news.told"), "whoever is told to be met");

  const tested = await fleet.run("notify", "test");
  expect(tested.code).toBe(4);
  expect(tested.stdout).toContain("webhook (webhook): sent");
  expect(tested.stdout).toContain("eve (email): NOT SENT: ");

  const ask = (question: string) => ({ kind: "ask", question, cli: ["overseer", "ask", question] }) as const;
  const asker = await fleet.sling("asker", [ask("By program?"), ask("By webhook?"), ask("By token?"), say("I wait")]);
  const answers = () => fleet.all("question.answered").map(({ actor, data }) => `${actor}: ${data.answer}`);
  await seen(() => answers().length === 2 && tokens.has("By token?"), "two answers and the token of the third");
  expect(answers().toSorted()).toEqual(["human:command: yes, by program", "human:webhook: yes, by webhook"]);
  await seen(() => fleet.all("answer.refused")[0], "the refusal of a forged answer");
  await seen(
    () => heard.some((one) => one.type === "news" && one.text.includes("its token was not made here")),
    "the news of it",
  );

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
  const done = await fleet.sling("builder", [
    { kind: "edit", file: "a.txt", content: "a\n" },
    { kind: "commit", message: "Add a" },
    { kind: "report", status: "done", summary: "a is there" },
  ]);
  const news = (text: string) => heard.some((one) => one.type === "news" && one.text.includes(text));
  const node = `${done.goalId}/${done.workNodeId}`;
  await seen(() => news(`${node} waits for your review: overseer review ${node}`), "the news of the review");
  await fleet.ok("accept", node);
  await seen(() => news(`Goal ${done.goalId} is reached.`), "the news of the goal");
  await seen(
    () => fleet.all("news.told").some(({ data }) => data.channel === "eve" && !data.ok),
    "what eve does not hear",
  );
  expect(await fleet.ok("status")).toMatch(/NOT TOLD: nothing gets through by eve since .*\/no\/such\/program/);
  expect(await fleet.ok("notify")).toMatch(/eve +email +goal +[12] waiting +FAILS since/);

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
