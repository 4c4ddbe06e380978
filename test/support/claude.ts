/**
 * Real Claude Code for tests: where the pinned versions are, and an environment in which they know nobody: no login,
 * no home of a person, no network but the scripted model. A machine without them is told which is missing.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isLongLane } from "./scale.ts";

const project = join(import.meta.dir, "../..");

const PROGRAMS = {
  "2.1.325": { in: ".", install: "npm ci" },
  "2.1.197": { in: "test/older-claude", install: "npm ci --prefix test/older-claude" },
} as const;

export type ClaudeVersion = keyof typeof PROGRAMS;
export const NEWEST: ClaudeVersion = "2.1.325";
/** The older ones are a quarter of a gigabyte each: the long lane installs them and asks them too. */
export const OLDER: readonly ClaudeVersion[] = isLongLane() ? ["2.1.197"] : [];
export const CLAUDE_VERSIONS: readonly ClaudeVersion[] = [NEWEST, ...OLDER];

export type HookWay = "http" | "command";
/** Every version in every way in which it can ask its hooks; both ways of each are for the long lane. */
export const HOOK_WAYS: readonly (readonly [ClaudeVersion, HookWay])[] = [
  [NEWEST, "http"],
  ...(isLongLane() ? ([[NEWEST, "command"]] as const) : []),
  ...OLDER.flatMap((version) => [[version, "http"] as const, [version, "command"] as const]),
];
/** It refuses a call that it could not ask about, so its permit may be asked by HTTP. */
export function failsClosed(version: ClaudeVersion): boolean {
  return version === NEWEST;
}

export function claudeProgram(version: ClaudeVersion = NEWEST): string {
  const { in: directory, install } = PROGRAMS[version];
  const path = join(project, directory, "node_modules/@anthropic-ai/claude-code/bin/claude.exe");
  if (!existsSync(path)) throw new Error(`Claude Code ${version} is not installed at ${path}; run ${install}.`);
  return path;
}

/** A key that opens nothing; its last 20 characters are what the CLI remembers of an approved one. */
export const DUMMY_KEY = "sk-ant-dummy-key-0123456789abcdefghij";

/** What the CLI needs to talk to the model server and to nobody else. */
export function modelEnvironment(url: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: DUMMY_KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
    IS_SANDBOX: "1",
  };
}

/**
 * `.claude.json` as a person leaves it who has used the CLI before: onboarded, the key approved, and these folders
 * trusted. Every test that lets Overseer start the real CLI takes it from here.
 */
export function knownToTheCli(...trusted: string[]): string {
  return JSON.stringify({
    hasCompletedOnboarding: true,
    projects: Object.fromEntries(trusted.map((folder) => [folder, { hasTrustDialogAccepted: true }])),
    customApiKeyResponses: { approved: [DUMMY_KEY.slice(-20)], rejected: [] },
  });
}
