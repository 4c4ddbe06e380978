/**
 * A report that an agent made while its runner did not answer: a file in the attempt's spool, signed with the attempt's
 * secret, because anybody can write a file. This knows its name and shape; the agent's command writes it (keepReport), and
 * whoever has the attempt folds it in (fold-kept.ts).
 */
import { spoolDir, spoolName } from "#runtimes/hook-spool.ts";
import { isSignedWith, signWith } from "#sys/attempt-token.ts";
import { redactDeep } from "#telemetry/redact.ts";

export interface KeptReport {
  readonly v: 1;
  readonly attempt: number;
  readonly id: string;
  readonly at: number;
  /** The fields of an update, as they were given; checked when they are taken. */
  readonly fields: unknown;
}

/** More than any report has; a bigger file is not ours. */
export const MOST_KEPT_BYTES = 1024 * 1024;

const NAME = /^\d{15}-[\w-]+\.report$/;

export function isKeptName(name: string): boolean {
  return NAME.test(name);
}

export function nameOfKept({ at, id }: Pick<KeptReport, "at" | "id">): string {
  return spoolName(at, id).replace(/json$/, "report");
}

export function renderKept(report: KeptReport, token: string): string {
  const said = JSON.stringify(report);
  return `${JSON.stringify({ said, signature: signWith(token, said) })}\n`;
}

/** What the file of that name holds; undefined when the attempt did not write it, or not this, or not under this name. */
export function readKeptReport(name: string, text: string, attempt: number, token: string): KeptReport | undefined {
  try {
    const { said, signature } = JSON.parse(text) as { said?: unknown; signature?: unknown };
    if (typeof said !== "string" || typeof signature !== "string" || !isSignedWith(token, said, signature)) return;
    const report = JSON.parse(said) as KeptReport;
    return report.v === 1 && report.attempt === attempt && nameOfKept(report) === name ? report : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Throws when it cannot be written, e.g. on a full disk. Written beside and renamed: nobody reads half of one. */
export function keepReport(state: string, token: string, report: Omit<KeptReport, "v">): void {
  const fs: typeof import("node:fs") = require("node:fs");
  const directory = spoolDir(state, report.attempt);
  // Below a run directory that is there: of a repository that was moved away, nothing is made again at the old place.
  fs.statSync(`${state}/run`);
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = `${directory}/${nameOfKept(report)}`;
  const kept: KeptReport = { v: 1, ...report, fields: redactDeep(report.fields) };
  fs.writeFileSync(`${path}.new`, renderKept(kept, token), { mode: 0o600 });
  fs.renameSync(`${path}.new`, path);
}
