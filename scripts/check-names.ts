/**
 * Checks what a linter cannot: that functions begin with a verb and not with a past participle, that no name is exported
 * from two files, and that sentences people read use the glossary's words, not the ones after its "*Not*:". It reads
 * text, not syntax trees, so that it takes well under a second; a rare spelling may slip through.
 * `node_modules/.bin/bun scripts/check-names.ts`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A file as the checks see it: its path from the root of the repository, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

const IRREGULAR = new Set(
  `born bought bound brought broken built caught chosen dealt done drawn driven fallen felt forgotten found given gone
  grown heard held hidden kept known laid led left lent lost made meant met paid said seen sent shown slept sold spent
  spoken stolen stood stuck swept sworn taken thought thrown told torn understood woken won worn written`.split(/\s+/),
);
/** Verbs that only look like a participle. */
const VERBS = new Set("bleed breed embed exceed feed heed need proceed seed shed speed succeed".split(" "));
/** Keys of objects that hold a function and are fixed by what they name: `file key`. */
const FIXED_KEYS = new Set(["src/runtimes/list.ts scripted"]);

const PARAMETERS = String.raw`(?:<[^>()]*>)?\((?:[^()]|\([^()]*\))*\)`;
const ARROW = String.raw`(?:async\s+)?(?:${PARAMETERS}(?::[^=;]*)?|\w+)\s*=>`;
const DECLARATIONS = [
  /\bfunction\s*\*?\s*([a-z]\w*)/g,
  new RegExp(
    String.raw`\b(?:const|let)\s+([a-z]\w*)(?::[^=;\n]*(?:=>[^=;\n]*)?)?\s*=\s*(?:${ARROW}|(?:async\s+)?function\b)`,
    "g",
  ),
  new RegExp(String.raw`^\s+(?:readonly\s+)?([a-z]\w*)\??:\s*(?:${ARROW}|(?:async\s+)?function\b)`, "gm"),
  new RegExp(String.raw`^\s+(?:async\s+|static\s+|private\s+)*\*?([a-z]\w*)${PARAMETERS}(?::[^;{}]*)?\s*\{$`, "gm"),
  new RegExp(String.raw`^\s+([a-z]\w*)\??${PARAMETERS}:[^;\n]*;$`, "gm"),
];

/** Functions and methods whose first word is a past participle: `settled()` says what is true, not what it does. */
export function findParticiples(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    const names = new Set(DECLARATIONS.flatMap((form) => [...code.matchAll(form)].map((match) => match[1] ?? "")));
    return [...names]
      .filter((name) => isParticiple(/^[a-z]+/.exec(name)?.[0] ?? "") && !FIXED_KEYS.has(`${path} ${name}`))
      .map((name) => `${path}: ${name}() begins with a past participle; begin with the verb that says what it does.`);
  });
}

function isParticiple(word: string): boolean {
  return IRREGULAR.has(word) || (word.length > 3 && word.endsWith("ed") && !VERBS.has(word));
}

const EXPORTED =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+(\w+)/gm;

/** Names that two files export: whoever imports one has to ask which. Default exports have no name and do not count. */
export function findSharedExports(sources: readonly Source[]): string[] {
  const owners = new Map<string, string[]>();
  for (const { path, text } of sources) {
    for (const name of new Set([...text.matchAll(EXPORTED)].map((match) => match[1] ?? ""))) {
      owners.set(name, [...(owners.get(name) ?? []), path]);
    }
  }
  return [...owners]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} is exported from ${paths.join(" and ")}; give each a name of its own.`);
}

/** A sentence that may use a word of the "not" list, because it speaks of something else. Each has to be needed. */
export interface Exception {
  readonly word: string;
  /** Words around it, as they stand there. */
  readonly phrase: string;
}

export const EXCEPTIONS: readonly Exception[] = [];

/** The words after "*Not*:" of each row, with the word to use instead. One explained in parentheses has uses of its own. */
export function readNotList(glossary: string): Map<string, string> {
  const instead = new Map<string, string>();
  for (const [, word = "", list = ""] of glossary.matchAll(/^\| \*\*([^*]+)\*\* \|.*\*Not\*: ([^.|]+)/gm)) {
    for (const avoided of list.split(/,\s*(?![^(]*\))/)) {
      if (!avoided.includes("(")) instead.set(avoided.trim(), word);
    }
  }
  return instead;
}

/** Sentences that use a word of the "not" list, and exceptions that nothing needs. */
export function findAvoidedWords(
  sources: readonly Source[],
  notList: ReadonlyMap<string, string>,
  exceptions: readonly Exception[],
): string[] {
  if (notList.size === 0) return [];
  const avoided = new RegExp(String.raw`(?<![\w./$-])(${[...notList.keys()].join("|")})s?(?![\w/(=:-]|\.\w)`, "gi");
  const used = new Set<Exception>();
  const found = sources.flatMap(({ path, text }) =>
    readSentences(path, text).flatMap((sentence) =>
      [...sentence.matchAll(avoided)].flatMap((match) => {
        const word = (match[1] ?? "").toLowerCase();
        const around = sentence.slice(Math.max(0, match.index - 60), match.index + 60);
        const exception = exceptions.find((one) => one.word === word && around.includes(one.phrase));
        if (exception !== undefined) used.add(exception);
        const near = sentence.slice(Math.max(0, match.index - 30), match.index + 30).trim();
        return exception === undefined
          ? [`${path}: "${word}" in "${near}": the glossary calls it ${notList.get(word)}.`]
          : [];
      }),
    ),
  );
  const idle = exceptions.filter((one) => !used.has(one));
  return [...found, ...idle.map((one) => `The exception for "${one.word}" in "${one.phrase}" is not needed any more.`)];
}

/** What a person or an agent reads of a file: the prose of a page without its code, the string literals of a program that hold several words. */
function readSentences(path: string, text: string): readonly string[] {
  if (!path.endsWith(".ts"))
    return [text.replace(/^(`{3,})[\s\S]*?^\1/gm, "").replace(/`[^`\n]*`|\]\([^)]*\)|<!--[\s\S]*?-->/g, " ")];
  return [
    ...text.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\[\s\S])*)`|'((?:[^'\\\n]|\\.)*)'/g),
  ]
    .map((match) => match[1] ?? match[2] ?? match[3] ?? "")
    .map((literal) => literal.replace(/\$\{[^{}"`]*\}/g, "…"))
    .filter((literal) => /[A-Za-z,;:.]\s+[a-z]/.test(literal));
}

function readSources(root: string, folder: string, wanted: (name: string) => boolean): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter(wanted)
    .sort()
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), "utf8") }));
}

/** Everything that is wrong with the names and words of a repository. */
export function checkNames(root: string): string[] {
  const code = readSources(root, "src", (name) => /(?<!\.test|\.d)\.ts$/.test(name));
  const pages = readSources(root, "docs", (name) => /^[\w-]+\.md$/.test(name));
  const prompts = readSources(root, "src/prompts", (name) => /\.(md|yaml)$/.test(name));
  const readme = { path: "README.md", text: readFileSync(join(root, "README.md"), "utf8") };
  const notList = readNotList(readFileSync(join(root, "GLOSSARY.md"), "utf8"));
  return [
    ...findParticiples(code),
    ...findSharedExports(code),
    ...findAvoidedWords([readme, ...pages, ...prompts, ...code], notList, EXCEPTIONS),
  ];
}

if (import.meta.main) {
  const wrong = checkNames(join(import.meta.dir, ".."));
  for (const line of wrong) console.error(line);
  if (wrong.length > 0) process.exit(1);
}
