/** The hook dialects by name. Each is loaded only when it is spoken: every tool call waits for this. */
import type { HookDialect } from "./hook-dialect.ts";

/** Settings that were written before dialects had names are Claude Code's. */
export function dialectNamed(name: string | undefined): HookDialect {
  if (name === "plain") {
    const { PLAIN_HOOKS } = require("#runtimes/scripted/plain.ts") as typeof import("./scripted/plain.ts");
    return PLAIN_HOOKS;
  }
  const { CLAUDE_HOOKS } = require("./claude-code/hooks.ts") as typeof import("./claude-code/hooks.ts");
  return CLAUDE_HOOKS;
}
