/** What the agents of benchmarks (SWE-agent, OpenHands and their kin) call their tools and their arguments. */
import type { ToolVocabulary } from "#domain/core/tools.ts";

const EDITOR = {
  argument: "command",
  uses: { view: "read", create: "edit", str_replace: "edit", insert: "edit", undo_edit: "edit" },
} as const;

export const SWE_AGENT_TOOLS: ToolVocabulary = {
  names: {
    read: ["open", "goto", "scroll_down", "scroll_up", "read_file", "view_file"],
    search: ["search_dir", "search_file", "find_file", "grep", "glob", "search_code"],
    edit: [
      ...["str_replace_editor", "str_replace_based_edit_tool", "edit_anthropic", "file_editor"],
      ...["edit", "edit_file", "create", "insert", "write_file", "undo_edit"],
    ],
    shell: ["bash", "execute_bash", "terminal", "execute_ipython_cell", "run"],
    web: ["browser", "web_read", "fetch"],
    subagent: ["delegate"],
    "ask-user": [],
  },
  also: { book: ["think", "task_tracker", "recall"], report: ["submit", "finish"] },
  pathArguments: ["path", "file_path", "filename"],
  commandArgument: "command",
  commandAlso: ["code", "cmd"],
  byArgument: {
    str_replace_editor: EDITOR,
    str_replace_based_edit_tool: EDITOR,
    edit_anthropic: EDITOR,
    file_editor: EDITOR,
  },
};
