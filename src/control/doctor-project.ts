/** `doctor` on the project's own settings for the agent's CLI: what they would do to an agent that is started here. */
import type { Finding } from "#domain/checkup.ts";
import { CLAUDE_FILES, judgeProjectSettings } from "#domain/project-settings.ts";
import { configOf, wantedRuntimes } from "./doctor-machine.ts";
import type { World } from "./world.ts";

const CLAUDE = "claude-code";

/** Nothing where no agent would be started on a CLI that has such settings. */
export async function projectFindings(world: World): Promise<Finding[]> {
  const config = await configOf(world);
  if (!config || !(await wantedRuntimes(world, config)).has(CLAUDE)) return [];
  const files: Record<string, string> = {};
  for (const name of CLAUDE_FILES) {
    const text = await world.files.read(`${world.root.project}/${name}`);
    if (text !== undefined) files[name] = text;
  }
  return [judgeProjectSettings({ files, args: config.runtimes[CLAUDE]?.args ?? [] })];
}
