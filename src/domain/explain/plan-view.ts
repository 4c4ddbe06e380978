/**
 * A plan as people look at it: its nodes in reading order, each with what one needs to judge it, and what all of it takes.
 * The same for a plan that is proposed and for work that is under way; how it is drawn is the door's.
 */
import type { NodeDefinition, NodeKind, WorkNode, WorkStatus } from "#domain/model/work.ts";
import type { PlanEstimate } from "#domain/plans/estimate.ts";
import type { PlanPart } from "#domain/plans/plan-pieces.ts";
import type { Progress } from "#domain/plans/rollup.ts";

export interface PlanRow {
  readonly id: string;
  readonly parentId: string | null;
  readonly kind: NodeKind;
  /** 0 is a phase. */
  readonly depth: number;
  readonly name: string;
  readonly objective: string;
  readonly outcome: string;
  readonly definitionOfDone: string;
  readonly acceptance: readonly string[];
  readonly files: readonly string[];
  /** Role, runtime and model where it says them, and neither all tasks nor the node above it say the same. */
  readonly goesTo: string | null;
  /** What it waits for: of work, what it still waits for and the node above it does not. */
  readonly after: readonly string[];
  readonly isCritical: boolean;
  /** Null of a plan that is no work yet. */
  readonly work: { readonly status: WorkStatus; readonly progress: Progress; readonly reason: string | null } | null;
}

export interface PlanView {
  readonly rows: readonly PlanRow[];
  readonly estimate: PlanEstimate | null;
}

export type ViewedNode = WorkNode & { readonly progress: Progress; readonly waitsFor: readonly string[] };

export function viewPlan(parts: readonly PlanPart[], estimate: PlanEstimate | null): PlanView {
  const byId = new Map(parts.map(({ id, definition }) => [id, definition]));
  const around = lookAround(byId, estimate);
  return { rows: parts.map(({ id, definition }) => ({ ...viewNode(id, definition, around), work: null })), estimate };
}

export function viewWork(nodes: readonly ViewedNode[], estimate: PlanEstimate | null): PlanView {
  const byId = new Map(nodes.map((node) => [node.workNodeId, node]));
  const around = lookAround(byId, estimate);
  const rows = nodes.map((node) => ({
    ...viewNode(node.workNodeId, node, around),
    after: node.waitsFor.filter((id) => !byId.get(node.parentId ?? "")?.waitsFor.includes(id)),
    work: {
      status: node.status,
      progress: node.progress,
      reason: node.status === "blocked" ? (node.blockedReason?.detail ?? null) : null,
    },
  }));
  return { rows, estimate };
}

/** What is said of a node depends on the others. */
interface Around {
  readonly byId: ReadonlyMap<string, NodeDefinition>;
  readonly critical: ReadonlySet<string>;
  /** Not all go to the same. */
  readonly goApart: boolean;
}

function lookAround(byId: Around["byId"], estimate: PlanEstimate | null): Around {
  const path = estimate?.path.path ?? [];
  const targets = new Set([...byId.values()].filter(({ kind }) => kind === "task").map(tellTarget));
  // One that waits for nobody is no chain.
  return { byId, critical: new Set(path.length > 1 ? path : []), goApart: targets.size > 1 };
}

function viewNode(id: string, definition: NodeDefinition, around: Around): Omit<PlanRow, "work"> {
  const above = definition.parentId === null ? undefined : around.byId.get(definition.parentId);
  const target = tellTarget(definition);
  return {
    id,
    parentId: definition.parentId,
    kind: definition.kind,
    depth: definition.path.split("/").length - 1,
    name: definition.name,
    objective: definition.objective,
    outcome: definition.expectedOutcome,
    definitionOfDone: definition.definitionOfDone,
    acceptance: definition.acceptanceCriteria,
    files: definition.hints.files ?? [],
    goesTo: around.goApart && !(above && tellTarget(above) === target) ? target : null,
    after: definition.dependsOn,
    isCritical: around.critical.has(id),
  };
}

function tellTarget({ hints }: NodeDefinition): string | null {
  const { capability, suggestedAgentType, runtime, model } = hints;
  const target = [capability ?? suggestedAgentType, runtime && `on ${runtime}`, model && `with ${model}`];
  const said = target.filter((one) => one !== undefined && one !== "");
  return said.length === 0 ? null : said.join(" ");
}
