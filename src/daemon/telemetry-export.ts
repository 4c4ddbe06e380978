/**
 * Keeps the exporter of traces running while `telemetry.otel.enabled` is on, and only then. The daemon itself loads nothing of
 * it: it starts a process, starts it again when it has died, and repeats for `status` what that says of itself.
 */
import { type ExporterProcess, startExporter } from "#act/start-exporter.ts";
import type { Config } from "#config/schema.ts";
import type { World } from "#control/world.ts";
import type { LoopTrouble } from "#domain/health/daemon-life.ts";
import { parseExportStanding, tellExportFailure } from "#domain/health/export-standing.ts";
import { nameOf } from "#sys/paths.ts";
import { readNow } from "#sys/read-now.ts";
import { runFiles } from "#sys/run-files.ts";
import type { DaemonLog } from "./log.ts";

export class TelemetryExport {
  private running: { readonly process: ExporterProcess; readonly order: string } | null = null;
  private trouble: LoopTrouble | null = null;

  constructor(private readonly options: { readonly log: DaemonLog; onEnd(): void }) {}

  /** What it is told; null while nothing is to be sent. */
  static orderFor({ telemetry, project }: Pick<Config, "telemetry" | "project">, path: string): string | null {
    const { enabled, endpoint } = telemetry.otel;
    return enabled ? JSON.stringify({ endpoint, project: project.name ?? nameOf(path) }) : null;
  }

  /** Throws when it has died: it is started again once the loop has rested. */
  follow({ root, env }: Pick<World, "root" | "env">, { telemetry, project }: Config): void {
    const order = TelemetryExport.orderFor({ telemetry, project }, root.project);
    const code = this.running?.process.exitCode() ?? null;
    const wasWanted = this.running?.order === order;
    if (code !== null) {
      this.running = null;
      if (wasWanted)
        throw new Error(`the exporter of traces ended with ${code}; see ${runFiles(root.state).exporterOutput}`);
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
    const files = runFiles(root.state);
    if (this.running === null) {
      const { log, onEnd } = this.options;
      const process = startExporter({ project: root.project, env, order, output: files.exporterOutput, onEnd });
      this.running = { process, order };
      log.record("info", "exporter.started", { pid: process.pid });
    }
    this.noteChange(files.exporter);
  }

  /** What `status` says of it; nothing while it works. */
  troubles(): readonly LoopTrouble[] {
    return this.trouble === null ? [] : [this.trouble];
  }

  stop(): void {
    this.running?.process.end();
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
