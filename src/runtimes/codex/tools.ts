/** What the Codex CLI calls its tools and their arguments, over its versions. */
import type { ToolVocabulary } from "#domain/core/tools.ts";
import { ownTools } from "#runtimes/own-tools.ts";

const OWN = ownTools("mcp__overseer__");

export const CODEX_TOOLS: ToolVocabulary = {
  names: {
    read: ["view_image", "read_file"],
    search: ["grep_files", "list_dir", "tool_search"],
    edit: ["apply_patch"],
    shell: ["exec_command", "shell", "shell_command"],
    web: ["web_search", "web.run"],
    subagent: ["spawn_agent", "send_input", "close_agent", "resume_agent"],
    "ask-user": ["request_user_input"],
  },
  also: {
    shell: ["container.exec", "local_shell", "local_shell_call", "unified_exec", "js_repl"],
    read: ["read_mcp_resource", "list_mcp_resources", "list_mcp_resource_templates", ...OWN.read],
    // Writing nothing into a running program is how it is asked what it has printed since.
    wait: ["write_stdin", "wait", "wait_agent", ...OWN.wait],
    book: ["update_plan"],
    report: OWN.report,
  },
  pathArguments: ["path", "file_path"],
  commandArgument: "command",
  commandAlso: ["cmd"],
};
