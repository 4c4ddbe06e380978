/**
 * Reads a JUnit report and the exit code of the run, and prints last what is looked for first: what each failed test
 * said, and for a property the seed that plays it again, because a log is often cut to its end; which files took longest,
 * so that a lane that grows shows what it grew by; and one line that says how many tests passed, failed and were skipped.
 */
const SHOWN = 5;
/** Of a long message: what was expected stands first, what happened last stands last. */
const FIRST_LINES = 15;
const LAST_LINES = 35;
const LINE = 1_000;

const [, , path = "", status = "0"] = Bun.argv;
const report = await Bun.file(path).text();
const root = /<testsuites[^>]*>/.exec(report)?.[0] ?? "";
const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
const failed = count("failures") + count("errors");
const skipped = count("skipped");

const seconds = new Map<string, number>();
for (const [, attributes = "", inside = ""] of report.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
  const file = attribute(attributes, "file");
  seconds.set(file, (seconds.get(file) ?? 0) + Number(attribute(attributes, "time")));
  const failure = /<(?:failure|error) ([^>]*)>/.exec(inside)?.[1];
  const at = /\bat [^&]*?\b((?:src|test)\/[\w./-]+:\d+)/.exec(inside)?.[1] ?? file;
  if (failure !== undefined) tell(`${at}: ${attribute(attributes, "name")}`, attribute(failure, "message"));
}

const slowest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
if (slowest.length > 0) console.log(`slowest: ${slowest.map(([file, s]) => `${file} ${s.toFixed(1)} s`).join(", ")}`);
if (status !== "0" && failed === 0) console.log("Something failed outside of a test; the output above says what.");
console.log(`${count("tests") - failed - skipped} passed, ${failed} failed, ${skipped} skipped`);

function tell(name: string, message: string): void {
  console.log(`--- ${name}`);
  const lines = message.trimEnd().split("\n");
  const cut = lines.length - FIRST_LINES - LAST_LINES;
  const shown = cut <= 1 ? lines : [...lines.slice(0, FIRST_LINES), `… ${cut} lines …`, ...lines.slice(-LAST_LINES)];
  for (const line of shown) {
    console.log(line.length > LINE ? `${line.slice(0, LINE)}…` : line);
  }
  // The first number of the path is the run that failed; from there it is made small again in the same steps.
  const [, seed, run] = /\{ seed: (-?\d+), path: "(\d+)/.exec(message) ?? [];
  if (seed !== undefined) console.log(`Play it again: fc.assert(…, { seed: ${seed}, path: "${run}" })`);
}

function attribute(text: string, name: string): string {
  return decode(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "");
}

function decode(text: string): string {
  const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, word?: string) =>
    code === undefined ? (named[word ?? ""] ?? whole) : String.fromCodePoint(Number(code)),
  );
}

export {};
