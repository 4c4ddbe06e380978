/**
 * A real repository under a given configuration, with everything real but time, processes and the machine's load: git,
 * the database, the files and the wiring are those of the program. Agents are put to work in terminals that live in
 * memory, and their runners say hello and nothing else; what they would have been told lies in their launch files.
 */
import { readFileSync } from "node:fs";
import { markOf, RUNNER_MARK } from "#act/attempt-files.ts";
import type { MachineRoom } from "#act/parts.ts";
import { configYaml } from "#config/render.ts";
import type { Config } from "#config/schema.ts";
import type { SlingInput } from "#control/sling.ts";
import { slingAgent } from "#control/sling.ts";
import { init } from "#control/upkeep/init.ts";
import type { World } from "#control/world.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { confirmStart } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";
import type { LaunchFile } from "#runner/launch-file.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { findRoot } from "#sys/root.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import type { FakeProgramSide } from "#terminals/fake.ts";
import { FakeTerminal } from "#terminals/fake.ts";
import { realWorld } from "#wiring.ts";
import { confirmIn } from "./confirm.ts";
import { testEnvironment } from "./git-tools.ts";
import { T0 } from "./samples.ts";
import type { TempRepo } from "./temp.ts";
import { tempRepo } from "./temp.ts";

export interface Stage {
  readonly repo: TempRepo;
  readonly world: World;
  /** Milliseconds that passed for this world. */
  elapsed(): number;
  /** Puts an agent to work and says what came of it: its attempt, or the code of the refusal. */
  sling(input?: Partial<SlingInput>): Promise<Attempt | string>;
  /** What the last sling told whoever waited. */
  readonly told: readonly string[];
}

export interface Props {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly room?: Partial<MachineRoom>;
}

const GB = 1024 ** 3;
/** A machine with more than enough of everything. */
export const ROOMY: MachineRoom = {
  load: 0,
  cores: 1,
  freeMemoryBytes: 50 * GB,
  totalMemoryBytes: 100 * GB,
  freeDiskBytes: 500 * GB,
  totalDiskBytes: 1000 * GB,
};

export async function stageUnder(config: Config, props: Props = {}): Promise<Stage> {
  const { repo, real } = await repoUnder(config, props);
  const clock = virtualClock({ now: T0 });
  // Nobody else is there to make time pass: whoever sleeps moves it on.
  const impatient = { ...clock, sleep: (ms: number) => clock.advance(ms) };
  const terminal = new FakeTerminal({ clock, program: (side) => void sayHello(world, terminal, side) });
  const world: World = {
    ...real,
    clock: impatient,
    processes: terminal.processes,
    terminal: async () => terminal,
    room: async () => ({ ...ROOMY, ...props.room }),
  };
  const told: string[] = [];
  return {
    repo,
    world,
    elapsed: () => clock.now() - T0,
    told,
    sling: (input = {}) => attemptOrCode(world, input, told),
  };
}

/** The repository alone, set up and with the program's own parts. */
export async function repoUnder(config: Config, props: Props = {}): Promise<{ repo: TempRepo; real: World }> {
  const repo = tempRepo({ files: { "README.md": "# A repository\n", ...props.files } });
  repo.write({ ".overseer/config.yaml": configYaml(config) });
  const env = { ...testEnvironment(), ...props.env };
  await confirmIn(repo.path, env);
  const real = realWorld(await findRoot({ cwd: repo.path, env }), env);
  await init(real, "0.0.0", { chooseDayCost: () => null, namesDayCost: false });
  return { repo, real };
}

/** An agent on `prompt` that plays a builder on the scripted runtime. */
export const WISH: SlingInput = {
  prompt: "Do it",
  capability: "builder",
  runtime: "scripted",
  files: [],
  tags: [],
  interactive: false,
  keep: false,
  dryRun: false,
};

async function attemptOrCode(world: World, input: Partial<SlingInput>, told: string[]): Promise<Attempt | string> {
  told.splice(0);
  return orCode(async () => {
    const slung = await slingAgent(world, { ...WISH, ...input }, (sentence) => told.push(sentence));
    if (slung.dryRun) throw new Error("A dry run has no attempt.");
    return slung.attempt;
  });
}

/** What was refused, by its code. */
export async function orCode<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OverseerError) return error.code;
    throw error;
  }
}

/** An attempt that has to be there. */
export function started(attempt: Attempt | string): Attempt {
  if (typeof attempt === "string") throw new Error(`The agent was not started: ${attempt}`);
  return attempt;
}

export function launchFileOf(stage: Stage, attempt: Attempt): LaunchFile {
  return JSON.parse(readFileSync(`${directoryOf(stage, attempt)}/launch.json`, "utf8")) as LaunchFile;
}

export function systemPromptOf(stage: Stage, attempt: Attempt): string {
  return readFileSync(`${directoryOf(stage, attempt)}/system-prompt.md`, "utf8");
}

function directoryOf(stage: Stage, attempt: Attempt): string {
  return `${stage.world.root.state}/run/attempts/${attempt.attempt}`;
}

async function sayHello(world: World, terminal: FakeTerminal, { request }: FakeProgramSide): Promise<void> {
  const number = Number(request.env[RUNNER_MARK]?.split("@")[0]);
  const runner = terminal.processes.withEnvironment(RUNNER_MARK, markOf(world.root, number))[0];
  if (!runner) throw new Error("The runner has no process.");
  const store = await world.writer();
  await store.commit({
    at: world.clock.now(),
    reads: { attempt: attemptByNumber(number) },
    decide: ({ attempt }) =>
      confirmStart(
        attempt,
        number,
        { runner, launchHash: attempt?.launchHash },
        { now: world.clock.now(), actor: "overseer" },
      ),
  });
}
