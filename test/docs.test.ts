/** The papers tell the truth: what they point at exists. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FAST_MENU, MAIL_MENU } from "#cli/fast-menu.ts";
import { MENU } from "#cli/menu.ts";
import { CALL_NAMES } from "#daemon/calls.ts";
import { benchmarksOf, commandsPage, configurationPage } from "../scripts/papers.ts";
import { UNEXPLAINED } from "./bench/table.ts";

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

describe("docs/rpc.md", () => {
  test("RPC-1: it lists every call, in order", () => {
    const listed = [...read("docs/rpc.md").matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]);
    expect(listed).toEqual([...CALL_NAMES]);
  });
});

describe("papers made from something else", () => {
  const HOW = "Run: node_modules/.bin/bun scripts/papers.ts";

  test("docs/commands.md says what the menu says", async () => {
    expect((await commandsPage()) === read("docs/commands.md") ? "" : HOW).toBe("");
  });

  test("docs/configuration.md says what the schema says", () => {
    expect(configurationPage() === read("docs/configuration.md") ? "" : HOW).toBe("");
  });

  test("docs/benchmarks.md says what the history of the bench says", () => {
    expect(benchmarksOf(read("bench/history.ndjson")) === read("docs/benchmarks.md") ? "" : HOW).toBe("");
  });

  test("docs/benchmarks.md explains every row that falls short", () => {
    const page = read("docs/benchmarks.md");
    expect(page.split("\n").filter((line) => line.includes(UNEXPLAINED))).toEqual([]);
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

describe("links between the papers", () => {
  const top = ["README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md"];
  const docs = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  const papers = [...top, ...docs.map((name) => `docs/${name}`)];
  const links = papers.flatMap((paper) =>
    [...read(paper).matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => [paper, match[1] ?? ""] as const),
  );

  test.each(links)("%s points at %s, which exists", (paper, target) => {
    expect(existsSync(join(ROOT, dirname(paper), target))).toBe(true);
  });

  test("README points at every page", () => {
    expect(docs.filter((name) => !read("README.md").includes(`docs/${name}`) && name !== "rpc.md")).toEqual([]);
  });

  test("decisions are numbered without a gap", () => {
    const numbers = readdirSync(join(ROOT, "docs/decisions")).map((name) => Number(name.slice(0, 4)));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
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
