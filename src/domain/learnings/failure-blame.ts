/**
 * What a failed command says of itself: that something around it is missing or refused (which others will meet too), or
 * that the code it was given is wrong (which is the business of whoever writes that code). Judged by the words that tools
 * print; a failure that says neither is in between.
 */

export type FailureBlame = "surroundings" | "code" | "unclear";

/** Something is not there, not set, not reachable, not allowed, or of another version. */
const SURROUNDINGS =
  /command not found|program not found|no such file|cannot find (?:module|package)|could not (?:find|resolve|connect|open|load)|cannot (?:open|load|connect|use|decrypt)|is not set|must be set|not installed|no module named|modulenotfound|connection refused|econnrefused|enotfound|eacces|permission denied|not permitted|out ?of ?memory|memory size|heap (?:out|limit|space)|unsupported|requires? (?:node|python|java|go|ruby|rust|version|at least)|valid docker|docker daemon|no matching|does not (?:exist|contain)|doesn't exist|unknown (?:option|flag|argument|command)|unrecognized|not defined: -|hook|is stale|checksum|lockfile|out of (?:date|sync)|must match|not visible|credential|vault|unauthorized|forbidden|resolve host|named '|inconsistent|not available|unavailable|hasn't been|not (?:been )?(?:resolved|initialized|generated|built)|missing (?:env|environment|required|peer|script)|no cached data|no vault|set `?[A-Z_]{4,}|\brun\b[^.\n]{0,12}[`'"]|please run|verification failed|different .{0,30}(?:version|format)|configured to use|read-?only|no space|certificate|protocol/i;
/** Of another run mode or machine, unless the code itself is at fault. */
const PERHAPS =
  /\btimed? ?out\b|locale|profile|version|not found|missing|\b[A-Z]{2,40}_[A-Z_]{2,40}|port \d|\b40[134]\b/;

/** The code that was given to it is wrong. */
const CODE =
  /error TS\d+|\bassert(?:ion)?(?:error)?\b|expected .{0,80}(?:got|received|to (?:be|equal|have))|syntaxerror|syntax error|parse error|unexpected token|is not assignable|does not exist on type|has no (?:attribute|member|field|method)|undefined (?:variable|method|reference)|mismatched types|cannot find (?:name|symbol|value|type)|borrow|unused (?:variable|import)|typeerror|nameerror|referenceerror|nullpointer|panicked|segmentation|\b\d{1,6} (?:failed|failing|failures?)|FAIL(?:ED)?\b|eslint|prefer-const|no-unused|indentation|undefined:|does not match reference|snapshot/i;

/** As much of a result is looked at; what says why stands early or is said again. */
const LOOKED_AT = 8 * 1024;

export function blameOf(whole: string): FailureBlame {
  const result = whole.slice(0, LOOKED_AT);
  if (SURROUNDINGS.test(result)) return "surroundings";
  if (CODE.test(result)) return "code";
  return PERHAPS.test(result) ? "surroundings" : "unclear";
}

const STILL_FAILS =
  /^(?:[ \t]{0,20}(?:error|fatal|failed|failure|traceback)\b)|exit (?:code|status):? [1-9]|\b[1-9]\d{0,6} (?:failed|failing|failures?|errors?)\b|\bFAILED\b|✖|BUILD FAILED|npm ERR!|error TS\d+|error:/im;
const NONE_FAILED =
  /\[[ \t]{0,9}FAILED[ \t]{0,9}\][ \t]{0,9}0\b[^\n]*|\b(?:0|no) (?:failed|failing|failures?|errors?)\b|\b(?:failed|failures|errors):? 0\b/gi;

/** A command whose status was lost in a pipe, and whose words tell of failure. */
export function looksFailed(result: string): boolean {
  return STILL_FAILS.test(result.slice(0, LOOKED_AT).replace(NONE_FAILED, ""));
}

/** Its harness did not let it run; nothing is known of the command. */
export function wasDenied(result: string): boolean {
  return /permission to use|has been denied|was denied|user (?:doesn't|does not) want|requires approval|not allowed to/i.test(
    result.slice(0, LOOKED_AT),
  );
}

/** Names that stand in quotes in it, which its remedy may have to do with. */
export function namesIn(result: string): string[] {
  return [...result.slice(0, LOOKED_AT).matchAll(/[`'"]([@\w][\w@./:-]{4,60})[`'"]/g)]
    .map(([, name = ""]) => name)
    .slice(0, 12);
}

/** Commands that a failure names as its remedy: what stands in quotes after `run`, or at the end of its line. */
export function remediesNamed(result: string): string[] {
  const named: string[] = [];
  for (const [, quoted, plain] of result.slice(0, LOOKED_AT).matchAll(NAMED)) {
    const command = (quoted ?? plain ?? "").trim();
    if (command.length >= 4 && command.length <= 120) named.push(command);
  }
  return named.slice(0, 4);
}

const NAMED =
  /\b(?:run|running|use|try|execute)\b(?::|ning)?[ \t\n]{1,4}(?:[`'"]([^`'"\n]{4,120})[`'"]|((?:\.\/|npm |pnpm |yarn |make |cargo |go |bin\/|bundle |git |python |pip |poetry |uv |docker |terraform |bazel |buf |just |task |gradle |mvn )[^.`'"\n]{2,100}))/gi;
