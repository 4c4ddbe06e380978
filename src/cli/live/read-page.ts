/** Reads what a page of the live view shows, as the commands of the same names do: peek, review, why, events, goal show. It never writes. */
import { shortTime, withShortTimes } from "#cli/short-time.ts";
import { inert } from "#cli/text.ts";
import { review } from "#control/review.ts";
import * as views from "#control/views.ts";
import { why } from "#control/why.ts";
import type { World } from "#control/world.ts";
import { foldReceipts } from "#domain/explain/cause.ts";
import { EMPTY_LINE, type Line, makeLine, type Size } from "./line.ts";
import { listReviewLines } from "./review-lines.ts";
import type { SaidReader } from "./said.ts";
import type { LivePage, PageText } from "./state.ts";
import { toLogLines } from "./view.ts";

/** More than any screen shows, and not so much that reading it again and again costs. */
const EVENTS = 500;

/** `say`: what reads the conversation of the agent that was looked into last. */
export async function readPage(
  world: World,
  { kind, about }: LivePage,
  { columns }: Size,
  say: SaidReader,
): Promise<PageText> {
  const { attempt = 0, node, goal, question } = about;
  switch (kind) {
    case "agent":
      return { lines: await say(world, attempt, columns) };
    case "review": {
      const found = await review(world, { what: node ?? "" });
      return { lines: listReviewLines(found), commit: found.commit };
    }
    case "why":
      return { lines: await readWhy(world, node ?? goal ?? question ?? "") };
    case "log":
      return { lines: await readLog(world, about) };
    case "goal":
      return { lines: await readGoal(world, goal ?? "") };
    // What is shown whole when it is opened.
    case "question":
    case "event":
    case "keys":
      return { lines: [] };
  }
}

/** As `why --all` tells it. */
async function readWhy(world: World, word: string): Promise<Line[]> {
  const { headline, cause, answer, story, receipts } = await why(world, word);
  const now = world.clock.now();
  const tell = (text: string) => inert(withShortTimes(text, now));
  const steps = foldReceipts(story, receipts).map(({ at, text }) => makeLine(`  ${shortTime(at, now)}  ${tell(text)}`));
  return [
    makeLine(tell(headline), "title"),
    ...(cause ? [makeLine(`Since ${shortTime(cause.at, now)}: ${tell(cause.text)}`)] : []),
    ...(answer.next === null ? [] : [makeLine(tell(answer.next))]),
    ...(answer.command === null ? [] : [makeLine(`Next: ${tell(answer.command)}`, "attention")]),
    ...(answer.more.length > 0 ? [EMPTY_LINE, ...answer.more.map((text) => makeLine(tell(text)))] : []),
    ...(steps.length > 0 ? [EMPTY_LINE, makeLine("How it came to this", "title"), ...steps] : []),
  ];
}

async function readLog(world: World, { agent, node, goal }: LivePage["about"]): Promise<Line[]> {
  const [goalId, nodeId] = node?.split("/") ?? [goal];
  const of = agent !== undefined ? { agent } : { goalId, nodeId };
  const found = await views.events(world, { ...of, limit: EVENTS, newest: true });
  const lines = toLogLines(found, world.clock.now()).toReversed();
  return lines.length === 0
    ? [makeLine("Nothing has happened yet.", "faint")]
    : lines.map(({ text }) => makeLine(text));
}

async function readGoal(world: World, word: string): Promise<Line[]> {
  const { title, goalId, status, progress, work } = await views.goal(world, word);
  return [
    makeLine(inert(title), "title"),
    makeLine(`${goalId}  ${status}  ${progress.done}/${progress.total} done`),
    EMPTY_LINE,
    ...work.map(({ workNodeId, path, name, status: state, waitsFor }) => {
      const waits = waitsFor.length > 0 ? `, after ${waitsFor.join(", ")}` : "";
      const indent = "  ".repeat(path.split("/").length - 1);
      return makeLine(`${indent}${inert(`${workNodeId}  ${name}  (${state.replace("_", " ")}${waits})`)}`);
    }),
  ];
}
