/**
 * Lines by which tools credit themselves in a message, as opposed to people: a co-author who is a person stays one.
 * Pure text; it knows names of tools and nothing else.
 */
const TOOLS =
  "claude|anthropic|codex|openai|chatgpt|gpt|copilot|gemini|opencode|cursor|cursoragent|aider|devin|windsurf|cline|amp|jules|grok|qwen|kiro|bot|ai|assistant|agent";

const CREDIT = new RegExp(`^\\s*co-authored-by:.*(?:\\b(?:${TOOLS})\\b|\\[bot\\])`, "iu");
const GENERATED = new RegExp(`\\b(?:generated|created|written|made) (?:with|by|using)\\b.*\\b(?:${TOOLS})\\b`, "iu");
const ROBOT = /^\s*🤖/u;

export function creditsATool(line: string): boolean {
  return CREDIT.test(line) || (GENERATED.test(line) && isAlone(line)) || ROBOT.test(line);
}

/** A credit stands on its own line; a sentence that tells how something came about is part of what is told. */
function isAlone(line: string): boolean {
  return /^[\s\p{P}\p{S}]*(?:generated|created|written|made)\b/iu.test(line);
}

/** The text without those lines, and without the gaps they leave. */
export function withoutAttribution(text: string): string {
  return text
    .split("\n")
    .filter((line) => !creditsATool(line))
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
