/**
 * `doctor` on hooks: do they really fire? The commands are called as an agent's CLI would call them, exactly as they
 * stand in its settings: those that a new agent would get, and those of every agent at work. What the recording hook
 * tells goes to a scratch place, and has to arrive in the database there; the permit is asked, under the agent's own rules,
 * about a write that it must refuse and a command that it must let pass.
 */
import { attemptDir, filterEnvironment } from "#act/attempt-files.ts";
import type { World } from "#control/world.ts";
import { shellCommand } from "#domain/core/shell-words.ts";
import { type Finding, judgeHooks, judgeTried, SAMPLE_SIGNAL, type Tried } from "#domain/health/checkup.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import { OverseerError } from "#errors.ts";
import type { HookTrial } from "#runtimes/hook-dialect.ts";
import { spoolDir } from "#runtimes/hook-spool.ts";
import { RUNTIME_NAMES } from "#runtimes/list.ts";
import type { Runtime } from "#runtimes/runtime.ts";
import { livingAttempts } from "#store/attempts.ts";
import { inspectStore } from "#store/open.ts";
import { DEFAULT_SIGNAL_CAPS } from "#store/signal-log.ts";
import { scratchDatabase, signalsArrived } from "#store/sqlite/scratch.ts";
import { parentOf } from "#sys/paths.ts";
import { ANSWER_MS, configOf } from "./doctor-machine.ts";
import { databasePath } from "./store-rescue.ts";

/** The hooks of one agent, real or made up, and the rules its permit goes by. */
interface Hooks {
  readonly whose: string;
  readonly trial: HookTrial;
  readonly policy: PermitPolicy;
}

/** Nobody may write there. */
const FORBIDDEN = "/overseer-doctor/must-be-refused";
const AT_ONCE = 4;

export async function hookFinding(world: World, scratch: string): Promise<Finding> {
  const root = `${scratch}/hooks`;
  const all = [await hooksOfANewAgent(world, root), ...(await hooksAtWork(world))].filter((one) => one !== undefined);
  // Which CLI an agent would have, and how it is started, is for the configuration to say.
  if (all.length === 0 && (await configOf(world)) === undefined) {
    return { check: "hooks", ok: true, detail: "not tried while the configuration cannot be used" };
  }
  await furnish(world, root, all.length);
  const tried: Tried[] = [];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE).map((one, index) => tryHooks(world, root, from + index + 1, one));
    tried.push(...(await Promise.all(some)).flat());
  }
  const agents = all.length === 1 ? "no agent at work" : `${all.length - 1} at work`;
  return judgeTried(
    "hooks",
    tried,
    `what they tell arrives, and the permit hook answers (a new agent, ${agents})`,
    "Is Overseer still where it was when the agent was started? 'overseer restart <agent>' gives it new hooks.",
  );
}

/** A place in which each of them has an attempt of its own, so that what one tells is not taken for another's. */
export async function furnish(world: World, root: string, count: number): Promise<void> {
  await world.files.makeDir(parentOf(databaseIn(root)), { mode: 0o700 });
  for (let attempt = 1; attempt <= count; attempt += 1) {
    const directory = scratchDir(root, attempt);
    await world.files.makeDir(directory, { mode: 0o700 });
    await world.files.write(`${directory}/policy.json`, JSON.stringify(scratchPolicy(root, attempt)), { mode: 0o600 });
  }
  await scratchDatabase(databaseIn(root), count, world.clock.now());
}

const databaseIn = (root: string) => `${root}/.git/overseer/overseer.db`;
export const scratchDir = (root: string, attempt: number) => `${root}/.git/overseer/run/attempts/${attempt}`;

export function scratchPolicy(root: string, attempt: number): PermitPolicy {
  return {
    v: 1,
    attempt,
    agent: `scratch-${attempt}`,
    worktree: `${root}/worktree`,
    scope: null,
    readOnly: false,
    mainCheckout: root,
    gitCommonDir: `${root}/.git`,
    state: `${root}/.git/overseer`,
    scratch: [],
    interactive: false,
    signalCaps: DEFAULT_SIGNAL_CAPS,
  };
}

/** As the configured CLI would get them; undefined when that one has none, or there is no such. */
async function hooksOfANewAgent(world: World, root: string): Promise<Hooks | undefined> {
  const wanted = (await configOf(world))?.runtime ?? "";
  const runtime = (await findRuntime(world, wanted)) ?? (await findRuntime(world, RUNTIME_NAMES[0] ?? ""));
  const directory = scratchDir(root, 1);
  const policy = scratchPolicy(root, 1);
  const hooks = {
    hookCommand: shellCommand(world.hookCommand),
    permitCommand: shellCommand([...world.permitCommand, `${directory}/policy.json`]),
    ...{ userHooks: [], deniedPaths: [], wakePipe: null, steered: true },
  };
  const files = runtime?.prepare({
    ...{ directory, worktree: policy.worktree, session: "doctor", resume: false, model: null, hooks },
    ...{ permissionMode: "default", allowTools: [], denyTools: [], systemPromptFile: "", env: {} },
  });
  const file = files?.find(({ path }) => path === `${directory}/${runtime?.hooks?.file}`);
  const trial = file && runtime?.hooks?.trial(file.text, FORBIDDEN);
  return trial && { whose: "a new agent", trial, policy };
}

/** Undefined for a name that the configuration has wrong: that is a finding of its own. */
export async function findRuntime(world: World, name: string): Promise<Runtime | undefined> {
  try {
    return await world.runtime(name);
  } catch (error) {
    if (error instanceof OverseerError) return undefined;
    throw error;
  }
}

/** As they stand in the files of those who live. One whose files are gone is left out: its end is another finding. */
async function hooksAtWork(world: World): Promise<Hooks[]> {
  if ((await inspectStore(databasePath(world))).state !== "ready") return [];
  const { living } = await (await world.reader()).read({ living: livingAttempts() });
  const found: Hooks[] = [];
  for (const attempt of living) {
    const directory = attemptDir(world, attempt.attempt);
    const hooks = (await findRuntime(world, attempt.runtime))?.hooks;
    const [settings, policy] = [
      hooks && (await world.files.read(`${directory}/${hooks.file}`)),
      await world.files.read(`${directory}/policy.json`),
    ];
    if (!hooks || !settings || !policy || !world.processes.alive(attempt.runner ?? attempt.slinger)) continue;
    const trial = hooks.trial(settings, FORBIDDEN);
    found.push({ whose: attemptLabel(attempt), trial, policy: JSON.parse(policy) as PermitPolicy });
  }
  return found;
}

async function tryHooks(
  world: World,
  root: string,
  attempt: number,
  { whose, trial, policy }: Hooks,
): Promise<Tried[]> {
  const told = await call(world, trial.recording, {
    OVERSEER_ROOT: root,
    OVERSEER_AGENT: `scratch-${attempt}`,
    OVERSEER_ATTEMPT: String(attempt),
  });
  const env = { OVERSEER_ATTEMPT: String(policy.attempt) };
  const asked = await call(world, trial.permit, env);
  const harmless = await call(world, { ...trial.permit, payload: trial.harmless }, env);
  return judgeHooks({
    whose,
    arrived: told === undefined ? undefined : await listArrived(world, root, attempt),
    refusal: asked === undefined ? undefined : trial.refusalIn(asked),
    harmless: harmless === undefined ? undefined : trial.refusalIn(harmless),
  });
}

/** On a busy disk a hook leaves it in the spool, and a runner would fold it in: that is arrived too. */
async function listArrived(world: World, root: string, attempt: number): Promise<string[]> {
  const spooled = (await world.files.list(spoolDir(`${root}/.git/overseer`, attempt))) ?? [];
  const kept = spooled.some((name) => name.endsWith(".json")) ? [SAMPLE_SIGNAL] : [];
  return [...signalsArrived(databaseIn(root), attempt), ...kept];
}

/** What it printed; undefined when it did not end in time. */
async function call(
  world: World,
  { command, payload }: HookTrial["permit"],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const passed = filterEnvironment(world.env, (await configOf(world))?.agents.passEnv ?? []);
  const result = await world.exec.run(["sh", "-c", command], {
    env: { ...passed, ...env },
    stdin: JSON.stringify(payload),
    timeoutMs: ANSWER_MS,
  });
  return result.timedOut ? undefined : result.stdout;
}
