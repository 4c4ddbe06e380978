/**
 * How an agent's commands are treated that its runner carries out: which need no runner at all, which wait for something
 * by design, and which are let finish once they have begun although nobody waits for them any more. Words are as they
 * were typed; what is wrong with them, the command line says.
 */

/** Commands that answer from the program alone; the repository is none of their business. */
const ANSWERED_AT_ONCE: ReadonlySet<string> = new Set([
  "help",
  "completions",
  "hook",
  "log",
  "mcp",
  "--version",
  "-v",
  "__job",
]);
const CONFIG_AT_ONCE: ReadonlySet<string> = new Set(["schema", "example", "explain"]);

export function needsRunner(words: readonly string[]): boolean {
  const [first, second] = namesIn(words);
  if (optionsIn(words).some((word) => word === "--help" || word === "-h")) return false;
  if (first === undefined) return false;
  if (first === "config" && second !== undefined && CONFIG_AT_ONCE.has(second)) return false;
  return !ANSWERED_AT_ONCE.has(first);
}

/** What may be an option: after `--` everything is a plain word. */
function optionsIn(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return end < 0 ? words : words.slice(0, end);
}

/** The words without the options of every command, which may stand before its name. */
function namesIn(words: readonly string[]): readonly string[] {
  return words.filter(
    (word, at) => word !== "--json" && word !== "--root" && !word.startsWith("--root=") && words[at - 1] !== "--root",
  );
}

/** The words that name the command: without options, and without the value of the one that may stand before it. */
export function commandOf(words: readonly string[]): readonly string[] {
  return namesIn(words).filter((word) => !word.startsWith("-"));
}

/** Does it wait for others, however long that takes? */
export function isWaiting(words: readonly string[]): boolean {
  const waits = ["--wait", "--follow", "-f", "--watch", "-w"];
  return words.some((word) => waits.includes(word));
}

/** The options that name a text to be read, by the command; elsewhere `-` is a word like any other. */
const TEXT_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  mail: ["--file"],
  work: ["--json-file"],
  sling: ["--spec"],
  goal: ["--file", "--plan"],
};

/**
 * The paths of texts among the words under which only the calling process can read something: `-` and the names of its
 * standard input, and what a shell hands over for `<(…)`. In another process they would be something else.
 */
export function listOwnInputs(words: readonly string[]): readonly string[] {
  const options = TEXT_OPTIONS[commandOf(words)[0] ?? ""] ?? [];
  const paths = optionsIn(words).flatMap((word, at) => {
    const [, name = word, attached = words[at + 1]] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    return options.includes(name) && attached !== undefined ? [attached] : [];
  });
  return paths.filter((path) => path === "-" || /^\/(dev\/stdin|(dev|proc\/self)\/fd\/\d+)$/.test(path));
}

export function isStandardInput(path: string): boolean {
  return path === "-" || path === "/dev/stdin" || path.endsWith("/fd/0");
}

/** Does it write something of which half would be worse than all? */
export function isLetFinish(words: readonly string[]): boolean {
  const [first, second] = commandOf(words);
  return first === "sling" || first === "ask" || (first === "work" && second === "report") || first === "mail";
}

/** Is it a report or a question, whose loss would be worse than its delay? */
export function isReport(words: readonly string[]): boolean {
  const [first, second] = commandOf(words);
  return first === "ask" || (first === "work" && second === "report");
}

export function isQuestion(words: readonly string[]): boolean {
  return commandOf(words)[0] === "ask";
}

/** Is this an agent's command that its runner carries out? An older version told its agents of no socket. */
export function asksRunner(words: readonly string[], env: Readonly<Record<string, string | undefined>>): boolean {
  return !!env.OVERSEER_SOCKET && /^[1-9]\d{0,14}$/.test(env.OVERSEER_ATTEMPT ?? "") && needsRunner(words);
}
