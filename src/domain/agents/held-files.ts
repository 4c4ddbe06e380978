/**
 * Files that are somebody's alone (SCOPE-1). A node that names its files keeps them from its dispatch until its work has
 * landed or it is given up; an agent that was started with files of its own, while it lives. Whatever overlaps them waits.
 */
import { overlap } from "#domain/core/scope.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";

interface Holder {
  readonly key: string;
  readonly label: string;
  readonly files: readonly string[];
}

const keyOf = ({ goalId, workNodeId }: Pick<WorkNode, "goalId" | "workNodeId">) => nodeKey(goalId, workNodeId);

export class HeldFiles {
  private readonly holders: Holder[] = [];

  constructor(
    nodes: readonly WorkNode[],
    living: readonly Attempt[],
    /** Whether it is about to be dispatched. */
    isComing: (node: WorkNode) => boolean,
  ) {
    if (!nodes.some(hasFiles)) return;
    for (const node of nodes) if (hasFiles(node) && (node.status === "in_progress" || isComing(node))) this.take(node);
    for (const attempt of living) {
      const { scope } = attempt;
      if (scope && scope.length > 0) {
        this.holders.push({ key: keyOf(attempt), label: attemptLabel(attempt), files: scope });
      }
    }
  }

  take(node: WorkNode): void {
    if (hasFiles(node)) this.holders.push({ key: keyOf(node), label: keyOf(node), files: node.hints.files ?? [] });
  }

  /** Why it has to wait; undefined when it need not. */
  reasonAgainst(node: WorkNode): string | undefined {
    if (!hasFiles(node) || this.holders.length === 0) return undefined;
    const key = keyOf(node);
    for (const holder of this.holders) {
      const shared = holder.key === key ? undefined : overlap(node.hints.files ?? [], holder.files);
      if (shared) return `${key} has ${shared[0]} in common with ${holder.label}; one follows the other`;
    }
    return undefined;
  }
}

function hasFiles({ hints }: WorkNode): boolean {
  return hints.files !== undefined && hints.files.length > 0;
}
