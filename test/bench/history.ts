/**
 * The runs that are kept, one line each in bench/history.ndjson, those that fall short included; and which of them the
 * page in docs/ tells of. Of the machine only cores, memory and load are written down.
 */
import { z } from "zod";
import type { Result } from "./verdict.ts";

export interface Run {
  readonly run: 1;
  readonly at: string;
  readonly product: string;
  readonly bun: string;
  readonly cores: number;
  /** Null in runs from before it was written down. */
  readonly memoryGb: number | null;
  readonly loadBefore: number;
  readonly loadAfter: number;
  /** Why it should not be trusted, or null. */
  readonly disturbed: string | null;
  readonly quick: boolean;
  /** Every row there is, and not a choice of them. */
  readonly complete: boolean;
  readonly rows: readonly Result[];
}

const aim = z.strictObject({
  unit: z.enum(["×", "ms", "%", "/tick", "/s", "MB"]),
  most: z.number().exactOptional(),
  least: z.number().exactOptional(),
});

const result = z.strictObject({
  name: z.string(),
  aim,
  verdict: z.enum(["holds", "short", "informs", "absent", "failed"]),
  value: z.number().nullable(),
  workMs: z.number().exactOptional(),
  floorMs: z.number().exactOptional(),
  turns: z.number().exactOptional(),
  note: z.string().exactOptional(),
});

const run = z.strictObject({
  run: z.literal(1),
  at: z.string(),
  product: z.string(),
  bun: z.string(),
  cores: z.number(),
  memoryGb: z.number().nullable(),
  loadBefore: z.number(),
  loadAfter: z.number(),
  disturbed: z.string().nullable(),
  quick: z.boolean(),
  complete: z.boolean(),
  rows: z.array(result),
});

/** Throws with the line's number where one is not a run. */
export function runsIn(history: string): Run[] {
  const lines = history.split("\n").filter((line) => line !== "");
  return lines.map((line, index) => {
    const read = run.safeParse(JSON.parse(line));
    if (!read.success) throw new Error(`Line ${index + 1} of the history: ${z.prettifyError(read.error)}`);
    return read.data;
  });
}

/** The last whole run that nothing disturbed, or else the last whole one. */
export function runForThePage(runs: readonly Run[]): Run | null {
  const whole = runs.filter((one) => one.complete && !one.quick);
  return whole.findLast((one) => one.disturbed === null) ?? whole.at(-1) ?? null;
}
