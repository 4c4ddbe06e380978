/** The exporter's own file: how it stands (domain/health/export-standing.ts), where it is in the log, and what is open. */
import { type ExportStanding, parseExportStanding } from "#domain/health/export-standing.ts";
import { NOTHING_OPEN, type TraceState } from "#domain/trace/trace-state.ts";

/** Of which store, and up to where in its log and among its signals everything was sent or given up. */
export interface ExportCursor {
  readonly store: string;
  readonly seq: number;
  readonly place: number;
}

export interface ExportFile extends ExportStanding {
  readonly cursor: ExportCursor;
  readonly open: TraceState;
}

/** Undefined for what is not whole: then it begins again, with what happens from now on. */
export function parseExportFile(text: string | undefined): ExportFile | undefined {
  const standing = parseExportStanding(text);
  if (standing === undefined) return undefined;
  const { cursor, open } = JSON.parse(text ?? "null") as Partial<ExportFile>;
  if (typeof cursor?.store !== "string" || !Number.isSafeInteger(cursor.seq) || !Number.isSafeInteger(cursor.place)) {
    return undefined;
  }
  return { ...standing, cursor, open: { ...NOTHING_OPEN, ...open } };
}
