/**
 * What a user can see because of a configuration key, one function for each kind of sight. Each takes a configuration,
 * does the real thing under it and shows something the key decides; test/config-keys.test.ts says which key is seen by
 * which. What several keys are seen by is done once for each configuration.
 */

import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { notifyDue } from "#act/notify.ts";
import { tellPeople } from "#act/tell-people.ts";
import type { Config } from "#config/schema.ts";
import { stopAgent } from "#control/agents.ts";
import * as goals from "#control/goals.ts";
import { inject } from "#control/mail/inject.ts";
import * as mail from "#control/mail/send.ts";
import { plan } from "#control/plans.ts";
import type { SlingInput, SlingPlan } from "#control/sling.ts";
import { slingAgent } from "#control/sling.ts";
import { readFleetStatus } from "#control/status.ts";
import { backup } from "#control/upkeep/doctor.ts";
import * as work from "#control/work.ts";
import * as worktrees from "#control/worktrees.ts";
import type { World } from "#control/world.ts";
import { speakingAs } from "#control/world.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { TOPICS } from "#domain/model/news.ts";
import { askQuestion } from "#domain/model/question.ts";
import { readWip } from "#git/wip.ts";
import { asksByHttp } from "#runner/hooks/settings.ts";
import type { LaunchFile } from "#runner/launch-file.ts";
import { NO_SETTINGS } from "#runtimes/list.ts";
import { makeScriptedRuntime } from "#runtimes/scripted/scripted.ts";
import { crystallizationById, questionById } from "#store/assignments.ts";
import { memoryStore } from "#store/memory.ts";
import { messageById, waitingMessages } from "#store/messages.ts";
import { listBackups } from "#store/sqlite/backup.ts";
import { nodeById } from "#store/work.ts";
import { systemExec } from "#sys/exec.ts";
import { addRunning } from "./attempts.ts";
import { livedUnder } from "./lived-agent.ts";
import type { Props, Stage } from "./staged-world.ts";
import { launchFileOf, orCode, repoUnder, stageUnder, started, systemPromptOf, WISH } from "./staged-world.ts";
import { worldOn } from "./world.ts";

/** What `status` calls the project; that of the directory is another one each time. */
export async function projectName(config: Config): Promise<string> {
  const { repo, real } = await repoUnder(config);
  const { project } = await readFleetStatus(real);
  return project === basename(repo.path) ? "as its directory" : project;
}

export const terminalKind = async (config: Config) => (await (await repoUnder(config)).real.terminal()).kind;

/** What `sling --dry-run` would do, or why not. */
export function dryRun(show: (plan: SlingPlan) => unknown, input: Partial<SlingInput> = {}) {
  return async (config: Config) => {
    const { repo, world } = await stageUnder(config);
    repo.git("branch", "develop");
    return orCode(async () => {
      const slung = await slingAgent(world, { ...WISH, ...input, dryRun: true });
      return slung.dryRun ? show(slung.plan) : slung;
    });
  };
}

interface Sight {
  readonly stage: Stage;
  readonly attempt: Attempt;
  readonly launch: LaunchFile;
  readonly prompt: string;
}

/** The definitions lie where `changed` values look for them, and nowhere else. */
const PROPS: Props = {
  env: { OUR_TOKEN_NAME: "handed on" },
  files: {
    "docs/agents/builder.md": "# Work as this file says\n",
    "docs/manifest.yaml": "version: 1\nroles:\n  ghost:\n    role: roles/ghost.yaml\n    definition: agents/ghost.md\n",
  },
};

/** One agent put to work: what was made for it and what it is told; or why it was refused. */
export function slung(show: (sight: Sight) => unknown) {
  return async (config: Config) => {
    const sight = await slungOnce(config);
    return typeof sight === "string" ? sight : show(sight);
  };
}

const slungOnce = oncePerConfig(async (config): Promise<Sight | string> => {
  const stage = await stageUnder(config, PROPS);
  const attempt = await stage.sling();
  if (typeof attempt === "string") return attempt;
  return { stage, attempt, launch: launchFileOf(stage, attempt), prompt: systemPromptOf(stage, attempt) };
});

/** One after the other, as fast as they are let: what each came to, and what was told on the way. */
export function slungInARow(many: number) {
  return async (config: Config) => {
    const stage = await stageUnder(config);
    const seen: unknown[] = [];
    for (let nth = 0; nth < many; nth += 1) {
      const attempt = await stage.sling({ prompt: `Do the part ${nth}` });
      seen.push([typeof attempt === "string" ? attempt : attempt.agent, ...stage.told]);
    }
    return seen;
  };
}

/** An agent below another one. */
export async function slungBelow(config: Config): Promise<unknown> {
  const stage = await stageUnder(config);
  const above = started(await stage.sling({ capability: "lead", name: "boss" }));
  const below = await stage.sling({ prompt: "Do a part of it", parent: above.agent });
  return typeof below === "string" ? below : below.depth;
}

/** A machine with little left: is there still room for an agent? */
export function slungWith(room: Props["room"]) {
  return async (config: Config) => {
    const attempt = await (await stageUnder(config, { room })).sling();
    return typeof attempt === "string" ? attempt : "started";
  };
}

/** A set-up command that needs two seconds, without waiting for them. */
export async function setUpForTwoSeconds(config: Config): Promise<unknown> {
  const worktree = { ...config.worktree, setup: "slow" };
  const stage = await stageUnder({ ...config, worktree });
  const { exec } = stage.world;
  const slow: Stage["world"]["exec"] = {
    ...exec,
    run: async (argv, options) => {
      if (argv.at(-1) !== "slow") return exec.run(argv, options);
      return exec.run(["true"], {}).then((done) => ({ ...done, timedOut: (options?.timeoutMs ?? Infinity) < 2000 }));
    },
  };
  return orCode(async () => {
    const done = await slingAgent({ ...stage.world, exec: slow }, WISH);
    return done.dryRun;
  });
}

/** How long `stop` waits for a runner that does not answer. */
/** Whether its runner answers the hooks of a new agent. */
export async function asksItsRunner(config: Config): Promise<boolean> {
  const hooks = { hookCommand: "", permitCommand: "", userHooks: [], deniedPaths: [], wakePipe: null, steered: false };
  const runtimeSettings = config.runtimes.scripted ?? NO_SETTINGS;
  const runtime = makeScriptedRuntime({ command: ["scripted"], home: "/" });
  return asksByHttp({ attemptSocket: "/run/a1", hooks, runtimeSettings }, runtime);
}

export async function patienceOfStop(config: Config): Promise<number> {
  const stage = await stageUnder(config);
  const { attempt } = started(await stage.sling());
  const before = stage.elapsed();
  await stopAgent(stage.world, attempt, null);
  return stage.elapsed() - before;
}

/** Snapshots of an agent that died with a large file, and of what its worktree held before each of two restorations. */
export async function snapshotsKept(config: Config): Promise<{ numbers: number[]; left: readonly string[] }> {
  const stage = await stageUnder(config);
  const { world } = stage;
  const attempt = started(await stage.sling());
  const write = (text: string) => writeFileSync(`${attempt.worktree}/draft.txt`, text);
  write("first");
  writeFileSync(`${attempt.worktree}/large.txt`, "x".repeat(4096));
  const { end } = await stopAgent(world, attempt.attempt, null);
  const ref = end?.wip ?? "";
  for (const text of ["second", "third"]) {
    write(text);
    await worktrees.restoreSnapshot(world, ref, undefined, true);
  }
  const { skipped } = await readWip(world.git.git, { cwd: world.root.project, ref });
  return {
    numbers: (await worktrees.listKeptWork(world)).map(({ ref }) => Number(ref.split("/").at(-1))),
    left: skipped.map(({ path }) => path),
  };
}

/** The first message that waits for an agent whose task is described at length. */
export async function longInstruction(config: Config): Promise<number | undefined> {
  const stage = await stageUnder(config);
  const { attempt } = started(await stage.sling({ prompt: `Do it. ${"And mind the details. ".repeat(100)}` }));
  const { waiting } = await (await stage.world.reader()).read({ waiting: waitingMessages(attempt) });
  return waiting[0]?.body.length;
}

/** A task finished by hand with a long summary and a long piece of evidence, as it is kept. */
export async function longReport(config: Config): Promise<{ summary?: number; field?: number }> {
  const { real: world } = await repoUnder(config);
  const goalId = await goals.create(world, { title: "Reports" });
  await plan(world, goalId, { name: "plan.yaml", text: planOf(1, 1, 0) });
  await work.finishWork(
    world,
    { node: "T0.0", goal: goalId },
    { summary: "s".repeat(1000), evidence: { ...NO_EVIDENCE, commandsRun: ["c".repeat(1000)] } },
  );
  const store = await world.reader();
  const { node } = await store.read({ node: nodeById(goalId, "T0.0") });
  const { kept } = await store.read({ kept: crystallizationById(node?.crystallizationId ?? "") });
  return { summary: kept?.summary.length, field: kept?.evidence.commandsRun[0]?.length };
}

/** A long mail as it is shown, in bytes, and how long a nudge lives. */
export async function longMail(config: Config): Promise<{ shown: number; nudgeLives: number }> {
  const { real } = await repoUnder(config);
  const world = layered(real, { env: { ...real.env, OVERSEER_AGENT: "orchestrator" } });
  await mail.send(world, { to: "orchestrator", subject: "s", body: "word ".repeat(400) });
  const store = await world.writer();
  await addRunning(store, 1, world.processes.self());
  const { messageId } = await mail.nudge(world, "agent-0", { text: "hello", severity: "hint" });
  const { nudge } = await store.read({ nudge: messageById(messageId) });
  const { text } = await inject(world);
  return {
    shown: Buffer.byteLength(text),
    nudgeLives: Math.round(((nudge?.expiresAt ?? 0) - (nudge?.createdAt ?? 0)) / 1000),
  };
}

function layered(below: World, changes: Partial<World>): World {
  return Object.create(below, Object.getOwnPropertyDescriptors(changes)) as World;
}

/** A goal described at length. */
export async function longGoal(config: Config): Promise<string> {
  const { real } = await repoUnder(config);
  return orCode(async () => {
    await goals.create(real, { title: "Long", problemStatement: "n".repeat(1000) });
    return "created";
  });
}

export async function backupsAfterThree(config: Config): Promise<number> {
  const { world } = await stageUnder(config);
  for (let nth = 0; nth < 3; nth += 1) {
    await backup(world);
    await world.clock.sleep(1000);
  }
  return listBackups(`${world.root.gitCommonDir}/overseer/backups`).length;
}

/** A plan of so many phases, tasks and subtasks: taken or refused. */
export function planned(phases: number, tasks: number, subtasks: number) {
  return async (config: Config) => {
    const { real } = await repoUnder(config);
    const goalId = await goals.create(real, { title: "Plans" });
    return orCode(async () => {
      // A plan that an agent wrote: a person may write any shape.
      const lead = speakingAs(real, "agent:lead-1#1");
      await plan(lead, goalId, { name: "plan.yaml", text: planOf(phases, tasks, subtasks) });
      return "taken";
    });
  };
}

function planOf(phases: number, tasks: number, subtasks: number): string {
  const list = <T>(many: number, make: (nth: number) => T) => Array.from({ length: many }, (_, nth) => make(nth));
  const node = (id: string) => ({ id, name: `Node ${id}`, objective: "Be there", acceptance: ["It works"] });
  return JSON.stringify({
    planVersion: 1,
    phases: list(phases, (p) => ({
      ...node(`P${p}`),
      tasks: list(tasks, (t) => ({
        ...node(`T${p}.${t}`),
        subtasks: list(subtasks, (s) => node(`S${p}.${t}.${s}`)),
      })),
    })),
  });
}

/** A real agent's life. */
export const livedOnce = oncePerConfig(livedUnder);

function oncePerConfig<T>(look: (config: Config) => Promise<T>): (config: Config) => Promise<T> {
  const seen = new Map<string, Promise<T>>();
  return (config) => {
    const key = JSON.stringify(config);
    const known = seen.get(key) ?? look(config);
    seen.set(key, known);
    return known;
  };
}

/** Which channels a question takes under this configuration, and whether it gets through. */
export async function noticesOf({ channels }: Pick<Config, "channels">): Promise<string[]> {
  const store = memoryStore();
  const base = worldOn(store);
  const config = async () => ({ ...(await base.config()), channels });
  const root = { ...base.root, project: process.cwd() };
  const world = { ...base, root, config, exec: systemExec(), env: { PATH: process.env.PATH ?? "" } };
  const goalId = await goals.create(world, { title: "Ask" });
  const moment = { now: world.clock.now(), actor: "overseer" } as const;
  await store.commit({
    at: moment.now,
    reads: { taken: questionById("q_1") },
    decide: ({ taken }) => askQuestion(taken, { questionId: "q_1", goalId, text: "Which?", options: [] }, moment),
  });
  const { sent } = await notifyDue(world);
  return sent.map(({ channel, ok }) => `${channel} ${ok ? "got through" : "failed"}`);
}

/** Who is told of a quota that is used up, and who of its end five minutes later. */
export async function newsTold({ channels }: Pick<Config, "channels">): Promise<string[]> {
  const store = memoryStore();
  const base = worldOn(store);
  const config = async () => ({ ...(await base.config()), channels: { ...channels, command: "true" } });
  const root = { ...base.root, project: process.cwd() };
  const world = { ...base, root, config, exec: systemExec(), env: { PATH: process.env.PATH ?? "" } };
  const about = { actor: "overseer", because: "x" } as const;
  const account = "a/default";
  const commit = (event: NewEvent) =>
    store.commit({ at: world.clock.now(), reads: {}, decide: () => accept([event], null) });
  await tellPeople(world);
  await commit({ ...about, type: "quota.tripped", data: { account, until: world.clock.now(), trips: 1 } });
  const first = await tellPeople(world);
  await world.clock.advance(5 * 60_000);
  await commit({ ...about, type: "quota.restored", data: { account, attempts: [] } });
  const second = await tellPeople(world);
  return [...first, ...second].map(({ name, ok }) => `${name} ${ok ? "heard" : "did not hear"}`);
}

/** The same where ada is told too, unless this configuration says otherwise of her. */
export function adaTold({ channels }: Pick<Config, "channels">): Promise<string[]> {
  const usual: Config["channels"]["people"][string] = {
    via: "command",
    to: "true",
    hears: [...TOPICS],
    quietHours: null,
  };
  return newsTold({ channels: { ...channels, people: { ada: { ...usual, ...channels.people.ada } } } });
}

/** A program that takes two seconds. */
export const slowNotice = ({ channels }: Config) => noticesOf({ channels: { ...channels, command: "sleep 2" } });
