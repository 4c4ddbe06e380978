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
  /** The argument that holds what a shell is to run; a list of words is one command. */
  readonly commandArgument: string;
  /** Further names of that argument, in the order they are tried. */
  readonly commandAlso?: readonly string[];
  /** Tools that do several things, told apart by one argument: what each of its values is for. */
  readonly byArgument?: Readonly<
    Record<string, { readonly argument: string; readonly uses: Readonly<Record<string, ToolUse>> }>
  >;
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
  // Versions of one CLI differ in how they write a name; only what was not found is looked for twice.
  const lower = tool.toLowerCase();
  for (const kind of TOOL_KINDS) if (hasName(names[kind], lower)) return kind;
  for (const use in also) if (hasName(also[use as ToolUse], lower)) return use as ToolUse;
  return "other";
}

function hasName(names: readonly string[] | undefined, lower: string): boolean {
  if (names) for (const name of names) if (name.length === lower.length && name.toLowerCase() === lower) return true;
  return false;
}

function useOfCall(vocabulary: ToolVocabulary, tool: string, input: Readonly<Record<string, unknown>>): ToolUse {
  const { byArgument } = vocabulary;
  const several = byArgument && Object.hasOwn(byArgument, tool) ? byArgument[tool] : undefined;
  const said = several ? String(input[several.argument]) : "";
  const use = several && Object.hasOwn(several.uses, said) ? several.uses[said] : undefined;
  return use ?? useOf(vocabulary, tool);
}

export function interpretCall(
  vocabulary: ToolVocabulary,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): CallMeaning {
  const use = useOfCall(vocabulary, tool, input);
  let path: unknown;
  if (use === "edit") for (const name of vocabulary.pathArguments) path ??= input[name];
  return {
    use,
    path: typeof path === "string" ? path : undefined,
    command: use === "shell" ? commandIn(vocabulary, input) : undefined,
  };
}

function commandIn(
  { commandArgument, commandAlso }: ToolVocabulary,
  input: Readonly<Record<string, unknown>>,
): string | undefined {
  let command = input[commandArgument];
  if (commandAlso) for (const name of commandAlso) command ??= input[name];
  if (command === undefined || command === null) return undefined;
  if (!Array.isArray(command)) return String(command);
  // ["bash", "-lc", "…"] is what stands in the last of them.
  return command.length === 3 && /^-\w*c$/.test(String(command[1])) ? String(command[2]) : command.join(" ");
}

/** The arguments of a call as rules read them: the command under that name, whatever the CLI calls it. */
export function argumentsOf(
  { commandArgument }: ToolVocabulary,
  { command }: CallMeaning,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (command === undefined || (commandArgument === "command" && input.command === command)) return input;
  return Object.assign({ command }, input, { command });
}

/** Tools that can change files: the permit hook is asked before each of them. */
export function needsPermit(use: ToolUse | undefined): boolean {
  return use === "edit" || use === "shell";
}

/** All names of tools that need a permit, for a CLI that is told which. */
export function listWritingTools({ names, also }: ToolVocabulary): string[] {
  return [...names.edit, ...(also.edit ?? []), ...names.shell, ...(also.shell ?? [])];
}
