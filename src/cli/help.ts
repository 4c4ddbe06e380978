/**
 * Help as text: the menu, and the page of one command, both derived from the descriptions. Pure: width and colour are
 * arguments, so the same page is a golden text in a test and fits a narrow terminal. Colour only ever adds weight to
 * what already reads well without it. Loaded only when somebody asks for help.
 */
import type { Argument, Command, Option } from "./command.ts";
import { EVERY_DAY, GROUPS } from "./menu-groups.ts";
import { GLOBAL_OPTIONS } from "./parse.ts";

export interface Page {
  readonly width: number;
  readonly colour: boolean;
}

interface Listed {
  readonly name: string;
  readonly group: string;
  readonly summary: string;
  readonly hidden?: boolean;
}

/** A row of a two-column list: what one types, and what it does. */
type Row = readonly [term: string, meaning: string];

const WIDEST = 100;
const NARROWEST = 30;
/** A longer term stands on a line of its own, so that one long option does not push all meanings to the right. */
const LONGEST_TERM = 28;

const VERSION_ROW: Row = ["-v, --version", "Print the version"];

export function renderMenu(entries: readonly Listed[], page: Page & { readonly version: string }): string {
  const shown = entries.filter(({ hidden }) => hidden !== true).toSorted((a, b) => placeInMenu(a) - placeInMenu(b));
  const groups = Map.groupBy(shown, ({ group }) => group);
  const globals: Row[] = [...GLOBAL_OPTIONS.map(optionRow), VERSION_ROW];
  const column = columnOf([...shown.map(({ name }) => name), ...globals.map(([term]) => term)]);
  return [
    `${heading(`overseer ${page.version}`, page)}: runs a fleet of coding agents on a git repository`,
    `${heading("Usage:", page)} overseer <command> [options]`,
    ...[...groups].map(([group, members]) =>
      section(
        group,
        members.map(({ name, summary }): Row => [name, summary]),
        { ...page, column },
      ),
    ),
    section("Options of every command", globals, { ...page, column }),
    wrap("Run 'overseer help <command>' for its options and examples.", "", page.width),
  ].join("\n\n");
}

/** By group, and every day's commands in the order of the day; equal ones stay as they stand in the menu. */
function placeInMenu({ name, group }: Listed): number {
  const groupPlace = GROUPS.indexOf(group);
  const own = group === GROUPS[0] ? EVERY_DAY.indexOf(name) : 0;
  return (groupPlace < 0 ? GROUPS.length : groupPlace) * 100 + own;
}

export function renderCommand(command: Command<never>, page: Page & { readonly calledAs: string }): string {
  const args = (command.args ?? []).map((argument): Row => [argumentTerm(argument), withChoices(argument)]);
  const subcommands = (command.subcommands ?? []).map((sub): Row => [usageOf(sub), sub.summary]);
  const options = (command.options ?? []).map(optionRow);
  const globals = GLOBAL_OPTIONS.map(optionRow);
  const column = columnOf([...args, ...subcommands, ...options, ...globals].map(([term]) => term));
  const examples = (command.examples ?? []).map(({ line, why }) => `  ${line}\n${wrap(why, "      ", page.width)}`);
  return [
    wrap(command.summary, "", page.width),
    `${heading("Usage:", page)} ${usageOf(command, page.calledAs)} [options]`,
    command.details === undefined ? "" : paragraphs(command.details, page.width),
    section("Commands", subcommands, { ...page, column }),
    section("Arguments", args, { ...page, column }),
    section("Options", options, { ...page, column }),
    section("Options of every command", globals, { ...page, column }),
    examples.length === 0 ? "" : `${heading("Examples", page)}\n${examples.join("\n")}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function usageOf(command: Command<never>, calledAs: string = command.name): string {
  const rest = command.subcommands === undefined ? (command.args ?? []).map(argumentTerm) : ["<command>"];
  return [calledAs, ...rest].join(" ");
}

function argumentTerm({ name, optional, rest }: Argument): string {
  const named = `<${name}>${rest === true ? "..." : ""}`;
  return optional === true ? `[${named}]` : named;
}

function optionRow(option: Option): Row {
  const short = option.short === undefined ? "    " : `-${option.short}, `;
  const value = option.value === undefined ? "" : ` <${option.value}>`;
  return [`${short}--${option.name}${value}`, withChoices(option)];
}

function withChoices({ summary, choices, repeat }: Argument & { readonly repeat?: boolean }): string {
  const notes = [
    ...(choices === undefined ? [] : [`one of ${choices.join(", ")}`]),
    ...(repeat === true ? ["may be repeated"] : []),
  ];
  return notes.length === 0 ? summary : `${summary} (${notes.join("; ")})`;
}

function columnOf(terms: readonly string[]): number {
  const fitting = terms.map((term) => Bun.stringWidth(term)).filter((width) => width <= LONGEST_TERM);
  return Math.max(0, ...fitting) + 4;
}

function section(title: string, rows: readonly Row[], page: Page & { readonly column: number }): string {
  if (rows.length === 0) return "";
  return [heading(title, page), ...rows.map((row) => renderRow(row, page))].join("\n");
}

function renderRow([term, meaning]: Row, page: Page & { readonly column: number }): string {
  const shown = `  ${page.colour ? `\u001b[36m${term}\u001b[39m` : term}`;
  const taken = Bun.stringWidth(term) + 2;
  const tooNarrow = clamp(page.width) - page.column < NARROWEST;
  const indent = " ".repeat(tooNarrow ? 6 : page.column);
  const wrapped = wrap(meaning, indent, page.width);
  const besides = !tooNarrow && taken + 2 <= page.column;
  return besides ? shown + " ".repeat(page.column - taken) + wrapped.slice(page.column) : `${shown}\n${wrapped}`;
}

function heading(text: string, page: Page): string {
  return page.colour ? `\u001b[1m${text}\u001b[22m` : text;
}

/** Paragraphs are refilled; lines that begin with a space are meant as they stand. */
function paragraphs(text: string, width: number): string {
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => (/^\s/.test(paragraph) ? paragraph : wrap(paragraph, "", width)))
    .join("\n\n");
}

function wrap(text: string, indent: string, width: number): string {
  const room = clamp(width) - indent.length;
  const lines: string[] = [];
  let line = "";
  for (const word of text.trim().split(/\s+/)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && Bun.stringWidth(longer) > room) {
      lines.push(indent + line);
      line = word;
    } else line = longer;
  }
  return [...lines, indent + line].join("\n");
}

function clamp(width: number): number {
  return Math.min(WIDEST, Math.max(NARROWEST, width));
}
