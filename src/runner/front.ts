/**
 * What the runner shows its agent: the attempt's socket with its routes, and the settings that lead the agent's CLI there.
 * Opened before the CLI is started, closed with the runner.
 */
import { tryRecordFenced } from "#act/hooks/fenced.ts";
import type { PermitPolicy } from "#domain/permit/permit.ts";
import { hashOfToken, makeToken } from "#sys/attempt-token.ts";
import { makeRest } from "#sys/release-code.ts";
import { runnerDesk } from "./hooks/desk.ts";
import { hookRoutes } from "./hooks/routes.ts";
import { asksByHttp, writeHttpSettings } from "./hooks/settings.ts";
import type { LaunchFile } from "./launch-file.ts";
import type { RunnerParts } from "./runner-parts.ts";
import type { AttemptRoutes, Unanswered } from "./socket/routes.ts";
import { openAttemptSocket } from "./socket/server.ts";

/** Longer than a model thinks between two calls: giving memory back costs more than a call does. */
const QUIET_MS = 30_000;

export interface Front {
  /** The settings for the agent's CLI; undefined where those of the sling are to be used. */
  readonly settingsFile: string | undefined;
  close(): Promise<void>;
}

export interface FrontOptions {
  readonly more: AttemptRoutes;
  /** The agent's CLI ends with this process; see tie.ts. */
  readonly isTied: boolean;
  /** See HookDesk. */
  catchUp(): Promise<void>;
}

/** Nothing is opened for an attempt that an older version prepared: its agent was told of no socket. */
export async function openFront(
  launch: LaunchFile,
  policy: PermitPolicy,
  parts: RunnerParts,
  { more, isTied, catchUp }: FrontOptions,
): Promise<Front> {
  const { attempt, attemptSocket: path } = launch;
  const { logs, clock, runtime, tools, permit: ear } = parts;
  if (path === undefined) return { settingsFile: undefined, close: async () => {} };
  const problem = (text: string) => logs.error(text, clock.now());
  const desk = runnerDesk(launch, policy, catchUp);
  const token = makeToken();
  const routes: AttemptRoutes = {
    ...more,
    ...(runtime.hooks
      ? hookRoutes({
          ...{ dialect: runtime.hooks.dialect, desk, ear, secretHash: hashOfToken(token), problem },
          rest: makeRest(QUIET_MS),
        })
      : {}),
  };
  const loopback = isTied && asksByHttp(launch, runtime);
  const noteRefused = strangers(desk.state, attempt);
  const socket = openAttemptSocket({ attempt, path, routes, loopback, problem, noteRefused });
  const settingsFile = loopback ? await writeHttpSettings(tools.files, launch, runtime, socket, token) : undefined;
  return {
    settingsFile,
    async close() {
      await socket.stop();
      desk.close();
      if (settingsFile !== undefined) await tools.files.remove(settingsFile);
    },
  };
}

/** FENCE-1: that hooks were asked by somebody who is not the agent is written down once, however often it happens. */
function strangers(state: string, attempt: number): (route: string, why: Unanswered) => void {
  let told = false;
  return (route, why) => {
    const stranger = why === "not-the-agent" || why === "other-attempt";
    if (told || !stranger || (route !== "hook" && route !== "permit")) return;
    told = true;
    void tryRecordFenced(state, attempt, `/${route} at its socket without its secret`, "not-the-agent");
  };
}
