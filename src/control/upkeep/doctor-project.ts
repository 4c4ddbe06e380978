/**
 * `doctor` on the project as an agent's CLI meets it: what its own settings would do to an agent, and whether the CLI
 * really asks the permit there. The latter is a rehearsal with the real CLI and our own model on loopback.
 */
import { filterEnvironment } from "#act/attempt-files.ts";
import type { Config } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import { shellCommand } from "#domain/core/shell-words.ts";
import { type Finding, judgeRehearsal } from "#domain/health/checkup.ts";
import { HEARD } from "#domain/permit/hook-moments.ts";
import type { Runtime } from "#runtimes/runtime.ts";
import { findRuntime, furnish, scratchDir, scratchPolicy } from "./doctor-hooks.ts";
import { configOf, listWantedRuntimes, runtimeFindings } from "./doctor-machine.ts";

/** What the project's own settings would do to agents, for each CLI that has such and would be started. */
export async function projectFindings(world: World): Promise<Finding[]> {
  const config = await configOf(world);
  if (!config) return [];
  const found: Finding[] = [];
  for (const name of (await listWantedRuntimes(world, config)).keys()) {
    const { project } = (await findRuntime(world, name)) ?? {};
    if (!project) continue;
    const files: Record<string, string> = {};
    for (const file of project.files) {
      const text = await world.files.read(`${world.root.project}/${file}`);
      if (text !== undefined) files[file] = text;
    }
    found.push(project.judge({ files, args: config.runtimes[name]?.args ?? [] }));
  }
  return found;
}

/** Each CLI that agents would be started on; one that is fit for it rehearses, because only then it may be started here. */
export async function cliFindings(world: World, scratch: string): Promise<Finding[]> {
  const [config, found] = [await configOf(world), await runtimeFindings(world)];
  if (!config) return found;
  const rehearsed: Finding[] = [];
  for (const name of (await listWantedRuntimes(world, config)).keys()) {
    const fit = found.some(({ check, ok }) => check === `runtime ${name}` && ok);
    const runtime = fit ? await world.runtime(name) : undefined;
    const rehearse = runtime?.rehearse;
    if (rehearse) rehearsed.push(await rehearseIn(world, config, { rehearse }, `${scratch}/permit-${name}`));
  }
  return [...found, ...rehearsed];
}

async function rehearseIn(
  world: World,
  config: Config,
  runtime: Required<Pick<Runtime, "rehearse">>,
  root: string,
): Promise<Finding> {
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
      const answer = rehearsal.answer(await request.text());
      ran ||= answer.ran;
      return new Response(answer.text, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const hooks = {
    hookCommand: shellCommand(world.hookCommand),
    permitCommand: shellCommand([...world.permitCommand, `${directory}/policy.json`]),
    ...{ userHooks: [], deniedPaths: [], wakePipe: null, steered: true },
  };
  const url = `http://127.0.0.1:${model.port}`;
  const rehearsal = runtime.rehearse({ directory, cwd: world.root.project, env, hooks, url });
  try {
    for (const { path, text, mode } of rehearsal.files) await world.files.write(path, text, { mode });
    const { argv, ...options } = rehearsal.launch;
    const ended = await world.exec.run([...argv], { ...options, stdin: "Rehearse.", timeoutMs: REHEARSAL_MS });
    const asked = (await world.files.facts(`${heard}/${rehearsal.call}`)) !== undefined;
    const { title } = rehearsal;
    return judgeRehearsal({ title, timedOut: ended.timedOut, asked, ran, said: ended.stderr || ended.stdout });
  } finally {
    await model.stop(true);
  }
}

const REHEARSAL_MS = 30_000;
