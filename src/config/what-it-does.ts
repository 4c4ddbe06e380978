/**
 * What settings would do to a machine and its owner, for a person who has to decide whether to trust them: every command
 * they would run, what they permit or hand out, what they tell agents, and everything else that differs from the defaults.
 * Nothing is left out: what is not known to be a command stands with the rest.
 */

import type { SettingsTexts } from "#domain/health/settings.ts";
import type { Role } from "#domain/model/role.ts";
import type { UserHook } from "#domain/permit/hook-moments.ts";
import { asWritten, valuesOf } from "./keys.ts";
import type { Config } from "./schema.ts";

export interface Deed {
  /** The key, or the file. */
  readonly where: string;
  readonly what: string;
}

export interface WhatItDoes {
  readonly runs: readonly Deed[];
  readonly permits: readonly Deed[];
  /** Texts of the repository's own that agents are told to follow. */
  readonly tells: readonly Deed[];
  readonly sets: readonly Deed[];
}

/** Keys whose values are started as programs. */
const RUNS =
  /^(checks\..+\.command|worktree\.setup|model\.command|channels\.(command|people\..+\.to)|landing\.(lockfiles|afterLand)|runtimes\..+\.(command|args)|auto\.(taskPoolCommand|postAcceptCommand))$/;
/** Keys that widen what agents may do, or what leaves the machine. */
const PERMITS =
  /^(defaults\.(permissionMode|allowedTools)|agents\.passEnv|channels\.webhook|telemetry\..+|repo\.remote(Name)?|landing\.mode|policy\..+|guard\.(allowRepoEdits|remediationPrompt)|runtime|salute\.sharedDir|worktree\.dir)$/;

export function isCommandKey(key: string): boolean {
  return RUNS.test(key);
}

export interface SettingsRead {
  readonly config: Config;
  readonly texts: SettingsTexts;
  /** Roles that are not the built-in ones, with their files. */
  readonly roles: readonly { readonly file: string; readonly role: Role }[];
  readonly hooks: readonly UserHook[];
  /** Definitions that are not the built-in ones. */
  readonly definitions: readonly string[];
}

export function whatItDoes({ config, texts, roles, hooks, definitions }: SettingsRead): WhatItDoes {
  const changed = valuesOf(asWritten(config))
    .filter(({ value, default: usual }) => !Bun.deepEquals(value, usual))
    .map(({ key, value }): Deed => ({ where: key, what: formatValue(value) }));
  return {
    runs: [
      ...changed.filter(({ where }) => RUNS.test(where)),
      ...hooks.map(({ event, command }) => ({ where: `.overseer/hooks.yaml ${event}`, what: command })),
    ],
    permits: [
      ...changed.filter(({ where }) => PERMITS.test(where)),
      ...roles.map(({ file, role }) => ({ where: file, what: describePermissions(role) })),
    ],
    tells: definitions.map((name) => ({ where: name, what: `${(texts[name] ?? "").split("\n").length} lines` })),
    sets: changed.filter(({ where }) => !RUNS.test(where) && !PERMITS.test(where)),
  };
}

function describePermissions({ permissionMode, tools, readOnly, canSpawn, runtime }: Role): string {
  const parts = [
    permissionMode,
    readOnly ? "reads only" : "may write",
    `tools: ${tools.allow.join(", ") || "none"}${tools.deny.length > 0 ? `, not ${tools.deny.join(", ")}` : ""}`,
    ...(canSpawn ? ["starts agents"] : []),
    ...(runtime === undefined ? [] : [`on ${runtime}`]),
  ];
  return parts.join("; ");
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
