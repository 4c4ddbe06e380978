/**
 * `doctor` on processes beside the daemon: the runners of living agents, each asked at the socket where it answers its
 * agent, and the exporter of traces.
 */
import { attemptSocket } from "#act/attempt-files.ts";
import { isKeptName } from "#act/updates/kept-report.ts";
import { daemonStatus } from "#control/daemon-status.ts";
import type { World } from "#control/world.ts";
import type { Finding } from "#domain/health/checkup.ts";
import { judgeExport, parseExportStanding } from "#domain/health/export-standing.ts";
import { judgeRunners, type RunnerFacts } from "#domain/health/runners.ts";
import { type Attempt, attemptLabel } from "#domain/model/attempt.ts";
import { spoolDir } from "#runtimes/hook-spool.ts";
import { livingAttempts } from "#store/attempts.ts";
import { inspectStore } from "#store/open.ts";
import { isSocketAnswered } from "#sys/ask-socket.ts";
import { runFiles } from "#sys/run-files.ts";
import { redact } from "#telemetry/redact.ts";
import { settingsOf } from "./doctor-machine.ts";
import { databasePath } from "./store-rescue.ts";

/** Longer than a runner on a busy machine takes, shorter than an agent's command waits. */
const ANSWER_MS = 5_000;

/** One that has died is another finding, and one that an older version started has no such socket. */
export async function runnerFinding(world: World): Promise<Finding> {
  const ready = (await inspectStore(databasePath(world))).state === "ready";
  const { living } = ready ? await (await world.reader()).read({ living: livingAttempts() }) : { living: [] };
  const asked = living.map((attempt) => askRunner(world, attempt));
  return judgeRunners((await Promise.all(asked)).filter((one) => one !== undefined));
}

/** OTEL-1: whether what is to be sent gets through; nothing is said of it where nothing is to be sent. */
export async function exportFinding(world: World): Promise<Finding | readonly Finding[]> {
  const settings = await settingsOf(world);
  if (!settings?.config.telemetry.otel.enabled) return [];
  const standing = parseExportStanding(world.readNow(runFiles(world.root.state).exporter));
  return judgeExport({
    daemonRuns: (await daemonStatus(world, settings.config)).state !== "stopped",
    standing,
    lives: standing !== undefined && world.processes.alive(standing),
    said: redact(world.readNow(runFiles(world.root.state).exporterOutput) ?? ""),
  });
}

async function askRunner(world: World, attempt: Attempt): Promise<RunnerFacts | undefined> {
  const { runner, agent } = attempt;
  if (!runner || attempt.seals === undefined || !world.processes.alive(runner)) return undefined;
  const answers = await isSocketAnswered(await attemptSocket(world, attempt.attempt), ANSWER_MS);
  // It may have ended while it was asked.
  if (!answers && !world.processes.alive(runner)) return undefined;
  const spooled = (await world.files.list(spoolDir(world.root.state, attempt.attempt))) ?? [];
  return { agent, label: attemptLabel(attempt), pid: runner.pid, answers, kept: spooled.filter(isKeptName).length };
}
