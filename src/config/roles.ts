/**
 * Reads `.overseer/roles/<capability>.yaml` and the manifest. The five base roles are built in; a file of
 * the same name is laid over its built-in role key by key, and a file of another name is a new role and says it all.
 * Every refusal names file, line and column, because these files are written by hand.
 * The manifest is only an index: it adds nothing a role file does not say, and one that contradicts them is refused
 * rather than believed.
 */
import { z } from "zod";
import { nearest } from "#domain/core/nearest.ts";
import { TOOL_KINDS } from "#domain/core/tools.ts";
import { CONSTRAINTS, type Constraint, matchRole, PERMISSION_MODES, type Role } from "#domain/model/role.ts";
import { OverseerError } from "#errors.ts";
import builder from "#prompts/roles/builder.yaml" with { type: "text" };
import lead from "#prompts/roles/lead.yaml" with { type: "text" };
import merger from "#prompts/roles/merger.yaml" with { type: "text" };
import reviewer from "#prompts/roles/reviewer.yaml" with { type: "text" };
import scout from "#prompts/roles/scout.yaml" with { type: "text" };
import { ownLimits } from "./agent-limits.ts";
import type { ConfiguredPath } from "./places.ts";
import type { ReadDir } from "./read-dir.ts";
import { checkYaml } from "./yaml-file.ts";

const NAME = /^[a-z][a-z0-9-]{0,30}$/;
const name = z
  .string()
  .regex(NAME, "must be lower-case letters, digits and dashes, at most 31, beginning with a letter");
const sentence = z.string().trim().min(1, "must not be empty").max(600, "must be at most 600 characters");
const steps = z.int("must be a whole number").min(1, "must be at least 1").max(1000, "must be at most 1000");
const toolName = z
  .string()
  .regex(/^[A-Za-z][\w-]*(\([^)]*\))?$/, `must be one of ${TOOL_KINDS.join(", ")}, or a runtime's own tool name`);
const constraint = z.enum(Object.keys(CONSTRAINTS) as [Constraint, ...Constraint[]]);

/** Defaults are few on purpose: what decides about safety, above all the permission mode, has to be written down. */
const roleSchema = z
  .strictObject({
    capability: name,
    summary: sentence,
    capabilities: z.array(name).default([]),
    definition: z.string().regex(/^[\w-]+\.md$/, "must be the name of an .md file in .overseer/agents/"),
    model: z.string().min(1).optional(),
    strongerModel: z.string().min(1).optional(),
    runtime: z.string().min(1).optional(),
    tools: z.strictObject({ allow: z.array(toolName), deny: z.array(toolName).default([]) }),
    permissionMode: z.enum(PERMISSION_MODES),
    readOnly: z.boolean(),
    canSpawn: z.boolean(),
    maxDepth: z.int().min(1).max(10).optional(),
    constraints: z.array(constraint).default([]),
    supervision: z
      .strictObject({ enabled: z.boolean().default(true), nudge: z.boolean().default(true) })
      .default({ enabled: true, nudge: true }),
    continueSession: z.boolean().optional(),
    limits: ownLimits.optional(),
    doctrine: z.strictObject({ saluteIntervalSteps: steps, maxStepsWithoutProgress: steps, radioCheckSteps: steps }),
    pace: z.strictObject({ primary: sentence, alternate: sentence, contingent: sentence, emergency: sentence }),
  })
  .superRefine((role, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
    if (role.doctrine.radioCheckSteps >= role.doctrine.saluteIntervalSteps) {
      refuse(
        ["doctrine", "radioCheckSteps"],
        "must be less than saluteIntervalSteps: the reflex looks oftener than it reports",
      );
    }
    if (role.readOnly && role.tools.allow.includes("edit")) {
      refuse(["tools", "allow"], 'has "edit", but the role is readOnly');
    }
    if (role.readOnly && role.permissionMode === "acceptEdits") {
      refuse(["permissionMode"], "accepts edits, but the role is readOnly");
    }
  });

const manifestSchema = z.strictObject({
  version: z.literal(1),
  roles: z.record(name, z.strictObject({ role: z.string(), definition: z.string() })),
});

/** The built-in role files as text, by capability; `init` writes them out and loading falls back to them. */
export const BUILT_IN_ROLES: ReadonlyMap<string, string> = new Map<string, string>([
  ["builder", builder],
  ["lead", lead],
  ["merger", merger],
  ["reviewer", reviewer],
  ["scout", scout],
]);

export interface Roles {
  /** By capability, sorted. */
  readonly byCapability: ReadonlyMap<string, Role>;
  /** Where each came from: `builtin` or its file. */
  readonly origins: ReadonlyMap<string, string>;
  /** What is worth telling but no error, e.g. a role that the manifest does not list. */
  readonly notes: readonly string[];
}

export interface RoleSources {
  /** Holds one file for each role. */
  readonly directory: string;
  readonly manifest: ConfiguredPath;
}

/** What a text was read as: every tick and every start asks for the roles, and they seldom change. */
const known = new Map<string, Role>();
const MOST_KNOWN = 100;

/** Built-in roles with the repository's own laid over them. Throws a config error for the first file that is wrong. */
export async function loadRoles(files: ReadDir, sources: RoleSources): Promise<Roles> {
  const byCapability = new Map<string, Role>();
  const origins = new Map<string, string>();
  for (const [capability, text] of BUILT_IN_ROLES) {
    byCapability.set(capability, readOnce(`builtin:${capability}.yaml`, text, capability));
    origins.set(capability, "builtin");
  }
  const listed = (await files.list(sources.directory)) ?? [];
  for (const file of listed.filter((entry) => entry.endsWith(".yaml"))) {
    const text = await files.read(`${sources.directory}/${file}`);
    if (text === undefined) continue;
    const capability = file.slice(0, -".yaml".length);
    byCapability.set(capability, readOnce(`.overseer/roles/${file}`, text, capability));
    origins.set(capability, `.overseer/roles/${file}`);
  }
  const sorted = new Map([...byCapability].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const strange = listed
    .filter((entry) => entry.endsWith(".yml"))
    .map((entry) => `roles/${entry} is not read: name it .yaml`);
  const manifest = await files.read(sources.manifest.path);
  const unlisted = manifest === undefined ? [] : checkManifest(sources.manifest.shown, manifest, sorted);
  return { byCapability: sorted, origins, notes: [...strange, ...unlisted] };
}

function readOnce(file: string, text: string, capability: string): Role {
  const key = `${file}\n${text}`;
  const role = known.get(key) ?? readRole(file, text, capability);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, role);
  return role;
}

/** One role file; for a built-in name its keys are laid over the built-in ones, lists being replaced whole. */
export function readRole(file: string, text: string, capability: string): Role {
  const base = BUILT_IN_ROLES.get(capability);
  const ground = base === undefined || base === text ? {} : (Bun.YAML.parse(base) as object);
  const role = checkYaml(file, text, roleSchema, (own) => layOver(ground, own));
  if (role.capability === capability) return role;
  throw new OverseerError(
    "config",
    "ROLE_INVALID",
    `${file}: capability is "${role.capability}", but the file is named after "${capability}".`,
    `Rename the file to ${role.capability}.yaml, or write \`capability: ${capability}\`.`,
  );
}

/** The role a word names, or a refusal that lists what there is. */
export function findRole(roles: Roles, word: string): Role {
  const match = matchRole(roles.byCapability, word);
  if (match.kind === "found") return match.role;
  if (match.kind === "several") {
    throw new OverseerError(
      "usage",
      "CAPABILITY_AMBIGUOUS",
      `Several roles offer "${word}": ${match.capabilities.join(", ")}.`,
      "Name the one you mean with --capability.",
    );
  }
  const words = [...roles.byCapability.values()].flatMap((role) => [role.capability, ...role.capabilities]);
  const meant = nearest(word, words);
  throw new OverseerError(
    "not-found",
    "CAPABILITY_UNKNOWN",
    `There is no role for the capability "${word}".`,
    `${meant === undefined ? "" : `Did you mean "${meant}"? `}There are: ${[...roles.byCapability.keys()].join(", ")}. A new one is a file in .overseer/roles/.`,
  );
}

/** The manifest that fits these roles. */
export function renderManifest(roles: Iterable<Role>): string {
  const lines = [...roles]
    .toSorted((a, b) => (a.capability < b.capability ? -1 : 1))
    .flatMap((role) => [
      `  ${role.capability}:`,
      `    role: roles/${role.capability}.yaml`,
      `    definition: agents/${role.definition}`,
    ]);
  return ["version: 1", "roles:", ...lines, ""].join("\n");
}

/** What the last text was read as, like the roles. */
let lastManifest: { readonly key: string; readonly manifest: z.infer<typeof manifestSchema> } | undefined;

function checkManifest(file: string, text: string, roles: ReadonlyMap<string, Role>): readonly string[] {
  const key = `${file}\n${text}`;
  const manifest = lastManifest?.key === key ? lastManifest.manifest : checkYaml(file, text, manifestSchema);
  lastManifest = { key, manifest };
  for (const [capability, entry] of Object.entries(manifest.roles)) {
    const role = roles.get(capability);
    if (role === undefined) {
      throw contradiction(`${file} lists "${capability}", and there is no .overseer/roles/${capability}.yaml.`);
    }
    if (entry.role !== `roles/${capability}.yaml`) {
      throw contradiction(`${file} says that "${capability}" is in ${entry.role}; it is in roles/${capability}.yaml.`);
    }
    if (entry.definition !== `agents/${role.definition}`) {
      throw contradiction(
        `${file} says that "${capability}" is defined by ${entry.definition}; its role file says agents/${role.definition}.`,
      );
    }
  }
  return [...roles.keys()]
    .filter((capability) => manifest.roles[capability] === undefined)
    .map((capability) => `manifest.yaml does not list the role "${capability}"; it is used all the same`);
}

function contradiction(message: string): OverseerError {
  const hint = "Correct the entry, or delete manifest.yaml and run `overseer init`, which writes it again.";
  return new OverseerError("config", "MANIFEST_INVALID", message, hint);
}

/** Objects are merged key by key, everything else is replaced. */
function layOver(ground: unknown, own: unknown): unknown {
  if (!isObject(ground) || !isObject(own)) return own;
  const keys = new Set([...Object.keys(ground), ...Object.keys(own)]);
  return Object.fromEntries(
    [...keys].map((key) => [key, Object.hasOwn(own, key) ? layOver(ground[key], own[key]) : ground[key]]),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
