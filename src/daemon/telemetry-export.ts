/**
 * Keeps the exporter of traces running while `telemetry.otel.enabled` is on, and only then. The daemon itself loads nothing of
 * it: it starts a process, starts it again when it has died, and repeats for `status` what that says of itself.
 */
import type { ExporterProcess, ExporterStart } from "#act/start-exporter.ts";
import type { Config } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import { backoffMs } from "#domain/core/backoff.ts";
import type { LoopTrouble } from "#domain/health/daemon-life.ts";
import { parseExportStanding, tellExporterEnd, tellExportFailure } from "#domain/health/export-standing.ts";
import { nameOf } from "#sys/paths.ts";
import { readNow } from "#sys/read-now.ts";
import { readLast } from "#sys/read-tail.ts";
import { runFiles } from "#sys/run-files.ts";
import type { DaemonLog } from "./log.ts";

/** One that dies sooner dies at once: it is started again ever more seldom. */
const SETTLED_MS = 60_000;
const LAST_WORDS_BYTES = 2_000;
const BACKOFF = { baseMs: 1_000, maxMs: 60_000 };

export interface TelemetryExportOptions {
  readonly log: Pick<DaemonLog, "record">;
  start(options: ExporterStart): ExporterProcess;
  onEnd(): void;
}

export class TelemetryExport {
  private running: { readonly process: ExporterProcess; readonly order: string; readonly since: number } | null = null;
  private trouble: LoopTrouble | null = null;
  /** The last of those that died soon, how many there were in a row, and when the next may begin. */
  private death: { readonly order: string; readonly times: number; readonly until: number } | null = null;

  constructor(private readonly options: TelemetryExportOptions) {}

  /** What it is told; null while nothing is to be sent. */
  static orderFor({ telemetry, project }: Pick<Config, "telemetry" | "project">, path: string): string | null {
    const { enabled, endpoint } = telemetry.otel;
    return enabled ? JSON.stringify({ endpoint, project: project.name ?? nameOf(path) }) : null;
  }

  /** One that has died is told of, and started again after a rest. */
  follow(
    { root, env, clock }: Pick<World, "root" | "env" | "clock">,
    { telemetry, project }: Pick<Config, "telemetry" | "project">,
  ): void {
    const order = TelemetryExport.orderFor({ telemetry, project }, root.project);
    const now = clock.monotonic();
    const files = runFiles(root.state);
    const code = this.running?.process.exitCode() ?? null;
    const wasWanted = this.running?.order === order;
    if (code !== null) {
      if (wasWanted) this.noteDeath(tellExporterEnd(code, readLast(files.exporterOutput, LAST_WORDS_BYTES)), now);
      this.running = null;
    }
    // Under other settings it ends, and the next turn finds it gone.
    if (this.running && !wasWanted) {
      this.running.process.end();
      return;
    }
    if (order === null) {
      this.trouble = null;
      return;
    }
    // Under other settings it may live.
    if (this.death?.order !== order) this.death = null;
    if (this.running === null) {
      if (this.death !== null && now < this.death.until) return;
      const { log, start, onEnd } = this.options;
      const process = start({ project: root.project, env, order, output: files.exporterOutput, onEnd });
      this.running = { process, order, since: now };
      log.record("info", "exporter.started", { pid: process.pid });
    }
    if (now - this.running.since >= SETTLED_MS) this.death = null;
    // One that dies again and again says nothing of interest while it lives.
    if ((this.death?.times ?? 0) <= 1) this.noteChange(files.exporter);
  }

  /** What `status` says of it; nothing while it works. */
  troubles(): readonly LoopTrouble[] {
    return this.trouble === null ? [] : [this.trouble];
  }

  stop(): void {
    this.running?.process.end();
  }

  private noteDeath(problem: string, now: number): void {
    const { order, since } = this.running ?? { order: "", since: now };
    const times = now - since < SETTLED_MS ? (this.death?.times ?? 0) + 1 : 1;
    this.death = { order, times, until: now + backoffMs(times, BACKOFF) };
    this.trouble = { loop: "telemetry", failures: times, problem };
    this.options.log.record("error", "exporter.ended", { problem, times });
  }

  private noteChange(path: string): void {
    const { log } = this.options;
    const standing = parseExportStanding(readNow(path));
    const own = standing?.pid === this.running?.process.pid ? standing : undefined;
    const problem = own ? tellExportFailure(own) : null;
    if (problem !== null && this.trouble === null) log.record("warn", "exporter.fails", { problem });
    if (problem === null && this.trouble !== null) log.record("info", "exporter.works");
    this.trouble = problem === null ? null : { loop: "telemetry", failures: own?.failing?.times ?? 1, problem };
  }
}
