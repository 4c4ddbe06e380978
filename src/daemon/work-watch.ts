/**
 * What the heartbeat says of the work: whether there is any that should move by itself, and when something last did. So
 * that whoever sees only this file can tell a fleet that is stuck from one that waits. It remembers, and judges nothing.
 */
import type { WorkPulse } from "#domain/health/daemon-life.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { TickResult } from "#engine/tick-contract.ts";

/** Events by which work has moved; what Overseer says about itself is none. */
const MOVES: ReadonlySet<string> = new Set([
  "work",
  "landing",
  "merge",
  "agent",
  "update",
  "check",
  "pool",
  "crystallization",
]);

export class WorkWatch {
  private open = false;
  private progressAt: number | null = null;

  noteTick({ open, summary }: TickResult, now: number): void {
    this.open = open === true;
    this.progressAt ??= now;
    // With nothing to do, or with agents that get on, nothing stands still.
    if (!this.open || (summary?.moving ?? 0) > 0) this.progressAt = now;
  }

  noteEvents(page: readonly EventOf[], now: number): void {
    const hasMoved = page.some(
      ({ type }) => MOVES.has(type.slice(0, type.indexOf("."))) || type === "assignment.progressed",
    );
    if (hasMoved) this.progressAt = now;
  }

  state(): WorkPulse | null {
    return this.progressAt === null ? null : { open: this.open, progressAt: this.progressAt };
  }
}
