/** What the Gemini CLI calls its tools and their arguments. */
import type { ToolVocabulary } from "#domain/core/tools.ts";
import { ownTools } from "#runtimes/own-tools.ts";

const OWN = ownTools("mcp_overseer_");

export const GEMINI_TOOLS: ToolVocabulary = {
  names: {
    read: ["read_file", "read_many_files"],
    search: ["search_file_content", "grep_search", "glob", "list_directory"],
    edit: ["replace", "write_file"],
    shell: ["run_shell_command"],
    web: ["web_fetch", "google_web_search"],
    subagent: ["delegate_to_agent", "codebase_investigator"],
    "ask-user": ["ask_user"],
  },
  also: {
    edit: ["edit", "smart_edit"],
    read: ["activate_skill", "get_internal_docs", ...OWN.read],
    wait: ["read_background_output", "list_background_processes", ...OWN.wait],
    book: ["write_todos", "save_memory", "update_topic", "enter_plan_mode", "exit_plan_mode"],
    report: OWN.report,
  },
  pathArguments: ["file_path", "absolute_path", "path"],
  commandArgument: "command",
};
