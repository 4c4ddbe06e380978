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
  "--version",
  "-v",
  "__job",
]);
const CONFIG_AT_ONCE: ReadonlySet<string> = new Set(["schema", "example"]);

export function needsRunner(words: readonly string[]): boolean {
  const [first, second] = words;
  const last = words.at(-1);
  if (first === undefined || last === "--help" || last === "-h") return false;
  if (first === "config" && second !== undefined && CONFIG_AT_ONCE.has(second)) return false;
  return !ANSWERED_AT_ONCE.has(first);
}

/** The words that name the command: without options, and without the value of the one that may stand before it. */
export function commandOf(words: readonly string[]): readonly string[] {
  return words.filter((word, at) => !word.startsWith("-") && words[at - 1] !== "--root");
}

/** Does it wait for others, however long that takes? */
export function isWaiting(words: readonly string[]): boolean {
  const waits = ["--wait", "--follow", "-f", "--watch", "-w"];
  return words.some((word) => waits.includes(word));
}

/**
 * The paths among the words under which only the calling process can read something: `-` and the names of its standard
 * input, and what a shell hands over for `<(…)`. In another process they would be something else.
 */
export function listOwnInputs(words: readonly string[]): readonly string[] {
  const paths = words.map((word) => (/^--[^=]+=/.test(word) ? word.slice(word.indexOf("=") + 1) : word));
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

/** Is this an agent's command that its runner carries out? An older version told its agents of no socket. */
export function asksRunner(words: readonly string[], env: Readonly<Record<string, string | undefined>>): boolean {
  return !!env.OVERSEER_SOCKET && /^[1-9]\d{0,14}$/.test(env.OVERSEER_ATTEMPT ?? "") && needsRunner(words);
}
