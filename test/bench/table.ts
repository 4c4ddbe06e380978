/** A run as a table, on a terminal and on the page docs/benchmarks.md. Pure. */
import { AIMS, ROWS, type RowOf } from "./aims.ts";
import type { Run } from "./history.ts";
import { aimText, behindText, type Result, tally, valueText } from "./verdict.ts";

export type Told = Pick<RowOf, "name" | "of" | "work" | "floor" | "short">;

const COLUMNS = ["work", "aim", "floor", "measured", "verdict"] as const;
type Column = (typeof COLUMNS)[number];

/** Widths are known before anything is measured, so that each line can be printed when its row is done. */
export function terminalTable(rows: readonly (Told & Pick<RowOf, "aim">)[]) {
  const cells = rows.map((row) => ({ work: row.work, aim: aimText(row.aim), floor: row.floor }));
  const widest = (of: (cell: (typeof cells)[number]) => string, least: number) =>
    Math.max(least, ...cells.map((cell) => of(cell).length));
  const width: Record<Column, number> = {
    work: widest((cell) => cell.work, 4),
    aim: widest((cell) => cell.aim, 3),
    floor: widest((cell) => cell.floor, 5),
    measured: 11,
    verdict: 7,
  };
  const line = (texts: Record<Column, string>, behind = "") =>
    [...COLUMNS.map((column) => texts[column].padEnd(width[column])), behind].join("  ").trimEnd();
  const title = { work: "work", aim: "aim", floor: "floor", measured: "measured", verdict: "verdict" };
  return {
    head: line(title),
    line: (row: Told, result: Result) =>
      line(
        {
          work: row.work,
          aim: aimText(result.aim),
          floor: row.floor,
          measured: valueText(result),
          verdict: result.verdict === "short" ? "SHORT" : result.verdict,
        },
        behindText(result),
      ),
  };
}

/** Why rows that fall short do, one line for each reason. */
export function explanations(rows: readonly Told[], results: readonly Result[]): string[] {
  const because = new Map<string, string[]>();
  for (const result of results) {
    if (result.verdict === "holds" || result.verdict === "informs") continue;
    const row = rows.find(({ name }) => name === result.name);
    const why = whyOf(row, result);
    because.set(why, [...(because.get(why) ?? []), row?.work ?? result.name]);
  }
  return [...because].map(([why, works]) => `${[...new Set(works)].join("; ")}: ${why}`);
}

export const UNEXPLAINED = "Nobody has written down why yet.";

function whyOf(row: Told | undefined, { verdict, note }: Result): string {
  if (verdict === "short") return row?.short ?? UNEXPLAINED;
  return note ?? UNEXPLAINED;
}

const MADE = "<!-- Made by scripts/docs.ts from the last whole run in bench/history.ndjson. -->";

const HOW = `## How it is measured

Work and floor are measured in one run, turn about, so that whatever else the machine does falls on both; medians count.
Where nothing else is said it is CPU time, children included, not time on the wall. Floors are measured on the same machine
in the same minute; none is remembered from another day. Every row has a limit in time and says when it got fewer turns
than it wanted. A run is marked as disturbed when the machine was busy with something else.

\`\`\`text
npm run bench                          the whole table, and a line for bench/history.ndjson
npm run bench -- --only hook           the rows of one aim, or whose names begin so
npm run bench -- --quick               fewer turns, rougher figures
npm run bench -- --json                the run as data, progress on stderr
npm run bench -- --keep                keep the history as it is
npm run bench -- --write               also make this page again
npm run bench -- --peer 'other status' turn about with a command of your choice
\`\`\`

\`--peer\` runs the command you name in the directory you are in, turn about with \`overseer --version\` if your command asks
for a version and else with \`overseer status --json\` in a fresh repository (\`--against 'words'\` says what to run of ours
instead), and prints CPU time and time on the wall of both. It is not kept in the history: what is compared is yours to
judge.

Nothing of this is a promise for your machine. Ratios travel better than milliseconds; that is why they stand here.
`;

export function benchmarksPage(run: Run | null): string {
  const head = `# Benchmarks\n\n${MADE}\n`;
  if (!run) return `${head}\nNo whole run is in the history yet: \`npm run bench -- --write\` makes one.\n\n${HOW}`;
  const told = run.rows.map((result) => ({ result, row: ROWS.find(({ name }) => name === result.name) as Told }));
  const groups = Object.entries(AIMS).map(([of, title]) => {
    const lines = told
      .filter(({ row }) => row?.of === of)
      .map(({ row, result }) => {
        const cells = [row.work, aimText(result.aim), row.floor, `**${valueText(result)}**`, result.verdict];
        return `| ${[...cells, behindText(result)].map((cell) => cell || "–").join(" | ")} |`;
      });
    return lines.length === 0 ? [] : [`| *${title}* | | | | | |`, ...lines];
  });
  const why = explanations(ROWS, run.rows);
  return [
    head,
    `${sentenceOf(run)}\n`,
    "| work | aim | floor | measured | verdict | behind it |",
    "| --- | --- | --- | --- | --- | --- |",
    ...groups.flat(),
    "",
    `${capital(tally(run.rows))}.\n`,
    ...(why.length === 0 ? [] : ["## Where it falls short\n", ...why.map((line) => `- ${line}`), ""]),
    HOW,
  ].join("\n");
}

function sentenceOf(run: Run): string {
  const where = `${run.cores} cores, ${run.memoryGb ?? "?"} GB of memory`;
  const load = `load ${run.loadBefore.toFixed(2)} before and ${run.loadAfter.toFixed(2)} after`;
  const trust =
    run.disturbed === null ? "" : `\n\n**Disturbed:** ${run.disturbed}. Take the figures as sizes, not as marks.`;
  return `Measured on ${run.at.slice(0, 10)} with Overseer ${run.product} on Bun ${run.bun}: ${where}, ${load}.${trust}`;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
