/** Every format of recorded sessions that can be read. Of several that recognise a file the first one reads it. */
import { CLAUDE_SESSIONS } from "./claude-code/trace.ts";
import { CODEX_SESSIONS } from "./codex/session.ts";
import { COPILOT_SESSIONS } from "./copilot/session.ts";
import { GEMINI_SESSIONS } from "./gemini/session.ts";
import { OPENCODE_SESSIONS } from "./opencode/session.ts";
import { OWN_SESSIONS } from "./own-trace.ts";
import { PI_SESSIONS } from "./pi/session.ts";
import type { SessionFormat } from "./session-format.ts";

export const SESSION_FORMATS: readonly SessionFormat[] = [
  OWN_SESSIONS,
  CODEX_SESSIONS,
  COPILOT_SESSIONS,
  PI_SESSIONS,
  GEMINI_SESSIONS,
  OPENCODE_SESSIONS,
  CLAUDE_SESSIONS,
];
