/** What pi calls its tools and their arguments. */
import type { ToolVocabulary } from "#domain/core/tools.ts";

export const PI_TOOLS: ToolVocabulary = {
  names: {
    read: ["read"],
    search: ["grep", "find", "ls"],
    edit: ["edit", "write"],
    shell: ["bash"],
    web: [],
    subagent: ["subagent"],
    "ask-user": ["question", "ask_user"],
  },
  also: { book: ["todo"] },
  pathArguments: ["path", "file_path"],
  commandArgument: "command",
};
