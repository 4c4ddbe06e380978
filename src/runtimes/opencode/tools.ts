/** What OpenCode calls its tools and their arguments. */
import type { ToolVocabulary } from "#domain/core/tools.ts";

export const OPENCODE_TOOLS: ToolVocabulary = {
  names: {
    read: ["read"],
    search: ["grep", "glob", "list"],
    edit: ["edit", "write", "patch", "multiedit"],
    shell: ["bash"],
    web: ["webfetch", "websearch", "codesearch"],
    subagent: ["task"],
    "ask-user": ["question"],
  },
  also: {
    edit: ["apply_patch"],
    search: ["lsp", "lsp_hover", "lsp_diagnostics"],
    read: ["skill"],
    book: ["todowrite", "todoread", "plan_enter", "plan_exit"],
    report: ["report", "mail", "ask", "learn", "done"].map((verb) => `overseer_${verb}`),
  },
  pathArguments: ["filePath", "file_path", "path"],
  commandArgument: "command",
};
