/** Settings that a test has written, confirmed as a person would by `overseer trust --yes`, without starting a program. */
import { confirmSettings, readSettings } from "#act/settings/settings.ts";
import { findRoot } from "#sys/root.ts";
import { realWorld } from "#wiring.ts";
import { testEnvironment } from "./git-tools.ts";

export async function confirmIn(
  repo: string,
  env: Readonly<Record<string, string>> = testEnvironment(),
): Promise<void> {
  const world = realWorld(await findRoot({ cwd: repo, env }), env);
  await confirmSettings(world, await readSettings(world));
}
