/**
 * What a landing says in the history: which piece of work, what it achieved, and a trailer by which both people and
 * programs find the way back to the node. Pure text; it never changes between two tries, so neither does the commit.
 */
import type { Claim, LandingStrategy } from "./claim.ts";
import { cleanText } from "./quote.ts";
import type { WorkNode } from "./work.ts";
import { nodeKey } from "./work.ts";

/** Lines by which tools credit themselves. */
const ATTRIBUTION =
  /^\s*(?:co-authored-by:.*|.*\bgenerated (?:with|by) .*(?:claude|codex|copilot|gemini|opencode|cursor|aider).*|🤖.*)$/iu;

const TITLE_CHARS = 72;
const BODY_CHARS = 4_000;

export function landingMessage(
  node: Pick<WorkNode, "goalId" | "workNodeId" | "name">,
  claim: Pick<Claim, "summary" | "branch">,
  strategy: LandingStrategy,
  stripAttribution: boolean,
): string {
  const name = oneLine(node.name);
  const title = strategy === "merge" ? `Merge ${name}` : name;
  const lines = cleanText(claim.summary).split("\n");
  const kept = strategy === "squash" && stripAttribution ? lines.filter((line) => !ATTRIBUTION.test(line)) : lines;
  const body = kept.join("\n").trim().slice(0, BODY_CHARS);
  const trailer = `Overseer-Work: ${nodeKey(node.goalId, node.workNodeId)}`;
  return `${[clipped(title), ...(body === "" ? [] : [body]), trailer].join("\n\n")}\n`;
}

function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, " ").trim();
}

function clipped(title: string): string {
  const signs = [...title];
  return signs.length <= TITLE_CHARS ? title : `${signs.slice(0, TITLE_CHARS - 1).join("")}…`;
}
