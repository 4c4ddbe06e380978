/**
 * Shell commands, judged as advice (SCOPE-1): output and file commands that would land outside the worktree or scope,
 * git verbs that reach beyond it (a stash in a worktree lands in the user's list), and loops that wait by asking again
 * and again. The command line is read as a shell would read it, so what is quoted, mailed or written into a document is
 * text and never judged. What depends on variables is not guessed at: it passes.
 */

import type { ShellCommand, ShellWord } from "#domain/core/shell-words.ts";
import { shellCommands } from "#domain/core/shell-words.ts";
import type { PermitPolicy, ResolvePath } from "./permit.ts";
import { isInside, judgeWrite } from "./permit.ts";

/** No program can be started with a longer argument, and whoever judges is waited for. */
const LONGEST_COMMAND = 128 * 1024;

export function judgeShell(
  policy: PermitPolicy,
  command: string,
  cwd: string,
  resolve: ResolvePath,
): string | undefined {
  if (command.length > LONGEST_COMMAND) {
    return "This command is too long to be judged; write it into a script in your worktree and run that.";
  }
  return new ShellJudge(policy, resolve).line(command, cwd, { bounded: false, nesting: 0 });
}

interface LineContext {
  /** It runs under `timeout`, so a loop in it ends. */
  readonly bounded: boolean;
  readonly nesting: number;
}

/** Programs that run the program named behind them, and their options that take a value. */
const WRAPPERS: Readonly<Record<string, readonly string[]>> = {
  env: ["-u", "-C", "-S"],
  sudo: ["-u", "-g", "-C"],
  doas: ["-u"],
  command: [],
  builtin: [],
  exec: ["-a"],
  nohup: [],
  nice: ["-n"],
  ionice: ["-c", "-n"],
  time: ["-o", "-f"],
  setsid: [],
  stdbuf: ["-i", "-o", "-e"],
  timeout: ["-s", "-k", "--signal", "--kill-after"],
  xargs: ["-n", "-I", "-P", "-d", "-L", "-a"],
};
const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "zsh", "dash", "ksh"]);

/** Commands that write the files they are given: which of their operands those are. */
const WRITERS: Readonly<Record<string, "all" | "last">> = {
  tee: "all",
  rm: "all",
  rmdir: "all",
  touch: "all",
  mkdir: "all",
  truncate: "all",
  unlink: "all",
  shred: "all",
  mv: "all",
  cp: "last",
  ln: "last",
  install: "last",
  rsync: "last",
};
const DEVICES = /^\/dev\/(?:null|stdout|stderr|tty|zero|fd\/\d+)$/;

class ShellJudge {
  constructor(
    private readonly policy: PermitPolicy,
    private readonly resolve: ResolvePath,
  ) {}

  line(text: string, cwd: string, context: LineContext): string | undefined {
    const commands = shellCommands(text);
    if (!context.bounded && pollsForEver(commands)) {
      return "Do not wait by polling: end your turn and you will be woken by a message, or bound the wait with `timeout 60 sh -c '…'`.";
    }
    /** Where each open subshell stands; undefined when that cannot be told. */
    const places: (string | undefined)[] = [cwd];
    let exported: readonly string[] = [];
    for (const command of commands) {
      while (places.length > command.depth + 1) places.pop();
      while (places.length < command.depth + 1) places.push(places.at(-1));
      const here = places.at(-1);
      const reason = this.simple(command, here, { ...context, exported });
      if (reason !== undefined) return reason;
      exported = [...exported, ...listExports(command)];
      places[places.length - 1] = this.placeAfter(command, here);
    }
    return undefined;
  }

  private simple(
    command: ShellCommand,
    here: string | undefined,
    context: LineContext & { readonly exported: readonly string[] },
  ): string | undefined {
    for (const { op, target } of command.redirects) {
      const writes = op.includes(">") && !/^(?:\d+|-)$/.test(target.text);
      const reason = writes ? this.write(target, here) : undefined;
      if (reason !== undefined) return reason;
    }
    const run = unwrapCommand(command.words, context.bounded);
    const [program, ...operands] = run.words;
    if (!program || context.nesting > 4) return undefined;
    const name = program.text.slice(program.text.lastIndexOf("/") + 1);
    const inner = scriptOf(name, operands);
    if (inner !== undefined && here !== undefined) {
      return this.line(inner, here, { bounded: run.bounded, nesting: context.nesting + 1 });
    }
    if (name === "git") {
      const set = [...context.exported, ...command.assignments.map(nameOf), ...wrapperNames(command.words)];
      return this.git(
        operands,
        here,
        set.find((one) => POINTS_GIT.has(one)),
      );
    }
    return this.writer(name, operands, here);
  }

  /** `cd` moves whoever comes after it. */
  private placeAfter(command: ShellCommand, here: string | undefined): string | undefined {
    const [program, target] = command.words;
    if (program?.text !== "cd" && program?.text !== "pushd") return here;
    if (!target || unknowable(target) || /^[-~]/.test(target.text)) return undefined;
    if (here === undefined && !target.text.startsWith("/")) return undefined;
    return this.resolve(here ?? "/", target.text);
  }

  private write(word: ShellWord, here: string | undefined): string | undefined {
    const path = this.pathOf(word, here);
    if (path === undefined || DEVICES.test(path)) return undefined;
    const { scratch, mainCheckout, state, worktree } = this.policy;
    const ours = [mainCheckout, state, worktree].some((directory) => isInside(directory, path));
    if (!ours && scratch.some((directory) => isInside(directory, path))) return undefined;
    const reason = judgeWrite(this.policy, path);
    const instead = scratch[0] === undefined ? "" : ` Output that is only for you can go to ${scratch[0]}.`;
    return reason === undefined ? undefined : `${reason}${instead}`;
  }

  /** The file a word names; undefined when only the shell could tell. */
  private pathOf(word: ShellWord, here: string | undefined): string | undefined {
    if (unknowable(word) || word.text === "" || word.text.includes("\0")) return undefined;
    // A home directory is nowhere in a worktree; under which name does not matter.
    if (/^~[^/]*(\/|$)/.test(word.text) && !word.quoted) return `/${word.text}`;
    if (word.text.startsWith("/")) return this.resolve("/", word.text);
    return here === undefined ? undefined : this.resolve(here, word.text);
  }

  private writer(name: string, operands: readonly ShellWord[], here: string | undefined): string | undefined {
    const files = listWrittenFiles(name, operands);
    for (const file of files) {
      const reason = this.write(file, here);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  /** `pointed`: the variable that points it at another repository than the one it stands in. */
  private git(words: readonly ShellWord[], here: string | undefined, pointed: string | undefined): string | undefined {
    const call = gitCall(words);
    if (!call) return undefined;
    const { verb, operands } = call;
    const shared = judgeSharedVerb(verb, operands) ?? judgeHiddenSetting(words);
    if (shared !== undefined) return shared;
    if (READS.has(verb)) return undefined;
    if (pointed !== undefined || (call.elsewhere && call.places.some(unknowable))) {
      const by = pointed ?? "an option";
      return `${by} points git ${verb} at something else than your worktree: leave it out and run git in ${this.policy.worktree}.`;
    }
    if (!CHANGES_CHECKOUT.has(verb)) return undefined;
    if (this.policy.readOnly && verb !== "checkout" && verb !== "switch") {
      return `Your role only reads: report what should change instead of running git ${verb}.`;
    }
    const places = call.places.length === 0 ? [here] : call.places.map((place) => this.pathOf(place, here));
    const place = places.find((one) => one !== undefined && !isInside(this.policy.worktree, one));
    if (place !== undefined) {
      return `git ${verb} here would change ${place}, which is not your worktree; run it in ${this.policy.worktree}.`;
    }
    return undefined;
  }
}

/** Variables that make git work on another repository, checkout, index or set of settings than where it stands. */
const POINTS_GIT: ReadonlySet<string> = new Set(
  "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_NAMESPACE GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS".split(
    " ",
  ),
);

/** Verbs that only look, wherever they are pointed. */
const READS: ReadonlySet<string> = new Set(
  "log show status diff rev-parse rev-list cat-file ls-files ls-tree blame grep merge-base for-each-ref describe shortlog".split(
    " ",
  ),
);

function nameOf({ text }: ShellWord): string {
  return /^[A-Za-z_]\w*/.exec(text)?.[0] ?? "";
}

/** What `env NAME=value …` sets for the command behind it. */
function wrapperNames(words: readonly ShellWord[]): string[] {
  const at = words.findIndex(({ text }) => /^(?:.*\/)?git$/.test(text));
  return words.slice(0, Math.max(0, at)).flatMap((word) => (/^[A-Za-z_]\w*=/.test(word.text) ? [nameOf(word)] : []));
}

/** What later commands of the line get to see. */
function listExports({ words }: ShellCommand): string[] {
  const [program, ...names] = words;
  return program !== undefined && /^(?:export|declare|typeset)$/.test(program.text) ? names.map(nameOf) : [];
}

/** A setting for one command that would make it another command, or another checkout's. */
function judgeHiddenSetting(words: readonly ShellWord[]): string | undefined {
  const set = words.flatMap(({ text }, at) => (/^(?:-c|--config-env)$/.test(words[at - 1]?.text ?? "") ? [text] : []));
  const joined = words.flatMap(({ text }) => /^--config-env=(.*)$/s.exec(text)?.[1] ?? []);
  const name = [...set, ...joined].find((one) => /^(?:alias\.|core\.(?:worktree|bare)=)/i.test(one));
  return name === undefined
    ? undefined
    : `${name.split("=")[0]} would make git do something else than it says: run the command itself, in your worktree.`;
}

function unknowable(word: ShellWord): boolean {
  return word.expands && /[$`]|^[<>]\(/.test(word.text);
}

/** A `while` or `until` with a `sleep` before its `done`. */
function pollsForEver(commands: readonly ShellCommand[]): boolean {
  let loops = 0;
  for (const { keywords, words } of commands) {
    for (const keyword of keywords) {
      if (keyword === "while" || keyword === "until") loops += 1;
      else if (keyword === "done") loops = Math.max(0, loops - 1);
    }
    const [program] = unwrapCommand(words, false).words;
    if (loops > 0 && program?.text === "sleep") return true;
  }
  return false;
}

/** The command behind `env`, `timeout`, `xargs` and their like. */
export function unwrapCommand(
  words: readonly ShellWord[],
  bounded: boolean,
): { readonly words: readonly ShellWord[]; readonly bounded: boolean } {
  const [first, ...rest] = words;
  const withValue = first && !first.expands && Object.hasOwn(WRAPPERS, first.text) ? WRAPPERS[first.text] : undefined;
  if (!first || withValue === undefined) return { words, bounded };
  let at = 0;
  for (; at < rest.length; at += 1) {
    const text = rest[at]?.text ?? "";
    if (withValue.includes(text)) at += 1;
    else if (!text.startsWith("-") && !(first.text === "env" && /^[A-Za-z_]\w*=/.test(text))) break;
  }
  // `timeout 60 …`: the first operand is the duration.
  const inner = rest.slice(first.text === "timeout" ? at + 1 : at);
  return unwrapCommand(inner, bounded || first.text === "timeout");
}

/** The text that `sh -c` or `eval` would run. */
function scriptOf(name: string, operands: readonly ShellWord[]): string | undefined {
  if (name === "eval") return operands.map((word) => word.text).join(" ");
  if (!SHELLS.has(name)) return undefined;
  const at = operands.findIndex((word) => /^-[a-z]*c$/.test(word.text));
  return at < 0 ? undefined : operands[at + 1]?.text;
}

function listWrittenFiles(name: string, operands: readonly ShellWord[]): readonly ShellWord[] {
  if (name === "dd") {
    return operands
      .filter((word) => word.text.startsWith("of="))
      .map((word) => ({ ...word, text: word.text.slice("of=".length) }));
  }
  const which = Object.hasOwn(WRITERS, name) ? WRITERS[name] : undefined;
  if (which === undefined && name !== "sed" && name !== "perl") return [];
  const plain = operands.filter((word, index) => !word.text.startsWith("-") || afterDashes(operands, index));
  if (name === "sed" || name === "perl") {
    const inPlace = operands.some((word) => /^(?:-[a-zA-Z]*i|--in-place)/.test(word.text));
    // The first operand is the script, unless -e or -f gave it.
    const scripted = operands.some((word) => /^(?:-[a-zA-Z]*[ef]|--expression|--file)/.test(word.text));
    return inPlace
      ? plain.slice(scripted ? 0 : 1).filter((word) => /[./]/.test(word.text) && !/[{}();]/.test(word.text))
      : [];
  }
  // With one operand there is no "last": `ln -s target` writes here, `cp a` is an error.
  return which === "all" ? plain : plain.length > 1 ? plain.slice(-1) : [];
}

function afterDashes(operands: readonly ShellWord[], index: number): boolean {
  const dashes = operands.findIndex((word) => word.text === "--");
  return dashes >= 0 && dashes < index;
}

export interface GitCall {
  readonly verb: string;
  readonly operands: readonly string[];
  /** Where `-C`, `--work-tree` and `--git-dir` point it. */
  readonly places: readonly ShellWord[];
  /** By `--git-dir` or `--work-tree`: then it is not simply run somewhere, it is told which repository it is in. */
  readonly elsewhere: boolean;
}

const GIT_OPTIONS_WITH_VALUE: ReadonlySet<string> = new Set(
  "-C -c --git-dir --work-tree --namespace --config-env --exec-path".split(" "),
);
/** Of those, the ones that say where. */
const GIT_PLACES: ReadonlySet<string> = new Set(["-C", "--git-dir", "--work-tree"]);

/** What comes behind `git`: its verb and where it is pointed; undefined when there is no verb. */
export function gitCall(words: readonly ShellWord[]): GitCall | undefined {
  const places: ShellWord[] = [];
  let elsewhere = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (!word) return undefined;
    if (!word.text.startsWith("-")) {
      return { verb: word.text, operands: words.slice(at + 1).map(({ text }) => text), places, elsewhere };
    }
    elsewhere ||= /^--(?:git-dir|work-tree)(?:=|$)/.test(word.text);
    const assigned = /^--(?:git-dir|work-tree)=(.*)$/s.exec(word.text)?.[1];
    if (assigned !== undefined) places.push({ ...word, text: assigned });
    if (GIT_OPTIONS_WITH_VALUE.has(word.text)) {
      at += 1;
      const value = words[at];
      if (value && GIT_PLACES.has(word.text)) places.push(value);
    }
  }
  return undefined;
}

/** Verbs that change files, index or HEAD of the checkout they run in. */
const CHANGES_CHECKOUT: ReadonlySet<string> = new Set(
  "add stage commit reset checkout switch restore clean rm mv merge rebase cherry-pick revert am apply pull update-index read-tree checkout-index bisect sparse-checkout submodule".split(
    " ",
  ),
);

/** Why a git verb that reaches beyond the worktree is refused; undefined when it does not reach there. */
function judgeSharedVerb(verb: string, operands: readonly string[]): string | undefined {
  const [first] = operands;
  const has = (pattern: RegExp) => operands.some((word) => pattern.test(word));
  switch (verb) {
    case "stash":
      if (first === "list" || first === "show") return undefined;
      return "The stash is shared with the user's checkout: commit unfinished work on your own branch instead.";
    case "worktree":
      if (first === "list") return undefined;
      return "Worktrees are Overseer's to make and remove: work in the one you have.";
    case "gc":
    case "prune":
    case "prune-packed":
    case "pack-refs":
    case "repack":
    case "maintenance":
      return `git ${verb} works on the whole repository and other agents are in it: leave it out.`;
    case "reflog":
      return first === "expire" || first === "delete"
        ? "The reflog belongs to the user: leave it as it is."
        : undefined;
    case "config":
      return configWrites(operands)
        ? "git config changes settings that all worktrees share: pass it for one command with `git -c name=value …`."
        : undefined;
    case "branch":
      return has(
        /^(?:-[a-zA-Z]*[dDmMfcCu]|--(?:delete|move|copy|force|set-upstream-to(?:=.*)?|unset-upstream|edit-description))$/s,
      )
        ? "Branches are landed and removed by Overseer: leave them, and commit on your own."
        : undefined;
    case "checkout":
    case "switch":
      return has(verb === "checkout" ? /^-B/ : /^(?:-C.*|--force-create)$/s)
        ? "That moves a branch which may be the user's: stay on your own branch."
        : undefined;
    case "rebase":
      return has(/^--update-refs$/) ? "--update-refs moves other branches too: rebase without it." : undefined;
    case "tag":
      return tagWrites(operands)
        ? "Tags are shared with the user's checkout: say in your report which one should be made or moved."
        : undefined;
    case "replace":
      return operands.length === 0 || has(/^(?:-l|--list)$/)
        ? undefined
        : "git replace changes what the whole repository sees in place of a commit: make new commits instead.";
    case "notes":
      return first === undefined || first === "list" || first === "show" || first === "get-ref"
        ? undefined
        : "Notes are shared with the user's checkout: say it in the commit message, or in your report.";
    case "fetch":
    case "pull":
      return operands.some((word) => /^[^-].*:(?!\/\/)/s.test(word) && movesABranch(word))
        ? `git ${verb} with a target moves a branch that is not yours: fetch without it, and merge what came.`
        : undefined;
    case "fast-import":
    case "send-pack":
    case "receive-pack":
    case "update-ref":
      return "Refs are moved by commits and by Overseer only: commit on your own branch instead.";
    case "symbolic-ref":
      return operands.filter((word) => !word.startsWith("-")).length > 1 || has(/^(?:-d|--delete)$/)
        ? "Refs are moved by commits and by Overseer only: stay on your own branch."
        : undefined;
    case "push":
      return "Do not push: report your commit when you are done, and Overseer lands it.";
    case "remote":
      return /^(?:add|remove|rm|rename|set-url|set-head|set-branches|prune)$/.test(first ?? "")
        ? "Remotes are the user's settings: leave them as they are."
        : undefined;
    case "filter-branch":
    case "filter-repo":
      return "Rewriting history reaches beyond your branch: make new commits instead.";
    default:
      return undefined;
  }
}

/** `<from>:<to>`, where `to` is no remote-tracking ref; an address such as host:path is none, it stands first. */
function movesABranch(refspec: string): boolean {
  const to = refspec.slice(refspec.lastIndexOf(":") + 1);
  return (
    to !== "" && !to.startsWith("refs/remotes/") && !/^[\w.-]+@[\w.-]+:/.test(refspec) && !/^[a-z]+:/.test(refspec)
  );
}

/** `git tag` alone, or with an option that lists, only looks. */
function tagWrites(operands: readonly string[]): boolean {
  if (
    operands.some((word) =>
      /^(?:-[a-zA-Z]*[dfasmFu]|--(?:delete|force|annotate|sign|message|file|local-user))/.test(word),
    )
  )
    return true;
  const lists =
    /^(?:-l|--list|-n\d*|-v|--verify|--contains|--no-contains|--points-at|--merged|--no-merged|--sort|--format|--column)/;
  return operands.some((word) => !word.startsWith("-")) && !operands.some((word) => lists.test(word));
}

function configWrites(operands: readonly string[]): boolean {
  const [first] = operands;
  if (first === "set" || first === "unset" || first === "edit" || /^(?:rename|remove)-section$/.test(first ?? ""))
    return true;
  if (first === "get" || first === "list") return false;
  if (operands.some((word) => /^--(?:get|list|get-all|get-regexp|get-urlmatch|show-)/.test(word) || word === "-l"))
    return false;
  if (
    operands.some(
      (word) =>
        /^--(?:add|unset|unset-all|replace-all|edit|rename-section|remove-section)$/.test(word) || word === "-e",
    )
  ) {
    return true;
  }
  // `git config name` reads, `git config name value` writes; options that take a value are few and name a file.
  const plain = operands.filter(
    (word, index) => !word.startsWith("-") && !/^(?:-f|--file|--type|--default)$/.test(operands[index - 1] ?? ""),
  );
  return plain.length > 1;
}
