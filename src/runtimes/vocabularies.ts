/**
 * What each agent calls its tools, by the runtime whose sessions are read. Hooks do not come here: they load the
 * vocabulary of their own CLI and no other (dialects.ts).
 */
import type { ToolVocabulary } from "#domain/core/tools.ts";
import { CLAUDE_TOOLS } from "./claude-code/tools.ts";
import { CODEX_TOOLS } from "./codex/tools.ts";
import { COPILOT_TOOLS } from "./copilot/tools.ts";
import { GEMINI_TOOLS } from "./gemini/tools.ts";
import { OPENCODE_TOOLS } from "./opencode/tools.ts";
import { PI_TOOLS } from "./pi/tools.ts";
import { SWE_AGENT_TOOLS } from "./swe-agent/tools.ts";

export const VOCABULARIES: Readonly<Record<string, ToolVocabulary>> = {
  "claude-code": CLAUDE_TOOLS,
  codex: CODEX_TOOLS,
  opencode: OPENCODE_TOOLS,
  gemini: GEMINI_TOOLS,
  copilot: COPILOT_TOOLS,
  pi: PI_TOOLS,
  "swe-agent": SWE_AGENT_TOOLS,
};
