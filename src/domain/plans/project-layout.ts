/** What a repository looks like from outside: its directories with what lies in them, and the languages it is written in. */
import { isAside } from "./similar-changes.ts";

export interface DirectorySeen {
  /** With a slash at its end. */
  readonly path: string;
  /** Everything below it. */
  readonly files: number;
  /** What most of it is written in; null where that is nothing we know. */
  readonly language: string | null;
}

export interface LanguageSeen {
  readonly language: string;
  readonly files: number;
}

const LANGUAGES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    TypeScript: "ts tsx mts cts",
    JavaScript: "js jsx mjs cjs",
    Python: "py pyi",
    Go: "go",
    Rust: "rs",
    Java: "java",
    Kotlin: "kt kts",
    Swift: "swift",
    "Objective-C": "m mm",
    C: "c h",
    "C++": "cc cpp cxx hpp hh",
    "C#": "cs",
    "F#": "fs fsx",
    Ruby: "rb rake",
    PHP: "php",
    Elixir: "ex exs",
    Erlang: "erl hrl",
    Haskell: "hs",
    Scala: "scala",
    Clojure: "clj cljs cljc",
    Dart: "dart",
    Lua: "lua",
    Perl: "pl pm",
    R: "r",
    Julia: "jl",
    Zig: "zig",
    OCaml: "ml mli",
    Nix: "nix",
    Shell: "sh bash zsh fish",
    SQL: "sql",
    HTML: "html htm",
    CSS: "css scss sass less",
    Vue: "vue",
    Svelte: "svelte",
    Terraform: "tf",
    Protobuf: "proto",
    GraphQL: "graphql gql",
    Markdown: "md mdx rst",
    YAML: "yml yaml",
    JSON: "json jsonc",
    TOML: "toml",
  }).flatMap(([language, endings]) => endings.split(" ").map((ending) => [ending, language])),
);

/** Not what a change is written in. */
const DATA: ReadonlySet<string> = new Set(["Markdown", "YAML", "JSON", "TOML"]);

function languageOf(path: string): string | undefined {
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(path)?.[1]?.toLowerCase();
  return ending !== undefined && Object.hasOwn(LANGUAGES, ending) ? LANGUAGES[ending] : undefined;
}

/** Those with most files first. */
export function countLanguages(paths: readonly string[]): LanguageSeen[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const language = isAside(path) ? undefined : languageOf(path);
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const seen = [...counts].map(([language, files]) => ({ language, files }));
  return seen.toSorted((a, b) => b.files - a.files || (a.language < b.language ? -1 : 1));
}

/** Deeper than this nobody plans by. */
const DEEPEST = 4;

interface Counted {
  readonly path: string;
  files: number;
  /** Weighed: what is made or copied counts little. */
  interest: number;
  readonly languages: Map<string, number>;
  readonly children: Set<string>;
}

/**
 * The largest are opened first, until there are `most`: so many lines tell most of a repository. A directory stands right
 * before those inside of it, and what matters most comes first.
 */
export function layOut(paths: readonly string[], most: number): DirectorySeen[] {
  const counted = countDirectories(paths);
  const shown = new Set(pickLargest(counted, [...(counted.get("")?.children ?? [])], most));
  const open = [...shown];
  while (shown.size < most) {
    const next = pickLargest(counted, open, 1)[0];
    if (next === undefined) break;
    open.splice(open.indexOf(next), 1);
    const inside = pickLargest(counted, [...(counted.get(next)?.children ?? [])], most - shown.size);
    for (const path of inside) shown.add(path);
    open.push(...inside);
  }
  return walk(counted, "", shown);
}

function walk(counted: ReadonlyMap<string, Counted>, from: string, shown: ReadonlySet<string>): DirectorySeen[] {
  const children = [...(counted.get(from)?.children ?? [])].filter((path) => shown.has(path));
  return pickLargest(counted, children, children.length).flatMap((path) => {
    const { files = 0, languages = new Map<string, number>() } = counted.get(path) ?? {};
    const [language, count = 0] = [...languages].toSorted((a, b) => b[1] - a[1])[0] ?? [];
    const own = { path: `${path}/`, files, language: language !== undefined && count * 2 >= files ? language : null };
    return [own, ...walk(counted, path, shown)];
  });
}

function pickLargest(counted: ReadonlyMap<string, Counted>, paths: readonly string[], most: number): string[] {
  const interest = (path: string) => counted.get(path)?.interest ?? 0;
  return paths.toSorted((a, b) => interest(b) - interest(a) || (a < b ? -1 : 1)).slice(0, most);
}

function countDirectories(paths: readonly string[]): Map<string, Counted> {
  const counted = new Map<string, Counted>();
  const at = (path: string): Counted => {
    const known = counted.get(path);
    if (known) return known;
    const fresh = { path, files: 0, interest: 0, languages: new Map<string, number>(), children: new Set<string>() };
    counted.set(path, fresh);
    return fresh;
  };
  for (const path of paths) {
    const language = languageOf(path);
    const worth = isAside(path) ? 0.05 : language === undefined || DATA.has(language) ? 0.3 : 1;
    let inside = at("");
    let end = path.indexOf("/");
    for (let depth = 0; depth < DEEPEST && end > 0; depth += 1) {
      const directory = path.slice(0, end);
      inside.children.add(directory);
      inside = at(directory);
      inside.files += 1;
      inside.interest += worth;
      if (language !== undefined) inside.languages.set(language, (inside.languages.get(language) ?? 0) + 1);
      end = path.indexOf("/", end + 1);
    }
  }
  return counted;
}
