/**
 * The lane of questions: sends what is due to people beside the tick, one sending at a time, and comes back by itself
 * when something is due again. A channel that hangs holds up nobody but itself.
 */
import { messageOf } from "#errors.ts";
import { notifyDue } from "./questions.ts";
import type { World } from "./world.ts";

const SOONEST_MS = 250;
const LATEST_MS = 60_000;
const AFTER_TROUBLE_MS = 5_000;

export class NoticeLane {
  private running: Promise<void> | null = null;
  private again = false;
  private timer: Timer | undefined;
  private closed = false;
  private problem: string | null = null;
  /** The newest that was handed in: a changed configuration brings another. */
  private world: World | undefined;

  kick(world: World): void {
    if (this.closed) return;
    this.world = world;
    this.again = true;
    this.running ??= this.run().finally(() => {
      this.running = null;
    });
  }

  async idle(): Promise<void> {
    await this.running;
  }

  /** Lets what is under way end, and takes up nothing more. */
  async rest(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.running;
  }

  takeProblem(): string | null {
    const { problem } = this;
    this.problem = null;
    return problem;
  }

  private async run(): Promise<void> {
    clearTimeout(this.timer);
    for (let { world } = this; world && this.again && !this.closed; { world } = this) {
      this.again = false;
      try {
        const { nextAt } = await notifyDue(world);
        if (nextAt !== null) this.wakeAt(world, nextAt);
      } catch (error) {
        this.problem = messageOf(error);
        this.wakeAt(world, world.clock.now() + AFTER_TROUBLE_MS);
      }
    }
  }

  private wakeAt(world: World, due: number): void {
    if (this.closed) return;
    const ms = Math.min(Math.max(due - world.clock.now(), SOONEST_MS), LATEST_MS);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.kick(this.world ?? world), ms);
    this.timer.unref();
  }
}
