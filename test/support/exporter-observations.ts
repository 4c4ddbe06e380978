/** What the exporter of traces makes of a configuration. */

import type { Config } from "#config/schema.ts";
import { TelemetryExport } from "#daemon/telemetry-export.ts";

/** Where the daemon tells it to send to. */
export function exportedTo({ telemetry, project }: Config): string | null {
  return TelemetryExport.orderFor({ telemetry: { otel: { ...telemetry.otel, enabled: true } }, project }, "/w/one");
}
