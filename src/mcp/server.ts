/**
 * The MCP server: lists the tools of whoever started it, judges what a call gives, runs the command that the tool stands
 * for and answers with what it printed. It opens no store and decides nothing: an agent's command goes to its runner like
 * every other word of that agent, so a call of an attempt that has ended is refused there (FENCE-1). Commands are asked for
 * text, not for JSON, because that is what costs a model least.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { EXIT_CODES, messageOf } from "#errors.ts";
import type { Exec } from "#sys/exec.ts";
import { Pages } from "./pages.ts";
import { type Caller, type CommandWords, listToolsFor, type Tool } from "./tools.ts";

export interface ServerParts {
  readonly version: string;
  /** Null where there is nothing to be offered; what is said to the model then is `instructions`. */
  readonly caller: Caller | null;
  readonly instructions: string;
  /** How our own program is called, and with which environment. */
  readonly program: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly exec: Exec;
  /** Asked before every call of a tool that does more than look: why it may not, if so. */
  readonly mayChange?: (() => Promise<string | undefined>) | undefined;
}

/** A plan by a model takes minutes, and starting an agent its share; each of their steps has a limit of its own. */
const LONGEST_MS = 60 * 60_000;
/** Beyond that the kernel takes no word of a command line; what may be long goes by standard input. */
const LONGEST_WORD = 100_000;

const READ: Pick<Tool, "name" | "description" | "input" | "looks"> = {
  name: "read",
  description: "The rest of a long answer.",
  input: z.strictObject({ more: z.string() }),
  looks: true,
};

/** As clients get them. What only a validator needs costs tokens for nothing: every call is judged here anyway. */
export function describeTools(caller: Caller) {
  return [...listToolsFor(caller), READ].map(({ name, description, input, looks }) => ({
    name,
    description,
    inputSchema: withoutFormalities(z.toJSONSchema(input)) as { type: "object" },
    ...(looks ? { annotations: { readOnlyHint: true } } : {}),
  }));
}

export async function serve(parts: ServerParts, transport: Transport): Promise<Server> {
  const { version, caller, instructions } = parts;
  const pages = new Pages();
  const server = new Server({ name: "overseer", version }, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: caller === null ? [] : describeTools(caller) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: given = {} } = params;
    if (caller !== null && name === READ.name) return readOn(pages, given);
    const tool = caller === null ? undefined : listToolsFor(caller).find((one) => one.name === name);
    if (!tool) return toRefusal(`There is no tool ${JSON.stringify(name.slice(0, 60))} for you.`);
    const judged = tool.input.safeParse(given);
    if (!judged.success) return toRefusal(z.prettifyError(judged.error));
    const lacks = tool.lacks?.(judged.data);
    if (lacks !== undefined) return toRefusal(lacks);
    const closed = tool.looks ? undefined : await parts.mayChange?.();
    if (closed !== undefined) return toRefusal(closed);
    const call = tool.toWords(judged.data);
    const bad = findBadWord(call);
    if (bad !== undefined) return toRefusal(bad);
    return runCommand(parts, call, pages, signal);
  });
  await server.connect(transport);
  return server;
}

function readOn(pages: Pages, given: unknown): CallToolResult {
  const judged = READ.input.safeParse(given);
  if (!judged.success) return toRefusal(z.prettifyError(judged.error));
  const piece = pages.next(String(judged.data.more));
  return piece === undefined ? toRefusal("Nothing is kept under that word; ask again.") : toAnswer(piece);
}

async function runCommand(
  { program, env, exec }: ServerParts,
  { words, stdin }: CommandWords,
  pages: Pages,
  signal: AbortSignal,
): Promise<CallToolResult> {
  try {
    const { code, stdout, stderr, timedOut } = await exec.run([...program, ...words], {
      ...{ env: { ...env, NO_COLOR: "1", COLUMNS: "120" }, timeoutMs: LONGEST_MS, signal },
      stdin: stdin ?? "",
    });
    const said = [stdout, stderr].map((part) => part.trim()).filter((part) => part !== "");
    if (timedOut) said.push("It took too long and was ended; what it had done by then stays.");
    const told = pages.first(said.join("\n") || "Done.");
    // 7 says that it waits for something, which is no failure.
    return code === 0 || code === EXIT_CODES.unconfirmed ? toAnswer(told) : toRefusal(told);
  } catch (error) {
    return toRefusal(`The command could not be run: ${messageOf(error)}`);
  }
}

function findBadWord({ words, stdin = "" }: CommandWords): string | undefined {
  if ([...words, stdin].some((word) => word.includes("\0"))) return "A text holds a NUL character.";
  const long = words.find((word) => word.length > LONGEST_WORD);
  return long === undefined ? undefined : `"${long.slice(0, 40)}…" is too long; 100,000 characters is the limit.`;
}

function toAnswer(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function toRefusal(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function withoutFormalities(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutFormalities);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "additionalProperties");
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutFormalities(value)]));
}
