/**
 * Makes docs/demo.svg, the picture in the README: runs `overseer demo --headless` and draws what it said as a terminal.
 * Run it again when the demo changes: `node_modules/.bin/bun scripts/picture.ts`. It draws what was said and adds nothing.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const LINE_HEIGHT = 18;
const CHAR_WIDTH = 7.8;
const MARGIN = 16;
const WIDEST = 112;

/** What a line is about decides its colour, as on a terminal. */
const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/ died|is killed|Not true|It conflicts/, "#ff7b72"],
  [/No progress|Still nothing|started again|adopts|goes back|Steered/, "#e3b341"],
  [/landed on|was resolved|goal is reached/, "#56d364"],
  [/asks:|Answered/, "#79c0ff"],
];

const done = Bun.spawnSync([join(ROOT, "bin/overseer"), "demo", "--headless"], { stdin: "ignore", stderr: "inherit" });
if (done.exitCode !== 0) throw new Error(`The demo ended with ${done.exitCode}.`);
const said = done.stdout.toString().split("What happened and why")[0] ?? "";
const lines = said
  .trimEnd()
  .split("\n")
  .filter((line) => !line.startsWith("Repository:"));
const escaped = (text: string) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const rows = ["$ overseer demo", ...lines].map((line, index) => {
  const colour = COLOURS.find(([pattern]) => pattern.test(line))?.[1] ?? "#c9d1d9";
  const text = line.length > WIDEST ? `${line.slice(0, WIDEST - 1)}…` : line;
  return `<text x="${MARGIN}" y="${MARGIN + (index + 1) * LINE_HEIGHT}" fill="${colour}">${escaped(text)}</text>`;
});
const width = Math.ceil(WIDEST * CHAR_WIDTH + 2 * MARGIN);
const height = rows.length * LINE_HEIGHT + 2 * MARGIN + 8;
writeFileSync(
  join(ROOT, "docs/demo.svg"),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="overseer demo, as a terminal shows it">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" xml:space="preserve">
${rows.join("\n")}
</g>
</svg>
`,
);
console.log(`docs/demo.svg: ${rows.length} lines`);
