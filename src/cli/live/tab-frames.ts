/** The tabs after the first: goals with what is open of the one at the cursor, the queue, questions, the log. Pure. */
import { inert } from "#cli/text.ts";
import type { Item, Tab } from "./item.ts";
import { ago, cutWindow, EMPTY_LINE, type Line, makeLine, type Size, type Tone, wrapWords } from "./line.ts";
import { tellGoal } from "./sections.ts";
import type { LiveState } from "./state.ts";
import { nameTask } from "./task-name.ts";
import type { View } from "./view.ts";

const EMPTY: Readonly<Record<Tab, string>> = {
  fleet: "Nothing waits, and no agent is at work.",
  goals: "There is no goal yet. 'overseer do \"…\"' makes one, with a plan.",
  queue: "Nothing is ready, and nothing is on its way into a branch.",
  questions: "No question is open.",
  log: "Nothing has happened yet.",
};

export function makeListBody(state: LiveState, items: readonly Item[], at: number, view: View, size: Size): Line[] {
  if (items.length === 0) {
    const text =
      state.filter === "" ? EMPTY[state.tab] : `Nothing here has "${inert(state.filter)}" in it; Esc shows all.`;
    return wrapWords(text, size.columns).map((one) => makeLine(one, "faint"));
  }
  const blocks = items.map((item, index) => makeBlock(item, index === at, view, size.columns));
  return cutWindow(blocks, at, size.rows);
}

/** The goals, and below them what is open of the one at the cursor. */
export function makeGoalsBody(items: readonly Item[], at: number, view: View, size: Size): Line[] {
  const [item] = items.slice(Math.max(0, at), at + 1);
  const tasks = view.work.filter(({ goalId }) => goalId === item?.about.goal);
  const room = tasks.length === 0 ? size.rows : Math.max(Math.ceil(size.rows / 2), size.rows - tasks.length - 2);
  const list = cutWindow(
    items.map((one, index) => makeBlock(one, index === at, view, size.columns)),
    at,
    room,
  );
  if (items.length === 0) return [makeLine(EMPTY.goals, "faint")];
  if (tasks.length === 0 || size.rows - list.length < 3) return list;
  const rows = tasks.map(({ workNodeId, name, status }) => [
    makeLine(`  ${inert(`${workNodeId} ${status.replace("_", " ")}  ${name}`)}`),
  ]);
  return [
    ...list,
    EMPTY_LINE,
    makeLine("Open tasks of it", "title"),
    ...cutWindow(rows, 0, size.rows - list.length - 2),
  ];
}

function makeBlock(item: Item, chosen: boolean, view: View, columns: number): Line[] {
  const { text, tone } = tellItem(item, view);
  // Only questions are read as a whole before one chooses; of the others, the one at the cursor.
  const isWhole = chosen || item.kind === "question";
  const lines = isWhole ? text.flatMap((one) => wrapWords(inert(one), columns - 4)) : text.slice(0, 1).map(inert);
  return lines.map((one, row) => ({
    ...makeLine(`${row > 0 ? "    " : chosen ? "› " : "  "}${one}`, tone),
    chosen,
  }));
}

function tellItem(item: Item, view: View): { readonly text: string[]; readonly tone: Tone } {
  switch (item.kind) {
    case "goal":
      return { text: [tellGoal(item.goal)], tone: item.goal.status === "active" ? "good" : "faint" };
    case "merge": {
      const { branch, target, status, detail, queuedAt } = item.merge;
      const why = detail ? `: ${detail}` : "";
      const text = `landing   ${branch} onto ${target}, ${status} for ${ago(view.now - queuedAt)}${why}`;
      return { text: [text], tone: status === "parked" ? "attention" : "plain" };
    }
    case "task":
      return tellTask(item.task);
    case "question": {
      const { text, options, askedAt } = item.question;
      const where = item.about.node ? `${nameTask(item.about.node, view)} asks, ` : "";
      const choices = options.map((option, index) => `  ${index + 1}. ${option}`);
      return {
        text: [`${where}${ago(view.now - askedAt)} ago:`, ...text.split("\n"), ...choices, ""],
        tone: "attention",
      };
    }
    case "event":
      return { text: [item.event.text], tone: "plain" };
    default:
      return { text: [item.words], tone: "plain" };
  }
}

function tellTask({
  status,
  workNodeId,
  name,
  claim,
  dependsOn,
  blockedReason,
}: Extract<Item, { kind: "task" }>["task"]) {
  const isReview = claim?.waiting?.for === "review" && claim.approvedBy === null;
  const waits = status === "todo" && dependsOn.length > 0 ? ` (after ${dependsOn.join(", ")})` : "";
  const word = isReview ? "review" : WORDS[status];
  const why = blockedReason ? `: ${blockedReason.detail}` : "";
  const tone: Tone = isReview || status === "blocked" ? "attention" : status === "todo" ? "faint" : "plain";
  return { text: [`${word.padEnd(9)} ${workNodeId}  ${name}${waits}${why}`], tone };
}

const WORDS = {
  ...{
    todo: "later",
    queued: "ready",
    in_progress: "at work",
    blocked: "blocked",
    done: "done",
    cancelled: "cancelled",
  },
} as const;
