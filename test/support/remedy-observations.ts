/** What a remediating agent is told and may write under a configuration, on a repository that has logs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "#config/schema.ts";
import type { RemedyContext } from "#domain/guard/remedy-context.ts";
import { judgeRemedyWrite } from "#domain/permit/remedy-permit.ts";
import { composePolicy, composePrompt } from "#runner/remedy/orders.ts";
import { findRoot } from "#sys/root.ts";
import { tempRepo } from "./temp.ts";

const CONTEXT: RemedyContext = {
  v: 1,
  failure: { kind: "exited", detail: "The daemon ended with exit code 6.", at: 0 },
  registration: null,
  guard: { pid: 1, since: 0 },
  try: 1,
};

async function findRepository() {
  const root = await findRoot({ cwd: tempRepo().path, env: {} });
  mkdirSync(join(root.state, "logs"), { recursive: true });
  const lines = Array.from({ length: 300 }, (_, index) => `line ${index + 1}\n`);
  writeFileSync(join(root.state, "logs/daemon.ndjson"), lines.join(""));
  return root;
}

const settingsOf = (config: Config) => ({ config, from: "the settings in effect", problem: null }) as const;

/** The words before the failure. */
export async function wordsOfRemedy(config: Config): Promise<unknown> {
  const root = await findRepository();
  const text = await composePrompt(root, CONTEXT, settingsOf(config), { text: "", worktrees: [] }, "now");
  return text.slice(0, text.indexOf("# What failed"));
}

export async function logLinesOfRemedy(config: Config): Promise<unknown> {
  const root = await findRepository();
  const text = await composePrompt(root, CONTEXT, settingsOf(config), { text: "", worktrees: [] }, "now");
  return text.match(/^line \d+$/gm)?.length;
}

export async function projectFileOfRemedy(config: Config): Promise<unknown> {
  const root = await findRepository();
  const policy = composePolicy(root, settingsOf(config), { text: "", worktrees: [root.project] });
  return judgeRemedyWrite({ ...policy, heard: root.state }, join(root.project, "README.md")) === undefined;
}
