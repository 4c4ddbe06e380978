import { expect, test } from "bun:test";
import fc from "fast-check";
import { loadDefinition } from "./definitions.ts";
import { parseConfig } from "./load.ts";
import { resolveConfigured, roleSources } from "./places.ts";
import type { ReadDir } from "./read-dir.ts";
import { loadRoles } from "./roles.ts";
import { planScaffold, scaffold } from "./scaffold.ts";
import { defaultConfig } from "./schema.ts";

const fresh = new Map(scaffold().map((file) => [file.path, file.text]));

function asDirectory(files: ReadonlyMap<string, string>): ReadDir {
  return {
    read: async (path) => files.get(path.slice("/s/".length)),
    list: async (path) => {
      const inside = `${path.slice("/s/".length)}/`;
      return [...files.keys()].filter((file) => file.startsWith(inside)).map((file) => file.slice(inside.length));
    },
  };
}

test("INIT-1: a fresh .overseer/ has configuration, index, hooks, roles, definitions and its own .gitignore", () => {
  expect([...fresh.keys()]).toEqual([
    ".gitignore",
    "agents/builder.md",
    "agents/lead.md",
    "agents/merger.md",
    "agents/reviewer.md",
    "agents/scout.md",
    "config.yaml",
    "hooks.yaml",
    "manifest.yaml",
    "roles/builder.yaml",
    "roles/lead.yaml",
    "roles/merger.yaml",
    "roles/reviewer.yaml",
    "roles/scout.yaml",
  ]);
});

const GROUND = { project: "/p", userDir: "/s" };
const AGENTS = resolveConfigured(GROUND, ".overseer/agents");
const SOURCES = roleSources(GROUND, defaultConfig());

test("INIT-1: what is written behaves exactly like what is built in", async () => {
  const builtIn = await loadRoles(asDirectory(new Map()), SOURCES);
  const written = await loadRoles(asDirectory(fresh), SOURCES);
  expect(written.byCapability).toEqual(builtIn.byCapability);
  expect(written.notes).toEqual([]);
  for (const role of written.byCapability.values()) {
    const own = await loadDefinition(role, asDirectory(fresh), AGENTS);
    const base = await loadDefinition(role, asDirectory(new Map()), AGENTS);
    expect(own.id).toBe(`.overseer/agents/${role.definition}`);
    expect(own.hash).toBe(base.hash);
  }
});

test("INIT-1: every written file says what it is in its first line", () => {
  for (const [path, text] of fresh) {
    expect(text).toMatch(/^(# |<!-- )/);
    if (!path.startsWith(".")) expect(text.split("\n").slice(0, 4).join(" ")).toMatch(/[Yy]ours to edit|index/);
    expect(text.endsWith("\n")).toBe(true);
  }
});

test("HOOK-4: the starter hooks are comments only, and become valid YAML when the comments are taken off", () => {
  const text = fresh.get("hooks.yaml") ?? "";
  expect(Bun.YAML.parse(text) ?? null).toBeNull();
  expect(Bun.YAML.parse(uncommented(text))).toEqual({
    PostToolUse: [{ matcher: "Edit|Write", command: "npx prettier --check ." }],
    SessionStart: [{ command: 'echo "Read CONTRIBUTING.md first."' }],
  });
});

test("CONF-1: the starter configuration changes nothing, and its examples are accepted when their comments are taken off", () => {
  const text = fresh.get("config.yaml") ?? "";
  expect(parseConfig(text, "config.yaml")).toEqual(defaultConfig());
  const config = parseConfig(uncommented(text), "config.yaml");
  expect(config.checks.test?.command).toBe("npm test");
  expect(config.repo.targetBranch).toBe("main");
});

test.each([
  [null, null],
  [50, 50],
  [12.5, 12.5],
])("INIT-1: the starter configuration has a budget for a day only where one was chosen: %p", (chosen, cost) => {
  const text = scaffold(chosen).find(({ path }) => path === "config.yaml")?.text ?? "";
  const { budgets } = defaultConfig();
  expect(parseConfig(text, "config.yaml").budgets).toEqual({ ...budgets, day: { ...budgets.day, cost } });
  expect(parseConfig(uncommented(text), "config.yaml").budgets.day.cost).toBe(chosen === null ? 50 : null);
});

test("INIT-1: running it again creates nothing and keeps every file, edited or not", () => {
  fc.assert(
    fc.property(fc.subarray([...fresh.keys()]), fc.string(), (present, edit) => {
      const existing = new Map(present.map((path) => [path, edit]));
      const plan = planScaffold(existing);
      expect(plan.keep.map((file) => file.path)).toEqual(present);
      for (const file of plan.create) expect(existing.has(file.path)).toBe(false);
      const after = new Map([...existing, ...plan.create.map((file) => [file.path, file.text] as const)]);
      expect(planScaffold(after).create).toEqual([]);
      expect(after.size).toBe(fresh.size);
    }),
  );
});

test("INIT-1: a kept file that differs from a fresh one is named as changed", () => {
  const plan = planScaffold(new Map([...fresh, ["config.yaml", "repo: {targetBranch: dev}\n"]]));
  expect(plan.keep.filter((file) => file.changed).map((file) => file.path)).toEqual(["config.yaml"]);
});

const ignored = ["worktrees/a-1", "salute/a_latest.json", "manual_intervention_needed_1.txt"];
test.each(ignored)("CLEAN-1: git overlooks .overseer/%s", (path) => {
  const patterns = (fresh.get(".gitignore") ?? "").split("\n").filter((line) => line.startsWith("/"));
  expect(
    patterns.some((pattern) => new Bun.Glob(`${pattern.slice(1)}${pattern.endsWith("/") ? "**" : ""}`).match(path)),
  ).toBe(true);
});

test("CLEAN-1: git sees every file that is the user's", () => {
  const patterns = (fresh.get(".gitignore") ?? "").split("\n").filter((line) => line.startsWith("/"));
  for (const path of fresh.keys()) {
    expect(
      patterns.some((pattern) => new Bun.Glob(`${pattern.slice(1)}${pattern.endsWith("/") ? "**" : ""}`).match(path)),
    ).toBe(false);
  }
});

/** The examples of a starter file: comment lines that are YAML, without their mark. */
function uncommented(text: string): string {
  return text
    .split("\n")
    .filter((line) => /^# ( *- )? *[\w]+:( |$)/.test(line) || /^# {2}/.test(line))
    .map((line) => line.slice(2))
    .join("\n");
}

test("INIT-1: a bundle carries prompts, roles and starter files inside itself", async () => {
  const built = await Bun.build({ entrypoints: [`${import.meta.dir}/scaffold.ts`], target: "bun" });
  expect(built.outputs).toHaveLength(1);
  const code = (await built.outputs[0]?.text()) ?? "";
  for (const words of [
    "You turn one assignment into working code",
    "permissionMode: acceptEdits",
    "Overseer's configuration",
  ]) {
    expect(code).toContain(words);
  }
});
