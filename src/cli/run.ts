/**
 * One call of the program from words to exit code: finds the command in the menu, checks the words against it, runs it,
 * and is the only place that shows errors. A command is loaded when it is called and its parts are built when it runs,
 * so help, suggestions and mistakes never touch a repository. What is seldom needed (help) is loaded when needed.
 */
import { nearest } from "#domain/core/nearest.ts";
import { visible, visibleJson } from "#domain/core/terminal-text.ts";
import { diskError, EXIT_CODES, messageOf, OverseerError } from "#errors.ts";
import { callOf } from "./call.ts";
import type { Command } from "./command.ts";
import type { MenuEntry } from "./menu.ts";
import type { Output } from "./output.ts";
import { type CallValues, parseCall, splitGlobals, type UsageProblem } from "./parse.ts";
import { type Environment, OutputReaderGone } from "./print.ts";

export interface Globals {
  readonly root?: string;
  readonly json: boolean;
  readonly out: Output;
}

export interface Cli<Parts> {
  readonly menu: readonly MenuEntry<Parts>[];
  readonly version: string;
  readonly env: Environment;
  readonly out: Output;
  /** Called at most once, and only when a command is about to run. */
  parts(globals: Globals): Parts | Promise<Parts>;
  /** The seat belt of agents: a sentence that refuses this command, or nothing. `sub` is "" for a command without. */
  refuseCall?(entryName: string, sub: string): string | undefined;
  /** Throws when whoever calls is not who it says it is. Asked once, before the parts are built; "goal create". */
  admit?(called: string, root: string | undefined): Promise<void>;
}

/** What may stand before any command. */
const PROGRAM: Command<never> = {
  name: "overseer",
  summary: "",
  options: [{ name: "version", short: "v", summary: "Print the version" }],
};

/** Never throws; the answer is the exit code of the process. */
export async function runCli<Parts>(words: readonly string[], cli: Cli<Parts>): Promise<number> {
  try {
    return await dispatch(words, cli);
  } catch (error) {
    if (error instanceof OutputReaderGone) return 0;
    return report(error, { json: asksForJson(words), debug: cli.env.OVERSEER_DEBUG === "1", out: cli.out });
  }
}

async function dispatch<Parts>(words: readonly string[], cli: Cli<Parts>): Promise<number> {
  const { globals, rest } = splitGlobals(words);
  // Nearly always there are none, and then reading them would only cost time.
  const options = globals.length === 0 ? undefined : parse(PROGRAM, globals, PROGRAM.name).options;
  if (options?.has("version")) {
    cli.out.line(cli.version);
    return 0;
  }
  const [name, ...after] = rest;
  if (name === undefined) return showMenu(cli);
  if (name === "help" || options?.has("help")) return helpOn(name === "help" ? after : rest, cli);
  const entry = find(name, cli.menu, PROGRAM.name);
  const found = await descend(entry, [...globals, ...after], cli);
  return found.command.subcommands === undefined ? runCommand(found, cli) : showGroup(found, words, cli);
}

/** A command, how it was reached, and the words that are left for it. */
interface Found<Parts> {
  readonly command: Command<Parts>;
  /** "overseer goal create" */
  readonly path: string;
  readonly words: readonly string[];
}

async function descend<Parts>(
  entry: MenuEntry<Parts>,
  words: readonly string[],
  cli: Cli<Parts>,
): Promise<Found<Parts>> {
  let { default: command } = await entry.load();
  const names = [entry.name];
  let left = words;
  while (command.subcommands !== undefined) {
    const path = formatPath(names);
    const { globals, rest } = splitGlobals(left);
    const [name, ...after] = rest;
    const { otherwise } = command;
    if (name === undefined && otherwise !== undefined && !left.some((word) => word === "--help" || word === "-h")) {
      command = find(otherwise, command.subcommands, path);
      names.push(otherwise);
      break;
    }
    if (globals.length > 0) parse({ name: path, summary: "" }, globals, path);
    if (name === undefined) break;
    left = name === "help" ? ["--help", ...after] : [...globals, ...after];
    if (name === "help") continue;
    command = find(name, command.subcommands, path);
    names.push(name);
  }
  assertForCaller(names, cli);
  return { command, path: formatPath(names), words: left };
}

function assertForCaller<Parts>([entryName = "", ...subs]: readonly string[], cli: Cli<Parts>): void {
  const refusal = cli.refuseCall?.(entryName, subs.join(" "));
  if (refusal === undefined) return;
  throw new OverseerError("conflict", "NOT_FOR_AGENTS", refusal, "Report what you need; a person can run it.");
}

function formatPath(names: readonly string[]): string {
  return [PROGRAM.name, ...names].join(" ");
}

async function runCommand<Parts>(found: Found<Parts>, cli: Cli<Parts>): Promise<number> {
  const { command, path, words } = found;
  const values = parse(command, words, path);
  const { options } = values;
  if (options.has("help")) return showHelp(found, cli);
  if (command.run === undefined) throw new Error(`The command "${path}" has neither a run nor subcommands.`);
  const root = options.get("root")?.at(-1);
  await cli.admit?.(path.slice(PROGRAM.name.length + 1), root);
  const parts = await cli.parts({ json: options.has("json"), out: cli.out, ...(root === undefined ? {} : { root }) });
  await command.run(callOf(command, values, cli.out), parts);
  return 0;
}

/** A group by itself does nothing. Its help is the answer to a question, or the next step after a mistake. */
async function showGroup<Parts>(found: Found<Parts>, words: readonly string[], cli: Cli<Parts>): Promise<number> {
  if (parse({ name: found.path, summary: "" }, found.words, found.path).options.has("help"))
    return showHelp(found, cli);
  if (asksForJson(words)) {
    const names = (withOffered(found.command, found.path, cli).subcommands ?? []).map(({ name }) => name).join(", ");
    throw usage({
      code: "MISSING_COMMAND",
      message: `${found.path} needs one of: ${names}.`,
      hint: `See: ${found.path} --help`,
    });
  }
  const { renderCommand } = await import("./help.ts");
  const { width, colour } = cli.out;
  cli.out.remark(renderCommand(withOffered(found.command, found.path, cli), { calledAs: found.path, width, colour }));
  return EXIT_CODES.usage;
}

async function showMenu<Parts>(cli: Cli<Parts>): Promise<number> {
  const { renderMenu } = await import("./help.ts");
  const { width, colour } = cli.out;
  const offered = cli.menu.filter(({ name }) => cli.refuseCall?.(name, "") === undefined);
  cli.out.line(renderMenu(offered, { version: cli.version, width, colour }));
  return 0;
}

async function helpOn<Parts>(words: readonly string[], cli: Cli<Parts>): Promise<number> {
  const [name, ...after] = words.filter((word) => !word.startsWith("-"));
  if (name === undefined) return showMenu(cli);
  let { default: command } = await find(name, cli.menu, PROGRAM.name).load();
  const names = [name];
  for (const next of after) {
    if (command.subcommands === undefined) break;
    command = find(next, command.subcommands, formatPath(names));
    names.push(next);
  }
  assertForCaller(names, cli);
  return showHelp({ command, path: formatPath(names), words: [] }, cli);
}

async function showHelp<Parts>({ command, path }: Found<Parts>, cli: Cli<Parts>): Promise<number> {
  const { renderCommand } = await import("./help.ts");
  const { out } = cli;
  out.line(renderCommand(withOffered(command, path, cli), { calledAs: path, width: out.width, colour: out.colour }));
  return 0;
}

/** A group with those of its commands that whoever asks may run. */
function withOffered<Parts>(command: Command<Parts>, path: string, cli: Cli<Parts>): Command<Parts> {
  const { subcommands } = command;
  if (subcommands === undefined || !cli.refuseCall) return command;
  const [entryName = "", ...subs] = path.split(" ").slice(1);
  const isOffered = ({ name }: Command<Parts>) => cli.refuseCall?.(entryName, [...subs, name].join(" ")) === undefined;
  return { ...command, subcommands: subcommands.filter(isOffered) };
}

function find<Named extends { readonly name: string; readonly hidden?: boolean }>(
  name: string,
  among: readonly Named[],
  path: string,
): Named {
  const found = among.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const offered = among.filter(({ hidden }) => hidden !== true).map((candidate) => candidate.name);
  const guess = nearest(name, [...offered, "help"]);
  throw usage({
    code: "UNKNOWN_COMMAND",
    message: `${path} has no command "${name}".`,
    hint: guess === undefined ? `See: ${path} --help` : `Did you mean: ${path} ${guess}`,
  });
}

function parse(command: Command<never>, words: readonly string[], path: string): CallValues {
  const parsed = parseCall(command, words, path);
  if (!parsed.ok) throw usage(parsed.problem);
  return parsed.values;
}

function usage({ code, message, hint }: UsageProblem): OverseerError {
  return new OverseerError("usage", code, message, hint);
}

/** Also right for words that could not be parsed, which is when it matters most. */
function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return (end < 0 ? words : words.slice(0, end)).includes("--json");
}

const REPORT_IT =
  "This is a fault in overseer, not in what you typed. Please report it with the command you ran; OVERSEER_DEBUG=1 shows where it happened.";

function report(error: unknown, { json, debug, out }: { json: boolean; debug: boolean; out: Output }): number {
  const shown =
    error instanceof OverseerError
      ? error
      : (diskError(error) ?? new OverseerError("internal", "INTERNAL", messageOf(error), REPORT_IT, { cause: error }));
  const { kind, code, message, hint, details } = shown;
  const stack = debug ? traceOf(error) : undefined;
  if (json) out.remark(visibleJson(JSON.stringify({ error: { kind, code, message, hint, ...details, stack } })));
  else {
    const label = kind === "internal" ? "internal error: " : "";
    out.remark(printable(`overseer: ${label}${message}\n  hint: ${hint.replaceAll("\n", "\n        ")}`));
    if (stack !== undefined) out.remark(printable(stack));
  }
  return shown.exitCode;
}

function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by: ${traceOf(error.cause)}`;
}

/** Messages quote what was typed and what other programs said; neither may steer the reader's terminal. */
function printable(text: string): string {
  return text.split("\t").map(visible).join("\t");
}
