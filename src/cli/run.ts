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
  /** What a person at a terminal gets who names no command. */
  openAlone?(parts: Parts): Promise<void>;
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
    return await report(error, { json: asksForJson(words), debug: cli.env.OVERSEER_DEBUG === "1", out: cli.out });
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
  if (name === undefined) return words.length === 0 && cli.out.interactive ? showAlone(cli) : showMenu(cli);
  if (name === "help" || options?.has("help")) return helpOn(name === "help" ? after : rest, cli);
  const entry = cli.menu.find((one) => one.name === name);
  if (entry === undefined) return dispatch(await translate(name, after, globals, cli), cli);
  const found = await descend(entry, [...globals, ...after], cli);
  return found.command.subcommands === undefined ? runCommand(found, cli) : showGroup(found, words, cli);
}

/** The same call in our own words, where its first one is another program's for the same; throws where it is not. */
async function translate<Parts>(
  name: string,
  after: readonly string[],
  globals: readonly string[],
  cli: Cli<Parts>,
): Promise<readonly string[]> {
  const { SYNONYMS } = await import("#cli/synonyms.ts");
  const synonym = SYNONYMS.get(name.toLowerCase());
  if (synonym === undefined) throw unknownCommand(name, cli.menu, PROGRAM.name);
  if ("instead" in synonym) {
    throw usage({
      code: "UNKNOWN_COMMAND",
      message: `${PROGRAM.name} has no command "${name}".`,
      hint: synonym.instead,
    });
  }
  // Of a group the options belong to its list; elsewhere a word among them is what the command is about.
  const ofGroup = synonym.alone?.[0] === synonym.as[0];
  const alone = ofGroup ? (after[0] ?? "-").startsWith("-") : after.every((word) => word.startsWith("-"));
  const ours = (alone ? synonym.alone : undefined) ?? synonym.as;
  // Somebody else's menu, as that of a small bundle, may not have it; then the word is as unknown as any other.
  const known = ours[0]?.startsWith("-") || ours[0] === "help" || cli.menu.some((one) => one.name === ours[0]);
  if (!known) throw unknownCommand(name, cli.menu, PROGRAM.name);
  remarkMeaning([name], ours, cli, [...globals, ...after]);
  return [...globals, ...ours, ...after];
}

function remarkMeaning<Parts>(
  theirs: readonly string[],
  ours: readonly string[],
  { out }: Cli<Parts>,
  words: readonly string[],
): void {
  if (asksForJson(words)) return; // what stands on stderr is read by a program then
  const text = `(${visible(theirs.join(" "))} is '${formatPath(ours)}' here)`;
  out.remark(out.colour ? `\u001b[2m${text}\u001b[22m` : text);
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
      const meant = command.subcommands.find((one) => one.name === otherwise);
      if (meant === undefined) throw new Error(`The group "${path}" has no command ${otherwise}.`);
      command = meant;
      names.push(otherwise);
      break;
    }
    if (globals.length > 0) parse({ name: path, summary: "" }, globals, path);
    if (name === undefined) break;
    left = name === "help" ? ["--help", ...after] : [...globals, ...after];
    if (name === "help") continue;
    const meant = await findBelow(name, command.subcommands, { names, left, cli });
    command = meant;
    names.push(meant.name);
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

/** Agents, and doors without a view, get the menu. */
async function showAlone<Parts>(cli: Cli<Parts>): Promise<number> {
  if (!cli.openAlone || cli.refuseCall) return showMenu(cli);
  await cli.openAlone(await cli.parts({ json: false, out: cli.out }));
  return 0;
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
  const entry = cli.menu.find((one) => one.name === name);
  if (entry === undefined) return helpOn(await translate(name, after, [], cli), cli);
  let { default: command } = await entry.load();
  const names = [name];
  for (const next of after) {
    if (command.subcommands === undefined) break;
    command = await findBelow(next, command.subcommands, { names, left: after, cli });
    names.push(command.name);
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

/** A command of a group, by its name or by another program's word for the same. */
async function findBelow<Parts>(
  name: string,
  among: readonly Command<Parts>[],
  { names, left, cli }: { names: readonly string[]; left: readonly string[]; cli: Cli<Parts> },
): Promise<Command<Parts>> {
  const found = among.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const { synonymBelow } = await import("#cli/synonyms.ts");
  const path = formatPath(names);
  const synonym = synonymBelow(
    name,
    among.map((one) => one.name),
  );
  const meant = among.find((candidate) => candidate.name === synonym?.to);
  if (!synonym || !meant) throw unknownCommand(name, among, path);
  if (!synonym.same) {
    const message = `${path} has no command "${name}".`;
    throw usage({ code: "UNKNOWN_COMMAND", message, hint: `What there is instead: ${path} ${synonym.to}` });
  }
  remarkMeaning([...names, name], [...names, synonym.to], cli, left);
  return meant;
}

function unknownCommand(
  name: string,
  among: readonly { readonly name: string; readonly hidden?: boolean }[],
  path: string,
): OverseerError {
  const offered = among.filter(({ hidden }) => hidden !== true).map((candidate) => candidate.name);
  const guess = nearest(name, [...offered, "help"]);
  // `overseer agents builder-1` and `work T1`: a name where a command belongs.
  const shows = guess === undefined && offered.includes("show") && /[\d_]/.test(name);
  return usage({
    code: "UNKNOWN_COMMAND",
    message:
      name.trim() === "" ? `${path} was given an empty word for a command.` : `${path} has no command "${name}".`,
    hint: shows
      ? `Did you mean: ${path} show ${name}`
      : guess === undefined
        ? `See: ${path} --help`
        : `Did you mean: ${path} ${guess}`,
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

async function report(
  error: unknown,
  { json, debug, out }: { json: boolean; debug: boolean; out: Output },
): Promise<number> {
  const shown =
    error instanceof OverseerError
      ? error
      : (diskError(error) ?? new OverseerError("internal", "INTERNAL", messageOf(error), REPORT_IT, { cause: error }));
  const { kind, code, message, hint, details } = shown;
  const stack = debug ? traceOf(error) : undefined;
  if (json) out.remark(visibleJson(JSON.stringify({ error: { kind, code, message, hint, ...details, stack } })));
  else {
    const { breakSentences } = await import("#cli/text.ts");
    const fit = (text: string, rest: string) => breakSentences(out, printable(text), rest).join("\n");
    const label = kind === "internal" ? "internal error: " : "";
    out.problem(fit(`overseer: ${label}${message}`, "  "));
    out.remark(fit(`  hint: ${hint.replaceAll("\n", "\n        ")}`, "        "));
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
