/**
 * How the export of traces and metrics stands: the file that the exporter leaves for its next life, for `doctor` and for
 * the daemon, and what they make of it.
 */
import { isoTime } from "#domain/core/iso-time.ts";
import type { Finding } from "./checkup.ts";

export interface ExportStanding {
  readonly pid: number;
  readonly start: string;
  /** Where it sends to, without secrets. */
  readonly endpoint: string;
  /** Spans that were taken, and spans that were given up, by all its lives since it was switched on. */
  readonly sent: number;
  readonly dropped: number;
  /** Since when nothing gets through, how often it was tried in vain, and why; null while it does. */
  readonly failing: { readonly since: number; readonly times: number; readonly problem: string } | null;
  /** Since when it is refused for good, and why the last time; null once something was taken. */
  readonly refused: { readonly since: number; readonly problem: string } | null;
}

/** Undefined for what is not one, such as a file that was cut off. */
export function parseExportStanding(text: string | undefined): ExportStanding | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "null");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { pid, start, endpoint, sent, dropped, failing = null, refused = null } = value as Partial<ExportStanding>;
  if (typeof pid !== "number" || typeof start !== "string" || typeof endpoint !== "string") return undefined;
  if (typeof sent !== "number" || typeof dropped !== "number") return undefined;
  return { pid, start, endpoint, sent, dropped, failing, refused };
}

/** Why nothing gets through; null while it does. */
export function tellExportFailure({ endpoint, dropped, failing, refused }: ExportStanding): string | null {
  const given = dropped === 0 ? "" : `; ${tellDropped(dropped)}`;
  if (failing === null) {
    return refused && `traces are refused by ${endpoint} since ${isoTime(refused.since)}: ${refused.problem}${given}`;
  }
  return `traces do not reach ${endpoint} since ${isoTime(failing.since)}: ${failing.problem}${given}`;
}

/** Why it ended, by the last line that it said. */
export function tellExporterEnd(code: number, output: string): string {
  return `the process that sends traces ended with ${code}: ${lastLineOf(output) || "it did not say why"}`;
}

function lastLineOf(output: string): string {
  const line = output.trim().split("\n").at(-1) ?? "";
  return line
    .replace(/^exporter: /, "")
    .replace(/\.$/, "")
    .slice(0, 300);
}

export function judgeExport(facts: {
  readonly daemonRuns: boolean;
  readonly standing: ExportStanding | undefined;
  readonly lives: boolean;
  /** What it said at its end; empty for nothing. */
  readonly said: string;
}): Finding {
  const { daemonRuns, standing, lives, said } = facts;
  const check = "telemetry";
  if (!daemonRuns) return { check, ok: true, detail: "sent while the daemon runs, which it does not" };
  if (standing === undefined || !lives) {
    const next = "Look into logs/exporter.out in the state directory; it is started again by itself.";
    const why = lastLineOf(said);
    const detail = `the process that sends traces does not run${why === "" ? "" : `: ${why}`}`;
    return { check, ok: false, detail, next };
  }
  const failure = tellExportFailure(standing);
  if (failure !== null) {
    const next =
      "See that an OTLP/HTTP receiver answers there (telemetry.otel.endpoint); agents are not held up by it.";
    return { check, ok: false, detail: failure, next };
  }
  const dropped = standing.dropped === 0 ? "" : `, ${tellDropped(standing.dropped)}`;
  return { check, ok: true, detail: `${standing.sent} spans sent to ${standing.endpoint}${dropped}` };
}

function tellDropped(count: number): string {
  return `${count} ${count === 1 ? "span was" : "spans were"} given up`;
}
