/**
 * What our own MCP tools are for, in the eyes of rules, under the names a CLI gives them. Hooks load this at every tool
 * call, so the server's table is not asked; a test holds the two together.
 */
import type { ToolUse } from "#domain/core/tools.ts";

/** `done` is what older versions called a report of done. */
const USES = {
  report: ["report", "mail", "ask", "learn", "sling", "done"],
  // Looking how others get on is what a lead does while they work.
  wait: ["wait", "status"],
  read: ["read"],
} as const satisfies Partial<Record<ToolUse, readonly string[]>>;

/** `prefix`: what the CLI puts before the name of a tool of the server called overseer. */
export function ownTools(prefix: string): { readonly [use in keyof typeof USES]: readonly string[] } {
  const nameAll = (use: keyof typeof USES) => USES[use].map((name) => `${prefix}${name}`);
  return { report: nameAll("report"), wait: nameAll("wait"), read: nameAll("read") };
}
