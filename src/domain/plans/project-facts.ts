/**
 * What a planner is told of a repository before it plans: layout, languages, commands, guides, recent history, and where
 * something like the goal was done before. Facts are gathered from names, a few texts and commits, and shown as one fenced
 * block of bounded size, in which no part starves another and every cut is told. All of it is other people's words, so it is
 * material and never an instruction. Pure: act/planning/explore.ts reads the repository, and takes secrets out.
 */
import { byteLength, cleanText, cutTo, renderFenced } from "#domain/core/quote.ts";
import { type FoundCheck, findChecks, suggestSetup } from "./found-checks.ts";
import { readPackageScripts } from "./package-scripts.ts";
import { GUIDES, type ProjectFiles, readCi } from "./project-files.ts";
import { countLanguages, type DirectorySeen, type LanguageSeen, layOut } from "./project-layout.ts";
import { type CommitSeen, findSimilar, type SimilarChanges } from "./similar-changes.ts";
import { readTaskTargets } from "./task-targets.ts";

/** A repository at one commit, as it was read. */
export interface ProjectSeen extends ProjectFiles {
  /** The newest first. */
  readonly commits: readonly CommitSeen[];
  /** What was not looked at and why, each a sentence. */
  readonly remarks: readonly string[];
}

export interface ProjectFacts {
  readonly files: number;
  readonly directories: readonly DirectorySeen[];
  /** Names of files at the top. */
  readonly topFiles: readonly string[];
  readonly languages: readonly LanguageSeen[];
  readonly commands: readonly CommandSeen[];
  readonly checks: readonly FoundCheck[];
  /** What a fresh checkout needs first; null where nothing tells. */
  readonly setup: string | null;
  readonly recent: readonly Pick<CommitSeen, "id" | "subject">[];
  readonly guides: readonly GuideSeen[];
  readonly similar: SimilarChanges;
  readonly remarks: readonly string[];
  /** How many there are beside those that are named here. */
  readonly leftOut: Readonly<Record<"directories" | "topFiles" | "commands", number>>;
}

/** A command that stands in the repository, and what it runs, where that is another text. */
export interface CommandSeen {
  readonly command: string;
  readonly runs: string | null;
}

export interface GuideSeen {
  readonly path: string;
  readonly text: string;
}

const MOST_DIRECTORIES = 40;
const MOST_TOP_FILES = 40;
const MOST_LANGUAGES = 10;
const MOST_RECENT = 25;
const MOST_COMMANDS = 60;
/** More of a guide than this is never shown, whatever the room. */
const LONGEST_GUIDE = 24_000;

export function gatherFacts(seen: ProjectSeen, sentence: string): ProjectFacts {
  const { paths, commits, remarks } = seen;
  const directories = layOut(paths, MOST_DIRECTORIES);
  const atTop = new Set(paths.flatMap((path) => (path.includes("/") ? [path.slice(0, path.indexOf("/"))] : [])));
  const topFiles = paths.filter((path) => !path.includes("/"));
  const commands = listCommands(seen);
  return {
    files: paths.length,
    directories,
    topFiles: topFiles.slice(0, MOST_TOP_FILES),
    languages: countLanguages(paths).slice(0, MOST_LANGUAGES),
    commands: commands.slice(0, MOST_COMMANDS),
    checks: findChecks(seen),
    setup: suggestSetup(seen),
    recent: commits.slice(0, MOST_RECENT).map(({ id, subject }) => ({ id, subject })),
    guides: listGuides(seen),
    similar: findSimilar(sentence, paths, commits),
    remarks,
    leftOut: {
      directories: atTop.size - directories.filter(({ path }) => path.indexOf("/") === path.length - 1).length,
      topFiles: Math.max(0, topFiles.length - MOST_TOP_FILES),
      commands: Math.max(0, commands.length - MOST_COMMANDS),
    },
  };
}

/** A guide that says the same as one before it is not told twice. */
function listGuides({ texts }: ProjectFiles): GuideSeen[] {
  const found = GUIDES.flatMap((path) => {
    const text = texts.get(path)?.trim();
    return text === undefined || text === "" ? [] : [{ path, text: text.slice(0, LONGEST_GUIDE) }];
  });
  return found.filter((one, at) => found.findIndex(({ text }) => text === one.text) === at);
}

function listCommands(project: ProjectFiles): CommandSeen[] {
  const { manager, scripts } = readPackageScripts(project) ?? {};
  const ofScripts = [...(scripts ?? [])];
  const ofTargets = readTaskTargets(project).flatMap(({ program, targets }) =>
    [...targets.keys()].map((name) => ({ command: `${program} ${name}`, runs: null })),
  );
  const ofCi = [...new Set(listRunLines(readCi(project)))];
  return [
    ...ofScripts.map(([name, runs]) => ({ command: `${manager} run ${name}`, runs })),
    ...ofTargets,
    ...ofCi.map((command) => ({ command, runs: "CI" })),
  ];
}

/** The lines below `run:` and `script:` in a CI file, whether they stand beside it or below it. */
function listRunLines(ci: string): string[] {
  const found: string[] = [];
  let depth: number | undefined;
  for (const line of ci.split("\n")) {
    const indent = line.search(/\S/);
    if (indent < 0) continue;
    if (depth !== undefined && indent > depth) {
      found.push(line.trim().replace(/^- /, ""));
      continue;
    }
    const [, before = "", value] = /^(\s*(?:- )?)(?:run|script):\s*(.*)$/.exec(line) ?? [];
    depth = value === undefined || !/^[|>]?[+-]?$/.test(value) ? undefined : before.length;
    if (value !== undefined && depth === undefined) found.push(value);
  }
  return found;
}

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

/**
 * The facts as one fenced block of at most `maxBytes`, fences and all; empty where there is not even room for that. What
 * a part does not need is shared by those that need more. `redact` has the last word on what is shown.
 */
export function renderFacts(facts: ProjectFacts, maxBytes: number, redact: (text: string) => string): string {
  const room = maxBytes - FENCES;
  if (!(room >= LEAST_ROOM)) return "";
  const body = redact(joinFairly(listSections(facts), room));
  const block = renderFenced(body, maxBytes) ?? "";
  // A block that cannot be cut to fit is no block.
  return byteLength(block) <= maxBytes ? block : "";
}

/** Two fences as long as they get, their line ends and the word behind the first. */
const FENCES = 2 * 17 + 8;
const LEAST_ROOM = 200;

function listSections(facts: ProjectFacts): Section[] {
  const { directories, topFiles, languages, commands, checks, setup, recent, guides, similar, remarks, leftOut } =
    facts;
  const more = (count: number, what: string) => (count > 0 ? [`[… ${count} more ${what} left out]`] : []);
  const sections: Section[] = [
    {
      title: `Layout (${facts.files} tracked files; the largest directories first)`,
      lines: [
        ...directories.map(({ path, files, language }) => {
          const indent = "  ".repeat(path.split("/").length - 2);
          return `${indent}${path}: ${files}${language === null ? "" : `, mostly ${language}`}`;
        }),
        ...more(leftOut.directories, "directories at the top"),
        ...(topFiles.length === 0 ? [] : [`at the top: ${topFiles.join(", ")}`]),
        ...more(leftOut.topFiles, "files at the top"),
      ],
    },
    {
      title: "Languages, by files",
      lines: languages.length === 0 ? [] : [languages.map(({ language, files }) => `${language} ${files}`).join(", ")],
    },
    {
      title: "Commands that build and test it",
      lines: [
        ...checks.map(({ command, from, inCi }) => `${command} (a check: ${from}${inCi ? ", and CI runs it" : ""})`),
        ...(setup === null ? [] : [`${setup} (what a fresh checkout needs first)`]),
        ...commands.map(({ command, runs }) =>
          runs === null ? command : runs === "CI" ? `${command} (in CI)` : `${command} (${runs})`,
        ),
        ...more(leftOut.commands, "commands"),
      ],
    },
    {
      title: "Where similar changes were made",
      lines: [
        ...similar.commits.map(
          ({ id, subject, files }) => `${id} ${subject}${files.length > 0 ? `: ${files.join(", ")}` : ""}`,
        ),
        ...(similar.files.length === 0 ? [] : ["files whose names have words of the goal:", ...similar.files]),
      ],
    },
    { title: "Recent commits, the newest first", lines: recent.map(({ id, subject }) => `${id} ${subject}`) },
    ...guides.map(({ path, text }) => ({ title: `What ${path} says`, lines: cleanText(text).split("\n") })),
    { title: "Not looked at", lines: remarks },
  ];
  return sections
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => ({ title: shorten(title), lines: lines.map(shorten) }));
}

const LONGEST_LINE = 400;

/** One line of at most so many characters; spaces at its beginning stay, because layouts are told by them. */
function shorten(text: string): string {
  const line = cleanText(text).replace(/\n/g, " ").trimEnd();
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, LONGEST_LINE - 1).toWellFormed()}…`;
}

/** Each part gets an equal share; what one leaves over goes to the others. */
function joinFairly(sections: readonly Section[], room: number): string {
  const texts = sections.map(({ title, lines }) => ({
    title,
    lines,
    bytes: byteLength(`${title}:\n${lines.join("\n")}\n\n`),
  }));
  const shares = shareOut(
    texts.map(({ bytes }) => bytes),
    room,
  );
  const parts = texts.flatMap(({ title, lines }, at) => cutLines(title, lines, (shares[at] ?? 0) - 2) ?? []);
  return cutTo(parts.join("\n\n"), room);
}

/** How much of `room` each gets that wants so much: all it wants, or an equal share of what is left. */
export function shareOut(wants: readonly number[], room: number): number[] {
  const shares = wants.map(() => 0);
  let open = wants.map((_, at) => at);
  let left = room;
  while (open.length > 0) {
    const share = Math.floor(left / open.length);
    const content = open.filter((at) => (wants[at] ?? 0) <= share);
    if (content.length === 0) {
      for (const at of open) shares[at] = share;
      break;
    }
    for (const at of content) {
      shares[at] = wants[at] ?? 0;
      left -= wants[at] ?? 0;
    }
    open = open.filter((at) => !content.includes(at));
  }
  return shares;
}

/** Whole lines only, and how many are missing; undefined where not even the title has room. */
function cutLines(title: string, lines: readonly string[], room: number): string | undefined {
  const head = `${title}:`;
  const whole = [head, ...lines].join("\n");
  if (byteLength(whole) <= room) return whole;
  let used = byteLength(head) + byteLength(tellCut(lines.length));
  if (used > room) return undefined;
  const kept: string[] = [];
  for (const line of lines) {
    used += byteLength(line) + 1;
    if (used > room) break;
    kept.push(line);
  }
  return [head, ...kept].join("\n") + tellCut(lines.length - kept.length);
}

function tellCut(count: number): string {
  return `\n[… ${count} more lines left out]`;
}
