/**
 * The scripted agent: an executable started like any coding agent's CLI, which speaks Claude Code's stream-json both
 * ways, calls its hooks, keeps its transcripts, and plays the script in its task text instead of asking a model. It
 * serves demo, tests and simulator, so it is honest about the ugly parts: it can hang, lie, flood, die and leave
 * children behind. This file wires the parts and turns signals and faults into exits; it needs OVERSEER_SCRIPTED_HOME.
 *
 * Environment: OVERSEER_SCRIPTED_HOME, the directory that holds transcripts (required); OVERSEER_SCRIPT_SPEED, how
 * much faster than written the script is played (default 1).
 */
import { mkdirSync, readFileSync } from "node:fs";
import { messageOf, OverseerError } from "#errors.ts";
import { Conversation } from "./conversation.ts";
import { type Flags, parseFlags } from "./flags.ts";
import { CLAUDE_SPEECH, Hooks, loadHooks } from "./hooks.ts";
import { Inbox, readIncoming, textMessage } from "./inbox.ts";
import { PLAIN } from "./plain.ts";
import { PLAIN_SPEECH } from "./plain-speech.ts";
import { NOTHING_IN_MIND } from "./play.ts";
import { PipeLineWriter, ReaderGone, readLines } from "./stream.ts";
import { type Memory, newTranscriptPath, oldTranscriptPath, remember, Transcript } from "./transcript.ts";

const VERSION = "1.0.0 (Overseer scripted agent)";
const POLITE_END_MS = 3_000;
const FRESH: Memory = { play: NOTHING_IN_MIND, scripts: new Map(), lostCalls: [], lastLine: null };

async function main(argv: readonly string[]): Promise<number> {
  const flags = parseFlags(argv);
  const stdout = new PipeLineWriter(Bun.stdout);
  if (flags.version) {
    await stdout.text(`${VERSION}\n`);
    return 0;
  }
  const inbox = new Inbox();
  const conversation = converse(flags, inbox, stdout);
  endOnSignals(conversation);
  const talking = conversation.run();
  if (flags.inputFormat === "text") {
    const prompt = flags.prompt ?? (await Bun.stdin.text());
    inbox.add(textMessage(prompt, crypto.randomUUID()));
    inbox.close();
    return talking;
  }
  // Whichever ends first: input that makes no sense ends the agent at once, the end of input only what follows.
  return Promise.race([talking, listen(conversation, inbox).then(() => talking)]);
}

async function listen(conversation: Conversation, inbox: Inbox): Promise<void> {
  for await (const line of readLines(Bun.stdin.stream())) {
    const incoming = readIncoming(line, () => crypto.randomUUID());
    if (incoming.kind === "user") inbox.add(incoming.message);
    else if (incoming.kind === "control") await conversation.answer(incoming.request);
  }
  inbox.close();
}

function converse(flags: Flags, inbox: Inbox, stdout: PipeLineWriter): Conversation {
  const home = readScriptedHome();
  const cwd = process.cwd();
  const session = flags.resume ?? flags.sessionId ?? crypto.randomUUID();
  const path = flags.resume === undefined ? newTranscriptPath(home, cwd, session) : oldTranscriptPath(home, session);
  const memory = flags.resume === undefined ? FRESH : remember(path);
  const transcript = new Transcript(path, { sessionId: session, cwd });
  transcript.goOnAfter(memory.lastLine);
  noteSystemPrompt(flags, transcript);
  const scratch = `${home}/tasks/${session}`;
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const speech = flags.dialect === PLAIN ? PLAIN_SPEECH : CLAUDE_SPEECH;
  const common = { session_id: session, transcript_path: path, cwd };
  return new Conversation({
    session,
    resumed: flags.resume !== undefined,
    cwd,
    model: flags.model,
    permissionMode: flags.permissionMode,
    speed: scriptSpeed(),
    home,
    echoes: flags.replayUserMessages,
    inbox,
    out: outputOf(flags, stdout),
    stderr: new PipeLineWriter(Bun.stderr),
    hooks: new Hooks(loadHooks(flags.settings, speech), common, hookEnvironment(cwd, session), speech),
    speech,
    transcript,
    memory,
    tools: { scratch, cwd },
  });
}

/** Without stream-json only the result is shown: as its line, or as its words. */
function outputOf(flags: Flags, stdout: PipeLineWriter): (line: Record<string, unknown>) => Promise<void> {
  if (flags.outputFormat === "stream-json") return (line) => stdout.line(line);
  return async (line) => {
    if (line.type !== "result") return;
    if (flags.outputFormat === "json") await stdout.line(line);
    else await stdout.text(`${String(line.result ?? "")}\n`);
  };
}

function noteSystemPrompt(flags: Flags, transcript: Transcript): void {
  const file = flags.systemPromptFile;
  const text = file === undefined ? flags.systemPrompt : readSystemPrompt(file);
  if (text !== undefined)
    transcript.add({ type: "system", subtype: "system_prompt", uuid: crypto.randomUUID(), content: text });
}

function readSystemPrompt(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const message = `Append system prompt file not found: ${file}.`;
    throw new OverseerError("config", "SYSTEM_PROMPT_MISSING", message, "Write it before starting the agent.", {
      cause,
    });
  }
}

/** Transcripts are what `--resume` lives on, so where they go is never guessed. */
function readScriptedHome(): string {
  const home = process.env.OVERSEER_SCRIPTED_HOME;
  if (home?.startsWith("/")) return home;
  throw new OverseerError(
    "environment",
    "SCRIPTED_HOME_MISSING",
    "OVERSEER_SCRIPTED_HOME is not set to an absolute path.",
    "Set it to a directory that keeps the transcripts of this agent.",
  );
}

function scriptSpeed(): number {
  const speed = Number(process.env.OVERSEER_SCRIPT_SPEED ?? "1");
  if (Number.isFinite(speed) && speed > 0) return speed;
  const message = `OVERSEER_SCRIPT_SPEED is "${process.env.OVERSEER_SCRIPT_SPEED}".`;
  throw new OverseerError("environment", "SCRIPT_SPEED_BROKEN", message, "Set it to a number above 0.");
}

function hookEnvironment(cwd: string, session: string): Record<string, string> {
  const own = { CLAUDE_PROJECT_DIR: cwd, CLAUDE_CODE_SESSION_ID: session, CLAUDE_PID: String(process.pid) };
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(inherited), ...own };
}

/** A polite end: the running tool is ended and SessionEnd is told; if that takes too long, it ends without. */
function endOnSignals(conversation: Conversation): void {
  const signals = [
    ["SIGTERM", 143, "silently"],
    ["SIGHUP", 129, "silently"],
    ["SIGINT", 0, "with a result"],
  ] as const;
  for (const [signal, code, how] of signals) {
    process.once(signal, () => {
      conversation.leave(code, how);
      setTimeout(() => process.exit(code), POLITE_END_MS);
    });
  }
}

function leaveWith(error: unknown): never {
  if (error instanceof ReaderGone) process.exit(1);
  const known = error instanceof OverseerError;
  console.warn(known ? `${error.message} ${error.hint}` : `The scripted agent failed: ${messageOf(error)}`);
  process.exit(1);
}

// The single binary is started with the name of this part in front.
main(Bun.argv.slice(2).filter((word, index) => index > 0 || word !== "__scripted-agent")).then(
  (code) => process.exit(code),
  leaveWith,
);
