/**
 * What an agent may say to Overseer, in one table: the verbs with their flags, the statuses and kinds they take, and
 * the fields of the update block. Prompts are rendered from it and the command line is checked against it, so an
 * agent is never taught a word that the door then refuses.
 * It knows the words only. What a report does to a work node is the business of the work rules.
 */

/** What a report may claim. Done is a claim until it is checked; cancelling is not an agent's to decide. */
export const REPORT_STATUSES = ["in_progress", "blocked", "done"] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

export const MAIL_TYPES = ["status", "question", "result", "error"] as const;
export const MAIL_PRIORITIES = ["low", "normal", "high", "urgent"] as const;

/** The same kinds as a block by hand has; work.ts says what they mean. */
const BLOCKED_WORDS = ["human", "credential", "environment", "dependency", "external", "other"] as const;

/** Addresses that are no agent's name. */
export const PERSON_ADDRESS = "human";
export const ORCHESTRATOR_ADDRESS = "orchestrator";

export interface VerbFlag {
  /** Long name without dashes. */
  readonly name: string;
  /** What stands for the value, e.g. `text`; a switch has none. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  readonly repeat?: boolean;
  readonly summary: string;
}

export interface Verb {
  /** How prompts refer to it: `{{verbs.report}}`. */
  readonly id: string;
  /** The words after `overseer`. */
  readonly words: readonly string[];
  readonly args: readonly { readonly name: string; readonly optional?: boolean }[];
  readonly flags: readonly VerbFlag[];
  readonly summary: string;
  /** Only for roles that may spawn. */
  readonly spawnersOnly?: boolean;
}

const JSON_FLAG: VerbFlag = { name: "json", summary: "One JSON value instead of text." };

const MAIL_BODY_FLAGS: readonly VerbFlag[] = [
  { name: "body", value: "text", required: true, summary: "The message." },
  { name: "type", value: "type", choices: MAIL_TYPES, summary: "What kind of message it is." },
  { name: "priority", value: "priority", choices: MAIL_PRIORITIES, summary: "How soon it matters." },
];

/** Every verb an agent has. Anything else on the menu is refused to a caller that carries an attempt. */
export const AGENT_VERBS: readonly Verb[] = [
  {
    id: "report",
    words: ["work", "report"],
    args: [{ name: "node", optional: true }],
    flags: [
      { name: "status", value: "status", choices: REPORT_STATUSES, required: true, summary: "The state of the work." },
      { name: "summary", value: "text", required: true, summary: "What is now true that was not before." },
      { name: "state", value: "text", summary: "The current state, for whoever continues the work." },
      { name: "next", value: "text", repeat: true, summary: "The next concrete action, in order." },
      { name: "blocker", value: "text", repeat: true, summary: "What is in the way and what would clear it." },
      { name: "decision", value: "text", repeat: true, summary: "A choice that was made, and why." },
      { name: "question", value: "text", repeat: true, summary: "What is still open." },
      { name: "ask", value: "text", summary: "What a person has to decide before you can continue." },
      { name: "option", value: "text", repeat: true, summary: "A possible answer to --ask." },
      { name: "kind", value: "kind", choices: BLOCKED_WORDS, summary: "What kind of thing is in the way." },
      { name: "needs", value: "text", summary: "What would clear it." },
      { name: "commit", value: "sha", repeat: true, summary: "The commit that holds the work." },
      { name: "file", value: "path", repeat: true, summary: "A file that was touched or read as evidence." },
      { name: "test", value: "text", repeat: true, summary: "A command that was run, and its result." },
      { name: "command", value: "line", repeat: true, summary: "Another command that was run." },
      { name: "pr", value: "id", repeat: true, summary: "A pull request." },
      { name: "issue", value: "id", repeat: true, summary: "An issue." },
      { name: "ref", value: "text", repeat: true, summary: "Any other pointer." },
      {
        name: "json-file",
        value: "file",
        summary: "All of it as JSON, in the fields of the update block; - is standard input.",
      },
      { name: "no-changes", value: "reason", summary: "Done without a change, and why none was needed." },
      JSON_FLAG,
    ],
    summary: "Report the state of your work.",
  },
  {
    id: "ask",
    words: ["ask"],
    args: [{ name: "question" }],
    flags: [
      { name: "option", value: "text", repeat: true, summary: "A possible answer." },
      { name: "node", value: "id", summary: "Which part of your work it is about." },
      { name: "go-on", summary: "Keep working meanwhile; without it your node is blocked until the answer." },
      JSON_FLAG,
    ],
    summary: "Ask a person; the answer comes as a message.",
  },
  {
    id: "show",
    words: ["work", "show"],
    args: [{ name: "node" }],
    flags: [JSON_FLAG],
    summary: "Show a work node with its acceptance, state and last report.",
  },
  {
    id: "send",
    words: ["mail", "send"],
    args: [],
    flags: [
      { name: "to", value: "name", required: true, summary: "An agent's name, a group, human or orchestrator." },
      { name: "subject", value: "text", required: true, summary: "One line." },
      ...MAIL_BODY_FLAGS,
      JSON_FLAG,
    ],
    summary: "Send a message.",
  },
  {
    id: "check",
    words: ["mail", "check"],
    args: [],
    flags: [{ name: "wait", summary: "Say that you wait for a message; it starts your next turn." }, JSON_FLAG],
    summary: "Show your inbox.",
  },
  {
    id: "read",
    words: ["mail", "read"],
    args: [{ name: "id" }],
    flags: [JSON_FLAG],
    summary: "Read one message.",
  },
  {
    id: "reply",
    words: ["mail", "reply"],
    args: [{ name: "id" }],
    flags: [...MAIL_BODY_FLAGS, JSON_FLAG],
    summary: "Answer in the same thread.",
  },
  {
    id: "prime",
    words: ["prime"],
    args: [],
    flags: [{ name: "compact", summary: "The short form." }, JSON_FLAG],
    summary: "Print your assignment, mail and last handoff again.",
  },
  {
    id: "sling",
    words: ["sling"],
    args: [{ name: "task", optional: true }],
    flags: [
      { name: "capability", value: "capability", required: true, summary: "Which role does the work." },
      { name: "name", value: "name", summary: "The new agent's name." },
      { name: "files", value: "paths", summary: "Files that only that agent may write, separated by commas." },
      { name: "spec", value: "path", summary: "A file that describes the work." },
      { name: "prompt", value: "text", summary: "Describe the work here instead of naming a task." },
      JSON_FLAG,
    ],
    summary: "Start another agent below you.",
    spawnersOnly: true,
  },
  {
    id: "status",
    words: ["status"],
    args: [],
    flags: [JSON_FLAG],
    summary: "Show the fleet: who works on what, and what is stuck.",
  },
];

export interface UpdateField {
  readonly name: string;
  readonly example: unknown;
}

/**
 * The fields of the update block, in the order they are shown. Every text is a placeholder that nobody would write by
 * himself, so that the template, given back as it was, is never taken for an answer.
 */
export const UPDATE_FIELDS: readonly UpdateField[] = [
  { name: "goalId", example: "<the goal's id, or leave this out>" },
  { name: "workNodeId", example: "<the node's id, or leave this out>" },
  { name: "status", example: "<in_progress, blocked or done>" },
  { name: "summary", example: "<what changed since your last report>" },
  { name: "next", example: "<the next concrete action>" },
  { name: "blockers", example: ["<what is in the way, and what would clear it>"] },
  {
    name: "evidence",
    example: {
      filesTouched: ["<path>"],
      testsRun: ["<command: result>"],
      commits: ["<sha>"],
    },
  },
];

export const UPDATE_PLACEHOLDERS: ReadonlySet<string> = new Set(
  UPDATE_FIELDS.flatMap((field) => textsIn(field.example)),
);

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The fenced block by which an agent may report inside an answer instead of by a command. */
export function updateBlock(known: Readonly<Partial<Record<"goalId" | "workNodeId", string>>> = {}): string {
  const fields = { ...Object.fromEntries(UPDATE_FIELDS.map((field) => [field.name, field.example])), ...known };
  const json = JSON.stringify({ overseerUpdate: fields }, null, 2).replace(/\[\s+("[^"]*")\s+\]/g, "[$1]");
  return `\`\`\`json\n${json}\n\`\`\``;
}

/** One line as a person would type it; only what is required unless all flags are asked for. */
export function usage(verb: Verb, flags: "required" | "all" = "required"): string {
  const args = verb.args.map((arg) => (arg.optional ? `[${arg.name}]` : `<${arg.name}>`));
  const shown = verb.flags.filter((flag) => flags === "all" || flag.required);
  const words = shown.map((flag) => {
    const text = flag.value === undefined ? `--${flag.name}` : `--${flag.name} <${flag.value}>`;
    return flag.required ? text : `[${text}]${flag.repeat ? "…" : ""}`;
  });
  const needed = args.filter((arg) => flags === "all" || !arg.startsWith("["));
  return ["overseer", ...verb.words, ...needed, ...words].join(" ");
}

export function verbsFor(caller: { readonly canSpawn: boolean }): readonly Verb[] {
  return AGENT_VERBS.filter((verb) => !verb.spawnersOnly || caller.canSpawn);
}
