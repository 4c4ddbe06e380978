/** The targets of a Makefile and the recipes of a justfile: which there are, and what each runs, prerequisites included. */
import type { ProjectFiles } from "./project-files.ts";

export interface TaskTargets {
  /** The program that runs them. */
  readonly program: "make" | "just";
  /** Where they stand. */
  readonly file: string;
  readonly targets: ReadonlyMap<string, TaskTarget>;
}

interface TaskTarget {
  readonly needs: readonly string[];
  readonly recipe: string;
}

const FILES: readonly (readonly [file: string, program: TaskTargets["program"]])[] = [
  ["GNUmakefile", "make"],
  ["makefile", "make"],
  ["Makefile", "make"],
  ["justfile", "just"],
  ["Justfile", "just"],
  [".justfile", "just"],
];

/** Each program's own, at most one of each, as the program itself would choose its file. */
export function readTaskTargets({ texts }: ProjectFiles): TaskTargets[] {
  const found = FILES.flatMap(([file, program]) => {
    const text = texts.get(file);
    return text === undefined ? [] : [{ program, file, targets: parseTargets(text) }];
  });
  return found.filter((one, at) => found.findIndex(({ program }) => program === one.program) === at);
}

/** `name other names: needs`, or a recipe of just with its arguments; what is assigned (`:=`) is none. */
const HEAD = /^@?([A-Za-z0-9][\w.-]*(?:[ \t]+[^:=#]{1,200})?)[ \t]*::?(?!=)([^=\n]{0,1000})$/;
const MOST_TARGETS = 500;

function parseTargets(text: string): Map<string, TaskTarget> {
  const targets = new Map<string, TaskTarget>();
  let names: readonly string[] = [];
  for (const line of text.replaceAll("\\\n", " ").split("\n")) {
    if (/^\s/.test(line)) {
      for (const name of names) append(targets, name, [], line.trim());
      continue;
    }
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, heads, needs] = HEAD.exec(line) ?? [];
    names = heads === undefined || targets.size >= MOST_TARGETS ? [] : splitWords(heads);
    const [before = "", ...inline] = (needs ?? "").split(";");
    for (const name of names) append(targets, name, splitWords(before.split("#", 1)[0] ?? ""), inline.join(";").trim());
  }
  return targets;
}

function append(targets: Map<string, TaskTarget>, name: string, needs: readonly string[], line: string): void {
  const known = targets.get(name) ?? { needs: [], recipe: "" };
  targets.set(name, { needs: [...known.needs, ...needs], recipe: `${known.recipe}${line === "" ? "" : `${line}\n`}` });
}

function splitWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => /^[A-Za-z0-9][\w.-]*$/.test(word));
}

const CALLS = /(?:\$\(MAKE\)|\bmake\b|\bjust\b)\s+([\w.-]+)/g;
const MOST_EXPANDED = 60;

/** Everything that runs for a target, with what it needs and calls; undefined where there is no such target. */
export function expandTarget({ targets }: TaskTargets, name: string): string | undefined {
  if (!targets.has(name)) return undefined;
  const seen = new Set<string>();
  const open = [name];
  for (let next = open.shift(); next !== undefined && seen.size < MOST_EXPANDED; next = open.shift()) {
    const target = targets.get(next);
    if (target === undefined || seen.has(next)) continue;
    seen.add(next);
    open.push(...target.needs, ...[...target.recipe.matchAll(CALLS)].map(([, word = ""]) => word));
  }
  return [...seen].map((one) => targets.get(one)?.recipe ?? "").join("\n");
}
