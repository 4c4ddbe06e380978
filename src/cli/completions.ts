/**
 * Completion scripts for bash, zsh and fish, generated from the menu so that they never lag behind it. Each script
 * carries the whole menu as data and asks the program nothing: a Tab must not wait for a process. All three walk the
 * words typed so far in the same way: options with a value skip it, a known subcommand goes one level deeper.
 * Ids are not completed; they live in a repository that a script in a shell's start-up file does not know.
 */
import type { Argument, Command, Option } from "./command.ts";
import { GLOBAL_OPTIONS } from "./parse.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell, commands: readonly Command<never>[]): string {
  const levels = levelsOf(commands);
  if (shell === "bash") return bashScript(levels);
  return shell === "zsh" ? zshScript(levels) : fishScript(levels);
}

/** One place in the menu: what may follow after these words. */
interface Level {
  /** "" is the program itself, "goal create" a subcommand. */
  readonly path: string;
  readonly next: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly Option[];
  readonly args: readonly Argument[];
}

const VERSION: Option = { name: "version", short: "v", summary: "Print the version" };

function levelsOf(commands: readonly Command<never>[]): readonly Level[] {
  const help = { name: "help", summary: "Show help on a command" };
  const top = { path: "", next: [...commands, help], options: [...GLOBAL_OPTIONS, VERSION], args: [] };
  return [top, ...commands.flatMap((command) => below(command, command.name))];
}

function below(command: Command<never>, path: string): readonly Level[] {
  const { subcommands = [], options = [], args = [] } = command;
  const own: Level = { path, next: subcommands, options: [...options, ...GLOBAL_OPTIONS], args };
  return [own, ...subcommands.flatMap((sub) => below(sub, `${path} ${sub.name}`))];
}

/** `--title` and `-t`, as they are typed. */
function spellings({ name, short }: Option): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}

/** What the values of an option or argument are: words of a list, files, directories, or anything. */
function valuesOf({ value, name, choices }: { value?: string; name: string; choices?: readonly string[] }): string {
  if (choices !== undefined) return choices.join(" ");
  const kind = value ?? name;
  return kind === "file" || kind === "dir" ? `<${kind}>` : "<any>";
}

/** Shell `case` branches from a path, and what may be typed there, to an answer; levels without one are left out. */
function cases(
  levels: readonly Level[],
  answers: (level: Level) => readonly (readonly [key: string, answer: string])[],
) {
  const lines = levels.flatMap((level) =>
    answers(level).map(([key, answer]) => `    ${quote(key)}) printf '%s' ${quote(answer)} ;;`),
  );
  return lines.join("\n");
}

/** For sh, bash and zsh alike. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function optionValueCases(levels: readonly Level[]): string {
  return cases(levels, ({ path, options }) =>
    options
      .filter(({ value }) => value !== undefined)
      .flatMap((option) => spellings(option).map((word) => [`${path}/${word}`, valuesOf(option)] as const)),
  );
}

/** An argument that takes all the rest answers for every position after it too. */
function argumentValueCases(levels: readonly Level[]): string {
  return cases(levels, ({ path, args }) => args.map((argument, at) => [`${path}/${at}`, valuesOf(argument)] as const));
}

function subcommandCases(levels: readonly Level[]): string {
  return cases(levels, ({ path, next }) =>
    next.length === 0 ? [] : [[path, next.map(({ name }) => name).join(" ")] as const],
  );
}

/** Walks the words before the cursor; shared by bash and zsh, whose arrays differ only in how they are handed in. */
const WALK = `# Sets _overseer_path, _overseer_at (position of the next argument) and _overseer_value (what the cursor's word is a value of).
_overseer_walk() {
  local word known plain=0
  _overseer_path='' _overseer_at=0 _overseer_value=''
  for word in "$@"; do
    if [ "$plain" = 1 ]; then _overseer_at=$((_overseer_at + 1)); continue; fi
    if [ "$word" = '=' ]; then continue; fi
    if [ -n "$_overseer_value" ]; then _overseer_value=''; continue; fi
    case "$word" in
      --) plain=1; continue ;;
      -*) if [ -n "$(_overseer_option_values "$_overseer_path/$word")" ]; then _overseer_value=$_overseer_path/$word; fi; continue ;;
    esac
    known=" $(_overseer_subcommands "$_overseer_path") "
    case "$known" in
      *" $word "*) if [ "$word" != help ]; then _overseer_path=\${_overseer_path:+$_overseer_path }$word; fi ;;
      *) _overseer_at=$((_overseer_at + 1)) ;;
    esac
  done
}`;

function tables(levels: readonly Level[]): string {
  const optionWords = cases(levels, ({ path, options }) => [[path, options.flatMap(spellings).join(" ")] as const]);
  return `_overseer_subcommands() {
  case "$1" in
${subcommandCases(levels)}
  esac
}
_overseer_options() {
  case "$1" in
${optionWords}
  esac
}
_overseer_option_values() {
  case "$1" in
${optionValueCases(levels)}
  esac
}
_overseer_argument_values() {
  case "$1" in
${argumentValueCases(levels) || "    '') ;;"}
  esac
}
${WALK}`;
}

function bashScript(levels: readonly Level[]): string {
  return `# Completion of overseer for bash. Put this into your ~/.bashrc: eval "$(overseer completions bash)"
${tables(levels)}
_overseer() {
  local current=\${COMP_WORDS[COMP_CWORD]} offered _overseer_path _overseer_at _overseer_value
  # bash breaks --option=value into three words.
  if [ "$current" = '=' ]; then current=''; fi
  _overseer_walk "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
  if [ -n "$_overseer_value" ]; then offered=$(_overseer_option_values "$_overseer_value")
  elif [ "\${current#-}" != "$current" ]; then offered=$(_overseer_options "$_overseer_path")
  else
    offered=$(_overseer_subcommands "$_overseer_path")
    offered=\${offered:-$(_overseer_argument_values "$_overseer_path/$_overseer_at")}
  fi
  COMPREPLY=()
  case "$offered" in
    '<any>'|'') ;;
    '<file>') compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current")) ;;
    '<dir>') compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$offered" -- "$current")) ;;
  esac
}
complete -F _overseer overseer
`;
}

function zshScript(levels: readonly Level[]): string {
  const described = cases(levels, ({ path, next }) =>
    next.length === 0 ? [] : [[path, next.map(({ name, summary }) => `${name}:${summary}`).join("\n")] as const],
  );
  const describedOptions = cases(levels, ({ path, options }) => [
    [
      path,
      options.flatMap((option) => spellings(option).map((word) => `${word}:${option.summary}`)).join("\n"),
    ] as const,
  ]);
  return `#compdef overseer
# Completion of overseer for zsh. Put this into your ~/.zshrc: eval "$(overseer completions zsh)"
${tables(levels)}
_overseer_described() {
  case "$1" in
${described}
  esac
}
_overseer_described_options() {
  case "$1" in
${describedOptions}
  esac
}
_overseer() {
  local current=\${words[CURRENT]} offered _overseer_path _overseer_at _overseer_value
  local -a rows
  _overseer_walk "\${(@)words[2,CURRENT-1]}"
  if [[ -z $_overseer_value && $current == --*=* ]]; then
    _overseer_value=$_overseer_path/\${current%%=*}
    compset -P '*='
  fi
  if [[ -n $_overseer_value ]]; then offered=$(_overseer_option_values "$_overseer_value")
  elif [[ $current == -* ]]; then
    rows=("\${(@f)$(_overseer_described_options "$_overseer_path")}")
    _describe -o option rows
    return
  else
    offered=$(_overseer_described "$_overseer_path")
    if [[ -n $offered ]]; then
      rows=("\${(@f)offered}")
      _describe command rows
      return
    fi
    offered=$(_overseer_argument_values "$_overseer_path/$_overseer_at")
  fi
  case "$offered" in
    '<any>'|'') ;;
    '<file>') _files ;;
    '<dir>') _files -/ ;;
    *) compadd -- \${=offered} ;;
  esac
}
if [ "\${funcstack[1]}" = _overseer ]; then _overseer "$@"; else compdef _overseer overseer; fi
`;
}

function fishScript(levels: readonly Level[]): string {
  const valued = levels.flatMap(({ path, options }) =>
    options
      .filter(({ value }) => value !== undefined)
      .flatMap((option) => spellings(option).map((word) => `${path}/${word}`)),
  );
  const deeper = levels.filter(({ path }) => path !== "").map(({ path }) => path);
  return `# Completion of overseer for fish. Save this as ~/.config/fish/completions/overseer.fish
function __overseer_at --description 'Whether the words typed so far lead to this place in the menu'
    set -l valued ${valued.map(fishQuoted).join(" ")}
    set -l deeper ${deeper.map(fishQuoted).join(" ")}
    set -l path ''
    set -l skip 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        if contains -- "$path/$word" $valued
            set skip 1
            continue
        end
        set -l next (string trim -- "$path $word")
        if contains -- $next $deeper
            set path $next
        end
    end
    test "$path" = "$argv[1]"
end
complete -c overseer -f
${levels.flatMap(fishLines).join("\n")}
`;
}

function fishLines({ path, next, options, args }: Level): readonly string[] {
  const here = `complete -c overseer -n ${fishQuoted(`__overseer_at ${fishQuoted(path)}`)}`;
  const firstChoices = args.flatMap(({ choices = [], summary }) => choices.map((name) => ({ name, summary })));
  return [
    ...[...next, ...firstChoices].map(
      ({ name, summary }) => `${here} -a ${fishQuoted(name)} -d ${fishQuoted(summary)}`,
    ),
    ...(args.some((argument) => valuesOf(argument) === "<file>") ? [`${here} -F`] : []),
    ...(args.some((argument) => valuesOf(argument) === "<dir>") ? [`${here} -a '(__fish_complete_directories)'`] : []),
    ...options.map((option) => `${here} ${fishOption(option)} -d ${fishQuoted(option.summary)}`),
  ];
}

function fishOption(option: Option): string {
  const names = option.short === undefined ? `-l ${option.name}` : `-l ${option.name} -s ${option.short}`;
  if (option.value === undefined) return names;
  const values = valuesOf(option);
  if (values === "<file>") return `${names} -rF`;
  if (values === "<dir>") return `${names} -x -a '(__fish_complete_directories)'`;
  return values === "<any>" ? `${names} -x` : `${names} -x -a ${fishQuoted(values)}`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
