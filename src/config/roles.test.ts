import { expect, test } from "bun:test";
import { holes } from "#domain/core/template.ts";
import { OverseerError } from "#errors.ts";
import { lintPrompt } from "../../test/support/prompt-lint.ts";
import { BUILT_IN_DEFINITIONS, loadDefinition, SHARED_PARTS, sha256 } from "./definitions.ts";
import { resolveConfigured, roleSources } from "./places.ts";
import type { ReadDir } from "./read-dir.ts";
import { BUILT_IN_ROLES, findRole, loadRoles, renderManifest } from "./roles.ts";
import { defaultConfig } from "./schema.ts";

/** A state directory made of texts. */
function stateDir(texts: Readonly<Record<string, string>>): ReadDir {
  const files = new Map(Object.entries(texts).map(([path, text]) => [`/s/${path}`, text]));
  return {
    read: async (path) => files.get(path),
    list: async (path) => {
      const names = [...files.keys()]
        .filter((file) => file.startsWith(`${path}/`))
        .map((file) => file.slice(path.length + 1));
      return names.length === 0 ? undefined : names.toSorted();
    },
  };
}

async function refusal(work: Promise<unknown>): Promise<OverseerError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OverseerError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error;
}

const GROUND = { project: "/p", userDir: "/s" };
const AGENTS = resolveConfigured(GROUND, ".overseer/agents");
const SOURCES = roleSources(GROUND, defaultConfig());

const load = (texts: Readonly<Record<string, string>>) => loadRoles(stateDir(texts), SOURCES);
const whole = BUILT_IN_ROLES.get("scout") ?? "";

test("AGENT-1: scout, builder, reviewer, lead and merger are there without any file", async () => {
  const { byCapability, origins, notes } = await load({});
  expect([...byCapability.keys()]).toEqual(["builder", "lead", "merger", "reviewer", "scout"]);
  expect(new Set(origins.values())).toEqual(new Set(["builtin"]));
  expect(notes).toEqual([]);
});

test("AGENT-1: scout and reviewer only read, and only the lead spawns", async () => {
  const roles = [...(await load({})).byCapability.values()];
  expect(roles.filter((role) => role.readOnly).map((role) => role.capability)).toEqual(["reviewer", "scout"]);
  expect(roles.filter((role) => role.canSpawn).map((role) => role.capability)).toEqual(["lead"]);
});

test("ROLE-1: every base role has its doctrine and four described PACE levels", async () => {
  for (const role of (await load({})).byCapability.values()) {
    expect(role.doctrine.radioCheckSteps).toBeLessThan(role.doctrine.saluteIntervalSteps);
    expect(new Set(Object.values(role.pace)).size).toBe(4);
  }
});

test("AGENT-2: a file of a base role's name changes only the keys it has", async () => {
  const { byCapability, origins } = await load({
    "roles/builder.yaml": "model: opus\ndoctrine: {maxStepsWithoutProgress: 99}\n",
  });
  const role = byCapability.get("builder");
  expect(role?.model).toBe("opus");
  expect(role?.doctrine).toEqual({ saluteIntervalSteps: 10, maxStepsWithoutProgress: 99, radioCheckSteps: 3 });
  expect(origins.get("builder")).toBe(".overseer/roles/builder.yaml");
});

test("AGENT-2, AGENT-1: a role sets limits for its agents, as people write them", async () => {
  const text = "limits: {idleAfter: 7m, patience: 30s, budget: {tokens: 5000, time: null}}\n";
  const { byCapability } = await load({ "roles/scout.yaml": text });
  expect(byCapability.get("scout")?.limits).toEqual({
    idleAfterMs: 420_000,
    patienceMs: 30_000,
    budget: { tokens: 5000, timeMs: null },
  });
  expect(byCapability.get("builder")?.limits).toBeUndefined();
});

test("HEALTH-4: a role may exempt its agents from nudges, and is silent about the rest", async () => {
  const { byCapability, notes } = await load({ "roles/scout.yaml": "supervision: {nudge: false}\n" });
  expect(byCapability.get("scout")?.supervision).toEqual({ enabled: true, nudge: false });
  expect(notes).toEqual([]);
});

test("AGENT-2: a file of another name is a new role", async () => {
  const text = whole.replace("capability: scout", "capability: painter");
  const { byCapability } = await load({ "roles/painter.yaml": text });
  expect(byCapability.get("painter")?.definition).toBe("scout.md");
});

const faults: [why: string, file: string, text: string, mentions: string][] = [
  ["a limit without its unit", "builder", "limits: {idleAfter: 7}\n", "limits.idleAfter must be text"],
  ["a limit that is none", "builder", "limits: {idleAfter: soon}\n", "like 7m"],
  ["a limit that there is not", "builder", "limits: {idle: 7m}\n", "idleAfter"],
  [
    "an unknown key",
    "builder",
    "sumary: x\n",
    '.overseer/roles/builder.yaml:1:1: there is no key "sumary" (did you mean "summary"?)',
  ],
  [
    "a nested unknown key",
    "builder",
    "tools:\n  alow: []\n",
    'builder.yaml:2:3: there is no key "tools.alow" (did you mean "allow"?)',
  ],
  [
    "an unknown permission mode",
    "builder",
    "model: x\npermissionMode: bypassPermission\n",
    'builder.yaml:2:1: permissionMode must be one of default, acceptEdits, bypassPermissions, plan; did you mean "bypassPermissions"?',
  ],
  ["an unknown constraint", "builder", "constraints: [no-git-pus]\n", 'did you mean "no-git-push"?'],
  [
    "a word for a number",
    "builder",
    "doctrine: {maxStepsWithoutProgress: many}\n",
    "doctrine.maxStepsWithoutProgress must be a number",
  ],
  [
    "a reflex slower than its reports",
    "builder",
    "doctrine: {radioCheckSteps: 10}\n",
    "must be less than saluteIntervalSteps",
  ],
  ["a reader who may edit", "scout", "tools: {allow: [read, edit]}\n", 'has "edit", but the role is readOnly'],
  [
    "a reader whose edits are accepted",
    "scout",
    "permissionMode: acceptEdits\n",
    "accepts edits, but the role is readOnly",
  ],
  ["YAML that is none", "builder", "a: [\n", "builder.yaml:"],
  ["a key given twice", "builder", "model: a\nmodel: b\n", "builder.yaml:2:1: model is set twice, first on line 1"],
  ["a list instead of keys", "builder", "- a\n", "the file must hold keys with values, not a list"],
  ["a definition outside of agents/", "builder", "definition: ../x.md\n", "must be the name of an .md file"],
  [
    "a file named after something else",
    "painter",
    whole,
    'capability is "scout", but the file is named after "painter"',
  ],
];
test.each(faults)("AGENT-2: refused with its place: %s", async (_why, file, text, mentions) => {
  const error = await refusal(load({ [`roles/${file}.yaml`]: text }));
  expect(error.kind).toBe("config");
  expect(error.message).toContain(mentions);
});

test("RUN-2: a new role without a permission mode is refused; nothing is assumed", async () => {
  const text = whole.replace("capability: scout", "capability: painter").replace(/^permissionMode.*\n/m, "");
  expect((await refusal(load({ "roles/painter.yaml": text }))).message).toContain("permissionMode is missing");
});

test("AGENT-2: the manifest written for the roles is accepted and says nothing new", async () => {
  const { byCapability } = await load({});
  expect((await load({ "manifest.yaml": renderManifest(byCapability.values()) })).notes).toEqual([]);
});

const manifests: [why: string, change: (manifest: string) => string, mentions: string][] = [
  [
    "a role that is not there",
    (m) => `${m}  ghost:\n    role: roles/ghost.yaml\n    definition: agents/ghost.md\n`,
    '"ghost"',
  ],
  ["another role file", (m) => m.replace("roles/lead.yaml", "roles/boss.yaml"), "roles/boss.yaml"],
  ["another definition", (m) => m.replace("agents/lead.md", "agents/boss.md"), "agents/boss.md"],
  ["a version of the future", (m) => m.replace("version: 1", "version: 2"), "manifest.yaml:1:1: version must be 1"],
];
test.each(manifests)("AGENT-2: a manifest that names %s is refused", async (_why, change, mentions) => {
  const manifest = renderManifest((await load({})).byCapability.values());
  const error = await refusal(load({ "manifest.yaml": change(manifest) }));
  expect(error.kind).toBe("config");
  expect(error.message).toContain(mentions);
});

test("AGENT-2: a role the manifest does not list is used and mentioned", async () => {
  const { byCapability, notes } = await load({ "manifest.yaml": "version: 1\nroles: {}\n" });
  expect(byCapability.size).toBe(5);
  expect(notes).toHaveLength(5);
});

test("AGENT-2: an unknown capability is not found, with the nearest name and the whole list", async () => {
  const roles = await load({});
  const error = await refusal(Promise.try(() => findRole(roles, "bilder")));
  expect(error.kind).toBe("not-found");
  expect(error.hint).toContain('Did you mean "builder"?');
  expect(error.hint).toContain("builder, lead, merger, reviewer, scout");
  expect(findRole(roles, "implement").capability).toBe("builder");
});

test("AGENT-1: every base definition teaches only verbs its role has, and readers are not told to write", async () => {
  for (const role of (await load({})).byCapability.values()) {
    const { id, text } = await loadDefinition(role, stateDir({}), AGENTS);
    expect({ id, findings: lintPrompt(text, role) }).toEqual({ id, findings: [] });
    expect(Buffer.byteLength(text)).toBeLessThan(12_000);
  }
});

test("AGENT-1: every base definition covers boundaries, talking, reporting, done and who speaks", async () => {
  for (const role of (await load({})).byCapability.values()) {
    const { text } = await loadDefinition(role, stateDir({}), AGENTS);
    for (const part of ["Method", "Boundaries", "Talking", "Reporting", "Done", "Who speaks to you"]) {
      expect(text).toContain(`## ${part}\n`);
    }
    for (const word of ["git stash", "[SUPERVISOR]", "overseerUpdate", "mail check --wait"])
      expect(text).toContain(word);
    expect(text).not.toMatch(/!(\s|$)|\b(MUST|NEVER|IMPORTANT|CRITICAL|ALWAYS|WARNING)\b/);
  }
});

test("AGENT-1: every placeholder in the shared parts is one that all roles can fill", () => {
  for (const part of Object.values(SHARED_PARTS)) {
    for (const hole of holes(part)) expect(hole.name).not.toBe("verbs.sling");
  }
  expect([...BUILT_IN_DEFINITIONS.keys()].toSorted()).toEqual([...BUILT_IN_ROLES.keys()].map((name) => `${name}.md`));
});

test("AGENT-1: a definition of the repository wins; id and hash tell which was read", async () => {
  const role = findRole(await load({}), "builder");
  const builtIn = await loadDefinition(role, stateDir({}), AGENTS);
  expect(builtIn.id).toBe("builtin:builder.md");
  expect(builtIn.hash).toBe(sha256(builtIn.text));
  const own = await loadDefinition(
    role,
    stateDir({ "agents/builder.md": "<!-- ours -->\n# Ours\n\n`{{verbs.prime}}`\n" }),
    AGENTS,
  );
  expect(own).toEqual({
    id: ".overseer/agents/builder.md",
    text: "# Ours\n\n`overseer prime`\n",
    hash: sha256("# Ours\n\n`overseer prime`\n"),
  });
});

test("AGENT-1: an untouched copy of a built-in definition is the same prompt", async () => {
  const role = findRole(await load({}), "lead");
  const copy = `<!-- yours to edit -->\n${BUILT_IN_DEFINITIONS.get("lead.md")}`;
  const own = await loadDefinition(role, stateDir({ "agents/lead.md": copy }), AGENTS);
  expect(own.hash).toBe((await loadDefinition(role, stateDir({}), AGENTS)).hash);
});

test("AGENT-1: an unknown placeholder is refused with its line and the nearest one", async () => {
  const role = findRole(await load({}), "builder");
  const error = await refusal(loadDefinition(role, stateDir({ "agents/builder.md": "a\n{{verbs.reprot}}\n" }), AGENTS));
  expect(error.message).toContain(".overseer/agents/builder.md:2: there is no placeholder {{verbs.reprot}}");
  expect(error.hint).toBe("Did you mean {{verbs.report}}?");
});

test("SLING-3: a definition that offers sling to a role that may not spawn is refused", async () => {
  const role = findRole(await load({}), "builder");
  const error = await refusal(loadDefinition(role, stateDir({ "agents/builder.md": "{{verbs.sling}}" }), AGENTS));
  expect(error.code).toBe("DEFINITION_INVALID");
});

test("AGENT-1: a missing definition says where to write it", async () => {
  const role = { ...findRole(await load({}), "builder"), definition: "gone.md" };
  expect((await refusal(loadDefinition(role, stateDir({}), AGENTS))).hint).toContain(".overseer/agents/gone.md");
});
