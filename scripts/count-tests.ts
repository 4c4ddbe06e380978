/** Reads a JUnit report and prints one line that says how many tests passed, failed and were skipped. */
const report = await Bun.file(Bun.argv[2] ?? "").text();
const root = /<testsuites[^>]*>/.exec(report)?.[0] ?? "";
const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
const failed = count("failures") + count("errors");
const skipped = count("skipped");
console.log(`${count("tests") - failed - skipped} passed, ${failed} failed, ${skipped} skipped`);

export {};
