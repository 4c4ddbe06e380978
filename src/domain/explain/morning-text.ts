/** A report for the morning as lines of text, or as Markdown to be pasted elsewhere. Long parts are cut, and say so. */
import { isoTime } from "#domain/core/iso-time.ts";
import { tellProgress } from "#domain/plans/rollup.ts";
import type { AutoReport, MorningLine, MorningReport } from "./morning.ts";

/** So many lines of one part are shown; --json has them all. */
const MOST_LINES = 40;

/** A goal that was made of a prompt has the prompt for a name. */
const MOST_SIGNS = 80;

interface Part {
  readonly title: string;
  readonly lines: readonly string[];
}

export function renderMorning(report: MorningReport): string {
  const parts = partsOf(report, (text) => text.replace(/\s+/g, " ").trim());
  const head = `${report.project}: ${day(report.sinceAt)} to ${day(report.at)} UTC`;
  return [head, ...parts.flatMap(({ title, lines }) => ["", title, ...cut(lines).map((line) => `  ${line}`)])].join(
    "\n",
  );
}

export function renderMorningMarkdown(report: MorningReport): string {
  const parts = partsOf(report, escapeMarkdown);
  const head = `# ${escapeMarkdown(report.project)}: ${day(report.sinceAt)} to ${day(report.at)} UTC`;
  return [
    head,
    ...parts.flatMap(({ title, lines }) => ["", `## ${title}`, "", ...cut(lines).map((line) => `- ${line}`)]),
  ]
    .join("\n")
    .concat("\n");
}

function partsOf(report: MorningReport, plain: (text: string) => string): Part[] {
  const {
    reached,
    reachedInPart,
    landed,
    takenBack,
    done,
    cancelled,
    failed,
    remediated,
    auto,
    cost,
    questions,
    open,
    waitsForYou,
    standsStill,
  } = report;
  const tell = ({ what, name, text }: MorningLine) => plain(`${what}${name ? ` "${clip(name)}"` : ""}: ${text}`);
  const tellFailure = ({ what, text }: MorningLine) => plain(`ended by itself (${what}): ${text}`);
  const remedies = Object.entries(remediated).map(([what, count]) => plain(`${count} ${what}`));
  const money = `$${cost.costUsd.toFixed(2)}, ${cost.tokens.toLocaleString("en")} tokens, ${cost.sessions} ${cost.sessions === 1 ? "session" : "sessions"}`;
  const models = cost.modelsUsd > 0 ? ` (models that Overseer asked: $${cost.modelsUsd.toFixed(2)})` : "";
  const parts: Part[] = [
    { title: "Waits for you", lines: waitsForYou.map(plain) },
    { title: "Goals reached", lines: reached.map(tell) },
    { title: "Goals reached in part", lines: reachedInPart.map(tell) },
    { title: "Landed", lines: landed.map(tell) },
    { title: "Taken back by a person", lines: takenBack.map(tell) },
    { title: "Done without a change to land", lines: done.map(tell) },
    { title: "Cancelled by a person", lines: cancelled.map(tell) },
    { title: "Failed", lines: failed.map(tell) },
    { title: "Auto mode", lines: auto === null ? [] : [plain(tellAuto(auto)), ...auto.failures.map(tellFailure)] },
    { title: "Put right by itself", lines: remedies },
    { title: "Stands still", lines: standsStill.map(plain) },
    {
      title: "Open",
      lines: open.map(({ goalId, title, ...of }) => plain(`${goalId} ${title}: ${tellProgress(of)}`)),
    },
    { title: "Cost", lines: [plain(`${money}${models}`)] },
    { title: "Questions", lines: [plain(`${questions.asked} asked, ${questions.answered} answered`)] },
  ];
  const first = waitsForYou.length === 0 ? [{ title: "Waits for you", lines: ["nothing"] }] : [];
  return [...first, ...parts.filter(({ lines }) => lines.length > 0)];
}

function tellAuto({ taken, landed, unchanged, cancelled, repeated, refused }: AutoReport): string {
  const counts = { landed, "without changes": unchanged, cancelled, "given twice by the pool": repeated, refused };
  const said = Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []));
  return [`${taken} ${taken === 1 ? "task" : "tasks"} taken from the pool`, ...said].join(", ");
}

function clip(name: string): string {
  return name.length > MOST_SIGNS ? `${name.slice(0, MOST_SIGNS)}…` : name;
}

function cut(lines: readonly string[]): string[] {
  if (lines.length <= MOST_LINES) return [...lines];
  return [...lines.slice(0, MOST_LINES), `… and ${lines.length - MOST_LINES} more`];
}

function day(at: number): string {
  return isoTime(at).slice(0, 16).replace("T", " ");
}

/** Text of agents stays text: no link, no heading, no markup. */
function escapeMarkdown(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]<>#|~]/g, (sign) => `\\${sign}`);
}
