/**
 * The real world of a repository for tests that call control verbs in their own process. Only where the program finds
 * its other parts differs: they come from dist/, because Bun.main is a test here. Call `bundled()` before.
 */
import { join } from "node:path";
import type { World } from "#control/world.ts";
import { makeScriptedRuntime } from "#runtimes/scripted/scripted.ts";
import type { Root } from "#sys/root.ts";
import { findRoot } from "#sys/root.ts";
import { type InEffect, realWorld } from "#wiring.ts";
import { testEnvironment } from "./git-tools.ts";

const dist = join(import.meta.dir, "../../dist");

/** `changes` wins over what is real. */
export async function worldAt(
  repo: string,
  options: { readonly env?: Readonly<Record<string, string>>; readonly changes?: (real: World) => Partial<World> } = {},
): Promise<World> {
  const env = { ...testEnvironment(), ...options.env };
  const root = await findRoot({ cwd: repo, env });
  const real = worldUnder(root, env);
  return layered(real, options.changes?.(real) ?? {});
}

/** The same for a process that stays, where `stays` says what holds at the time. */
export function worldUnder(root: Root, env: Readonly<Record<string, string>>, stays?: InEffect): World {
  const real = realWorld(root, env, stays);
  const runtime: World["runtime"] = async (name) =>
    name === "scripted"
      ? makeScriptedRuntime({
          command: [process.execPath, join(dist, "scripted-agent.js")],
          home: `${root.state}/run/scripted`,
          speed: env.OVERSEER_SCRIPT_SPEED,
        })
      : real.runtime(name);
  const part = (name: string) => [process.execPath, join(dist, `${name}.js`)];
  const commands = { runnerCommand: part("runner"), hookCommand: part("hook"), permitCommand: part("permit") };
  return layered(real, { ...commands, runtime });
}

/** The parts of a world are made when first asked for; a spread would make them all. */
export function layered(below: World, changes: Partial<World>): World {
  const parts = { ...Object.getOwnPropertyDescriptors(below), ...Object.getOwnPropertyDescriptors(changes) };
  return Object.defineProperties({}, parts) as World;
}

/** A configuration under which tests start as many agents as they like, as fast as they like. */
export const UNHURRIED = `runtime: scripted
agents: {stagger: 0s, maxConcurrent: 100, startsPerMinute: 10000, stopGrace: 1s}
capacity: {loadFactor: 1000, minMemory: 1KB, minMemoryPercent: 0, minDisk: 1KB, minDiskPercent: 0}
`;
