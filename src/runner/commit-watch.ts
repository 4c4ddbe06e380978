/**
 * Which commits has the agent made since its last turn ended (HOOK-2)? Asked of its branch and not of its commands,
 * because a commit may come from a script, a git hook or a command that failed later. One git process for a turn in which
 * there is something to tell. A branch that was moved back tells nothing: nothing was committed.
 */
import type { SignalData } from "#domain/signals/signal.ts";
import type { GitTools } from "#git/git.ts";
import { commitsSince, worktreeHead } from "#git/repository.ts";

export class CommitWatch {
  private head: string | undefined;

  constructor(
    private readonly tools: GitTools,
    private readonly commonDir: string,
    private readonly worktree: string,
  ) {}

  /** Call before the agent is started. Once it is known where the branch stands, that stays. Rejects when git does. */
  async begin(): Promise<void> {
    this.head ??= await worktreeHead(this.tools, this.commonDir, this.worktree);
  }

  /** What was committed since this was last asked; undefined when nothing was. Rejects when git does. */
  async turnEnded(): Promise<SignalData["committed"] | undefined> {
    const from = this.head;
    const to = await worktreeHead(this.tools, this.commonDir, this.worktree);
    if (from === undefined || to === undefined || from === to) return undefined;
    this.head = to;
    const { count, commits, lastAt: madeAt } = await commitsSince(this.tools.git, this.worktree, { from, to });
    return count === 0 ? undefined : { from, to, count, commits, madeAt };
  }
}
