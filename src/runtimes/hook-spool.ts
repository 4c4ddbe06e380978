/**
 * What a hook leaves behind when the database is busy or gone: one small file per call, named so that their order is
 * the order of time. Whoever is beside the agent folds them in later. This file knows names and shape; the hook writes
 * them (act/hooks/spool.ts), the runner reads them (act/attempt-end/fold-spool.ts).
 */
import { HOOK_MOMENTS, type HookMoment } from "#domain/permit/hook-moments.ts";
import type { HookPayload } from "./hook-dialect.ts";

export interface SpooledHook {
  readonly v: 1;
  readonly event: HookMoment;
  /** In which the payload speaks; Claude Code's where it is not said. */
  readonly dialect?: string;
  readonly id: string;
  readonly at: number;
  /** Redacted and bounded before it was written. */
  readonly payload: HookPayload;
}

export function spoolDir(state: string, attempt: number): string {
  return `${state}/run/spool/${attempt}`;
}

/** Sorts by time; `id` keeps calls of the same millisecond apart. */
export function spoolName(at: number, id: string): string {
  return `${String(at).padStart(15, "0")}-${id}.json`;
}

/** A finished file, as against one that is still being written. */
export function isSpoolName(name: string): boolean {
  return /^\d{15}-[\w.-]+\.json$/.test(name);
}

/** What a file holds; undefined when that is not ours to understand. */
export function readSpooled(text: string): SpooledHook | undefined {
  try {
    const value = JSON.parse(text) as Partial<SpooledHook> | null;
    const known = value !== null && value.v === 1 && HOOK_MOMENTS.some((event) => event === value.event);
    const whole = typeof value?.id === "string" && typeof value.at === "number" && typeof value.payload === "object";
    return known && whole && value.payload !== null ? (value as SpooledHook) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
