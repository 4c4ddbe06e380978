/**
 * The rows of scripts/requirements.tsv against the tests: which files have a test that carries the row's id at the
 * beginning of its name. docs.ts makes docs/requirements.md of it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");

export interface Requirement {
  readonly id: string;
  readonly sentence: string;
  readonly section: string;
}

export function listRequirements(): Requirement[] {
  let section = "";
  const rows: Requirement[] = [];
  for (const line of readFileSync(join(import.meta.dir, "requirements.tsv"), "utf8").split("\n")) {
    const [id, sentence] = line.split("\t");
    if (line.startsWith("# ")) section = line.slice(2);
    else if (id && sentence) rows.push({ id, sentence, section });
  }
  return rows;
}

/** The ids that a test's name begins with: `LADDER-1, NUDGE-2: …`, `ANOM-1…5: …`; none when it begins with words. */
export function idsInName(name: string): string[] {
  const head = name.includes(":") ? name.slice(0, name.indexOf(":")) : name;
  if (!/^(?:\d+, )?[A-Z]+-\d+(?:…\d+)?(?:[, ]+[A-Z]+-\d+(?:…\d+)?)*$/.test(head)) return [];
  return [...head.matchAll(/([A-Z]+)-(\d+)(?:…(\d+))?/g)].flatMap(([, word, from, to]) => {
    const count = Number(to ?? from) - Number(from) + 1;
    return Array.from({ length: count }, (_, at) => `${word}-${Number(from) + at}`);
  });
}

/** By id, the files whose tests carry it, sorted. */
export function findProofs(): Map<string, string[]> {
  const proofs = new Map<string, Set<string>>();
  for (const pattern of ["src/**/*.test.ts", "test/**/*.{test,suite}.ts"]) {
    for (const file of new Bun.Glob(pattern).scanSync(ROOT)) {
      const text = readFileSync(join(ROOT, file), "utf8");
      for (const [, group, name = ""] of text.matchAll(/(describe\()?["`]([^"`\n]+)["`]/g)) {
        if (group === undefined && !name.includes(":")) continue; // a value, not a name
        for (const id of idsInName(name)) proofs.set(id, (proofs.get(id) ?? new Set()).add(file));
      }
    }
  }
  return new Map([...proofs].map(([id, files]) => [id, [...files].toSorted()]));
}

/** As many as a reader looks at; how many more there are is left out, so that few changes of tests change the page. */
const MOST_SHOWN = 3;

export function requirementsPage(made: string): string {
  const proofs = findProofs();
  const rows = listRequirements();
  const sections = Map.groupBy(rows, ({ section }) => section);
  const unproven = rows.filter(({ id }) => !proofs.has(id)).length;
  const parts = [...sections].map(([section, own]) => {
    const lines = own.map(({ id, sentence }) => `| ${id} | ${sentence} | ${showFiles(proofs.get(id) ?? [])} |`);
    return [`## ${section}`, "", "| id | what it promises | proven by |", "|---|---|---|", ...lines].join("\n");
  });
  const intro = `What Overseer promises, one row each. The test that proves a row carries its id at the beginning of its name. Of
${rows.length} rows ${rows.length - unproven} are proven; the others are not built yet, or not proven.`;
  return `${["# Requirements", made, intro, ...parts].join("\n\n")}\n`;
}

function showFiles(files: readonly string[]): string {
  if (files.length === 0) return "not yet";
  const shown = files.slice(0, MOST_SHOWN).map((file) => `\`${file}\``);
  return `${shown.join(", ")}${files.length > shown.length ? " and others" : ""}`;
}
