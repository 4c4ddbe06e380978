/** What Claude Code calls its tools and their arguments. */
import type { ToolVocabulary } from "#domain/core/tools.ts";
import { ownTools } from "#runtimes/own-tools.ts";

const OWN = ownTools("mcp__overseer__");

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
    read: ["NotebookRead", "LS", ...OWN.read],
    // Looking at a list of tasks is what a lead does while others work.
    wait: [
      ...["BashOutput", "TaskOutput", "AgentOutputTool", "KillShell", "Monitor", "Wait", "Sleep"],
      ...["TaskList", "TaskGet", "TaskStop", "ScheduleWakeup"],
      ...OWN.wait,
    ],
    book: ["TodoWrite", "TodoRead", "ExitPlanMode", "EnterPlanMode", "Skill"],
    // Work given to others, and word of how it stands.
    report: [
      ...OWN.report,
      ...["TaskCreate", "TaskUpdate", "TeamCreate", "TeamDelete", "SendMessageTool", "PushNotification"],
    ],
  },
  pathArguments: ["file_path", "notebook_path"],
  commandArgument: "command",
};
