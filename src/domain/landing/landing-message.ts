/**
 * What a landing says in the history: which piece of work, what it achieved, and a trailer by which both people and
 * programs find the way back to the node. One commit that stands for many names them, and keeps the people who are
 * credited in them. Pure text; it never changes between two tries, so neither does the commit.
 */

import { cleanText } from "#domain/core/quote.ts";
import type { Claim, LandingStrategy } from "#domain/model/claim.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import { withoutAttribution } from "./attribution.ts";

const TITLE_CHARS = 72;
const BODY_CHARS = 4_000;
const MOST_NAMED = 30;

export interface MessageRules {
  readonly strategy: LandingStrategy;
  readonly stripAttribution: boolean;
  /** What was said about the commits that are squashed, oldest first; none for a merge. */
  readonly squashed?: readonly string[];
}

export function landingMessage(
  node: Pick<WorkNode, "goalId" | "workNodeId" | "name">,
  claim: Pick<Claim, "summary">,
  rules: MessageRules,
): string {
  const name = oneLine(node.name);
  const said = cleanText(claim.summary).trim();
  const { list, people } = summarizeSquashed(rules);
  const body = tidy(said, rules).slice(0, BODY_CHARS);
  const trailers = [...people, `Overseer-Work: ${nodeKey(node.goalId, node.workNodeId)}`].join("\n");
  const title = clipTitle(rules.strategy === "merge" ? `Merge ${name}` : name);
  return message([title, body, list.filter((one) => one !== `* ${title}`).join("\n"), trailers]);
}

/** For a branch that a person brought: the only commit speaks for itself, several are named. */
export function branchMessage(branch: string, rules: MessageRules): string {
  if (rules.strategy === "merge") return `Merge ${branch}\n`;
  const { list, people } = summarizeSquashed(rules);
  const [only, ...more] = rules.squashed ?? [];
  const alone = only === undefined || more.length > 0 ? "" : tidy(cleanText(only), rules).slice(0, BODY_CHARS);
  if (alone !== "") return message([alone]);
  return message([clipTitle(oneLine(branch)), list.join("\n"), people.join("\n")]);
}

/** The squashed commits by their first lines, and the people credited in them. */
function summarizeSquashed(rules: MessageRules): { readonly list: string[]; readonly people: string[] } {
  const texts = (rules.squashed ?? []).map((text) => tidy(cleanText(text), rules)).filter((text) => text !== "");
  const titles = [...new Set(texts.map((text) => `* ${clipTitle(oneLine(text.split("\n")[0] ?? ""))}`))];
  const left = titles.length - MOST_NAMED;
  const list = left > 0 ? [...titles.slice(0, MOST_NAMED), `* and ${left} more`] : titles;
  const lines = texts.flatMap((text) => text.split("\n"));
  const people = lines.filter((line) => /^(?:co-authored-by|signed-off-by): /i.test(line)).map((line) => line.trim());
  return { list, people: [...new Set(people)].slice(0, MOST_NAMED) };
}

function tidy(text: string, { strategy, stripAttribution }: MessageRules): string {
  return strategy === "squash" && stripAttribution ? withoutAttribution(text) : text.trim();
}

function message(paragraphs: readonly string[]): string {
  return `${paragraphs.filter((paragraph) => paragraph !== "").join("\n\n")}\n`;
}

function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, " ").trim();
}

function clipTitle(title: string): string {
  const signs = [...title];
  return signs.length <= TITLE_CHARS ? title : `${signs.slice(0, TITLE_CHARS - 1).join("")}…`;
}
