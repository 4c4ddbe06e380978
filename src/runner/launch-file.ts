/**
 * Everything a runner needs to know, written by the sling before it is started, so that nothing has to fit into an
 * argument list and nothing secret shows up in one. It lies in the attempt's own directory, for this user only.
 */

import type { Usage } from "#domain/model/attempt.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import type { ReflexFile } from "#domain/signals/reflex-file.ts";
import { REFLEX_FILE } from "#domain/signals/reflex-file.ts";
import type { WipLimits } from "#git/wip.ts";
import type { HookWiring } from "#runtimes/hook-dialect.ts";
import type { RuntimeSettings } from "#runtimes/list.ts";
import type { Caps } from "#store/seal.ts";
import type { SignalCaps } from "#store/signal-log.ts";
import { hashOfToken } from "#sys/attempt-token.ts";
import type { Root } from "#sys/root.ts";

export interface LaunchFile {
  readonly attempt: number;
  readonly agent: string;
  readonly goalId: string;
  readonly nodeId: string;
  readonly assignmentId: string;
  readonly root: Root;
  readonly database: string;
  /** The attempt's directory: this file, the system prompt, settings. */
  readonly directory: string;
  readonly worktree: string;
  readonly logDir: string;
  /** Where senders poke the runner. */
  readonly socket: string;
  /** Where it answers its agent; an older version that wrote this file knew no such. */
  readonly attemptSocket?: string;
  /** What its hooks are set up from, and what its CLI said of itself; not in the files of an older version. */
  readonly hooks?: HookWiring;
  readonly cliVersion?: string;
  readonly runtime: string;
  readonly runtimeSettings: RuntimeSettings;
  readonly session: string;
  /** The session is an earlier attempt's, to be continued. */
  readonly resume: boolean;
  /** What earlier attempts took in that session. */
  readonly spentBefore: Usage;
  readonly model: string | null;
  readonly permissionMode: string;
  readonly allowTools: readonly string[];
  readonly denyTools: readonly string[];
  readonly systemPromptFile: string;
  /** Our server of tools for it. */
  readonly toolServer?: readonly string[];
  /** The agent's environment, complete. */
  readonly env: Readonly<Record<string, string>>;
  /** Show what happens on standard output and take typed lines. */
  readonly view: boolean;
  readonly turnDeadlineMs: number;
  readonly idleEndMs: number;
  readonly stopGraceMs: number;
  /** Most bytes of messages put before the agent at once. */
  readonly injectionCap: number;
  readonly wipEveryMs: number;
  readonly wipLimits: WipLimits;
  /** What the runner writes is bounded as what everybody writes. */
  readonly caps: Caps;
  readonly signalCaps: SignalCaps;
}

/** The orders of one runner: its launch file and the rules beside it, which the hooks go by too. */
export interface Orders {
  readonly launch: LaunchFile;
  readonly policy: PermitPolicy;
  /** Of both as they were read: the log says what was written. */
  readonly launchHash: string;
}

export async function readOrders(path: string): Promise<Orders> {
  const text = await Bun.file(path).text();
  const launch = JSON.parse(text) as LaunchFile;
  const rules = await Bun.file(`${launch.directory}/policy.json`).text();
  return { launch, policy: JSON.parse(rules) as PermitPolicy, launchHash: hashOfToken(text + rules) };
}

/** What the reflex goes by; null for an agent without a role. */
export async function readReflex(launch: LaunchFile): Promise<ReflexFile | null> {
  const file = Bun.file(`${launch.directory}/${REFLEX_FILE}`);
  return (await file.exists()) ? ((await file.json()) as ReflexFile) : null;
}
