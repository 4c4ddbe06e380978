/**
 * `doctor` on the project as an agent's CLI meets it: what its own settings would do to an agent, and whether the CLI
 * really asks the permit there. The latter is a rehearsal with the real CLI and our own model on loopback.
 */
import { filterEnvironment } from "#act/attempt-files.ts";
import type { Config } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import { shellCommand } from "#domain/core/shell-words.ts";
import { type Finding, judgeRehearsal } from "#domain/health/checkup.ts";
import { CLAUDE_FILES, judgeProjectSettings } from "#domain/health/project-settings.ts";
import { HEARD } from "#domain/permit/hook-settings.ts";
import { REHEARSED_CALL, rehearsalAnswer } from "#runtimes/claude-code/rehearsal.ts";
import { furnish, scratchDir, scratchPolicy } from "./doctor-hooks.ts";
import { configOf, listWantedRuntimes, runtimeFindings } from "./doctor-machine.ts";

const CLAUDE = "claude-code";

/** Nothing where no agent would be started on a CLI that has such settings. */
export async function projectFindings(world: World): Promise<Finding[]> {
  const config = await configOf(world);
  if (!config || !(await listWantedRuntimes(world, config)).has(CLAUDE)) return [];
  const files: Record<string, string> = {};
  for (const name of CLAUDE_FILES) {
    const text = await world.files.read(`${world.root.project}/${name}`);
    if (text !== undefined) files[name] = text;
  }
  return [judgeProjectSettings({ files, args: config.runtimes[CLAUDE]?.args ?? [] })];
}

/** Each CLI that agents would be started on; one that is fit for it rehearses, because only then it may be started here. */
export async function cliFindings(world: World, scratch: string): Promise<Finding[]> {
  const [config, found] = [await configOf(world), await runtimeFindings(world)];
  const fit = found.some(({ check, ok }) => check === `runtime ${CLAUDE}` && ok);
  return config && fit ? [...found, ...(await rehearsal(world, config, `${scratch}/permit`))] : found;
}

async function rehearsal(world: World, config: Config, root: string): Promise<Finding[]> {
  const runtime = await world.runtime(CLAUDE);
  if (!runtime.rehearse) return [];
  const env = filterEnvironment(world.env, config.agents.passEnv);
  await furnish(world, root, 1);
  const directory = scratchDir(root, 1);
  const heard = `${directory}/${HEARD}`;
  await world.files.makeDir(heard, { mode: 0o700 });
  const policy = { ...scratchPolicy(root, 1), heard };
  await world.files.write(`${directory}/policy.json`, JSON.stringify(policy), { mode: 0o600 });
  let ran = false;
  const model = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method !== "POST") return new Response("", { status: 404 });
      const answer = rehearsalAnswer(await request.text());
      ran ||= answer.ran;
      return new Response(answer.text, { headers: { "content-type": "text/event-stream" } });
    },
  });
  try {
    const hooks = {
      hookCommand: shellCommand(world.hookCommand),
      permitCommand: shellCommand([...world.permitCommand, `${directory}/policy.json`]),
      ...{ userHooks: [], denyRules: [], wakePipe: null },
    };
    const url = `http://127.0.0.1:${model.port}`;
    const { files, launch } = runtime.rehearse({ directory, cwd: world.root.project, env, hooks, url });
    for (const { path, text, mode } of files) await world.files.write(path, text, { mode });
    const ended = await world.exec.run([...launch.argv], {
      ...{ cwd: launch.cwd, env: launch.env, stdin: "Rehearse.", timeoutMs: REHEARSAL_MS },
    });
    const asked = (await world.files.facts(`${heard}/${REHEARSED_CALL}`)) !== undefined;
    return [judgeRehearsal({ timedOut: ended.timedOut, asked, ran, said: ended.stderr || ended.stdout })];
  } finally {
    await model.stop(true);
  }
}

const REHEARSAL_MS = 30_000;
