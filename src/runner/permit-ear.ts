/**
 * Has the permit let a call pass that has run? Where the runner answers it, it is heard here; where it is a program of
 * its own it leaves a mark for each (hook/permit.ts), and every mark is taken away here once it was looked for. Looked at
 * in the very moment the call ends, so it is done without waiting.
 */
import { existsSync, unlinkSync } from "node:fs";
import { isCallName } from "#act/hooks/answer-permit.ts";
import { HEARD } from "#domain/permit/hook-moments.ts";
import { type CallEnd, hasRun } from "#domain/reports/unpermitted.ts";
import { systemCode } from "#errors.ts";

const MOST_PASSED = 100_000;

export class PermitEar {
  private readonly directory: string;
  private readonly listens: boolean;
  /** A call may be told twice, and its mark is gone then. */
  private readonly known = new Set<string>();
  /** Calls that were let pass and have not ended yet. */
  private readonly passed = new Set<string>();

  constructor(attemptDirectory: string) {
    this.directory = `${attemptDirectory}/${HEARD}`;
    this.listens = existsSync(this.directory);
  }

  /** The permit has let this call pass. */
  hear(call: string): void {
    // Only calls that never end stay, and an agent that makes so many has other troubles.
    if (this.passed.size >= MOST_PASSED) this.passed.clear();
    this.passed.add(call);
  }

  /** True for a call that was made and that the permit knows nothing of. */
  wasMissed(id: string, call: CallEnd): boolean {
    if (!this.listens || !hasRun(call) || !isCallName(id) || this.known.has(id)) return false;
    this.known.add(id);
    if (this.passed.delete(id)) return false;
    try {
      unlinkSync(`${this.directory}/${id}`);
      return false;
    } catch (error) {
      // Where the whole directory is gone, somebody has cleared the attempt away: that says nothing about the permit.
      if (systemCode(error) === "ENOENT") return existsSync(this.directory);
      throw error;
    }
  }
}
