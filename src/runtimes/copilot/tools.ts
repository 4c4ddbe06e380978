/** What GitHub Copilot calls its tools and their arguments, on the command line and in an editor. */
import type { ToolVocabulary } from "#domain/core/tools.ts";

export const COPILOT_TOOLS: ToolVocabulary = {
  names: {
    read: ["view"],
    search: ["grep", "glob", "rg"],
    edit: ["edit", "create"],
    shell: ["bash", "powershell"],
    web: ["web_fetch", "web_search"],
    subagent: ["task"],
    "ask-user": ["ask_user"],
  },
  also: {
    edit: [
      ...["str_replace_editor", "apply_patch", "str_replace", "insert", "create_file"],
      ...["replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file"],
    ],
    read: ["show_file", "read_file", "skill", "fetch_copilot_cli_documentation"],
    search: ["grep_search", "file_search", "semantic_search", "list_dir", "get_errors"],
    shell: ["run_in_terminal"],
    web: ["fetch_webpage"],
    subagent: ["runSubagent"],
    wait: [
      ...["read_bash", "write_bash", "stop_bash", "list_bash", "read_powershell", "write_powershell"],
      ...["stop_powershell", "read_agent", "list_agents", "get_terminal_output"],
    ],
    book: ["update_todo", "manage_todo_list", "report_intent", "exit_plan_mode", "store_memory", "sql"],
    report: ["task_complete", ...["report", "mail", "ask", "learn", "done"].map((verb) => `overseer-${verb}`)],
  },
  pathArguments: ["path", "filePath", "file_path"],
  commandArgument: "command",
  byArgument: {
    str_replace_editor: {
      argument: "command",
      uses: { view: "read", create: "edit", str_replace: "edit", insert: "edit", undo_edit: "edit" },
    },
  },
};
