/**
 * A model for real agent CLIs, without a model: Anthropic Messages over SSE on loopback. It plays the script in the
 * conversation (src/runtimes/script) as words and tool calls, and finds out where it is by reading the conversation
 * again, so it survives restarts of the CLI, resumed sessions, several sessions at once and sub-agents, whose prompts
 * carry scripts of their own. What only a provider can do (fail, stall, cut the line, call tools in parallel) stands
 * beside the script in the same text, told by the number of the answer. Every request is kept, so that a test can
 * read what really reached the model.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import {
  type Answer,
  type AnswerBlock,
  answerTo,
  type Body,
  type ErrorAnswer,
  textsOf,
  type Usage,
} from "./model-answers.ts";

export { type AnswerOptions, modelPrompt, type ToolCall } from "./model-answers.ts";

export interface ModelRequest {
  /** helper: without tools, such as a title, or a question that has one answer. compaction: the summary that replaces a conversation. */
  readonly kind: "conversation" | "helper" | "compaction";
  /** When it came, by `performance.now()`. */
  readonly at: number;
  readonly session: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

export interface ModelServer {
  readonly url: string;
  /** In the order they came; of every kind. */
  readonly requests: readonly ModelRequest[];
  /** Refuses everything with this, until it is told null. */
  refuseAll(error: ErrorAnswer | null): void;
  stop(): Promise<void>;
}

export interface ModelServerOptions {
  /** Where it listens; anywhere when it is left out. */
  readonly port?: number;
  /** Times in scripts are divided by this. */
  readonly speed?: number;
  /** What a tool call of a script names `{{so}}` is said as this: words that must not travel in a prompt. */
  readonly words?: Readonly<Record<string, string>>;
  /** The script for a message that brings none: how a test plays a prompt that it did not write. */
  readonly scriptFor?: (text: string) => readonly Step[] | undefined;
  /** What it answers to a question that comes without tools: words, or a refusal. */
  readonly oneShot?: (prompt: string) => string | ErrorAnswer;
}

/** Everything the model could read in a request: system prompt and conversation, tool results included. */
export function textOf(request: ModelRequest): string {
  return textsOf(request.body).join("\n");
}

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const refused = new Map<string, number>();
  let refusal: ErrorAnswer | null = null;
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error: { type: "api_error", message: String(error) } }));
    });
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (incoming.url ?? "/").split("?")[0];
    if (incoming.method !== "POST" || path !== "/v1/messages") {
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"type":"error","error":{"type":"not_found_error","message":"Not found"}}');
      return;
    }
    const body = JSON.parse(await textFrom(incoming)) as Body;
    const at = performance.now();
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value ?? "")]),
    );
    const answer = asked(answerTo(prompted(body), options.speed ?? 1), body);
    const session = headers["x-claude-code-session-id"] ?? "";
    requests.push({ kind: answer.kind, at, session, headers, body });
    if (refusal) return refuse(refusal, response);
    await give(answer, body, `${session} ${body.messages.length} ${answer.key}`, response);
  }

  function prompted(body: Body): Body {
    const { scriptFor } = options;
    if (!scriptFor) return body;
    const withScript = (text: string) => {
      const steps = text.includes("@@SCRIPT") ? undefined : scriptFor(text);
      return steps === undefined ? text : `${text} ${renderScript(steps)}`;
    };
    const messages = body.messages.map(({ role, content }) => {
      if (role !== "user") return { role, content };
      if (typeof content === "string") return { role, content: withScript(content) };
      const blocks = content.map((block) =>
        block.type === "text" && block.text !== undefined ? { ...block, text: withScript(block.text) } : block,
      );
      return { role, content: blocks };
    });
    return { ...body, messages };
  }

  function asked(answer: Answer, body: Body): Answer {
    if (answer.kind !== "helper" || !options.oneShot) return answer;
    const said = options.oneShot(textsOf(body).join("\n"));
    if (typeof said !== "string") return { ...answer, key: said.message, error: said };
    return { ...answer, blocks: [{ type: "text", text: said }] };
  }

  async function give(answer: Answer, body: Body, place: string, response: ServerResponse): Promise<void> {
    if (answer.delayMs > 0 && !(await stillThere(response, answer.delayMs))) return;
    if (answer.hangUp) {
      response.destroy();
      return;
    }
    const { error } = answer;
    const times = refused.get(place) ?? 0;
    if (error && times < (error.times ?? Number.POSITIVE_INFINITY)) {
      refused.set(place, times + 1);
      refuse(error, response);
      return;
    }
    await speak({ ...answer, blocks: answer.blocks.map(spelledOut) }, body, response);
  }

  function spelledOut(block: AnswerBlock): AnswerBlock {
    if (block.type !== "tool_use" || !options.words) return block;
    const input = Object.entries(block.input).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replace(/\{\{(\w+)\}\}/g, (all, word) => options.words?.[word] ?? all) : value,
    ]);
    return { ...block, input: Object.fromEntries(input) as typeof block.input };
  }

  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refuseAll(error) {
      refusal = error;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** False when whoever asked has hung up meanwhile. */
function stillThere(response: ServerResponse, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = Number.isFinite(ms) ? setTimeout(() => settle(true), ms) : undefined;
    const gone = () => settle(false);
    const settle = (there: boolean) => {
      clearTimeout(timer);
      response.off("close", gone);
      resolve(there);
    };
    response.once("close", gone);
  });
}

function refuse(error: ErrorAnswer, response: ServerResponse): void {
  response.writeHead(error.status, { "content-type": "application/json", ...error.headers });
  response.end(JSON.stringify({ type: "error", error: { type: error.type, message: error.message } }));
}

async function speak(answer: Answer, body: Body, response: ServerResponse): Promise<void> {
  const id = `msg_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
  const message = { id, type: "message", role: "assistant", model: body.model, stop_sequence: null };
  const usage = wireUsage(answer.usage);
  const stopReason = answer.blocks.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";
  if (body.stream !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    if (answer.cut) {
      // A CLI whose stream broke asks once more for the whole; a broken line breaks that too.
      await written(response, "{");
      response.destroy();
      return;
    }
    response.end(JSON.stringify({ ...message, content: answer.blocks, stop_reason: stopReason, usage }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const send = (type: string, data: object) =>
    written(response, `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  await send("message_start", { message: begun });
  for (const [index, block] of answer.blocks.entries()) {
    const empty = block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
    const delta =
      block.type === "text"
        ? { type: "text_delta", text: block.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    await send("content_block_start", { index, content_block: empty });
    await send("content_block_delta", { index, delta });
    if (answer.cut) {
      response.destroy();
      return;
    }
    if (answer.midError) {
      await send("error", { error: answer.midError });
      response.end();
      return;
    }
    await send("content_block_stop", { index });
  }
  await send("message_delta", { delta: { stop_reason: stopReason, stop_sequence: null }, usage });
  await send("message_stop", {});
  response.end();
}

/** Waits for a slow reader; one that has hung up is written to no more. */
async function written(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed || response.write(text)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}

function wireUsage(usage: Usage): Record<string, number> {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
  };
}

async function textFrom(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
