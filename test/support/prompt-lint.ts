/**
 * Reads a finished prompt the way the command line will: every `overseer …` in it must be a verb this role has, with
 * flags that exist and values that are accepted; and a role that only reads must not be told to write.
 * Prompts and parsers drift apart silently otherwise, and an agent that follows a wrong one loops on the refusal.
 */
import { AGENT_VERBS, type Verb, verbsFor } from "#domain/model/protocol.ts";
import type { Role } from "#domain/model/role.ts";

export interface LintFinding {
  readonly line: number;
  readonly message: string;
}

export function lintPrompt(text: string, role: Pick<Role, "canSpawn" | "readOnly">): readonly LintFinding[] {
  const findings = [...codeSpans(text)].flatMap(({ line, code }) => {
    if (!/^overseer(\s|$)/.test(code)) return [];
    return commandProblems(code, verbsFor(role)).map((message) => ({ line, message }));
  });
  return [
    ...findings,
    ...bareCommands(text),
    ...leftoverHoles(text),
    ...(role.readOnly ? ordersToWrite(text) : []),
  ].toSorted((a, b) => a.line - b.line);
}

/** What is wrong with one command line; empty when an agent could type it. */
export function commandProblems(command: string, verbs: readonly Verb[]): readonly string[] {
  const words = splitWords(command).slice(1);
  const verb = findVerb(words, verbs);
  if (verb === undefined) return [`"${command}" is not a verb of this role`];
  const problems: string[] = [];
  const given = new Set<string>();
  let args = 0;
  for (let index = verb.words.length; index < words.length; index++) {
    const word = words[index] ?? "";
    if (!word.startsWith("--")) {
      args++;
      continue;
    }
    const flag = verb.flags.find((candidate) => `--${candidate.name}` === word);
    if (flag === undefined) {
      problems.push(`"overseer ${verb.words.join(" ")}" has no flag ${word}`);
      continue;
    }
    given.add(flag.name);
    if (flag.value === undefined) continue;
    index++;
    const value = words[index];
    if (value === undefined || value.startsWith("--")) problems.push(`${word} needs a value`);
    else if (flag.choices !== undefined && !isHole(value) && !flag.choices.includes(value)) {
      problems.push(`${word} does not take "${value}" (it takes ${flag.choices.join(", ")})`);
    }
  }
  if (args > verb.args.length) problems.push(`"overseer ${verb.words.join(" ")}" takes fewer arguments`);
  if (given.size + args > 0) problems.push(...missing(verb, given, args));
  return problems;
}

/** A bare mention of a verb is fine; one that shows how to call it must show all that is required. */
function missing(verb: Verb, given: ReadonlySet<string>, args: number): readonly string[] {
  const flags = verb.flags.filter((flag) => flag.required && !given.has(flag.name)).map((flag) => `--${flag.name}`);
  const needed = verb.args.filter((arg) => !arg.optional).slice(args);
  return [...flags, ...needed.map((arg) => `<${arg.name}>`)].map(
    (part) => `"overseer ${verb.words.join(" ")}" is shown without ${part}`,
  );
}

function isHole(value: string): boolean {
  return /^<.*>$/.test(value);
}

function splitWords(command: string): readonly string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|<[^>]*>|\S+/g)].map((match) => match[1] ?? match[2] ?? match[0]);
}

/** Inline code, also where a line break falls into it, and the lines of fenced blocks. */
function* codeSpans(text: string): Generator<{ line: number; code: string }> {
  for (const match of text.matchAll(/^(`{3,})[^\n]*\n([\s\S]*?)^\1\s*$|`([^`]+)`/gm)) {
    const line = text.slice(0, match.index).split("\n").length;
    const inline = match[3];
    if (inline !== undefined) yield { line, code: inline.replace(/\s+/g, " ").trim() };
    else
      for (const [offset, code] of (match[2] ?? "").split("\n").entries())
        yield { line: line + 1 + offset, code: code.trim() };
  }
}

/** In prose the product is written Overseer; `overseer word` outside of code is a command that escaped the check. */
function bareCommands(text: string): readonly LintFinding[] {
  const prose = text.replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1\s*$|`[^`]+`/gm, (code) => code.replace(/[^\n]/g, " "));
  return lines(prose).flatMap(({ line, content }) =>
    /\boverseer\s+[a-z]/.test(content) ? [{ line, message: "a command is not in code quotes" }] : [],
  );
}

function leftoverHoles(text: string): readonly LintFinding[] {
  return lines(text).flatMap(({ line, content }) =>
    /\{\{.*?\}\}/.test(content) ? [{ line, message: "a placeholder was not filled in" }] : [],
  );
}

const WRITING = /\b(edit|commit|write|modify|rewrite|implement|refactor|delete|rename|git add|git merge)\b/i;
const NEGATED = /\b(not|never|no|nothing|cannot|without)\b/i;

/** Sentence by sentence: a word of writing is only welcome where the sentence forbids it. */
function ordersToWrite(text: string): readonly LintFinding[] {
  const findings: LintFinding[] = [];
  let line = 1;
  for (const sentence of text.split(/(?<=[.:;!?]\s)|(?=\n\s*(?:[-*]|\d+\.)\s)|(?<=\n)(?=\n)/)) {
    const found = WRITING.exec(sentence);
    if (found !== null && !NEGATED.test(sentence)) {
      const at = line + sentence.slice(0, found.index).split("\n").length - 1;
      findings.push({ line: at, message: `a role that only reads is told to ${found[0].toLowerCase()}` });
    }
    line += sentence.split("\n").length - 1;
  }
  return findings;
}

function lines(text: string): readonly { line: number; content: string }[] {
  return text.split("\n").map((content, index) => ({ line: index + 1, content }));
}

/** The verb whose words open this call; the longest one where several do. */
export function findVerb(words: readonly string[], verbs: readonly Verb[] = AGENT_VERBS): Verb | undefined {
  return verbs
    .filter((verb) => verb.words.every((word, index) => words[index] === word))
    .toSorted((a, b) => b.words.length - a.words.length)[0];
}

/** A command as a door describes it; what the command line holds for each of its commands fits. */
export interface DescribedCommand {
  readonly args?: readonly { readonly name: string; readonly optional?: boolean }[];
  readonly options?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly choices?: readonly string[];
  }[];
}

/** Where a door would refuse what this table teaches; empty when every call an agent learns is accepted there. */
export function disagreements(verb: Verb, command: DescribedCommand): readonly string[] {
  const options = new Map((command.options ?? []).map((option) => [option.name, option]));
  const args = command.args ?? [];
  const ofArgs = verb.args.flatMap((arg, index) => {
    const described = args[index];
    if (described === undefined) return [`takes no argument <${arg.name}>`];
    return arg.optional && !described.optional ? [`requires the argument <${arg.name}>`] : [];
  });
  const unasked = args.slice(verb.args.length).filter((arg) => !arg.optional);
  const ofFlags = verb.flags
    .filter((flag) => flag.name !== "json")
    .flatMap((flag) => {
      const option = options.get(flag.name);
      if (option === undefined) return [`has no flag --${flag.name}`];
      if ((option.value === undefined) !== (flag.value === undefined))
        return [`disagrees whether --${flag.name} has a value`];
      const refused = (flag.choices ?? []).filter(
        (choice) => option.choices !== undefined && !option.choices.includes(choice),
      );
      return refused.map((choice) => `refuses --${flag.name} ${choice}`);
    });
  return [...ofArgs, ...unasked.map((arg) => `requires the argument <${arg.name}>`), ...ofFlags];
}
