/** The docs tell the truth: what they point at exists. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "#cli/command.ts";
import { FAST_MENU, MAIL_MENU } from "#cli/fast-menu.ts";
import { MENU } from "#cli/menu.ts";
import { GLOBAL_OPTIONS } from "#cli/parse.ts";
import { keyAt, keyTree } from "#config/keys.ts";
import { parseConfig } from "#config/load.ts";
import { readRole } from "#config/roles.ts";
import { CALL_NAMES } from "#daemon/calls.ts";
import { STANDSTILL_KINDS } from "#domain/explain/standstill.ts";
import { EVENT_TYPES } from "#domain/model/event.ts";
import { parsePlan } from "#planner/plan-file.ts";
import { parseScript } from "#runtimes/scripted/language.ts";
import { benchmarksOf, commandsPage, configurationPage, requirementsOf, shapeModule } from "../scripts/docs.ts";
import { findProofs, idsInName, listRequirements } from "../scripts/requirements.ts";
import { UNEXPLAINED } from "./bench/table.ts";

/** Rows that no test carries. Lower it with every row that is proven. */
const MOST_UNPROVEN = 30;

const ROOT = join(import.meta.dir, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("ARCHITECTURE.md", () => {
  const table = read("ARCHITECTURE.md").split("## Where to go")[1] ?? "";
  const paths = [...table.matchAll(/`(src\/[^`]+|test\/[^`]+)`/g)].map((match) => match[1] ?? "");

  test("the where-to-go table names places", () => {
    expect(paths.length).toBeGreaterThan(20);
  });

  test.each(paths)("%s exists", (path) => {
    expect(existsSync(join(ROOT, path))).toBe(true);
  });

  test("every room of the tree has its line", () => {
    const tree = read("ARCHITECTURE.md").split("## The tree")[1] ?? "";
    const rooms = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const missing = rooms.map((room) => room.name).filter((name) => !tree.includes(`${name}/`));
    expect(missing).toEqual([]);
  });
});

describe("docs/troubleshooting.md", () => {
  test("HOLD-1: every kind of standstill has its row", () => {
    const rows = [...read("docs/troubleshooting.md").matchAll(/^\| .+ \| `([a-z-]+)` \| .+ \| .+ \|$/gm)];
    expect(rows.map((match) => match[1])).toEqual([...STANDSTILL_KINDS]);
  });
});

describe("docs/rpc.md", () => {
  test("RPC-1: it lists every call, in order", () => {
    const listed = [...read("docs/rpc.md").matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]);
    expect(listed).toEqual([...CALL_NAMES]);
  });
});

describe("docs made from something else", () => {
  const HOW = "Run: node_modules/.bin/bun scripts/docs.ts";

  test("docs/commands.md says what the menu says", async () => {
    expect((await commandsPage()) === read("docs/commands.md") ? "" : HOW).toBe("");
  });

  test("docs/configuration.md says what the schema says", () => {
    expect(configurationPage() === read("docs/configuration.md") ? "" : HOW).toBe("");
    expect(shapeModule() === read("src/config/shape.ts") ? "" : HOW).toBe("");
  });

  test("docs/requirements.md says which tests carry which ids", () => {
    expect(requirementsOf() === read("docs/requirements.md") ? "" : HOW).toBe("");
  });

  test("docs/benchmarks.md says what the history of the bench says", () => {
    expect(benchmarksOf(read("bench/history.ndjson")) === read("docs/benchmarks.md") ? "" : HOW).toBe("");
  });

  test("docs/benchmarks.md explains every row that falls short", () => {
    const page = read("docs/benchmarks.md");
    expect(page).toContain("| verdict |");
    expect(page.split("\n").filter((line) => line.includes(UNEXPLAINED))).toEqual([]);
  });
});

describe("requirements", () => {
  const names: [name: string, ids: string[]][] = [
    ["LADDER-1, NUDGE-2: an agent that never speaks is nudged", ["LADDER-1", "NUDGE-2"]],
    ["VALID-14 TICK-1: a goal converges", ["VALID-14", "TICK-1"]],
    ["1, REFLEX-1: without a role nothing runs", ["REFLEX-1"]],
    ["ANOM-1…3: rules", ["ANOM-1", "ANOM-2", "ANOM-3"]],
    ["see LADDER-1: it is told", []],
    ["a name: without an id", []],
  ];
  test.each(names)("a name and its ids: %s", (name, ids) => {
    expect(idsInName(name)).toEqual(ids);
  });

  test("every id that a test carries is a row", () => {
    const known = new Set(listRequirements().map(({ id }) => id));
    expect([...findProofs().keys()].filter((id) => !known.has(id))).toEqual([]);
  });

  test("the rows without a test only become fewer", () => {
    const proofs = findProofs();
    expect(listRequirements().filter(({ id }) => !proofs.has(id))).toHaveLength(MOST_UNPROVEN);
  });
});

describe("docs/safety.md", () => {
  const tests = [...read("docs/safety.md").matchAll(/`(test\/[^`]+)`/g)].map((match) => match[1] ?? "");

  test("every promise names a test", () => {
    const rows = read("docs/safety.md")
      .split("\n")
      .filter((line) => line.startsWith("| ") && !line.startsWith("| -"));
    expect(rows.slice(1).filter((row) => !row.includes("`test/"))).toEqual([]);
  });

  test.each([...new Set(tests)])("%s exists", (path) => {
    expect(existsSync(join(ROOT, path))).toBe(true);
  });
});

describe("links between the docs", () => {
  const top = ["README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md"];
  const docs = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  const pages = [...top, ...docs.map((name) => `docs/${name}`)];
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => [page, match[1] ?? ""] as const),
  );

  test.each(links)("%s points at %s, which exists", (page, target) => {
    expect(existsSync(join(ROOT, dirname(page), target))).toBe(true);
  });

  test("README points at every page", () => {
    expect(docs.filter((name) => !read("README.md").includes(`docs/${name}`) && name !== "rpc.md")).toEqual([]);
  });

  test("decisions are numbered without a gap", () => {
    const numbers = readdirSync(join(ROOT, "docs/decisions")).map((name) => Number(name.slice(0, 4)));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
  });
});

/** Every block between fences, with its language; `none` where it has not got one. */
function fences(page: string): { language: string; text: string }[] {
  return [...read(page).matchAll(/^(`{3,})(\w*)\n([\s\S]*?)^\1$/gm)].map(([, , language = "", text = ""]) => ({
    language: language || "none",
    text,
  }));
}

describe("what the docs say one can type", () => {
  const docs = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  const pages = ["README.md", "CONTRIBUTING.md", ...docs.map((name) => `docs/${name}`)];
  const prose = (page: string) => read(page).replace(/^(`{3,})[\s\S]*?^\1$/gm, "");
  const spans = pages.flatMap((page) =>
    [...prose(page).matchAll(/`([^`]+)`/g)].map((match) => [page, (match[1] ?? "").replace(/\s+/g, " ")] as const),
  );

  test("blocks of commands are run (test/e2e/docs.test.ts); all that are not are these", () => {
    const rest = pages.flatMap((page) =>
      fences(page)
        .filter(({ language }) => page === "CONTRIBUTING.md" || language !== "sh")
        .map(({ language }) => `${page}: ${language}`),
    );
    expect([...new Set(rest)].toSorted()).toEqual([
      "CONTRIBUTING.md: sh", // a clone and the whole test run: scripts/fresh-clone.sh does that
      "docs/answers.md: js", // the channels of test/e2e/people.test.ts
      "docs/benchmarks.md: text", // ways to call the bench, which takes minutes
      "docs/commands.md: text", // made from the menu, whose examples have a test of their own
      "docs/configuration.md: yaml", // made from the schema
      "docs/first-run.md: yaml", // read as configuration below
      "docs/plans.md: text", // what a mistake in a plan looks like; src/planner/plan-file.test.ts
      "docs/plans.md: yaml", // read as a plan below
      "docs/replay.md: json",
      "docs/replay.md: text",
      "docs/roles.md: yaml", // read as a role below
      "docs/simulator.md: none", // looked at below
    ]);
  });

  const shown = pages.flatMap((page) =>
    fences(page)
      .filter(({ language }) => language === "none")
      .flatMap(({ text }) => text.split("\n").map((line) => [page, line.replace(/ {2,}.*/, "")] as const)),
  );
  const commands = [...spans, ...shown].filter(([, words]) => words.startsWith("overseer "));

  test.each([...new Set(commands.map((one) => one.join(": ")))])("%s exists", async (named) => {
    const words = named.replace(/^[^:]+: overseer /, "").split(" ");
    if (words[0] === "help" || words[0]?.startsWith("--")) return;
    let command = (await MENU.find((entry) => entry.name === words[0])?.load())?.default as Command<never> | undefined;
    const sub = command?.subcommands?.find(({ name }) => name === words[1]);
    if (sub) command = sub;
    expect(command?.name).toBeDefined();
    const known = [...(command?.options ?? []), ...GLOBAL_OPTIONS].map(({ name }) => `--${name}`);
    expect(words.filter((word) => word.startsWith("--") && !known.includes(word))).toEqual([]);
  });

  const groups = new Set(keyTree().children.map(({ word }) => word));
  const dotted = spans.filter(([, span]) => /^[a-z]\w*(\.[\w<>-]+)+$/i.test(span) && !span.endsWith(".ts"));
  const types: readonly string[] = EVENT_TYPES;
  const keys = dotted.filter(([, span]) => groups.has(span.split(".")[0] ?? "") && !types.includes(span));

  test.each(keys.map((one) => [...one]))("%s: the key %s exists", (_, name) => {
    expect(keyAt(name.split("."))).toBeDefined();
  });

  const settings = [
    ...spans.filter(([page, span]) => page !== "docs/scripted.md" && groups.has(/^(\w+): /.exec(span)?.[1] ?? "")),
    ...["README.md", "docs/first-run.md"].flatMap((page) =>
      fences(page)
        .filter(({ language }) => language === "yaml")
        .map(({ text }) => [page, text] as const),
    ),
  ];

  test.each(settings.map((one) => [...one]))("%s: can be written into the configuration: %s", (_, text) => {
    expect(parseConfig(text, "config.yaml")).toBeDefined();
  });
});

describe("docs/scripted.md", () => {
  /** What the parser says it knows when it is told something that it cannot know. */
  const known = (script: unknown) => {
    const read = parseScript(script);
    return "error" in read ? (read.error.split("Known: ")[1] ?? read.error).replace(/\.$/, "").split(", ") : [];
  };
  const rows = [...read("docs/scripted.md").matchAll(/^\| `(\w+)` \| ([^|]+) \| `([^`]+)` \|/gm)];

  test("RUN-1: it lists every verb, in order", () => {
    expect(rows.map(([, verb]) => verb)).toEqual(known([{ "": "" }]));
  });

  test.each(rows.map(([, verb = "", fields = "", example = ""]) => [verb, fields, example]))(
    "RUN-1: %s has these fields, and its example can be played: %s",
    (verb, fields, example) => {
      const step = Bun.YAML.parse(example) as Record<string, Record<string, unknown>>;
      expect(parseScript([step])).toHaveProperty("steps");
      expect(known([{ [verb]: { ...step[verb], "": "" } }])).toEqual(fields.replaceAll("`", "").trim().split(", "));
    },
  );
});

describe("docs/roles.md", () => {
  test("the role it shows can be used as it stands", () => {
    const [shown] = fences("docs/roles.md").filter(({ language }) => language === "yaml");
    expect(readRole("translator.yaml", shown?.text ?? "", "translator")).toMatchObject({ capability: "translator" });
  });
});

describe("docs/plans.md", () => {
  test("the plan it shows can be used as it stands", () => {
    const [shown] = fences("docs/plans.md").filter(({ language }) => language === "yaml");
    expect(parsePlan(shown?.text ?? "", "plan.yaml").phases).toHaveLength(1);
  });
});

describe("the fast bundle", () => {
  test("bin/overseer sends exactly the commands of the fast menu there", () => {
    const words = /case \$\{1-\} in ([^)]+)\) bundle=fast/.exec(read("bin/overseer"))?.[1]?.split("|") ?? [];
    const commands = words.map((word) => word.trim()).filter((word) => !word.startsWith("-"));
    expect(commands.toSorted()).toEqual(FAST_MENU.map((entry) => entry.name).toSorted());
  });

  test("bin/overseer sends mail to a bundle of its own", () => {
    expect(read("bin/overseer")).toContain("mail) bundle=mail ;;");
    expect(MAIL_MENU.map((entry) => entry.name)).toEqual(["mail"]);
  });

  test("its entries are those of the menu", () => {
    const menu = new Map(MENU.map((entry) => [entry.name, entry]));
    for (const { name, group, summary } of [...FAST_MENU, ...MAIL_MENU]) {
      expect({ name, group, summary }).toEqual({
        name,
        group: menu.get(name)?.group ?? "",
        summary: menu.get(name)?.summary ?? "",
      });
    }
  });
});
