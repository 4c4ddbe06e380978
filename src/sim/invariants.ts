/** What must hold, whatever happens. */
import type { Config } from "#config/schema.ts";
import type { EventOf } from "#domain/event.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import type { VirtualAgent } from "./agents.ts";
import type { Machine } from "./machine.ts";

export interface Violation {
  readonly invariant: string;
  readonly detail: string;
  readonly step: number;
}

export class Invariants {
  readonly violations: Violation[] = [];
  taken: EventOf[] = [];
  events = 0;
  constructor(
    private readonly machine: Machine,
    readonly agents: ReadonlyMap<number, VirtualAgent>,
    readonly config: Config,
  ) {}
  born(_attempt: number, _process: ProcessIdentity): void {}
  async look(_step: number): Promise<void> {
    this.taken = this.machine.fresh;
    this.machine.fresh = [];
    this.events += this.taken.length;
  }
  async lookAtEnd(step: number, isOver: boolean): Promise<void> {
    if (!isOver) this.violations.push({ invariant: "converges", detail: "not over", step });
  }
}
