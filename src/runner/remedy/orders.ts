/** What a remediating agent is told and what it may write, under the settings and on the repository as they are. */
import { REMEDY_TEXT } from "#config/remedy-text.ts";
import type { RemedyContext } from "#domain/guard/remedy-context.ts";
import { buildRemedyPrompt } from "#domain/guard/remedy-prompt.ts";
import type { RemedyPolicy } from "#domain/permit/remedy-permit.ts";
import type { Root } from "#sys/root.ts";
import { redact, redactDeep } from "#telemetry/redact.ts";
import { describeAgents, type GitLook, tailLogs } from "./material.ts";
import type { RemedySettings } from "./remedy-settings.ts";

export async function composePrompt(
  root: Root,
  context: RemedyContext,
  { config, from, problem }: RemedySettings,
  { text: git }: GitLook,
  timestamp: string,
): Promise<string> {
  const { remediationPrompt, logLines, allowRepoEdits } = config.guard;
  const inProject = (path: string) =>
    path.startsWith(`${root.project}/`) ? path.slice(root.project.length + 1) : path;
  return buildRemedyPrompt({
    context: redactDeep(context),
    words: { text: redact(remediationPrompt ?? REMEDY_TEXT), own: remediationPrompt !== null },
    settings: from,
    settingsProblem: problem === null ? null : redact(problem),
    logs: tailLogs(root, logLines),
    agents: await describeAgents(root),
    git,
    userDir: inProject(root.userDir),
    gitDir: inProject(root.gitCommonDir),
    logDir: inProject(`${root.state}/logs`),
    timestamp,
    allowRepoEdits,
  });
}

export function composePolicy(
  root: Root,
  { config }: RemedySettings,
  { worktrees }: GitLook,
): Omit<RemedyPolicy, "heard"> {
  const { project, userDir, state, gitCommonDir } = root;
  // Where nobody knows whose checkouts lie in the project, none of its files is given out.
  const allowRepoEdits = config.guard.allowRepoEdits && worktrees !== undefined;
  return { v: 1, kind: "remedy", project, userDir, state, gitCommonDir, worktrees: worktrees ?? [], allowRepoEdits };
}
