/**
 * Shell text, both ways. Writing: a word quoted so that any POSIX shell reads it back unchanged; the hook commands in
 * an agent's settings are the only shell text this product ever writes. Reading: a command line split into the simple
 * commands it would run, with their words, redirects and connections, as far as that can be told without running it.
 *
 * Reading serves advice, not safety: expansions stay unexpanded and are marked, text inside quotes and here-documents
 * is data and never a command, and what cannot be understood is returned as words rather than refused. Never throws.
 */

/** One word, quoted where a shell would otherwise see something in it. NUL cannot be in an argument and is dropped. */
export function shellWord(text: string): string {
  const word = text.replaceAll("\0", "");
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function shellCommand(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

export interface ShellWord {
  /** The word with its quotes removed; expansions stand as they were written. */
  readonly text: string;
  /** It holds `$…`, a backquote, or an unquoted pattern, so what the command gets may be something else. */
  readonly expands: boolean;
  /** Some part of it was quoted: such a word is never a keyword. */
  readonly quoted: boolean;
  /** Command lines inside it that run first: `$(…)`, backquotes, `<(…)`. */
  readonly inner: readonly string[];
}

export interface ShellRedirect {
  readonly op: string;
  readonly target: ShellWord;
}

/** What stands between a command and the one before it. */
export type ShellJoint = "start" | ";" | "&" | "&&" | "||" | "|" | "(" | ")" | "{" | "\n";

export interface ShellCommand {
  readonly joint: ShellJoint;
  /** Keywords in front of it, in order: while, until, for, if, do, then … */
  readonly keywords: readonly string[];
  /** `NAME=value` in front of it. */
  readonly assignments: readonly ShellWord[];
  readonly words: readonly ShellWord[];
  readonly redirects: readonly ShellRedirect[];
  /** How many subshells it stands inside; a `cd` in one is forgotten at its end. */
  readonly depth: number;
}

export type ShellToken =
  | { readonly kind: "word"; readonly word: ShellWord }
  | { readonly kind: "op"; readonly op: string }
  | { readonly kind: "redirect"; readonly op: string };

/** Longest first, so that `&&` is not read as two `&`. */
const OPERATORS = [";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")", "\n"] as const;
const REDIRECTS = ["<<<", "<<-", "&>>", ">>", "<<", ">&", "<&", "&>", ">|", "<>", ">", "<"] as const;
const KEYWORDS: ReadonlySet<string> = new Set(
  "if then else elif fi for while until do done case esac select function in { } ! time".split(" "),
);
/** Keywords after which a new command begins at once. */
const OPENERS: ReadonlySet<string> = new Set("if then else elif while until do { ! time".split(" "));

/** The tokens of a command line. Comments and the bodies of here-documents are left out. */
export function shellTokens(text: string): ShellToken[] {
  const tokens: ShellToken[] = [];
  /** Here-documents announced on this line; their bodies begin after it. */
  let bodies: { readonly end: string; readonly tabs: boolean }[] = [];
  let heredoc: "<<" | "<<-" | undefined;
  let at = 0;
  while (at < text.length) {
    const sign = text[at] as string;
    if (sign === " " || sign === "\t" || sign === "\r") {
      at += 1;
      continue;
    }
    if (sign === "\\" && text[at + 1] === "\n") {
      at += 2;
      continue;
    }
    if (sign === "#") {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
      continue;
    }
    const redirect = redirectAt(text, at);
    if (redirect !== undefined) {
      tokens.push({ kind: "redirect", op: redirect });
      heredoc = redirect === "<<" || redirect === "<<-" ? redirect : undefined;
      at += redirect.length;
      continue;
    }
    const op = OPERATORS.find((one) => text.startsWith(one, at));
    if (op !== undefined) {
      tokens.push({ kind: "op", op });
      heredoc = undefined;
      at += op.length;
      if (op === "\n" && bodies.length > 0) {
        for (const body of bodies) at = afterBody(text, at, body);
        bodies = [];
      }
      continue;
    }
    const { word, next } = wordAt(text, at);
    at = next;
    // `2>file`: the digits name a descriptor, they are no word.
    if (/^\d+$/.test(word.text) && !word.quoted && (text[at] === ">" || text[at] === "<")) continue;
    tokens.push({ kind: "word", word });
    if (heredoc !== undefined) {
      bodies.push({ end: word.text, tabs: heredoc === "<<-" });
      heredoc = undefined;
    }
  }
  return tokens;
}

function redirectAt(text: string, at: number): string | undefined {
  // `<(` and `>(` are files made from commands: taken as a word, see wordAt.
  if ((text[at] === "<" || text[at] === ">") && text[at + 1] === "(") return undefined;
  return REDIRECTS.find((one) => text.startsWith(one, at));
}

function afterBody(text: string, from: number, body: { readonly end: string; readonly tabs: boolean }): number {
  let at = from;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    at = newline < 0 ? text.length : newline + 1;
    if ((body.tabs ? line.replace(/^\t+/, "") : line) === body.end) return at;
  }
  return at;
}

const ENDS_WORD = /[\s;&|()<>]/;

/** A word while it is read. */
class WordPieces {
  text = "";
  expands = false;
  quoted = false;
  readonly inner: string[] = [];

  /** Takes the expansion at `at` as it is written; returns where it ends. */
  expansion(source: string, at: number): number {
    const end = afterExpansion(source, at);
    const written = source.slice(at, end);
    if (end > at + 1) this.expands = true;
    if (/^(?:`|[$<>]\((?!\())/.test(written)) {
      this.inner.push(written.replace(/^(?:`|[$<>]\()/, "").replace(/[`)]$/, ""));
    }
    this.text += written;
    return end;
  }
}

/** Reads one word. Always moves on, also over what is never closed. */
function wordAt(text: string, from: number): { word: ShellWord; next: number } {
  const word = new WordPieces();
  let at = from;
  while (at < text.length) {
    const sign = text[at] as string;
    if ((sign === "<" || sign === ">") && at === from) {
      // Only a command made into a file gets here; every other such sign is a redirect.
      at = word.expansion(text, at);
    } else if (ENDS_WORD.test(sign)) {
      break;
    } else if (sign === "'") {
      const end = text.indexOf("'", at + 1);
      word.text += text.slice(at + 1, end < 0 ? text.length : end);
      word.quoted = true;
      at = end < 0 ? text.length : end + 1;
    } else if (sign === '"') {
      word.quoted = true;
      at = doubleQuoted(text, at + 1, word);
    } else if (sign === "\\") {
      if (text[at + 1] !== "\n") word.text += text[at + 1] ?? "\\";
      word.quoted = true;
      at += 2;
    } else if (sign === "$" && text[at + 1] === "'") {
      word.quoted = true;
      at = dollarQuoted(text, at + 2, word);
    } else if (sign === "$" || sign === "`") {
      at = word.expansion(text, at);
    } else {
      if (sign === "*" || sign === "?" || sign === "[") word.expands = true;
      word.text += sign;
      at += 1;
    }
  }
  const { expands, quoted, inner } = word;
  return { word: { text: word.text, expands, quoted, inner }, next: Math.min(Math.max(at, from + 1), text.length) };
}

function doubleQuoted(text: string, from: number, word: WordPieces): number {
  let at = from;
  while (at < text.length && text[at] !== '"') {
    const sign = text[at] as string;
    if (sign === "\\" && /[\\"$`\n]/.test(text[at + 1] ?? "")) {
      if (text[at + 1] !== "\n") word.text += text[at + 1];
      at += 2;
    } else if (sign === "$" || sign === "`") {
      at = word.expansion(text, at);
    } else {
      word.text += sign;
      at += 1;
    }
  }
  return Math.min(at + 1, text.length);
}

/** `$'…'`: only the escapes that matter for names are undone. */
function dollarQuoted(text: string, from: number, word: WordPieces): number {
  const known: Readonly<Record<string, string>> = { n: "\n", t: "\t", "'": "'", '"': '"', "\\": "\\" };
  let at = from;
  while (at < text.length && text[at] !== "'") {
    if (text[at] === "\\") {
      const next = text[at + 1] ?? "";
      word.text += known[next] ?? `\\${next}`;
      at += 2;
    } else {
      word.text += text[at];
      at += 1;
    }
  }
  return Math.min(at + 1, text.length);
}

/** Where `$name`, `${…}`, `$(…)`, `$((…))`, `<(…)` or a backquote ends. A lone `$` is itself. */
function afterExpansion(text: string, at: number): number {
  if (text[at] === "`") {
    let end = at + 1;
    while (end < text.length && text[end] !== "`") end += text[end] === "\\" ? 2 : 1;
    return Math.min(end + 1, text.length);
  }
  const next = text[at + 1] ?? "";
  if (next === "(") return afterParens(text, at + 1);
  if (next === "{") {
    const end = text.indexOf("}", at);
    return end < 0 ? text.length : end + 1;
  }
  const name = /^(?:[A-Za-z_][A-Za-z0-9_]{0,100}|[0-9@*#?$!-])/.exec(text.slice(at + 1, at + 103))?.[0];
  return at + 1 + (name?.length ?? 0);
}

/** Behind the parenthesis that closes the one at `open`; quotes inside are skipped over. */
function afterParens(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === "\\") at += 1;
    else if (sign === "'") {
      const end = text.indexOf("'", at + 1);
      at = end < 0 ? text.length : end;
    } else if (sign === '"') at = doubleQuotedEnd(text, at + 1);
    else if (sign === "(") depth += 1;
    else if (sign === ")") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

/** The index of the closing quote, expansions inside passed over only by their escapes: enough to find the end. */
function doubleQuotedEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return Math.min(at, text.length);
}

/** The simple commands of a command line, in the order they run; those inside `$(…)` come before their command. */
export function shellCommands(text: string, nesting = 0): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let joint: ShellJoint = "start";
  let depth = 0;
  let now = emptyCommand();
  let redirect: string | undefined;
  const close = () => {
    if (now.words.length + now.redirects.length + now.keywords.length + now.assignments.length > 0) {
      commands.push({ joint, depth, ...now });
    }
    now = emptyCommand();
    redirect = undefined;
  };
  for (const token of shellTokens(text)) {
    if (token.kind === "op") {
      close();
      if (token.op === "(") depth += 1;
      if (token.op === ")") depth = Math.max(0, depth - 1);
      joint = jointOf(token.op);
    } else if (token.kind === "redirect") {
      redirect = token.op;
    } else if (redirect !== undefined) {
      now.redirects.push({ op: redirect, target: token.word });
      redirect = undefined;
    } else take(token.word);
  }
  close();
  return nesting < MOST_NESTING
    ? commands.flatMap((command) => [...innerCommands(command, nesting), command])
    : commands;

  function take(word: ShellWord): void {
    const first = now.words.length === 0 && now.assignments.length === 0;
    if (first && !word.quoted && KEYWORDS.has(word.text) && !inList(now.keywords)) {
      now.keywords.push(word.text);
      return;
    }
    if (now.words.length === 0 && /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word.text)) now.assignments.push(word);
    else now.words.push(word);
  }
}

const MOST_NESTING = 4;

/** What runs before the command because it stands inside one of its words. */
function innerCommands(command: ShellCommand, nesting: number): ShellCommand[] {
  const words = [...command.assignments, ...command.words, ...command.redirects.map(({ target }) => target)];
  return words.flatMap((word) => word.inner).flatMap((line) => shellCommands(line, nesting + 1));
}

interface OpenCommand {
  keywords: string[];
  assignments: ShellWord[];
  words: ShellWord[];
  redirects: ShellRedirect[];
}

function emptyCommand(): OpenCommand {
  return { keywords: [], assignments: [], words: [], redirects: [] };
}

/** After `for`, `case`, `select` and `function` comes a name or a list, not a command. */
function inList(keywords: readonly string[]): boolean {
  const last = keywords.at(-1);
  return last !== undefined && !OPENERS.has(last) && last !== "done" && last !== "fi" && last !== "esac";
}

function jointOf(op: string): ShellJoint {
  if (op === "|&") return "|";
  if (op === ";;" || op === ";&" || op === ";;&") return ";";
  return op as ShellJoint;
}
