/** What stands beside the agents, or below them: goals, the queue, landings, money, the end of the log. Pure. */
import { inert } from "#cli/text.ts";
import type { StatusGoal } from "#control/status.ts";
import { ago, clipToColumns, clockTime, type Line, makeLine, type Size, wrapWords } from "./line.ts";
import type { View } from "./view.ts";

export interface Section {
  readonly title: string;
  readonly lines: readonly Line[];
  /** At most so many lines of it. */
  readonly most: number;
  /** How many there are, where not all of them were read. */
  readonly total?: number;
  /** What is older is no more of it: nothing is counted. */
  readonly isEndless?: boolean;
}

/** Of the log no more than fits into `rows`: it is long, and drawn every second. */
export function listSections(view: View, { columns, rows }: Size): Section[] {
  const fit = (text: string, tone?: "faint" | "good") => makeLine(clipToColumns(text, columns), tone);
  const open = view.status.goals.filter(isOpenGoal);
  const shorten = makeShortener(open);
  const { mergeQueue, ready, landings } = view.status;
  // Those of paused goals are not next.
  const queued = open.reduce((sum, goal) => sum + (goal.status === "active" ? goal.queued : 0), 0);
  return [
    { title: "Goals", most: 8, lines: open.map((goal) => fit(`  ${tellGoal(goal)}`, "good")) },
    {
      title: "Landing",
      most: 6,
      lines: mergeQueue.entries.map(({ workNodeId, branch, task, status, queuedAt, detail }) => {
        const what = workNodeId === null ? branch : `${workNodeId} ${task ?? ""}`.trim();
        const why = detail ? `: ${detail}` : "";
        return fit(`  ${inert(`${what}, ${status} for ${ago(view.now - queuedAt)}${why}`)}`);
      }),
    },
    {
      title: `Ready (${queued})`,
      most: 6,
      total: queued,
      lines: ready.map((one) => fit(`  ${inert(`${one.workNodeId} ${one.task}`)}`)),
    },
    {
      title: "Landed",
      most: 6,
      lines: landings.map(({ workNodeId, branch, task, agent, at, costUsd, back }) => {
        const what = workNodeId === null ? branch : `${workNodeId} ${task ?? ""}`.trim();
        const by = `${agent ? `, ${agent}` : ""}${costUsd > 0 ? `, $${costUsd.toFixed(2)}` : ""}`;
        const told = back === "reverts" ? `took back ${what}` : back === "reverted" ? `${what}, taken back` : what;
        return fit(`  ${inert(`${clockTime(at)} ${told}${by}`)}`);
      }),
    },
    { title: "Money", most: 6, lines: tellMoney(view).map((text) => fit(`  ${text}`)) },
    {
      title: "Log",
      isEndless: true,
      most: rows,
      lines: view.log.slice(0, rows + 1).flatMap((one) => tellLog(shorten(inert(one.text)), columns)),
    },
  ];
}

/** Its end is often what one looks for: in two lines where it needs them. */
function tellLog(text: string, columns: number): Line[] {
  const [first = "", ...more] = wrapWords(text, columns - 4);
  const rest = more.length === 0 ? [] : [clipToColumns(`    ${more.join(" ")}`, columns)];
  return [`  ${first}`, ...rest].map((one) => makeLine(one, "faint"));
}

const BAR = 10;

export function isOpenGoal({ status }: Pick<StatusGoal, "status">): boolean {
  return status === "active" || status === "paused";
}

/** Where one goal is open, everybody knows which one is meant. */
function makeShortener(open: readonly StatusGoal[]): (text: string) => string {
  const [only, second] = open;
  if (!only || second) return (text) => text;
  return (text) => text.replaceAll(`${only.goalId}/`, "").replace(`  ${only.goalId}  `, "  ");
}

export function tellGoal(goal: StatusGoal): string {
  const { progress, inProgress, status, title, costUsd } = goal;
  const full = Math.round((progress.percent / 100) * BAR);
  const bar = "█".repeat(full) + "░".repeat(BAR - full);
  const cost = costUsd > 0 ? `, $${costUsd.toFixed(2)}` : "";
  const state = status === "active" ? "" : `  ${status}`;
  if (progress.total === 0) {
    const said = isOpenGoal(goal) ? `no tasks yet${state}` : status;
    return `${isOpenGoal(goal) ? bar : " ".repeat(BAR)} ${said}${cost}  ${inert(title)}`;
  }
  const atWork = isOpenGoal(goal) ? `, ${inProgress} in progress` : "";
  return `${bar} ${progress.done}/${progress.total} done${atWork}${state}${cost}  ${inert(title)}`;
}

/** What everything has cost so far, and who of those at work most. */
function tellMoney({ status }: View): string[] {
  if (status.costUsd === 0) return [];
  const atWork = status.agents
    .filter(({ costUsd }) => costUsd > 0)
    .toSorted((one, other) => other.costUsd - one.costUsd);
  const sum = atWork.reduce((total, { costUsd }) => total + costUsd, 0);
  return [
    `$${status.costUsd.toFixed(2)} in all, $${sum.toFixed(2)} by those at work`,
    ...atWork
      .slice(0, 3)
      .map(({ agent, attempt, costUsd }) => `$${costUsd.toFixed(2)} ${inert(`${agent}#${attempt}`)}`),
  ];
}
