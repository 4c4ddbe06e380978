/** The scripted model, asked as a CLI asks it: by a conversation that grows, over HTTP. */
import { afterAll, expect, test } from "bun:test";
import type { Step } from "#runtimes/scripted/language.ts";
import type { AnswerBlock, Body, BodyMessage } from "../support/model-answers.ts";
import { type AnswerOptions, modelPrompt, startModelServer, textOf } from "../support/model-server.ts";
import { run, say } from "../support/steps.ts";

const server = await startModelServer();
afterAll(() => server.stop());

const user = (text: string): BodyMessage => ({ role: "user", content: [{ type: "text", text }] });

async function ask(messages: readonly BodyMessage[], more: Partial<Body> = {}): Promise<Response> {
  const body = { model: "claude-test", messages, tools: [{ name: "Bash" }], ...more };
  return fetch(`${server.url}/v1/messages?beta=true`, { method: "POST", body: JSON.stringify(body) });
}

/** One answer, and the conversation after it with a result for each of its calls. */
async function answer(messages: readonly BodyMessage[]): Promise<{ blocks: AnswerBlock[]; after: BodyMessage[] }> {
  const reply = (await (await ask(messages)).json()) as { content: AnswerBlock[] };
  const results = reply.content.flatMap((block) =>
    block.type === "tool_use" ? [{ type: "tool_result", tool_use_id: block.id, content: "ok" }] : [],
  );
  const after: BodyMessage[] = [...messages, { role: "assistant", content: reply.content }];
  return {
    blocks: reply.content,
    after: results.length === 0 ? after : [...after, { role: "user", content: results }],
  };
}

function told(blocks: readonly AnswerBlock[]): string[] {
  return blocks.map((block) => (block.type === "text" ? block.text : `${block.name}:${Object.values(block.input)[0]}`));
}

async function played(messages: readonly BodyMessage[], answers: number): Promise<string[][]> {
  const out: string[][] = [];
  let now = messages;
  for (let count = 0; count < answers; count += 1) {
    const { blocks, after } = await answer(now);
    out.push(told(blocks));
    now = after;
  }
  return out;
}

test("a script is played answer by answer, words before the call they introduce", async () => {
  const prompt = modelPrompt("work", [
    say("I begin."),
    run("one"),
    { kind: "edit", file: "a", replace: "x", with: "y" },
    say("End."),
  ]);
  expect(await played([user(prompt)], 3)).toEqual([["I begin.", "Bash:one"], ["Read:a", "Edit:a"], ["End."]]);
});

test("it keeps nothing: any position is reached by its conversation alone, on any server", async () => {
  const prompt = modelPrompt("work", [{ kind: "loop", steps: [run("a"), run("b")] }]);
  const { after } = await answer((await answer([user(prompt)])).after);
  const other = await startModelServer();
  try {
    const reply = await fetch(`${other.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify({ model: "m", messages: after, tools: [{ name: "Bash" }] }),
    });
    expect(told(((await reply.json()) as { content: AnswerBlock[] }).content)).toEqual(["Bash:a"]);
  } finally {
    await other.stop();
  }
});

test("a message during the turn is answered and does not disturb the script; one that waits continues with it", async () => {
  const first = await answer([user(modelPrompt("work", [run("a"), { kind: "wait" }, run("b"), say("End.")]))]);
  const mail: BodyMessage = {
    role: "system",
    content: "The user sent a new message while you were working:\nhurry\n\nThis is how Claude Code surfaces messages",
  };
  const second = await answer([...first.after, mail]);
  expect(told(second.blocks)).toEqual(["Understood: hurry", "Waiting for a message."]);
  expect(await played([...second.after, user("go on")], 2)).toEqual([["Bash:b"], ["End."]]);
});

test("what the CLI says by itself, and the model's words put there by it, change nothing", async () => {
  const first = await answer([user(modelPrompt("work", [run("a"), run("b"), say("End.")]))]);
  const resumed = [
    ...first.after,
    { role: "assistant" as const, content: [{ type: "text", text: "No response requested." }] },
    user("go on"),
  ];
  expect(await played(resumed, 2)).toEqual([["Bash:b"], ["End."]]);
});

test("calls at once, and a sub-agent whose prompt has a script of its own", async () => {
  const inner = modelPrompt("inner", [run("inside"), say("Inner end.")]);
  const calls = [
    { tool: "Bash", input: { command: "one" } },
    { tool: "Agent", input: { prompt: inner } },
  ];
  const first = await answer([user(modelPrompt("outer", [run("outside"), say("End.")], { 0: { calls } }))]);
  expect(first.blocks.map((block) => block.type)).toEqual(["tool_use", "tool_use"]);
  expect(await played(first.after, 2)).toEqual([["Bash:outside"], ["End."]]);
  expect(await played([user(inner)], 2)).toEqual([["Bash:inside"], ["Inner end."]]);
});

test("a summary lets the script continue where it was", async () => {
  const first = await answer([user(modelPrompt("work", [run("a"), run("b"), say("End.")]))]);
  const asking = user("Your task is to create a detailed summary of the conversation so far.");
  const summary = (await (await ask([...first.after, asking])).json()) as { content: { text: string }[] };
  const text = summary.content[0]?.text ?? "";
  expect(text).toMatch(/<analysis>.*<summary>/s);
  expect(await played([user(`This session is being continued.\n${text}`), user("go on")], 2)).toEqual([
    ["Bash:b"],
    ["End."],
  ]);
});

test("a request without tools is a helper's, and gets words", async () => {
  const before = server.requests.length;
  const reply = (await (await ask([user("name this")], { tools: [] })).json()) as { content: AnswerBlock[] };
  expect(reply.content[0]?.type).toBe("text");
  expect(server.requests[before]?.kind).toBe("helper");
});

test("errors come as often as they are said to, with their headers", async () => {
  const error = { status: 429, type: "rate_limit_error", message: "Slow", times: 2, headers: { "retry-after": "3" } };
  const messages = [user(modelPrompt("twice", [say("Well.")], { 0: { error } }))];
  const replies = [await ask(messages), await ask(messages), await ask(messages)];
  expect(replies.map((reply) => reply.status)).toEqual([429, 429, 200]);
  expect(replies[0]?.headers.get("retry-after")).toBe("3");
  expect(await replies[0]?.json()).toMatchObject({
    type: "error",
    error: { type: "rate_limit_error", message: "Slow" },
  });
});

const broken: [why: string, answer: AnswerOptions, seen: RegExp | undefined][] = [
  ["cut in the middle", { cut: true }, undefined],
  ["hung up", { hangUp: true }, undefined],
  ["an error in the middle", { midError: { type: "overloaded_error", message: "Overloaded" } }, /event: error/],
];
test.each(broken)("a line that breaks: %s", async (_why, option, seen) => {
  const got = ask([user(modelPrompt("x", [say("Well.")], { 0: option }))], { stream: true }).then((reply) =>
    reply.text(),
  );
  const text = await got.catch((error: unknown) => `broken: ${String(error)}`);
  expect(text).not.toContain("message_stop");
  if (seen) expect(text).toMatch(seen);
});

test("usage is what the script or the answer says, and streams end as a client expects", async () => {
  const steps: Step[] = [{ kind: "usage", inputTokens: 5_000, outputTokens: 7 }, say("Well.")];
  const reply = await ask([user(modelPrompt("x", steps, { 0: { usage: { cacheReadTokens: 30 } } }))], { stream: true });
  const text = await reply.text();
  const events = [...text.matchAll(/^event: (\S+)$/gm)].map((match) => match[1]);
  expect(events).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  expect(text).toContain(
    '"input_tokens":5000,"cache_creation_input_tokens":0,"cache_read_input_tokens":30,"output_tokens":7',
  );
});

test("every request is kept, and all it says can be read", async () => {
  const before = server.requests.length;
  await ask([user("find me"), { role: "assistant", content: "ok" }, user("and me")], {
    system: [{ type: "text", text: "the overlay" }],
  });
  const request = server.requests[before];
  if (!request) throw new Error("not kept");
  expect(textOf(request)).toBe("the overlay\nfind me\nok\nand me");
});
