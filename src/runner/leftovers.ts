/** What an attempt must not leave behind, and what it must: its processes, its launch file; its uncommitted work. */
import {
  type BrokenWorktree,
  findBroken,
  keepUncommitted,
  type SavedWork,
  type WorkPlace,
} from "#act/attempt-end/keep-work.ts";
import { AGENT_MARK, dropLaunchFile, markOf, RUNNER_MARK, wakeRunner } from "#act/attempt-files.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { messageOf } from "#errors.ts";
import { parentOf } from "#sys/paths.ts";
import { endTree } from "#sys/process-tree.ts";
import type { ProcessIdentity } from "#sys/processes.ts";
import { wakeSocket } from "#sys/wake-socket.ts";
import type { LaunchFile } from "./launch-file.ts";
import type { Recorder } from "./recorder.ts";
import type { RunnerParts } from "./runner-parts.ts";

export class Leftovers {
  constructor(
    private readonly parts: Pick<RunnerParts, "tools" | "processes" | "clock">,
    private readonly recorder: Recorder,
    private readonly launch: LaunchFile,
  ) {}

  /** Ends everything below these and everything that carries the attempt's mark. */
  async endProcesses(roots: readonly ProcessIdentity[]): Promise<void> {
    const self = this.parts.processes.self();
    const value = markOf(this.launch.root, this.launch.attempt);
    const { left } = await endTree(
      this.parts,
      {
        // What lost its own parents has become our own child, with or without the mark.
        roots: [...roots, self],
        mark: { name: AGENT_MARK, value },
        apart: { name: RUNNER_MARK, value },
        spare: [self.pid],
      },
      Math.min(this.launch.stopGraceMs, 2_000),
    );
    if (left.length > 0) this.recorder.note(`still running: ${left.map(({ pid }) => pid).join(", ")}`);
  }

  /** Uncommitted work, and what is broken about the worktree where that was the reason why git could not keep it. */
  async keepWork(attempt: Attempt | undefined): Promise<SavedWork> {
    if (!attempt) return { wip: null };
    try {
      return await keepUncommitted(this.parts.tools, this.placeOf(attempt));
    } catch (error) {
      this.recorder.problem(`uncommitted work could not be saved: ${messageOf(error)}`);
      return { wip: null };
    }
  }

  /** What is broken about its worktree. `withObjects`: also what it stands on, where nobody waits for the answer. */
  async findBroken(attempt: Attempt, withObjects: boolean): Promise<BrokenWorktree | undefined> {
    try {
      return await findBroken(this.parts.tools, this.placeOf(attempt), withObjects);
    } catch (error) {
      this.recorder.problem(`its worktree could not be looked at: ${messageOf(error)}`);
      return undefined;
    }
  }

  private placeOf({ branch, base }: Attempt): WorkPlace {
    const { worktree, assignmentId, root, wipLimits } = this.launch;
    return { worktree, branch, base, assignmentId, commonDir: root.gitCommonDir, limits: wipLimits };
  }

  /** It holds what the agent was given by environment. What cannot be removed now must not keep the end from the log. */
  async dropLaunchFile(): Promise<void> {
    const { root, attempt } = this.launch;
    try {
      await dropLaunchFile({ root, files: this.parts.tools.files }, attempt);
    } catch (error) {
      this.recorder.problem(`what the agent was started with could not be removed: ${messageOf(error)}`);
    }
  }

  /** Whoever asked for the work has been told (TELL-1); its runner is given a hint to look. */
  async wakeAsker(attempt: Attempt | undefined): Promise<void> {
    const directory = parentOf(this.launch.socket);
    if (attempt?.parent) await wakeRunner({ socketDir: async () => directory, wakeSocket }, attempt.parent.attempt);
  }
}
