/**
 * The hands of the scripted agent: Bash, Read, Write and Edit, as a coding agent has them. Bash runs each command in a
 * session and process group of its own, with its output in files: so a killed agent leaves it running, just as the
 * real one does, and whoever ends agents has to cope with that. No tool throws; what went wrong is its result.
 */
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "#errors.ts";

export type ToolInput = Readonly<Record<string, unknown>>;

export interface ToolResult {
  readonly ok: boolean;
  readonly interrupted: boolean;
  /** What the model reads. */
  readonly content: string;
  /** What hooks and the stream get. */
  readonly response: unknown;
}

export interface ToolBox {
  /** Where output of commands is kept while they run; must exist. */
  readonly scratch: string;
  readonly cwd: string;
}

/** What a model gets to read of a command's output. */
const OUTPUT_CHARACTERS = 30_000;
const GRACE_MS = 500;

export async function useTool(
  box: ToolBox,
  call: { id: string; tool: string; input: ToolInput },
  signal: AbortSignal,
): Promise<ToolResult> {
  try {
    switch (call.tool) {
      case "Bash":
        return await runCommand(box, call.id, text(call.input, "command"), signal);
      case "Read":
        return await readFile(resolve(box.cwd, text(call.input, "file_path")));
      case "Write":
        return await writeFile(resolve(box.cwd, text(call.input, "file_path")), text(call.input, "content"));
      case "Edit":
        return await editFile(resolve(box.cwd, text(call.input, "file_path")), call.input);
      default:
        return fail(`No such tool available: ${call.tool}`);
    }
  } catch (error) {
    return fail(messageOf(error));
  }
}

async function runCommand(box: ToolBox, id: string, command: string, signal: AbortSignal): Promise<ToolResult> {
  const files = [`${box.scratch}/${id}.out`, `${box.scratch}/${id}.err`] as const;
  const descriptors = files.map((path) => openSync(path, "w", 0o600));
  const child = Bun.spawn(["sh", "-c", command], {
    cwd: box.cwd,
    detached: true,
    stdin: "ignore",
    stdout: descriptors[0] ?? "ignore",
    stderr: descriptors[1] ?? "ignore",
  });
  for (const descriptor of descriptors) closeSync(descriptor);
  const interrupted = await awaitEndOrAbort(child, signal);
  const [stdout, stderr] = files.map(readShortened);
  for (const path of files) rmSync(path, { force: true });
  const response = { stdout, stderr, interrupted, isImage: false };
  const output = [stdout, stderr].filter((part) => part !== "").join("\n");
  if (interrupted) return { ok: false, interrupted, content: INTERRUPTED, response };
  const code = child.exitCode ?? 128;
  if (code === 0) return { ok: true, interrupted, content: output, response };
  return { ok: false, interrupted, content: `Exit code ${code}\n${output}`.trim(), response };
}

const INTERRUPTED = "[Request interrupted by user for tool use]";

/** Ends the whole group when asked to: politely, then surely. True when it was asked to. */
async function awaitEndOrAbort(child: Bun.Subprocess, signal: AbortSignal): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abort = () => {
    signalGroup(child.pid, "SIGTERM");
    timer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), GRACE_MS);
  };
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  await child.exited;
  signal.removeEventListener("abort", abort);
  clearTimeout(timer);
  if (signal.aborted) signalGroup(child.pid, "SIGKILL");
  return signal.aborted;
}

/** The group is ours by construction (its leader is our child); that nobody is left in it is no error. */
export function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ESRCH") throw error;
  }
}

function readShortened(path: string): string {
  const output = readFileSync(path, "utf8");
  if (output.length <= OUTPUT_CHARACTERS) return output.replace(/\n$/, "");
  return `${output.slice(0, OUTPUT_CHARACTERS)}\n… ${output.length - OUTPUT_CHARACTERS} characters left out`;
}

async function readFile(path: string): Promise<ToolResult> {
  const content = await Bun.file(path).text();
  return succeed(content.slice(0, OUTPUT_CHARACTERS), { type: "text", file: { filePath: path } });
}

async function writeFile(path: string, content: string): Promise<ToolResult> {
  const type = (await Bun.file(path).exists()) ? "update" : "create";
  await Bun.write(path, content);
  return succeed(`File ${type}d successfully at: ${path}`, { type, filePath: path, content });
}

async function editFile(path: string, input: ToolInput): Promise<ToolResult> {
  const [before, after] = [text(input, "old_string"), text(input, "new_string")];
  const content = await Bun.file(path).text();
  const found = content.split(before).length - 1;
  if (found !== 1) return fail(`The string to replace was found ${found} times in ${path}; it must be there once.`);
  const at = content.indexOf(before);
  await Bun.write(path, content.slice(0, at) + after + content.slice(at + before.length));
  return succeed(`The file ${path} has been updated.`, { filePath: path, oldString: before, newString: after });
}

function text(input: ToolInput, name: string): string {
  const value = input[name];
  if (typeof value !== "string") throw new Error(`InputValidationError: ${name} must be a string.`);
  return value;
}

function succeed(content: string, response: unknown): ToolResult {
  return { ok: true, interrupted: false, content, response };
}

function fail(content: string): ToolResult {
  return { ok: false, interrupted: false, content, response: content };
}
