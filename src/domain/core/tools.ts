/**
 * The tools of coding agents, whatever a CLI calls them. A runtime brings its vocabulary along; rules know only what a
 * tool is for, and what a call names: the file it writes, the command it runs.
 */

/** What a tool is for, in the words of roles. */
export const TOOL_KINDS = ["read", "search", "edit", "shell", "web", "subagent", "ask-user"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** The same in the eyes of rules: also waiting for a job that runs, keeping lists of one's own, reporting to Overseer. */
export type ToolUse = ToolKind | "wait" | "book" | "report" | "other";

export interface ToolVocabulary {
  /** The CLI's own names for each kind; a kind it lacks has none. */
  readonly names: Readonly<Record<ToolKind, readonly string[]>>;
  /** Further names that are understood: those of other versions, and of uses that no role speaks of. */
  readonly also: Readonly<Partial<Record<ToolUse, readonly string[]>>>;
  /** The arguments that name the file which an edit writes; the first that is there counts. */
  readonly pathArguments: readonly string[];
  /** The argument that holds what a shell is to run. */
  readonly commandArgument: string;
}

export interface CallMeaning {
  readonly use: ToolUse;
  /** Of an edit: the file. */
  readonly path: string | undefined;
  /** Of a shell: the command. */
  readonly command: string | undefined;
}

/** Here and below plain loops: hooks ask this at every call, and the first array method with a function costs them. */
export function useOf({ names, also }: ToolVocabulary, tool: string): ToolUse {
  for (const kind of TOOL_KINDS) if (names[kind].includes(tool)) return kind;
  for (const use in also) if (also[use as ToolUse]?.includes(tool)) return use as ToolUse;
  return "other";
}

export function interpretCall(
  vocabulary: ToolVocabulary,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): CallMeaning {
  const use = useOf(vocabulary, tool);
  let path: unknown;
  if (use === "edit") for (const name of vocabulary.pathArguments) path ??= input[name];
  const command = use === "shell" ? (input[vocabulary.commandArgument] ?? undefined) : undefined;
  return {
    use,
    path: typeof path === "string" ? path : undefined,
    command: command === undefined ? undefined : String(command),
  };
}

/** The arguments of a call as rules read them: the command under that name, whatever the CLI calls it. */
export function argumentsOf(
  { commandArgument }: ToolVocabulary,
  { command }: CallMeaning,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return command === undefined || commandArgument === "command" ? input : { command, ...input };
}

/** Tools that can change files: the permit hook is asked before each of them. */
export function needsPermit(use: ToolUse | undefined): boolean {
  return use === "edit" || use === "shell";
}

/** All names of tools that need a permit, for a CLI that is told which. */
export function listWritingTools({ names, also }: ToolVocabulary): string[] {
  return [...names.edit, ...(also.edit ?? []), ...names.shell, ...(also.shell ?? [])];
}
