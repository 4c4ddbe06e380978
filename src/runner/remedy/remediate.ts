/**
 * One remediation (GUARD-3): the process beside an agent that repairs what keeps the daemon down. It is started by the
 * guard with a context file and needs neither daemon nor store nor a configuration that can be read: those are what may be
 * broken. It builds the prompt, drives the agent until its turn ends, tries once more where it crashed (FAIL-24), keeps
 * the whole transcript, and leaves no process behind. Whether anything was repaired is for the guard to see.
 */
import { readdirSync, rmSync } from "node:fs";
import { filterEnvironment, markOf, REMEDY_MARK } from "#act/attempt-files.ts";
import { shellCommand } from "#domain/core/shell-words.ts";
import { type RemedyContext, type RemedyResult, readRemedyContext } from "#domain/guard/remedy-context.ts";
import { HEARD } from "#domain/permit/hook-moments.ts";
import type { RemedyPolicy } from "#domain/permit/remedy-permit.ts";
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import { gitRunner } from "#git/git.ts";
import { becomeSubreaper } from "#runner/subreaper.ts";
import { findTie, tieAgents } from "#runner/tie.ts";
import type { HookWiring } from "#runtimes/hook-dialect.ts";
import { NO_SETTINGS, runtimeNamed } from "#runtimes/list.ts";
import type { LaunchRequest, Runtime } from "#runtimes/runtime.ts";
import { systemClock } from "#sys/clock.ts";
import { systemExec } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import { systemProcesses } from "#sys/processes.ts";
import type { Root } from "#sys/root.ts";
import { ownCommand, placeOfProgram } from "#sys/self.ts";
import { redact } from "#telemetry/redact.ts";
import { lookAtGit } from "./material.ts";
import { endProcesses, runTry, type TryEnd, type TryParts } from "./one-try.ts";
import { composePolicy, composePrompt } from "./orders.ts";
import { findRemedySettings, type RemedySettings } from "./remedy-settings.ts";
import { RemedyTranscript } from "./transcript.ts";

export interface RemedyRequest {
  readonly root: Root;
  readonly env: Readonly<Record<string, string>>;
  /** The text of the context file. */
  readonly contextText: string;
  /** How it is called in messages. */
  readonly contextName: string;
  /** Calls back with the reason when it is to end now. */
  onStop(stop: (why: string) => void): void;
}

/** A crash is followed by one more try, in a session of its own. */
const MOST_TRIES = 2;

/** Throws config/REMEDY_CONTEXT_INVALID for a context that cannot be used, and where no transcript can be kept. */
export async function remediate(request: RemedyRequest): Promise<RemedyResult> {
  const context = contextOf(request);
  const [clock, processes] = [systemClock(), systemProcesses()];
  const begun = clock.monotonic();
  const timestamp = new Date(clock.now()).toISOString().replace(/[-:.]/g, "");
  const transcript = openTranscript(request.root, timestamp);
  const { promise: stopped, resolve: stop } = Promise.withResolvers<string>();
  request.onStop(stop);
  becomeSubreaper();
  const mark = markOf(request.root, processes.self().pid);
  const parts = { clock, processes, transcript, stopped };
  let tries = 0;
  const conclude = (outcome: RemedyResult["outcome"], why: string | null): RemedyResult => {
    const durationMs = Math.round(clock.monotonic() - begun);
    const said = why === null ? outcome : `${outcome}: ${redact(why)}`;
    transcript.write(
      "outcome",
      `${said}\ntries: ${tries}\nduration: ${(durationMs / 1_000).toFixed(1)} s`,
      clock.now(),
    );
    transcript.close();
    return { outcome, why: why === null ? null : redact(why), log: transcript.path, durationMs, tries };
  };
  const directory = `${request.root.state}/run/remedy/${timestamp}-${process.pid}`;
  try {
    const prepared = await Promise.race([
      prepare(request, context, { directory, timestamp, mark, transcript }),
      stopped.then((why) => ({ stoppedBy: why })),
    ]);
    if ("stoppedBy" in prepared) return conclude("stopped", prepared.stoppedBy);
    if ("problem" in prepared) return conclude("not-started", prepared.problem);
    let end: TryEnd;
    do {
      tries += 1;
      end = await tryOnce({ ...parts, runtime: prepared.runtime }, prepared, { directory, tries, mark });
    } while (end.kind === "crashed" && tries < MOST_TRIES);
    return conclude(end.kind, end.kind === "finished" ? null : end.why);
  } catch (error) {
    return conclude("not-started", messageOf(error));
  } finally {
    await endProcesses(parts, [], mark);
    rmSync(directory, { recursive: true, force: true });
  }
}

function contextOf({ contextText, contextName }: RemedyRequest): RemedyContext {
  const reading = readRemedyContext(contextText);
  if (reading.ok) return reading.context;
  throw new OverseerError(
    "config",
    "REMEDY_CONTEXT_INVALID",
    `${contextName} cannot be used: ${reading.problem}.`,
    "The guard writes this file; start the guard again with 'overseer guard'.",
  );
}

function openTranscript(root: Root, timestamp: string): RemedyTranscript {
  try {
    return RemedyTranscript.open(`${root.state}/logs`, timestamp);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    const message = `The transcript of a remediation cannot be written: ${messageOf(error)}.`;
    const hint = `Look at the disk and at the permissions of ${root.state}/logs.`;
    throw new OverseerError("environment", "REMEDY_LOG_UNWRITABLE", message, hint, { cause: error });
  }
}

interface Prepared {
  readonly runtime: Runtime;
  readonly prompt: string;
  readonly settings: RemedySettings;
  readonly request: Omit<LaunchRequest, "session" | "directory" | "systemPromptFile">;
  readonly policy: Omit<RemedyPolicy, "heard">;
}

interface Making {
  readonly directory: string;
  readonly timestamp: string;
  readonly mark: string;
  readonly transcript: RemedyTranscript;
}

/** Everything up to the first start; `problem` when no agent can be started at all. */
async function prepare(
  { root, env }: RemedyRequest,
  context: RemedyContext,
  { timestamp, mark, transcript }: Making,
): Promise<Prepared | { readonly problem: string }> {
  const [clock, exec, files] = [systemClock(), systemExec(), systemFiles()];
  await clearKilled(root, { clock, processes: systemProcesses(), transcript });
  const git = { git: gitRunner({ exec, clock, env }) };
  const settings = await findRemedySettings({ root, env, files, git, clock });
  const { config } = settings;
  const look = await lookAtGit({ exec, env }, root);
  const prompt = await composePrompt(root, context, settings, look, timestamp);
  transcript.write("prompt", prompt, clock.now());
  const named = config.runtimes[config.runtime] ?? NO_SETTINGS;
  const found = runtimeNamed(config.runtime, { state: root.state, env, exec, settings: named });
  const runtime = tieAgents(found, await findTie(exec));
  const problem = findUnfit(runtime);
  if (problem !== undefined) return { problem };
  const agentEnv = environmentOf(root, env, config.agents.passEnv, mark);
  const mode = await chooseMode(runtime, root, agentEnv);
  if ("problem" in mode) return mode;
  const { model } = config.runtimes[config.runtime] ?? {};
  return {
    ...{ runtime, prompt, settings },
    request: {
      worktree: root.project,
      resume: false,
      model: model ?? config.defaults.model,
      permissionMode: mode.mode,
      ...toolsOf(runtime),
      env: agentEnv,
    },
    policy: composePolicy(root, settings, look),
  };
}

/**
 * Nobody is there whom a CLI could ask, and the permit judges every call: so the CLI is to ask nothing itself. One that
 * refuses that (Claude Code does, to root) asks, which is to say refuses, what is not allowed by name; it then keeps even lock
 * files of git for itself.
 */
const MODES = ["bypassPermissions", "default"] as const;

async function chooseMode(
  runtime: Runtime,
  { project }: Root,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly mode: string } | { readonly problem: string }> {
  let problem = `the runtime ${runtime.name} has no mode in which it can work without a person.`;
  for (const mode of MODES) {
    if (!runtime.capabilities.tools.permissionModes.includes(mode)) continue;
    const readiness = await runtime.probe({ permissionMode: mode, interactive: false, project, env });
    if (readiness.ready) return { mode };
    problem = `${readiness.reason} ${readiness.hint}`;
  }
  return { problem };
}

function toolsOf({ hooks, capabilities }: Runtime): Pick<LaunchRequest, "allowTools" | "denyTools"> {
  const { read, search, edit, shell, web, subagent, "ask-user": ask } = capabilities.tools.names;
  const { wait = [], report = [] } = hooks?.dialect.tools.also ?? {};
  return {
    allowTools: [...read, ...search, ...edit, ...shell],
    denyTools: [...web, ...subagent, ...ask, ...wait, ...report],
  };
}

function findUnfit({ name, capabilities, hooks }: Runtime): string | undefined {
  if (!capabilities.driven) return `the runtime ${name} cannot be driven, so its end would not be seen.`;
  // What an agent without a permit does in the user's own checkout, nobody could hold back.
  return hooks ? undefined : `the runtime ${name} has no hooks, so what it writes could not be limited.`;
}

/** What agents inherit, and nothing of an attempt: it is nobody's. */
function environmentOf(
  root: Root,
  env: Readonly<Record<string, string>>,
  passEnv: readonly string[],
  mark: string,
): Record<string, string> {
  const program = placeOfProgram(ownCommand("runner"));
  return {
    ...filterEnvironment(env, passEnv),
    PATH: env.PATH ? `${program}:${env.PATH}` : program,
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    OVERSEER_ROOT: root.project,
    [REMEDY_MARK]: mark,
  };
}

async function tryOnce(
  parts: TryParts,
  { runtime, prompt, request, policy }: Prepared,
  { directory: all, tries, mark }: { readonly directory: string; readonly tries: number; readonly mark: string },
): Promise<TryEnd> {
  const files = systemFiles();
  const directory = `${all}/${tries}`;
  const heard = `${directory}/${HEARD}`;
  const systemPromptFile = `${directory}/system-prompt.md`;
  const session = crypto.randomUUID();
  const launchRequest: LaunchRequest = { ...request, directory, systemPromptFile, session };
  await files.makeDir(heard, { mode: 0o700 });
  const written = [
    { path: systemPromptFile, text: SYSTEM_PROMPT, mode: 0o600 },
    { path: policyPath(directory), text: `${JSON.stringify({ ...policy, heard })}\n`, mode: 0o600 },
    ...runtime.prepare({ ...launchRequest, hooks: wiringOf(directory, policy) }),
  ];
  for (const { path, text, mode } of written) await files.write(path, text, { mode });
  parts.transcript.write(
    `try ${tries}`,
    `session ${session}, runtime ${runtime.name}, ${request.permissionMode}`,
    parts.clock.now(),
  );
  const end = await runTry(parts, { launch: runtime.launch(launchRequest), directory, prompt, mark });
  if (end.kind !== "finished")
    parts.transcript.write(`try ${tries} ended`, `${end.kind}: ${end.why}`, parts.clock.now());
  return end;
}

const SYSTEM_PROMPT =
  "You repair an installation of Overseer on this machine, by yourself and without a person beside you. Overseer judges every call before it is made; a call that it refuses is not to be tried again in other words.\n";

function policyPath(directory: string): string {
  return `${directory}/policy.json`;
}

function wiringOf(directory: string, { state }: Pick<RemedyPolicy, "state">): HookWiring {
  return {
    // It records nothing where there is no attempt.
    hookCommand: shellCommand(ownCommand("hook")),
    permitCommand: shellCommand([...ownCommand("permit"), policyPath(directory)]),
    userHooks: [],
    // Part by part: in a bare repository the settings lie beside them.
    deniedPaths: ["run/**", "logs/**", "backups/**", "overseer.db*"].map((part) => `${state}/${part}`),
    wakePipe: null,
    steered: false,
    judgesEveryTool: true,
  };
}

/** What remediations that were killed have left: their files, and tools that outlived their CLI. */
async function clearKilled(root: Root, parts: Parameters<typeof endProcesses>[0]): Promise<void> {
  const directory = `${root.state}/run/remedy`;
  for (const name of listNames(directory)) {
    const pid = Number(name.slice(name.lastIndexOf("-") + 1));
    if (parts.processes.identify(pid) !== undefined) continue;
    await endProcesses(parts, [], markOf(root, pid));
    rmSync(`${directory}/${name}`, { recursive: true, force: true });
  }
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}
