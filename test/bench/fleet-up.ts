/** A small repository with a daemon that is up, for rows about a running fleet; `end` takes everything down again. */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { nukeAgent } from "#control/agents.ts";
import { launchDaemon, stopDaemon } from "#control/daemon.ts";
import type { World } from "#control/world.ts";
import type { Registration } from "#domain/health/daemon-life.ts";
import { livingAttempts } from "#store/attempts.ts";
import { version } from "../../package.json" with { type: "json" };
import { gitIn } from "../support/git-in.ts";
import { UNHURRIED, worldAt } from "../support/real-world.ts";

const project = join(import.meta.dir, "../..");

export interface FleetUp {
  readonly world: World;
  readonly daemon: Registration;
  end(): Promise<void>;
}

export interface FleetOptions {
  /** What its processes have besides what this one has. */
  readonly env?: Readonly<Record<string, string>>;
  /** Lines for its configuration. */
  readonly config?: string;
  /** How many may be at work; as many as there are unless told. */
  readonly maxConcurrent?: number;
}

export async function fleetUp(repo: string, options: FleetOptions = {}): Promise<FleetUp> {
  const { env = {}, config = "", maxConcurrent = 100 } = options;
  mkdirSync(repo, { recursive: true });
  gitIn(repo, "init", "--quiet", "--initial-branch", "main");
  const who = ["-c", "user.name=Bench", "-c", "user.email=bench@example.invalid"];
  gitIn(repo, ...who, "commit", "--quiet", "--allow-empty", "--message", "First");
  const made = Bun.spawnSync([join(project, "bin/overseer"), "init"], { cwd: repo, stderr: "pipe" });
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  appendFileSync(
    join(repo, ".overseer/config.yaml"),
    `${UNHURRIED.replace("maxConcurrent: 100", `maxConcurrent: ${maxConcurrent}`)}${config}`,
  );
  const world = await worldAt(repo, { env });
  const command = [process.execPath, join(project, "dist/daemon.js")];
  const daemon = await launchDaemon(world, { command, version, supervision: true, auto: false });
  return {
    world,
    daemon,
    async end() {
      await stopDaemon(world, null);
      const { living } = await (await world.writer()).read({ living: livingAttempts() });
      for (const { attempt } of living) await nukeAgent(world, attempt, { reason: null, discard: false });
      await (await world.writer()).close();
    },
  };
}
