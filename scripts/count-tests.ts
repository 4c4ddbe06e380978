/**
 * Reads a JUnit report and prints which files took longest, so that a lane that grows shows what it grew by, and one
 * line that says how many tests passed, failed and were skipped.
 */
const SHOWN = 5;

const report = await Bun.file(Bun.argv[2] ?? "").text();
const root = /<testsuites[^>]*>/.exec(report)?.[0] ?? "";
const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
const failed = count("failures") + count("errors");
const skipped = count("skipped");

const seconds = new Map<string, number>();
for (const [, attributes = ""] of report.matchAll(/<testcase ([^>]*)>/g)) {
  const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  seconds.set(value("file"), (seconds.get(value("file")) ?? 0) + Number(value("time")));
}
const slowest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
if (slowest.length > 0) console.log(`slowest: ${slowest.map(([file, s]) => `${file} ${s.toFixed(1)} s`).join(", ")}`);
console.log(`${count("tests") - failed - skipped} passed, ${failed} failed, ${skipped} skipped`);

export {};
