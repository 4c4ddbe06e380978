/**
 * What a turn changed: commits on the agent's branch, and the user's own checkout, which no agent should touch. Looking
 * may fail (a bare repository has no checkout, a worktree may be gone, git may be busy); the agent's work continues.
 */
import { reachesOut } from "#domain/reports/checkout-change.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { messageOf } from "#errors.ts";
import type { AttemptRecord } from "./attempt-record.ts";
import { CommitWatch } from "./commit-watch.ts";
import type { LaunchFile } from "./launch-file.ts";
import type { Recorder } from "./recorder.ts";
import type { RunnerParts } from "./runner-parts.ts";

export class TurnWatch {
  private readonly commits: CommitWatch;
  /** A turn has ended and the user's checkout was not compared yet. */
  private over = false;
  /** The first command of this turn that can lead out of its worktree. */
  private reached: string | undefined;

  constructor(
    private readonly parts: Pick<RunnerParts, "tools" | "checkout" | "clock" | "ids">,
    private readonly record: AttemptRecord,
    private readonly recorder: Recorder,
    private readonly launch: LaunchFile,
  ) {
    this.commits = new CommitWatch(parts.tools, launch.root.gitCommonDir, launch.worktree);
  }

  async legBegins(): Promise<void> {
    await this.tryTo("its commits could not be looked at", () => this.commits.begin());
  }

  async turnBegins(): Promise<void> {
    await this.tryTo(CHECKOUT_FAILED, () => this.parts.checkout.turnBegins());
  }

  turnEnded(): void {
    this.over = true;
  }

  /** A turn has ended and nobody has looked at what it changed. */
  get isOver(): boolean {
    return this.over;
  }

  noteReach(signal: Signal): void {
    this.reached ??= reachesOut(signal, { project: this.launch.root.project, worktree: this.launch.worktree });
  }

  /** Once for each turn. `followHooks`: where hooks tell which commands it ran, they are heard before anybody is asked. */
  async compare(followHooks: () => Promise<void>): Promise<void> {
    if (!this.over) return;
    this.over = false;
    await this.tryTo("its commits could not be looked at", () => this.noteCommits());
    await followHooks();
    await this.tryTo(CHECKOUT_FAILED, () => this.noteCheckout());
    this.reached = undefined;
  }

  private async noteCommits(): Promise<void> {
    const data = await this.commits.turnEnded();
    if (!data) return;
    this.recorder.take({ kind: "committed", source: data.to, phase: "committed", at: this.parts.clock.now(), data });
  }

  private async noteCheckout(): Promise<void> {
    const changed = await this.parts.checkout.turnEnded();
    if (!changed) return;
    const whose = await this.record.checkoutChanged(changed, {
      command: this.reached,
      checkout: this.launch.root.project,
      questionId: this.parts.ids.next("q_"),
    });
    if (whose !== "ours") {
      this.recorder.note(`the main checkout changed during this turn (${changed.what.join(", ")})`);
    }
  }

  private async tryTo(failure: string, look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (error) {
      this.recorder.problem(`${failure}: ${messageOf(error)}`);
    }
  }
}

const CHECKOUT_FAILED = "the main checkout could not be compared";
