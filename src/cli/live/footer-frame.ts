/** The last lines of the live view: what is asked and written, what was said, what is under way, and the keys. Pure. */
import { inert } from "#cli/text.ts";
import { readContinuation, tellContinuation } from "./continuation.ts";
import { clipToColumns, EMPTY_LINE, joinSpans, type Line, makeLine, type Size, type Tone, wrapWords } from "./line.ts";
import { showEdit } from "./line-edit.ts";
import { findPage, type LiveState, type Prompt } from "./state.ts";
import { nameTask } from "./task-name.ts";
import type { View } from "./view.ts";

export interface Footer {
  readonly lines: readonly Line[];
  readonly caret: { readonly row: number; readonly column: number } | null;
}

/** Too few rows for the keys and what was said: one of them is shown. */
function isNarrow({ rows }: Pick<Size, "rows">): boolean {
  return rows < 12;
}

const NOTICE_MS = 5_000;

/** What was said gives way to the keys after a while where there is no room for both. */
export function isNoticeOver(shownMs: number, size: Size): boolean {
  return isNarrow(size) && shownMs >= NOTICE_MS;
}

export function makeFooter(state: LiveState, view: View, { columns, rows }: Size): Footer {
  const most = Math.max(1, Math.floor(rows / 3));
  const said = state.notice
    ? cutLines(wrapWords(inert(state.notice.text), columns), most).map((text) =>
        makeLine(text, state.notice?.isTrouble ? "trouble" : "good"),
      )
    : [];
  const waits =
    state.pending.length > 0 ? [makeLine(inert(state.pending.map(({ text }) => text).join("  ")), "attention")] : [];
  const { prompt } = state;
  if (!prompt) {
    const hidesKeys = isNarrow({ rows }) && said.length + waits.length > 0;
    const keys = hidesKeys ? [] : [makeKeys(state, view)];
    return { lines: [...waits, ...said, ...keys], caret: null };
  }
  const above = fitAsked(aboveLine(prompt, view), columns, Math.max(0, rows - 5 - said.length - waits.length)).map(
    (text) => makeLine(text, "attention"),
  );
  if (prompt.kind === "stop" || prompt.kind === "continue")
    return { lines: [...waits, ...said, ...above], caret: null };
  const before = "> ";
  const shown = showEdit(prompt.edit, columns - before.length - 1);
  const lines = [...waits, ...said, ...above, joinSpans([before, "title"], [inert(shown.text)])];
  return { lines, caret: { row: lines.length - 1, column: before.length + shown.at } };
}

/** Where not everything fits, what one can choose and how stand on a line each, and the question gives way to them. */
function fitAsked({ text, choices, how }: Asked, columns: number, most: number): string[] {
  const wrap = (one: string) => wrapWords(inert(one), columns);
  const whole = [...text, ...choices, how].flatMap(wrap);
  if (whole.length <= most) return whole;
  const below = [...choices, how].map((one) => clipToColumns(inert(one), columns));
  const room = Math.max(1, most - below.length);
  const left = Math.max(0, most - room - 1);
  const shown =
    below.length - 1 > left
      ? [...below.slice(0, Math.max(0, left - 1)), ...(left > 0 ? [`  … ${below.length - left} more`] : [])]
      : below.slice(0, -1);
  return [...cutLines(text.flatMap(wrap), room), ...shown, ...below.slice(-1)].slice(0, most);
}

/** What does not fit is said by its last sign. */
function cutLines(lines: readonly string[], most: number): string[] {
  if (lines.length <= most) return [...lines];
  return lines.slice(0, most).map((text, at) => (at === most - 1 ? `${text.slice(0, -2)} …` : text));
}

interface Asked {
  readonly text: readonly string[];
  readonly choices: readonly string[];
  readonly how: string;
}

function aboveLine(prompt: Prompt, view: View): Asked {
  const { status } = view;
  const say = (how: string): Asked => ({ text: [], choices: [], how });
  switch (prompt.kind) {
    case "answer": {
      const asked = status.questions.find(({ questionId }) => questionId === prompt.question);
      if (!asked) return say(`${prompt.question} is not open any more; Esc leaves.`);
      const choices = asked.options.map((option, at) => `  ${at + 1}. ${option}`);
      const how = choices.length > 0 ? "A number or your own words" : "Your answer";
      return { text: asked.text.split("\n"), choices, how: `${how}; Enter sends, Esc leaves.` };
    }
    case "reject":
      return say(
        `What has to change in ${nameTask(prompt.node, view)}? Its author reads it. Enter sends it back, Esc leaves.`,
      );
    case "write":
      return say(`A note to ${prompt.agent}, which it reads at its next step. Enter sends, Esc leaves.`);
    case "filter":
      return say("Only lines with these words; Enter keeps them, Esc shows all.");
    case "continue":
      return say(`${tellContinuation(prompt.continuation).asked} y does it, any other key does not.`);
    case "stop":
      return say(
        `Stop ${prompt.agent}#${prompt.attempt}? What it has not committed is kept, and its task waits for you. y stops it, any other key does not.`,
      );
  }
}

type Hint = readonly [key: string, what: string];

const OF_PAGES: Readonly<Record<string, readonly Hint[]>> = {
  agent: [
    ["n", "write"],
    ["s", "stop"],
    ["r", "review"],
    ["w", "why"],
    ["l", "log"],
  ],
  review: [
    ["y", "accept"],
    ["x", "send back"],
    ["w", "why"],
  ],
  why: [
    ["r", "review"],
    ["l", "log"],
  ],
  log: [["w", "why"]],
  question: [
    ["a", "answer"],
    ["w", "why"],
  ],
  goal: [
    ["w", "why"],
    ["l", "log"],
  ],
};

function makeKeys(state: LiveState, { status }: View): Line {
  const goesOn: readonly Hint[] = status.standstills.some(({ command }) => readContinuation(command))
    ? [["u", "continue"]]
    : [];
  const page = findPage(state);
  const answer: readonly Hint[] = status.questions.length > 0 ? [["a", "answer"]] : [];
  const hints: readonly Hint[] = page
    ? [["Esc", "back"], ...(OF_PAGES[page.kind] ?? []), ["↑↓", "scroll"], ["q", "quit"]]
    : [
        ["q", "quit"],
        ...answer,
        ...goesOn,
        ["?", "keys"],
        ["Enter", "look"],
        ["r", "review"],
        ["w", "why"],
        ["n", "write"],
        ["s", "stop"],
        ["l", "log"],
        ["/", "filter"],
        ["Tab", "next tab"],
      ];
  const spans = hints.flatMap(([key, what]): [string, Tone][] => [
    [key, "title"],
    [` ${what}  `, "faint"],
  ]);
  return spans.length === 0 ? EMPTY_LINE : joinSpans(...spans);
}
