/**
 * Writes the docs that are made from something else: docs/commands.md from the menu, docs/configuration.md from the
 * schema and src/config/shape.ts too, docs/benchmarks.md from the history of the bench, docs/requirements.md from requirements.tsv and the names of
 * the tests. Run it after changing a command, a key or a test's id; a test compares.
 * `node_modules/.bin/bun scripts/docs.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "#cli/command.ts";
import { renderCommand } from "#cli/help.ts";
import { MENU } from "#cli/menu.ts";
import { jsonSchema } from "#config/keys.ts";
import { exampleYaml } from "#config/render.ts";
import { runForThePage, runsIn } from "../test/bench/history.ts";
import { benchmarksPage } from "../test/bench/table.ts";
import { requirementsPage } from "./requirements.ts";

const PAGE = { width: 100, colour: false } as const;
const MADE = "<!-- Made by scripts/docs.ts; edit what it is made from. -->";

export async function commandsPage(): Promise<string> {
  const parts = ["# Commands", MADE, "What `overseer help <command>` says, all on one page."];
  for (const entry of MENU) {
    if (entry.hidden !== true) parts.push(...pagesOf((await entry.load()).default, `overseer ${entry.name}`, "##"));
  }
  return `${parts.join("\n\n")}\n`;
}

function pagesOf(command: Command<never>, calledAs: string, level: string): string[] {
  const page = renderCommand(command, { ...PAGE, calledAs })
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
  const below = (command.subcommands ?? []).flatMap((sub) => pagesOf(sub, `${calledAs} ${sub.name}`, `${level}#`));
  return [`${level} ${calledAs}`, `\`\`\`\`text\n${page}\n\`\`\`\``, ...below];
}

export function configurationPage(): string {
  return `# Configuration

${MADE}

\`.overseer/config.yaml\` holds what you want to be different; every key has a default, and these are they. A key that does
not exist is refused with the nearest one that does. A running daemon applies a changed file at its next tick; one that
cannot be used leaves the old one in effect and is told in \`status\`. \`overseer config explain <key>\` says where a value
comes from.

\`\`\`yaml
${exampleYaml().trimEnd()}
\`\`\`
`;
}

export function requirementsOf(): string {
  return requirementsPage(MADE);
}

/** src/config/shape.ts: programs that must start fast learn by it whether a checked copy is of their own version's schema. */
export function shapeModule(): string {
  const shape = Bun.hash(JSON.stringify(jsonSchema())).toString(36);
  return `/** Of the schema of the configuration, so that a checked copy of another version is recognised. Made by scripts/docs.ts. */
export const CONFIG_SHAPE = "${shape}";
`;
}

/** The whole run that is told of, as docs/benchmarks.md. */
export function benchmarksOf(history: string): string {
  return benchmarksPage(runForThePage(runsIn(history)));
}

if (import.meta.main) {
  const docs = join(import.meta.dir, "../docs");
  writeFileSync(join(docs, "commands.md"), await commandsPage());
  writeFileSync(join(docs, "configuration.md"), configurationPage());
  writeFileSync(join(docs, "requirements.md"), requirementsOf());
  writeFileSync(join(docs, "../src/config/shape.ts"), shapeModule());
  const history = readFileSync(join(docs, "../bench/history.ndjson"), "utf8");
  writeFileSync(join(docs, "benchmarks.md"), benchmarksOf(history));
}
