/** What Claude Code calls its tools and their arguments. */
import type { ToolVocabulary } from "#domain/core/tools.ts";

export const CLAUDE_TOOLS: ToolVocabulary = {
  names: {
    read: ["Read"],
    search: ["Grep", "Glob", "ToolSearch"],
    edit: ["Edit", "Write", "NotebookEdit"],
    shell: ["Bash"],
    web: ["WebFetch", "WebSearch"],
    // On the wire it is called Agent, in the list of tools Task; the rest are further ways to put others to work.
    subagent: ["Agent", "Task", "Workflow", "SendMessage"],
    "ask-user": ["AskUserQuestion"],
  },
  also: {
    edit: ["MultiEdit"],
    read: ["NotebookRead", "LS"],
    wait: ["BashOutput", "TaskOutput", "AgentOutputTool", "KillShell", "Monitor", "Wait", "Sleep"],
    book: [
      ...["TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"],
      ...["ExitPlanMode", "EnterPlanMode"],
    ],
    report: ["report", "mail", "ask", "learn", "done"].map((verb) => `mcp__overseer__${verb}`),
  },
  pathArguments: ["file_path", "notebook_path"],
  commandArgument: "command",
};
